//! Convolutions and pools of images whose axes lie in memory in another order than NCHW, and the change from one order to another.
//!
//!     layout_conv2d {data_layout = "NHWC"}              as conv2d, with channels last
//!     layout_conv2d {data_layout = "NCHW16c", kernel_layout = "OIHW16i16o", out_layout = "NCHW16c"}     in blocks of 16 channels
//!     layout_transform {src_layout = "NCHW", dst_layout = "NCHW16c"}
//!
//! Each is the plain operator between two changes of order; what it takes is the plain operator's relation, of the values that are laid
//! out. (Orders are Relay's, see [`Layout`]; blocks of channels after Georganas et al., "Anatomy of High-Performance Deep Learning
//! Convolutions on SIMD Architectures", 2018.) Rules about convolutions and pools are about the plain ones: these rows are others.

use super::convolution::CONV2D;
use super::pooling::{AVG_POOL2D, MAX_POOL2D};
use crate::operator::{Cost, Reference, Related, Relation, cost::free};
pub use crate::parameters::layout::{IMAGES, Layouts, WEIGHTS, orders};
use crate::reference::layout as reference;
use crate::{Call, FusionKind, Operator, TensorType, Violation, operators};

/// The plain operator that a row lays out.
pub fn plain(op: &Operator) -> Option<&'static Operator> {
    const PAIRS: &[(&Operator, &Operator)] =
        &[(&LAYOUT_CONV2D, &CONV2D), (&LAYOUT_MAX_POOL2D, &MAX_POOL2D), (&LAYOUT_AVG_POOL2D, &AVG_POOL2D)];
    PAIRS.iter().find(|(row, _)| row.is(op)).map(|(_, plain)| *plain)
}

/// The result of the plain operator, laid out. C1 to C5 are its constraints. C6: layouts are orders of the axes NCHW and OIHW, operands have
/// their extents, and what an axis of the result is split by divides it.
fn laid_out(call: &Call) -> Related {
    let Some(op) = plain(call.op) else { return Ok(Vec::new()) };
    let layouts = Layouts::of(call)?;
    let operands = layouts.values(call.operands)?;
    let results = (op.relation)(&Call { op, operands: &operands, attrs: call.attrs })?;
    let stored = |ty: &TensorType| {
        layouts.result.stored(ty).ok_or_else(|| {
            Violation::new(
                6,
                format!(
                    "the result {ty} cannot be laid out as {}, whose parts do not divide it",
                    layouts.result
                ),
            )
        })
    };
    results.iter().map(stored).collect()
}

/// What the plain operator takes: elements of another order are as many.
fn plain_cost(call: &Call, results: &[TensorType]) -> f64 {
    let operands = Layouts::of(call).and_then(|layouts| layouts.values(call.operands));
    match (plain(call.op), operands) {
        (Some(op), Ok(operands)) => (op.cost)(&Call { op, operands: &operands, attrs: call.attrs }, results),
        _ => 0.0,
    }
}

/// C1 as [`orders`]. C2: the data has the extents of its order. C3: what an axis is split by divides it.
fn transform(call: &Call) -> Related {
    let (from, to) = orders(call.attrs)?;
    let data = &call.operands[0];
    let Some(value) = from.value(data) else {
        return Err(Violation::new(2, format!("{data} has not the extents of something laid out as {from}")));
    };
    match to.stored(&value) {
        Some(stored) => Ok(vec![stored]),
        None => Err(Violation::new(
            3,
            format!("{value} cannot be laid out as {to}, whose parts do not divide it"),
        )),
    }
}

const fn row(
    name: &'static str,
    operands: usize,
    (relation, cost): (Relation, Cost),
    fusion: FusionKind,
    reference: Reference,
) -> Operator {
    Operator { name, arity: (operands, operands), relation, fusion, cost, reference }
}

const PLAIN: (Relation, Cost) = (laid_out, plain_cost);

/// The plain operator between two changes of order.
const LAID_OUT: Reference = |call, results, operands| match plain(call.op) {
    Some(op) => reference::laid_out(op, call, results, operands),
    None => Ok(Vec::new()),
};

operators! {
    LAYOUT_CONV2D = row("layout_conv2d", 2, PLAIN, FusionKind::Contraction, LAID_OUT);
    LAYOUT_MAX_POOL2D = row("layout_max_pool2d", 1, PLAIN, FusionKind::Reduction, LAID_OUT);
    LAYOUT_AVG_POOL2D = row("layout_avg_pool2d", 1, PLAIN, FusionKind::Reduction, LAID_OUT);
    LAYOUT_TRANSFORM = row("layout_transform", 1, (transform, free), FusionKind::Injective, reference::transform);
}
