//! Where the time of a model goes, kernel by kernel, and how near each comes to the roof of its target.
//!
//! ```text
//!   runs timed by events of the driver, or by the emulator --+
//!   runs that a vendor's profiler watched (`vendor`) --------+--> samples --> kernels --> table, JSON, trace
//!   kernels of a processor, each by itself ------------------+                  |
//!   report: operators, sources, bytes, FLOPs, the machine's roof --------------+
//! ```

// A kernel's calls are a list of ranges, and may be one.
#![allow(clippy::single_range_in_vec_init)]

pub mod attribute;
pub mod text;
pub mod trace;
pub mod vendor;

use crate::failure::Failure;
use crate::report::Report;
use crate::report::kernels::Row;
use crate::report::machine::Machine;
use attribute::{Group, groups};
use fusion_operators::Tensor;
use fusion_runtime::Session;
use fusion_runtime::measure::{Plan, Statistics};
use fusion_runtime::profile::{Event, Launch, RunProfile, Work};
use indexmap::IndexMap;
use serde::{Serialize, Serializer};
use std::time::Instant;

/// Where the time goes. As JSON, times are in seconds, of the median run.
#[derive(Debug, Serialize)]
pub struct Profile {
    /// The model.
    pub model: String,
    /// What it was compiled for.
    pub target: String,
    /// Whether it ran on the emulator, whose times say nothing of a GPU.
    pub emulated: bool,
    /// Whose times these are.
    pub timed_by: String,
    /// Runs that were timed.
    pub runs: usize,
    /// What timing itself takes of each launch and copy.
    pub empty_s: Option<f64>,
    /// The roof.
    pub machine: Option<Machine>,
    /// In the order of their first calls; what the description of the model does not know comes last.
    pub kernels: Vec<KernelProfile>,
    /// Copies between host and device, and on the device.
    pub copies: Vec<CopyProfile>,
    /// Seconds of all kernels.
    pub kernels_s: f64,
    /// A run in the order in which things happened.
    #[serde(skip)]
    pub timeline: Vec<Slice>,
}

/// What a kernel takes of a run, with all its calls.
#[derive(Debug, Serialize)]
pub struct KernelProfile {
    /// Its numbers in `fusion explain`: one, or those of all kernels that share a function which a loop calls.
    pub numbers: Vec<usize>,
    /// Its name; of what the description does not know, the function of the GPU.
    pub name: String,
    /// What was fused into it.
    pub operators: Vec<String>,
    /// Operations of the source that it stands for.
    pub sources: Vec<String>,
    /// How often it is called.
    pub calls: usize,
    /// Seconds.
    pub seconds: f64,
    /// The part of all kernels' seconds.
    pub share: f64,
    /// Bytes it has to read and write, when known.
    pub bytes: Option<u64>,
    /// Its arithmetic operations, when known.
    pub flops: Option<u64>,
    /// Bytes a second, in thousand millions.
    pub gbytes_per_s: Option<f64>,
    /// Operations a second, in thousand millions.
    pub gflops: Option<f64>,
    /// Seconds predicted.
    pub predicted_s: Option<f64>,
    /// Seconds that the roof takes.
    pub roof_s: Option<f64>,
    /// The same as a part of what it took.
    pub of_roof: Option<f64>,
    /// What the roof is made of there.
    pub bound_by: Option<&'static str>,
    /// Its launches, the calls one behind another.
    pub launches: Vec<Sample>,
}

/// Copies of a kind.
#[derive(Debug, Serialize)]
pub struct CopyProfile {
    /// From where to where.
    pub name: &'static str,
    /// How many.
    pub count: usize,
    /// Bytes of all.
    pub bytes: u64,
    /// Seconds of all.
    pub seconds: f64,
}

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

/// A place on the time line.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    /// What.
    pub what: Happened,
    /// Seconds since the first one.
    pub begin_s: f64,
    /// Seconds it took.
    pub seconds: f64,
}

/// What a place on the time line stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Happened {
    /// A call of a kernel, by its place in [`Profile::kernels`].
    Kernel(usize),
    /// A launch of it, and its place among the launches.
    Launch(usize, usize),
    /// A copy with its bytes.
    Copy(&'static str, u64),
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
    fn middle(&self) -> (usize, Vec<Sample>) {
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

impl Profile {
    /// Of a report's model, by what was measured of it.
    pub fn new(report: &Report, samples: &Samples, emulated: bool) -> Profile {
        let (chosen, launches) = samples.middle();
        let groups = groups(&report.kernels, &launches);
        let kernels = groups.iter().map(|group| KernelProfile::of(report, group, &launches)).collect();
        let copies = samples.copies.get(chosen).map_or(&[][..], Vec::as_slice);
        let run = samples.runs.get(chosen).map_or(&[][..], Vec::as_slice);
        let timeline = timeline(&groups, run, copies);
        let profile = Profile {
            runs: samples.runs.len(),
            empty_s: samples.empty_s,
            copies: copies_of(copies),
            timeline,
            ..Profile::bare(report, &samples.timed_by, kernels)
        };
        Profile { emulated, ..profile }
    }

    /// Of a report that has seconds of its kernels, each measured by itself; those that were not are left out.
    pub fn of_measured(report: &Report) -> Profile {
        let mut kernels = Vec::new();
        let (mut timeline, mut begin_s) = (Vec::new(), 0.0);
        for (number, row) in report.kernels.iter().enumerate() {
            let Some(seconds) = row.measured_s else { continue };
            timeline.push(Slice { what: Happened::Kernel(kernels.len()), begin_s, seconds });
            begin_s += seconds;
            let group = Group { rows: vec![number], calls: vec![0..0] };
            kernels.push(KernelProfile { seconds, ..KernelProfile::of(report, &group, &[]) });
            if let Some(kernel) = kernels.last_mut() {
                kernel.rate(report.machine.as_ref(), false);
            }
        }
        Profile { timeline, ..Profile::bare(report, "runs of each kernel as a program of its own", kernels) }
    }

    fn bare(report: &Report, timed_by: &str, mut kernels: Vec<KernelProfile>) -> Profile {
        let kernels_s: f64 = kernels.iter().map(|kernel| kernel.seconds).sum();
        for kernel in &mut kernels {
            kernel.share = if kernels_s > 0.0 { kernel.seconds / kernels_s } else { 0.0 };
        }
        Profile {
            model: report.name.clone(),
            target: report.target.clone(),
            emulated: false,
            timed_by: timed_by.to_owned(),
            runs: 1,
            empty_s: None,
            machine: report.machine.clone(),
            kernels,
            copies: Vec::new(),
            kernels_s,
            timeline: Vec::new(),
        }
    }
}

impl KernelProfile {
    fn of(report: &Report, group: &Group, launches: &[Sample]) -> KernelProfile {
        let rows: Vec<&Row> = group.rows.iter().map(|&row| &report.kernels[row]).collect();
        let launches: Vec<Sample> =
            group.calls.iter().flat_map(|call| &launches[call.clone()]).cloned().collect();
        let calls = group.calls.len();
        let each = |of: fn(&Row) -> Option<u64>| Some(of(rows.first()?)? * calls as u64);
        let mut sources: Vec<String> = Vec::new();
        for source in rows.iter().flat_map(|row| &row.sources) {
            if !sources.contains(source) {
                sources.push(source.clone());
            }
        }
        let unknown = || launches.first().map(|sample| sample.function.clone()).unwrap_or_default();
        let mut kernel = KernelProfile {
            numbers: group.rows.clone(),
            name: rows.first().map_or_else(unknown, |row| row.name.clone()),
            operators: rows.first().map(|row| row.operators.clone()).unwrap_or_default(),
            sources,
            calls,
            seconds: launches.iter().map(|sample| sample.seconds).sum(),
            share: 0.0,
            bytes: each(|row| row.bytes),
            flops: each(|row| row.flops),
            gbytes_per_s: None,
            gflops: None,
            predicted_s: rows.first().and_then(|row| row.predicted_s).map(|s| s * calls as f64),
            roof_s: None,
            of_roof: None,
            bound_by: None,
            launches,
        };
        kernel.rate(report.machine.as_ref(), rows.iter().any(|row| row.multiplies_matrices()));
        kernel
    }

    /// Fills in what follows from seconds, bytes and FLOPs.
    fn rate(&mut self, machine: Option<&Machine>, by_matrices: bool) {
        let per_second =
            |amount: Option<u64>| Some(amount? as f64 / self.seconds).filter(|rate| rate.is_finite());
        let (bytes, flops) = (per_second(self.bytes), per_second(self.flops));
        self.gbytes_per_s = bytes.map(|rate| rate / 1e9);
        self.gflops = flops.map(|rate| rate / 1e9);
        let (Some(machine), Some(bytes), Some(all)) = (machine, self.bytes, self.flops) else { return };
        // What a library does not tell its rate shows: matrix instructions alone are faster than all others.
        let machine = match by_matrices || flops.is_some_and(|rate| rate > machine.peak_flops) {
            true => machine.with_matrices(),
            false => machine.clone(),
        };
        let calls = self.calls.max(1) as f64;
        let (flops, bytes) = (all as f64 / calls, bytes as f64 / calls);
        let roof = calls * machine.roof(flops, bytes);
        self.roof_s = Some(roof);
        self.of_roof = Some(roof / self.seconds).filter(|part| part.is_finite());
        self.bound_by = Some(if machine.is_arithmetic(flops, bytes) { "arithmetic" } else { "memory" });
    }
}

fn as_map<S: Serializer>(counters: &IndexMap<String, f64>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(counters)
}

/// The calls and their launches as they happened, and copies. Launches without a time come one behind another.
fn timeline(groups: &[Group], run: &[Sample], copies: &[Event]) -> Vec<Slice> {
    let mut next = 0.0;
    let begins: Vec<f64> = run
        .iter()
        .map(|sample| {
            let begin = sample.begin_s.unwrap_or(next);
            next = begin + sample.seconds;
            begin
        })
        .collect();
    let zero =
        begins.iter().copied().chain(copies.iter().map(|copy| copy.begin_s)).fold(f64::INFINITY, f64::min);
    let mut slices = Vec::new();
    for (number, group) in groups.iter().enumerate() {
        let mut place = 0;
        for call in &group.calls {
            let Some(last) = call.clone().last() else { continue };
            let begin_s = begins[call.start] - zero;
            let seconds = begins[last] + run[last].seconds - begins[call.start];
            slices.push(Slice { what: Happened::Kernel(number), begin_s, seconds });
            for i in call.clone() {
                let what = Happened::Launch(number, place);
                slices.push(Slice { what, begin_s: begins[i] - zero, seconds: run[i].seconds });
                place += 1;
            }
        }
    }
    for copy in copies {
        if let Some((name, bytes)) = copied(&copy.work) {
            let what = Happened::Copy(name, bytes);
            slices.push(Slice { what, begin_s: copy.begin_s - zero, seconds: copy.seconds });
        }
    }
    slices.sort_by(|a, b| a.begin_s.total_cmp(&b.begin_s).then(b.seconds.total_cmp(&a.seconds)));
    slices
}

fn copied(work: &Work) -> Option<(&'static str, u64)> {
    match work {
        Work::Launch(_) => None,
        Work::Upload(bytes) => Some(("host to device", *bytes)),
        Work::Download(bytes) => Some(("device to host", *bytes)),
        Work::Copy(bytes) => Some(("on the device", *bytes)),
    }
}

fn copies_of(copies: &[Event]) -> Vec<CopyProfile> {
    let mut kinds: IndexMap<&'static str, CopyProfile> = IndexMap::new();
    for copy in copies {
        let Some((name, bytes)) = copied(&copy.work) else { continue };
        let kind = kinds.entry(name).or_insert(CopyProfile { name, count: 0, bytes: 0, seconds: 0.0 });
        kind.count += 1;
        kind.bytes += bytes;
        kind.seconds += copy.seconds;
    }
    kinds.into_values().collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::report::tests::report;

    /// A launch that took so many microseconds.
    pub fn launch(function: &str, begin_us: f64, us: f64) -> Sample {
        Sample {
            function: function.to_owned(),
            begin_s: Some(begin_us * 1e-6),
            seconds: us * 1e-6,
            ..Sample::default()
        }
    }

    /// Three runs of a convolution in two launches and a pool, and copies.
    pub fn profile() -> Profile {
        let mut report = report();
        for (row, function) in report.kernels.iter_mut().zip(["conv", "pool"]) {
            row.function = Some(function.to_owned());
        }
        let run = |more: f64| {
            vec![launch("conv_0", 1.0, 3.0 + more), launch("conv_1", 5.0, 1.0), launch("pool_0", 8.0, 4.0)]
        };
        let upload = Event { work: Work::Upload(16), begin_s: 0.0, seconds: 1e-6 };
        let samples = Samples {
            timed_by: "the emulator".to_owned(),
            runs: vec![run(0.0), run(2.0), run(1.0)],
            copies: vec![vec![upload]; 3],
            empty_s: Some(1e-7),
        };
        Profile::new(&report, &samples, true)
    }

    #[test]
    fn kernels_have_the_median_of_their_launches_and_rates() {
        let profile = profile();
        assert_eq!((profile.runs, profile.kernels.len()), (3, 2));
        let conv = &profile.kernels[0];
        assert_eq!((conv.name.as_str(), conv.calls, conv.launches.len()), ("fused_conv2d_relu_0", 1, 2));
        assert!((conv.seconds - 5e-6).abs() < 1e-12 && (conv.share - 5.0 / 9.0).abs() < 1e-9, "{conv:?}");
        assert!(
            (conv.gbytes_per_s.unwrap() - 0.04).abs() < 1e-9 && (conv.gflops.unwrap() - 0.18).abs() < 1e-9
        );
        assert_eq!(conv.sources, ["conv", "relu"]);
        let copies = &profile.copies[0];
        assert_eq!((copies.name, copies.count, copies.bytes), ("host to device", 1, 16));
    }

    #[test]
    fn the_roof_is_told_with_what_it_is_made_of() {
        let mut kernel = KernelProfile {
            seconds: 2.0,
            ..KernelProfile::of(&report(), &Group { rows: vec![0], calls: vec![0..0] }, &[])
        };
        let machine = report().machine.unwrap();
        kernel.flops = Some(192_000_000_000);
        kernel.rate(Some(&machine), false);
        assert_eq!(
            (kernel.roof_s, kernel.of_roof, kernel.bound_by),
            (Some(1.0), Some(0.5), Some("arithmetic"))
        );
        kernel.bytes = Some(30_000_000_000);
        kernel.rate(Some(&machine), false);
        assert_eq!((kernel.roof_s, kernel.of_roof, kernel.bound_by), (Some(2.0), Some(1.0), Some("memory")));
    }

    #[test]
    fn what_was_measured_by_itself_has_the_same_table() {
        let mut report = report();
        report.kernels[1].measured_s = Some(2e-6);
        let profile = Profile::of_measured(&report);
        assert_eq!(profile.kernels.len(), 1);
        let kernel = &profile.kernels[0];
        assert_eq!(
            (kernel.numbers.as_slice(), kernel.share, kernel.gbytes_per_s),
            (&[1][..], 1.0, Some(0.05))
        );
    }
}
