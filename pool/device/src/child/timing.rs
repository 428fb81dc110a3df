//! How long a library takes: samples, each the mean of as many runs as a clock measures well.

use fusion_pool_protocol::messages::Timing;
use std::time::Instant;

/// What a sample is made longer than asked by where it is found out how many runs that takes.
const LONGER: f64 = 1.2;
const MOST_RUNS: f64 = 1e9;

/// Samples of a turn, in picoseconds.
pub fn turn<E>(timing: &Timing, mut run: impl FnMut() -> Result<(), E>) -> Result<Vec<u64>, E> {
    for _ in 0..timing.warm_up {
        run()?;
    }
    let mut sample = |runs: u64| {
        let start = Instant::now();
        for _ in 0..runs {
            run()?;
        }
        Ok(start.elapsed().as_secs_f64())
    };
    // Caches and clocks settle while it is found out how many runs a sample is of.
    let (mut runs, least) = (1, timing.least_ns as f64 * 1e-9);
    if least > 0.0 {
        loop {
            let seconds = sample(runs)?;
            if seconds >= least {
                break;
            }
            let wanted = (runs as f64 * LONGER * least / seconds.max(1e-9)).min(MOST_RUNS) as u64;
            runs = (2 * runs).max(wanted).min(MOST_RUNS as u64);
        }
    }
    let (begin, mut all) = (Instant::now(), Vec::new());
    while all.len() < timing.samples.max(1) as usize {
        let is_late = timing.most_ns > 0 && begin.elapsed().as_nanos() >= u128::from(timing.most_ns);
        if is_late && !all.is_empty() {
            break;
        }
        all.push((sample(runs)? / runs as f64 * 1e12) as u64);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_as_many_as_asked() {
        let mut calls = 0;
        let mut count = |timing: &Timing| {
            calls = 0;
            let samples = turn(timing, || {
                calls += 1;
                Ok::<(), ()>(())
            });
            (samples.unwrap().len(), calls)
        };
        assert_eq!(count(&Timing { warm_up: 2, samples: 5, ..Timing::default() }), (5, 7));
        assert_eq!(count(&Timing::default()), (1, 1));
        assert_eq!(count(&Timing { samples: 9, most_ns: 1, ..Timing::default() }).0, 1);
        let (samples, calls) = count(&Timing { least_ns: 100_000, samples: 3, ..Timing::default() });
        assert!(samples == 3 && calls > 10, "{calls}");
        assert_eq!(turn(&Timing { samples: 3, ..Timing::default() }, || Err("no")), Err("no"));
    }
}
