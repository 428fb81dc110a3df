//! Convolutions and pools of images whose axes lie in memory in another order than NCHW, and the change from one order to another.
//!
//!     layout_conv2d {data_layout = "NHWC"}              as conv2d, with channels last
//!     layout_conv2d {data_layout = "NCHW16c", kernel_layout = "OIHW16i16o", out_layout = "NCHW16c"}     in blocks of 16 channels
//!     layout_transform {src_layout = "NCHW", dst_layout = "NCHW16c"}
//!
//! Each is the plain operator between two changes of order; what it takes is the plain operator's relation, of the values that are laid
//! out. (Orders are Relay's, see [`Layout`](crate::Layout); blocks of channels after Georganas et al., "Anatomy of High-Performance Deep Learning
//! Convolutions on SIMD Architectures", 2018.) Rules about convolutions and pools are about the plain ones: these rows are others.

use super::convolution::CONV2D;
use super::pooling::{AVG_POOL2D, MAX_POOL2D};
use crate::form::{dtype, flag, form, int, ints, operand, text};
use crate::operator::{Cost, Reference, Related, Relation, cost::free};
pub use crate::parameters::layout::{IMAGES, Layouts, WEIGHTS, orders};
use crate::reference::layout as reference;
use crate::{Call, FusionKind, Operator, Precision, TensorType, Violation, operators};

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
    (relation, cost): (Relation, Cost),
    fusion: FusionKind,
    reference: Reference,
) -> Operator {
    Operator::new(name, fusion, relation, cost, reference)
}

const PLAIN: (Relation, Cost) = (laid_out, plain_cost);

/// The plain operator between two changes of order.
const LAID_OUT: Reference = |call, results, operands| match plain(call.op) {
    Some(op) => reference::laid_out(op, call, results, operands),
    None => Ok(Vec::new()),
};

const ORDERS: &str = "`data_layout` is NCHW when absent, `out_layout` that of the data, `kernel_layout` OIHW.\n\
     - C6: layouts are orders of the axes NCHW and OIHW, operands have their extents, and what an axis \
     is split by divides it.";

operators! {
    /// A convolution of images in another order of axes
    ///
    /// As `relay.conv2d`, whose constraints C1 to C5 are those of the images.
    LAYOUT_CONV2D = row("layout_conv2d", PLAIN, FusionKind::Contraction, LAID_OUT)
        .of(form(&[operand("data"), operand("weight")])
            .attributes(&[ints("strides"), ints("padding"), ints("dilation"), int("groups"), text("data_layout"), text("kernel_layout"), text("out_layout"), dtype("out_dtype")])
            .about(ORDERS));
    /// The greatest element of each window of images in another order of axes
    ///
    /// As `relay.max_pool2d`, whose constraints C1 to C5 are those of the images.
    LAYOUT_MAX_POOL2D = row("layout_max_pool2d", PLAIN, FusionKind::Reduction, LAID_OUT)
        .of(form(&[operand("data")])
            .attributes(&[ints("kernel").required(), ints("strides"), ints("padding"), ints("dilation"), flag("ceil_mode"), text("data_layout"), text("out_layout")])
            .about(ORDERS))
        .computes(Precision::Follow);
    /// The mean of each window of images in another order of axes
    ///
    /// As `relay.avg_pool2d`, whose constraints C1 to C5 are those of the images.
    LAYOUT_AVG_POOL2D = row("layout_avg_pool2d", PLAIN, FusionKind::Reduction, LAID_OUT)
        .of(form(&[operand("data")])
            .attributes(&[ints("kernel").required(), ints("strides"), ints("padding"), ints("dilation"), flag("ceil_mode"), flag("count_include_pad"), text("data_layout"), text("out_layout")])
            .about(ORDERS));
    /// The elements in another order of axes
    ///
    /// A layout is an order of axes, by capital letters; an axis that is split has its number of parts where the capital stands, and its
    /// elements in a part where a number and the small letter stand: from `NCHW` to `NCHW16c`, `tensor<1x32x7x7xf32>` becomes
    /// `tensor<1x2x7x7x16xf32>`.
    /// - C1: both layouts are orders of the same axes.
    /// - C2: the data has the extents of its layout.
    /// - C3: what an axis is split by divides it.
    LAYOUT_TRANSFORM = row("layout_transform", (transform, free), FusionKind::Injective, reference::transform)
        .of(form(&[operand("data")]).attributes(&[text("src_layout").required(), text("dst_layout").required()]));
}
