//! Choices that were measured: which kernels of a module they are for, and what there is to choose.
//!
//! ```text
//!   @main(%x) { call @fused_dense_relu_3 }       the kernel as a program of its own, without its name       ->   a hash
//!   hash -> [contraction of relu: rows 6 ...]    becomes te.choices of the te.kernel of that name           ->   te-schedule
//! ```
//!
//! Kernels of any model that do the same have one hash, so that what was measured for one model serves others.

use crate::error::{CompileError, failed};
use crate::features::Features;
use fusion_dialects::rows::Kind;
use fusion_dialects::{Op, OpExt, te, top_level};
use fusion_schedule::auto_schedule::{Choice, KernelSpace, attach_choices, refused_choices, spaces};
use indexmap::IndexMap;

/// Choices by the hashes of kernels.
pub type Choices = IndexMap<String, Vec<Choice>>;

/// A kernel that may be computed in several ways.
#[derive(Clone, Debug, PartialEq)]
pub struct Tunable {
    /// What it is found by.
    pub hash: String,
    /// The kernel as a program of its own.
    pub program: String,
    /// What there is to choose.
    pub space: KernelSpace,
    /// What gives the features of its loops.
    pub features: Features,
}

/// The hash of a kernel of that name, given as a program of its own, which holds for a kind of arithmetic.
pub fn hash(name: &str, program: &str, arithmetic: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    // Neither holds a NUL.
    hasher.update(arithmetic.as_bytes()).update(b"\0");
    hasher.update(program.replace(&format!("@{name}"), "@kernel").as_bytes());
    hasher.finalize().to_hex()[..32].to_owned()
}

/// Notes choices at the kernels of a module of te that have these hashes, by name; why some were left out, a sentence each.
pub(crate) fn attach(
    root: Op,
    hashes: &IndexMap<String, String>,
    choices: &Choices,
) -> Result<Vec<String>, CompileError> {
    for kernel in top_level(root, |k| matches!(k, Kind::Te(te::Op::Kernel))) {
        let chosen = kernel.text("sym_name").and_then(|name| choices.get(hashes.get(name)?));
        if let Some(chosen) = chosen {
            attach_choices(kernel, chosen);
        }
    }
    let mut refused = refused_choices(root).map_err(failed)?;
    if !choices.is_empty() && !hashes.values().any(|hash| choices.contains_key(hash)) {
        refused.push(format!(
            "the choices that were measured are for {} kernels, none of which this model has",
            choices.len()
        ));
    }
    Ok(refused)
}

/// What there is to choose for each kernel of a module of te that has a hash and a program, by name.
pub(crate) fn tunable(
    root: Op,
    hashes: &IndexMap<String, String>,
    programs: &IndexMap<String, String>,
) -> Result<IndexMap<String, Tunable>, CompileError> {
    let spaces = spaces(root).map_err(failed)?;
    let tunable = |(name, space): (String, KernelSpace)| {
        let (hash, program) = (hashes.get(&name)?.clone(), programs.get(&name)?.clone());
        let features = Features::of(root, &program);
        Some((name, Tunable { hash, program, space, features }))
    };
    Ok(spaces.into_iter().filter_map(tunable).collect())
}

#[cfg(test)]
mod tests {
    use super::hash;

    #[test]
    fn kernels_that_do_the_same_have_one_hash() {
        let program = |name: &str, n: u32| {
            format!("func.func @{name}() {{ {n} }} func.func @main {{ call @{name}() }}")
        };
        let of = |name: &str, n| hash(name, &program(name, n), "standard");
        assert_eq!(of("fused_dense_0", 3), of("fused_dense_7", 3));
        assert_ne!(of("fused_dense_0", 3), of("fused_dense_0", 4));
        assert_ne!(of("fused_dense_0", 3), hash("fused_dense_0", &program("fused_dense_0", 3), "strict"));
    }
}
