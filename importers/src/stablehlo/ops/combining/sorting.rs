//! Sorts, and the greatest elements.
//!
//! A comparator that looks at keys (`u < v`, or on equality at the next key) sorts by each key, the least significant first: relay.topk of
//! all elements is a stable sort and gives the order. Any other comparator is asked about all pairs: an element's place is the number of
//! those before it.

use crate::sources::Outcome;
use crate::stablehlo::emit::{Emitter, Held, Results};
use crate::stablehlo::graph::{Attr, Block, Operation};
use crate::stablehlo::ops::arithmetic::bits::ordered_key;
use crate::stablehlo::ops::combining::bodies::keys;
use crate::stablehlo::ops::control::lifted;
use crate::stablehlo::ops::{Row, row};
use fusion_dialects::Value;
use fusion_operators::ops::{indexing, reduction as red};
use fusion_operators::{Attrs, DType};

pub const ROWS: &[Row] = &[
    row("stablehlo.sort", sort),
    row("chlo.top_k", |e, op, x| {
        let x = e.tensor(op, x, 0)?;
        let (k, axis) = (op.int("k")?, e.rank(x)?.saturating_sub(1));
        greatest(e, x, axis, k, false)
    }),
];

/// So many elements are compared with each other at most.
const MOST_PAIRS: usize = 1 << 12;

/// The k greatest (or least) elements along an axis, and their places as i32.
pub fn greatest<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>, axis: usize, k: i64, least: bool) -> Results<'c> {
    let attrs = Attrs::new().with("k", k).with("axis", axis as i64).with("smallest", least);
    let [values, places] = e.ops(&red::TOPK, &[x], attrs)?[..] else {
        return e.fault("relay.topk gives two results");
    };
    Ok(vec![Held::Tensor(values), Held::Tensor(e.cast(places, DType::I32)?)])
}

/// The order that sorts a key along an axis.
fn order_of<'c>(
    e: &mut Emitter<'c, '_>,
    key: Value<'c>,
    axis: usize,
    descending: bool,
) -> Outcome<Value<'c>> {
    let key = if e.dtype(key)? == DType::Bool { e.cast(key, DType::U8)? } else { key };
    let extent = e.shape(key)?[axis] as i64;
    let attrs = Attrs::new().with("k", extent).with("axis", axis as i64).with("smallest", !descending);
    let results = e.ops(&red::TOPK, &[key], attrs)?;
    Ok(results[1])
}

fn taken<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>, order: Value<'c>, axis: usize) -> Outcome<Value<'c>> {
    e.op(&indexing::GATHER_ELEMENTS, &[x, order], Attrs::new().with("axis", axis as i64))
}

fn sort<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let first = e.parts(op, x, 0)?[0];
    let shape = e.shape(first)?;
    let axis = match op.attributes.get("dimension") {
        Some(Attr::Int(n)) if *n < 0 => (shape.len() as i128 + n).max(0) as usize,
        Some(_) => op.axis("dimension", shape.len())?,
        None => shape.len().saturating_sub(1),
    };
    if shape.is_empty() || shape[axis] <= 1 || shape.contains(&0) {
        return Ok(x.to_vec());
    }
    let region = op.region(0)?;
    let order = match by_keys(e, op, region, x, axis)? {
        Some(order) => order,
        None => by_pairs(e, op, region, x, axis, shape[axis])?,
    };
    let mut sorted = Vec::new();
    for i in 0..x.len() {
        let mut parts = Vec::new();
        for part in e.parts(op, x, i)? {
            parts.push(taken(e, part, order, axis)?);
        }
        sorted.push(Emitter::of_parts(&parts));
    }
    Ok(sorted)
}

/// The order by keys, where the comparator looks at some.
fn by_keys<'c, 'p>(
    e: &mut Emitter<'c, 'p>,
    op: &'p Operation,
    region: &'p Block,
    x: &[Held<'c>],
    axis: usize,
) -> Outcome<Option<Value<'c>>> {
    let Some(keys) = keys(region) else { return Ok(None) };
    // Both elements of each operand are the operand itself; what is computed of the first ones is the key.
    let doubled = x.iter().flat_map(|one| [one.clone(), one.clone()]).collect();
    let mut wanted = Vec::new();
    for key in &keys {
        wanted.push(key.comparison.operands[0]);
    }
    let values = e.lifted_values(region, doubled, &wanted)?;
    let shape = e.shape(e.parts(op, x, 0)?[0])?;
    let mut order: Option<Value> = None;
    for (key, value) in keys.iter().zip(&values).rev() {
        let Held::Tensor(value) = value else { return Ok(None) };
        let mut value = e.broadcast(*value, &shape)?;
        if key.comparison.word("compare_type") == Some("TOTALORDER") && e.dtype(value)?.is_float() {
            value = ordered_key(e, value)?;
        }
        order = Some(match order {
            None => order_of(e, value, axis, key.descending)?,
            Some(before) => {
                let value = taken(e, value, before, axis)?;
                let next = order_of(e, value, axis, key.descending)?;
                taken(e, before, next, axis)?
            }
        });
    }
    Ok(order)
}

/// The order by the number of elements before each one.
fn by_pairs<'c, 'p>(
    e: &mut Emitter<'c, 'p>,
    op: &'p Operation,
    region: &'p Block,
    x: &[Held<'c>],
    axis: usize,
    extent: usize,
) -> Outcome<Value<'c>> {
    if extent > MOST_PAIRS {
        return op.fault(format!(
            "a comparator that looks at no keys sorts {MOST_PAIRS} elements at most; compare with LT or GT"
        ));
    }
    // [.., n, 1, ..] is compared with [.., 1, n, ..].
    let (mut rows, mut columns) = (Vec::new(), Vec::new());
    let mut rank = 0;
    for i in 0..x.len() {
        let (mut row, mut column) = (Vec::new(), Vec::new());
        for part in e.parts(op, x, i)? {
            let shape = e.shape(part)?;
            rank = shape.len();
            let (mut low, mut high) = (shape.clone(), shape);
            low.insert(axis + 1, 1);
            high.insert(axis, 1);
            row.push(e.reshape(part, &low)?);
            column.push(e.reshape(part, &high)?);
        }
        rows.push(Emitter::of_parts(&row));
        columns.push(Emitter::of_parts(&column));
    }
    let both =
        |a: &[Held<'c>], b: &[Held<'c>]| a.iter().zip(b).flat_map(|(a, b)| [a.clone(), b.clone()]).collect();
    let results = lifted(e, region, both(&columns, &rows))?;
    // Whether the element of the column is before that of the row.
    let before = e.tensor(op, &results, 0)?;
    let results = lifted(e, region, both(&rows, &columns))?;
    let behind = e.tensor(op, &results, 0)?;
    let (i, j) = (
        e.iota_along(DType::I32, extent, axis, rank + 1)?,
        e.iota_along(DType::I32, extent, axis + 1, rank + 1)?,
    );
    let earlier = e.less(j, i)?;
    let not_behind = e.not(behind)?;
    let tied = e.and(not_behind, earlier)?;
    let counts = e.or(before, tied)?;
    let counts = e.cast(counts, DType::I32)?;
    let place = e.reduce(&red::REDUCE_SUM, counts, &[axis + 1])?;
    order_of(e, place, axis, false)
}
