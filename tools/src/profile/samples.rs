//! What was measured: launches and copies, of the driver's events, the emulator or a vendor's profiler.

use crate::failure::Failure;
use fusion_operators::Tensor;
use fusion_runtime::Session;
use fusion_runtime::measure::{Plan, Statistics};
use fusion_runtime::profile::{Event, Launch, RunProfile, Work};
use indexmap::IndexMap;
use serde::{Serialize, Serializer};
use std::time::Instant;

/// A launch, and what was measured of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sample {
    /// The function of the GPU.
    pub function: String,
    /// Blocks, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grid: Option<[u64; 3]>,
    /// Threads of a block, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<[u64; 3]>,
    /// When it began, in seconds of some clock.
    #[serde(skip)]
    pub begin_s: Option<f64>,
    /// Seconds it took.
    pub seconds: f64,
    /// What else a profiler says of it.
    #[serde(skip_serializing_if = "IndexMap::is_empty", serialize_with = "as_map")]
    pub counters: IndexMap<String, f64>,
}

fn as_map<S: Serializer>(counters: &IndexMap<String, f64>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(counters)
}

/// What was measured: the launches of some runs that are alike, and what was copied.
#[derive(Debug, Default)]
pub struct Samples {
    /// By whom.
    pub timed_by: String,
    /// Launches of each run, in order.
    pub runs: Vec<Vec<Sample>>,
    /// Copies of each run.
    pub copies: Vec<Vec<Event>>,
    /// What timing takes.
    pub empty_s: Option<f64>,
}

impl Samples {
    /// Runs a model for a GPU some times, each launch timed by the device.
    pub fn of_session(
        session: &mut Session,
        inputs: &[Tensor],
        plan: Plan,
        emulated: bool,
    ) -> Result<Samples, Failure> {
        for _ in 0..plan.warm_up.min(1) {
            session.profile(inputs)?;
        }
        let timed_by = if emulated { "the emulator" } else { "events of the driver" };
        let mut samples = Samples { timed_by: timed_by.to_owned(), ..Samples::default() };
        let (begin, mut empty) = (Instant::now(), Vec::new());
        loop {
            let profile = session.profile(inputs)?;
            empty.push(profile.empty_s);
            samples.add(profile);
            let spent = plan.budget.is_some_and(|budget| begin.elapsed() >= budget);
            if samples.runs.len() >= plan.runs || spent {
                break;
            }
        }
        samples.empty_s = Statistics::of(&empty).map(|s| s.median_s);
        Ok(samples)
    }

    fn add(&mut self, profile: RunProfile) {
        let (mut launches, mut copies) = (Vec::new(), Vec::new());
        for event in profile.events {
            let Event { work, begin_s, seconds } = event;
            match work {
                Work::Launch(Launch { function, grid, block, .. }) => launches.push(Sample {
                    function,
                    grid: Some(grid.map(u64::from)),
                    block: Some(block.map(u64::from)),
                    begin_s: Some(begin_s),
                    seconds,
                    counters: IndexMap::new(),
                }),
                work => copies.push(Event { work, begin_s, seconds }),
            }
        }
        self.runs.push(launches);
        self.copies.push(copies);
    }

    /// The run in the middle, and each launch's seconds in the middle of all runs. Runs that differ from the last one do not
    /// count: a loop of the host went another number of times.
    pub(super) fn middle(&self) -> (usize, Vec<Sample>) {
        let last = self.runs.last().map_or(&[][..], Vec::as_slice);
        let is_like = |run: &Vec<Sample>| {
            run.len() == last.len() && run.iter().zip(last).all(|(a, b)| a.function == b.function)
        };
        let alike: Vec<usize> = (0..self.runs.len()).filter(|&i| is_like(&self.runs[i])).collect();
        let total = |run: usize| self.runs[run].iter().map(|sample| sample.seconds).sum::<f64>();
        let mut sorted = alike.clone();
        sorted.sort_by(|&a, &b| total(a).total_cmp(&total(b)).then(a.cmp(&b)));
        let chosen = sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or(0);
        let median = |place: usize| {
            let times: Vec<f64> = alike.iter().map(|&run| self.runs[run][place].seconds).collect();
            Statistics::of(&times).map_or(0.0, |s| s.median_s)
        };
        let run = self.runs.get(chosen).map_or(&[][..], Vec::as_slice);
        let merged = run.iter().enumerate().map(|(i, s)| Sample { seconds: median(i), ..s.clone() });
        (chosen, merged.collect())
    }
}
