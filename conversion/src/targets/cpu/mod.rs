//! Processors to compile for: this machine's, or any that LLVM knows by name.
//!
//!     cpu                    this machine's
//!     cpu:x86-64-v3          a level of x86-64
//!     cpu:neoverse-v1        a processor of another machine
//!
//! Which features a processor has, LLVM says. What schedules go by (how wide a vector is, how many registers and how much
//! cache there are) follows from those, in a table a family of processors.

mod aarch64;
mod x86_64;

use fusion_dialects::{Target, processors};

/// A processor to compile for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Processor {
    /// For the code generator.
    pub target: Target,
    /// For schedules.
    pub facts: Facts,
}

/// What schedules go by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Bytes of a vector register.
    pub vector_bytes: u32,
    /// How many of them there are.
    pub vector_registers: u32,
    /// Bytes of a core's first data cache.
    pub l1_bytes: u64,
    /// Bytes of a core's second cache.
    pub l2_bytes: u64,
}

/// Processors that run the same code.
pub struct Family {
    /// As [`std::env::consts::ARCH`] names it.
    pub name: &'static str,
    /// What code is for.
    pub triple: &'static str,
    /// From a feature to what it means, the widest vectors first.
    with_feature: &'static [(&'static str, Facts)],
    /// Without any of those features.
    otherwise: Facts,
}

/// All families.
pub const FAMILIES: &[Family] = &[x86_64::FAMILY, aarch64::FAMILY];

/// There is no such processor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no processor {name:?}; names like it are {}", near.join(", "))]
pub struct UnknownProcessor {
    /// The name.
    pub name: String,
    /// Names that are alike, the most alike first.
    pub near: Vec<String>,
}

impl Processor {
    /// This machine's.
    pub fn host() -> Processor {
        let family = FAMILIES.iter().find(|f| f.name == std::env::consts::ARCH);
        Processor::of(family.unwrap_or(&FAMILIES[0]), Target::default())
    }

    /// The one LLVM has under that name; where families share a name, this machine's goes first.
    pub fn named(name: &str) -> Result<Processor, UnknownProcessor> {
        let here = |family: &&Family| family.name != std::env::consts::ARCH;
        let mut families: Vec<&Family> = FAMILIES.iter().collect();
        families.sort_by_key(here);
        let mut names = Vec::new();
        for family in families {
            names.extend(processors(family.triple));
            if names.iter().any(|known| known == name) {
                let (triple, cpu) = (family.triple.to_owned(), name.to_owned());
                return Ok(Processor::of(family, Target { triple, cpu, ..Target::default() }));
            }
        }
        Err(UnknownProcessor { name: name.to_owned(), near: near(name, names) })
    }

    fn of(family: &Family, target: Target) -> Processor {
        let features = target.processor_features();
        let known = family.with_feature.iter().find(|(feature, _)| features.iter().any(|f| f == feature));
        let facts = known.map_or(family.otherwise, |(_, facts)| *facts);
        Processor { target: Target { vector_width: facts.vector_bytes * 8, ..target }, facts }
    }
}

/// The names most like one.
fn near(name: &str, mut names: Vec<String>) -> Vec<String> {
    const MOST: usize = 5;
    names.sort_by_cached_key(|known| (strsim::damerau_levenshtein(name, known), known.clone()));
    names.dedup();
    names.truncate(MOST);
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_as_wide_as_the_processors() {
        let bytes = |name: &str| Processor::named(name).map(|p| (p.facts.vector_bytes, p.target.triple));
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
    fn a_name_that_is_wrong_gives_names_that_are_right() {
        let error = Processor::named("skylake-avx521").unwrap_err();
        assert_eq!(error.near[0], "skylake-avx512");
        assert!(
            error.to_string().starts_with("there is no processor \"skylake-avx521\"; names like it are ")
        );
    }
}
