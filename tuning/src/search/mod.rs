//! Searches: which points of a space are measured next.

mod annealing;
mod evolution;
mod grid;
mod uniform;

use crate::cost_model::{CostModel, Loops};
use crate::points::{Point, Points};
use fusion_operators::random::Random;
use std::cmp::Ordering;
use std::collections::HashSet;

/// What a search knows.
pub struct Known<'a> {
    /// The space.
    pub points: &'a Points<'a>,
    /// What was measured, with seconds; infinity for what failed.
    pub measured: &'a [(Point, f64)],
    /// The same, and what is being measured. Only looked up, never iterated.
    pub seen: &'a HashSet<Point>,
    /// What a point is expected to take.
    pub model: &'a dyn CostModel,
    /// The features of the loops that points give.
    pub loops: &'a dyn Fn(&[Point]) -> Vec<Loops>,
}

impl Known<'_> {
    fn predict(&self, points: &[Point]) -> Vec<f64> {
        self.model.predict(&points.iter().map(|point| self.points.features(point)).collect::<Vec<_>>())
    }

    /// The same by the loops too, where the model knows of them: that takes milliseconds a point.
    pub fn refined(&self, points: &[Point]) -> Vec<f64> {
        if !self.model.reads_loops() {
            return self.predict(points);
        }
        let features: Vec<Vec<f32>> = points.iter().map(|point| self.points.features(point)).collect();
        let refined = self.model.refine(&features, &(self.loops)(points));
        refined.unwrap_or_else(|| self.predict(points))
    }
}

/// A search in the space of one kernel.
pub trait Search {
    /// At most so many points that were not measured, all different; fewer where nothing is left.
    fn propose(&mut self, known: &Known, count: usize, random: &mut Random) -> Vec<Point>;
}

/// The searches there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Parallel simulated annealing on the cost model.
    Annealing,
    /// Generations on the cost model.
    Evolution,
    /// Points at random.
    Random,
    /// One point after the other, by estimate.
    Grid,
}

impl Kind {
    /// All with their names.
    pub const ALL: &'static [(Kind, &'static str)] = &[
        (Kind::Annealing, "annealing"),
        (Kind::Evolution, "evolution"),
        (Kind::Random, "random"),
        (Kind::Grid, "grid"),
    ];

    /// A search that has not begun.
    pub fn search(self) -> Box<dyn Search> {
        match self {
            Kind::Annealing => Box::new(annealing::Annealing::default()),
            Kind::Evolution => Box::new(evolution::Evolution),
            Kind::Random => Box::new(uniform::Uniform),
            Kind::Grid => Box::new(grid::Grid),
        }
    }
}

/// The part of a batch that is taken at random, whatever the model says.
const EPSILON: f64 = 0.1;
/// What a value of a knob that no other point of a batch has is worth, in logarithms of seconds.
const DIVERSITY: f64 = 0.01;
/// Draws after which a space is taken to have nothing new.
const MOST_DRAWS: usize = 2000;

/// The order of points with what they take, or are expected to.
pub fn by_cost((p, a): &(Point, f64), (q, b): &(Point, f64)) -> Ordering {
    a.total_cmp(b).then_with(|| p.cmp(q))
}

/// Of candidates with what they are expected to take, some of the best, of which each has values of knobs that the others have not; the rest of the
/// batch is drawn at random.
fn batch(known: &Known, candidates: Vec<(Point, f64)>, count: usize, random: &mut Random) -> Vec<Point> {
    let by_model = count - (EPSILON * count as f64).ceil() as usize;
    let mut left: Vec<(Point, f64)> =
        candidates.into_iter().filter(|(p, _)| !known.seen.contains(p)).collect();
    left.sort_by(by_cost);
    left.dedup_by(|(p, _), (q, _)| p == q);
    left.truncate(8 * count);
    let points: Vec<Point> = left.into_iter().map(|(point, _)| point).collect();
    let costs = known.refined(&points);
    let mut left: Vec<(Point, f64)> = points.into_iter().zip(costs).collect();
    let (mut chosen, mut parts) = (Vec::new(), HashSet::new());
    while chosen.len() < by_model && !left.is_empty() {
        let worth = |(point, cost): &(Point, f64)| {
            let new = known.points.parts(point).into_iter().filter(|part| !parts.contains(part)).count();
            cost - DIVERSITY * new as f64
        };
        let costs: Vec<f64> = left.iter().map(worth).collect();
        let best = (0..left.len()).min_by(|&a, &b| costs[a].total_cmp(&costs[b])).unwrap_or(0);
        let (point, _) = left.remove(best);
        parts.extend(known.points.parts(&point));
        chosen.push(point);
    }
    drawn(known, chosen, count, random)
}

/// Adds points at random until there are so many.
fn drawn(known: &Known, mut chosen: Vec<Point>, count: usize, random: &mut Random) -> Vec<Point> {
    for _ in 0..MOST_DRAWS {
        if chosen.len() >= count {
            break;
        }
        let point = known.points.random(random);
        if !known.seen.contains(&point) && !chosen.contains(&point) {
            chosen.push(point);
        }
    }
    // Of what is left of a small space, a draw may find nothing.
    let left = known.points.all().take(MOST_DRAWS).filter(|point| !known.seen.contains(point));
    for point in left {
        if chosen.len() >= count {
            break;
        }
        if !chosen.contains(&point) {
            chosen.push(point);
        }
    }
    chosen
}
