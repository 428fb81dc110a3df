//! Operators that move elements.

use super::{Built, Call, Kind, Pair, Same, built};
use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use fusion_dialects::Value;
use fusion_operators::ops::{elementwise as ew, indexing, sequence_mask, shape};
use fusion_operators::{Attrs, DType, Dim};

#[rustfmt::skip]
pub const SAME: &[Same] = &[
    Same { name: "transpose", row: &shape::TRANSPOSE, operands: 1, attributes: &[Pair { theirs: "axes", ours: "axes", kind: Kind::Ints }] },
    Same { name: "squeeze", row: &shape::SQUEEZE, operands: 1, attributes: &[Pair { theirs: "axis", ours: "axes", kind: Kind::Ints }] },
    Same { name: "sequence_mask", row: &sequence_mask::SEQUENCE_MASK, operands: 2, attributes: &[
        Pair { theirs: "mask_value", ours: "mask_value", kind: Kind::Float }, Pair { theirs: "axis", ours: "axis", kind: Kind::Int }] },
    Same { name: "gather", row: &indexing::GATHER_ELEMENTS, operands: 2, attributes: &[Pair { theirs: "axis", ours: "axis", kind: Kind::Int }] },
];

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    Built { name: "reshape", operands: (1, 1), attributes: &["newshape"], ignored: &["allowzero"], build: reshape },
    built("vm.reshape_tensor", 2, &["newshape"], reshape),
    built("reshape_like", 2, &[], |call| like(call, "reshape")),
    built("nn.batch_flatten", 1, &[], batch_flatten),
    built("expand_dims", 1, &["axis", "num_newaxis"], expand_dims),
    Built { name: "broadcast_to", operands: (1, 1), attributes: &["shape"], ignored: &["dtype"], build: broadcast_to },
    built("broadcast_to_like", 2, &[], |call| like(call, "broadcast")),
    built("concatenate", 1, &["axis"], concatenate), built("stack", 1, &["axis"], stack),
    built("split", 1, &["indices_or_sections", "axis"], split),
    built("strided_slice", 1, &["begin", "end", "strides", "axes", "slice_mode"], strided_slice),
    built("take", 2, &["axis", "mode", "batch_dims"], take),
    built("tile", 1, &["reps"], tile), built("repeat", 1, &["repeats", "axis"], repeat),
    built("reverse", 1, &["axis"], reverse), built("flip", 1, &["axis"], reverse),
    built("nn.pad", 2, &["pad_width", "pad_mode"], pad),
    Built { name: "one_hot", operands: (3, 3), attributes: &["depth", "axis", "dtype"], ignored: &[], build: one_hot },
];

/// TVM's codes: 0 keeps an extent, -1 is what is left over, -2 keeps all that follow, -3 joins two, -4 cuts one in two.
fn reshape<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, given) = (call.operand(0), call.ints("newshape")?);
    let mut shape = given;
    if shape.iter().any(|&n| n == 0 || n < -1) {
        let dims = call.known(x, "the shape")?.dims;
        shape = new_shape(call, &shape, &dims)?;
    }
    call.row(&shape::RESHAPE, &[x], Attrs::new().with("shape", shape)).map(Made::Value)
}

/// The extents that codes say of a shape.
pub fn new_shape(call: &Call, given: &[i64], dims: &[Dim]) -> Outcome<Vec<i64>> {
    let (mut rest, mut shape) = (dims.iter(), Vec::new());
    let mut codes = given.iter();
    while let Some(&code) = codes.next() {
        let mut next = || match rest.next() {
            Some(dim) => dim.known().map_or(Ok(-1), |n| Ok(n as i64)),
            None => call.fault(format!("newshape={given:?} takes more axes than the operand has")),
        };
        match code {
            0 => shape.push(next()?),
            -2 => shape.extend(rest.by_ref().map(|dim| dim.known().map_or(-1, |n| n as i64))),
            -3 => {
                let (a, b) = (next()?, next()?);
                let joined = if a < 0 || b < 0 { Some(-1) } else { a.checked_mul(b) };
                match joined {
                    Some(joined) => shape.push(joined),
                    None => return call.fault("an extent is out of range"),
                }
            }
            -4 => {
                let extent = next()?;
                let (first, second) = (codes.next(), codes.next());
                let (Some(&first), Some(&second)) = (first, second) else {
                    return call.fault("-4 in newshape is followed by two extents");
                };
                let other = |n: i64| if n > 0 && extent >= 0 { extent / n } else { -1 };
                shape.push(if first == -1 { other(second) } else { first });
                shape.push(if second == -1 { other(first) } else { second });
            }
            other => {
                let _ = next();
                shape.push(other.max(-1));
            }
        }
    }
    if shape.iter().filter(|&&n| n == -1).count() > 1 {
        return call.fault("more than one extent of the result is not known here");
    }
    Ok(shape)
}

/// The shape of the second operand, for the first.
fn like<'c>(call: &mut Call<'_, 'c, '_>, how: &str) -> Outcome<Made<'c>> {
    let like = call.operand(1);
    let shape = fixed(call, like)?;
    let x = call.operand(0);
    let row = if how == "reshape" { &shape::RESHAPE } else { &shape::BROADCAST_TO };
    call.row(row, &[x], Attrs::new().with("shape", shape)).map(Made::Value)
}

/// The shape, which must be known.
pub fn fixed<'c>(call: &Call<'_, 'c, '_>, value: Value<'c>) -> Outcome<Vec<i64>> {
    let ty = call.known(value, "the shape")?;
    match ty.shape() {
        // So that no product of extents is out of range.
        Some(shape)
            if shape.iter().try_fold(1u64, |n, &d| n.checked_mul(d.max(1))).is_none_or(|n| n > 1 << 48) =>
        {
            call.fault(format!("{ty} has more elements than can be computed"))
        }
        Some(shape) => Ok(shape.into_iter().map(|n| n as i64).collect()),
        None => call.fault(format!("all extents must be known here, found {ty}")),
    }
}

fn batch_flatten<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let x = call.operand(0);
    let dims = call.known(x, "the shape")?.dims;
    let rest = dims.iter().skip(1).try_fold(1u64, |n, dim| n.checked_mul(dim.known()?));
    let shape = match (dims.first(), rest) {
        (Some(Dim::Static(first)), _) => vec![*first as i64, -1],
        (Some(_), Some(rest)) => vec![-1, rest as i64],
        _ => return call.fault("the first extent or all others must be known here"),
    };
    call.row(&shape::RESHAPE, &[x], Attrs::new().with("shape", shape)).map(Made::Value)
}

/// Counted from the back, the place is one among the axes of the result.
fn expand_dims<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let Some(axis) = call.maybe_int("axis")? else { return call.fault("the attribute axis is missing") };
    let count = call.int("num_newaxis", 1)?;
    if !(0..=64).contains(&count) || !(-64..=64).contains(&axis) {
        return call.fault("axis or num_newaxis is out of range");
    }
    let first = if axis >= 0 { axis } else { axis + 1 - count };
    let axes: Vec<i64> = (first..first + count).collect();
    let x = call.operand(0);
    if axes.is_empty() {
        return Ok(Made::Value(x));
    }
    call.row(&shape::EXPAND_DIMS, &[x], Attrs::new().with("axes", axes)).map(Made::Value)
}

fn broadcast_to<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, shape) = (call.operand(0), call.ints("shape")?);
    call.row(&shape::BROADCAST_TO, &[x], Attrs::new().with("shape", shape)).map(Made::Value)
}

fn concatenate<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (parts, axis) = (call.elements(0)?, call.int("axis", 0)?);
    if parts.is_empty() {
        return call.fault("takes one tensor or more");
    }
    call.row(&shape::CONCAT, &parts, Attrs::new().with("axis", axis)).map(Made::Value)
}

fn stack<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (parts, axis) = (call.elements(0)?, call.int("axis", 0)?);
    if parts.is_empty() {
        return call.fault("takes one tensor or more");
    }
    let mut expanded = Vec::with_capacity(parts.len());
    for part in parts {
        expanded.push(call.row(&shape::EXPAND_DIMS, &[part], Attrs::new().with("axes", [axis]))?);
    }
    call.row(&shape::CONCAT, &expanded, Attrs::new().with("axis", axis)).map(Made::Value)
}

/// A number of equal pieces, or the places to cut at.
fn split<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    use crate::relay_text::syntax::AttributeValue;
    let (x, axis) = (call.operand(0), call.int("axis", 0)?);
    let ty = call.known(x, "the shape")?;
    let Some(extent) = ty.dims[call.axis_in(axis, ty.rank())?].known() else {
        return call.fault(format!("the extent along axis {axis} must be known here, found {ty}"));
    };
    let extent = extent as i64;
    let sections: Vec<i64> = match call.written("indices_or_sections") {
        Some(AttributeValue::Int(count)) if *count > 0 && *count <= 1 << 16 && extent % count == 0 => {
            vec![extent / count; *count as usize]
        }
        Some(AttributeValue::Int(count)) => {
            return call.fault(format!("the extent {extent} cannot be cut into {count} equal pieces"));
        }
        _ => {
            let cuts = call.ints("indices_or_sections")?;
            let ends = cuts.iter().copied().chain([extent]);
            let begins = [0].into_iter().chain(cuts.iter().copied());
            ends.zip(begins).map(|(end, begin)| end.saturating_sub(begin)).collect()
        }
    };
    let attrs = Attrs::new().with("sections", sections.clone()).with("axis", axis);
    call.rows(&shape::SPLIT, &[x], &attrs, sections.len()).map(Made::several)
}

fn strided_slice<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, begin, mut end) = (call.operand(0), call.ints("begin")?, call.ints("end")?);
    let mut strides = call.maybe_ints("strides")?.unwrap_or_default();
    match call.text("slice_mode", "end")? {
        "end" => {}
        // Ends are lengths, -1 means to the last element; strides count for nothing.
        "size" => {
            for (end, begin) in end.iter_mut().zip(&begin) {
                *end = if *end < 0 { i64::MAX } else { begin.saturating_add(*end) };
            }
            strides.clear();
        }
        other => return call.fault(format!("slice_mode {other:?} is not known; end and size are")),
    }
    if strides.len() == 1 {
        strides = vec![strides[0]; begin.len()];
    }
    let mut attrs = Attrs::new().with("begin", begin).with("end", end);
    if let Some(axes) = call.maybe_ints("axes")? {
        attrs.set("axes", axes);
    }
    if strides.iter().any(|&n| n != 1) {
        attrs.set("strides", strides);
    }
    call.row(&shape::SLICE, &[x], attrs).map(Made::Value)
}

/// Indices are expected in range, whatever `mode` says of others but that they wrap.
fn take<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    if call.int("batch_dims", 0)? != 0 {
        return call.fault("only batch_dims=0 is supported");
    }
    let (mut x, mut indices) = (call.operand(0), call.operand(1));
    let axis = match call.maybe_int("axis")? {
        Some(axis) => axis,
        None => {
            x = super::reduction::flattened(call, x)?;
            0
        }
    };
    match call.text("mode", "clip")? {
        "clip" | "fast" => {}
        "wrap" => {
            let ty = call.known(x, "the shape")?;
            let Some(extent) = ty.dims[call.axis_in(axis, ty.rank())?].known() else {
                return call.fault("mode=\"wrap\" needs a known extent along the axis");
            };
            let dtype = call.ty(indices)?.map_or(DType::I32, |ty| ty.dtype);
            let extent = call.scalar(dtype, extent as f64)?;
            indices = call.plain(&ew::MOD, &[indices, extent])?;
        }
        other => return call.fault(format!("mode {other:?} is not known; clip, fast and wrap are")),
    }
    call.row(&indexing::GATHER, &[x, indices], Attrs::new().with("axis", axis)).map(Made::Value)
}

/// A shorter list counts for the last axes; a longer one adds axes in front.
fn tile<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (mut x, mut reps) = (call.operand(0), call.ints("reps")?);
    let rank = call.rank(x)?;
    if reps.len() > rank {
        let axes: Vec<i64> = (0..(reps.len() - rank) as i64).collect();
        x = call.row(&shape::EXPAND_DIMS, &[x], Attrs::new().with("axes", axes))?;
    }
    while reps.len() < rank {
        reps.insert(0, 1);
    }
    call.row(&shape::TILE, &[x], Attrs::new().with("reps", reps)).map(Made::Value)
}

/// Each element so many times: repeated along a new axis behind its own, which the two then become.
fn repeat<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (repeats, axis) = (call.int("repeats", 1)?, call.int("axis", 0)?);
    let x = call.operand(0);
    let shape = fixed(call, x)?;
    let axis = call.axis_in(axis, shape.len())?;
    let (mut wide, mut joined) = (shape.clone(), shape.clone());
    wide.insert(axis + 1, repeats);
    let Some(extent) = shape[axis].checked_mul(repeats).filter(|n| *n >= 0) else {
        return call.fault(format!("repeats={repeats} is out of range"));
    };
    joined[axis] = extent;
    let x = call.row(&shape::EXPAND_DIMS, &[x], Attrs::new().with("axes", [axis as i64 + 1]))?;
    let x = call.row(&shape::BROADCAST_TO, &[x], Attrs::new().with("shape", wide))?;
    call.row(&shape::RESHAPE, &[x], Attrs::new().with("shape", joined)).map(Made::Value)
}

fn reverse<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let x = call.operand(0);
    let axes = match call.maybe_ints("axis")? {
        Some(axes) => axes,
        None => (0..call.rank(x)? as i64).collect(),
    };
    call.row(&shape::REVERSE, &[x], Attrs::new().with("axes", axes)).map(Made::Value)
}

fn pad<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, widths) = (call.operand(0), call.lists("pad_width")?);
    let value = call.constant(1)?;
    if value.len() != 1 || widths.iter().any(|pair| pair.len() != 2) {
        return call.fault("takes a scalar, and pairs of numbers in pad_width");
    }
    let padding: Vec<i64> =
        widths.iter().map(|pair| pair[0]).chain(widths.iter().map(|pair| pair[1])).collect();
    let mode = call.text("pad_mode", "constant")?.to_owned();
    let attrs = Attrs::new().with("padding", padding);
    let attrs = match mode.as_str() {
        "constant" => attrs.with("value", value.f64_at(0)),
        "edge" | "reflect" => attrs.with("mode", mode.as_str()),
        other => {
            return call.fault(format!("pad_mode {other:?} is not known; constant, edge and reflect are"));
        }
    };
    call.row(&shape::PAD, &[x], attrs).map(Made::Value)
}

fn one_hot<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let mut operands = call.operands();
    if let Some(dtype) = call.maybe_element("dtype")? {
        operands[1] = call.cast(operands[1], dtype)?;
        operands[2] = call.cast(operands[2], dtype)?;
    }
    let Some(depth) = call.maybe_int("depth")? else { return call.fault("the attribute depth is missing") };
    let attrs = Attrs::new().with("depth", depth).with("axis", call.int("axis", -1)?);
    call.row(&indexing::ONE_HOT, &operands, attrs).map(Made::Value)
}
