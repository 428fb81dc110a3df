//! What random graphs are written with: values, numbers and calls.

use super::numbers::{below, one_of};
use super::{Graph, Place, Step};
use fusion_operators::random::Random;
use fusion_operators::{Attrs, Operator, Tensor, TensorType};

pub(super) struct Writer {
    pub random: Random,
    pub graph: Graph,
    /// The shape of most values; all others broadcast to it.
    pub shape: Vec<u64>,
    /// Numbers that constants have.
    pub pool: Vec<f64>,
    /// Values that operations take, the newest last.
    pub values: Vec<Place>,
}

impl Writer {
    /// A value, newer ones more often.
    pub fn value(&mut self) -> Place {
        let count = self.values.len();
        let back = below(&mut self.random, count).min(below(&mut self.random, count));
        self.values[count - 1 - back]
    }

    /// A value of the whole shape.
    pub fn whole(&mut self) -> Place {
        let whole = |&&place: &&Place| self.graph.types[place].shape().as_ref() == Some(&self.shape);
        let all: Vec<Place> = self.values.iter().filter(whole).copied().collect();
        let back = below(&mut self.random, all.len()).min(below(&mut self.random, all.len()));
        all[all.len() - 1 - back]
    }

    /// A number as a constant, mostly without axes.
    pub fn number(&mut self, number: f64) -> Option<Place> {
        let shape = match below(&mut self.random, 6) {
            0 => self.shape[self.shape.len() - 1..].to_vec(),
            1 => self.shape.clone(),
            _ => vec![],
        };
        self.splat(number, &shape)
    }

    pub fn splat(&mut self, number: f64, shape: &[u64]) -> Option<Place> {
        let ty = TensorType::fixed(shape, self.graph.dtype);
        let extents: Vec<usize> = shape.iter().map(|&n| n as usize).collect();
        let numbers = vec![number; extents.iter().product()];
        let tensor = Tensor::from_f64s(self.graph.dtype, &extents, &numbers).ok()?;
        Some(self.graph.push(Step::Constant(tensor), ty))
    }

    /// One of the constants of the graph; now and then each element of a row is another one of them.
    pub fn constant(&mut self) -> Option<Place> {
        if below(&mut self.random, 8) == 0 {
            let shape = &self.shape[self.shape.len() - 1..].to_vec();
            return self.mixed(shape);
        }
        let number = one_of(&mut self.random, &self.pool);
        self.number(number)
    }

    pub fn mixed(&mut self, shape: &[u64]) -> Option<Place> {
        let extents: Vec<usize> = shape.iter().map(|&n| n as usize).collect();
        let count: usize = extents.iter().product();
        let numbers: Vec<f64> = (0..count).map(|_| one_of(&mut self.random, &self.pool)).collect();
        let tensor = Tensor::from_f64s(self.graph.dtype, &extents, &numbers).ok()?;
        Some(self.graph.push(Step::Constant(tensor), TensorType::fixed(shape, self.graph.dtype)))
    }

    pub fn call(&mut self, op: &'static Operator, operands: &[Place]) -> Option<Place> {
        self.graph.call(op, Attrs::new(), operands)
    }
}
