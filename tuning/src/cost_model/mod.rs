//! Cost models: what a point is expected to take, from the times of others.
//!
//! A search asks of thousands of points by their knobs ([`CostModel::predict`]); of the few that it would measure, the loops that they give are known as well
//! ([`CostModel::refine`]).

mod estimate;
mod importance;
mod past;
mod trees;

pub use estimate::Estimate;
pub use importance::importance;
pub use past::{Past, PastError, from_logs, named_logs};
use std::sync::Arc;
pub use trees::{Learns, Trees};

/// The features of a point's loops; none where they are not known.
pub type Loops = Option<Vec<f32>>;

/// A measured point: what models see of it, and the logarithm of its time in seconds.
#[derive(Clone, Debug)]
pub struct Sample {
    /// See [`Points::features`](crate::points::Points::features).
    pub features: Vec<f32>,
    /// Those of its loops, where they are known.
    pub loops: Loops,
    /// The logarithm of the seconds.
    pub log_seconds: f64,
}

/// A cost model of one kernel.
pub trait CostModel {
    /// Learns from all that was measured so far.
    fn fit(&mut self, samples: &[Sample]);

    /// What points with these features are expected to take, as numbers of which a lesser one is better.
    fn predict(&self, features: &[Vec<f32>]) -> Vec<f64>;

    /// Whether features of loops say more.
    fn reads_loops(&self) -> bool {
        false
    }

    /// The same as [`CostModel::predict`] with the features of loops; none where they say no more.
    fn refine(&self, _features: &[Vec<f32>], _loops: &[Loops]) -> Option<Vec<f64>> {
        None
    }

    /// Whether what is predicted is the logarithm of seconds, and not a rank.
    fn is_of_seconds(&self) -> bool {
        true
    }
}

/// The cost models there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Gradient-boosted trees on knobs and loops.
    Trees,
    /// The same, which learn which of two points is faster.
    Rank,
    /// Gradient-boosted trees on knobs alone.
    Knobs,
    /// What the kinds of schedules estimate.
    Estimate,
}

impl Kind {
    /// All with their names.
    pub const ALL: &'static [(Kind, &'static str)] =
        &[(Kind::Trees, "trees"), (Kind::Rank, "rank"), (Kind::Knobs, "knobs"), (Kind::Estimate, "estimate")];

    /// A model that has seen nothing of its kernel, and this of others.
    pub fn model(self, past: &Arc<[Past]>) -> Box<dyn CostModel> {
        match self {
            Kind::Trees => Box::new(Trees::new(Learns::Seconds, Some(past.clone()))),
            Kind::Rank => Box::new(Trees::new(Learns::Order, Some(past.clone()))),
            Kind::Knobs => Box::new(Trees::new(Learns::Seconds, None)),
            Kind::Estimate => Box::new(Estimate),
        }
    }
}
