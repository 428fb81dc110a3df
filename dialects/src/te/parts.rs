//! The parts in which a `te.extern` computes its results.
//!
//!     part q of a tensor along axis d:   indices q step .. q step + length of d, all of the others

use crate::{Op, OpExt};

/// The part of a tensor that belongs to part `q` of a nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The axis of the tensor.
    pub dim: usize,
    /// How far apart the beginnings of neighbouring parts are.
    pub step: u64,
    /// Elements along the axis.
    pub length: u64,
}

/// How a nest goes over its tensors in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Number of parts.
    pub count: u64,
    /// One for each input, then for each result; `None` when all of the tensor belongs to each part.
    pub slices: Vec<Option<Slice>>,
}

impl Parts {
    /// Those of a `te.extern`; `None` when it computes everything at once.
    pub fn of(op: Op) -> Option<Parts> {
        let count = u64::try_from(*op.ints("axes")?.first()?).ok()?;
        let numbers = op.ints("parts")?;
        let slice = |n: &[i64]| {
            let number = |i: usize| u64::try_from(n[i]).unwrap_or(0);
            (n[0] >= 0).then(|| Slice { dim: number(0) as usize, step: number(1), length: number(2) })
        };
        Some(Parts { count, slices: numbers.chunks_exact(3).map(slice).collect() })
    }

    /// The attribute `parts`.
    pub fn numbers(&self) -> Vec<i64> {
        let each = |s: &Option<Slice>| match s {
            None => [-1, 0, 0],
            Some(s) => [s.dim as i64, s.step as i64, s.length as i64],
        };
        self.slices.iter().flat_map(each).collect()
    }
}
