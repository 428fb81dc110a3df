//! The inputs and the operations of a graph.

use super::numbers::{POWERS, below, one_of, pool, representable};
use super::writer::Writer;
use super::{Graph, Place, Step, forms};
use fusion_operators::ops::{contraction, convolution, elementwise as e, normalization, reduction};
use fusion_operators::random::Random;
use fusion_operators::{Attrs, DType, Operator, TensorType};

/// Functions of one number.
static UNARY: &[&Operator] = &[
    &e::NEG,
    &e::ABS,
    &e::RELU,
    &e::EXP,
    &e::LOG,
    &e::SQRT,
    &e::RSQRT,
    &e::RECIPROCAL,
    &e::TANH,
    &e::SIGMOID,
    &e::ERF,
];

/// Functions of two numbers; the first four come most often.
static BINARY: &[&Operator] = &[&e::ADD, &e::SUB, &e::MUL, &e::DIV, &e::MAXIMUM, &e::MINIMUM];

static REDUCTIONS: &[&Operator] =
    &[&reduction::REDUCE_SUM, &reduction::REDUCE_MEAN, &reduction::REDUCE_MAX, &reduction::REDUCE_MIN];

/// The graph of a seed.
pub fn graph(seed: u64) -> Graph {
    let mut random = Random::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d).wrapping_add(3));
    let dtypes = [DType::F32, DType::F32, DType::F32, DType::F16, DType::F16, DType::BF16, DType::F64];
    let dtype = one_of(&mut random, &dtypes);
    let mut extent = || 2 + random.next_u64() % 4;
    let shape = match extent() {
        2 => vec![1, extent(), 1 + extent(), extent()],
        _ => vec![extent(), 1 + extent()],
    };
    let pool = pool(&mut random, dtype);
    let graph = Graph::new(dtype);
    let mut writer = Writer { random, graph, shape, pool, values: Vec::new() };
    writer.inputs();
    let steps = writer.graph.steps.len() + 2 + below(&mut writer.random, 9);
    while writer.graph.steps.iter().filter(|step| matches!(step, Step::Call { .. })).count()
        < steps - writer.inputs_count()
    {
        if let Some(value) = writer.operation() {
            writer.values.push(value);
        }
    }
    writer.finish()
}

impl Writer {
    fn inputs_count(&self) -> usize {
        self.graph.steps.iter().filter(|step| matches!(step, Step::Input(_))).count()
    }

    /// One of the whole shape, and one or two that broadcast to it.
    fn inputs(&mut self) {
        let row = match self.shape[..] {
            [_, channels, _, _] => vec![channels, 1, 1],
            _ => self.shape[1..].to_vec(),
        };
        let column = [&self.shape[..self.shape.len() - 1], &[1]].concat();
        let mut shapes = vec![self.shape.clone()];
        for shape in [self.shape.clone(), row, column] {
            if below(&mut self.random, 3) == 0 {
                shapes.push(shape);
            }
        }
        for (number, shape) in shapes.iter().enumerate() {
            let ty = TensorType::fixed(shape, self.graph.dtype);
            let place = self.graph.push(Step::Input(number), ty);
            self.values.push(place);
        }
    }

    fn operation(&mut self) -> Option<Place> {
        let value = self.value();
        match below(&mut self.random, 32) {
            0..=13 => self.binary(value),
            14..=19 => {
                let op = one_of(&mut self.random, UNARY);
                self.call(op, &[value])
            }
            20 => self.call(&e::MUL, &[value, value]),
            21 => {
                let power = match below(&mut self.random, 4) {
                    0 => one_of(&mut self.random, &self.pool),
                    _ => one_of(&mut self.random, POWERS),
                };
                let power = self.number(representable(self.graph.dtype, power))?;
                self.call(&e::POW, &[value, power])
            }
            22..=24 => self.reduced(value),
            25 => {
                let (a, b) = (self.value(), self.constant()?);
                let condition = self.call(&e::LESS, &[a, b])?;
                let other = self.constant()?;
                self.call(&e::WHERE, &[condition, value, other])
            }
            26..=28 => {
                let whole = self.whole();
                forms::form(self, whole)
            }
            29 => {
                let axis = if below(&mut self.random, 3) == 0 { 0 } else { -1 };
                let op = one_of(&mut self.random, &[&normalization::SOFTMAX, &normalization::LOG_SOFTMAX]);
                self.graph.call(op, Attrs::new().with("axis", axis), &[value])
            }
            _ => self.contraction(),
        }
    }

    /// Of a value and a constant, another value, or itself.
    fn binary(&mut self, value: Place) -> Option<Place> {
        let few = if below(&mut self.random, 8) == 0 { BINARY.len() } else { 4 };
        let op = BINARY[below(&mut self.random, few)];
        let other = match below(&mut self.random, 8) {
            0..=4 => self.constant()?,
            5 | 6 => self.value(),
            _ => value,
        };
        match below(&mut self.random, 3) {
            0 => self.call(op, &[other, value]),
            _ => self.call(op, &[value, other]),
        }
    }

    fn reduced(&mut self, value: Place) -> Option<Place> {
        let op = one_of(&mut self.random, REDUCTIONS);
        let rank = self.graph.types[value].rank() as i64;
        if rank == 0 {
            return None;
        }
        let axes: Vec<i64> = match below(&mut self.random, 4) {
            0 => (0..rank).collect(),
            1 => vec![0],
            _ => vec![rank - 1],
        };
        self.graph.call(op, Attrs::new().with("axes", axes).with("keepdims", true), &[value])
    }

    /// A product by weights that are random, of the pool, or such scaled; the bias is a row.
    fn contraction(&mut self) -> Option<Place> {
        let x = self.whole();
        let dtype = self.graph.dtype;
        let (shape, window) = match self.shape[..] {
            [_, channels, _, _] => {
                let window = if below(&mut self.random, 2) == 0 { 1 } else { 3 };
                (vec![channels, channels, window, window], window)
            }
            _ => (vec![self.shape[1], self.shape[1]], 0),
        };
        let mut weights = match below(&mut self.random, 3) {
            0 => self.mixed(&shape)?,
            _ => {
                let extents: Vec<usize> = shape.iter().map(|&n| n as usize).collect();
                let tensor = self.random.tensor(dtype, &extents).ok()?;
                self.graph.push(Step::Constant(tensor), TensorType::fixed(&shape, dtype))
            }
        };
        if below(&mut self.random, 2) == 0 {
            let scale = one_of(&mut self.random, &self.pool);
            let scale = self.splat(scale, &[])?;
            weights = self.call(&e::MUL, &[weights, scale])?;
        }
        let product = match window {
            0 => {
                let op = one_of(&mut self.random, &[&contraction::MATMUL, &contraction::DENSE]);
                self.call(op, &[x, weights])?
            }
            _ => {
                let pad = (window / 2) as i64;
                let attrs = Attrs::new().with("padding", [pad; 4]);
                self.graph.call(&convolution::CONV2D, attrs, &[x, weights])?
            }
        };
        if below(&mut self.random, 2) == 0 {
            return Some(product);
        }
        let (op, scale) = (one_of(&mut self.random, &[&e::MUL, &e::DIV, &e::ADD]), self.constant()?);
        self.call(op, &[product, scale])
    }

    fn finish(mut self) -> Graph {
        let last = *self.values.last().unwrap_or(&0);
        self.graph.results = vec![last];
        let other = self.value();
        if below(&mut self.random, 3) == 0
            && other != last
            && !matches!(self.graph.steps[other], Step::Input(_))
        {
            self.graph.results.push(other);
        }
        self.graph
    }
}
