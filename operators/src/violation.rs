//! The constraints that a call of an operator does not meet.
//!
//! Constraints are numbered per operator (`C1`, `C2`, ...) and listed with the operator's documentation, so that
//! an error message and the specification name the same thing.

/// A constraint of an operator that a call does not meet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("violates constraint C{number}: {message}")]
pub struct Violation {
    /// The number in the operator's list of constraints.
    pub number: u32,
    /// A sentence that names the values, what was expected and, where it helps, what to write.
    pub message: String,
}

impl Violation {
    /// A violated constraint.
    pub fn new(number: u32, message: impl Into<String>) -> Self {
        Violation { number, message: message.into() }
    }
}

/// Returns early with a [`Violation`] unless the condition holds.
#[macro_export]
macro_rules! require {
    ($cond:expr, C $number:literal, $($message:tt)+) => {
        if !$cond {
            return Err($crate::Violation::new($number, format!($($message)+)));
        }
    };
}
