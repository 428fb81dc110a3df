//! Plots of dots and a line over two axes, as SVG.

use super::escape::Escaped;
use std::fmt::Write;

/// Pixels of the whole, and of what is left for labels at each side.
const SIZE: (f64, f64) = (720.0, 280.0);
const LEFT: f64 = 80.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 28.0;
const BOTTOM: f64 = 42.0;
/// Lines of the grid along an axis.
const TICKS: usize = 5;

/// How numbers lie on an axis.
#[derive(Clone, Copy, PartialEq)]
pub enum Scale {
    /// Equal differences are equally long.
    Linear,
    /// Equal ratios are equally long.
    Logarithmic,
}

/// An axis.
pub struct Axis {
    low: f64,
    high: f64,
    scale: Scale,
}

impl Axis {
    /// That shows all of some numbers; none where there is none to show.
    pub fn of(numbers: impl Iterator<Item = f64>, scale: Scale) -> Option<Axis> {
        let shown = |x: &f64| x.is_finite() && (*x > 0.0 || scale == Scale::Linear);
        let ends = numbers
            .filter(shown)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        let (low, high) = if scale == Scale::Logarithmic { (ends.0 / 1.05, ends.1 * 1.05) } else { ends };
        (low < high).then_some(Axis { low, high, scale })
    }

    /// The place of a number from one end to the other.
    fn part(&self, x: f64) -> f64 {
        let at = match self.scale {
            Scale::Linear => (x - self.low) / (self.high - self.low),
            Scale::Logarithmic => (x / self.low).ln() / (self.high / self.low).ln(),
        };
        at.clamp(0.0, 1.0)
    }

    fn ticks(&self) -> impl Iterator<Item = f64> + '_ {
        (0..=TICKS).map(move |tick| {
            let part = tick as f64 / TICKS as f64;
            match self.scale {
                Scale::Linear => self.low + part * (self.high - self.low),
                Scale::Logarithmic => self.low * (self.high / self.low).powf(part),
            }
        })
    }
}

/// A plot.
pub struct Plot {
    svg: String,
    x: Axis,
    y: Axis,
}

impl Plot {
    /// With a title, and the names of its axes.
    pub fn new(title: &str, x_name: &str, y_name: &str, x: Axis, y: Axis) -> Plot {
        let (width, height) = SIZE;
        let mut plot = Plot { svg: String::new(), x, y };
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
             aria-label=\"{0}\">\n<text x=\"{LEFT}\" y=\"16\">{0}</text>\n",
            Escaped(title)
        );
        for tick in plot.x.ticks() {
            let (at, _) = plot.at((tick, plot.y.low));
            let (top, bottom) = (TOP, height - BOTTOM);
            let _ = writeln!(
                svg,
                "<line class=\"grid\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{top}\" y2=\"{bottom}\"/>"
            );
            let _ = writeln!(
                svg,
                "<text class=\"small\" text-anchor=\"middle\" x=\"{at:.1}\" y=\"{:.1}\">{}</text>",
                bottom + 14.0,
                number(tick)
            );
        }
        for tick in plot.y.ticks() {
            let (_, at) = plot.at((plot.x.low, tick));
            let (left, right) = (LEFT, width - RIGHT);
            let _ = writeln!(
                svg,
                "<line class=\"grid\" x1=\"{left}\" x2=\"{right}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>"
            );
            let _ = writeln!(
                svg,
                "<text class=\"small\" text-anchor=\"end\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                left - 6.0,
                at + 4.0,
                number(tick)
            );
        }
        let _ = writeln!(
            svg,
            "<text class=\"small\" text-anchor=\"end\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            width - RIGHT,
            height - 8.0,
            Escaped(x_name)
        );
        let _ = writeln!(svg, "<text class=\"small\" x=\"4\" y=\"{TOP}\">{}</text>", Escaped(y_name));
        plot.svg = svg;
        plot
    }

    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let across = SIZE.0 - RIGHT - LEFT;
        let down = SIZE.1 - BOTTOM - TOP;
        (LEFT + across * self.x.part(x), TOP + down * (1.0 - self.y.part(y)))
    }

    /// A dot with what is told of it.
    pub fn dot(&mut self, at: (f64, f64), class: &str, title: &str) {
        let (x, y) = self.at(at);
        let _ = writeln!(
            self.svg,
            "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"><title>{}</title></circle>",
            Escaped(title)
        );
    }

    /// A line through points.
    pub fn line(&mut self, points: &[(f64, f64)]) {
        let points = points.iter().map(|point| self.at(*point)).map(|(x, y)| format!("{x:.1},{y:.1}"));
        let points = points.collect::<Vec<_>>().join(" ");
        let _ = writeln!(self.svg, "<polyline class=\"roof\" points=\"{points}\"/>");
    }

    /// The plot as text.
    pub fn text(self) -> String {
        self.svg + "</svg>"
    }
}

/// A number with three digits.
fn number(x: f64) -> String {
    match x.abs() {
        n if n >= 100.0 || n == 0.0 => format!("{x:.0}"),
        n if n >= 10.0 => format!("{x:.1}"),
        n if n >= 1.0 => format!("{x:.2}"),
        _ => format!("{x:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_lie_where_they_belong() {
        let linear = Axis::of([0.0, 10.0].into_iter(), Scale::Linear).unwrap();
        assert_eq!((linear.part(5.0), linear.part(20.0)), (0.5, 1.0));
        let logarithmic = Axis::of([1.0, 100.0].into_iter(), Scale::Logarithmic).unwrap();
        assert!((logarithmic.part(10.0) - 0.5).abs() < 1e-9);
        assert!(Axis::of([f64::NAN, 0.0].into_iter(), Scale::Logarithmic).is_none());
        assert!(Axis::of([].into_iter(), Scale::Linear).is_none());
    }
}
