//! Gradient-boosted trees (Chen and Guestrin, "XGBoost", 2016), which learn how far times are from the estimate, or which of two points is faster
//! (Burges, "From RankNet to LambdaRank to LambdaMART", 2010; the objective of Chen et al., "Learning to Optimize Tensor Programs", 2018).
//!
//! ```text
//!     log seconds  =  log estimate  +  what is usual for the kernel  +  trees(features)
//! ```
//!
//! Before anything is measured that is the estimate; what is measured corrects it where it is wrong. Two models: one of knobs, which a search asks often,
//! and one of knobs and loops. The latter learns of other kernels too, as features of loops mean the same for all; those have no knobs.

use super::{CostModel, Loops, Past, Sample};
use hessboost::objective::LambdaRank;
use hessboost::prelude::*;
use std::sync::Arc;

/// Trees of a model, their depth, and how much each corrects.
const TREES: usize = 80;
const DEPTH: usize = 5;
const RATE: f64 = 0.15;
/// Samples below which the estimate alone says more.
const FEWEST: usize = 6;
/// The most samples of other kernels: the last ones.
const MOST_PAST: usize = 4000;

/// What trees learn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learns {
    /// Logarithms of seconds.
    Seconds,
    /// Which of two points of a kernel is faster.
    Order,
}

/// A sample of a kernel, by number, as a row.
struct Row {
    features: Vec<f32>,
    group: usize,
    estimate: f64,
    log_seconds: f64,
}

/// The model.
pub struct Trees {
    learns: Learns,
    /// What was measured of other kernels; none where features of loops are not looked at.
    past: Option<Arc<[Past]>>,
    of_knobs: Option<Fitted>,
    of_loops: Option<Fitted>,
}

/// Trees with what is usual for the kernel, in logarithms of seconds beside the estimate.
struct Fitted {
    model: BoostedModel,
    usual: f64,
}

impl Trees {
    /// That has seen nothing of its kernel.
    pub fn new(learns: Learns, past: Option<Arc<[Past]>>) -> Trees {
        Trees { learns, past, of_knobs: None, of_loops: None }
    }

    fn costs(&self, fitted: &Fitted, features: &[Vec<f32>]) -> Option<Vec<f64>> {
        let told = predicted(&fitted.model, features).ok()?;
        let cost = |(features, told): (&Vec<f32>, f32)| match self.learns {
            Learns::Seconds => estimate(features) + fitted.usual + f64::from(told),
            Learns::Order => -f64::from(told),
        };
        Some(features.iter().zip(told).map(cost).collect())
    }

    /// The samples of other kernels and of this one, with features of loops behind those of knobs.
    fn joined(&self, samples: &[Sample]) -> Vec<Row> {
        let (Some(past), Some(first)) = (&self.past, samples.first()) else { return Vec::new() };
        let knobs = first.features.len();
        let of_past = past[past.len().saturating_sub(MOST_PAST)..].iter().map(|past| {
            let mut features = vec![f32::NAN; knobs];
            features[0] = past.log_estimate as f32;
            features.extend(&past.loops);
            Row {
                features,
                group: past.kernel + 1,
                estimate: past.log_estimate,
                log_seconds: past.log_seconds,
            }
        });
        let own = samples.iter().filter_map(|sample| {
            let features = [&sample.features[..], sample.loops.as_ref()?].concat();
            Some(Row {
                features,
                group: 0,
                estimate: estimate(&sample.features),
                log_seconds: sample.log_seconds,
            })
        });
        of_past.chain(own).collect()
    }
}

impl CostModel for Trees {
    fn fit(&mut self, samples: &[Sample]) {
        let own = |sample: &Sample| Row {
            features: sample.features.clone(),
            group: 0,
            estimate: estimate(&sample.features),
            log_seconds: sample.log_seconds,
        };
        self.of_knobs = trained(samples.iter().map(own).collect(), self.learns);
        self.of_loops = trained(self.joined(samples), self.learns);
    }

    fn predict(&self, features: &[Vec<f32>]) -> Vec<f64> {
        let told = self.of_knobs.as_ref().and_then(|fitted| self.costs(fitted, features));
        told.unwrap_or_else(|| features.iter().map(|features| estimate(features)).collect())
    }

    fn reads_loops(&self) -> bool {
        self.of_loops.is_some()
    }

    fn refine(&self, features: &[Vec<f32>], loops: &[Loops]) -> Option<Vec<f64>> {
        let fitted = self.of_loops.as_ref()?;
        let width = fitted.model.n_features();
        let joined = features.iter().zip(loops).map(|(features, loops)| {
            let mut row = [&features[..], loops.as_deref().unwrap_or_default()].concat();
            // Loops that are not known are missing.
            row.resize(width, f32::NAN);
            row
        });
        let joined: Vec<Vec<f32>> = joined.collect();
        let (by_loops, by_knobs) = (self.costs(fitted, &joined)?, self.of_knobs.as_ref());
        match by_knobs.and_then(|fitted| self.costs(fitted, features)) {
            // Two models that err in different ways err less together.
            Some(costs) if self.learns == Learns::Seconds => {
                Some(by_loops.iter().zip(costs).map(|(a, b)| (a + b) / 2.0).collect())
            }
            _ => Some(by_loops),
        }
    }

    fn is_of_seconds(&self) -> bool {
        self.learns == Learns::Seconds
    }
}

fn estimate(features: &[f32]) -> f64 {
    features.first().map_or(0.0, |estimate| f64::from(*estimate))
}

fn matrix(rows: &[Vec<f32>]) -> Result<DMatrix> {
    let width = rows.first().map_or(0, Vec::len);
    DMatrix::from_dense(&rows.concat(), rows.len(), width)
}

fn middle(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(0.0)
}

fn trained(mut rows: Vec<Row>, learns: Learns) -> Option<Fitted> {
    if rows.len() < FEWEST {
        return None;
    }
    // Rows of a kernel follow each other, in their order.
    rows.sort_by_key(|row| row.group);
    let (mut labels, mut sizes, mut usual) = (Vec::new(), Vec::new(), 0.0);
    for group in rows.chunk_by(|a, b| a.group == b.group) {
        sizes.push(group.len());
        let of_group = middle(group.iter().map(|row| row.log_seconds - row.estimate).collect());
        if group[0].group == 0 {
            usual = of_group;
        }
        labels.extend(group.iter().map(|row| match learns {
            Learns::Seconds => (row.log_seconds - row.estimate - of_group) as f32,
            Learns::Order => group.iter().filter(|other| other.log_seconds > row.log_seconds).count() as f32,
        }));
    }
    let features: Vec<Vec<f32>> = rows.into_iter().map(|row| row.features).collect();
    let model = boosted(&features, &labels, &sizes, learns).ok()?;
    Some(Fitted { model, usual })
}

/// Trees on these rows, which come kernel by kernel.
pub(super) fn boosted(
    rows: &[Vec<f32>],
    labels: &[f32],
    sizes: &[usize],
    learns: Learns,
) -> Result<BoostedModel> {
    let data = matrix(rows)?.with_labels(labels)?;
    let (objective, data) = match learns {
        Learns::Seconds => (Objective::SquaredError(RegLoss::default()), data),
        Learns::Order => (Objective::RankPairwise(LambdaRank::default()), data.with_group_sizes(sizes)?),
    };
    let parameters = TrainingParams::builder().objective(objective).max_depth(DEPTH).eta(RATE).build()?;
    train(&parameters, &data, TREES)
}

fn predicted(model: &BoostedModel, features: &[Vec<f32>]) -> Result<Vec<f32>> {
    if features.is_empty() {
        return Ok(Vec::new());
    }
    Ok(model.predict(&matrix(features)?, Iterations::Best)?.as_slice().to_vec())
}
