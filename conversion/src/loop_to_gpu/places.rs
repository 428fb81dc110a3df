//! Whether a store writes another place each time it is run.
//!
//! ```text
//!   for 4 serial { for 8 thread_y { for 32 thread_x { store %v, %s[264 i + 33 y + x] } } }        x reaches 31 < 33, y 31 + 7 * 33 < 264
//! ```
//!
//! The index is a sum of multiples of loop indices, each of which steps over all that the smaller ones reach. Loops that are not in it
//! write the same place again, from the same thread.

use fusion_dialects::loops::Op as Loop;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Affine, Op, OpExt, OperationLike, Value, ValueLike, affine_map_of, arguments, defining_op, key,
    vector_parts,
};
use std::collections::HashMap;

/// True when no two threads write one place by a store, in all iterations of the loops around it.
pub fn writes_apart(store: Op) -> bool {
    let [value, _, index] = store.operand_values()[..] else { return false };
    let around = std::iter::successors(store.parent_operation(), |op| op.parent_operation());
    let loops = around.filter(|op| matches!(op.kind(), Some(Kind::Loop(Loop::For))));
    let indices: HashMap<usize, i64> =
        loops.filter_map(|op| Some((key(*arguments(op.body(0)?).first()?), op.int("extent")?))).collect();
    let mut terms: HashMap<usize, i64> = HashMap::new();
    if sum(index, 1, &indices, &mut terms).is_none() {
        return false;
    }
    let mut steps: Vec<(i64, i64)> =
        terms.into_iter().map(|(index, c)| (c.abs(), indices[&index])).filter(|(_, n)| *n > 1).collect();
    steps.sort_unstable();
    let mut reach = vector_parts(value.r#type()).map_or(0, |(_, lanes)| lanes as i64 - 1);
    steps.into_iter().all(|(step, extent)| {
        let beyond = step > reach;
        reach = reach.saturating_add(step.saturating_mul(extent - 1));
        beyond
    })
}

/// Adds a multiple of a value, where that is a sum of multiples of loop indices.
fn sum(
    value: Value,
    times: i64,
    indices: &HashMap<usize, i64>,
    terms: &mut HashMap<usize, i64>,
) -> Option<()> {
    if indices.contains_key(&key(value)) {
        *terms.entry(key(value)).or_insert(0) += times;
        return Some(());
    }
    let op = defining_op(value)?;
    match op.kind() {
        Some(Kind::Upstream(Upstream::ArithConstant)) => Some(()),
        Some(Kind::Upstream(Upstream::AffineApply)) => {
            let map = affine_map_of(op.attr("map")?)?;
            of_map(&map, times, &op.operand_values(), indices, terms)
        }
        _ => None,
    }
}

fn of_map(
    e: &Affine,
    times: i64,
    operands: &[Value],
    indices: &HashMap<usize, i64>,
    terms: &mut HashMap<usize, i64>,
) -> Option<()> {
    match e {
        Affine::Constant(_) => Some(()),
        Affine::Input(i) => sum(*operands.get(*i)?, times, indices, terms),
        Affine::Add(a, b) => {
            of_map(a, times, operands, indices, terms)?;
            of_map(b, times, operands, indices, terms)
        }
        Affine::Mul(a, b) => match (&**a, &**b) {
            (e, Affine::Constant(c)) | (Affine::Constant(c), e) => {
                of_map(e, times.checked_mul(*c)?, operands, indices, terms)
            }
            _ => None,
        },
        Affine::Mod(..) | Affine::FloorDiv(..) | Affine::CeilDiv(..) => None,
    }
}
