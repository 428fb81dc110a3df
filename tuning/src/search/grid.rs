//! One point after the other, each cover in the order of its estimates.

use super::{Known, Search};
use crate::points::Point;
use fusion_operators::random::Random;

/// The search.
pub struct Grid;

impl Search for Grid {
    fn propose(&mut self, known: &Known, count: usize, _: &mut Random) -> Vec<Point> {
        known.points.all().filter(|point| !known.seen.contains(point)).take(count).collect()
    }
}
