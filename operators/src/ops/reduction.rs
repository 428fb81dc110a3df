//! Operators that combine many elements into one: reductions, argmax, scans, topk.
//!
//! `y[o...] = f over r of x[o..., r...]`. After NumPy's reductions and the ONNX operators Reduce*,
//! ArgMax, ArgMin, CumSum, CumProd and TopK.

use crate::form::{Form, dim, flag, form, int, ints, operand};
use crate::operator::cost::{one_each, one_each_input};
use crate::operator::{Reference, Related};
pub use crate::parameters::reduction::{axis, reduced_axes, topk_axis};
use crate::reference::reduction;
use crate::relation::int_attr;
use crate::{Call, DType, Dim, FusionKind, Operator, Precision, Relation, Violation, operators, require};

const fn many_to_one(name: &'static str, relation: Relation, reference: Reference) -> Operator {
    Operator::new(name, FusionKind::Reduction, relation, one_each_input, reference)
}

const fn scan(name: &'static str, reference: Reference) -> Operator {
    Operator::new(name, FusionKind::Opaque, scan_relation, one_each, reference)
}

/// C1.
fn reduce_relation(call: &Call) -> Related {
    let mut ty = call.operands[0].clone();
    let axes = reduced_axes(call)?;
    let keepdims = call.attrs.flag("keepdims");
    let dims = ty.dims.into_iter().enumerate().filter_map(|(a, dim)| match axes.contains(&a) {
        false => Some(dim),
        true => keepdims.then_some(Dim::Static(1)),
    });
    ty.dims = dims.collect();
    Ok(vec![ty])
}

/// C1. C2: of floats.
fn float_relation(call: &Call) -> Related {
    let ty = &call.operands[0];
    let result = reduce_relation(call)?;
    require!(ty.dtype.is_float(), C 2, "the operand must be a float tensor, found {ty}");
    Ok(result)
}

/// C1. C2: of booleans.
fn bool_relation(call: &Call) -> Related {
    let ty = &call.operands[0];
    let result = reduce_relation(call)?;
    require!(ty.dtype == DType::Bool, C 2, "the operand must be boolean (i1), found {ty}");
    Ok(result)
}

/// C1. C2: the axis is not empty.
fn arg_relation(call: &Call) -> Related {
    let mut ty = call.operands[0].with_dtype(DType::I64);
    let axis = axis(call)?;
    require!(ty.dims[axis] != Dim::Static(0), C 2, "axis {axis} of {} is empty", call.operands[0]);
    if call.attrs.flag("keepdims") {
        ty.dims[axis] = Dim::Static(1);
    } else {
        ty.dims.remove(axis);
    }
    Ok(vec![ty])
}

/// C1. C2: not boolean.
fn scan_relation(call: &Call) -> Related {
    let ty = &call.operands[0];
    axis(call)?;
    require!(ty.dtype != DType::Bool, C 2, "the operand must not be boolean, found {ty}");
    Ok(vec![ty.clone()])
}

/// C1. C2: 0 <= k <= extent.
fn topk_relation(call: &Call) -> Related {
    let mut ty = call.operands[0].clone();
    let axis = topk_axis(call)?;
    let extent = &ty.dims[axis];
    // Of names and expressions, run time compares.
    let fits = |k: &Dim| match (k.known(), extent.known()) {
        (Some(k), Some(extent)) => k <= extent,
        _ => *k != Dim::Any,
    };
    let Some(count) = call.attrs.dim("k").filter(fits) else {
        let k = match call.attrs.dim("k") {
            None | Some(Dim::Any) => int_attr(call, "k", 2)?.to_string(),
            Some(k) => k.to_string(),
        };
        return Err(Violation::new(2, format!("k is {k}, expected 0 to extent {extent} of axis {axis}")));
    };
    ty.dims[axis] = count;
    let indices = ty.with_dtype(DType::I64);
    Ok(vec![ty, indices])
}

const REDUCE: Form = form(&[operand("data")])
    .attributes(&[ints("axes"), flag("keepdims")])
    .about("Over `axes`, all of them when absent. C1: axes are in range and named once.");
const ARG: Form =
    form(&[operand("data")]).attributes(&[int("axis"), flag("keepdims"), flag("select_last")]).about(
        "Along `axis` (0 when absent), as i64; among equals the first, or with `select_last` the last. C1: \
     axis is in range. C2: the axis is not empty.",
    );
const SCAN: Form =
    form(&[operand("data")]).attributes(&[int("axis"), flag("exclusive"), flag("reverse")]).about(
        "Along `axis` (0 when absent); `exclusive` leaves out the element itself; `reverse` runs from the \
     end. C1: axis is in range. C2: not boolean.",
    );

operators! {
    /// Sum
    REDUCE_SUM = many_to_one("reduce_sum", reduce_relation, reduction::sum).of(REDUCE);
    /// Mean (C2: of floats)
    ///
    /// The sum over the count: of nothing it is NaN.
    REDUCE_MEAN = many_to_one("reduce_mean", float_relation, reduction::mean).of(REDUCE);
    /// Product
    REDUCE_PROD = many_to_one("reduce_prod", reduce_relation, reduction::prod).of(REDUCE);
    /// Greatest element; NaN when one is
    ///
    /// Of nothing it is the least value of the type.
    REDUCE_MAX = many_to_one("reduce_max", reduce_relation, reduction::max).of(REDUCE).computes(Precision::Follow);
    /// Least element; NaN when one is
    ///
    /// Of nothing it is the greatest value of the type.
    REDUCE_MIN = many_to_one("reduce_min", reduce_relation, reduction::min).of(REDUCE).computes(Precision::Follow);
    /// Whether all are true (C2: of booleans)
    REDUCE_ALL = many_to_one("reduce_all", bool_relation, reduction::min).of(REDUCE);
    /// Whether one is true (C2: of booleans)
    REDUCE_ANY = many_to_one("reduce_any", bool_relation, reduction::max).of(REDUCE);
    /// Index of the greatest element; of NaN when there is one
    ARGMAX = many_to_one("argmax", arg_relation, |c, r, x| reduction::arg(c, &r[0], &x[0], true)).of(ARG);
    /// Index of the least element; of NaN when there is one
    ARGMIN = many_to_one("argmin", arg_relation, |c, r, x| reduction::arg(c, &r[0], &x[0], false)).of(ARG);
    /// Running sum
    CUMSUM = scan("cumsum", |c, _, x| reduction::scan(c, &x[0], (0, i128::wrapping_add), (0.0, |a, b| a + b))).of(SCAN);
    /// Running product
    CUMPROD = scan("cumprod", |c, _, x| reduction::scan(c, &x[0], (1, i128::wrapping_mul), (1.0, |a, b| a * b))).of(SCAN);
    /// The k greatest (or least) elements along `axis`, sorted, and their indices as i64
    ///
    /// `axis` is -1 when absent; `smallest` takes the least; equals keep their order; NaN counts as greater than all numbers. `k` may be an extent that has a name. C1: axis is in range. C2: 0 <= k <= extent.
    TOPK = Operator { fusion: FusionKind::Opaque, ..many_to_one("topk", topk_relation, reduction::topk) }
        .of(form(&[operand("data")])
            .attributes(&[dim("k").required(), int("axis"), flag("smallest")])
            .results(&[operand("values"), operand("indices")]));
}
