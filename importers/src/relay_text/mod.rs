//! Relay's text form, version 0.0.5 (TVM 0.7 to 0.19) and 0.0.4 (TVM 0.6): to relay and back.
//!
//! ```text
//!   text --blanks, read (grammar.pest)--> tree --graph--> tree --emit, operators--> relay --print--> text
//! ```
//! [`import`] reads a program with the files it imports (`prelude` is always there) and builds a module; where types are
//! not written and do not follow at once, `!relay.hole` stands for `relay-infer-types` to fill. [`print`](print::print) writes
//! a module so that importing the text gives the module again. docs/reference/relay-text.md has the syntax.

mod blanks;
mod elements;
mod emit;
mod graph;
mod metadata;
mod operators;
mod print;
mod program;
mod read;
mod syntax;

pub use crate::sources::TextError;
pub use blanks::MOST_DEPTH;
pub(crate) use elements::element_name;
pub(crate) use print::type_text;
pub use print::{PrintError, print};

use crate::sources as error;
use error::{Fault, Outcome, Source};
use fusion_dialects::{Context, Module};
use metadata::Metadata;
use program::Program;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use syntax::{File, Span};

/// Texts above this many bytes are not read.
pub const MOST_BYTES: u64 = 1 << 30;
/// No more files are imported.
const MOST_FILES: usize = 256;

/// The prelude: Option, List, Tree and Rose with their functions.
const PRELUDE: &str = include_str!("prelude.relay");

/// Reads a file as a module.
pub fn import_file<'c>(context: &'c Context, path: &Path) -> Result<Module<'c>, TextError> {
    let name = path.display().to_string();
    let text = read_file(path).map_err(|message| whole(&name, message))?;
    import(context, &name, text, path.parent())
}

fn read_file(path: &Path) -> Result<String, String> {
    let size = std::fs::metadata(path).map_err(|e| format!("cannot read the file: {e}"))?.len();
    if size > MOST_BYTES {
        return Err(format!("the file has {size} bytes, at most {MOST_BYTES} are read"));
    }
    std::fs::read_to_string(path).map_err(|e| format!("cannot read the file: {e}"))
}

fn whole(file: &str, message: String) -> TextError {
    TextError { file: file.into(), line: 0, column: 0, message, source_line: String::new(), width: 0 }
}

/// Reads a text as a module; messages and locations call it `name`. It may import files of that directory, and the
/// prelude.
pub fn import<'c>(
    context: &'c Context,
    name: &str,
    text: String,
    directory: Option<&Path>,
) -> Result<Module<'c>, TextError> {
    if text.len() as u64 > MOST_BYTES.min(u32::MAX.into()) {
        return Err(whole(name, format!("the text has {} bytes, at most {MOST_BYTES} are read", text.len())));
    }
    let mut sources = vec![Source::new(name, text)];
    build(context, &mut sources, directory).map_err(|fault| match sources.get(fault.span.file as usize) {
        Some(source) => source.error(&fault),
        None => whole(name, fault.message.clone()),
    })
}

fn build<'c>(
    context: &'c Context,
    sources: &mut Vec<Source>,
    directory: Option<&Path>,
) -> Outcome<Module<'c>> {
    let (file, metadata) = read::read(&sources[0].text, 0)?;
    let metadata = match metadata {
        Some(start) => metadata::read(&sources[0].text[start..], 0, start)?,
        None => Metadata::default(),
    };
    let mut files = vec![file];
    import_all(sources, &mut files, directory)?;
    let program = Program::of(&files);
    emit::module(context, &program, sources, &metadata)
}

/// Reads what files import, each once. The prelude comes last: what the others define has its name there.
fn import_all(sources: &mut Vec<Source>, files: &mut Vec<File>, directory: Option<&Path>) -> Outcome<()> {
    let mut done: Vec<PathBuf> = Vec::new();
    let (mut at, mut wants_prelude) = (0, false);
    while at < files.len() {
        let imports: Vec<_> = files[at].imports.clone();
        for import in imports {
            if is_prelude(&import.text) {
                wants_prelude = true;
                continue;
            }
            let path = PathBuf::from(&import.text);
            if done.contains(&path) {
                continue;
            }
            if files.len() >= MOST_FILES {
                return Fault::new(import.span, format!("more than {MOST_FILES} files are imported"));
            }
            let text = imported_text(&import.text, directory, import.span)?;
            done.push(path);
            let number = sources.len() as u32;
            sources.push(Source::new(&import.text, text));
            let (file, _) = read::read(&sources[number as usize].text, number)?;
            files.push(file);
        }
        at += 1;
    }
    if wants_prelude {
        let number = sources.len() as u32;
        sources.push(Source::new("prelude", PRELUDE.to_owned()));
        files.push(prelude(number, files)?);
    }
    Ok(())
}

/// The prelude, in which what the program's own files define is called `prelude$NAME`.
fn prelude(number: u32, files: &[File]) -> Outcome<File> {
    let own: HashSet<&str> = files.iter().flat_map(File::defined).collect();
    let (file, _) = read::read(PRELUDE, number)?;
    let both = file.defined().filter(|name| own.contains(name));
    let renamed: HashMap<String, String> =
        both.map(|name| (name.to_owned(), format!("prelude${name}"))).collect();
    if renamed.is_empty() {
        return Ok(file);
    }
    Ok(read::read_renamed(PRELUDE, number, renamed)?.0)
}

/// TVM's programs name the prelude by its place in TVM.
fn is_prelude(name: &str) -> bool {
    let stem = name.trim_end_matches(".rly").trim_end_matches(".relay");
    stem == "prelude" || stem == "@tvm//relay/std/prelude"
}

fn imported_text(name: &str, directory: Option<&Path>, span: Span) -> Outcome<String> {
    let Some(directory) = directory else {
        return Fault::new(span, "a text that is no file imports the prelude alone");
    };
    let path = directory.join(name);
    read_file(&path).map_err(|why| Fault::boxed(span, format!("{}: {why}", path.display())))
}
