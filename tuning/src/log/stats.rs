//! What there is in logs of each kernel: measurements, those that failed by reason, what is best, and by which compilers.

use super::{Chosen, Record, best};
use indexmap::IndexMap;
use std::collections::BTreeSet;

/// What logs have of a kernel on some threads of a processor.
#[derive(Clone, Debug, PartialEq)]
pub struct Stats {
    /// What is best, and how many measurements there are.
    pub chosen: Chosen,
    /// Measurements in turn with the default.
    pub again: usize,
    /// How many failed, by reason.
    pub failed: IndexMap<String, usize>,
    /// Versions of the compiler that measured.
    pub versions: BTreeSet<String>,
}

/// Of each kernel on each processor and number of threads, in the order of the log.
pub fn stats(records: &[Record]) -> Vec<Stats> {
    let of_group = |group: &Vec<&Record>| {
        let mut failed = IndexMap::new();
        for why in group.iter().filter_map(|record| record.error.as_deref()) {
            *failed.entry(reason(why)).or_default() += 1;
        }
        Stats {
            chosen: best::chosen(group),
            again: group.iter().filter(|record| record.again).count(),
            failed,
            versions: group.iter().map(|record| record.fusion.clone()).collect(),
        }
    };
    best::groups(&records.iter().collect::<Vec<_>>()).values().map(of_group).collect()
}

/// A reason without what differs from case to case: numbers of signals, places of elements, positions in a program.
fn reason(why: &str) -> String {
    let first = why.lines().next().unwrap_or_default();
    let short = first.split([':', '(']).next().unwrap_or_default().trim();
    (if short.is_empty() { first } else { short }).to_owned()
}

#[cfg(test)]
mod tests {
    use super::reason;

    #[test]
    fn reasons_are_told_without_what_differs() {
        assert_eq!(reason("it gives wrong numbers: element [3, 4] is 5"), "it gives wrong numbers");
        assert_eq!(reason("it crashed (signal: 11 (SIGSEGV))"), "it crashed");
        assert_eq!(reason("it took more than 2 s"), "it took more than 2 s");
        assert_eq!(reason(": odd"), ": odd");
    }
}
