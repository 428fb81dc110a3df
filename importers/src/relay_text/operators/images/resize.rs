//! Images at another resolution.
//!
//! Sizes are known, so that each axis is a gather of the elements its taps name, a product with their weights and a sum. Axes
//! whose extent stays are left alone where the coordinates stay as well.

use super::places;
use super::taps::{How, taps};
use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use crate::relay_text::operators::shape::fixed;
use crate::relay_text::operators::{Built, Call};
use fusion_dialects::Value;
use fusion_operators::DType;

const RESIZE: &[&str] = &[
    "size",
    "layout",
    "method",
    "coordinate_transformation_mode",
    "rounding_method",
    "cubic_alpha",
    "cubic_exclude",
    "out_dtype",
];
/// TVM 0.6 has `align_corners`, 0.7 the coordinates.
const OLDER: &[&str] =
    &["size", "layout", "method", "align_corners", "coordinate_transformation_mode", "out_dtype"];
/// They mean something for one way to map coordinates alone, which only `image.crop_and_resize` has.
const IGNORED: &[&str] = &["roi", "extrapolation_value"];

const fn resize(name: &'static str, build: crate::relay_text::operators::Build) -> Built {
    Built { name, operands: (1, 1), attributes: RESIZE, ignored: IGNORED, build }
}

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    resize("image.resize1d", |call| {
        let axes = places(call, "layout", "NCW", ['W'])?;
        sized(call, &axes)
    }),
    resize("image.resize2d", |call| {
        let axes = places(call, "layout", "NCHW", ['H', 'W'])?;
        sized(call, &axes)
    }),
    resize("image.resize3d", |call| {
        let axes = places(call, "layout", "NCDHW", ['D', 'H', 'W'])?;
        sized(call, &axes)
    }),
    Built { name: "image.resize", operands: (1, 1), attributes: OLDER, ignored: &[], build: |call| {
        let size = call.ints("size")?;
        older(call, &size)
    } },
    Built { name: "dyn.image.resize", operands: (2, 2), attributes: OLDER, ignored: &["size"], build: |call| {
        let size = call.known_ints(1)?;
        older(call, &size)
    } },
    Built { name: "nn.upsampling", operands: (1, 1), attributes: &["scale_h", "scale_w", "layout", "method", "align_corners"], ignored: &[], build: |call| {
        let scales = [call.float("scale_h", 1.0)?, call.float("scale_w", 1.0)?];
        upsampled(call, &scales)
    } },
    Built { name: "nn.upsampling3d", operands: (1, 1), attributes: &["scale_d", "scale_h", "scale_w", "layout", "method", "coordinate_transformation_mode"], ignored: &[], build: |call| {
        let scales = [call.float("scale_d", 1.0)?, call.float("scale_h", 1.0)?, call.float("scale_w", 1.0)?];
        upsampled(call, &scales)
    } },
];

/// TVM has several names for the same method.
fn method(call: &Call, usual: &'static str) -> Outcome<String> {
    Ok(match call.text("method", usual)? {
        "nearest_neighbor" | "nearest" => "nearest_neighbor",
        "linear" | "bilinear" | "trilinear" => "linear",
        "cubic" | "bicubic" | "tricubic" => "cubic",
        other => {
            return call
                .fault(format!("method {other:?} is not known; nearest_neighbor, linear and cubic are"));
        }
    }
    .to_owned())
}

fn rounding_of(coordinates: &str) -> String {
    if coordinates == "align_corners" { "round" } else { "floor" }.to_owned()
}

/// `image.resize`, which became `image.resize2d`.
fn older<'c>(call: &mut Call<'_, 'c, '_>, size: &[i64]) -> Outcome<Made<'c>> {
    let axes = places(call, "layout", "NCHW", ['H', 'W'])?;
    let coordinates =
        match (call.maybe_flag("align_corners")?, call.text("coordinate_transformation_mode", "")?) {
            (Some(true), "") | (None, "align_corners") => "align_corners",
            (Some(false), "") | (None, "asymmetric") => "asymmetric",
            (None, "half_pixel") => "half_pixel",
            _ => {
                return call.fault(
                    "versions of TVM differ in what they do by default; write coordinate_transformation_mode \
                 (half_pixel, align_corners or asymmetric), or align_corners",
                );
            }
        };
    let how = How {
        method: method(call, "bilinear")?,
        rounding: rounding_of(coordinates),
        coordinates: coordinates.to_owned(),
        alpha: -0.5,
        exclude: false,
    };
    let x = call.operand(0);
    let value = resized(call, x, &axes, size, &how)?;
    as_asked(call, value)
}

fn sized<'c>(call: &mut Call<'_, 'c, '_>, axes: &[usize]) -> Outcome<Made<'c>> {
    let size = call.ints("size")?;
    let x = call.operand(0);
    let value = resized_to(call, x, axes, &size)?;
    as_asked(call, value)
}

/// A value in the element type that is asked for.
fn as_asked<'c>(call: &mut Call<'_, 'c, '_>, value: Value<'c>) -> Outcome<Made<'c>> {
    match call.maybe_element("out_dtype")? {
        Some(dtype) => call.cast(value, dtype).map(Made::Value),
        None => Ok(Made::Value(value)),
    }
}

/// An image whose axes get those extents, by the attributes of the call.
pub fn resized_to<'c>(
    call: &mut Call<'_, 'c, '_>,
    x: Value<'c>,
    axes: &[usize],
    size: &[i64],
) -> Outcome<Value<'c>> {
    let coordinates = call.text("coordinate_transformation_mode", "half_pixel")?.to_owned();
    let known = ["half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "tf_half_pixel_for_nn"];
    if !known.contains(&coordinates.as_str()) {
        return call.fault(format!("coordinate_transformation_mode {coordinates:?} is not one of {known:?}"));
    }
    let rounding = match call.text("rounding_method", "round")? {
        "" => rounding_of(&coordinates),
        known @ ("round" | "round_prefer_floor" | "round_prefer_ceil" | "floor" | "ceil") => known.to_owned(),
        other => return call.fault(format!("rounding_method {other:?} is not known")),
    };
    let how = How {
        method: method(call, "linear")?,
        coordinates,
        rounding,
        alpha: call.float("cubic_alpha", -0.5)?,
        exclude: call.flag("cubic_exclude", false)?,
    };
    resized(call, x, axes, size, &how)
}

/// An image of two or three axes whose extents are multiplied.
pub fn upsampled<'c>(call: &mut Call<'_, 'c, '_>, scales: &[f64]) -> Outcome<Made<'c>> {
    let axes = match scales.len() {
        2 => places(call, "layout", "NCHW", ['H', 'W'])?.to_vec(),
        _ => places(call, "layout", "NCDHW", ['D', 'H', 'W'])?.to_vec(),
    };
    let coordinates = match (scales.len(), call.flag("align_corners", false)?) {
        (2, true) => "align_corners",
        (2, false) => "asymmetric",
        _ => call.text("coordinate_transformation_mode", "half_pixel")?,
    }
    .to_owned();
    let x = call.operand(0);
    let shape = fixed(call, x)?;
    let mut size = Vec::new();
    for (&axis, scale) in axes.iter().zip(scales) {
        let Some(&extent) = shape.get(axis) else {
            return call.fault("takes an image with all axes of its layout");
        };
        size.push((extent as f64 * scale).round().clamp(0.0, 1e12) as i64);
    }
    let how = How {
        method: method(call, "nearest_neighbor")?,
        rounding: rounding_of(&coordinates),
        coordinates,
        alpha: -0.5,
        exclude: false,
    };
    resized(call, x, &axes, &size, &how).map(Made::Value)
}

fn resized<'c>(
    call: &mut Call<'_, 'c, '_>,
    x: Value<'c>,
    axes: &[usize],
    size: &[i64],
    how: &How,
) -> Outcome<Value<'c>> {
    let shape = fixed(call, x)?;
    if size.len() != axes.len() || size.iter().any(|&n| n < 1) {
        return call.fault(format!("takes {} extents above 0, found {size:?}", axes.len()));
    }
    let dtype = call.dtype(x)?;
    let blends = how.method != "nearest_neighbor";
    // Integers are blended as floats, and cut to integers again.
    let inner = if dtype.is_float() || !blends { dtype } else { DType::F32 };
    let mut y = call.cast(x, inner)?;
    for (&axis, &to) in axes.iter().zip(size) {
        let from = match shape.get(axis) {
            Some(&from) if from > 0 => from,
            _ => return call.fault("takes an image with all axes of its layout, which is not empty"),
        };
        call.countable(&[to, 4])?;
        let taps = taps(how, from, to);
        let count = taps.count as i64;
        let same = count == 1 && from == to && taps.places.iter().zip(0..).all(|(place, i)| *place == i);
        if same {
            continue;
        }
        if count == 1 {
            let places = call.ints_in(DType::I64, &[to], &taps.places)?;
            y = call.gathered(y, places, axis as i64)?;
            continue;
        }
        let places = call.ints_in(DType::I64, &[to, count], &taps.places)?;
        y = call.gathered(y, places, axis as i64)?;
        let mut wide = vec![to, count];
        wide.extend(vec![1; shape.len() - axis - 1]);
        let weights = call.floats_in(inner, &wide, &taps.weights)?;
        y = call.mul(y, weights)?;
        y = call.summed(y, &[axis as i64 + 1])?;
    }
    call.cast(y, dtype)
}
