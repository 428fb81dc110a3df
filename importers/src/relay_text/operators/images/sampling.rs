//! Samples of an image at places that are computed.
//!
//! The image becomes one list of pixels, so that a place is one number: n H W + y W + x.
//! A sample between pixels is the mean of the four around it, weighted by how near they are.

use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use crate::relay_text::operators::shape::fixed;
use crate::relay_text::operators::{Built, Call, built};
use fusion_dialects::Value;
use fusion_operators::ops::{contraction, elementwise as ew};
use fusion_operators::{Attrs, DType};

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    built("image.affine_grid", 1, &["target_shape"], affine_grid),
    built("image.grid_sample", 2, &["method", "layout", "padding_mode", "align_corners"], grid_sample),
];

/// The places, from -1 to 1, that an affine map takes each pixel to: x, then y.
fn affine_grid<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (theta, size) = (call.operand(0), call.ints("target_shape")?);
    let &[h, w] = size.as_slice() else { return call.fault("takes two extents in target_shape") };
    if h < 2 || w < 2 {
        return call.fault(format!("takes extents above 1 in target_shape, found {size:?}"));
    }
    let (count, dtype) = (call.countable(&[h, w, 3])? / 3, call.dtype(theta)?);
    let at = |i: i64, n: i64| -1.0 + 2.0 * i as f64 / (n - 1) as f64;
    let mut base = Vec::with_capacity(3 * count as usize);
    base.extend((0..count).map(|i| at(i % w, w)));
    base.extend((0..count).map(|i| at(i / w, h)));
    base.extend((0..count).map(|_| 1.0));
    let base = call.floats_in(dtype, &[3, count], &base)?;
    let shape = fixed(call, theta)?;
    let &[n, 2, 3] = shape.as_slice() else { return call.fault("takes affine maps, [N, 2, 3]") };
    let grid = call.row(&contraction::MATMUL, &[theta, base], Attrs::new())?;
    call.reshaped(grid, &[n, 2, h, w]).map(Made::Value)
}

/// What an image is beyond its borders.
#[derive(Clone, Copy, PartialEq)]
pub enum Beyond {
    Zeros,
    Border,
}

/// An image as a list of pixels.
pub struct Pixels<'c> {
    /// [N H W, C]
    list: Value<'c>,
    /// The number of the first pixel of each sample's image; it broadcasts to the places.
    first: Value<'c>,
    height: i64,
    width: i64,
    dtype: DType,
}

impl<'c> Pixels<'c> {
    /// Of an image NCHW, and the image that each sample is of.
    pub fn of(call: &mut Call<'_, 'c, '_>, x: Value<'c>, image: Value<'c>) -> Outcome<Pixels<'c>> {
        let shape = fixed(call, x)?;
        let &[n, c, height, width] = shape.as_slice() else {
            return call.fault("takes an image, [N, C, H, W]");
        };
        if height < 1 || width < 1 {
            return call.fault("takes an image that is not empty");
        }
        let list = call.transposed(x, &[0, 2, 3, 1])?;
        let list = call.reshaped(list, &[n * height * width, c])?;
        let image = call.cast(image, DType::I64)?;
        let first = call.times(image, (height * width) as f64)?;
        Ok(Pixels { list, first, height, width, dtype: call.dtype(x)? })
    }

    /// The pixels at whole places, which are floats: [places..., C].
    pub fn at(
        &self,
        call: &mut Call<'_, 'c, '_>,
        y: Value<'c>,
        x: Value<'c>,
        beyond: Beyond,
    ) -> Outcome<Value<'c>> {
        let row = call.clipped(y, 0.0, (self.height - 1) as f64)?;
        let column = call.clipped(x, 0.0, (self.width - 1) as f64)?;
        let rows = call.cast(row, DType::I64)?;
        let columns = call.cast(column, DType::I64)?;
        let place = call.times(rows, self.width as f64)?;
        let place = call.add(place, columns)?;
        let place = call.add(place, self.first)?;
        let pixels = call.gathered(self.list, place, 0)?;
        if beyond == Beyond::Border {
            return Ok(pixels);
        }
        let same_row = call.plain(&ew::EQUAL, &[row, y])?;
        let same_column = call.plain(&ew::EQUAL, &[column, x])?;
        let inside = call.plain(&ew::LOGICAL_AND, &[same_row, same_column])?;
        let inside = call.expanded(inside, &[-1])?;
        let zero = call.scalar(self.dtype, 0.0)?;
        call.select(inside, pixels, zero)
    }

    /// The mean of the four pixels around places: [places..., C].
    pub fn between(
        &self,
        call: &mut Call<'_, 'c, '_>,
        y: Value<'c>,
        x: Value<'c>,
        beyond: Beyond,
    ) -> Outcome<Value<'c>> {
        let (top, left) = (call.plain(&ew::FLOOR, &[y])?, call.plain(&ew::FLOOR, &[x])?);
        let (bottom, right) = (call.plus(top, 1.0)?, call.plus(left, 1.0)?);
        let parts = [(y, top, bottom), (x, left, right)];
        let mut weights = Vec::new();
        for (place, low, high) in parts {
            let far = call.sub(place, low)?;
            let near = call.sub(high, place)?;
            let near = call.expanded(near, &[-1])?;
            let far = call.expanded(far, &[-1])?;
            weights.push([call.cast(near, self.dtype)?, call.cast(far, self.dtype)?]);
        }
        let mut sum = None;
        for (i, row) in [top, bottom].into_iter().enumerate() {
            for (j, column) in [left, right].into_iter().enumerate() {
                let pixels = self.at(call, row, column, beyond)?;
                let weight = call.mul(weights[0][i], weights[1][j])?;
                let part = call.mul(pixels, weight)?;
                sum = Some(match sum {
                    Some(sum) => call.add(sum, part)?,
                    None => part,
                });
            }
        }
        sum.map_or_else(|| call.fault("has no corners"), Ok)
    }
}

/// A place beyond the ends, reflected until it lies within.
fn reflected<'c>(call: &mut Call<'_, 'c, '_>, x: Value<'c>, low: f64, high: f64) -> Outcome<Value<'c>> {
    let range = high - low;
    if range <= 0.0 {
        return call.times(x, 0.0);
    }
    // The distance from the low end, folded: range - | ((x - low) mod 2 range) - range |.
    let from_low = call.plus(x, -low)?;
    let period = call.like(x, 2.0 * range)?;
    let within = call.plain(&ew::MOD, &[from_low, period])?;
    let centred = call.plus(within, -range)?;
    let size = call.plain(&ew::ABS, &[centred])?;
    let negative = call.times(size, -1.0)?;
    call.plus(negative, range + low)
}

fn grid_sample<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (image, grid) = (call.operand(0), call.operand(1));
    call.require("layout", "NCHW", &["NCHW"])?;
    call.require("method", "bilinear", &["bilinear", "nearest"])?;
    call.require("padding_mode", "zeros", &["zeros", "border", "reflection"])?;
    let corners = call.flag("align_corners", true)?;
    let (shape, places) = (fixed(call, image)?, fixed(call, grid)?);
    let (&[n, _, height, width], &[_, 2, _, _]) = (shape.as_slice(), places.as_slice()) else {
        return call.fault("takes an image, [N, C, H, W], and a grid, [N, 2, rows, columns]");
    };
    let grid = call.cast(grid, DType::F32)?;
    let numbers: Vec<i64> = (0..n).collect();
    call.countable(&[n])?;
    let number = call.ints_in(DType::I64, &[n, 1, 1], &numbers)?;
    let pixels = Pixels::of(call, image, number)?;
    let mode = call.text("padding_mode", "zeros")?.to_owned();
    let mut along = Vec::new();
    for (part, extent) in [(1, height), (0, width)] {
        let extent = extent as f64;
        let (scale, shift) = if corners {
            ((extent - 1.0) / 2.0, (extent - 1.0) / 2.0)
        } else {
            (extent / 2.0, (extent - 1.0) / 2.0)
        };
        let place = call.at(grid, 1, part)?;
        let place = call.times(place, scale)?;
        let mut place = call.plus(place, shift)?;
        if mode == "reflection" {
            let (low, high) = if corners { (0.0, extent - 1.0) } else { (-0.5, extent - 0.5) };
            place = reflected(call, place, low, high)?;
        }
        if mode != "zeros" {
            place = call.clipped(place, 0.0, extent - 1.0)?;
        }
        along.push(place);
    }
    let beyond = if mode == "zeros" { Beyond::Zeros } else { Beyond::Border };
    let sampled = if call.text("method", "bilinear")? == "nearest" {
        let (y, x) = (call.plain(&ew::ROUND, &[along[0]])?, call.plain(&ew::ROUND, &[along[1]])?);
        pixels.at(call, y, x, beyond)?
    } else {
        pixels.between(call, along[0], along[1], beyond)?
    };
    call.transposed(sampled, &[0, 3, 1, 2]).map(Made::Value)
}
