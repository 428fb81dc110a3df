//! What is told of a quantized model: by layer, and on the whole.

use super::levels::{Found, Level, Point, Search};
use super::program::Program;
use super::statistics::Statistics;
use crate::error::Error;
use fusion_relay::quantize::distribution::Distribution;

/// A layer.
#[derive(Clone, Debug)]
pub struct LayerReport {
    /// Where it comes from in the model.
    pub name: String,
    /// Its operator.
    pub operator: &'static str,
    /// The least and the greatest element of its data.
    pub range: Option<(f64, f64)>,
    /// How much larger than the error of its operands they are, in decibels, at the level it has; none in floats.
    pub signal_to_noise: Option<f64>,
    /// Its part of the sum of all layers' errors, each measured alone with the fewest bits.
    pub share: f64,
    /// How it is computed.
    pub level: Level,
    /// Elements of its weights.
    pub weights: u64,
    /// Bytes of its weights.
    pub bytes: u64,
}

/// A quantized model.
#[derive(Clone, Debug)]
pub struct Report {
    /// Its layers, in order.
    pub layers: Vec<LayerReport>,
    /// What stays in floats though its operator could be quantized.
    pub left: Vec<String>,
    /// Steps of the search, from the fewest bits on.
    pub frontier: Vec<Point>,
    /// The loss of the program with simulated quantization.
    pub simulated: f64,
    /// The loss of what is written.
    pub written: f64,
    /// Bytes of the weights in floats.
    pub bytes_before: u64,
    /// Bytes of the weights.
    pub bytes: u64,
}

/// The report of a search, before anything is written.
pub(super) fn report(
    program: &Program,
    search: &Search,
    found: &Found,
    seen: &[Option<Statistics>],
) -> Result<Report, Error> {
    let chosen = search.choices_of(&found.levels);
    let edges = program.simulated()?;
    let total: f64 = found.errors.iter().sum();
    let mut layers = Vec::new();
    for ((layer, level), error) in program.layers.iter().zip(&found.levels).zip(&found.errors) {
        let mut noise = 0.0;
        for &edge in &layer.edges {
            let choice = &chosen[edge];
            if choice.parameters.is_none() {
                continue;
            }
            let axis = edges[edge].axis().filter(|_| choice.parameters.scales.len() > 1);
            noise += match (&seen[edge], edges[edge].constant()) {
                (Some(seen), _) => {
                    let seen = Distribution::of_histogram(seen.range, &seen.histogram);
                    let fit = (choice.parameters.scales[0], choice.parameters.zeros[0]);
                    let off = |x: f64| x - choice.numbers.simulate(x, fit);
                    part(seen.points.iter().map(|&(x, n)| (x, off(x), n)))
                }
                (None, Some(weight)) => {
                    let shape = weight.shape();
                    let inner: usize =
                        axis.map_or(1, |axis| shape[axis + 1..].iter().product::<usize>().max(1));
                    let count = axis.map_or(1, |axis| shape[axis]);
                    let fit = |i: usize| {
                        let channel = if count > 1 { i / inner % count } else { 0 };
                        (
                            choice.parameters.scales[channel],
                            choice.parameters.zeros.get(channel).copied().unwrap_or(0.0),
                        )
                    };
                    let values = weight.to_f64s();
                    part(
                        values
                            .iter()
                            .enumerate()
                            .map(|(i, &x)| (x, x - choice.numbers.simulate(x, fit(i)), 1.0)),
                    )
                }
                (None, None) => 0.0,
            };
        }
        let data = layer.edges.iter().find_map(|&edge| seen[edge].as_ref());
        layers.push(LayerReport {
            name: layer.name.clone(),
            operator: layer.operator.name,
            range: data.map(|seen| seen.range),
            signal_to_noise: (*level != Level::Float).then(|| -10.0 * noise.log10()),
            share: if total > 0.0 { error / total } else { 0.0 },
            level: *level,
            weights: program.weights(layer),
            bytes: search.bytes(layer, *level),
        });
    }
    let floats = vec![Level::Float; program.layers.len()];
    Ok(Report {
        layers,
        left: program.left.clone(),
        frontier: found.frontier.clone(),
        simulated: found.loss.loss,
        written: f64::NAN,
        bytes_before: search.all_bytes(&floats),
        bytes: search.all_bytes(&found.levels),
    })
}

/// Squares of errors as a part of the squares of elements, each with how often it is there.
fn part(points: impl Iterator<Item = (f64, f64, f64)>) -> f64 {
    let (mut size, mut off) = (0.0, 0.0);
    for (x, error, n) in points {
        size += n * x * x;
        off += n * error * error;
    }
    if off == 0.0 { 0.0 } else { off / f64::max(size, f64::MIN_POSITIVE) }
}
