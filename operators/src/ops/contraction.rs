//! Matrix products.
//!
//! `c[..., i, j] = sum_k a[..., i, k] * b[..., k, j]`, leading dimensions broadcast
//! (NumPy manual, `numpy.matmul`; ONNX `MatMul`); dense is `y[..., n] = sum_k x[..., k] * w[n, k]`.

use crate::form::{Form, dtype, flag, form, operand};
use crate::operator::{Reference, Related, Relation, cost::elements};
use crate::quantization::{DATA, Operand, Partition, Quantization, WEIGHT};
use crate::reference::contraction as reference;
use crate::relation::{broadcast_dims, product_dtype};
use crate::{Attrs, Call, Dim, FusionKind, Operator, TensorType, Violation, operators, require};

const fn row(name: &'static str, relation: Relation, cost: crate::operator::Cost, is: Reference) -> Operator {
    Operator::new(name, FusionKind::Contraction, relation, cost, is)
}

/// Leading dimensions, rows and columns of an operand of rank 2 or more, after its transposition.
fn matrix(ty: &TensorType, transposed: bool) -> Option<(&[Dim], &Dim, &Dim)> {
    let (lead, [rows, cols]) = ty.dims.split_last_chunk()?;
    Some(if transposed { (lead, cols, rows) } else { (lead, rows, cols) })
}

/// C1 as [`product_dtype`]. C2: operands have rank 2 or more. C3: the extents summed over
/// agree. C4: leading dimensions broadcast.
fn matmul(call: &Call) -> Related {
    let (a, b) = (&call.operands[0], &call.operands[1]);
    let sums = product_dtype(call)?;
    let (Some((lead_a, i, k)), Some((lead_b, l, j))) =
        (matrix(a, call.attrs.flag("transpose_a")), matrix(b, call.attrs.flag("transpose_b")))
    else {
        return Err(Violation::new(2, format!("operands must have rank 2 or more, found {a} and {b}")));
    };
    require!(k.compatible(l), C 3, "the extents summed over must agree, found {k} of {a} and {l} of {b}");
    let Some(mut dims) = broadcast_dims(lead_a, lead_b) else {
        return Err(Violation::new(4, format!("leading dimensions must broadcast, found {a} and {b}")));
    };
    dims.extend([i.clone(), j.clone()]);
    Ok(vec![TensorType::new(dims, sums)])
}

/// C1 to C4 as [`matmul`]. C5: operands have rank 3.
fn batch_matmul(call: &Call) -> Related {
    let (a, b) = (&call.operands[0], &call.operands[1]);
    require!(a.rank() == 3 && b.rank() == 3, C 5, "operands must have rank 3, found {a} and {b}");
    matmul(call)
}

/// C1 as [`product_dtype`]. C2: the weight has rank 2, the data rank 1 or more. C3: the
/// extents summed over agree.
fn dense(call: &Call) -> Related {
    let (data, weight) = (&call.operands[0], &call.operands[1]);
    let sums = product_dtype(call)?;
    let ([lead @ .., k], [n, l]) = (&data.dims[..], &weight.dims[..]) else {
        return Err(Violation::new(
            2,
            format!("the weight must have rank 2 and the data rank 1 or more, found {weight} and {data}"),
        ));
    };
    require!(k.compatible(l), C 3, "the extents summed over must agree, found {k} of {data} and {l} of {weight}");
    Ok(vec![TensorType::new([lead, std::slice::from_ref(n)].concat(), sums)])
}

/// A multiplication and an addition for each element of the result and each `k`.
fn multiply_adds(results: &[TensorType], summed: [Option<&Dim>; 2]) -> f64 {
    let known = summed.into_iter().flatten().find_map(Dim::known);
    2.0 * elements(&results[..1]) * known.unwrap_or(1) as f64
}

fn matmul_cost(call: &Call, results: &[TensorType]) -> f64 {
    let a = matrix(&call.operands[0], call.attrs.flag("transpose_a")).map(|(_, _, k)| k);
    let b = matrix(&call.operands[1], call.attrs.flag("transpose_b")).map(|(_, k, _)| k);
    multiply_adds(results, [a, b])
}

fn dense_cost(call: &Call, results: &[TensorType]) -> f64 {
    multiply_adds(results, [call.operands[0].dims.last(), call.operands[1].dims.last()])
}

const MATMUL_FORM: Form = form(&[operand("a"), operand("b")]).attributes(&[
    flag("transpose_a"),
    flag("transpose_b"),
    dtype("out_dtype"),
]);

/// The axis of the second operand that becomes the columns of the result.
fn columns(attrs: &Attrs, operands: &[TensorType]) -> Option<usize> {
    let last = operands[1].rank().checked_sub(1)?;
    if attrs.flag("transpose_b") { last.checked_sub(1) } else { Some(last) }
}

const PRODUCTS: &Quantization = &Quantization {
    partition: Partition::Sums,
    operands: &[
        Operand { place: 0, computed: DATA, constant: WEIGHT, channels: |_, _| None },
        Operand { place: 1, computed: DATA, constant: WEIGHT, channels: columns },
    ],
};
const DENSE_PRODUCTS: &Quantization = &Quantization {
    partition: Partition::Sums,
    operands: &[
        Operand { place: 0, computed: DATA, constant: WEIGHT, channels: |_, _| None },
        Operand { place: 1, computed: DATA, constant: WEIGHT, channels: |_, _| Some(0) },
    ],
};

operators! {
    /// c[..., i, j] = sum_k a[..., i, k] * b[..., k, j]
    ///
    /// Leading dimensions broadcast; a transposed operand has its last two dimensions swapped. The result and all sums are of the
    /// operands' type; where `out_dtype` is given, of that: products of i8 and ui8 are summed as i32 so.
    /// - C1: operands have one element type; with `out_dtype` both are of integers, or of one type of floats, and it
    ///   is of the same class and as wide.
    /// - C2: operands have rank 2 or more.
    /// - C3: the extents summed over agree.
    /// - C4: leading dimensions broadcast.
    MATMUL = row("matmul", matmul, matmul_cost, reference::matmul).of(MATMUL_FORM).quantized(PRODUCTS);
    /// c[b, i, j] = sum_k x[b, i, k] * y[b, k, j]
    ///
    /// As relay.matmul. C5: operands have rank 3.
    BATCH_MATMUL = row("batch_matmul", batch_matmul, matmul_cost, reference::matmul).of(MATMUL_FORM).quantized(PRODUCTS);
    /// y[..., n] = sum_k x[..., k] * w[n, k]
    ///
    /// The type of the result as in relay.matmul.
    /// - C1: operands have one element type, or as in relay.matmul with `out_dtype`.
    /// - C2: the weight has rank 2, the data rank 1 or more.
    /// - C3: the extents summed over agree.
    DENSE = row("dense", dense, dense_cost, reference::dense).of(form(&[operand("data"), operand("weight")]).attributes(&[dtype("out_dtype")])).quantized(DENSE_PRODUCTS);
}
