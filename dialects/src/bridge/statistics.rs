//! The report of `--mlir-pass-statistics`, for our passes.
//!
//! MLIR counts and reports only where LLVM was built for it (LLVM_ENABLE_STATS), which Debian's release is not: there
//! it prints the head of the report and nothing below. Our passes count in Rust, so their part follows here, as
//! upstream's list (`--mlir-pass-statistics-display=list`) has it; upstream's own passes stay without.

use super::ffi::fusionReportsStatistics;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A statistic of a pass, shown by `--mlir-pass-statistics`.
#[derive(Clone, Copy, Debug)]
pub struct StatisticSpec {
    /// Name.
    pub name: &'static str,
    /// One sentence.
    pub description: &'static str,
}

type Counted = BTreeMap<&'static str, Vec<(&'static StatisticSpec, u64)>>;

/// What passes have counted in this process, by their names.
fn counted() -> MutexGuard<'static, Counted> {
    static COUNTED: Mutex<Counted> = Mutex::new(BTreeMap::new());
    COUNTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds what one run of a pass has counted.
pub(super) fn add(pass: &'static str, specs: &'static [StatisticSpec], counts: &[u64]) {
    let mut all = counted();
    let sums = all.entry(pass).or_insert_with(|| specs.iter().map(|spec| (spec, 0)).collect());
    for ((_, sum), count) in sums.iter_mut().zip(counts) {
        *sum += count;
    }
}

/// Prints the report to standard error when the process's arguments ask for it and MLIR has none.
pub(super) fn report() {
    let asked = |argument: String| {
        let flag = argument.trim_start_matches('-');
        argument.starts_with('-') && matches!(flag, "mlir-pass-statistics" | "mlir-pass-statistics=true")
    };
    // SAFETY: it returns a constant.
    let upstream = unsafe { fusionReportsStatistics() };
    if !upstream && std::env::args().any(asked) {
        eprint!("{}", lines(&counted()));
    }
}

fn lines(counted: &Counted) -> String {
    let mut text = String::new();
    for (pass, statistics) in counted.iter().filter(|(_, statistics)| !statistics.is_empty()) {
        let mut sorted = statistics.clone();
        sorted.sort_by_key(|(spec, _)| spec.name);
        let name = sorted.iter().map(|(spec, _)| spec.name.len()).max().unwrap_or(0);
        let digits = sorted.iter().map(|(_, sum)| sum.to_string().len()).max().unwrap_or(0);
        let _ = writeln!(text, "  {pass}");
        for (spec, sum) in sorted {
            let _ = writeln!(text, "    (S) {sum:digits$} {:name$} - {}", spec.name, spec.description);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_aligned_and_sorted() {
        static SPECS: [StatisticSpec; 2] = [
            StatisticSpec { name: "rows", description: "Number of rows" },
            StatisticSpec { name: "bytes", description: "Bytes of them" },
        ];
        let counted = Counted::from([("te-pass", vec![(&SPECS[0], 7), (&SPECS[1], 128)])]);
        let wanted = "  te-pass\n    (S) 128 bytes - Bytes of them\n    (S)   7 rows  - Number of rows\n";
        assert_eq!(lines(&counted), wanted);
    }
}
