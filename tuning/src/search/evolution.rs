//! Generations: the best points that were measured are crossed and changed, and the model keeps the best of the children (Zheng et al., "Ansor", 2020,
//! section 5.1).

use super::{Known, Search, batch, by_cost};
use crate::points::{Point, below};
use fusion_operators::random::Random;

/// Points of a generation, how many of them are parents of the next one, and generations of a round.
const POPULATION: usize = 128;
const PARENTS: usize = 32;
const GENERATIONS: usize = 6;

/// The search.
pub struct Evolution;

impl Search for Evolution {
    fn propose(&mut self, known: &Known, count: usize, random: &mut Random) -> Vec<Point> {
        let mut measured: Vec<&(Point, f64)> = known.measured.iter().collect();
        measured.sort_by(|a, b| by_cost(a, b));
        let mut parents: Vec<Point> = measured.iter().take(PARENTS).map(|(point, _)| point.clone()).collect();
        parents.extend(known.points.first());
        let mut passed: Vec<(Point, f64)> = Vec::new();
        for _ in 0..GENERATIONS {
            let mut children = Vec::new();
            while children.len() < POPULATION {
                let (a, b) = (&parents[below(random, parents.len())], &parents[below(random, parents.len())]);
                let child = known.points.crossed(a, b, random);
                children.push(known.points.neighbour(&child, random));
            }
            let costs = known.predict(&children);
            passed.extend(children.into_iter().zip(costs));
            passed.sort_by(by_cost);
            passed.dedup_by(|(p, _), (q, _)| p == q);
            passed.truncate(4 * POPULATION);
            parents = passed.iter().take(PARENTS).map(|(point, _)| point.clone()).collect();
        }
        batch(known, passed, count, random)
    }
}
