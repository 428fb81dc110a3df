//! Normalisation.

use super::{Built, Call, Kind, Pair, Same, built};
use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use fusion_operators::Attrs;
use fusion_operators::ops::{elementwise as ew, normalization as norm, reduction};

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

/// Scaling and shifting can be left out in TVM, and channels can lie anywhere; here neither is supported.
fn usual(call: &Call, axis: i64) -> Outcome<()> {
    if !call.flag("center", true)? || !call.flag("scale", true)? {
        return call.fault("only center=True and scale=True are supported; pass zeros and ones");
    }
    match call.int("axis", axis)? {
        found if found == axis => Ok(()),
        found => call.fault(format!("only axis={axis} is supported, found {found}; transpose the operand")),
    }
}

/// The tensor, and the running mean and variance, which inference does not change.
fn batch_norm<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    usual(call, 1)?;
    let operands = call.operands();
    let epsilon = call.float("epsilon", 1e-5)?;
    let y = call.row(&norm::BATCH_NORM, &operands, Attrs::new().with("epsilon", epsilon))?;
    Ok(Made::several(vec![y, operands[3], operands[4]]))
}

fn layer_norm<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    usual(call, -1)?;
    let (operands, epsilon) = (call.operands(), call.float("epsilon", 1e-5)?);
    call.row(&norm::LAYER_NORM, &operands, Attrs::new().with("epsilon", epsilon)).map(Made::Value)
}

fn instance_norm<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    usual(call, 1)?;
    let (operands, epsilon) = (call.operands(), call.float("epsilon", 1e-5)?);
    call.row(&norm::INSTANCE_NORM, &operands, Attrs::new().with("epsilon", epsilon)).map(Made::Value)
}

fn group_norm<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    usual(call, 1)?;
    let Some(groups) = call.maybe_int("num_groups")? else {
        return call.fault("the attribute num_groups is missing");
    };
    let (operands, epsilon) = (call.operands(), call.float("epsilon", 1e-5)?);
    let attrs = Attrs::new().with("num_groups", groups).with("epsilon", epsilon);
    call.row(&norm::GROUP_NORM, &operands, attrs).map(Made::Value)
}

fn lrn<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    usual(call, 1)?;
    let attrs = Attrs::new()
        .with("size", call.int("size", 5)?)
        .with("alpha", call.float("alpha", 1e-5)?)
        .with("beta", call.float("beta", 0.75)?)
        .with("bias", call.float("bias", 2.0)?);
    let x = call.operand(0);
    call.row(&norm::LRN, &[x], attrs).map(Made::Value)
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
