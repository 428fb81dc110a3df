//! The kernels of a model on several targets, side by side: what each is estimated to take, what bounds it, and which are far from their roof.
//!
//! ```text
//!   kernel               cpu              of roof  bound by    my.toml                  of roof  bound by
//!   fused_dense_relu_0   12.300 us           81 %  arithmetic  10.100 us (0.82)            77 %  arithmetic
//! ```
//!
//! A kernel is bound by latency where calling it is most of its time, else by what its roof is made of: arithmetic, or the memory that holds its bytes.

use super::Report;
use super::machine::Machine;
use super::row::Row;
use super::table::{Align, table};
use crate::print;
use indexmap::IndexMap;
use serde::Serialize;

/// A kernel that takes more than its roof over this share is far from it.
const FAR: f64 = 0.5;

/// What is told of a target.
#[derive(Debug, Serialize)]
pub struct OnTarget {
    /// Its name.
    pub target: String,
    /// Seconds of the model on one core, where those of all kernels are known.
    pub seconds: Option<f64>,
    /// The kernels by name, each once.
    pub kernels: IndexMap<String, OfKernel>,
}

/// What is told of a kernel on a target.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OfKernel {
    /// How often it runs, by all calls.
    pub runs: u64,
    /// Seconds that a run is estimated to take.
    pub seconds: Option<f64>,
    /// What the roof takes, as a share of these.
    pub of_roof: Option<f64>,
    /// What bounds it.
    pub bound: String,
}

impl OnTarget {
    /// Of a report on a target where calling a kernel takes `call` seconds; `estimates` are those of the kernels' schedules, by name.
    pub fn of(name: &str, report: &Report, call: f64, estimates: &IndexMap<String, f64>) -> OnTarget {
        let mut kernels: IndexMap<String, OfKernel> = IndexMap::new();
        for row in &report.kernels {
            let own = || {
                let scheduled = estimates.get(&row.name).map(|seconds| seconds + call);
                OfKernel::of(row, report.machine.as_ref(), scheduled.or(row.predicted_s), call)
            };
            kernels.entry(row.name.clone()).or_insert_with(own).runs += row.runs;
        }
        let seconds = kernels.values().map(|kernel| Some(kernel.runs as f64 * kernel.seconds?)).sum();
        OnTarget { target: name.to_owned(), seconds, kernels }
    }
}

impl OfKernel {
    fn of(row: &Row, machine: Option<&Machine>, seconds: Option<f64>, call: f64) -> OfKernel {
        let roof = machine.and_then(|machine| machine.roof_of(row));
        let bound = match (machine, row.flops, row.bytes) {
            _ if seconds.is_some_and(|s| s > 0.0 && call >= 0.5 * s) => "latency".to_owned(),
            (Some(machine), Some(flops), Some(bytes)) => {
                match machine.is_arithmetic(flops as f64, bytes as f64) {
                    true => "arithmetic".to_owned(),
                    false => machine.holding(bytes as f64).map_or("memory", |level| level.name).to_owned(),
                }
            }
            _ => "?".to_owned(),
        };
        OfKernel { runs: 0, seconds, of_roof: roof.zip(seconds).map(|(roof, s)| roof / s), bound }
    }

    fn is_far(&self) -> bool {
        self.of_roof.is_some_and(|share| share < FAR)
    }
}

/// The kernels of all targets, the first of which the others are compared with, and those that are far from their roof.
pub fn text(all: &[OnTarget]) -> String {
    let Some((base, others)) = all.split_first() else { return String::new() };
    let mut names: Vec<&String> = Vec::new();
    for name in all.iter().flat_map(|on| on.kernels.keys()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut head = vec!["kernel".to_owned()];
    for on in all {
        head.extend([on.target.clone(), "of roof".to_owned(), "bound by".to_owned()]);
    }
    let row = |name: &&String| {
        let mut cells = vec![(*name).clone()];
        let of_base = base.kernels.get(*name).and_then(|kernel| kernel.seconds);
        for (at, on) in all.iter().enumerate() {
            let compared = of_base.filter(|_| at > 0);
            cells.extend(on.kernels.get(*name).map_or(
                [String::new(), String::new(), "other kernels".to_owned()],
                |kernel| {
                    let share =
                        kernel.of_roof.map_or(String::new(), |share| format!("{:.0} %", 100.0 * share));
                    [seconds(kernel.seconds, compared), share, kernel.bound.clone()]
                },
            ));
        }
        cells
    };
    let mut total = vec!["total".to_owned()];
    for (at, on) in all.iter().enumerate() {
        total.extend([seconds(on.seconds, base.seconds.filter(|_| at > 0)), String::new(), String::new()]);
    }
    let mut lines = vec![head];
    lines.extend(names.iter().map(row));
    lines.push(total);
    let aligns: Vec<Align> =
        (0..lines[0].len()).map(|n| if n % 3 == 0 { Align::Left } else { Align::Right }).collect();
    let mut text = table(&aligns, &lines);
    for on in std::iter::once(base).chain(others) {
        for (name, kernel) in on.kernels.iter().filter(|(_, kernel)| kernel.is_far()) {
            let share = kernel.of_roof.unwrap_or(0.0);
            text += &format!(
                "\n{name} on {} is far from its roof: {:.0} %, bound by {}",
                on.target,
                100.0 * share,
                kernel.bound
            );
        }
    }
    text
}

fn seconds(own: Option<f64>, base: Option<f64>) -> String {
    let Some(own) = own else { return "?".to_owned() };
    match base.filter(|base| *base > 0.0) {
        Some(base) => format!("{} ({:.2})", print::seconds(own), own / base),
        None => print::seconds(own),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::report;
    use fusion_machine::Target;

    fn on(name: &str, change: impl FnOnce(&mut Target), estimates: &[(&str, f64)]) -> OnTarget {
        let mut target = Target::default();
        change(&mut target);
        let report = Report { machine: Some(Machine::of(&target)), ..report() };
        let estimates = estimates.iter().map(|(name, seconds)| ((*name).to_owned(), *seconds)).collect();
        OnTarget::of(name, &report, target.kernel_call, &estimates)
    }

    #[test]
    fn targets_stand_side_by_side() {
        // 900 operations are 4.7 ns; 200 bytes of the first cache are less.
        let base = on("cpu", |_| {}, &[("fused_conv2d_relu_0", 20e-9)]);
        let slow = on("slow", |target| target.peak_flops /= 100.0, &[("fused_conv2d_relu_0", 600e-9)]);
        let conv = &base.kernels["fused_conv2d_relu_0"];
        assert_eq!((conv.bound.as_str(), conv.seconds), ("latency", Some(40e-9)));
        let conv = &slow.kernels["fused_conv2d_relu_0"];
        assert_eq!((conv.bound.as_str(), conv.is_far()), ("arithmetic", false));
        let told = text(&[base, slow]);
        assert!(told.contains("(15.50)"), "{told}");
        assert!(
            told.contains("fused_conv2d_relu_0 on cpu is far from its roof: 12 %, bound by latency"),
            "{told}"
        );
        assert!(!told.contains("fused_conv2d_relu_0 on slow is far"), "{told}");
    }
}
