//! Matrix products: `c[..., i, j] = sum_k a[..., i, k] * b[..., k, j]`, leading dimensions broadcast;
//! dense is `y[..., n] = sum_k x[..., k] * w[n, k]`.

use super::elementwise::broadcast_indices;
use super::{Table, TeCall};
use fusion_dialects::Value;
use fusion_dialects::te::{Combine, Kernel};
use fusion_operators::Dim;
use fusion_operators::ops::contraction::*;

pub const TABLE: Table = &[(&MATMUL, matmul), (&BATCH_MATMUL, matmul), (&DENSE, dense)];

fn matmul<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Result<Vec<Value<'c>>, String> {
    let (a, b) = (call.dims(0), call.dims(1));
    let (Some((lead_a, [rows, cols])), Some((lead_b, _))) =
        (a.split_last_chunk::<2>(), b.split_last_chunk::<2>())
    else {
        return Err(format!(
            "multiplies {} and {}, which must have rank 2 or more",
            call.types[0], call.types[1]
        ));
    };
    let (transpose_a, transpose_b) = (call.attrs.flag("transpose_a"), call.attrs.flag("transpose_b"));
    let depth = if transpose_a { rows } else { cols };
    let to = &call.results[0].dims[..call.results[0].rank() - 2];
    let product = kernel.reduce(
        call.op.name,
        &call.results[0],
        std::slice::from_ref(depth),
        Combine::Sum,
        |s, axes, over| {
            let (lead, matrix) = axes.split_at(axes.len() - 2);
            let (i, j, k) = (matrix[0], matrix[1], over[0]);
            let operand = |n: usize, from: &[Dim], [row, col]: [Value<'c>; 2], transposed: bool| {
                let mut indices = broadcast_indices(s, lead, from, to);
                indices.extend(if transposed { [col, row] } else { [row, col] });
                s.load(call.operands[n], &indices)
            };
            let (x, y) = (operand(0, lead_a, [i, k], transpose_a), operand(1, lead_b, [k, j], transpose_b));
            s.product(x, y, call.results[0].dtype)
        },
    );
    Ok(vec![product])
}

fn dense<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Result<Vec<Value<'c>>, String> {
    let depth = call.dims(1).last().cloned().unwrap_or(Dim::Static(1));
    let product = kernel.reduce(call.op.name, &call.results[0], &[depth], Combine::Sum, |s, axes, over| {
        let (lead, unit) = axes.split_at(axes.len() - 1);
        let data = s.load(call.operands[0], &[lead, over].concat());
        s.product(data, s.load(call.operands[1], &[unit, over].concat()), call.results[0].dtype)
    });
    Ok(vec![product])
}
