//! Products of matrices by Strassen's algorithm, in three stages:
//!
//!     left              a[t, i, k]   the sums of quarters of the left side
//!     products          p[t, i, j]   sum_k a[t, i, k] u[t, k, j]
//!     matmul_strassen  y[i, j]      sums of p[.., i mod M/2, j mod N/2], which ones by the quarter that i and j are in
//!
//! Each element is chosen from all seven or four sums: where the loop over them is unrolled, which the schedule does inside of the others
//! (`te/auto_schedule/strassen`), all are made of one load of each operand, and no choice is left.

use super::sparse::apply;
use super::{Built, Table, TeCall};
use fusion_dialects::Value;
use fusion_dialects::te::{Combine, Compare, Kernel, Scalar, Scalars};
use fusion_operators::ops::strassen::{LEFT, MATMUL_STRASSEN, PRODUCTS, RESULT, RIGHT, STRASSEN_SUMS};
use fusion_operators::ops::winograd::Matrix;
use fusion_operators::{DType, TensorType};

pub const TABLE: Table = &[(&MATMUL_STRASSEN, matmul), (&STRASSEN_SUMS, sums)];

fn matmul<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let (left, sums) = (call.shape(0), call.shape(1));
    let ([rows, _], [_, depth, width]) = (&left[..], &sums[..]) else { return Ok(Vec::new()) };
    let (height, width) = (rows / 2, *width);
    let of = |extents: &[u64]| TensorType::fixed(extents, DType::F32);

    let quarters = of(&[PRODUCTS as u64, height, *depth]);
    let a = kernel.compute("left", &quarters, |s, at| {
        chosen(s, &quarter_sums(s, LEFT, call.operands[0], [height, *depth], &at[1..]), at[0])
    });
    let products = of(&[PRODUCTS as u64, height, width]);
    let u = call.operands[1];
    let p = kernel.reduce("products", &products, &[*depth], Combine::Sum, |s, at, over| {
        s.mul(s.load(a, &[at[0], at[1], over[0]]), s.load(u, &[at[0], over[0], at[2]]))
    });
    let y = kernel.compute(call.op.name, &call.results[0], |s, at| {
        let (i, j) = (s.index_mod(at[0], height as i64), s.index_mod(at[1], width as i64));
        let products: Vec<Scalar> = (0..PRODUCTS).map(|t| s.load(p, &[s.index(t as i64), i, j])).collect();
        let quarters = apply(s, RESULT, &products);
        let above = s.index_compare(Compare::Less, at[0], s.index(height as i64));
        let before = s.index_compare(Compare::Less, at[1], s.index(width as i64));
        let [upper, lower] = [0, 2].map(|q| s.select(before, quarters[q], quarters[q + 1]));
        s.select(above, upper, lower)
    });
    Ok(vec![y])
}

fn sums<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let shape = call.shape(0);
    let [rows, columns] = shape[..] else { return Ok(Vec::new()) };
    Ok(vec![kernel.compute(call.op.name, &call.results[0], |s, at| {
        chosen(s, &quarter_sums(s, RIGHT, call.operands[0], [rows / 2, columns / 2], &at[1..]), at[0])
    })])
}

/// The sums of a matrix's quarters of those extents, at a place of each.
fn quarter_sums<'c>(
    s: &Scalars<'c>,
    by: [Matrix; 2],
    of: Value<'c>,
    [height, width]: [u64; 2],
    at: &[Value<'c>],
) -> Vec<Scalar<'c>> {
    let behind = |index: Value<'c>, is: bool, extent: u64| {
        if is { s.index_affine(index, 1, extent as i64) } else { index }
    };
    let quarter = |q: usize| s.load(of, &[behind(at[0], q > 1, height), behind(at[1], q % 2 == 1, width)]);
    apply(s, by, &[quarter(0), quarter(1), quarter(2), quarter(3)])
}

/// The one of some values that an index names.
fn chosen<'c>(s: &Scalars<'c>, of: &[Scalar<'c>], index: Value<'c>) -> Scalar<'c> {
    let (last, others) = (of.len() - 1, of.iter().enumerate().rev().skip(1));
    others.fold(of[last], |rest, (t, value)| {
        s.select(s.index_compare(Compare::Equal, index, s.index(t as i64)), *value, rest)
    })
}
