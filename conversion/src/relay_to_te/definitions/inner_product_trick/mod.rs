//! Products of matrices by the inner-product trick (`operators/ops/inner_product_trick` has the equations): of each side, in stages of their own ([`Side`]),
//!
//!     power    s[i]     max_k 2^floor(log2 |x[i, k]|)
//!     left     a[i, k]  x[i, k] / s[i], and zeros behind
//!     own      o[i]     sum_q a[i, q] a[i, q + Q] - a[i, q + 3 Q] a[i, q + 4 Q]
//!
//! and of both
//!
//!     products p[i, j]  sum_q, t  one of four products, by t
//!     y[i, j]  s[i] t[j] (p[i, j] - o[i] - own[j])
//!
//! Which product it is is chosen: where the loop over them is unrolled, which the schedules do (`te/auto_schedule/inner_product_trick`), no choice is left.
//! Multiplying as they are and in pairs take turns, so that adders and multipliers work at the same time.

pub mod attention;
mod side;

use super::{Built, Table, TeCall};
use fusion_dialects::Value;
use fusion_dialects::te::{Combine, Compare, Kernel, Scalar, Scalars};
use fusion_operators::ops::inner_product_trick::{
    CONV2D_INNER_PRODUCT_TRICK, INNER_PRODUCT_TRICK_RIGHT, MATMUL_INNER_PRODUCT_TRICK, lies_along_places,
};
use fusion_operators::{DType, TensorType};
use side::{Side, Source, part_of};

pub const TABLE: Table = &[
    (&MATMUL_INNER_PRODUCT_TRICK, matmul),
    (&CONV2D_INNER_PRODUCT_TRICK, pointwise),
    (&INNER_PRODUCT_TRICK_RIGHT, right),
];

/// Products that are added up for one number of each part.
const PRODUCTS: u64 = 4;

fn of(extents: &[u64]) -> TensorType {
    TensorType::fixed(extents, DType::F32)
}

fn matmul<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let (left, result) = (call.shape(0), call.result_shape(0));
    let [outer @ .., depth] = &left[..] else { return Ok(Vec::new()) };
    let last = left.len() - 1;
    let (x, u) = (call.operands[0], call.operands[1]);
    let place = |_: &Scalars<'c>, row: &[Value<'c>], k| [row, &[k]].concat();
    let side = Side::by_rows(kernel, "left", outer, &Source { tensor: x, depth: *depth, place: &place });
    let row = |s: &Scalars<'c>, at: &[Value<'c>], k| s.load(side.scaled, &[&at[..last], &[k]].concat());
    let column =
        |s: &Scalars<'c>, at: &[Value<'c>], k| s.load(u, &[&at[..last - 1], &[k, at[last]]].concat());
    let p = products(kernel, &result, side.each, &row, &column);
    let y = kernel.compute(call.op.name, &call.results[0], |s, at| {
        let behind = |n: u64| column(s, at, s.index((side.padded() + n) as i64));
        let sum = s.sub(s.load(p, at), s.add(s.load(side.own, &at[..last]), behind(0)));
        s.mul(s.mul(sum, s.load(side.power, &at[..last])), behind(1))
    });
    Ok(vec![y])
}

/// The same of the numbers of all channels at a place, with places as one axis, along which they lie.
fn pointwise<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let (image, filters) = (call.shape(0), call.result_shape(0)[1]);
    let &[images, depth, height, width] = &image[..] else { return Ok(Vec::new()) };
    let places = height * width;
    let (x, u) = (call.operands[0], call.operands[1]);
    let place = |s: &Scalars<'c>, at: &[Value<'c>], k| {
        vec![at[0], k, s.index_div(at[1], width as i64), s.index_mod(at[1], width as i64)]
    };
    let source = Source { tensor: x, depth, place: &place };
    let side = Side::by_columns(kernel, "left", &[images], places, &source);
    let data = |s: &Scalars<'c>, at: &[Value<'c>], k| s.load(side.scaled, &[at[0], k, at[2]]);
    let weight = |s: &Scalars<'c>, at: &[Value<'c>], k| s.load(u, &[k, at[1]]);
    let sums = [images, filters, places];
    // What is used in all lanes is what is added, or taken away.
    let p = match lies_along_places(places, filters) {
        true => products(kernel, &sums, side.each, &weight, &data),
        false => products(kernel, &sums, side.each, &data, &weight),
    };
    let y = kernel.compute(call.op.name, &call.results[0], |s, at| {
        let behind = |n: u64| weight(s, at, s.index((side.padded() + n) as i64));
        let place = s.index_add(s.index_affine(at[2], width as i64, 0), at[3]);
        let of_place = |of: Value<'c>| s.load(of, &[at[0], place]);
        let sum = s.sub(s.load(p, &[at[0], at[1], place]), s.add(of_place(side.own), behind(0)));
        s.mul(s.mul(sum, of_place(side.power)), behind(1))
    });
    Ok(vec![y])
}

fn right<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let shape = call.shape(0);
    let [lead @ .., depth, columns] = &shape[..] else { return Ok(Vec::new()) };
    let rank = shape.len();
    let place = |_: &Scalars<'c>, at: &[Value<'c>], k| [&at[..rank - 2], &[k, at[rank - 2]]].concat();
    let source = Source { tensor: call.operands[0], depth: *depth, place: &place };
    let side = Side::by_columns(kernel, "scaled", lead, *columns, &source);
    let y = kernel.compute(call.op.name, &call.results[0], |s, at| {
        let column = [&at[..rank - 2], &at[rank - 1..]].concat();
        let below =
            |n: u64| s.index_compare(Compare::Less, at[rank - 2], s.index((side.padded() + n) as i64));
        let behind = s.select(below(1), s.load(side.own, &column), s.load(side.power, &column));
        s.load_if(below(0), side.scaled, at, behind)
    });
    Ok(vec![y])
}

/// An element of a side, at a point of the product and a number summed over.
type Read<'c, 'f> = &'f dyn Fn(&Scalars<'c>, &[Value<'c>], Value<'c>) -> Scalar<'c>;

/// The sums of products of two sides, with so many numbers in a part.
fn products<'c>(
    kernel: &Kernel<'c>,
    extents: &[u64],
    each: u64,
    x: Read<'c, '_>,
    u: Read<'c, '_>,
) -> Value<'c> {
    kernel.reduce("products", &of(extents), &[each, PRODUCTS], Combine::Sum, |s, at, over| {
        let [x, u] = [x, u].map(|side| move |part: u64| side(s, at, part_of(s, over[0], part, each)));
        product(s, over[1], x, u)
    })
}

/// One of the four products, of differences `u - x`.
fn product<'c>(
    s: &Scalars<'c>,
    which: Value<'c>,
    x: impl Fn(u64) -> Scalar<'c>,
    u: impl Fn(u64) -> Scalar<'c>,
) -> Scalar<'c> {
    let (sums, differences) = ([(0, 1), (1, 0)], [(3, 4), (4, 3)]);
    let [a, b] = sums.map(|(of_x, of_u)| s.add(x(of_x), u(of_u)));
    let [c, d] = differences.map(|(of_x, of_u)| s.sub(u(of_u), x(of_x)));
    let products = [s.mul(x(2), u(2)), s.mul(a, b), s.mul(x(5), u(5)), s.mul(s.neg(c), d)];
    let [first @ .., last] = products;
    first.into_iter().enumerate().rev().fold(last, |rest, (t, product)| {
        s.select(s.index_compare(Compare::Equal, which, s.index(t as i64)), product, rest)
    })
}
