//! The search: which kernel is measured next, and how long.
//!
//! ```text
//!     each kernel's default first;  then a batch of the kernel of which most is expected:   calls x seconds x what is left to find
//!     last:  the best few of each kernel in turn with its default
//! ```

use crate::cost_model::{self, CostModel, Sample};
use crate::kernel::Kernel;
use crate::log::{Record, VERSION, picoseconds, seconds};
use crate::measure::{Measured, Measurer};
use crate::points::{Point, Points};
use crate::search::{self, Known, Search, by_cost};
use fusion_operators::random::Random;
use fusion_schedule::auto_schedule::Choice;
use std::collections::HashSet;
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
}

/// Measurements that are made at a time.
const BATCH: usize = 8;
/// How much less is expected of a kernel after each batch that found nothing better.
const FADES: f64 = 0.5;
/// Of the best points of a kernel, those that are measured again.
const FINALISTS: usize = 5;

struct State<'k> {
    kernel: &'k Kernel,
    points: Points<'k>,
    search: Box<dyn Search>,
    model: Box<dyn CostModel>,
    random: Random,
    measured: Vec<(Point, f64)>,
    samples: Vec<Sample>,
    seen: HashSet<Point>,
    /// The estimate of the default, and what it takes.
    estimate: f64,
    default: Option<f64>,
    best: f64,
    hope: f64,
}

impl<'k> State<'k> {
    fn new(kernel: &'k Kernel, number: usize, options: &Options) -> State<'k> {
        State {
            kernel,
            points: Points::of(&kernel.space),
            search: options.search.search(),
            model: options.model.model(),
            random: Random::new(options.seed.wrapping_add((number as u64) << 32)),
            measured: Vec::new(),
            samples: Vec::new(),
            seen: HashSet::new(),
            estimate: 0.0,
            default: None,
            best: f64::INFINITY,
            hope: 1.0,
        }
    }

    fn expected(&self) -> f64 {
        let seconds = if self.best.is_finite() { self.best } else { self.default.unwrap_or(0.0) };
        self.kernel.calls as f64 * seconds * self.hope
    }

    fn propose(&mut self, count: usize) -> Vec<Point> {
        self.model.fit(&self.samples);
        let State { points, measured, seen, model, search, random, .. } = self;
        search.propose(&Known { points, measured, seen, model: &**model }, count, random)
    }

    fn learn(&mut self, point: Point, seconds: f64) {
        if seconds.is_finite() {
            self.samples.push(Sample { features: self.points.features(&point), log_seconds: seconds.ln() });
        }
        self.measured.push((point, seconds));
    }
}

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
        log(&record(kernel, &kernel.space.default, state.estimate, &measured, trial))?;
        trial += 1;
        state.default = measured.ok().and_then(|times| seconds(&times));
        state.best = state.default.unwrap_or(f64::INFINITY);
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
        let most = states.iter_mut().max_by(|a, b| a.expected().total_cmp(&b.expected()));
        let Some(state) = most.filter(|state| state.expected() > 0.0) else { break };
        let points = state.propose(BATCH.min(left));
        if points.is_empty() {
            state.hope = 0.0;
            continue;
        }
        left -= points.len();
        state.seen.extend(points.iter().cloned());
        let choices: Vec<Vec<Choice>> = points.iter().map(|point| state.points.choices(point)).collect();
        let times = measurer.measure(state.kernel, &choices)?;
        let before = state.best;
        for ((point, choices), measured) in points.into_iter().zip(&choices).zip(times) {
            log(&record(state.kernel, choices, state.points.estimate(&point), &measured, trial))?;
            trial += 1;
            let seconds = measured.ok().and_then(|times| seconds(&times)).unwrap_or(f64::INFINITY);
            state.best = state.best.min(seconds);
            state.learn(point, seconds);
        }
        state.hope = if state.best < before { 1.0 } else { state.hope * FADES };
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
