//! Cost models: what a point is expected to take, from the times of others.

mod estimate;
mod trees;

pub use estimate::Estimate;
pub use trees::Trees;

/// A measured point: what models see of it, and the logarithm of its time in seconds.
#[derive(Clone, Debug)]
pub struct Sample {
    /// See [`Points::features`](crate::points::Points::features).
    pub features: Vec<f32>,
    /// The logarithm of the seconds.
    pub log_seconds: f64,
}

/// A cost model of one kernel.
pub trait CostModel {
    /// Learns from all that was measured so far.
    fn fit(&mut self, samples: &[Sample]);

    /// What points with these features are expected to take, as numbers of which a lesser one is better.
    fn predict(&self, features: &[Vec<f32>]) -> Vec<f64>;
}

/// The cost models there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Gradient-boosted trees.
    Trees,
    /// What the kinds of schedules estimate.
    Estimate,
}

impl Kind {
    /// All with their names.
    pub const ALL: &'static [(Kind, &'static str)] = &[(Kind::Trees, "trees"), (Kind::Estimate, "estimate")];

    /// A model that has seen nothing.
    pub fn model(self) -> Box<dyn CostModel> {
        match self {
            Kind::Trees => Box::new(Trees::default()),
            Kind::Estimate => Box::new(Estimate),
        }
    }
}
