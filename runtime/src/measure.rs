//! Timing a function that runs again and again.

use serde::Serialize;
use std::time::{Duration, Instant};

/// How often to run.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Runs before the clock starts.
    pub warm_up: usize,
    /// Runs to time; at least one is.
    pub runs: usize,
    /// Stop timing after this long, however many runs there were by then.
    pub budget: Option<Duration>,
}

/// What the runs took, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Statistics {
    /// Runs timed.
    pub runs: usize,
    /// The middle run, or the mean of the two middle ones.
    pub median_s: f64,
    /// The fastest run.
    pub min_s: f64,
    /// What 95 % of the runs did not exceed.
    pub p95_s: f64,
    /// The mean of the runs.
    pub mean_s: f64,
}

impl Statistics {
    /// Statistics of some times in seconds; none of no times.
    pub fn of(times: &[f64]) -> Option<Statistics> {
        let mut times = times.to_vec();
        times.sort_by(f64::total_cmp);
        let n = times.len();
        let (first, last) = (times.first()?, n - 1);
        Some(Statistics {
            runs: n,
            median_s: (times[last / 2] + times[n / 2]) / 2.0,
            min_s: *first,
            p95_s: times[(n * 95).div_ceil(100) - 1],
            mean_s: times.iter().sum::<f64>() / n as f64,
        })
    }

    /// How many of `amount` a second, at the median; none where the clock saw no time pass.
    pub fn per_second(&self, amount: u64) -> Option<f64> {
        (self.median_s > 0.0).then(|| amount as f64 / self.median_s)
    }
}

/// Runs `f` as planned; its first error ends it.
pub fn measure<E>(plan: Plan, mut f: impl FnMut() -> Result<(), E>) -> Result<Statistics, E> {
    for _ in 0..plan.warm_up {
        f()?;
    }
    let begin = Instant::now();
    let mut times = vec![];
    loop {
        let start = Instant::now();
        f()?;
        times.push(start.elapsed().as_secs_f64());
        let spent = plan.budget.is_some_and(|budget| begin.elapsed() >= budget);
        if times.len() >= plan.runs || spent {
            break;
        }
    }
    let once = Statistics { runs: 0, median_s: 0.0, min_s: 0.0, p95_s: 0.0, mean_s: 0.0 };
    Ok(Statistics::of(&times).unwrap_or(once))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_of_known_times() {
        let times: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        let s = Statistics::of(&times).unwrap();
        assert_eq!((s.runs, s.median_s, s.min_s, s.p95_s, s.mean_s), (100, 50.5, 1.0, 95.0, 50.5));
        let s = Statistics::of(&[3.0]).unwrap();
        assert_eq!((s.median_s, s.p95_s), (3.0, 3.0));
        assert_eq!(s.per_second(6), Some(2.0));
        assert_eq!(Statistics::of(&[]), None);
    }

    #[test]
    fn runs_are_counted_and_errors_end_them() {
        let mut calls = 0;
        let plan = Plan { warm_up: 2, runs: 5, budget: None };
        let s = measure(plan, || {
            calls += 1;
            Ok::<(), ()>(())
        });
        assert_eq!((s.unwrap().runs, calls), (5, 7));
        let plan = Plan { warm_up: 0, runs: usize::MAX, budget: Some(Duration::ZERO) };
        assert_eq!(measure(plan, || Ok::<(), ()>(())).unwrap().runs, 1);
        assert_eq!(measure(plan, || Err("no")), Err("no"));
    }
}
