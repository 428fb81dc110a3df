//! What a kernel takes of a run, and what part of its roof that is.

use super::attribute::Group;
use super::samples::Sample;
use crate::report::Report;
use crate::report::machine::Machine;
use crate::report::row::Row;
use fusion_machine::{Dot4, Factors};
use serde::Serialize;

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

impl KernelProfile {
    pub(super) fn of(report: &Report, group: &Group, launches: &[Sample]) -> KernelProfile {
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
        let dot4 = rows.iter().find_map(|row| row.dot4.as_deref()).and_then(Dot4::named);
        let machine = report.machine.as_ref().map(|machine| machine.with_dots(dot4));
        kernel.rate(machine.as_ref(), rows.iter().find_map(|row| row.multiplies_matrices()));
        kernel
    }

    /// Fills in what follows from seconds, bytes and FLOPs.
    pub(super) fn rate(&mut self, machine: Option<&Machine>, by_matrices: Option<Factors>) {
        let per_second =
            |amount: Option<u64>| Some(amount? as f64 / self.seconds).filter(|rate| rate.is_finite());
        let (bytes, flops) = (per_second(self.bytes), per_second(self.flops));
        self.gbytes_per_s = bytes.map(|rate| rate / 1e9);
        self.gflops = flops.map(|rate| rate / 1e9);
        let (Some(machine), Some(bytes), Some(all)) = (machine, self.bytes, self.flops) else { return };
        // What a library does not tell its rate shows: matrix instructions alone are faster than all others.
        let shown = || flops.filter(|rate| *rate > machine.peak_flops).map(|_| Factors::Half);
        let machine = match by_matrices.or_else(shown) {
            Some(factors) => machine.with_matrices(factors),
            None => machine.clone(),
        };
        let calls = self.calls.max(1) as f64;
        let (flops, bytes) = (all as f64 / calls, bytes as f64 / calls);
        let roof = calls * machine.roof(flops, bytes);
        self.roof_s = Some(roof);
        self.of_roof = Some(roof / self.seconds).filter(|part| part.is_finite());
        self.bound_by = Some(if machine.is_arithmetic(flops, bytes) { "arithmetic" } else { "memory" });
    }
}
