//! Even shares of a nest whose outermost loop has few iterations: threads share parts of the next loop as well.
//!
//!     for jo in 0..3  for io in 0..14  ...      =>      for f in 0..6 (parallel)  for ii in 0..7  ...
//!                                                         jo = f / 2,  io = 7 (f mod 2) + ii
//!
//!     two cores:  28 and 14 iterations                  21 and 21
//!
//! What is computed follows in the same order as before.

use crate::auto_schedule::writer::Writer;
use crate::schedule::{AxisId, Origin, Relation, Schedule, Stage, StageId};

/// Cores may wait for the last iterations that part of the time, one in so many.
const WAITING: u64 = 10;
/// More parts than that are as many as the loop has iterations.
const MOST_PARTS: u64 = 256;

/// Loops of a nest that follow each other, and how many parts there are of the innermost.
pub struct EvenShares {
    outer: Vec<AxisId>,
    inner: AxisId,
    parts: u64,
}

impl EvenShares {
    /// Those of an outermost loop that is not shared evenly by itself, with as few parts of the next as will do; none where there is no
    /// such number, where something is computed or kept between the loops, or where a loop's last iteration is a part of one: what
    /// an iteration reads is not found through quotients of loops that end early.
    pub fn find(tree: &Schedule, stage: StageId, outermost: AxisId, cores: u64) -> Option<Self> {
        let s = &tree.stages[stage];
        let outer = s.axes[outermost].extent;
        if is_even(outer, cores) {
            return None;
        }
        let leaves = s.leaves.get(s.place(outermost).ok()?..)?;
        let next = 1 + leaves.iter().skip(1).position(|&l| s.axes[l].extent > 1)?;
        let (before, inner) = (leaves[..next].to_vec(), leaves[next]);
        let is_plain = |&l: &AxisId| !s.axes[l].reduce && has_whole_iterations(s, l);
        let is_free = before.iter().all(|&l| tree.must_be_free(stage, l, "fuse").is_ok())
            && tree.must_be_plain(stage, inner, "fuse").is_ok();
        if !is_free || !leaves[..=next].iter().all(is_plain) {
            return None;
        }
        let extent = s.axes[inner].extent;
        // What is computed at a loop would not be at its parts.
        let fewest = if tree.attached_to(stage, inner).is_some() { extent } else { 2 };
        let even =
            |parts: &u64| extent.is_multiple_of(*parts) && is_even(outer.saturating_mul(*parts), cores);
        let parts = (fewest..=extent.min(MOST_PARTS)).chain([extent]).find(even)?;
        Some(EvenShares { outer: before, inner, parts })
    }

    /// Writes the primitives.
    pub fn write(self, writer: &mut Writer, stage: StageId) -> Result<(), String> {
        let part = match writer.tree.stages[stage].axes[self.inner].extent / self.parts {
            1 => self.inner,
            each => writer.split(stage, self.inner, each)?.0,
        };
        let shared = self.outer.into_iter().chain([part]).collect::<Vec<_>>();
        let shared = writer.fuse_all(stage, &shared)?.unwrap_or(part);
        writer.parallel(stage, shared)
    }
}

/// True for a loop that was split off where nothing is left over, or never.
fn has_whole_iterations(s: &Stage, axis: AxisId) -> bool {
    match s.axes[axis].origin {
        Origin::Root(_) => true,
        Origin::Split(relation) | Origin::Fuse(relation) => match s.relations[relation] {
            Relation::Split { parent, factor, .. } => {
                s.axes[parent].extent.is_multiple_of(factor) && has_whole_iterations(s, parent)
            }
            Relation::Fuse { first, second, .. } => {
                has_whole_iterations(s, first) && has_whole_iterations(s, second)
            }
        },
    }
}

/// True for a number of iterations that cores share without waiting for long.
fn is_even(iterations: u64, cores: u64) -> bool {
    let all = iterations.div_ceil(cores).saturating_mul(cores);
    (all - iterations).saturating_mul(WAITING) <= iterations
}

#[cfg(test)]
mod tests {
    use super::is_even;

    #[test]
    fn three_iterations_leave_one_of_two_cores_waiting_and_many_do_not() {
        assert!(!is_even(3, 2) && !is_even(9, 2) && is_even(4, 2) && is_even(11, 2));
        assert!(is_even(1, 1) && is_even(3, 1) && !is_even(9, 8) && is_even(8, 8));
    }
}
