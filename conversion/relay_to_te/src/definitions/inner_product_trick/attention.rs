//! Attention with both of its products by the inner-product trick, in stages that a schedule computes for a few rows at a time:
//!
//!     queries, keys, values   sides of the products: divided by powers of two, and their own sums
//!     products  p[i, j]   of queries and keys
//!     scores    t[i, j]   s[i] s[j] scale (p[i, j] - own[i] - own[j]) + bias[i, j]
//!     largest   m[i]      max_j t[i, j]
//!     weights   e[i, j]   exp(t[i, j] - m[i]), and zeros behind: from 0 to 1, so that nothing is to be divided
//!     total     z[i]      sum_j e[i, j]
//!     products  o[i, d]   of weights and values
//!     attention y[i, d]   s[d] (o[i, d] - own[i] - own[d]) / z[i]

use super::side::{Side, Source, own};
use super::{of, products};
use crate::definitions::elementwise::broadcast_indices;
use crate::definitions::{Built, TeCall};
use fusion_dialects::Value;
use fusion_dialects::te::{Combine, Compare, Kernel, Scalars};
use fusion_operators::DType;
use fusion_operators::ops::inner_product_trick::PARTS;

/// The extents of an attention.
struct Sizes<'s> {
    lead: &'s [u64],
    queries: u64,
    width: u64,
    keys: u64,
    columns: u64,
}

/// The stages.
pub fn define<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let (q, v) = (call.shape(0), call.shape(2));
    let ([lead @ .., queries, width], [.., keys, columns]) = (&q[..], &v[..]) else { return Ok(Vec::new()) };
    let sizes = Sizes { lead, queries: *queries, width: *width, keys: *keys, columns: *columns };
    let (rank, padded) = (q.len(), sizes.keys.next_multiple_of(PARTS));
    let rows = [lead, &[sizes.queries]].concat();
    let of_keys = |n: u64| [&rows[..], &[n]].concat();

    let scores = scores(kernel, call, &sizes);
    let over_keys = |at: &[Value<'c>], j: Value<'c>| [&at[..rank - 1], &[j]].concat();
    let largest = kernel.reduce("largest", &of(&rows), &[sizes.keys], Combine::MaxNumber, |s, at, over| {
        s.load(scores, &over_keys(at, over[0]))
    });
    let weights = kernel.compute("weights", &of(&of_keys(padded)), |s, at| {
        let inside = s.index_compare(Compare::Less, at[rank - 1], s.index(sizes.keys as i64));
        let score = s.load_if(inside, scores, at, s.float(f64::NEG_INFINITY, DType::F32));
        s.math("exp", &[s.sub(score, s.load(largest, &at[..rank - 1]))])
    });
    let total = kernel.reduce("total", &of(&rows), &[sizes.keys], Combine::Sum, |s, at, over| {
        s.load(weights, &over_keys(at, over[0]))
    });
    let own_weights = own(kernel, &rows, padded, &|s, at, k| s.load(weights, &over_keys(at, k)));
    let place = |_: &Scalars<'c>, at: &[Value<'c>], k| [&at[..rank - 2], &[k, at[rank - 2]]].concat();
    let source = Source { tensor: call.operands[2], depth: sizes.keys, place: &place };
    let values = Side::by_columns(kernel, "values", lead, sizes.columns, &source);
    let weight = |s: &Scalars<'c>, at: &[Value<'c>], k| s.load(weights, &over_keys(at, k));
    let value = |s: &Scalars<'c>, at: &[Value<'c>], k| {
        s.load(values.scaled, &[&at[..rank - 2], &[k, at[rank - 1]]].concat())
    };
    let sums = products(kernel, &of_keys(sizes.columns), values.each, &weight, &value);
    let y = kernel.compute(call.op.name, &call.results[0], |s, at| {
        let (row, column) = (&at[..rank - 1], [&at[..rank - 2], &at[rank - 1..]].concat());
        let sum = s.sub(s.load(sums, at), s.add(s.load(own_weights, row), s.load(values.own, &column)));
        s.div(s.mul(sum, s.load(values.power, &column)), s.load(total, row))
    });
    Ok(vec![y])
}

/// The scores, with scale and bias.
fn scores<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>, sizes: &Sizes) -> Value<'c> {
    let rank = sizes.lead.len() + 2;
    let scale = call.attrs.float_or("scale", 1.0);
    let place = |_: &Scalars<'c>, row: &[Value<'c>], k| [row, &[k]].concat();
    let side = |name: &str, operand: usize, rows: u64| {
        let source = Source { tensor: call.operands[operand], depth: sizes.width, place: &place };
        Side::by_rows(kernel, name, &[sizes.lead, &[rows]].concat(), &source)
    };
    let queries = side("queries", 0, sizes.queries);
    let keys = side("keys", 1, sizes.keys);
    let key_of = |at: &[Value<'c>]| [&at[..rank - 2], &[at[rank - 1]]].concat();
    let query =
        |s: &Scalars<'c>, at: &[Value<'c>], k| s.load(queries.scaled, &[&at[..rank - 1], &[k]].concat());
    let key = |s: &Scalars<'c>, at: &[Value<'c>], k| s.load(keys.scaled, &[&key_of(at)[..], &[k]].concat());
    let extents = [sizes.lead, &[sizes.queries, sizes.keys]].concat();
    let sums = products(kernel, &extents, queries.each, &query, &key);
    let all = of(&extents);
    kernel.compute("scores", &all, |s, at| {
        let (row, key) = (&at[..rank - 1], key_of(at));
        let sum = s.sub(s.load(sums, at), s.add(s.load(queries.own, row), s.load(keys.own, &key)));
        let of_row = s.mul(s.load(queries.power, row), s.float(scale, DType::F32));
        let score = s.mul(s.mul(sum, s.load(keys.power, &key)), of_row);
        match call.operands.get(3) {
            None => score,
            Some(&bias) => s.add(score, s.load(bias, &broadcast_indices(s, at, call.dims(3), &all.dims))),
        }
    })
}
