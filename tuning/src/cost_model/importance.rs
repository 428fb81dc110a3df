//! Which features of loops tell the times of a log.

use super::past::past;
use super::trees::{Learns, boosted};
use crate::log::Record;
use fusion_conversion::features::Features;
use hessboost::prelude::ImportanceType;

/// How much features of loops tell of the order of times in some measurements, as shares of all, the most first; empty where there are too few.
pub fn importance(records: &[Record]) -> Vec<(String, f64)> {
    let mut all = past(records);
    all.sort_by_key(|past| past.kernel);
    if all.len() < 2 {
        return Vec::new();
    }
    let (mut labels, mut sizes) = (Vec::new(), Vec::new());
    for group in all.chunk_by(|a, b| a.kernel == b.kernel) {
        let mean = group.iter().map(|past| past.log_seconds).sum::<f64>() / group.len() as f64;
        labels.extend(group.iter().map(|past| (past.log_seconds - mean) as f32));
        sizes.push(group.len());
    }
    let rows: Vec<Vec<f32>> = all.into_iter().map(|past| past.loops).collect();
    let Ok(model) = boosted(&rows, &labels, &sizes, Learns::Seconds) else { return Vec::new() };
    let gains = model.feature_importance(ImportanceType::TotalGain);
    let whole: f64 = gains.values().sum();
    let mut told: Vec<(String, f64)> = Features::names()
        .into_iter()
        .enumerate()
        .map(|(at, name)| (name, gains.get(&at).copied().unwrap_or(0.0) / whole.max(f64::MIN_POSITIVE)))
        .filter(|(_, share)| *share > 0.0)
        .collect();
    told.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    told
}
