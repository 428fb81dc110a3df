//! Operators that combine many elements into one: reductions, argmax, scans, topk.
//!
//! `y[o...] = f over r of x[o..., r...]`. After NumPy's reductions and the ONNX operators Reduce*,
//! ArgMax, ArgMin, CumSum, CumProd and TopK.

use crate::operator::cost::{one_each, one_each_input};
use crate::operator::{Reference, Related};
pub use crate::parameters::reduction::{axis, reduced_axes, topk_axis};
use crate::reference::reduction;
use crate::relation::int_attr;
use crate::{Call, DType, Dim, FusionKind, Operator, Relation, Violation, operators, require};

const fn many_to_one(name: &'static str, relation: Relation, reference: Reference) -> Operator {
    Operator { name, arity: (1, 1), relation, fusion: FusionKind::Reduction, cost: one_each_input, reference }
}

const fn scan(name: &'static str, reference: Reference) -> Operator {
    Operator {
        name,
        arity: (1, 1),
        relation: scan_relation,
        fusion: FusionKind::Opaque,
        cost: one_each,
        reference,
    }
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
    let k = int_attr(call, "k", 2)?;
    let extent = &ty.dims[axis];
    let count = u64::try_from(k).ok().filter(|&k| extent.known().is_none_or(|n| k <= n));
    let Some(count) = count else {
        return Err(Violation::new(2, format!("k is {k}, expected 0 to extent {extent} of axis {axis}")));
    };
    ty.dims[axis] = Dim::Static(count);
    let indices = ty.with_dtype(DType::I64);
    Ok(vec![ty, indices])
}

operators! {
    REDUCE_SUM = many_to_one("reduce_sum", reduce_relation, reduction::sum);
    /// Sum over count; NaN of nothing
    REDUCE_MEAN = many_to_one("reduce_mean", float_relation, reduction::mean);
    REDUCE_PROD = many_to_one("reduce_prod", reduce_relation, reduction::prod);
    /// NaN when an element is; of nothing, the least value of the type
    REDUCE_MAX = many_to_one("reduce_max", reduce_relation, reduction::max);
    /// NaN when an element is; of nothing, the greatest value of the type
    REDUCE_MIN = many_to_one("reduce_min", reduce_relation, reduction::min);
    /// Whether all are true
    REDUCE_ALL = many_to_one("reduce_all", bool_relation, reduction::min);
    /// Whether one is true
    REDUCE_ANY = many_to_one("reduce_any", bool_relation, reduction::max);
    /// Index of the greatest element; of NaN when there is one
    ARGMAX = many_to_one("argmax", arg_relation, |c, r, x| reduction::arg(c, &r[0], &x[0], true));
    /// Index of the least element; of NaN when there is one
    ARGMIN = many_to_one("argmin", arg_relation, |c, r, x| reduction::arg(c, &r[0], &x[0], false));
    /// `y[i] = sum over j <= i of x[j]`
    CUMSUM = scan("cumsum", |c, _, x| reduction::scan(c, &x[0], (0, i128::wrapping_add), (0.0, |a, b| a + b)));
    /// `y[i] = product over j <= i of x[j]`
    CUMPROD = scan("cumprod", |c, _, x| reduction::scan(c, &x[0], (1, i128::wrapping_mul), (1.0, |a, b| a * b)));
    /// The k greatest or least, sorted, and where they are; NaN counts as greater than all numbers
    TOPK = Operator { fusion: FusionKind::Opaque, ..many_to_one("topk", topk_relation, reduction::topk) };
}
