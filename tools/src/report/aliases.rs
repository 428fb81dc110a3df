//! What became of a value that is no value of its own, as a sentence.
//!
//!     y is another name of m.mlir:7:8
//!     m.mlir:7:8 is the same as x
//!     x comes from outside of the kernels

use fusion_egraph::remarks::{Alias, Became};

/// The sentence, without a full stop.
pub fn sentence(alias: &Alias) -> String {
    let (value, of) = (&alias.value, alias.of.as_deref().unwrap_or("a value without a name"));
    match alias.became {
        Became::Input if alias.of.is_none() => format!("{value} comes from outside of the kernels"),
        Became::Value => format!("{value} is another name of {of}"),
        Became::Input => format!("{value} is the same as {of}"),
        Became::Constant => format!("{value} is the constant {of}"),
        Became::Unneeded => {
            format!("{value} is not computed: what reads it in the source is computed by forms that do not")
        }
    }
}
