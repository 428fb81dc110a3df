//! Cost models.

use crate::common::{seconds, space};
use fusion_operators::random::Random;
use fusion_tuning::cost_model::{Kind, Sample};
use fusion_tuning::points::Points;

#[test]
fn models_that_have_seen_nothing_say_what_the_estimate_says() {
    let space = space();
    let points = Points::of(&space);
    let features: Vec<Vec<f32>> = points.all().map(|point| points.features(&point)).collect();
    for (kind, name) in Kind::ALL {
        let predicted = kind.model().predict(&features);
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
        log_seconds: seconds(&points.choices(&point)).ln(),
    };
    let samples: Vec<Sample> = (0..60).map(|_| sample(points.random(&mut random))).collect();
    let mut trees = Kind::Trees.model();
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
