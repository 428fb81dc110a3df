//! The bits of each layer: the fewest with which the measured loss is small enough.
//!
//! All layers begin with the fewest bits. While the loss is too large, the layer gets more bits whose error, measured with that layer alone, falls most
//! for the bytes that it costs. At the end each such layer is tried with fewer bits again. Every step is a run over the samples, not an estimate.

use super::loss::{Judge, Loss};
use super::probe::{Choice, Probe};
use super::program::{Layer, Program};
use super::samples::Samples;
use crate::error::Error;
use fusion_operators::Tensor;

/// Runs that the error of one layer is measured on.
const MOST_RUNS: usize = 16;

/// How a layer is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Weights of 4 bits, data in floats.
    Int4,
    /// Weights and data of 8 bits.
    Int8,
    /// In floats.
    Float,
}

impl Level {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Level::Int4 => "int4 weights",
            Level::Int8 => "int8",
            Level::Float => "float",
        }
    }
}

/// The numbers that are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// Data and weights of 8 bits.
    Int8,
    /// Weights of 4 bits; data stays in floats.
    Int4Weights,
}

/// A step of the search.
#[derive(Clone, Debug)]
pub struct Point {
    /// The loss.
    pub loss: f64,
    /// Bytes of the weights of all layers.
    pub bytes: u64,
    /// What was changed.
    pub what: String,
}

/// What calibration chose for each edge.
pub struct Choices {
    /// With weights of 8 bits.
    pub int8: Vec<Choice>,
    /// With weights of 4 bits; empty where they are not wanted.
    pub int4: Vec<Choice>,
}

/// What levels are chosen by.
pub struct Search<'a, 'c> {
    pub program: &'a Program<'c>,
    pub probe: &'a Probe,
    pub samples: &'a Samples,
    pub judge: &'a Judge,
    pub choices: Choices,
}

/// Levels, and what was measured on the way.
pub struct Found {
    /// Of each layer.
    pub levels: Vec<Level>,
    /// The loss with these levels.
    pub loss: Loss,
    /// For each layer its error when it alone has the level it begins with.
    pub errors: Vec<f64>,
    /// Losses and bytes of each step.
    pub frontier: Vec<Point>,
}

impl Search<'_, '_> {
    /// The choices of all edges for levels of all layers.
    pub fn choices_of(&self, levels: &[Level]) -> Vec<Choice> {
        let mut all = Vec::new();
        for (layer, level) in self.program.layers.iter().zip(levels) {
            for &edge in &layer.edges {
                all.push(match (level, self.program.edges[edge].constant) {
                    (Level::Int8, _) => self.choices.int8[edge].clone(),
                    (Level::Int4, true) => self.choices.int4[edge].clone(),
                    _ => Choice::float(),
                });
            }
        }
        all
    }

    /// Bytes of the weights of a layer, scales included.
    pub fn bytes(&self, layer: &Layer, level: Level) -> u64 {
        let of = |&edge: &usize| {
            let facts = &self.program.edges[edge];
            let (elements, scale) = (facts.elements, 4);
            match (facts.constant, level) {
                (false, _) => 0,
                (true, Level::Float) => 4 * elements,
                (true, Level::Int8) => {
                    elements + scale * self.choices.int8[edge].parameters.scales.len() as u64
                }
                (true, Level::Int4) => {
                    elements.div_ceil(2) + scale * self.choices.int4[edge].parameters.scales.len() as u64
                }
            }
        };
        layer.edges.iter().map(of).sum()
    }

    /// Bytes of all weights.
    pub fn all_bytes(&self, levels: &[Level]) -> u64 {
        self.program.layers.iter().zip(levels).map(|(layer, level)| self.bytes(layer, *level)).sum()
    }

    fn outputs(&self, levels: &[Level], most: usize) -> Result<Vec<Vec<Tensor>>, Error> {
        let choices = self.choices_of(levels);
        let run = |inputs: &Vec<Tensor>| {
            let mut results = self.probe.run(inputs, &choices)?;
            results.truncate(self.probe.outputs);
            Ok(results)
        };
        self.samples.iter().take(most).map(run).collect()
    }

    fn loss(&self, levels: &[Level]) -> Result<Loss, Error> {
        Ok(self.judge.loss(&self.outputs(levels, usize::MAX)?))
    }

    /// The error with one layer at a level and all others in floats.
    fn error(&self, layer: usize, level: Level) -> Result<f64, Error> {
        let mut levels = vec![Level::Float; self.program.layers.len()];
        levels[layer] = level;
        Ok(self.judge.loss(&self.outputs(&levels, MOST_RUNS)?).mse)
    }

    /// The levels of a layer, fewest bits first.
    fn levels_of(&self, layer: &Layer, precision: Precision) -> Vec<Level> {
        match precision {
            Precision::Int8 => vec![Level::Int8, Level::Float],
            Precision::Int4Weights if self.program.weights(layer) > 0 => {
                vec![Level::Int4, Level::Int8, Level::Float]
            }
            // Without a weight there is nothing to store in fewer bits.
            Precision::Int4Weights => vec![Level::Float],
        }
    }

    /// Finds levels.
    pub fn run(&self, precision: Precision, max_loss: Option<f64>) -> Result<Found, Error> {
        let layers = &self.program.layers;
        let possible: Vec<Vec<Level>> = layers.iter().map(|layer| self.levels_of(layer, precision)).collect();
        let mut errors: Vec<Vec<f64>> = Vec::new();
        for (layer, possible) in possible.iter().enumerate() {
            // Without a bound only the first level is asked for.
            let asked = if max_loss.is_some() { possible.len() } else { 1 };
            let error =
                |level: &Level| if *level == Level::Float { Ok(0.0) } else { self.error(layer, *level) };
            errors.push(possible[..asked].iter().map(error).collect::<Result<_, _>>()?);
        }
        let mut at = vec![0; layers.len()];
        let levels =
            |at: &[usize]| -> Vec<Level> { at.iter().zip(&possible).map(|(&i, all)| all[i]).collect() };
        let mut loss = self.loss(&levels(&at))?;
        let point = |at: &[usize], loss: Loss, what: String| Point {
            loss: loss.loss,
            bytes: self.all_bytes(&levels(at)),
            what,
        };
        let mut frontier = vec![point(&at, loss, "fewest bits".to_owned())];
        if let Some(most) = max_loss {
            while loss.loss > most {
                let gain = |layer: usize| {
                    let (now, next) = (at[layer], at[layer] + 1);
                    let level = |i: usize| possible[layer][i];
                    let cost = self
                        .bytes(&layers[layer], level(next))
                        .saturating_sub(self.bytes(&layers[layer], level(now)));
                    (errors[layer][now] - errors[layer][next]) / cost.max(1) as f64
                };
                let open = (0..layers.len()).filter(|&layer| at[layer] + 1 < possible[layer].len());
                let best = open
                    .map(|layer| (gain(layer), layer))
                    .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
                let Some((_, layer)) = best else { break };
                at[layer] += 1;
                loss = self.loss(&levels(&at))?;
                frontier.push(point(
                    &at,
                    loss,
                    format!("{}: {}", layers[layer].name, possible[layer][at[layer]].name()),
                ));
            }
            let mut raised: Vec<usize> = (0..layers.len()).filter(|&layer| at[layer] > 0).collect();
            raised.sort_by_key(|&layer| {
                std::cmp::Reverse(self.bytes(&layers[layer], possible[layer][at[layer]]))
            });
            for layer in raised {
                at[layer] -= 1;
                let lower = self.loss(&levels(&at))?;
                if lower.loss <= most {
                    loss = lower;
                    frontier.push(point(
                        &at,
                        loss,
                        format!("{}: {} again", layers[layer].name, possible[layer][at[layer]].name()),
                    ));
                } else {
                    at[layer] += 1;
                }
            }
        }
        let errors = errors.iter().map(|all| all[0]).collect();
        Ok(Found { levels: levels(&at), loss, errors, frontier })
    }
}
