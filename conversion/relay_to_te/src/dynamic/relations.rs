//! Type relations with names for extents, and the checks that are left for run time.
//!
//! ```text
//!   elementwise           dims broadcast                                   n2 = broadcast(n0, n1)
//!   dense, matmul         what is summed over is equal                     equal(n1, 128)
//!   reductions, softmax   as the operator's row says: nothing to check
//!   reshape               as many elements                                 n1 = n0 * 64 / 8, equal(n1 * 8, n0 * 64)
//!   concat                n0 + n1 along the axis, equal elsewhere
//!   slice                 least(n0, end) - least(n0, begin)
//!   dynamic_iota          n1 = the number in an input of the kernel
//!   convolutions, pools   (n1 + padding - span) / stride + 1 windows; channels are known
//! ```
//! An operator without a line here runs by reference semantics where its extents are dynamic.

use super::constraints::{at_most, row, said};
use super::steps::Steps;
use super::{places, windows};
use crate::definitions::is_elementwise;
use fusion_operators::ops::{
    attention, contraction, convolution, creation, indexing, non_max_suppression, normalization, philox,
    pooling, reduction, shape,
};
use fusion_operators::relation::{checked_axis, int_attr, ints_attr, normalize_axes};
use fusion_operators::{Call, Dim, Operator, TensorType};

/// The types of the results, or why the call has none that can be compiled.
pub type DynamicRelation = fn(&mut Steps, &Call) -> Result<Vec<TensorType>, String>;

const TABLE: &[(&Operator, DynamicRelation)] = &[
    (&contraction::DENSE, dense),
    (&contraction::MATMUL, matmul),
    (&contraction::BATCH_MATMUL, matmul),
    (&attention::ATTENTION, attention),
    (&reduction::REDUCE_SUM, as_in_row),
    (&reduction::REDUCE_MEAN, as_in_row),
    (&reduction::REDUCE_PROD, as_in_row),
    (&reduction::REDUCE_MAX, as_in_row),
    (&reduction::REDUCE_MIN, as_in_row),
    (&reduction::REDUCE_ALL, as_in_row),
    (&reduction::REDUCE_ANY, as_in_row),
    (&reduction::ARGMAX, arg),
    (&reduction::ARGMIN, arg),
    (&normalization::SOFTMAX, as_in_row),
    (&normalization::LOG_SOFTMAX, as_in_row),
    (&normalization::LAYER_NORM, layer_norm),
    (&shape::TRANSPOSE, as_in_row),
    (&shape::EXPAND_DIMS, as_in_row),
    (&shape::SQUEEZE, squeeze),
    (&shape::RESHAPE, reshape),
    (&shape::BROADCAST_TO, broadcast_to),
    (&shape::CONCAT, concat),
    (&shape::SPLIT, split),
    (&shape::SLICE, slice),
    (&indexing::GATHER, as_in_row),
    (&convolution::CONV1D, windows::convolution),
    (&convolution::CONV2D, windows::convolution),
    (&convolution::CONV3D, windows::convolution),
    (&pooling::MAX_POOL1D, windows::pool),
    (&pooling::MAX_POOL2D, windows::pool),
    (&pooling::MAX_POOL3D, windows::pool),
    (&pooling::AVG_POOL1D, windows::pool),
    (&pooling::AVG_POOL2D, windows::pool),
    (&pooling::AVG_POOL3D, windows::pool),
    (&pooling::GLOBAL_MAX_POOL, as_in_row),
    (&pooling::GLOBAL_AVG_POOL, as_in_row),
    (&normalization::BATCH_NORM, windows::channels),
    (&normalization::INSTANCE_NORM, windows::channels),
    (&normalization::GROUP_NORM, windows::channels),
    (&normalization::LRN, windows::channels),
    (&shape::PAD, pad),
    (&shape::TILE, as_in_row),
    (&shape::RESIZE, windows::resize),
    (&shape::REVERSE, as_in_row),
    (&creation::ARANGE, as_in_row),
    (&creation::DYNAMIC_IOTA, places::dynamic_iota),
    (&creation::SHAPE_OF, as_in_row),
    (&philox::PHILOX, as_in_row),
    (&reduction::CUMSUM, as_in_row),
    (&reduction::CUMPROD, as_in_row),
    (&reduction::TOPK, places::topk),
    (&non_max_suppression::NON_MAX_SUPPRESSION, places::non_max_suppression),
    (&indexing::GATHER_ELEMENTS, places::gather_elements),
    (&indexing::GATHER_ND, places::gather_nd),
    (&indexing::SCATTER_ELEMENTS, places::scatter_elements),
    (&indexing::SCATTER_ND, places::scatter_nd),
    (&indexing::ONE_HOT, as_in_row),
    (&convolution::CONV1D_TRANSPOSE, windows::transposed),
    (&convolution::CONV2D_TRANSPOSE, windows::transposed),
    (&convolution::CONV3D_TRANSPOSE, windows::transposed),
];

/// The relation of an operator; none where dynamic extents are not compiled.
pub fn relation_of(operator: &'static Operator) -> Option<DynamicRelation> {
    let listed = || TABLE.iter().find(|(row, _)| row.is(operator)).map(|(_, relation)| *relation);
    if is_elementwise(operator) { Some(broadcast) } else { listed() }
}

/// The relation of the row, where it checks nothing of extents that run time could contradict.
fn as_in_row(_: &mut Steps, call: &Call) -> Result<Vec<TensorType>, String> {
    row(call)
}

/// Extents that broadcast, aligned at the innermost.
fn broadcast_dims(steps: &mut Steps, a: &[Dim], b: &[Dim], text: &str) -> Vec<Dim> {
    let rank = a.len().max(b.len());
    let at = |s: &[Dim], i: usize| (i + s.len()).checked_sub(rank).map_or(Dim::Static(1), |k| s[k].clone());
    (0..rank).map(|i| steps.broadcast(&at(a, i), &at(b, i), text)).collect()
}

fn broadcast(steps: &mut Steps, call: &Call) -> Result<Vec<TensorType>, String> {
    let mut dims = Vec::new();
    for ty in call.operands {
        let types: Vec<_> = call.operands.iter().map(without_names).collect();
        let text = format!("violates constraint C2: shapes do not broadcast: {}", types.join(", "));
        dims = broadcast_dims(steps, &dims, &ty.dims, &text);
    }
    Ok(row(call)?.into_iter().map(|ty| TensorType::new(dims.clone(), ty.dtype)).collect())
}

/// A type as the program writes it: names of extents are the kernel's own.
fn without_names(ty: &TensorType) -> String {
    let dims = ty.dims.iter().map(|dim| dim.known().map_or(Dim::Any, Dim::Static)).collect();
    TensorType::new(dims, ty.dtype).to_string()
}

fn dense(steps: &mut Steps, call: &Call) -> Result<Vec<TensorType>, String> {
    let result = row(call)?;
    if let ([.., k], [_, l]) = (&call.operands[0].dims[..], &call.operands[1].dims[..]) {
        steps.equal(l, k, "violates constraint C3: the extents summed over must agree");
    }
    Ok(result)
}

fn matmul(steps: &mut Steps, call: &Call) -> Result<Vec<TensorType>, String> {
    let mut result = row(call)?;
    let part = |operand: usize, flag: &str| {
        let (lead, [rows, columns]) = call.operands[operand].dims.split_last_chunk::<2>()?;
        Some(if call.attrs.flag(flag) { (lead, columns, rows) } else { (lead, rows, columns) })
    };
    let (Some((lead_a, i, k)), Some((lead_b, l, j))) = (part(0, "transpose_a"), part(1, "transpose_b"))
    else {
        return Err("must have operands of rank 2 or more".to_owned());
    };
    steps.equal(l, k, "violates constraint C3: the extents summed over must agree");
    let mut dims =
        broadcast_dims(steps, lead_a, lead_b, "violates constraint C4: leading dimensions must broadcast");
    dims.extend([i.clone(), j.clone()]);
    result[0].dims = dims;
    Ok(result)
}

fn attention(steps: &mut Steps, call: &Call) -> Result<Vec<TensorType>, String> {
    let mut result = row(call)?;
    let part = |operand: usize| call.operands[operand].dims.split_last_chunk::<2>();
    let (Some((lead, [queries, width])), Some((lead_k, [keys, width_k])), Some((lead_v, [count, depth]))) =
        (part(0), part(1), part(2))
    else {
        return Err("must have operands of rank 2 or more".to_owned());
    };
    let text =
        "violates constraint C3: queries [..., n, d], keys [..., m, d] and values [..., m, e] must agree";
    let pairs =
        lead.iter().zip(lead_k).chain(lead.iter().zip(lead_v)).chain([(width, width_k), (keys, count)]);
    for (a, b) in pairs {
        steps.equal(a, b, text);
    }
    if let Some(bias) = call.operands.get(3) {
        let scores = [lead, &[queries.clone(), keys.clone()]].concat();
        within(steps, &bias.dims, &scores, "violates constraint C4: the bias must broadcast to the scores");
    }
    result[0].dims = [lead, &[queries.clone(), depth.clone()]].concat();
    Ok(result)
}

/// Extents that must broadcast to others, aligned at the innermost.
fn within(steps: &mut Steps, from: &[Dim], to: &[Dim], text: &str) {
    for (of, to) in from.iter().rev().zip(to.iter().rev()) {
        if *of != Dim::Static(1) {
            let both = steps.broadcast(of, to, text);
            steps.equal(&both, to, text);
        }
    }
}

fn arg(steps: &mut Steps, call: &Call) -> Result<Vec<TensorType>, String> {
    let axis = reduction::axis(call).map_err(said)?;
    let one = steps.least(&call.operands[0].dims[axis], &Dim::Static(1));
    steps.equal(&Dim::Static(1), &one, "violates constraint C2: the axis must not be empty");
    row(call)
}

fn layer_norm(steps: &mut Steps, call: &Call) -> Result<Vec<TensorType>, String> {
    let result = row(call)?;
    let data = &call.operands[0].dims;
    for operand in &call.operands[1..] {
        within(
            steps,
            &operand.dims,
            data,
            "violates constraint C3: gamma and beta must broadcast to the data's last dimensions",
        );
    }
    Ok(result)
}

fn squeeze(steps: &mut Steps, call: &Call) -> Result<Vec<TensorType>, String> {
    let data = &call.operands[0];
    let axes = call.attrs.ints("axes").map(|axes| normalize_axes(axes, data.rank(), 1)).transpose();
    for axis in axes.map_err(said)?.unwrap_or_default() {
        steps.equal(
            &Dim::Static(1),
            &data.dims[axis],
            "violates constraint C2: an extent that is removed must be 1",
        );
    }
    row(call)
}

fn product(steps: &mut Steps, dims: &[Dim]) -> Dim {
    // Known extents first, so that the same products are the same steps.
    let known = dims.iter().filter_map(Dim::known).fold(1u64, u64::saturating_mul);
    let dynamic = dims.iter().filter(|dim| dim.known().is_none());
    let dynamic = dynamic.fold(None, |product: Option<Dim>, dim| {
        Some(product.map_or_else(|| dim.clone(), |product| steps.times(&product, dim)))
    });
    dynamic.map_or(Dim::Static(known), |dynamic| steps.times(&dynamic, &Dim::Static(known)))
}

fn reshape(steps: &mut Steps, call: &Call) -> Result<Vec<TensorType>, String> {
    let mut result = row(call)?;
    let own = |name: &str| Some(Dim::Symbol(name.to_owned()));
    let left = result[0].dims.iter().position(|dim| *dim == Dim::Any);
    let others: Vec<Dim> = result[0].dims.iter().filter_map(|dim| steps.named(dim, &own)).collect();
    let (all, others) = (product(steps, &call.operands[0].dims), product(steps, &others));
    let text = "violates constraint C2: the numbers of elements differ";
    match left {
        Some(left) => {
            let rest = steps.over(&all, &others);
            let elements = steps.times(&rest, &others);
            steps.equal(&elements, &all, text);
            result[0].dims[left] = rest;
        }
        // Expressions that are equal need no check.
        None if Dim::product(&call.operands[0].dims) != Dim::product(&result[0].dims) => {
            steps.equal(&others, &all, text);
        }
        None => {}
    }
    Ok(result)
}

fn broadcast_to(steps: &mut Steps, call: &Call) -> Result<Vec<TensorType>, String> {
    let result = row(call)?;
    let text = "violates constraint C1: the operand does not broadcast to the shape";
    within(steps, &call.operands[0].dims, &result[0].dims, text);
    Ok(result)
}

fn concat(steps: &mut Steps, call: &Call) -> Result<Vec<TensorType>, String> {
    let mut result = row(call)?;
    let rank = result[0].rank();
    let axis = int_attr(call, "axis", 2).and_then(|axis| checked_axis(axis, rank, 2)).map_err(said)?;
    let mut dims = call.operands[0].dims.clone();
    for other in &call.operands[1..] {
        for (a, dim) in other.dims.iter().enumerate().filter(|(a, _)| *a != axis) {
            dims[a] = steps.equal(&dims[a], dim, "violates constraint C3: the other extents must agree");
        }
    }
    dims[axis] = result[0].dims[axis].clone();
    result[0].dims = dims;
    Ok(result)
}

fn split(steps: &mut Steps, call: &Call) -> Result<Vec<TensorType>, String> {
    let data = &call.operands[0];
    let axis = int_attr(call, "axis", 1).and_then(|axis| checked_axis(axis, data.rank(), 1)).map_err(said)?;
    let sections = ints_attr(call, "sections", 2).map_err(said)?;
    let sum = sections.iter().filter_map(|n| u64::try_from(*n).ok()).fold(0u64, u64::saturating_add);
    let text = "violates constraint C2: sections must sum to the extent of the axis";
    steps.equal(&Dim::Static(sum), &data.dims[axis], text);
    row(call)
}

fn slice(_: &mut Steps, call: &Call) -> Result<Vec<TensorType>, String> {
    for slice in shape::slices(call).map_err(said)? {
        let known = call.operands[0].dims[slice.axis].known().is_some();
        if !known && slice.stride < 0 && !slice.keeps_all() {
            return Err("takes elements from back to front of an extent that is not known".to_owned());
        }
    }
    row(call)
}

fn pad(steps: &mut Steps, call: &Call) -> Result<Vec<TensorType>, String> {
    let padding = shape::padding(call).map_err(said)?;
    let mode = call.attrs.str_or("mode", "constant");
    for (dim, (before, after)) in call.operands[0].dims.iter().zip(padding) {
        if dim.known().is_some() {
            continue;
        }
        let (Ok(before), Ok(after)) = (u64::try_from(before), u64::try_from(after)) else {
            return Err("removes elements of an extent that is not known".to_owned());
        };
        match (mode, before + after) {
            (_, 0) | ("constant", _) => {}
            ("edge", _) => {
                let text = "violates constraint C3: there must be an element to repeat";
                at_most(steps, &Dim::Static(1), dim, text);
            }
            ("reflect", _) => {
                let text = "violates constraint C3: reflection must be shorter than the axis";
                at_most(steps, &Dim::Static(before.max(after).saturating_add(1)), dim, text);
            }
            _ => return Err(format!("pads an extent that is not known in the mode {mode}")),
        }
    }
    row(call)
}
