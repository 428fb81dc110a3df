//! What is seen of each edge over all samples: its range, then how often which part of it.

use super::probe::{Choice, Probe, Seen};
use super::samples::Samples;
use crate::error::Error;
use fusion_operators::{DType, Tensor};

/// Parts that a range is counted in.
const PARTS: usize = 2048;

/// The statistics of an edge.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// The least and the greatest element.
    pub range: (f64, f64),
    /// How many elements are in each part of the range.
    pub histogram: Vec<u64>,
}

/// The statistics of each edge; weights have none.
pub type OfEdges = Vec<Option<Statistics>>;

/// Runs the program in floats on all samples, twice; gives the statistics of the edges that are seen and the outputs.
pub fn collect(
    probe: &Probe,
    samples: &Samples,
    choices: &[Choice],
) -> Result<(OfEdges, Vec<Vec<Tensor>>), Error> {
    let mut all: OfEdges = probe
        .seen
        .iter()
        .map(|seen| {
            seen.map(|_| Statistics { range: (f64::INFINITY, f64::NEG_INFINITY), histogram: vec![0; PARTS] })
        })
        .collect();
    let mut outputs = Vec::with_capacity(samples.len());
    let each = |all: &mut [Option<Statistics>], inputs: &[Tensor], results: &[Tensor], counts: bool| {
        for (own, seen) in all.iter_mut().zip(&probe.seen) {
            let Some((own, seen)) = own.as_mut().zip(*seen) else { continue };
            let tensor = match seen {
                Seen::Input(i) => &inputs[i],
                Seen::Result(i) => &results[i],
            };
            own.add(tensor, counts);
        }
    };
    for inputs in samples {
        let mut results = probe.run(inputs, choices)?;
        each(&mut all, inputs, &results, false);
        results.truncate(probe.outputs);
        outputs.push(results);
    }
    for inputs in samples {
        let results = probe.run(inputs, choices)?;
        each(&mut all, inputs, &results, true);
    }
    Ok((all, outputs))
}

/// The elements, without going through doubles where they are of f32.
fn for_each(tensor: &Tensor, mut visit: impl FnMut(f64)) {
    match tensor.to_vec::<f32>().filter(|_| tensor.dtype() == DType::F32) {
        Some(elements) => elements.into_iter().for_each(|x| visit(x.into())),
        None => tensor.to_f64s().into_iter().for_each(visit),
    }
}

impl Statistics {
    fn add(&mut self, tensor: &Tensor, counts: bool) {
        let (low, high) = self.range;
        if !counts {
            for_each(tensor, |x| {
                // A minimum would pass over NaN.
                self.range = match x.is_nan() || self.range.0.is_nan() {
                    true => (f64::NAN, f64::NAN),
                    false => (self.range.0.min(x), self.range.1.max(x)),
                };
            });
            return;
        }
        let per_unit = if high > low { PARTS as f64 / (high - low) } else { 0.0 };
        for_each(tensor, |x| self.histogram[(((x - low) * per_unit) as usize).min(PARTS - 1)] += 1);
    }
}
