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
pub mod kernel;
pub mod samples;
pub mod text;
pub mod trace;
pub mod vendor;

use crate::report::Report;
use crate::report::machine::Machine;
use attribute::{Group, groups};
use fusion_runtime::profile::{Event, Work};
use indexmap::IndexMap;
pub use kernel::KernelProfile;
pub use samples::{Sample, Samples};
use serde::Serialize;

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
                kernel.rate(report.machine.as_ref(), None);
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
        kernel.rate(Some(&machine), None);
        assert_eq!(
            (kernel.roof_s, kernel.of_roof, kernel.bound_by),
            (Some(1.0), Some(0.5), Some("arithmetic"))
        );
        kernel.bytes = Some(30_000_000_000);
        kernel.rate(Some(&machine), None);
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
