//! The search over kernels.

use crate::common::{Known, kernel, options, seconds};
use fusion_tuning::log::{Record, best, fit};
use fusion_tuning::measure::{Replay, ReplayError};
use fusion_tuning::search::Kind;
use fusion_tuning::tuner::{Options, tune};

fn tuned(options: &Options, kernels: &[(&str, u64)]) -> Vec<Record> {
    let kernels: Vec<_> = kernels.iter().map(|(name, calls)| kernel(name, *calls)).collect();
    let mut records = Vec::new();
    let mut keep = |record: &Record| {
        records.push(record.clone());
        Ok::<(), String>(())
    };
    tune(&kernels, options, &mut Known::default(), &mut keep).unwrap();
    records
}

#[test]
fn the_default_is_measured_first_and_the_best_again_at_the_end() {
    let records = tuned(&options(Kind::Annealing, 40), &[("a", 1)]);
    assert!(records[0].default && !records[0].again);
    assert_eq!(records.iter().filter(|r| !r.again).count(), 41);
    let last: Vec<&Record> = records.iter().filter(|r| r.again).collect();
    assert_eq!((last.len(), last[0].default), (6, true));
    let trials: Vec<usize> = records.iter().map(|r| r.trial).collect();
    assert_eq!(trials, (0..47).collect::<Vec<_>>());
}

#[test]
fn what_is_called_more_often_is_measured_more_often() {
    let records = tuned(&options(Kind::Annealing, 64), &[("seldom", 1), ("often", 50)]);
    let of = |name: &str| records.iter().filter(|r| r.name == name && !r.again).count();
    assert!(of("often") > of("seldom"), "{} and {}", of("often"), of("seldom"));
}

#[test]
fn failures_are_noted_and_the_search_goes_on() {
    let records = tuned(&options(Kind::Random, 150), &[("a", 1)]);
    let failed = records.iter().filter(|r| r.error.as_deref() == Some("it crashed")).count();
    assert!(failed > 5 && records.iter().all(|r| r.error.is_some() == r.times_ps.is_empty()));
    let logs = [("log.jsonl".into(), records)];
    assert!(seconds(&fit(&logs, "machine", None).choices["hash of a"]) < 1.2e-6);
}

#[test]
fn a_log_gives_the_search_again() {
    let options = options(Kind::Annealing, 60);
    let records = tuned(&options, &[("a", 3), ("b", 2)]);
    let kernels = [kernel("a", 3), kernel("b", 2)];
    let mut again = Vec::new();
    let mut keep = |record: &Record| {
        again.push(record.clone());
        Ok::<(), ReplayError>(())
    };
    tune(&kernels, &options, &mut Replay::of(records.clone()), &mut keep).unwrap();
    assert_eq!(records, again);
    let other = Options { seed: 2, ..options.clone() };
    let wrong = tune(&kernels, &other, &mut Replay::of(records.clone()), &mut |_| Ok::<(), ReplayError>(()))
        .unwrap_err();
    assert!(wrong.to_string().contains("with other choices; give the model, seed and options"), "{wrong}");
    let short =
        tune(&kernels, &options, &mut Replay::of(records[..9].to_vec()), &mut |_| Ok::<(), ReplayError>(()))
            .unwrap_err();
    assert!(short.to_string().starts_with("the log ends after 9 measurements"), "{short}");
}

#[test]
fn nothing_is_chosen_that_is_no_faster_than_the_default() {
    let mut records = tuned(&options(Kind::Annealing, 30), &[("a", 1)]);
    assert!(best(&records)[0].choices.is_some());
    for record in &mut records {
        record.times_ps = vec![if record.default { 1_000_000 } else { 985_000 }];
    }
    let chosen = &best(&records)[0];
    assert_eq!((&chosen.choices, chosen.default), (&None, Some(1e-6)));
}

#[test]
fn a_kernel_near_its_roof_is_left() {
    let until = Options { until: Some(0.5), ..options(Kind::Annealing, 400) };
    let of_roof = |roof| {
        let mut kernel = kernel("a", 1);
        kernel.roof = roof;
        let mut records = Vec::new();
        let mut keep = |record: &Record| {
            records.push(record.clone());
            Ok::<(), String>(())
        };
        tune(&[kernel], &until, &mut Known::default(), &mut keep).unwrap();
        records
    };
    let all = of_roof(None).len();
    // Half of what the roof takes is reached soon, and never where nothing is known of a roof.
    let near = of_roof(Some(0.6e-6));
    assert!(near.len() < all, "{} and {all}", near.len());
    let best = near.iter().filter_map(Record::seconds).fold(f64::INFINITY, f64::min);
    assert!(best <= 1.2e-6 && near[0].roof_ps == Some(600_000), "{best:e}");
}

#[test]
fn a_kernel_of_which_nothing_is_expected_is_left() {
    for model in [fusion_tuning::cost_model::Kind::Trees, fusion_tuning::cost_model::Kind::Rank] {
        let all = tuned(&Options { model, ..options(Kind::Annealing, 192) }, &[("a", 1)]);
        let left = tuned(&Options { model, patience: Some(3), ..options(Kind::Annealing, 192) }, &[("a", 1)]);
        assert!(left.len() < all.len(), "{model:?}: {} of {}", left.len(), all.len());
        let least =
            |records: &[Record]| records.iter().filter_map(Record::seconds).fold(f64::INFINITY, f64::min);
        assert!(least(&left) <= 1.05 * least(&all), "{model:?}");
    }
}
