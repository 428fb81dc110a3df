//! Rows of a table of few bits, quantized in blocks along an axis, dequantized as they are looked up.
//!
//!     y[i, .., k] = (data[index[i], .., k] - zero[index[i], .., k / block]) scale[index[i], .., k / block]
//!
//! Of `uint8` with fewer bits, several numbers are in a byte, the first in the lowest bits, along the last axis.

use fusion_operators::DType;
use fusion_operators::ops::elementwise as ew;

use super::row;
use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::Conversion;

pub const ROWS: &[Conversion] = &[row("GatherBlockQuantized", gather_blocks)];

/// The numbers in the bytes of the last axis, which has `count` of them; all there are, without a count.
fn unpacked(im: &mut Importer, x: Value, bits: i64, count: Option<i64>) -> Made {
    if bits == 8 {
        return Ok(x);
    }
    let (last, each) = (im.rank(x)? - 1, 8 / bits);
    let bytes = im.extent(x, last, "the data")?;
    let shifts: Vec<f64> = (0..each).map(|n| (n * bits) as f64).collect();
    let shifts = im.floats(DType::U8, &[each as usize], &shifts)?;
    let column = im.expand_dims(x, &[last as i64 + 1])?;
    let shifted = im.bin(&ew::SHIFT_RIGHT, column, shifts)?;
    let mask = im.scalar(DType::U8, ((1 << bits) - 1) as f64)?;
    let numbers = im.bin(&ew::BITWISE_AND, shifted, mask)?;
    let mut dims = im.dims(x)?;
    dims[last] = fusion_operators::Dim::Static((bytes * each) as u64);
    let numbers = im.reshape_dims(numbers, &dims)?;
    match count {
        Some(count) if count < bytes * each => im.slice(numbers, last, 0, count),
        _ => Ok(numbers),
    }
}

fn gather_blocks(im: &mut Importer, node: &Node) -> Converted {
    let (data, indices, scales) = (node.input(0)?, node.input(1)?, node.input(2)?);
    let (bits, block) = (node.int("bits", 4)?, node.int("block_size", 128)?);
    let narrow = im.narrow_of(data);
    let packed = im.dtype(data)? == DType::U8 && narrow.is_none();
    if ![2, 4, 8].contains(&bits) {
        return Err(Fault::value(format!("attribute bits must be 2, 4 or 8, found {bits}")));
    }
    if block < 16 || !(block as u64).is_power_of_two() {
        return Err(Fault::value(format!("block_size must be a power of two from 16 on, found {block}")));
    }
    let (axis, by) =
        (im.axis(data, node.int("gather_axis", 0)?)?, im.axis(data, node.int("quantize_axis", 1)?)?);
    let last = im.rank(data)? - 1;
    if axis == by || packed && bits < 8 && axis == last {
        return Err(Fault::value(
            "elements cannot be looked up along the axis of the blocks or of the bytes",
        ));
    }
    let rank = im.rank(indices)?;
    // Axes behind that of the gather move by as many as the indices have more.
    let moved = |at: usize| if at > axis { at + rank - 1 } else { at };
    let rows = im.gather(data, indices, axis)?;
    let numbers = match (packed, narrow) {
        (true, _) => unpacked(im, rows, bits, None)?,
        (false, Some(narrow)) => im.numbers(rows, narrow)?,
        (false, None) => rows,
    };
    let extent = im.extent(numbers, moved(by), "the data")?;
    // One of each block for each of its elements.
    let spread = |im: &mut Importer, v: Value| {
        let places: Vec<i64> = (0..extent).map(|k| k / block).collect();
        let places = im.ints(&[places.len()], &places)?;
        im.gather(v, places, moved(by))
    };
    let dtype = im.dtype(scales)?;
    let scale = im.gather(scales, indices, axis)?;
    let blocks = im.extent(scale, moved(by), "the scales")?;
    let scale = spread(im, scale)?;
    let zero = match node.opt(3) {
        Some(zero) => {
            let narrow = im.narrow_of(zero);
            let zero = im.gather(zero, indices, axis)?;
            let zero = match (packed, narrow) {
                (true, _) if moved(by) == moved(last) => unpacked(im, zero, bits, Some(blocks))?,
                (true, _) => unpacked(im, zero, bits, None)?,
                (false, Some(narrow)) => im.numbers(zero, narrow)?,
                (false, None) => zero,
            };
            let zero = im.cast(zero, dtype)?;
            spread(im, zero)?
        }
        None => im.scalar(dtype, if packed { 2f64.powi(bits as i32 - 1) } else { 0.0 })?,
    };
    let numbers = im.cast(numbers, dtype)?;
    let centred = im.sub(numbers, zero)?;
    Ok(vec![im.mul(centred, scale)?])
}
