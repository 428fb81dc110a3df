//! Normalisation.

use super::creation::filled_as;
use super::{Built, Call, Kind, Pair, Same, built};
use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use fusion_dialects::Value;
use fusion_operators::ops::{elementwise as ew, normalization as norm, reduction, shape};
use fusion_operators::{Attrs, Operator};

const AXIS: &[Pair] = &[Pair { theirs: "axis", ours: "axis", kind: Kind::Int }];

#[rustfmt::skip]
pub const SAME: &[Same] = &[
    Same { name: "nn.softmax", row: &norm::SOFTMAX, operands: 1, attributes: AXIS },
    Same { name: "nn.log_softmax", row: &norm::LOG_SOFTMAX, operands: 1, attributes: AXIS },
];

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    built("nn.fast_softmax", 1, &["axis"], fast_softmax),
    built("nn.batch_norm", 5, &["axis", "epsilon", "center", "scale"], batch_norm),
    built("nn.layer_norm", 3, &["axis", "epsilon", "center", "scale"], layer_norm),
    built("nn.instance_norm", 3, &["axis", "epsilon", "center", "scale"], instance_norm),
    built("nn.group_norm", 3, &["num_groups", "axis", "epsilon", "center", "scale"], group_norm),
    built("nn.lrn", 1, &["size", "axis", "bias", "alpha", "beta"], lrn),
    built("nn.l2_normalize", 1, &["eps", "axis"], l2_normalize),
];

fn fast_softmax<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, axis) = (call.operand(0), call.int("axis", -1)?);
    call.row(&norm::SOFTMAX, &[x], Attrs::new().with("axis", axis)).map(Made::Value)
}

/// A normalization with its scale and offset; where one is left out it is 1, or 0.
fn normalized<'c>(
    call: &mut Call<'_, 'c, '_>,
    row: &'static Operator,
    home: i64,
    (mut operands, attrs): (Vec<Value<'c>>, Attrs),
) -> Outcome<Value<'c>> {
    for (flag, at, number) in [("scale", 1, 1.0), ("center", 2, 0.0)] {
        if at < operands.len() && !call.flag(flag, true)? {
            operands[at] = filled_as(call, operands[at], number)?;
        }
    }
    let attrs = attrs.with("epsilon", call.float("epsilon", 1e-5)?);
    at_axis(call, row, home, (operands, attrs))
}

/// What a row gives that has its channels at the axis `home`. TVM's may lie anywhere, so that they are brought there and back.
fn at_axis<'c>(
    call: &mut Call<'_, 'c, '_>,
    row: &'static Operator,
    home: i64,
    (mut operands, attrs): (Vec<Value<'c>>, Attrs),
) -> Outcome<Value<'c>> {
    let axis = call.int("axis", home)?;
    if axis == home {
        return call.row(row, &operands, attrs);
    }
    let rank = call.rank(operands[0])?;
    let (from, to) = (call.axis_in(axis, rank)?, call.axis_in(home, rank)?);
    operands[0] = moved(call, operands[0], rank, (from, to))?;
    let y = call.row(row, &operands, attrs)?;
    moved(call, y, rank, (to, from))
}

/// A tensor whose axis `from` is its axis `to`.
fn moved<'c>(
    call: &mut Call<'_, 'c, '_>,
    x: Value<'c>,
    rank: usize,
    (from, to): (usize, usize),
) -> Outcome<Value<'c>> {
    let mut axes: Vec<i64> = (0..rank as i64).filter(|&axis| axis != from as i64).collect();
    axes.insert(to, from as i64);
    call.row(&shape::TRANSPOSE, &[x], Attrs::new().with("axes", axes))
}

/// The tensor, and the running mean and variance, which inference does not change.
fn batch_norm<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let operands = call.operands();
    let (mean, variance) = (operands[3], operands[4]);
    let y = normalized(call, &norm::BATCH_NORM, 1, (operands, Attrs::new()))?;
    Ok(Made::several(vec![y, mean, variance]))
}

fn layer_norm<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let operands = call.operands();
    normalized(call, &norm::LAYER_NORM, -1, (operands, Attrs::new())).map(Made::Value)
}

fn instance_norm<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let operands = call.operands();
    normalized(call, &norm::INSTANCE_NORM, 1, (operands, Attrs::new())).map(Made::Value)
}

fn group_norm<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let Some(groups) = call.maybe_int("num_groups")? else {
        return call.fault("the attribute num_groups is missing");
    };
    let operands = call.operands();
    let attrs = Attrs::new().with("num_groups", groups);
    normalized(call, &norm::GROUP_NORM, 1, (operands, attrs)).map(Made::Value)
}

fn lrn<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let attrs = Attrs::new()
        .with("size", call.int("size", 5)?)
        .with("alpha", call.float("alpha", 1e-5)?)
        .with("beta", call.float("beta", 0.75)?)
        .with("bias", call.float("bias", 2.0)?);
    let operands = call.operands();
    at_axis(call, &norm::LRN, 1, (operands, attrs)).map(Made::Value)
}

/// x / sqrt(max(sum of x^2 along the axes, eps))
fn l2_normalize<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, eps) = (call.operand(0), call.float("eps", 1e-12)?);
    let square = call.plain(&ew::MUL, &[x, x])?;
    let mut attrs = Attrs::new().with("keepdims", true);
    if let Some(axes) = call.maybe_ints("axis")?.filter(|axes| !axes.is_empty()) {
        attrs.set("axes", axes);
    }
    let sum = call.row(&reduction::REDUCE_SUM, &[square], attrs)?;
    let least = call.like(x, eps)?;
    let sum = call.plain(&ew::MAXIMUM, &[sum, least])?;
    let root = call.plain(&ew::SQRT, &[sum])?;
    call.plain(&ew::DIV, &[x, root]).map(Made::Value)
}
