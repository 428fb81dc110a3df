//! The kernels as a table: what each is made of, what it moves and computes, and how long it takes.

use super::row::{Orders, Row};
use super::table::{Align, table};
use super::totals::Totals;
use crate::print;
use fusion::driver::Predicted;
use fusion_egraph::remarks::{BlockRemarks, KernelEntry};
use fusion_runtime::KernelDescription;
use std::collections::{HashMap, VecDeque};

/// The most names in a cell of the table.
const MOST_NAMES: usize = 6;

/// The kernels of a description in their order, each with what the remarks know of it.
pub fn rows(kernels: &[KernelDescription], predicted: &[Predicted], blocks: &[BlockRemarks]) -> Vec<Row> {
    // Of kernels that are the same, the first call is the first entry.
    let mut entries: HashMap<&str, VecDeque<(usize, usize, &KernelEntry)>> = HashMap::new();
    for (number, block) in blocks.iter().enumerate() {
        for (place, entry) in block.kernels.iter().enumerate() {
            entries.entry(&entry.name).or_default().push_back((number, place, entry));
        }
    }
    let row = |(number, kernel): (usize, &KernelDescription)| {
        let found = entries.get_mut(kernel.name.as_str()).and_then(VecDeque::pop_front);
        Row {
            name: kernel.name.clone(),
            function: kernel.function.clone(),
            at: found.map(|(block, place, _)| (block, place)),
            operators: kernel.operators.clone(),
            sources: found.map(|(_, _, entry)| sources(entry)).unwrap_or_default(),
            orders: found.and_then(|(_, _, entry)| Orders::of(entry)),
            dot4: found.and_then(|(_, _, entry)| entry.dot4.clone()),
            runs: predicted.get(number).map_or(1, |p| p.runs),
            flops: kernel.flops,
            bytes: kernel.bytes,
            predicted_s: found
                .map(|(_, _, entry)| entry.seconds)
                .or(predicted.get(number).map(|p| p.seconds)),
            measured_s: None,
            roofline: None,
            launches: Vec::new(),
        }
    };
    kernels.iter().enumerate().map(row).collect()
}

/// The operations of the source that a kernel stands for, each once.
fn sources(entry: &KernelEntry) -> Vec<String> {
    let mut sources: Vec<String> = Vec::new();
    for source in entry.operators.iter().flat_map(|o| &o.sources) {
        if !sources.contains(source) {
            sources.push(source.clone());
        }
    }
    sources
}

/// Operators as a sum: `add x 3 + relu`.
pub fn condensed(operators: &[String]) -> String {
    let runs = operators.chunk_by(|a, b| a == b).map(|run| match run.len() {
        1 => run[0].clone(),
        count => format!("{} x {count}", run[0]),
    });
    runs.collect::<Vec<_>>().join(" + ")
}

/// The first of some names.
pub fn shortened(names: &[String]) -> String {
    let first = names.iter().take(MOST_NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST_NAMES) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// A column: its name, how it is written, the text of a row, and that of the sums.
type Column = (&'static str, Align, fn(&Row) -> String, fn(&Totals) -> String);

/// The columns.
const COLUMNS: &[Column] = &[
    ("kernel", Align::Left, |row| row.name.clone(), |_| "total".to_owned()),
    (
        "runs",
        Align::Right,
        |row| match row.runs {
            // A tile of a model of dynamic shapes.
            0 => "by size".to_owned(),
            1 => String::new(),
            runs => runs.to_string(),
        },
        |_| String::new(),
    ),
    ("bytes", Align::Right, |row| amount(row.bytes, "B"), |all| amount(all.bytes, "B")),
    ("FLOPs", Align::Right, |row| amount(row.flops, "FLOP"), |all| amount(all.flops, "FLOP")),
    ("predicted", Align::Right, |row| seconds(row.predicted_s), |all| seconds(all.predicted_s)),
    ("measured", Align::Right, |row| seconds(row.measured_s), |all| seconds(all.measured_s)),
    ("of roof", Align::Right, |row| percent(row.roofline), |_| String::new()),
    (
        "orders",
        Align::Left,
        |row| row.orders.as_ref().map_or_else(String::new, Orders::text),
        |_| String::new(),
    ),
    ("products", Align::Left, |row| row.dot4.clone().unwrap_or_default(), |_| String::new()),
    ("fused", Align::Left, |row| condensed(&row.operators), |_| String::new()),
    ("of the source", Align::Left, |row| shortened(&row.sources), |_| String::new()),
];

/// The kernels with their sums; columns that nobody knows anything of are left out.
pub fn columns(rows: &[Row], totals: &Totals) -> Vec<(Align, Vec<String>)> {
    let numbers = (0..rows.len()).map(|n| format!("#{n}"));
    let mut columns =
        vec![(Align::Right, [String::new()].into_iter().chain(numbers).chain([String::new()]).collect())];
    for (name, align, cell, sum) in COLUMNS {
        let cells: Vec<String> = rows.iter().map(cell).collect();
        if cells.iter().any(|c| !c.is_empty()) {
            columns
                .push((*align, [(*name).to_owned()].into_iter().chain(cells).chain([sum(totals)]).collect()));
        }
    }
    columns
}

/// The same as text.
pub fn text(rows: &[Row], totals: &Totals) -> String {
    let columns = columns(rows, totals);
    let lines: Vec<Vec<String>> = (0..rows.len() + 2)
        .map(|line| columns.iter().map(|(_, cells)| cells[line].clone()).collect())
        .collect();
    let aligns: Vec<Align> = columns.iter().map(|(align, _)| *align).collect();
    table(&aligns, &lines)
}

fn amount(n: Option<u64>, unit: &str) -> String {
    n.map_or("?".to_owned(), |n| print::amount(n, unit))
}

fn seconds(s: Option<f64>) -> String {
    s.map_or_else(String::new, print::seconds)
}

fn percent(part: Option<f64>) -> String {
    part.map_or_else(String::new, |part| format!("{:.0} %", 100.0 * part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_repeats_is_counted() {
        let names = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(condensed(&names("conv2d add add add relu add")), "conv2d + add x 3 + relu + add");
        assert_eq!(shortened(&names("a b")), "a, b");
        assert_eq!(shortened(&names("a b c d e f g h")), "a, b, c, d, e, f and 2 more");
    }
}
