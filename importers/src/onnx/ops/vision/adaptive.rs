//! RoiAlign whose cells have as many samples as they are pixels long: how many, only the regions say.
//!
//! ```text
//!   y[r, c, i, j] = sum_(h, w) A[r, i, h] B[r, j, w] x[b_r, c, h, w]       a sample is a product of one of each axis
//!   A[r, i, h]    = 1/s sum_(k < s) weight of pixel h at place p + k d,    s = ceil(length / cells), d = length / cells / s
//! ```
//! The weight rises from h - 1 to h and falls to h + 1. On each side the places are a range of k, whose sum is known in closed form:
//! `n` places from `a` on sum up to `n p + d (2 a + n - 1) n / 2`. So no number of samples has to be bounded. The batch of a region is a
//! part of the axis that is summed over, since an image for each region would be large.

use fusion_operators::ops::elementwise as ew;
use fusion_operators::{Attrs, DType};

use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::Value;

/// Places up to this far beyond the end count, so that one at the end does in spite of rounding.
const BEYOND: f64 = 1e-4;

/// The regions of an image.
pub struct Regions {
    /// Where they begin and end along an axis, [R, 1] in pixels of the image.
    pub ends: [[Value; 2]; 2],
    /// The number of the image of each, [R].
    pub batches: Value,
    /// How many there are.
    pub count: i64,
    /// Cells along each axis.
    pub cells: [i64; 2],
    /// Whether regions are at least a pixel long.
    pub at_least_one: bool,
}

/// The mean of the samples of each cell.
pub fn mean(im: &mut Importer, x: Value, regions: &Regions, image: [i64; 4]) -> Converted {
    let [n, channels, height, width] = image;
    let (dtype, count, [rows, columns]) = (im.dtype(x)?, regions.count, regions.cells);
    let x = im.wide(x)?;
    let [of_rows, of_columns] = [(0, height), (1, width)].map(|(axis, extent)| {
        let weights = weights(im, regions, axis, extent)?;
        im.cast(weights, im.dtype(x)?)
    });
    let (of_rows, of_columns) = (of_rows?, of_columns?);
    // [R, 1, N, 1]: whether a region is of an image.
    let numbers = im.arange(DType::I64, n, 0.0, 1.0)?;
    let batches = im.cast(regions.batches, DType::I64)?;
    let batches = im.expand_dims(batches, &[1])?;
    let own = im.equal(batches, numbers)?;
    let own = im.cast(own, im.dtype(x)?)?;
    let own = im.expand_dims(own, &[1, 3])?;
    let of_rows = im.expand_dims(of_rows, &[2])?;
    let of_rows = im.mul(of_rows, own)?;
    let of_rows = im.reshape(of_rows, &[count * rows, n * height])?;
    let image = im.transpose(x, &[0, 2, 1, 3])?;
    let image = im.reshape(image, &[n * height, channels * width])?;
    let lines = im.matmul(of_rows, image)?;
    let lines = im.reshape(lines, &[count, rows * channels, width])?;
    let of_columns = im.transpose(of_columns, &[0, 2, 1])?;
    let cells = im.matmul(lines, of_columns)?;
    let cells = im.reshape(cells, &[count, rows, channels, columns])?;
    let y = im.transpose(cells, &[0, 2, 1, 3])?;
    Ok(vec![im.cast(y, dtype)?])
}

/// Places of samples along an axis, [R, cells, 1], and how they go on, [R, 1, 1].
struct Places {
    first: Value,
    step: Value,
    count: Value,
}

/// What each pixel of an axis weighs in each cell: [R, cells, extent].
fn weights(im: &mut Importer, regions: &Regions, axis: usize, extent: i64) -> Made {
    let ([begin, end], cells) = (regions.ends[axis], regions.cells[axis]);
    let mut length = im.sub(end, begin)?;
    if regions.at_least_one {
        length = im.max_f(length, 1.0)?;
    }
    let cell = im.mul_f(length, 1.0 / cells as f64)?;
    let count = im.un(&ew::CEIL, cell)?;
    let count = im.max_f(count, 0.0)?;
    let divisor = im.max_f(count, 1.0)?;
    let step = im.div(cell, divisor)?;
    let dtype = im.dtype(step)?;
    let numbers = im.arange(dtype, cells, 0.0, 1.0)?;
    let along = im.mul(cell, numbers)?;
    let half = im.mul_f(step, 0.5)?;
    let first = im.add(begin, along)?;
    let first = im.add(first, half)?;
    let mut raised = |v: Value| im.expand_dims(v, &[2]);
    let (first, step, count, divisor) = (raised(first)?, raised(step)?, raised(count)?, raised(divisor)?);
    // Without samples any step will do.
    let step = im.max_f(step, f64::from(f32::MIN_POSITIVE).sqrt())?;
    let places = Places { first, step, count };
    let pixels = im.arange(dtype, extent, 0.0, 1.0)?;
    let (before, behind) = (im.add_f(pixels, -1.0)?, im.add_f(pixels, 1.0)?);
    let (is_first, is_last) = (im.equal_f(pixels, 0.0)?, im.equal_f(pixels, (extent - 1) as f64)?);
    let (rising, until) = between(im, &places, [before, pixels], before)?;
    let rising = im.select(is_first, until, rising)?;
    let far = im.add_f(behind, BEYOND)?;
    let end = im.select(is_last, far, behind)?;
    let (falling, from) = between(im, &places, [pixels, end], behind)?;
    let falling = im.f_sub(0.0, falling)?;
    let falling = im.select(is_last, from, falling)?;
    let sum = im.add(rising, falling)?;
    im.div(sum, divisor)
}

/// The sum of how far the places within bounds lie behind another, and how many there are.
fn between(
    im: &mut Importer,
    places: &Places,
    bounds: [Value; 2],
    from: Value,
) -> Result<(Value, Value), Fault> {
    let mut numbers = [from; 2];
    for (number, bound) in numbers.iter_mut().zip(bounds) {
        let distance = im.sub(bound, places.first)?;
        let place = im.div(distance, places.step)?;
        let place = im.un(&ew::CEIL, place)?;
        let place = im.max_f(place, 0.0)?;
        *number = im.minimum(place, places.count)?;
    }
    let [begin, end] = numbers;
    let count = im.sub(end, begin)?;
    let first = im.sub(places.first, from)?;
    let both = im.add(begin, end)?;
    let both = im.add_f(both, -1.0)?;
    let half = im.mul_f(both, 0.5)?;
    let moved = im.mul(places.step, half)?;
    let mean = im.add(first, moved)?;
    Ok((im.op(&ew::MUL, &[mean, count], Attrs::new())?, count))
}
