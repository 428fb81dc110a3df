//! Reductions, scans and sorting.

use super::{Built, Call, Same, built};
use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use fusion_dialects::Value;
use fusion_operators::ops::{elementwise as ew, reduction as red, shape};
use fusion_operators::{Attrs, DType, Operator};

pub const SAME: &[Same] = &[];

const AXES: &[&str] = &["axis", "keepdims", "exclude"];
const ARG: &[&str] = &["axis", "keepdims", "exclude", "select_last_index"];

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    built("sum", 1, AXES, |call| reduce(call, &red::REDUCE_SUM)),
    built("mean", 1, AXES, |call| reduce(call, &red::REDUCE_MEAN)),
    built("prod", 1, AXES, |call| reduce(call, &red::REDUCE_PROD)),
    built("max", 1, AXES, |call| reduce(call, &red::REDUCE_MAX)),
    built("min", 1, AXES, |call| reduce(call, &red::REDUCE_MIN)),
    built("all", 1, AXES, |call| reduce(call, &red::REDUCE_ALL)),
    built("any", 1, AXES, |call| reduce(call, &red::REDUCE_ANY)),
    built("argmax", 1, ARG, |call| arg(call, &red::ARGMAX)),
    built("argmin", 1, ARG, |call| arg(call, &red::ARGMIN)),
    built("variance", 2, &["axis", "keepdims", "exclude"], variance),
    built("cumsum", 1, &["axis", "dtype", "exclusive"], |call| scan(call, &red::CUMSUM)),
    built("cumprod", 1, &["axis", "dtype", "exclusive"], |call| scan(call, &red::CUMPROD)),
    built("topk", 1, &["k", "axis", "ret_type", "is_ascend", "dtype"], topk),
];

/// The axes of a reduction as ours. With `exclude`, they are all others, for which the rank must be known.
fn axes<'c>(call: &mut Call<'_, 'c, '_>, x: Value<'c>) -> Outcome<Attrs> {
    let mut attrs = Attrs::new();
    let given = call.maybe_ints("axis")?;
    if call.flag("exclude", false)? {
        let rank = call.rank(x)?;
        let mut others: Vec<i64> = (0..rank as i64).collect();
        for axis in given.unwrap_or_default() {
            let axis = call.axis_in(axis, rank)? as i64;
            others.retain(|&other| other != axis);
        }
        attrs.set("axes", others);
    } else if let Some(given) = given.filter(|given| !given.is_empty()) {
        attrs.set("axes", given);
    }
    if call.flag("keepdims", false)? {
        attrs.set("keepdims", true);
    }
    Ok(attrs)
}

fn reduce<'c>(call: &mut Call<'_, 'c, '_>, row: &'static Operator) -> Outcome<Made<'c>> {
    let x = call.operand(0);
    let attrs = axes(call, x)?;
    call.row(row, &[x], attrs).map(Made::Value)
}

/// The mean of the squares of the distances from a mean that is given.
fn variance<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let operands = call.operands();
    let distance = call.plain(&ew::SUB, &operands)?;
    let square = call.plain(&ew::MUL, &[distance, distance])?;
    let attrs = axes(call, operands[0])?;
    call.row(&red::REDUCE_MEAN, &[square], attrs).map(Made::Value)
}

/// All elements in one axis.
pub fn flattened<'c>(call: &mut Call<'_, 'c, '_>, x: Value<'c>) -> Outcome<Value<'c>> {
    call.row(&shape::RESHAPE, &[x], Attrs::new().with("shape", [-1]))
}

/// TVM gives the place as int32, ours is int64. Without an axis it is the place among all elements.
fn arg<'c>(call: &mut Call<'_, 'c, '_>, row: &'static Operator) -> Outcome<Made<'c>> {
    if call.flag("exclude", false)? {
        return call.fault("exclude=True is not supported; write the axis");
    }
    let mut x = call.operand(0);
    let axis = match call.maybe_ints("axis")?.as_deref() {
        None | Some([]) => {
            if call.flag("keepdims", false)? {
                return call.fault("keepdims=True needs an axis");
            }
            x = flattened(call, x)?;
            0
        }
        Some([axis]) => *axis,
        Some(_) => return call.fault("several axes are not supported; reshape them into one"),
    };
    let mut attrs = Attrs::new().with("axis", axis);
    for (theirs, ours) in [("keepdims", "keepdims"), ("select_last_index", "select_last")] {
        if call.flag(theirs, false)? {
            attrs.set(ours, true);
        }
    }
    let place = call.row(row, &[x], attrs)?;
    call.cast(place, DType::I32).map(Made::Value)
}

fn scan<'c>(call: &mut Call<'_, 'c, '_>, row: &'static Operator) -> Outcome<Made<'c>> {
    let mut x = call.operand(0);
    if let Some(dtype) = call.maybe_element("dtype")? {
        x = call.cast(x, dtype)?;
    }
    let axis = match call.maybe_int("axis")? {
        Some(axis) => axis,
        None => {
            x = flattened(call, x)?;
            0
        }
    };
    let mut attrs = Attrs::new().with("axis", axis);
    if call.flag("exclusive", false)? {
        attrs.set("exclusive", true);
    }
    call.row(row, &[x], attrs).map(Made::Value)
}

fn topk<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let x = call.operand(0);
    let axis = call.int("axis", -1)?;
    let k = match call.int("k", 1)? {
        k if k > 0 => k,
        _ => {
            let ty = call.known(x, "the shape")?;
            let extent = ty.dims[call.axis_in(axis, ty.rank())?].known();
            match extent {
                Some(extent) => extent as i64,
                None => return call.fault("the extent along the axis must be known where k is not given"),
            }
        }
    };
    let mut attrs = Attrs::new().with("k", k).with("axis", axis);
    if call.flag("is_ascend", false)? {
        attrs.set("smallest", true);
    }
    let results = call.rows(&red::TOPK, &[x], &attrs, 2)?;
    chosen(call, &results)
}

/// Of values and their places, those that `ret_type` says.
pub fn chosen<'c>(call: &mut Call<'_, 'c, '_>, results: &[Value<'c>]) -> Outcome<Made<'c>> {
    let places = call.cast(results[1], call.maybe_element("dtype")?.unwrap_or(DType::I32))?;
    Ok(match call.text("ret_type", "both")? {
        "both" => Made::several(vec![results[0], places]),
        "values" => Made::Value(results[0]),
        "indices" => Made::Value(places),
        other => return call.fault(format!("ret_type {other:?} is not known; both, values and indices are")),
    })
}
