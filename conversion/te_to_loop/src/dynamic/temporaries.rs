//! Where tensors that stages hand to each other lie: in as few temporaries as their lifetimes allow.
//!
//! ```text
//!   a = f(x)            a  |---|              temporary 0: a, c
//!   b = g(a)            b      |---|          temporary 1: b
//!   c = h(b)            c          |---|
//! ```
//!
//! Tensors share a temporary when none is read any more once the next is written, and their types are the same, or all of their extents are
//! known: then the largest decides.

use super::inline::Inlined;
use fusion_dialects::rows::Kind;
use fusion_dialects::te::Op as Te;
use fusion_dialects::{Op, OpExt, Value, key, kind_of, op_key, parent_of, users};
use fusion_operators::TensorType;
use std::collections::HashMap;

/// Temporaries, and which of them each tensor has.
pub struct Temporaries {
    /// Their types.
    pub types: Vec<TensorType>,
    /// For each tensor the number of its temporary.
    pub of: Vec<usize>,
}

impl Temporaries {
    /// For tensors, with their types, that operations of a kernel make, in order.
    pub fn of(ops: &[Op], tensors: &[(Value, TensorType)], inlined: &Inlined) -> Temporaries {
        let places: HashMap<usize, usize> = ops.iter().enumerate().map(|(i, op)| (op_key(*op), i)).collect();
        let mut lifetimes = Lifetimes { places: &places, inlined, known: HashMap::new() };
        let mut made = Temporaries { types: Vec::new(), of: Vec::new() };
        // Until which operation each temporary is read.
        let mut until: Vec<usize> = Vec::new();
        for (value, ty) in tensors {
            let begin = fusion_dialects::defining_op(*value).and_then(|op| places.get(&op_key(op)).copied());
            let (begin, end) = (begin.unwrap_or(0), lifetimes.end(*value));
            let fits = |at: &usize| until[*at] < begin && is_alike(&made.types[*at], ty);
            match (0..until.len()).find(fits) {
                Some(at) => {
                    until[at] = end.max(begin);
                    if ty.elements() > made.types[at].elements() {
                        made.types[at] = ty.clone();
                    }
                    made.of.push(at);
                }
                None => {
                    made.of.push(until.len());
                    until.push(end.max(begin));
                    made.types.push(ty.clone());
                }
            }
        }
        made
    }
}

/// True for types that one temporary may have.
fn is_alike(a: &TensorType, b: &TensorType) -> bool {
    a == b || (a.dtype == b.dtype && a.elements().is_some() && b.elements().is_some())
}

/// Which operation is the last to read a tensor.
struct Lifetimes<'a> {
    places: &'a HashMap<usize, usize>,
    inlined: &'a Inlined,
    known: HashMap<usize, usize>,
}

impl Lifetimes<'_> {
    fn end(&mut self, value: Value) -> usize {
        if let Some(known) = self.known.get(&key(value)) {
            return *known;
        }
        let mut end = 0;
        for user in users(value) {
            let around = std::iter::successors(Some(user), |op| parent_of(*op));
            let Some((op, at)) =
                around.into_iter().find_map(|op| self.places.get(&op_key(op)).map(|at| (op, *at)))
            else {
                continue;
            };
            // What is computed where it is used reads there, and a view is read where it is.
            let passes_on = self.inlined.has(op) || matches!(kind_of(op), Some(Kind::Te(Te::View)));
            let read = match passes_on {
                true => op.result_values().into_iter().map(|v| self.end(v)).max().unwrap_or(at),
                false => at,
            };
            end = end.max(read).max(at);
        }
        self.known.insert(key(value), end);
        end
    }
}
