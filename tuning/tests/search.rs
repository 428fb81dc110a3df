//! Searches.

use crate::common::{seconds, space};
use fusion_operators::random::Random;
use fusion_tuning::cost_model::{self, Sample};
use fusion_tuning::points::{Point, Points};
use fusion_tuning::search::{Kind, Known};
use std::collections::HashSet;

/// What a search measures in batches of eight, in order.
fn run(kind: Kind, model: cost_model::Kind, trials: usize, seed: u64) -> Vec<(Point, f64)> {
    let space = space();
    let points = Points::of(&space);
    let (mut search, mut model, mut random) =
        (kind.search(), model.model(&Vec::new().into()), Random::new(seed));
    let (mut measured, mut seen, mut samples) = (Vec::new(), HashSet::new(), Vec::new());
    while measured.len() < trials {
        model.fit(&samples);
        let known = Known {
            points: &points,
            measured: &measured,
            seen: &seen,
            model: &*model,
            loops: &|points| vec![None; points.len()],
        };
        let batch = search.propose(&known, 8, &mut random);
        if batch.is_empty() {
            break;
        }
        for point in batch {
            assert!(seen.insert(point.clone()), "{kind:?} proposes {point:?} twice");
            let seconds = seconds(&points.choices(&point));
            samples.push(Sample {
                features: points.features(&point),
                loops: None,
                log_seconds: seconds.ln(),
            });
            measured.push((point, seconds));
        }
    }
    measured
}

fn best(measured: &[(Point, f64)]) -> f64 {
    measured.iter().map(|(_, seconds)| *seconds).fold(f64::INFINITY, f64::min)
}

#[test]
fn each_search_sees_all_of_a_small_space_and_ends() {
    for (kind, name) in Kind::ALL {
        let all = run(*kind, cost_model::Kind::Estimate, 1000, 1);
        assert_eq!(all.len(), 192, "{name}");
    }
}

#[test]
fn the_same_seed_gives_the_same_search() {
    for (kind, name) in Kind::ALL {
        let [a, b] = [7, 7].map(|seed| run(*kind, cost_model::Kind::Trees, 64, seed));
        assert_eq!(a, b, "{name}");
    }
}

#[test]
fn trees_find_the_valley_that_the_estimate_does_not_know() {
    for kind in [Kind::Annealing, Kind::Evolution] {
        let (mut by_trees, mut by_estimate, mut by_chance) = (0.0, 0.0, 0.0);
        for seed in 0..8 {
            by_trees += best(&run(kind, cost_model::Kind::Trees, 48, seed));
            by_estimate += best(&run(kind, cost_model::Kind::Estimate, 48, seed));
            by_chance += best(&run(Kind::Random, cost_model::Kind::Trees, 48, seed));
        }
        assert!(by_trees < 0.95 * by_estimate, "{kind:?}: {by_trees:e}, by the estimate {by_estimate:e}");
        assert!(by_trees <= by_chance, "{kind:?}: {by_trees:e}, by chance {by_chance:e}");
    }
}
