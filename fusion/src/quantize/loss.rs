//! How far outputs are from those in floats.

use crate::error::Error;
use fusion_operators::{DType, Tensor};

/// What is measured. 0 is no loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Metric {
    /// 1 less the cosine of the angle between the outputs, the mean over samples.
    #[default]
    Cosine,
    /// The square of the difference, as a part of the square of the outputs.
    Mse,
    /// The part of the samples whose largest element is another one than in floats; with labels, what is lost of the part that is right.
    Top1,
}

impl Metric {
    /// All, with their names.
    pub const ALL: &'static [(Metric, &'static str)] =
        &[(Metric::Cosine, "cosine"), (Metric::Mse, "mse"), (Metric::Top1, "top1")];

    /// Its name.
    pub fn name(&self) -> &'static str {
        Metric::ALL.iter().find(|(metric, _)| metric == self).map_or("", |(_, name)| *name)
    }
}

/// What outputs are judged by.
pub struct Judge {
    /// The metric.
    pub metric: Metric,
    /// The outputs in floats, of each sample.
    pub expected: Vec<Vec<Tensor>>,
    /// The right classes of all samples, in order.
    pub labels: Option<Vec<i64>>,
}

/// How many outputs were right, for `top1` with labels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// The loss.
    pub loss: f64,
    /// The mean square of the difference as a part of that of the outputs, whichever metric is asked for.
    pub mse: f64,
}

impl Judge {
    /// Checks that there is a label for each row of the first output.
    pub fn check(&self) -> Result<(), Error> {
        let rows: usize =
            self.expected.iter().map(|outputs| outputs.iter().find(|t| is_float(t)).map_or(0, rows)).sum();
        match &self.labels {
            Some(labels) if labels.len() != rows => Err(Error::Quantize(format!(
                "there are {} labels, and the first output has {rows} rows over all samples; give one label a row",
                labels.len()
            ))),
            _ => Ok(()),
        }
    }

    /// Of the outputs of all samples.
    pub fn loss(&self, outputs: &[Vec<Tensor>]) -> Loss {
        let mse = self.each(outputs, relative_square);
        let loss = match self.metric {
            Metric::Mse => mse,
            Metric::Cosine => self.each(outputs, |a, b| 1.0 - cosine(a, b)),
            Metric::Top1 => self.top1(outputs),
        };
        // Outputs that are no numbers are the largest loss, not none.
        let number = |x: f64| if x.is_nan() { f64::INFINITY } else { x.max(0.0) };
        Loss { loss: number(loss), mse: number(mse) }
    }

    /// The mean over samples and outputs of floats.
    fn each(&self, outputs: &[Vec<Tensor>], of: impl Fn(&[f64], &[f64]) -> f64) -> f64 {
        let pairs = self.expected.iter().flatten().zip(outputs.iter().flatten()).filter(|(a, _)| is_float(a));
        let all: Vec<f64> = pairs.map(|(a, b)| of(&a.to_f64s(), &b.to_f64s())).collect();
        all.iter().sum::<f64>() / all.len().max(1) as f64
    }

    fn top1(&self, outputs: &[Vec<Tensor>]) -> f64 {
        let classes = |all: &[Vec<Tensor>]| -> Vec<i64> {
            all.iter().filter_map(|outputs| outputs.iter().find(|t| is_float(t))).flat_map(largest).collect()
        };
        let (expected, found) = (classes(&self.expected), classes(outputs));
        let share = |right: usize| right as f64 / expected.len().max(1) as f64;
        let same = |a: &[i64], b: &[i64]| a.iter().zip(b).filter(|(a, b)| a == b).count();
        match &self.labels {
            Some(labels) => share(same(labels, &expected)) - share(same(labels, &found)),
            None => 1.0 - share(same(&expected, &found)),
        }
    }
}

fn is_float(tensor: &Tensor) -> bool {
    tensor.dtype() != DType::Bool && tensor.dtype().is_float()
}

fn rows(tensor: &Tensor) -> usize {
    tensor.len() / tensor.shape().last().copied().unwrap_or(1).max(1)
}

/// The place of the largest element of each row.
fn largest(tensor: &Tensor) -> Vec<i64> {
    let width = tensor.shape().last().copied().unwrap_or(1).max(1);
    let place = |row: &[f64]| {
        let best = (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b]).then(b.cmp(&a)));
        best.unwrap_or(0) as i64
    };
    tensor.to_f64s().chunks(width).map(place).collect()
}

fn relative_square(a: &[f64], b: &[f64]) -> f64 {
    let size: f64 = a.iter().map(|a| a * a).sum();
    let off: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
    if off == 0.0 { 0.0 } else { off / size.max(f64::MIN_POSITIVE) }
}

fn cosine(a: &[f64], b: &[f64]) -> f64 {
    let product: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
    let size = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>();
    let sizes = size(a) * size(b);
    match sizes > 0.0 {
        true => product / sizes.sqrt(),
        // Of zeros alone and something else the angle is none.
        false if size(a) == size(b) => 1.0,
        false if sizes.is_nan() => f64::NAN,
        false => 0.0,
    }
}
