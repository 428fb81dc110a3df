//! Movements of elements that move none, and movements of movements.

use super::{FoldResult, Folded, Rules, Site, ask};
use crate::{Op, OpExt, OperationLike, write_tensor};
use fusion_operators::ops::creation::SHAPE_OF;
use fusion_operators::ops::shape::{
    self, BROADCAST_TO, CONCAT, EXPAND_DIMS, PAD, RESHAPE, REVERSE, SLICE, SPLIT, SQUEEZE, TILE, TRANSPOSE,
};
use fusion_operators::{Attrs, DType, Dim, Operator, Tensor};

pub const RULES: Rules = &[
    // To the same shape; at most one extent of these is unknown, so equal types are equal shapes.
    (&RESHAPE, |site| site.gives_operand(0)),
    (&SQUEEZE, |site| site.gives_operand(0)),
    (&EXPAND_DIMS, |site| site.gives_operand(0)),
    (&BROADCAST_TO, |site| site.gives_operand(0)),
    // Only the last shape counts.
    (&RESHAPE, |site| {
        let (inner, operator) = site.computed_by(0)?;
        let keeps = [&RESHAPE, &SQUEEZE, &EXPAND_DIMS].iter().any(|o| operator.is(o));
        if keeps { site.reads(inner.operand(0).ok()?, Attrs::new()) } else { None }
    }),
    // Axis i stays axis i.
    (&TRANSPOSE, |site| {
        let axes = permutation(&TRANSPOSE, site.op)?;
        if axes.iter().enumerate().all(|(i, a)| i == *a) { site.gives_operand(0) } else { None }
    }),
    (&TRANSPOSE, transpose_of_transpose),
    (&CONCAT, |site| if site.op.operand_count() == 1 { site.gives_operand(0) } else { None }),
    (&SPLIT, |site| site.gives_operand(0)),
    (&SLICE, |site| if keeps_all(site)? { site.gives_operand(0) } else { None }),
    (&PAD, |site| if all(site, "padding", 0) { site.gives_operand(0) } else { None }),
    (&TILE, |site| if all(site, "reps", 1) { site.gives_operand(0) } else { None }),
    (&REVERSE, |site| {
        let dims = site.operand_type(0)?.dims;
        let axes = site.ask(|call| fusion_operators::relation::axes_or_all(call, dims.len(), 1))?.ok()?;
        if axes.iter().all(|&a| dims[a] == Dim::Static(1)) { site.gives_operand(0) } else { None }
    }),
    (&SHAPE_OF, known_shape),
];

/// Axis i of the outer one is axis `outer[i]` of the inner one, which is axis `inner[outer[i]]`.
fn transpose_of_transpose<'c>(site: &Site<'_, 'c>) -> Option<Folded<'c>> {
    let (inner, operator) = site.computed_by(0)?;
    if !operator.is(&TRANSPOSE) {
        return None;
    }
    let (first, second) = (permutation(&TRANSPOSE, inner)?, permutation(&TRANSPOSE, site.op)?);
    let axes: Option<Vec<i64>> = second.iter().map(|&a| Some(*first.get(a)? as i64)).collect();
    site.reads(inner.operand(0).ok()?, Attrs::new().with("axes", axes?))
}

fn permutation(transpose: &'static Operator, op: Op) -> Option<Vec<usize>> {
    ask(transpose, op, shape::permutation)?.ok()
}

fn keeps_all(site: &Site) -> Option<bool> {
    let dims = site.operand_type(0)?.dims;
    let slices = site.ask(shape::slices)?.ok()?;
    Some(slices.iter().all(|slice| {
        dims[slice.axis].known().is_some_and(|n| {
            let forwards = slice.stride == 1 || n <= 1;
            forwards && slice.of(n) == (0, n)
        })
    }))
}

fn all(site: &Site, attr: &str, number: i64) -> bool {
    site.op.ints(attr).is_some_and(|list| list.iter().all(|&n| n == number))
}

/// The shape of a tensor of any values, when its extents are known.
fn known_shape<'c>(site: &Site<'_, 'c>) -> Option<Folded<'c>> {
    let extents: Vec<i128> = site.operand_type(0)?.shape()?.into_iter().map(i128::from).collect();
    let shape = Tensor::from_ints(DType::I64, &[extents.len()], &extents).ok()?;
    Some(Folded::To(vec![FoldResult::Constant(write_tensor(site.op.context_ref(), &shape, "shape"))]))
}
