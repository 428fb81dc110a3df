//! Sorting, and searching what is sorted.
//!
//! Sorting takes the least or greatest elements, as many as there are; equals keep their order.

use super::shape::fixed;
use super::{Built, Call, built};
use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use fusion_dialects::Value;
use fusion_operators::ops::{elementwise as ew, reduction as red};
use fusion_operators::{Attrs, DType};

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    Built { name: "sort", operands: (1, 1), attributes: &["axis", "is_ascend"], ignored: &["dtype"], build: |call| {
        let [values, _] = sorted(call)?;
        Ok(Made::Value(values))
    } },
    built("argsort", 1, &["axis", "is_ascend", "dtype"], |call| {
        let [_, places] = sorted(call)?;
        let dtype = call.maybe_element("dtype")?.unwrap_or(DType::I32);
        call.cast(places, dtype).map(Made::Value)
    }),
    built("searchsorted", 2, &["right", "dtype"], search),
];

/// The elements in order, and where they were.
fn sorted<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<[Value<'c>; 2]> {
    let x = call.operand(0);
    let shape = fixed(call, x)?;
    let axis = call.axis_in(call.int("axis", -1)?, shape.len())?;
    let mut attrs = Attrs::new().with("k", shape[axis]).with("axis", axis as i64);
    if call.flag("is_ascend", true)? {
        attrs.set("smallest", true);
    }
    match call.rows(&red::TOPK, &[x], &attrs, 2)?[..] {
        [values, places] => Ok([values, places]),
        _ => call.fault("gives two results"),
    }
}

/// The places of the elements of a vector, in ascending order; equals keep theirs.
pub fn ascending<'c>(call: &mut Call<'_, 'c, '_>, x: Value<'c>, count: i64) -> Outcome<Value<'c>> {
    let attrs = Attrs::new().with("k", count).with("axis", 0).with("smallest", true);
    match call.rows(&red::TOPK, &[x], &attrs, 2)?[..] {
        [_, places] => Ok(places),
        _ => call.fault("gives two results"),
    }
}

/// How many elements of the last axis are below each value, or (right) not above it.
fn search<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, values) = (call.operand(0), call.operand(1));
    let rank = call.rank(x)?;
    let dtype = call.maybe_element("dtype")?.unwrap_or(DType::I32);
    let row = if call.flag("right", false)? { &ew::LESS_EQUAL } else { &ew::LESS };
    let values = call.expanded(values, &[-1])?;
    let x = if rank > 1 { call.expanded(x, &[rank as i64 - 1])? } else { x };
    let below = call.plain(row, &[x, values])?;
    let below = call.cast(below, dtype)?;
    call.summed(below, &[-1]).map(Made::Value)
}
