//! The kernels of a block as boxes, with the tensors between them as lines.

use super::escape::{Escaped, shortened};
use super::layers::layout;
use crate::print;
use crate::report::Report;
use crate::report::kernels::condensed;
use fusion_egraph::remarks::{KernelEntry, TensorEntry};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Pixels of a node's place, of its box, and around all.
const PLACE: (f64, f64) = (252.0, 92.0);
const BOX: (f64, f64) = (232.0, 56.0);
const MARGIN: f64 = 16.0;
/// The most characters of a line in a box.
const MOST: usize = 36;

/// An SVG of a block. The darker a box, the larger its part of the time.
pub fn graph(report: &Report, block: usize) -> String {
    let kernels = &report.blocks()[block].kernels;
    // Kernels are in the order they run, so that edges go to later ones.
    let edges: BTreeSet<(usize, usize)> = kernels
        .iter()
        .enumerate()
        .flat_map(|(to, kernel)| kernel.reads.iter().filter_map(move |t| Some((t.place?, to))))
        .filter(|(from, to)| from < to)
        .collect();
    let edges: Vec<(usize, usize)> = edges.into_iter().collect();
    let layout = layout(kernels.len(), &edges);
    let at = |(x, y): (f64, f64)| (MARGIN + x * PLACE.0, MARGIN + BOX.1 / 2.0 + y * PLACE.1);
    let (width, height) = (
        2.0 * MARGIN + layout.width * PLACE.0,
        2.0 * MARGIN + layout.layers.max(1) as f64 * PLACE.1 - (PLACE.1 - BOX.1),
    );
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         role=\"img\" aria-label=\"graph of kernels\" style=\"margin: 0 auto\">\n"
    );
    for way in &layout.edges {
        let points: Vec<(f64, f64)> = way.iter().map(|&p| at(p)).collect();
        svg += &line(&points);
    }
    let total: f64 = kernels.iter().map(|k| k.seconds).sum();
    for (place, kernel) in kernels.iter().enumerate() {
        let number = report.kernels.iter().position(|row| row.at == Some((block, place)));
        svg += &node(
            report,
            number,
            kernel,
            at(layout.nodes[place]),
            kernel.seconds / total.max(f64::MIN_POSITIVE),
        );
    }
    svg + "</svg>"
}

/// A smooth line through points below each other, with an arrow at its end.
fn line(points: &[(f64, f64)]) -> String {
    let mut path = String::new();
    let last = points.len() - 1;
    for (number, pair) in points.windows(2).enumerate() {
        let ((x, y), (u, v)) = (pair[0], pair[1]);
        let (y, v) = (
            if number == 0 { y + BOX.1 / 2.0 } else { y },
            if number + 1 == last { v - BOX.1 / 2.0 - 5.0 } else { v },
        );
        if number == 0 {
            let _ = write!(path, "M{x:.1},{y:.1}");
        }
        let middle = (y + v) / 2.0;
        let _ = write!(path, "C{x:.1},{middle:.1} {u:.1},{middle:.1} {u:.1},{v:.1}");
    }
    let (x, y) = points[last];
    let tip = y - BOX.1 / 2.0;
    format!(
        "<path class=\"edge\" d=\"{path}\"/><path fill=\"#9aa7b6\" d=\"M{:.1},{:.1}h8l-4,6z\"/>\n",
        x - 4.0,
        tip - 6.0
    )
}

fn node(
    report: &Report,
    number: Option<usize>,
    kernel: &KernelEntry,
    (x, y): (f64, f64),
    part: f64,
) -> String {
    let row = number.and_then(|n| report.kernels.get(n));
    let label = number.map_or_else(|| kernel.name.clone(), |n| format!("#{n} {}", kernel.name));
    let seconds = row.and_then(|row| row.measured_s).unwrap_or(kernel.seconds);
    let known = if row.is_some_and(|row| row.measured_s.is_some()) { "measured" } else { "predicted" };
    let operators: Vec<String> = kernel.operators.iter().map(|o| o.operator.clone()).collect();
    let operators = condensed(&operators);
    let one = |tensor: &TensorEntry| match tensor.order.as_ref().filter(|_| tensor.lies_otherwise()) {
        Some(order) => format!("{} : {}, {order}", tensor.value, tensor.ty),
        None => format!("{} : {}", tensor.value, tensor.ty),
    };
    let values = |tensors: &[TensorEntry]| tensors.iter().map(one).collect::<Vec<_>>().join("\n  ");
    let sources = row.map(|row| row.sources.join(", ")).unwrap_or_default();
    let title = format!(
        "{label}\n{operators}\nof the source: {sources}\nreads\n  {}\nwrites\n  {}\n{}, {}, {} {known} ({:.1} % of the time predicted)",
        values(&kernel.reads),
        values(&kernel.writes),
        print::amount(kernel.bytes as u64, "B"),
        print::amount(kernel.flops as u64, "FLOP"),
        print::seconds(seconds),
        100.0 * part
    );
    // The square root, so that small parts differ as well.
    let lightness = 97.0 - 32.0 * part.clamp(0.0, 1.0).sqrt();
    let (left, top) = (x - BOX.0 / 2.0, y - BOX.1 / 2.0);
    format!(
        "<g class=\"box\" data-kernel=\"{}\"><title>{}</title>\
         <rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{}\" height=\"{}\" rx=\"7\" fill=\"hsl(28 85% {lightness:.0}%)\"/>\
         <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
         <text class=\"small\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
         <text class=\"small\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{} · {}</text></g>\n",
        Escaped(&label),
        Escaped(&title),
        BOX.0,
        BOX.1,
        top + 18.0,
        Escaped(shortened(&label, MOST - 4)),
        top + 33.0,
        Escaped(shortened(&operators, MOST + 2)),
        top + 48.0,
        print::seconds(seconds),
        print::amount(kernel.bytes as u64, "B"),
    )
}
