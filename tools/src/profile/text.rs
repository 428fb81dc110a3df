//! A profile as a table for people.

use super::{KernelProfile, Profile};
use crate::print;
use crate::report::kernels::{condensed, shortened};
use crate::report::table::{Align, table};

/// A column: its name, how it is written, the text of a kernel, and that of the sums.
type Column = (&'static str, Align, fn(&KernelProfile) -> String, fn(&Profile) -> String);

const COLUMNS: &[Column] = &[
    ("", Align::Right, numbers, |_| String::new()),
    ("kernel", Align::Left, |kernel| kernel.name.clone(), |_| "total".to_owned()),
    (
        "calls",
        Align::Right,
        |kernel| match kernel.calls {
            1 => String::new(),
            calls => calls.to_string(),
        },
        |_| String::new(),
    ),
    ("time", Align::Right, |kernel| print::seconds(kernel.seconds), |all| print::seconds(all.kernels_s)),
    ("share", Align::Right, |kernel| format!("{:.1} %", 100.0 * kernel.share), |_| String::new()),
    ("GB/s", Align::Right, |kernel| rate(kernel.gbytes_per_s), |all| rate(total(all, |k| k.bytes))),
    ("GFLOP/s", Align::Right, |kernel| rate(kernel.gflops), |all| rate(total(all, |k| k.flops))),
    ("roof", Align::Right, |kernel| kernel.roof_s.map_or_else(String::new, print::seconds), roof),
    ("of roof", Align::Right, |kernel| percent(kernel.of_roof), |_| String::new()),
    ("bound by", Align::Left, |kernel| kernel.bound_by.unwrap_or_default().to_owned(), |_| String::new()),
    (
        "predicted",
        Align::Right,
        |kernel| kernel.predicted_s.map_or_else(String::new, print::seconds),
        |_| String::new(),
    ),
    ("fused", Align::Left, |kernel| condensed(&kernel.operators), |_| String::new()),
    ("of the source", Align::Left, |kernel| shortened(&kernel.sources), |_| String::new()),
];

/// The numbers of `fusion explain`.
fn numbers(kernel: &KernelProfile) -> String {
    kernel.numbers.iter().map(|n| format!("#{n}")).collect::<Vec<_>>().join(" ")
}

fn rate(giga: Option<f64>) -> String {
    giga.map_or_else(String::new, |giga| format!("{giga:.2}"))
}

fn percent(part: Option<f64>) -> String {
    part.map_or_else(String::new, |part| format!("{:.1} %", 100.0 * part))
}

/// Thousand millions a second over all kernels, where all know how many.
fn total(profile: &Profile, of: fn(&KernelProfile) -> Option<u64>) -> Option<f64> {
    let all: Option<u64> = profile.kernels.iter().map(of).sum();
    Some(all? as f64 / profile.kernels_s / 1e9).filter(|rate| rate.is_finite())
}

fn roof(profile: &Profile) -> String {
    let all: Option<f64> = profile.kernels.iter().map(|kernel| kernel.roof_s).sum();
    all.filter(|_| !profile.kernels.is_empty()).map_or_else(String::new, print::seconds)
}

/// What profilers say of a kernel's launches, by name: sizes are those of the largest launch, parts those of the longest, and all
/// else is a sum.
fn counter(kernel: &KernelProfile, name: &str) -> Option<String> {
    let known =
        kernel.launches.iter().filter_map(|launch| Some((launch.seconds, *launch.counters.get(name)?)));
    let known: Vec<(f64, f64)> = known.collect();
    let longest = known.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0))?.1;
    let largest = known.iter().map(|(_, value)| *value).fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = known.iter().map(|(_, value)| value).sum();
    Some(match name {
        "registers" | "AGPRs" | "SGPRs" => format!("{largest:.0}"),
        "shared" | "scratch" => print::amount(largest as u64, "B"),
        "DRAM" => print::amount(sum as u64, "B"),
        name if name.ends_with("occupancy") || name.ends_with("busy") => percent(Some(longest)),
        _ => format!("{sum:.0}"),
    })
}

/// The table, and below it what was copied and how it was timed. Columns that nobody knows anything of are left out.
pub fn text(profile: &Profile) -> String {
    let mut columns: Vec<(Align, Vec<String>)> = Vec::new();
    for (name, align, cell, sum) in COLUMNS {
        let cells: Vec<String> = profile.kernels.iter().map(cell).collect();
        if cells.iter().any(|cell| !cell.is_empty()) {
            columns.push((
                *align,
                [(*name).to_owned()].into_iter().chain(cells).chain([sum(profile)]).collect(),
            ));
        }
    }
    let mut counters: Vec<&String> = Vec::new();
    for name in
        profile.kernels.iter().flat_map(|kernel| &kernel.launches).flat_map(|launch| launch.counters.keys())
    {
        if !counters.contains(&name) {
            counters.push(name);
        }
    }
    for (place, name) in counters.into_iter().enumerate() {
        let cells = profile.kernels.iter().map(|kernel| counter(kernel, name).unwrap_or_default());
        let cells = [name.clone()].into_iter().chain(cells).chain([String::new()]).collect();
        // In front of the names of operators, which are long.
        let at = columns.iter().position(|(_, cells)| cells[0] == "fused").unwrap_or(columns.len() - place);
        columns.insert(at, (Align::Right, cells));
    }
    let lines: Vec<Vec<String>> = (0..profile.kernels.len() + 2)
        .map(|line| columns.iter().map(|(_, cells)| cells[line].clone()).collect())
        .collect();
    let mut text = table(&columns.iter().map(|(align, _)| *align).collect::<Vec<_>>(), &lines);
    for copy in &profile.copies {
        let rate = copy.bytes as f64 / copy.seconds / 1e9;
        let rate = if rate.is_finite() { format!(", {rate:.2} GB/s") } else { String::new() };
        text += &format!(
            "\ncopies {}: {}, {} in {}{rate}",
            copy.name,
            copy.count,
            print::amount(copy.bytes, "B"),
            print::seconds(copy.seconds)
        );
    }
    text += &format!("\ntimed by {}", profile.timed_by);
    if profile.runs > 1 {
        text += &format!(", the median of {} runs", profile.runs);
    }
    if let Some(empty) = profile.empty_s {
        text += &format!("; {} of each launch are those of timing it", print::seconds(empty));
    }
    if profile.emulated {
        text += "\nthe times are those of the emulator, which runs one thread after another, and say nothing of the GPU";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::tests::profile;

    #[test]
    fn the_table_has_rates_copies_and_who_timed() {
        let text = text(&profile());
        for wanted in [
            "    kernel                   time   share  GB/s  GFLOP/s      roof  of roof  bound by",
            "#0  fused_conv2d_relu_0  5.000 us  55.6 %  0.04     0.18",
            "  conv, relu\n",
            "\n    total                9.000 us",
            "\ncopies host to device: 1, 16 B in 1.000 us, 0.02 GB/s\n",
            "\ntimed by the emulator, the median of 3 runs; 0.100 us of each launch are those of timing it\n",
            "say nothing of the GPU",
        ] {
            assert!(text.contains(wanted), "{wanted}\n{text}");
        }
        assert!(!text.contains("calls"), "{text}");
    }

    #[test]
    fn counters_have_columns_before_the_operators() {
        let mut profile = profile();
        for (launch, registers) in profile.kernels[0].launches.iter_mut().zip([32.0, 64.0]) {
            launch.counters.insert("registers".to_owned(), registers);
            launch.counters.insert("DRAM".to_owned(), 500.0);
            launch.counters.insert("occupancy".to_owned(), 0.25);
        }
        let text = text(&profile);
        assert!(text.contains("registers     DRAM  occupancy  fused"), "{text}");
        assert!(text.contains("       64  1.00 kB     25.0 %  relay.conv2d"), "{text}");
    }
}
