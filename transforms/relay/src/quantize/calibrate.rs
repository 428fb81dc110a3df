//! `relay-quantize-calibrate`: scales and zero points of simulated quantization, from what was seen of each edge.
//!
//! ```text
//!   %a = relay.simulated_quantize %x, 0, 0, 0, 255 {range = [0.0, 6.0], histogram = [...]}
//!   =>
//!   %a = relay.simulated_quantize %x, 0.0235, 0, 0, 255 {range = [0.0, 6.0], histogram = [...]}
//! ```
//! Data has its statistics as attributes. A weight is its own statistics; per channel, each channel is. How a range is chosen is in `method.rs`.

use super::distribution::Distribution;
use super::method::{Method, PERCENTILE};
use super::parameters::Parameters;
use super::simulated::{Simulated, simulated_in};
use fusion_dialects::{Op, OptionKind, OptionSpec, Pass, PassError, RunContext, StatisticSpec};
use fusion_operators::Tensor;

/// The pass.
pub struct QuantizeCalibrate;

impl Pass for QuantizeCalibrate {
    const NAME: &'static str = "relay-quantize-calibrate";
    const DESCRIPTION: &'static str = "Set scales and zero points of simulated quantization";
    const ANCHOR: Option<&'static str> = Some("func.func");
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "method",
            description: "How ranges are chosen: max, power-of-two, percentile, mse, kl-divergence or entropy",
            kind: OptionKind::Text,
            initial: "max",
        },
        OptionSpec {
            name: "scheme",
            description: "Scales of a weight: per-tensor or per-channel",
            kind: OptionKind::Text,
            initial: "per-channel",
        },
        OptionSpec {
            name: "percentile",
            description: "Per cent of the elements that the method of that name keeps in range",
            kind: OptionKind::Text,
            initial: "99.99",
        },
    ];
    const STATISTICS: &'static [StatisticSpec] =
        &[StatisticSpec { name: "edges", description: "Edges that have scales now" }];
    const DIALECTS: &'static [&'static str] = &["relay"];

    fn run<'c>(function: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let edges = simulated_in(function);
        let how = How::of(&cx.options).map_err(|why| PassError::at(function, why))?;
        let sizes = edges.iter().filter_map(Simulated::range).map(|(low, high)| low.abs().max(high.abs()));
        let largest = sizes.fold(0.0, f64::max);
        for edge in edges {
            how.calibrate(&edge, largest).map_err(|why| PassError::at(edge.op, why))?;
            cx.count(0, 1);
        }
        Ok(())
    }
}

struct How {
    method: Method,
    by_channel: bool,
}

impl How {
    fn of(options: &fusion_dialects::Options) -> Result<How, String> {
        let name = options.text("method");
        let Some(mut method) = Method::named(name) else {
            let known: Vec<&str> = Method::ALL.iter().map(|(_, name)| *name).collect();
            return Err(format!(
                "cannot be calibrated by method {name:?}; the methods are {}",
                known.join(", ")
            ));
        };
        if matches!(method, Method::Percentile(_)) {
            let percent = options.text("percentile").parse().unwrap_or(PERCENTILE);
            if !(percent > 0.0 && percent <= 100.0) {
                return Err(format!(
                    "cannot keep {percent} per cent of the elements; give a number above 0, up to 100"
                ));
            }
            method = Method::Percentile(percent);
        }
        let by_channel = match options.text("scheme") {
            "per-channel" => true,
            "per-tensor" => false,
            other => return Err(format!("has no scheme {other:?}; the schemes are per-tensor, per-channel")),
        };
        Ok(How { method, by_channel })
    }

    fn calibrate(&self, edge: &Simulated, largest: f64) -> Result<(), String> {
        let numbers = edge.numbers()?;
        let (seen, method) = match edge.constant() {
            Some(tensor) => {
                let axis = edge.axis().filter(|axis| self.by_channel && *axis < tensor.shape().len());
                (channels(&tensor, axis), self.method.for_constants())
            }
            None => (vec![observed(edge)?], self.method),
        };
        let mut parameters = Parameters { scales: Vec::new(), zeros: Vec::new() };
        for seen in &seen {
            if !(seen.range.0.is_finite() && seen.range.1.is_finite()) {
                return Err(format!(
                    "has elements from {} to {}, for which there is no scale",
                    seen.range.0, seen.range.1
                ));
            }
            let size = if edge.is_constant() { seen.size() } else { largest };
            let (scale, zero) = method.fit(seen, &numbers, edge.dtype(), size);
            parameters.scales.push(scale);
            parameters.zeros.push(zero);
        }
        edge.set_parameters(&parameters)
    }
}

/// What was seen of data.
fn observed(edge: &Simulated) -> Result<Distribution, String> {
    let Some(range) = edge.range() else {
        return Err("has no statistics: attribute range, the least and the greatest element that were seen, is missing".to_owned());
    };
    if range.0 > range.1 || range.0.is_nan() || range.1.is_nan() {
        return Err(format!(
            "has the range [{}, {}], which is none; write the least element first",
            range.0, range.1
        ));
    }
    let counts = edge.histogram().filter(|counts| counts.iter().any(|n| *n > 0));
    // Without a histogram its two ends are what was seen.
    Ok(Distribution::of_histogram(range, &counts.unwrap_or_else(|| vec![1, 1])))
}

/// A weight by channels, or as one.
fn channels(tensor: &Tensor, axis: Option<usize>) -> Vec<Distribution> {
    let elements = tensor.to_f64s();
    let Some(axis) = axis.filter(|axis| tensor.shape()[*axis] > 0) else {
        return vec![of_elements(elements.into_iter())];
    };
    let (count, inner) = (tensor.shape()[axis], tensor.shape()[axis + 1..].iter().product::<usize>());
    let channel = |c: usize| {
        let own = elements.iter().enumerate().filter(move |(i, _)| i / inner.max(1) % count == c);
        of_elements(own.map(|(_, x)| *x))
    };
    (0..count).map(channel).collect()
}

/// NaN is no number that a minimum would tell.
fn of_elements(elements: impl Iterator<Item = f64>) -> Distribution {
    let seen = Distribution::of(elements);
    match seen.points.iter().any(|p| p.0.is_nan()) {
        true => Distribution { range: (f64::NAN, f64::NAN), ..seen },
        false => seen,
    }
}
