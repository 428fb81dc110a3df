//! What `fusion quantize` tells: a table of layers, the steps of the search, the loss and the size.

use crate::print;
use crate::report::table::{Align, table};
use fusion::quantize::{Level, Metric, Report};

/// The columns of the layers and their rows, names first.
pub const COLUMNS: &[Align] = &[
    Align::Left,
    Align::Left,
    Align::Left,
    Align::Right,
    Align::Right,
    Align::Right,
    Align::Right,
    Align::Right,
];

/// The layers as rows of text.
pub fn rows(report: &Report) -> Vec<Vec<String>> {
    let names = ["layer", "operator", "bits", "least", "greatest", "S/N dB", "error", "weights"];
    let mut rows = vec![names.map(str::to_owned).to_vec()];
    for layer in &report.layers {
        let end = |end: Option<f64>| end.map_or(String::new(), |x| format!("{x:.4}"));
        rows.push(vec![
            layer.name.clone(),
            layer.operator.to_owned(),
            layer.level.name().to_owned(),
            end(layer.range.map(|(low, _)| low)),
            end(layer.range.map(|(_, high)| high)),
            layer.signal_to_noise.map_or(String::new(), |db| format!("{db:.1}")),
            format!("{:.1} %", 100.0 * layer.share),
            if layer.weights == 0 { String::new() } else { print::amount(layer.bytes, "B") },
        ]);
    }
    rows
}

/// The steps of the search as rows of text.
pub fn steps(report: &Report) -> Vec<Vec<String>> {
    let mut rows = vec![["loss", "weights", "step"].map(str::to_owned).to_vec()];
    for point in &report.frontier {
        rows.push(vec![format!("{:.3e}", point.loss), print::amount(point.bytes, "B"), point.what.clone()]);
    }
    rows
}

/// How many layers have which bits, and what that costs.
pub fn summary(report: &Report, metric: Metric) -> String {
    let count = |level: Level| report.layers.iter().filter(|layer| layer.level == level).count();
    let levels = [Level::Int4, Level::Int8, Level::Float].map(|level| (count(level), level.name()));
    let levels: Vec<String> =
        levels.iter().filter(|(n, _)| *n > 0).map(|(n, name)| format!("{n} {name}")).collect();
    format!(
        "layers: {}; weights: {}, in floats {}; loss ({}): {:.3e} written, {:.3e} simulated",
        levels.join(", "),
        print::amount(report.bytes, "B"),
        print::amount(report.bytes_before, "B"),
        metric.name(),
        report.written,
        report.simulated,
    )
}

/// All of it as text.
pub fn text(report: &Report, metric: Metric, max_loss: Option<f64>) -> String {
    let mut all = vec![table(COLUMNS, &rows(report))];
    if max_loss.is_some() {
        all.push(table(&[Align::Right, Align::Right, Align::Left], &steps(report)));
    }
    all.extend(report.left.iter().cloned());
    all.push(summary(report, metric));
    all.join("\n\n")
}
