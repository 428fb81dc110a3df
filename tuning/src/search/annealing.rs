//! Parallel simulated annealing (Chen et al., "Learning to Optimize Tensor Programs", 2018, section 5.3): walks from point to neighbour, which take a
//! worse one the less often the longer they go, and go on from where they are in the next round.

use super::{Known, Search, batch};
use crate::points::Point;
use fusion_operators::random::Random;

/// Walks side by side, and steps of each in a round.
const WALKS: usize = 48;
const STEPS: usize = 60;
/// The temperature at the beginning of a round, in logarithms of seconds; it falls to 0.
const HOT: f64 = 0.3;

/// The search.
#[derive(Default)]
pub struct Annealing {
    walks: Vec<Point>,
}

impl Search for Annealing {
    fn propose(&mut self, known: &Known, count: usize, random: &mut Random) -> Vec<Point> {
        if self.walks.is_empty() {
            self.walks = known.points.first();
            self.walks.truncate(WALKS / 2);
            let more = WALKS - self.walks.len();
            self.walks.extend((0..more).map(|_| known.points.random(random)));
        }
        let mut costs = known.predict(&self.walks);
        let mut passed: Vec<(Point, f64)> = self.walks.iter().cloned().zip(costs.iter().copied()).collect();
        for step in 0..STEPS {
            let heat = HOT * (1.0 - step as f64 / STEPS as f64);
            let next: Vec<Point> =
                self.walks.iter().map(|point| known.points.neighbour(point, random)).collect();
            for (w, (point, cost)) in next.iter().zip(known.predict(&next)).enumerate() {
                passed.push((point.clone(), cost));
                let worse = cost - costs[w];
                if worse <= 0.0 || random.next_f64() < (-worse / heat).exp() {
                    self.walks[w] = point.clone();
                    costs[w] = cost;
                }
            }
        }
        batch(known, passed, count, random)
    }
}
