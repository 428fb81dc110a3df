//! What kernels take of GPUs: of one, or of several side by side.
//!
//! ```text
//!   kernel              target         grid   block  regs  spills   shared  occupancy  predicted      roof  instructions
//!   fused_dense_relu_0  nvidia:sm_80    128     256    96     0 B  32.77 kB       25 %  12.34 us  10.11 us  mma.sync... x 64
//!                       amd:gfx942      128     256    64     0 B  16.38 kB       50 %   9.21 us   8.50 us  v_mfma_f32_16x16x16_f16 x 64
//! ```
//!
//! A kernel is told once, however often it is called. Targets choose kernels by their own costs: one that only some of them have is
//! told for these.

use super::Report;
use super::launch::Launch;
use super::row::Row;
use super::table::{Align, table};
use crate::print;
use indexmap::IndexMap;

/// What a kernel takes at least, by the roof of its report's machine.
fn roof(report: &Report, row: &Row) -> Option<f64> {
    let machine = report.machine.as_ref()?;
    let machine = match row.multiplies_matrices() {
        Some(factors) => machine.with_matrices(factors),
        None => machine.clone(),
    };
    Some(machine.roof(row.flops? as f64, row.bytes? as f64))
}

const COLUMNS: [(&str, Align); 13] = [
    ("kernel", Align::Left),
    ("target", Align::Left),
    ("bytes", Align::Right),
    ("FLOPs", Align::Right),
    ("grid", Align::Right),
    ("block", Align::Right),
    ("regs", Align::Right),
    ("spills", Align::Right),
    ("shared", Align::Right),
    ("occupancy", Align::Right),
    ("predicted", Align::Right),
    ("roof", Align::Right),
    ("instructions", Align::Left),
];

/// All launches of some reports; nothing where there are none.
pub fn text(reports: &[&Report]) -> Option<String> {
    let mut kernels: IndexMap<&str, Vec<(&Report, &Row)>> = IndexMap::new();
    for report in reports {
        for row in report.kernels.iter().filter(|row| !row.launches.is_empty()) {
            let told = kernels.entry(&row.name).or_default();
            if !told.iter().any(|(other, _)| other.target == report.target) {
                told.push((report, row));
            }
        }
    }
    if kernels.is_empty() {
        return None;
    }
    let mut lines = vec![COLUMNS.map(|(name, _)| name.to_owned()).to_vec()];
    for (name, rows) in &kernels {
        for (number, (report, row)) in rows.iter().enumerate() {
            for (place, launch) in row.launches.iter().enumerate() {
                let name = if number + place == 0 { name } else { "" };
                let first = (place == 0).then_some((*report, *row));
                lines.push(line(name, &report.target, first, launch));
            }
        }
    }
    Some(table(&COLUMNS.map(|(_, align)| align), &lines))
}

/// One launch; what is of the kernel as a whole stands at its first.
fn line(name: &str, target: &str, first: Option<(&Report, &Row)>, launch: &Launch) -> Vec<String> {
    let sizes = |sizes: [u64; 3]| {
        let used = sizes.iter().rposition(|n| *n > 1).unwrap_or(0);
        sizes[..=used].iter().map(u64::to_string).collect::<Vec<_>>().join("x")
    };
    let known = |text: Option<String>| text.unwrap_or_else(|| "?".to_owned());
    let whole = |text: &dyn Fn(&Report, &Row) -> Option<String>| {
        first.map_or_else(String::new, |(report, row)| known(text(report, row)))
    };
    let counts = launch.instructions.iter().map(|(name, n)| format!("{name} x {n}"));
    vec![
        name.to_owned(),
        first.map_or_else(String::new, |_| target.to_owned()),
        whole(&|_, row| row.bytes.map(|n| print::amount(n, "B"))),
        whole(&|_, row| row.flops.map(|n| print::amount(n, "FLOP"))),
        sizes(launch.grid),
        sizes(launch.block),
        known(launch.registers.map(|n| n.to_string())),
        known(launch.spilled_bytes.map(|n| print::amount(n, "B"))),
        print::amount(launch.shared_bytes, "B"),
        known(launch.occupancy.map(|part| format!("{:.0} %", 100.0 * part))),
        whole(&|_, row| row.predicted_s.map(print::seconds)),
        whole(&|report, row| roof(report, row).map(print::seconds)),
        counts.collect::<Vec<_>>().join(", "),
    ]
}

/// Several reports of one model: the kernels side by side, and what each target takes in all.
pub fn side_by_side(reports: &[Report]) -> String {
    let all: Vec<&Report> = reports.iter().collect();
    let mut text = text(&all).unwrap_or_else(|| "none of these targets has kernels of a GPU".to_owned());
    text.push('\n');
    for report in reports {
        let launches: usize = report.kernels.iter().map(|row| row.launches.len()).sum();
        let predicted: Option<f64> = report.kernels.iter().map(|row| row.predicted_s).sum();
        let roof: Option<f64> = report.kernels.iter().map(|row| roof(report, row)).sum();
        let known = |s: Option<f64>| s.map_or_else(|| "?".to_owned(), print::seconds);
        text += &format!(
            "\n{}: {} kernels, {launches} launches, predicted {}, roof {}",
            report.target,
            report.kernels.len(),
            known(predicted),
            known(roof),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn on(target: &str, instruction: &str, registers: Option<u64>) -> Report {
        let mut report = crate::report::tests::report();
        report.target = target.to_owned();
        report.kernels[0].launches = vec![Launch {
            name: "fused_conv2d_relu_0_0".to_owned(),
            grid: [6, 2, 1],
            block: [256, 1, 1],
            shared_bytes: 4096,
            registers,
            spilled_bytes: registers.map(|_| 0),
            occupancy: registers.map(|_| 0.5),
            instructions: BTreeMap::from([(instruction.to_owned(), 16)]),
        }];
        report
    }

    #[test]
    fn kernels_stand_side_by_side() {
        let text =
            side_by_side(&[on("nvidia:sm_80", "mma.sync", None), on("amd:gfx942", "v_mfma", Some(64))]);
        for wanted in [
            "fused_conv2d_relu_0  nvidia:sm_80  200 B  900 FLOP   6x2    256     ?       ?  4.10 kB          ?   3.000 us",
            "                     amd:gfx942    200 B  900 FLOP   6x2    256    64     0 B  4.10 kB       50 %   3.000 us",
            "v_mfma x 16\n",
            "nvidia:sm_80: 2 kernels, 1 launches, predicted 4.000 us, roof",
        ] {
            assert!(text.contains(wanted), "{wanted}\n{text}");
        }
    }

    #[test]
    fn processors_have_no_launches() {
        assert_eq!(text(&[&crate::report::tests::report()]), None);
    }
}
