//! Contradictions: what is known of two forms that were said to be one value cannot hold of one value.
//!
//!     (mul {} x 1e-9) = (div {} x 10)        by rule mul-constants:   1.3e-9 +- 1e-16   and   0.13 +- 1e-8
//!
//! From one contradiction on, everything may come to equal everything (the principle of explosion), so saturation stops at the first.

use super::super::data::Data;
use egg::{Id, Symbol};

/// What cannot hold of one value.
#[derive(Clone, Debug, PartialEq)]
pub struct Contradiction {
    /// What differs.
    pub differs: String,
    /// The rule that was applied; none where classes became one because their operands did.
    pub rule: Option<Symbol>,
    /// What was first in both classes.
    pub classes: [Id; 2],
}

/// What differs between what is known of two classes.
pub fn between(a: &Data, b: &Data) -> Option<String> {
    if !a.types.is_empty() && !b.types.is_empty() && a.types != b.types {
        let [a, b] =
            [a, b].map(|data| data.types.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "));
        return Some(format!("one is of type {a}, the other of type {b}"));
    }
    if let (Some(a), Some(b)) = (&a.sample, &b.sample)
        && !a.agrees(b)
    {
        return Some(a.difference(b));
    }
    if let (Some(a), Some(b)) = (&a.constant, &b.constant)
        && a != b
        && !a.is_about(b)
    {
        return Some("they are different constants".to_owned());
    }
    if let (Some(a), Some(b)) = (&a.contents.picks, &b.contents.picks)
        && a != b
    {
        return Some("they are matrices that pick different rows".to_owned());
    }
    let is_nonnegative = a.contents.sign.is_nonnegative || b.contents.sign.is_nonnegative;
    let may_be = |data: &Data| data.sample.is_none_or(|sample| sample.may_be_nonnegative());
    if is_nonnegative && !(may_be(a) && may_be(b)) {
        return Some("one is 0 or more, the other below 0 on a sample".to_owned());
    }
    None
}
