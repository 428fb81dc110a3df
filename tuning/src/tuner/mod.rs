//! The search: which kernel is measured next, and how long.
//!
//! ```text
//!     each kernel's default first;  then a batch of the kernel of which most is expected:   calls x seconds x what is left to find
//!     last:  the best few of each kernel in turn with its default
//! ```

mod state;

use crate::cost_model::{self, Past};
use crate::kernel::Kernel;
use crate::log::{Record, VERSION, picoseconds, seconds};
use crate::measure::{Measured, Measurer};
use crate::points::Point;
use crate::search::{self, by_cost};
use fusion_schedule::auto_schedule::Choice;
use state::State;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How to search.
#[derive(Clone, Debug)]
pub struct Options {
    /// Measurements in all, without those of the defaults and those at the end.
    pub trials: usize,
    /// Begin no batch after that long.
    pub time: Option<Duration>,
    /// The seed.
    pub seed: u64,
    /// The search.
    pub search: search::Kind,
    /// The cost model.
    pub model: cost_model::Kind,
    /// The processor, as the log names it.
    pub target: String,
    /// Threads that kernels run on.
    pub threads: u16,
    /// Leave a kernel that reaches this share of its roof.
    pub until: Option<f64>,
    /// Leave a kernel after so many batches that found nothing better, where the cost model expects nothing either.
    pub patience: Option<usize>,
    /// What was measured of other kernels.
    pub past: Arc<[Past]>,
}

/// Measurements that are made at a time.
const BATCH: usize = 8;
/// How much less is expected of a kernel after each batch that found nothing better.
const FADES: f64 = 0.5;
/// Of the best points of a kernel, those that are measured again.
const FINALISTS: usize = 5;

/// Tunes kernels. Each measurement goes to `log`, whose error ends the search, as one of the measurer does.
pub fn tune<M: Measurer, E: From<M::Error>>(
    kernels: &[Kernel],
    options: &Options,
    measurer: &mut M,
    log: &mut dyn FnMut(&Record) -> Result<(), E>,
) -> Result<(), E> {
    let start = Instant::now();
    let mut states: Vec<State> =
        kernels.iter().enumerate().map(|(number, kernel)| State::new(kernel, number, options)).collect();
    let (mut trial, mut left) = (0, options.trials);
    let record =
        |kernel: &Kernel, choices: &[Choice], estimate: f64, measured: &Measured, trial: usize| Record {
            version: VERSION,
            fusion: env!("CARGO_PKG_VERSION").to_owned(),
            kernel: kernel.hash.clone(),
            name: kernel.name.clone(),
            target: options.target.clone(),
            threads: options.threads,
            seed: options.seed,
            trial,
            choices: choices.to_vec(),
            estimate_ps: picoseconds(estimate),
            roof_ps: kernel.roof.map(picoseconds),
            predicted_ps: None,
            loops: Vec::new(),
            times_ps: measured.clone().unwrap_or_default(),
            error: measured.clone().err(),
            again: false,
            default: choices == kernel.space.default,
        };
    for state in &mut states {
        let kernel = state.kernel;
        let choices = std::slice::from_ref(&kernel.space.default);
        let measured = measurer.measure(kernel, choices)?.into_iter().next();
        let measured = measured.unwrap_or_else(|| Err("it was not measured".to_owned()));
        let default = state.points.of_choices(&kernel.space.default);
        state.estimate = default.as_ref().map_or(0.0, |point| state.points.estimate(point));
        let loops =
            default.as_ref().and_then(|point| state.loops(std::slice::from_ref(point)).pop().flatten());
        let record = record(kernel, &kernel.space.default, state.estimate, &measured, trial);
        log(&Record { loops: loops.unwrap_or_default(), ..record })?;
        trial += 1;
        let times = measured.unwrap_or_default();
        state.default = seconds(&times);
        state.found(&times);
        // The default itself is a point of the space, which need not be measured twice.
        if let Some(point) = default {
            state.seen.insert(point.clone());
            state.learn(point, state.best);
        }
        if state.points.number() < 2.0 || state.default.is_none() {
            state.hope = 0.0;
        }
    }
    while left > 0 && options.time.is_none_or(|time| start.elapsed() < time) {
        for state in &mut states {
            // What is near its roof has nothing left to find.
            if options.until.is_some_and(|share| state.share_of_roof() >= share) {
                state.hope = 0.0;
            }
        }
        let most = states.iter_mut().max_by(|a, b| a.expected().total_cmp(&b.expected()));
        let Some(state) = most.filter(|state| state.expected() > 0.0) else { break };
        let (points, predicted) = state.propose(BATCH.min(left));
        let is_done =
            options.patience.is_some_and(|rounds| state.idle >= rounds) && !state.gains_by(&predicted);
        if points.is_empty() || is_done {
            state.hope = 0.0;
            continue;
        }
        left -= points.len();
        state.seen.extend(points.iter().cloned());
        let choices: Vec<Vec<Choice>> = points.iter().map(|point| state.points.choices(point)).collect();
        let loops = state.loops(&points);
        let times = measurer.measure(state.kernel, &choices)?;
        let before = state.best;
        for (at, (point, measured)) in points.into_iter().zip(times).enumerate() {
            let record = record(state.kernel, &choices[at], state.points.estimate(&point), &measured, trial);
            let predicted_ps = state.model.is_of_seconds().then(|| picoseconds(predicted[at].exp()));
            log(&Record { predicted_ps, loops: loops[at].clone().unwrap_or_default(), ..record })?;
            trial += 1;
            let times = measured.unwrap_or_default();
            state.found(&times);
            state.learn(point, seconds(&times).unwrap_or(f64::INFINITY));
        }
        let is_better = state.best < before;
        state.hope = if is_better { 1.0 } else { state.hope * FADES };
        state.idle = if is_better { 0 } else { state.idle + 1 };
        // A kernel of which nothing is expected is not looked at while others are; when all are so, each gets its turn.
        if states.iter().all(|state| state.hope < 1e-3) {
            let open = states.iter_mut().filter(|state| state.hope > 0.0);
            open.for_each(|state| state.hope = 1.0);
        }
    }
    for state in &mut states {
        let mut all: Vec<&(Point, f64)> = state.measured.iter().filter(|(_, s)| s.is_finite()).collect();
        all.sort_by(|a, b| by_cost(a, b));
        let finalists = all.iter().map(|(point, _)| (point, state.points.choices(point)));
        let finalists: Vec<(&Point, Vec<Choice>)> =
            finalists.filter(|(_, choices)| *choices != state.kernel.space.default).take(FINALISTS).collect();
        if finalists.is_empty() || state.default.is_none() {
            continue;
        }
        let default = std::iter::once(state.kernel.space.default.clone());
        let choices: Vec<Vec<Choice>> = default.chain(finalists.iter().map(|(_, c)| c.clone())).collect();
        let times = measurer.again(state.kernel, &choices)?;
        for (choices, measured) in choices.iter().zip(times) {
            let point = finalists.iter().find(|(_, c)| c == choices).map(|(point, _)| *point);
            let estimate = point.map_or(state.estimate, |point| state.points.estimate(point));
            let record = record(state.kernel, choices, estimate, &measured, trial);
            log(&Record { again: true, ..record })?;
            trial += 1;
        }
    }
    Ok(())
}
