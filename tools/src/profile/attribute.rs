//! Which kernel a launch is of.
//!
//! ```text
//!   launches   a_0 a_1 | b_0 | a_0 a_1 | b_0        a call is what goes up in number
//!   kernels    #0 a      #1 b  #2 a      #3 b       as many as calls: one each, in order
//!   kernels    #0 a      #1 b                       else those of a function are one: a loop of the host calls them
//! ```
//!
//! What no kernel has the name of stands by itself: a function of a library that was not described.

use super::Sample;
use crate::report::row::Row;
use indexmap::IndexMap;
use std::ops::Range;

/// Kernels, by their places in the report, with the calls that are theirs: launches, one behind another.
#[derive(Debug, PartialEq)]
pub struct Group {
    /// None where nobody knows the function.
    pub rows: Vec<usize>,
    /// Places among the launches.
    pub calls: Vec<Range<usize>>,
}

/// The kernel's function and the number of one of its launches.
pub fn parts(function: &str) -> (&str, Option<u64>) {
    match function.rsplit_once('_').map(|(stem, number)| (stem, number.parse())) {
        Some((stem, Ok(number))) => (stem, Some(number)),
        _ => (function, None),
    }
}

/// The launches by kernels, in the order of the report.
pub fn groups(rows: &[Row], launches: &[Sample]) -> Vec<Group> {
    let mut of_function: IndexMap<&str, Vec<usize>> = IndexMap::new();
    for (number, row) in rows.iter().enumerate() {
        if let Some(function) = &row.function {
            of_function.entry(function).or_default().push(number);
        }
    }
    let mut calls: IndexMap<&str, Vec<Range<usize>>> = IndexMap::new();
    let mut before: Option<(&str, u64)> = None;
    for (place, launch) in launches.iter().enumerate() {
        let (stem, number) = match parts(&launch.function) {
            (stem, Some(number)) if of_function.contains_key(stem) => (stem, number),
            _ => (launch.function.as_str(), 0),
        };
        let of_stem = calls.entry(stem).or_default();
        match of_stem.last_mut() {
            Some(call) if before.is_some_and(|(last, n)| last == stem && n < number) => call.end = place + 1,
            _ => of_stem.push(place..place + 1),
        }
        before = Some((stem, number));
    }
    let mut groups = Vec::new();
    for (stem, calls) in calls {
        let rows = of_function.get(stem).cloned().unwrap_or_default();
        match rows.len() == calls.len() {
            true => groups.extend(
                rows.iter().zip(calls).map(|(&row, call)| Group { rows: vec![row], calls: vec![call] }),
            ),
            false => groups.push(Group { rows, calls }),
        }
    }
    groups.sort_by_key(|group| group.rows.first().copied().unwrap_or(usize::MAX));
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::tests::launch;
    use crate::report::kernels::rows;
    use fusion_runtime::KernelDescription;

    fn found(functions: &[&str], launches: &[&str]) -> Vec<(Vec<usize>, Vec<Range<usize>>)> {
        let kernel = |function: &&str| KernelDescription {
            name: format!("kernel_{function}"),
            function: Some((*function).to_owned()),
            ..KernelDescription::default()
        };
        let rows = rows(&functions.iter().map(kernel).collect::<Vec<_>>(), &[], &[]);
        let launches: Vec<Sample> = launches.iter().map(|name| launch(name, 0.0, 1.0)).collect();
        groups(&rows, &launches).into_iter().map(|group| (group.rows, group.calls)).collect()
    }

    #[test]
    fn calls_are_those_of_kernels_in_their_order() {
        let groups = found(&["a", "b", "a"], &["a_0", "a_1", "b_0", "a_0", "a_1"]);
        assert_eq!(groups, [(vec![0], vec![0..2]), (vec![1], vec![2..3]), (vec![2], vec![3..5])]);
        // The same kernel twice in a row.
        assert_eq!(found(&["a", "a"], &["a_0", "a_0"]), [(vec![0], vec![0..1]), (vec![1], vec![1..2])]);
    }

    #[test]
    fn what_a_loop_calls_is_one() {
        let groups = found(&["a", "b", "a"], &["a_0", "b_0", "a_0", "a_0", "b_0", "a_0"]);
        assert_eq!(groups, [(vec![0, 2], vec![0..1, 2..3, 3..4, 5..6]), (vec![1], vec![1..2, 4..5])]);
    }

    #[test]
    fn unknown_functions_stand_by_themselves() {
        let groups = found(&["a"], &["fill_7", "a_0", "fill_7"]);
        assert_eq!(groups, [(vec![0], vec![1..2]), (vec![], vec![0..1, 2..3])]);
    }
}
