//! StableHLO programs as relay programs: what JAX, TensorFlow and PyTorch/XLA hand to compilers.
//!
//! ```text
//!   module.mlir    --text--------+
//!                                +--> the graph (graph.rs) --emit, ops--> relay
//!   module.mlirbc  --bytecode----+
//! ```
//! [`import`] recognises the form by its content: MLIR's text, a portable artifact (MLIR's bytecode of the dialect vhlo), or a file of
//! `jax.export`, which holds such an artifact. The graph is the same for all of them. `ops/` has a row for each operator, one family
//! a file. docs/reference/stablehlo.md has the table of operators.

mod bytecode;
mod emit;
mod graph;
mod main_function;
mod ops;
mod text;
mod types;

use crate::sources::{Source, TextError};
use fusion_dialects::{Context, Module};
use fusion_operators::Dim;
use indexmap::IndexMap;
use std::path::Path;

/// No larger file is read.
pub const MOST_BYTES: u64 = 1 << 31;

/// Shapes of inputs, in place of dynamic ones.
pub type Shapes = IndexMap<String, Vec<Dim>>;

/// Whether bytes are a program that [`import`] reads, which the dialect of a text's first operation tells; other MLIR texts are not.
pub fn is_stablehlo(bytes: &[u8]) -> bool {
    match std::str::from_utf8(bytes) {
        Ok(text) => first_dialect(text).is_some_and(|dialect| dialect != "relay"),
        Err(_) => bytes.starts_with(bytecode::MAGIC) || bytecode::module_of(bytes).is_some(),
    }
}

/// The dialect of the first operation, at the beginning of a line or of a block, that is StableHLO's or relay's.
fn first_dialect(text: &str) -> Option<&str> {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.flat_map(|line| line.split('{')).find_map(|line| {
        let operation = match line.trim_start().starts_with('%') {
            true => line.split_once('=')?.1,
            false => line,
        };
        let (dialect, _) = operation.trim_start().trim_start_matches('"').split_once('.')?;
        matches!(dialect, "stablehlo" | "chlo" | "mhlo" | "relay").then_some(dialect)
    })
}

/// Reads a file as a module.
pub fn import_file<'c>(context: &'c Context, path: &Path, shapes: &Shapes) -> Result<Module<'c>, TextError> {
    let name = path.display().to_string();
    let fail = |error: std::io::Error| whole(&name, format!("cannot read the file: {error}"));
    let size = std::fs::metadata(path).map_err(fail)?.len();
    if size > MOST_BYTES {
        return Err(whole(&name, format!("the file has {size} bytes, at most {MOST_BYTES} are read")));
    }
    let bytes = std::fs::read(path).map_err(fail)?;
    import(context, &name, bytes, shapes)
}

/// Reads a program as a module whose @main takes what the program's does; messages and locations call it `name`. The two parts of a
/// complex input or result are a last axis of extent 2.
pub fn import<'c>(
    context: &'c Context,
    name: &str,
    bytes: Vec<u8>,
    shapes: &Shapes,
) -> Result<Module<'c>, TextError> {
    let artifact =
        if bytes.starts_with(bytecode::MAGIC) { Some(&bytes[..]) } else { bytecode::module_of(&bytes) };
    if let Some(artifact) = artifact {
        let (program, source) = bytecode::read(name, artifact).map_err(|message| whole(name, message))?;
        return main_function::module(context, &program, &source, shapes)
            .map_err(|fault| source.error(&fault));
    }
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => {
            return Err(whole(
                name,
                "the file is neither text in UTF-8, nor MLIR bytecode, nor of jax.export".into(),
            ));
        }
    };
    if text.len() > u32::MAX as usize {
        return Err(whole(name, format!("the text has {} bytes, which are too many", text.len())));
    }
    let source = Source::new(name, text);
    let program = text::read(&source.text).map_err(|fault| source.error(&fault))?;
    main_function::module(context, &program, &source, shapes).map_err(|fault| source.error(&fault))
}

fn whole(file: &str, message: String) -> TextError {
    TextError { file: file.into(), line: 0, column: 0, message, source_line: String::new(), width: 0 }
}
