//! In which floats an operator computes where a program has narrow ones (f16, bf16) beside f32: a fact of its row.
//!
//! ```text
//!     narrow    contractions                                  most of the time and of the bytes is theirs, and their sums are in f32
//!     follow    elementwise, broadcast, injective             one rounding more; narrow where what they take is
//!     wide      reductions, norms, functions, the rest        their sums and their ranges need f32
//! ```
//!
//! The three groups of Micikevicius et al., "Mixed Precision Training", 2018.

/// In which floats an operator computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Precision {
    /// In narrow ones wherever it may.
    Narrow,
    /// In those of its operands.
    Follow,
    /// Never in narrow ones.
    Wide,
}
