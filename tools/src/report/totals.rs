//! Sums over the kernels of a model, and what was saved.

use super::row::Row;
use crate::print;
use fusion_egraph::remarks::BlockRemarks;
use serde::Serialize;

/// Sums. Kernels in a loop are counted once, as in the table of kernels; what they take is that of all their runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Totals {
    /// Kernels with every operator of the source as one, when known.
    pub kernels_before: Option<usize>,
    /// Bytes these would read and write.
    pub bytes_before: Option<u64>,
    /// Their arithmetic operations.
    pub flops_before: Option<u64>,
    /// Kernels.
    pub kernels: usize,
    /// Bytes they read and write, when known of all.
    pub bytes: Option<u64>,
    /// Their arithmetic operations, when known of all.
    pub flops: Option<u64>,
    /// Changes of the order of images that were left, when known.
    pub conversions: Option<Conversions>,
    /// Seconds predicted.
    pub predicted_s: Option<f64>,
    /// Seconds that no choice of kernels is predicted to go below.
    pub bound_s: Option<f64>,
    /// Seconds of the best kernels with one result each, where these were found exactly.
    pub exact_s: Option<f64>,
    /// Seconds of all kernels measured by themselves; none where some were not measured.
    pub measured_s: Option<f64>,
    /// Seconds of the whole model.
    pub model_s: Option<f64>,
}

/// Changes of the order of images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Conversions {
    /// How many.
    pub count: usize,
    /// How many of them are kernels of their own.
    pub alone: usize,
    /// Bytes of the images, of all runs.
    pub bytes: u64,
    /// Tensors that lie in another order than models write.
    #[serde(skip)]
    otherwise: usize,
}

impl Conversions {
    fn of(blocks: &[BlockRemarks]) -> Conversions {
        let mut all = Conversions::default();
        for (block, kernel) in blocks.iter().flat_map(|b| b.kernels.iter().map(move |k| (b, k))) {
            all.count += kernel.conversions.len();
            if kernel.conversions.len() == kernel.operators.len() {
                all.alone += kernel.conversions.len();
            }
            let bytes: f64 = kernel.conversions.iter().map(|c| c.bytes).sum();
            all.bytes += (block.runs as f64 * bytes) as u64;
            all.otherwise += kernel.reads.iter().chain(&kernel.writes).filter(|t| t.lies_otherwise()).count();
        }
        all
    }

    /// For people; none where all images lie as models write them.
    fn line(&self) -> Option<String> {
        let of = print::amount(self.bytes, "B");
        match (self.count, self.otherwise) {
            (0, 0) => None,
            (0, _) => Some("no change of order is left".to_owned()),
            (1, _) => {
                Some(format!("1 change of order is left, of {of}, {} as a kernel of its own", self.alone))
            }
            (n, _) => Some(format!(
                "{n} changes of order are left, of {of}, {} as kernels of their own",
                self.alone
            )),
        }
    }
}

impl Totals {
    /// Of kernels, and of the blocks of the remarks they come from.
    pub fn of(rows: &[Row], blocks: &[BlockRemarks]) -> Totals {
        let known = !blocks.is_empty();
        // What no block has was a kernel before.
        let others: Vec<&Row> = rows.iter().filter(|row| row.at.is_none()).collect();
        let predicted_s = sum(rows, |row| row.predicted_s);
        let all_runs = |row: &Row, one: Option<u64>| one.map(|n| n.saturating_mul(row.runs));
        let each = |of: fn(&BlockRemarks) -> f64| blocks.iter().map(|b| b.runs as f64 * of(b)).sum::<f64>();
        let plus = |values: f64, more: f64| known.then_some((values + more) as u64);
        let others_predicted: f64 =
            others.iter().filter_map(|row| Some(row.runs as f64 * row.predicted_s?)).sum();
        Totals {
            kernels_before: known
                .then(|| blocks.iter().map(|b| b.before.kernels).sum::<usize>() + others.len()),
            bytes_before: plus(
                each(|b| b.before.bytes),
                others.iter().filter_map(|r| all_runs(r, r.bytes)).sum::<u64>() as f64,
            ),
            flops_before: plus(
                each(|b| b.before.flops),
                others.iter().filter_map(|r| all_runs(r, r.flops)).sum::<u64>() as f64,
            ),
            kernels: rows.len(),
            bytes: rows.iter().map(|row| all_runs(row, row.bytes)).sum(),
            flops: rows.iter().map(|row| all_runs(row, row.flops)).sum(),
            conversions: known.then(|| Conversions::of(blocks)),
            predicted_s,
            bound_s: known.then(|| each(|b| b.bound) + others_predicted),
            exact_s: blocks
                .iter()
                .map(|b| Some(b.runs as f64 * b.search.exact?))
                .sum::<Option<f64>>()
                .filter(|_| known)
                .map(|s| s + others_predicted),
            measured_s: None,
            model_s: None,
        }
    }

    /// Takes over what was measured of the rows.
    pub fn measured(&mut self, rows: &[Row]) {
        self.measured_s = sum(rows, |row| row.measured_s);
    }

    /// The part of the bytes that is saved, from 0 to 1.
    pub fn reduction(&self) -> Option<f64> {
        let (before, after) = (self.bytes_before? as f64, self.bytes? as f64);
        (before > 0.0).then(|| 1.0 - after / before)
    }

    /// How much the prediction is above the bound, from 0.
    pub fn gap(&self) -> Option<f64> {
        let bound = self.bound_s.filter(|b| *b > 0.0)?;
        Some((self.predicted_s? / bound - 1.0).max(0.0))
    }

    /// For people, a line a fact; none where nothing is known beyond the table.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let (Some(before), after) = (self.kernels_before, self.kernels) {
            let fewer = 100.0 * (1.0 - after as f64 / before.max(1) as f64);
            lines.push(format!("kernels    {before} operators -> {after} kernels ({fewer:.1} % fewer)"));
        }
        if let (Some(before), Some(after)) = (self.bytes_before, self.bytes) {
            let part = self.reduction().unwrap_or(0.0);
            let amount = |n| print::amount(n, "B");
            lines.push(format!(
                "bytes      {} -> {}, {}",
                amount(before),
                amount(after),
                saved(before, after, part)
            ));
        }
        if let (Some(before), Some(after)) = (self.flops_before, self.flops) {
            let amount = |n| print::amount(n, "FLOP");
            lines.push(format!("arithmetic {} -> {}", amount(before), amount(after)));
        }
        if let Some(line) = self.conversions.and_then(|c| c.line()) {
            lines.push(format!("images     {line}"));
        }
        if let Some(predicted) = self.predicted_s {
            let bound = self.bound_s.zip(self.gap()).map_or(String::new(), |(bound, gap)| {
                format!(", lower bound {}, gap {:.1} %", print::seconds(bound), 100.0 * gap)
            });
            lines.push(format!("predicted  {}{bound}", print::seconds(predicted)));
            if let Some(exact) = self.exact_s {
                lines.push(format!(
                    "exact      {}, the least with one result a kernel",
                    print::seconds(exact)
                ));
            }
        }
        if let Some(model) = self.model_s {
            let alone = self
                .measured_s
                .map_or(String::new(), |sum| format!(", its kernels by themselves {}", print::seconds(sum)));
            lines.push(format!("measured   {}{alone}", print::seconds(model)));
        }
        lines
    }
}

/// What became of bytes: fewer, or more where constants of another form are larger.
pub fn saved(before: u64, after: u64, part: f64) -> String {
    let word = if after > before { "more" } else { "saved" };
    format!("{} {word} ({:.1} %)", print::amount(before.abs_diff(after), "B"), 100.0 * part.abs())
}

/// A sum over all runs of rows; none where a row does not know, or there is none.
fn sum(rows: &[Row], of: impl Fn(&Row) -> Option<f64>) -> Option<f64> {
    let all: Option<Vec<f64>> = rows.iter().map(|row| Some(row.runs as f64 * of(row)?)).collect();
    all.filter(|all| !all.is_empty()).map(|all| all.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_order_are_told_where_images_have_orders() {
        let line = |count, alone, otherwise| Conversions { count, alone, bytes: 2000, otherwise }.line();
        assert_eq!(line(0, 0, 0), None);
        assert_eq!(line(0, 0, 2).unwrap(), "no change of order is left");
        assert_eq!(line(1, 0, 2).unwrap(), "1 change of order is left, of 2.00 kB, 0 as a kernel of its own");
        assert_eq!(
            line(3, 2, 0).unwrap(),
            "3 changes of order are left, of 2.00 kB, 2 as kernels of their own"
        );
    }

    #[test]
    fn what_is_saved_is_told() {
        let totals = Totals {
            kernels_before: Some(4),
            bytes_before: Some(1000),
            kernels: 1,
            bytes: Some(250),
            predicted_s: Some(3e-6),
            bound_s: Some(2e-6),
            ..Totals::default()
        };
        let wanted = [
            "kernels    4 operators -> 1 kernels (75.0 % fewer)",
            "bytes      1.00 kB -> 250 B, 750 B saved (75.0 %)",
            "predicted  3.000 us, lower bound 2.000 us, gap 50.0 %",
        ];
        assert_eq!(totals.lines(), wanted);
        assert_eq!(saved(100, 150, -0.5), "50 B more (50.0 %)");
        assert!(Totals { kernels: 3, bytes: Some(1), ..Totals::default() }.lines().is_empty());
    }
}
