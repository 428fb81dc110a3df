//! The roofline: how many operations a second kernels reach, over how many they make a byte.
//!
//! ```text
//!   FLOP/s          ______ peak       ceilings: FLOP/s = intensity x bandwidth, up to the peak
//!             /  / o                  filled: measured; rings: predicted; the larger, the longer a kernel takes
//!           /o / o
//!         /  /          FLOP/byte
//! ```
//!
//! (Williams, Waterman and Patterson, "Roofline: An Insightful Visual Performance Model", 2009.)

use super::escape::Escaped;
use crate::print;
use crate::report::Report;
use crate::report::machine::Machine;
use std::fmt::Write;

/// Pixels of the whole, and of what is left for labels at each side.
const SIZE: (f64, f64) = (940.0, 460.0);
const LEFT: f64 = 92.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 46.0;

/// A logarithmic axis over powers of ten.
struct Axis {
    /// The powers at both ends.
    powers: (i32, i32),
    /// The pixels at both ends.
    pixels: (f64, f64),
}

impl Axis {
    /// That shows all of some numbers.
    fn of(numbers: impl Iterator<Item = f64>, pixels: (f64, f64)) -> Axis {
        let (mut low, mut high) = (f64::INFINITY, 0.0f64);
        for number in numbers.filter(|n| *n > 0.0 && n.is_finite()) {
            (low, high) = (low.min(number), high.max(number));
        }
        let powers =
            if low > high { (0, 1) } else { (low.log10().floor() as i32, high.log10().ceil() as i32) };
        Axis { powers: (powers.0, powers.1.max(powers.0 + 1)), pixels }
    }

    fn at(&self, number: f64) -> f64 {
        let (low, high) = (f64::from(self.powers.0), f64::from(self.powers.1));
        let part = ((number.log10() - low) / (high - low)).clamp(0.0, 1.0);
        self.pixels.0 + part * (self.pixels.1 - self.pixels.0)
    }

    fn ticks(&self) -> impl Iterator<Item = f64> {
        (self.powers.0..=self.powers.1).map(|power| 10f64.powi(power))
    }
}

/// A kernel in the plot.
struct Dot {
    intensity: f64,
    rate: f64,
    seconds: f64,
    is_measured: bool,
    title: String,
}

/// The plot as SVG; none where the machine is not known, or no kernel computes anything.
pub fn roofline(report: &Report) -> Option<String> {
    let machine = report.machine.as_ref()?;
    let dots = dots(report);
    if dots.is_empty() {
        return None;
    }
    let intensities = dots.iter().map(|d| d.intensity).chain([0.1, 100.0]);
    let x = Axis::of(intensities, (LEFT, SIZE.0 - RIGHT));
    let rates = dots.iter().map(|d| d.rate).chain([machine.peak_flops * 1.2, machine.peak_flops / 100.0]);
    let y = Axis::of(rates, (SIZE.1 - BOTTOM, TOP));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\" aria-label=\"roofline\">\n",
        SIZE.0, SIZE.1
    );
    svg += &grid(&x, &y);
    svg += &ceilings(machine, &x, &y);
    let longest = dots.iter().map(|d| d.seconds).fold(0.0, f64::max);
    for dot in &dots {
        let radius = 3.5 + 9.0 * (dot.seconds / longest).sqrt();
        let class = if dot.is_measured { "measured" } else { "predicted" };
        let _ = writeln!(
            svg,
            "<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius:.1}\"><title>{}</title></circle>",
            x.at(dot.intensity),
            y.at(dot.rate),
            Escaped(&dot.title)
        );
    }
    Some(svg + "</svg>")
}

fn dots(report: &Report) -> Vec<Dot> {
    let mut dots = Vec::new();
    for (number, row) in report.kernels.iter().enumerate() {
        let (Some(flops), Some(bytes)) = (row.flops.filter(|n| *n > 0), row.bytes.filter(|n| *n > 0)) else {
            continue;
        };
        for (seconds, is_measured) in [(row.predicted_s, false), (row.measured_s, true)] {
            let Some(seconds) = seconds.filter(|s| *s > 0.0) else { continue };
            let rate = flops as f64 / seconds;
            let how = if is_measured { "measured" } else { "predicted" };
            let of_roof = match (is_measured, row.roofline) {
                (true, Some(part)) => format!(", {:.0} % of its roof", 100.0 * part),
                _ => String::new(),
            };
            let title = format!(
                "#{number} {}\n{how}: {}, {:.2} GFLOP/s at {:.2} FLOP/byte{of_roof}",
                row.name,
                print::seconds(seconds),
                rate / 1e9,
                flops as f64 / bytes as f64
            );
            dots.push(Dot { intensity: flops as f64 / bytes as f64, rate, seconds, is_measured, title });
        }
    }
    dots
}

fn grid(x: &Axis, y: &Axis) -> String {
    let mut svg = String::new();
    let (bottom, right) = (SIZE.1 - BOTTOM, SIZE.0 - RIGHT);
    for tick in x.ticks() {
        let at = x.at(tick);
        let _ = writeln!(
            svg,
            "<path class=\"grid\" d=\"M{at:.1},{TOP}V{bottom}\"/><text class=\"small\" x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{tick}</text>",
            bottom + 16.0
        );
    }
    for tick in y.ticks() {
        let at = y.at(tick);
        let _ = writeln!(
            svg,
            "<path class=\"grid\" d=\"M{LEFT},{at:.1}H{right}\"/><text class=\"small\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            at + 4.0,
            rate(tick)
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"middle\">arithmetic intensity, FLOP/byte</text>",
        (LEFT + right) / 2.0,
        SIZE.1 - 8.0
    );
    svg
}

fn rate(tick: f64) -> String {
    let steps = [(1e12, "TFLOP/s"), (1e9, "GFLOP/s"), (1e6, "MFLOP/s"), (1e3, "kFLOP/s")];
    match steps.into_iter().find(|(scale, _)| tick >= *scale) {
        Some((scale, unit)) => format!("{:.0} {unit}", tick / scale),
        None => format!("{tick} FLOP/s"),
    }
}

/// The slopes of the memories up to the peak.
fn ceilings(machine: &Machine, x: &Axis, y: &Axis) -> String {
    let mut svg = String::new();
    let peak = machine.peak_flops;
    let (low, high) = (10f64.powi(x.powers.0), 10f64.powi(x.powers.1));
    for level in &machine.memories {
        // From where the slope enters the plot.
        let from = low.max(10f64.powi(y.powers.0) / level.bandwidth);
        let ridge = (peak / level.bandwidth).clamp(from, high);
        let (x0, y0) = (x.at(from), y.at(from * level.bandwidth));
        let (x1, y1) = (x.at(ridge), y.at((ridge * level.bandwidth).min(peak)));
        let label = format!("{} {:.0} GB/s", level.name, level.bandwidth / 1e9);
        let angle = (y1 - y0).atan2(x1 - x0).to_degrees();
        let _ = writeln!(
            svg,
            "<path class=\"roof\" d=\"M{x0:.1},{y0:.1}L{x1:.1},{y1:.1}\"/>\
             <text class=\"small\" transform=\"translate({:.1} {:.1}) rotate({angle:.1})\">{label}</text>",
            x0 + 0.16 * (x1 - x0),
            y0 + 0.16 * (y1 - y0) - 4.0
        );
    }
    let first = machine.memories.iter().map(|level| peak / level.bandwidth).fold(high, f64::min).max(low);
    let (x0, x1, at) = (x.at(first), x.at(high), y.at(peak));
    let _ = writeln!(
        svg,
        "<path class=\"roof\" d=\"M{x0:.1},{at:.1}H{x1:.1}\"/>\
         <text class=\"small\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">peak {:.0} GFLOP/s</text>",
        x1 - 4.0,
        at - 5.0,
        peak / 1e9
    );
    svg
}
