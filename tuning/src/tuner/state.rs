//! What is known of a kernel while it is tuned.

use super::Options;
use crate::cost_model::{CostModel, Loops, Sample};
use crate::kernel::Kernel;
use crate::log::seconds;
use crate::points::{Point, Points};
use crate::search::{Known, Search};
use fusion_conversion::features::Features;
use fusion_operators::random::Random;
use fusion_schedule::auto_schedule::Choice;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

/// What the same code measured twice differs by at least, as a share.
const LEAST_SPREAD: f64 = 0.02;
/// Kernels are lowered by threads with such stacks: passes recurse.
const STACK_BYTES: usize = 64 << 20;

pub struct State<'k> {
    pub kernel: &'k Kernel,
    pub points: Points<'k>,
    search: Box<dyn Search>,
    pub model: Box<dyn CostModel>,
    random: Random,
    pub measured: Vec<(Point, f64)>,
    samples: Vec<Sample>,
    pub seen: HashSet<Point>,
    /// The features of the loops of points, as far as they were asked for. Only looked up, never iterated.
    lowered: RefCell<HashMap<Point, Loops>>,
    /// The estimate of the default, and what it takes.
    pub estimate: f64,
    pub default: Option<f64>,
    pub best: f64,
    /// How much the times of the best differ, as a share.
    spread: f64,
    pub hope: f64,
    /// Batches since the last one that found something better.
    pub idle: usize,
}

impl<'k> State<'k> {
    pub fn new(kernel: &'k Kernel, number: usize, options: &Options) -> State<'k> {
        State {
            kernel,
            points: Points::of(&kernel.space),
            search: options.search.search(),
            model: options.model.model(&options.past),
            random: Random::new(options.seed.wrapping_add((number as u64) << 32)),
            measured: Vec::new(),
            samples: Vec::new(),
            seen: HashSet::new(),
            lowered: RefCell::default(),
            estimate: 0.0,
            default: None,
            best: f64::INFINITY,
            spread: LEAST_SPREAD,
            hope: 1.0,
            idle: 0,
        }
    }

    /// What is expected of the next batch, in seconds of the model.
    pub fn expected(&self) -> f64 {
        let seconds = if self.best.is_finite() { self.best } else { self.default.unwrap_or(0.0) };
        self.kernel.calls as f64 * seconds * self.hope
    }

    /// What the roof takes, as a share of the best.
    pub fn share_of_roof(&self) -> f64 {
        self.kernel.roof.map_or(0.0, |roof| roof / self.best)
    }

    /// Points to measure, with what the model says of them.
    pub fn propose(&mut self, count: usize) -> (Vec<Point>, Vec<f64>) {
        self.model.fit(&self.samples);
        let State { kernel, points, measured, seen, model, search, random, lowered, .. } = self;
        let loops = |wanted: &[Point]| features_of(kernel, points, lowered, wanted);
        let known = Known { points, measured, seen, model: &**model, loops: &loops };
        let proposed = search.propose(&known, count, random);
        let predicted = known.refined(&proposed);
        (proposed, predicted)
    }

    /// Whether the model expects one of these to be faster than the best by more than times vary.
    pub fn gains_by(&self, predicted: &[f64]) -> bool {
        let least = predicted.iter().copied().fold(f64::INFINITY, f64::min);
        if self.model.is_of_seconds() {
            return least < self.best.ln() - self.spread;
        }
        let best = self.measured.iter().min_by(|(_, a), (_, b)| a.total_cmp(b));
        let ranked = best.map(|(point, _)| {
            let (features, loops) = ([self.points.features(point)], self.loops(std::slice::from_ref(point)));
            self.model.refine(&features, &loops).unwrap_or_else(|| self.model.predict(&features))
        });
        ranked.and_then(|costs| costs.first().copied()).is_none_or(|cost| least < cost)
    }

    /// Takes times into account.
    pub fn found(&mut self, times_ps: &[u64]) {
        let Some(middle) = seconds(times_ps).filter(|middle| *middle < self.best) else { return };
        let least = times_ps.iter().min().map_or(0.0, |least| *least as f64 * 1e-12);
        self.best = middle;
        self.spread = ((middle - least) / middle).max(LEAST_SPREAD);
    }

    pub fn learn(&mut self, point: Point, seconds: f64) {
        if seconds.is_finite() {
            let loops = self.loops(std::slice::from_ref(&point)).pop().flatten();
            let features = self.points.features(&point);
            self.samples.push(Sample { features, loops, log_seconds: seconds.ln() });
        }
        self.measured.push((point, seconds));
    }

    /// The features of the loops of points.
    pub fn loops(&self, wanted: &[Point]) -> Vec<Loops> {
        features_of(self.kernel, &self.points, &self.lowered, wanted)
    }
}

fn features_of(
    kernel: &Kernel,
    points: &Points,
    lowered: &RefCell<HashMap<Point, Loops>>,
    wanted: &[Point],
) -> Vec<Loops> {
    let Some(features) = &kernel.features else { return vec![None; wanted.len()] };
    let new: Vec<&Point> = wanted.iter().filter(|&point| !lowered.borrow().contains_key(point)).collect();
    let choices: Vec<Vec<Choice>> = new.iter().map(|point| points.choices(point)).collect();
    let made = in_parts(features, &choices);
    let mut lowered = lowered.borrow_mut();
    for (point, loops) in new.into_iter().zip(made) {
        lowered.insert(point.clone(), loops);
    }
    wanted.iter().map(|point| lowered.get(point).cloned().flatten()).collect()
}

/// The features of some choices, by threads that share them.
fn in_parts(features: &Features, choices: &[Vec<Choice>]) -> Vec<Loops> {
    if choices.is_empty() {
        return Vec::new();
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let mut started = Vec::new();
        for part in choices.chunks(choices.len().div_ceil(threads)) {
            let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
            started.push((part.len(), thread.spawn_scoped(scope, move || features.of_choices(part))));
        }
        let none = |count| vec![None; count];
        let joined =
            started.into_iter().flat_map(|(count, thread)| match thread.map(|thread| thread.join()) {
                Ok(Ok(made)) => made,
                _ => none(count),
            });
        joined.collect()
    })
}
