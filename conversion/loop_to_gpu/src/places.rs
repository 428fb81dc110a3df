//! Whether a store writes another place each time it is run.
//!
//! ```text
//!   for 4 serial { for 8 thread_y { for 32 thread_x { store %v, %s[264 i + 33 y + x] } } }        x reaches 31 < 33, y 31 + 7 * 33 < 264
//! ```
//!
//! The index is a sum of multiples of loop indices, each of which steps over all that the smaller ones reach. Loops that are not in it
//! write the same place again, from the same thread. So do those that a remainder is of, as the slots of a buffer are, `2112 (k mod 3)`: it
//! counts as an index of its own, where no threads are in it.

use super::launches::is_bound;
use super::parents;
use fusion_dialects::loops::Op as Loop;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Affine, Op, OpExt, Value, ValueLike, affine_map_of, arguments, defining_op, key, vector_parts,
};
use std::collections::HashMap;

/// True when no two threads write one place by a store, in all iterations of the loops around it.
pub fn writes_apart(store: Op) -> bool {
    let [value, _, index] = store.operand_values()[..] else { return false };
    let around = parents(store);
    let loops = around.filter(|op| matches!(op.kind(), Some(Kind::Loop(Loop::For))));
    let mut places = Places::default();
    for op in loops {
        let index = op.body(0).and_then(|body| arguments(body).first().copied());
        if let Some((index, extent)) = index.zip(op.int("extent")) {
            places.loops.insert(key(index), (extent, is_bound(op)));
        }
    }
    if places.sum(index, 1).is_none() {
        return false;
    }
    let of_loops = places.terms.iter().map(|(index, c)| (c.abs(), places.loops[index].0));
    let mut steps: Vec<(i64, i64)> = of_loops.chain(places.slots).filter(|(_, n)| *n > 1).collect();
    steps.sort_unstable();
    let mut reach = vector_parts(value.r#type()).map_or(0, |(_, lanes)| lanes as i64 - 1);
    steps.into_iter().all(|(step, extent)| {
        let beyond = step > reach;
        reach = reach.saturating_add(step.saturating_mul(extent - 1));
        beyond
    })
}

/// What an index is the sum of.
#[derive(Default)]
struct Places {
    /// The extents of the loops around, and whether they are blocks or threads.
    loops: HashMap<usize, (i64, bool)>,
    /// Multiples of their indices.
    terms: HashMap<usize, i64>,
    /// Multiples of remainders, and by what these are.
    slots: Vec<(i64, i64)>,
}

impl Places {
    /// Adds a multiple of a value, where that is a sum of multiples of loop indices and of remainders.
    fn sum(&mut self, value: Value, times: i64) -> Option<()> {
        if self.loops.contains_key(&key(value)) {
            *self.terms.entry(key(value)).or_insert(0) += times;
            return Some(());
        }
        let op = defining_op(value)?;
        match op.kind() {
            Some(Kind::Upstream(Upstream::ArithConstant)) => Some(()),
            Some(Kind::Upstream(Upstream::AffineApply)) => {
                let map = affine_map_of(op.attr("map")?)?;
                self.map(&map, times, &op.operand_values())
            }
            _ => None,
        }
    }

    fn map(&mut self, e: &Affine, times: i64, operands: &[Value]) -> Option<()> {
        match e {
            Affine::Constant(_) => Some(()),
            Affine::Input(i) => self.sum(*operands.get(*i)?, times),
            Affine::Add(a, b) => {
                self.map(a, times, operands)?;
                self.map(b, times, operands)
            }
            Affine::Mul(a, b) => match (&**a, &**b) {
                (e, Affine::Constant(c)) | (Affine::Constant(c), e) => {
                    self.map(e, times.checked_mul(*c)?, operands)
                }
                _ => None,
            },
            Affine::Mod(e, by) => match **by {
                Affine::Constant(by) if self.is_the_same_for_all(e, operands) => {
                    self.slots.push((times.abs(), by));
                    Some(())
                }
                _ => None,
            },
            Affine::FloorDiv(..) | Affine::CeilDiv(..) => None,
        }
    }

    /// True for what is made of the indices of loops that all threads go through together.
    fn is_the_same_for_all(&self, e: &Affine, operands: &[Value]) -> bool {
        match e {
            Affine::Constant(_) => true,
            Affine::Input(i) => operands.get(*i).is_some_and(|v| self.is_common(*v)),
            Affine::Add(a, b)
            | Affine::Mul(a, b)
            | Affine::Mod(a, b)
            | Affine::FloorDiv(a, b)
            | Affine::CeilDiv(a, b) => {
                self.is_the_same_for_all(a, operands) && self.is_the_same_for_all(b, operands)
            }
        }
    }

    fn is_common(&self, value: Value) -> bool {
        if let Some((_, bound)) = self.loops.get(&key(value)) {
            return !bound;
        }
        defining_op(value).is_some_and(|op| match op.kind() {
            Some(Kind::Upstream(Upstream::ArithConstant)) => true,
            Some(Kind::Upstream(Upstream::AffineApply | Upstream::AddI | Upstream::MulI)) => {
                op.operand_values().into_iter().all(|v| self.is_common(v))
            }
            _ => false,
        })
    }
}
