//! Points at random, which is what other searches are compared with.

use super::{Known, Search, drawn};
use crate::points::Point;
use fusion_operators::random::Random;

/// The search.
pub struct Uniform;

impl Search for Uniform {
    fn propose(&mut self, known: &Known, count: usize, random: &mut Random) -> Vec<Point> {
        drawn(known, Vec::new(), count, random)
    }
}
