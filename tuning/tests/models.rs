//! Cost models.

use crate::common::{seconds, space};
use fusion_operators::random::Random;
use fusion_tuning::cost_model::{Kind, Past, Sample, from_logs};
use fusion_tuning::points::Points;
use std::sync::Arc;

fn none() -> Arc<[Past]> {
    Vec::new().into()
}

#[test]
fn models_that_have_seen_nothing_say_what_the_estimate_says() {
    let space = space();
    let points = Points::of(&space);
    let features: Vec<Vec<f32>> = points.all().map(|point| points.features(&point)).collect();
    for (kind, name) in Kind::ALL {
        let predicted = kind.model(&none()).predict(&features);
        let estimated = points.all().map(|point| points.estimate(&point).ln());
        assert!(predicted.iter().zip(estimated).all(|(a, b)| (a - b).abs() < 1e-5), "{name}");
    }
}

#[test]
fn trees_order_points_that_they_have_not_seen() {
    let space = space();
    let points = Points::of(&space);
    let mut random = Random::new(5);
    let sample = |point| Sample {
        features: points.features(&point),
        loops: None,
        log_seconds: seconds(&points.choices(&point)).ln(),
    };
    let samples: Vec<Sample> = (0..60).map(|_| sample(points.random(&mut random))).collect();
    let mut trees = Kind::Trees.model(&none());
    trees.fit(&samples);
    let tests: Vec<Sample> = (0..200).map(|_| sample(points.random(&mut random))).collect();
    let predicted = trees.predict(&tests.iter().map(|s| s.features.clone()).collect::<Vec<_>>());
    let (mut right, mut pairs) = (0, 0);
    for i in 0..tests.len() {
        for j in 0..i {
            let (a, b) = (tests[i].log_seconds, tests[j].log_seconds);
            if (a - b).abs() > 0.05 {
                pairs += 1;
                right += usize::from((a < b) == (predicted[i] < predicted[j]));
            }
        }
    }
    assert!(right as f64 > 0.9 * f64::from(pairs), "{right} of {pairs}");
}

/// Features of loops and the time that follows from them, which is `slow` times as long for a kernel, and estimated as ever the same.
fn by_loops(random: &mut Random, slow: f64) -> (Vec<f32>, f64) {
    let loops: Vec<f32> = (0..6).map(|_| 10.0 * random.next_f64() as f32).collect();
    let seconds = slow * 1e-6 * (1.0 + f64::from((loops[2] - 7.0).abs()));
    (loops, seconds)
}

#[test]
fn what_was_learned_of_other_kernels_orders_the_points_of_a_new_one() {
    let mut random = Random::new(7);
    let mut past = Vec::new();
    for kernel in 0..3 {
        for _ in 0..60 {
            let (loops, seconds) = by_loops(&mut random, 1.0 + kernel as f64);
            past.push(Past { kernel, loops, log_estimate: 1e-6_f64.ln(), log_seconds: seconds.ln() });
        }
    }
    for kind in [Kind::Trees, Kind::Rank] {
        let mut model = kind.model(&past.clone().into());
        let (loops, seconds) = by_loops(&mut random, 20.0);
        let knobs = vec![1e-6_f32.ln(), 0.0, 3.0];
        model.fit(&[Sample { features: knobs.clone(), loops: Some(loops), log_seconds: seconds.ln() }]);
        let tests: Vec<(Vec<f32>, f64)> = (0..80).map(|_| by_loops(&mut random, 20.0)).collect();
        let loops: Vec<_> = tests.iter().map(|(loops, _)| Some(loops.clone())).collect();
        let costs = model.refine(&vec![knobs; tests.len()], &loops).unwrap();
        let (mut right, mut pairs) = (0, 0);
        for i in 0..tests.len() {
            for j in (0..i).filter(|&j| (tests[i].1 / tests[j].1).ln().abs() > 0.1) {
                pairs += 1;
                right += usize::from((tests[i].1 < tests[j].1) == (costs[i] < costs[j]));
            }
        }
        assert!(right as f64 > 0.9 * f64::from(pairs), "{kind:?}: {right} of {pairs}");
    }
}

#[test]
fn logs_that_start_no_search_are_said() {
    let directory = tempfile::tempdir().unwrap();
    let said = |path: &std::path::Path| from_logs(&[path.to_owned()]).unwrap_err().to_string();
    assert!(said(directory.path()).contains("has no tuning log (*.jsonl)"));
    let log = directory.path().join("a.jsonl");
    std::fs::write(&log, "").unwrap();
    assert!(said(&log).starts_with("the 0 measurements of --warm-start have no features of loops"));
    assert!(
        said(directory.path()).starts_with("the 0 measurements of --warm-start have no features of loops")
    );
    assert!(said(&directory.path().join("none")).starts_with("cannot read the tuning log"));
}
