//! Extents that tensors of integers are known to hold.
//!
//! ```text
//!   get_dimension_size %x, dim = 0            n
//!   multiply, concatenate, reshape, convert   n * 4, [n * 4, 4]
//!   dynamic_reshape %y, %shape                tensor<(4*n)x4>
//! ```
//! Shapes that JAX computes from symbolic dimensions are made of such operators alone.

use super::{Emitter, Held};
use crate::stablehlo::graph::Operation;
use fusion_dialects::{Value, key};
use fusion_operators::Dim;

/// Longer lists are no shapes.
const MOST: usize = 64;

impl<'c> Emitter<'c, '_> {
    /// Notes what a tensor holds.
    pub fn set_extents(&mut self, x: Value<'c>, dims: Vec<Dim>) {
        self.extents.insert(key(x), dims);
    }

    /// The extents that a tensor of integers holds, where they are known.
    pub fn extents_of(&self, x: Value<'c>) -> Option<Vec<Dim>> {
        if let Some(dims) = self.extents.get(&key(x)) {
            return Some(dims.clone());
        }
        let tensor = self.known(x).filter(|t| !t.dtype().is_float() && t.len() <= MOST)?;
        let extent = |n: i128| u64::try_from(n).ok().map(Dim::Static);
        tensor.to_ints().into_iter().map(extent).collect()
    }

    /// Notes what the result of an operation on extents holds.
    pub fn follow_extents(&mut self, operation: &Operation, operands: &[Held<'c>], results: &[Held<'c>]) {
        let [Held::Tensor(result)] = results else { return };
        if self.extents.is_empty() || self.extents.contains_key(&key(*result)) {
            return;
        }
        let mut lists = Vec::new();
        for operand in operands {
            let Held::Tensor(x) = operand else { return };
            let Some(dims) = self.extents_of(*x) else { return };
            lists.push(dims);
        }
        let dims = match (operation.short_name(), &lists[..]) {
            ("convert" | "reshape" | "broadcast_in_dim", [one]) => Some(one.clone()),
            ("concatenate", lists) => Some(lists.concat()),
            ("add", [a, b]) => pairs(a, b, Dim::plus),
            ("multiply", [a, b]) => pairs(a, b, Dim::times),
            ("divide", [a, b]) => pairs(a, b, Dim::over),
            ("minimum", [a, b]) => pairs(a, b, Dim::least),
            ("subtract", [a, b]) => pairs(a, b, Dim::minus),
            ("maximum", [a, b]) => pairs(a, b, Dim::greatest),
            _ => None,
        };
        if let Some(dims) = dims.filter(|dims| !dims.contains(&Dim::Any) && dims.len() <= MOST) {
            self.set_extents(*result, dims);
        }
    }
}

fn pairs(a: &[Dim], b: &[Dim], f: impl Fn(&Dim, &Dim) -> Dim) -> Option<Vec<Dim>> {
    (a.len() == b.len()).then(|| a.iter().zip(b).map(|(a, b)| f(a, b)).collect())
}
