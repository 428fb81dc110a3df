//! Processors to compile for: this machine's, or any that LLVM knows by name.
//!
//!     cpu                    this machine's
//!     cpu:x86-64-v3          a level of x86-64
//!     cpu:neoverse-v1        a processor of another machine
//!     cpu:NAME               what NAME.toml of the user's directory describes
//!
//! What code a processor runs, LLVM says. What passes go by (how fast it is, how wide a vector is, how much cache there is) a
//! description says, a file each: the user's, in a directory that the environment names, else one of `descriptions/`: that of
//! the processor's name, or the first one whose feature it has.

mod aarch64;
pub mod attach;
mod host;
mod x86_64;

use super::spelling::near;
use fusion_dialects::{Target as Codegen, processors};
use fusion_machine::{Dot4, Target, TargetError};
pub use host::caches_of_system;
use std::path::{Path, PathBuf};

/// A processor to compile for.
#[derive(Clone, Debug, PartialEq)]
pub struct Processor {
    /// For the code generator.
    pub target: Codegen,
    /// For passes.
    pub description: Target,
    /// The file of the description, where it is none of ours.
    pub file: Option<PathBuf>,
}

/// Processors that run the same code.
pub struct Family {
    /// As [`std::env::consts::ARCH`] names it.
    pub name: &'static str,
    /// What code is for.
    pub triple: &'static str,
    /// Descriptions, the widest vectors first.
    described: &'static [Described],
}

/// A description, and which processors it is for beside the one it names.
struct Described {
    /// Those with this feature that none before it is for.
    feature: Option<&'static str>,
    /// See [`Target::parse`].
    text: &'static str,
}

/// All families.
pub const FAMILIES: &[Family] = &[x86_64::FAMILY, aarch64::FAMILY];

/// What this machine's processor is called.
pub const HOST: &str = "host";

/// Why there is no processor to compile for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProcessorError {
    /// LLVM knows none of that name, and nobody describes one.
    #[error("there is no processor {name:?}; names like it are {}", near.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// Names that are alike, the most alike first.
        near: Vec<String>,
    },
    /// A description is wrong.
    #[error(transparent)]
    Description(#[from] TargetError),
    /// A description names a processor that is unknown.
    #[error("{}: {error}", file.display())]
    Named {
        /// The description.
        file: PathBuf,
        /// What is wrong with the name.
        error: Box<ProcessorError>,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {why}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The system's reason.
        why: String,
    },
}

/// Pipelines of stages that a processor has in its own way.
pub fn pipelines(target: &Codegen) -> Vec<(&'static str, String)> {
    let features = target.processor_features();
    let has = |name: &str| features.iter().any(|f| f == name);
    // Of other processors than x86, all have it.
    let unfused = has("sse2") && !has("fma");
    let options = [("avx512", has("avx512f")), ("unfused", unfused)];
    let chosen: String =
        options.iter().filter(|(_, on)| *on).map(|(name, _)| format!(" {name}=true")).collect();
    let stage = format!("builtin.module(func.func(math-approximate{{extremes=true{chosen}}}))");
    let mut found = Vec::new();
    if !chosen.is_empty() {
        found.push(("math-approximate", stage));
    }
    let vector_bytes = u64::from(target.vector_width / 8);
    let dot4 = dot4_of(vector_bytes, &has);
    if !dot4.is_empty() {
        let options = format!("dot4={dot4} vector-bytes={vector_bytes}");
        found.push((
            "convert-loop-to-scf",
            format!("builtin.module(func.func(convert-loop-to-scf{{{options}}}))"),
        ));
    }
    found
}

/// Where users keep descriptions, `NAME.toml` each: `FUSION_TARGETS`, else where configurations of users are.
pub fn directory() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let configurations = || set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")));
    set("FUSION_TARGETS").or_else(|| Some(configurations()?.join("fusion/targets")))
}

/// The descriptions that come with the compiler.
pub fn descriptions() -> impl Iterator<Item = Result<Target, TargetError>> {
    FAMILIES.iter().flat_map(|family| family.described.iter().map(Described::parse))
}

/// The descriptions in the user's directory, by name.
pub fn descriptions_of_user() -> Vec<PathBuf> {
    let files = directory().and_then(|directory| std::fs::read_dir(directory).ok());
    let paths = files.into_iter().flatten().flatten().map(|file| file.path());
    let mut found: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|e| e == "toml")).collect();
    found.sort();
    found
}

impl Described {
    fn parse(&self) -> Result<Target, TargetError> {
        Target::parse(self.text, "a description of the compiler")
    }
}

impl Family {
    /// This machine's; the first one where it is of none.
    fn of_host() -> &'static Family {
        FAMILIES.iter().find(|f| f.name == std::env::consts::ARCH).unwrap_or(&FAMILIES[0])
    }

    /// The one that has the processor LLVM calls so; where families share a name, this machine's goes first.
    fn of_processor(name: &str) -> Result<&'static Family, ProcessorError> {
        let mut families: Vec<&Family> = FAMILIES.iter().collect();
        families.sort_by_key(|family| family.name != std::env::consts::ARCH);
        let mut names = Vec::new();
        for family in families {
            names.extend(processors(family.triple));
            if names.iter().any(|known| known == name) {
                return Ok(family);
            }
        }
        Err(ProcessorError::Unknown { name: name.to_owned(), near: near(name, names) })
    }

    fn describe(&self, name: &str, codegen: &Codegen) -> Target {
        let descriptions = || self.described.iter().filter_map(|d| Some((d.feature, d.parse().ok()?)));
        let features = codegen.processor_features();
        let has = |feature: Option<&str>| features.iter().any(|f| Some(f.as_str()) == feature);
        let alike = descriptions().find(|(feature, _)| has(*feature)).or_else(|| descriptions().next_back());
        let (_, alike) = alike.unwrap_or_default();
        // A virtual machine may hide the wide vectors of the processor that it names.
        let described = |target: &Target| target.name == name && target.vector_bytes <= alike.vector_bytes;
        let named = descriptions().map(|(_, target)| target).find(described);
        let found = named.unwrap_or(alike);
        let dot4 = dot4_of(found.vector_bytes, &|feature| has(Some(feature)));
        Target { processor: name.to_owned(), dot4, ..found }
    }
}

impl Processor {
    /// This machine's, as the compiler describes one like it, with the cores and caches that the system tells of.
    pub fn host() -> Processor {
        let codegen = Codegen::default();
        let mut description = Family::of_host().describe(&codegen.resolved().cpu, &codegen);
        description.cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
        caches_of_system(&mut description);
        Processor::new(codegen, description, None)
    }

    /// The one of that name: `host`, one the user describes, or one LLVM knows.
    ///
    /// This machine's is as the user describes the one LLVM takes it for, if at all.
    pub fn named(name: &str) -> Result<Processor, ProcessorError> {
        if name == HOST {
            let host = Processor::host();
            return match file_of(&host.description.processor) {
                Some(file) => Ok(Processor::new(Codegen::default(), read(&file)?, Some(file))),
                None => Ok(host),
            };
        }
        if let Some(file) = file_of(name) {
            return Processor::from_file(&file);
        }
        let family = Family::of_processor(name)?;
        let codegen = codegen_of(family, name);
        let description = family.describe(name, &codegen);
        Ok(Processor::new(codegen, description, None))
    }

    /// The one that a file describes.
    pub fn from_file(file: &Path) -> Result<Processor, ProcessorError> {
        let description = read(file)?;
        let codegen = match &*description.processor {
            HOST => Codegen::default(),
            name => {
                let named = |error| ProcessorError::Named { file: file.to_owned(), error: Box::new(error) };
                codegen_of(Family::of_processor(name).map_err(named)?, name)
            }
        };
        Ok(Processor::new(codegen, description, Some(file.to_owned())))
    }

    fn new(codegen: Codegen, mut description: Target, file: Option<PathBuf>) -> Processor {
        let vector_width = description.vector_bytes as u32 * 8;
        // A description that says more than the processor has would have code made that it does not run.
        let features = codegen.processor_features();
        let has = |feature: &str| features.iter().any(|f| f == feature);
        if Dot4::named(&description.dot4).is_some_and(|dot| !dot.is_of(description.vector_bytes, &has)) {
            description.dot4 = dot4_of(description.vector_bytes, &has);
        }
        Processor { target: Codegen { vector_width, ..codegen }, description, file }
    }
}

/// The best instruction for products of integers of 8 bits, as descriptions call it.
fn dot4_of(vector_bytes: u64, has: &dyn Fn(&str) -> bool) -> String {
    Dot4::of_features(vector_bytes, has).map(|dot| dot.facts().name.to_owned()).unwrap_or_default()
}

fn codegen_of(family: &Family, name: &str) -> Codegen {
    Codegen { triple: family.triple.to_owned(), cpu: name.to_owned(), ..Codegen::default() }
}

/// The user's description of that name, when there is one.
fn file_of(name: &str) -> Option<PathBuf> {
    let plain = !name.is_empty() && !name.contains(['/', '\\', '\0']);
    plain.then(|| Some(directory()?.join(format!("{name}.toml"))))?.filter(|file| file.is_file())
}

fn read(file: &Path) -> Result<Target, ProcessorError> {
    let text = std::fs::read_to_string(file)
        .map_err(|why| ProcessorError::Unreadable { file: file.to_owned(), why: why.to_string() })?;
    Ok(Target::parse(&text, &file.display().to_string())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_as_wide_as_the_processors() {
        let bytes =
            |name: &str| Processor::named(name).map(|p| (p.description.vector_bytes, p.target.triple));
        let (x86, arm) = ("x86_64-unknown-linux-gnu".to_owned(), "aarch64-unknown-linux-gnu".to_owned());
        for (name, wanted) in [("x86-64-v3", 32), ("x86-64-v4", 64), ("x86-64", 16), ("znver4", 64)] {
            assert_eq!(bytes(name), Ok((wanted, x86.clone())), "{name}");
        }
        assert_eq!(bytes("skylake-avx512"), Ok((64, x86)));
        for name in ["neoverse-v1", "apple-m1", "cortex-a72"] {
            assert_eq!(bytes(name), Ok((16, arm.clone())), "{name}");
        }
    }

    #[test]
    fn vectors_that_a_machine_hides_are_not_used() {
        let codegen = Codegen { features: "-avx512f".to_owned(), ..codegen_of(&FAMILIES[0], "znver4") };
        let found = FAMILIES[0].describe("znver4", &codegen);
        assert_eq!((found.vector_bytes, &*found.name, &*found.processor), (32, "x86-64-v3", "znver4"));
    }

    #[test]
    fn all_descriptions_are_found_by_their_names() {
        for description in descriptions() {
            let description = description.unwrap();
            assert_eq!(description.name, description.processor);
            let processor = Processor::named(&description.name).unwrap();
            assert_eq!(processor.description, description);
            assert_eq!(Target::parse(&description.to_string(), "again"), Ok(description));
        }
        let other = Processor::named("skylake-avx512").unwrap().description;
        assert_eq!((&*other.name, &*other.processor), ("x86-64-v4", "skylake-avx512"));
    }

    #[test]
    fn a_file_that_is_wrong_is_named_with_its_line() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("mine.toml");
        let text = Target::default().to_string();
        std::fs::write(&file, &text).unwrap();
        assert_eq!(Processor::from_file(&file).unwrap().description, Target::default());
        std::fs::write(&file, text.replace("\"host\"", "\"znver55\"")).unwrap();
        let said = Processor::from_file(&file).unwrap_err().to_string();
        assert!(
            said.contains("mine.toml: there is no processor \"znver55\"; names like it are znver5"),
            "{said}"
        );
        std::fs::write(&file, text.replace("cores = 1", "cores = 0")).unwrap();
        assert!(
            Processor::from_file(&file).unwrap_err().to_string().contains("mine.toml:4: `cores` cannot be 0")
        );
        assert!(Processor::from_file(directory.path()).unwrap_err().to_string().starts_with("cannot read "));
    }

    #[test]
    fn a_file_names_no_dot_products_that_the_processor_has_not() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("mine.toml");
        let dot4_of = |processor: &str, dot4: &str| {
            let described =
                Target { processor: processor.to_owned(), dot4: dot4.to_owned(), ..Target::default() };
            std::fs::write(&file, described.to_string()).unwrap();
            Processor::from_file(&file).unwrap().description.dot4
        };
        assert_eq!(dot4_of("znver4", "vpdpbusd"), "vpdpbusd");
        assert_eq!(dot4_of("znver4", "vpmaddwd"), "vpmaddwd");
        assert_eq!(dot4_of("znver4", ""), "");
        assert_eq!(dot4_of("skylake-avx512", "vpdpbusd"), "vpmaddwd");
        assert_eq!(dot4_of("znver4", "sdot"), "vpdpbusd");
    }

    #[test]
    fn a_name_that_is_wrong_gives_names_that_are_right() {
        let said = Processor::named("skylake-avx521").unwrap_err().to_string();
        let wanted = "there is no processor \"skylake-avx521\"; names like it are skylake-avx512, ";
        assert!(said.starts_with(wanted), "{said}");
    }
}
