//! The conversions, one family a file in the folder of its kind: adding an operator is adding a row.

mod arithmetic;
mod combining;
mod control;
mod custom;
mod moving;
mod products;

use super::emit::Convert;
use super::graph::Operation;
use crate::nearest::nearest;
use crate::sources::Outcome;
use std::collections::HashMap;
use std::sync::OnceLock;

/// An operator, and how it becomes relay operators.
pub struct Row {
    /// Its name with the dialect.
    pub name: &'static str,
    /// Emits an operation and gives its results.
    pub convert: Convert,
}

const fn row(name: &'static str, convert: Convert) -> Row {
    Row { name, convert }
}

const FOLDERS: &[&[&[Row]]] = &[
    arithmetic::FAMILIES,
    combining::FAMILIES,
    moving::FAMILIES,
    products::FAMILIES,
    &[control::ROWS, custom::ROWS],
];

/// Operators that need several devices, or a host that talks to the program.
const REFUSED: &[&str] = &[
    "all_gather",
    "all_reduce",
    "all_to_all",
    "collective_broadcast",
    "collective_permute",
    "reduce_scatter",
    "infeed",
    "outfeed",
    "send",
    "recv",
    "cross-replica-sum",
    "async_start",
    "async_done",
];

fn table() -> &'static HashMap<&'static str, Convert> {
    static TABLE: OnceLock<HashMap<&'static str, Convert>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let families = FOLDERS.iter().flat_map(|folder| folder.iter());
        families.flat_map(|rows| rows.iter()).map(|row| (row.name, row.convert)).collect()
    })
}

/// The names of all operators.
pub fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> = table().keys().copied().collect();
    names.sort_unstable();
    names
}

/// The conversion of an operation, or why there is none.
pub fn find(operation: &Operation) -> Outcome<Convert> {
    if let Some(&convert) = table().get(operation.name.as_str()) {
        return Ok(convert);
    }
    if REFUSED.contains(&operation.short_name()) {
        return operation.fault(
            "programs for several devices, and those that talk to their host while they run, are not supported; \
             lower the program for one device",
        );
    }
    let near = nearest(&operation.name, &names()).map_or(String::new(), |n| format!("; did you mean {n}?"));
    operation.fault(format!("there is no such operator{near}"))
}
