//! Gradient-boosted trees (Chen and Guestrin, "XGBoost", 2016), which learn how far times are from the estimate.
//!
//!     log seconds  =  log estimate  +  trees(features)
//!
//! Before anything is measured that is the estimate; what is measured corrects it where it is wrong.

use super::{CostModel, Sample};
use hessboost::prelude::*;

/// Trees of a model, their depth, and how much each corrects.
const TREES: usize = 80;
const DEPTH: usize = 5;
const RATE: f64 = 0.15;
/// Samples below which the estimate alone says more.
const FEWEST: usize = 6;

/// The model.
#[derive(Default)]
pub struct Trees {
    model: Option<BoostedModel>,
}

impl CostModel for Trees {
    fn fit(&mut self, samples: &[Sample]) {
        self.model = if samples.len() < FEWEST { None } else { trained(samples).ok() };
    }

    fn predict(&self, features: &[Vec<f32>]) -> Vec<f64> {
        let estimate = |all: &Vec<f32>| all.first().map_or(0.0, |estimate| f64::from(*estimate));
        let corrections = self.model.as_ref().and_then(|model| predicted(model, features).ok());
        match corrections {
            Some(corrections) => {
                features.iter().zip(corrections).map(|(f, c)| estimate(f) + f64::from(c)).collect()
            }
            None => features.iter().map(estimate).collect(),
        }
    }
}

fn matrix(rows: &[Vec<f32>]) -> Result<DMatrix> {
    let width = rows.first().map_or(0, Vec::len);
    DMatrix::from_dense(&rows.concat(), rows.len(), width)
}

fn trained(samples: &[Sample]) -> Result<BoostedModel> {
    let rows: Vec<Vec<f32>> = samples.iter().map(|sample| sample.features.clone()).collect();
    let labels: Vec<f32> =
        samples.iter().map(|s| (s.log_seconds - f64::from(s.features[0])) as f32).collect();
    let data = matrix(&rows)?.with_labels(&labels)?;
    let parameters = TrainingParams::builder()
        .objective(Objective::SquaredError(RegLoss::default()))
        .max_depth(DEPTH)
        .eta(RATE)
        .build()?;
    train(&parameters, &data, TREES)
}

fn predicted(model: &BoostedModel, features: &[Vec<f32>]) -> Result<Vec<f32>> {
    if features.is_empty() {
        return Ok(Vec::new());
    }
    Ok(model.predict(&matrix(features)?, Iterations::Best)?.as_slice().to_vec())
}
