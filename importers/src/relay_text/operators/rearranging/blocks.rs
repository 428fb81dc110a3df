//! Operators that trade extents of images for channels or for images, and back.
//!
//! Each is a reshape, a transposition and a reshape, with padding before or cutting after it.

use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use crate::relay_text::operators::shape::fixed;
use crate::relay_text::operators::{Built, Call, built};
use fusion_dialects::Value;

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    built("nn.depth_to_space", 1, &["block_size", "layout", "mode"], depth_to_space),
    built("nn.space_to_depth", 1, &["block_size", "layout"], space_to_depth),
    built("nn.space_to_batch_nd", 1, &["block_shape", "paddings", "pad_value"], space_to_batch),
    built("nn.batch_to_space_nd", 1, &["block_shape", "crops"], batch_to_space),
    built("vision.yolo_reorg", 1, &["stride"], reorg),
];

/// An image as NCHW with its extents, the number that its extents are divided by, and whether it was NHWC.
fn image<'c>(call: &mut Call<'_, 'c, '_>, name: &str) -> Outcome<(Value<'c>, [i64; 4], i64, bool)> {
    let (x, block) = (call.operand(0), call.required(name)?);
    call.require("layout", "NCHW", &["NCHW", "NHWC"])?;
    let last = call.text("layout", "NCHW")? == "NHWC";
    let x = if last { call.transposed(x, &[0, 3, 1, 2])? } else { x };
    let shape = fixed(call, x)?;
    if shape.contains(&0) {
        return call.fault("takes an image that is not empty");
    }
    match (shape.as_slice().try_into(), block) {
        (Ok(shape), 1..) => Ok((x, shape, block, last)),
        _ => call
            .fault(format!("takes an image of four axes and a number above 0, found {shape:?} and {block}")),
    }
}

fn back<'c>(call: &mut Call<'_, 'c, '_>, x: Value<'c>, last: bool) -> Outcome<Made<'c>> {
    let x = if last { call.transposed(x, &[0, 2, 3, 1])? } else { x };
    Ok(Made::Value(x))
}

/// The channels of a block lie in its rows and columns: the block first (DCR), or the channels first (CRD).
fn depth_to_space<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, [n, c, h, w], b, last) = image(call, "block_size")?;
    let Some(depth) = b.checked_mul(b).filter(|size| c % size == 0).map(|size| c / size) else {
        return call.fault(format!("{c} channels cannot be cut into blocks of {b} by {b}"));
    };
    call.require("mode", "DCR", &["DCR", "CRD"])?;
    let x = if call.text("mode", "DCR")? == "CRD" {
        let x = call.reshaped(x, &[n, depth, b, b, h, w])?;
        call.transposed(x, &[0, 1, 4, 2, 5, 3])?
    } else {
        let x = call.reshaped(x, &[n, b, b, depth, h, w])?;
        call.transposed(x, &[0, 3, 4, 1, 5, 2])?
    };
    let x = call.reshaped(x, &[n, depth, h * b, w * b])?;
    back(call, x, last)
}

fn space_to_depth<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, [n, c, h, w], b, last) = image(call, "block_size")?;
    if h % b != 0 || w % b != 0 {
        return call.fault(format!("an image of {h} by {w} cannot be cut into blocks of {b} by {b}"));
    }
    let x = call.reshaped(x, &[n, c, h / b, b, w / b, b])?;
    let x = call.transposed(x, &[0, 3, 5, 1, 2, 4])?;
    let x = call.reshaped(x, &[n, c * b * b, h / b, w / b])?;
    back(call, x, last)
}

/// Darknet's reorganisation, as TVM computes it: the channels are read as blocks of the rows and columns of the result.
fn reorg<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, [n, c, h, w], s, _) = image(call, "stride")?;
    let Some(depth) = s.checked_mul(s).filter(|size| c % size == 0 && h % s == 0 && w % s == 0) else {
        return call.fault(format!("a tensor of {c} by {h} by {w} cannot be cut by {s}"));
    };
    // y[k] of c/s^2 by h s by w s is x; then each block of s by s becomes channels.
    let x = call.reshaped(x, &[n, c / depth, h, s, w, s])?;
    let x = call.transposed(x, &[0, 3, 5, 1, 2, 4])?;
    call.reshaped(x, &[n, c * depth, h / s, w / s]).map(Made::Value)
}

/// What both of the operators below have: the block along each axis, and two numbers each.
fn blocks(call: &mut Call, pairs: &str) -> Outcome<(Vec<i64>, Vec<Vec<i64>>)> {
    let (block, pairs) = (call.ints("block_shape")?, call.lists(pairs)?);
    let fits = pairs.len() == block.len()
        && pairs.iter().all(|pair| pair.len() == 2 && pair.iter().all(|&n| n >= 0));
    if block.is_empty() || block.iter().any(|&n| n < 1) || !fits {
        return call
            .fault("takes numbers above 0 in block_shape, and two that are not negative for each of them");
    }
    call.moderate(&pairs.concat())?;
    call.countable(&block)?;
    Ok((block, pairs))
}

fn space_to_batch<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (mut x, (block, pairs)) = (call.operand(0), blocks(call, "paddings")?);
    let (rank, count) = (call.rank(x)?, block.len());
    if rank <= count {
        return call.fault("block_shape has a number for each axis behind the first, at most");
    }
    let side = |which: usize| -> Vec<i64> {
        let inner = pairs.iter().map(|pair| pair[which]);
        [0].into_iter().chain(inner).chain(vec![0; rank - 1 - count]).collect()
    };
    x = call.padded(x, &side(0), &side(1), call.float("pad_value", 0.0)?)?;
    let shape = fixed(call, x)?;
    if (0..count).any(|i| shape[i + 1] % block[i] != 0) {
        return call
            .fault(format!("padded to {shape:?}, the operand cannot be cut into blocks of {block:?}"));
    }
    let mut cut = vec![shape[0]];
    (0..count).for_each(|i| cut.extend([shape[i + 1] / block[i], block[i]]));
    cut.extend(&shape[count + 1..]);
    let places = |first: i64| (0..count as i64).map(move |i| 1 + 2 * i + first);
    let rest = 1 + 2 * count as i64..cut.len() as i64;
    let axes: Vec<i64> = places(1).chain([0]).chain(places(0)).chain(rest).collect();
    let mut result = vec![shape[0] * block.iter().product::<i64>()];
    result.extend((0..count).map(|i| shape[i + 1] / block[i]));
    result.extend(&shape[count + 1..]);
    x = call.reshaped(x, &cut)?;
    x = call.transposed(x, &axes)?;
    call.reshaped(x, &result).map(Made::Value)
}

fn batch_to_space<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (mut x, (block, pairs)) = (call.operand(0), blocks(call, "crops")?);
    let (shape, count) = (fixed(call, x)?, block.len());
    let size = block.iter().try_fold(1i64, |size, n| size.checked_mul(*n));
    let Some(size) = size.filter(|size| shape.len() > count && shape[0] % size == 0) else {
        return call.fault(format!("a tensor of {shape:?} is not made of blocks of {block:?}"));
    };
    let mut cut = block.clone();
    cut.push(shape[0] / size);
    cut.extend(&shape[1..]);
    let count = count as i64;
    let mut axes = vec![count];
    (0..count).for_each(|i| axes.extend([count + 1 + i, i]));
    axes.extend(2 * count + 1..cut.len() as i64);
    let mut result = vec![shape[0] / size];
    result.extend(shape[1..].iter().zip(&block).map(|(extent, block)| extent * block));
    let whole = result.clone();
    result.extend(&shape[1 + block.len()..]);
    x = call.reshaped(x, &cut)?;
    x = call.transposed(x, &axes)?;
    x = call.reshaped(x, &result)?;
    if pairs.iter().flatten().all(|&n| n == 0) {
        return Ok(Made::Value(x));
    }
    let axes: Vec<i64> = (1..=count).collect();
    let begin: Vec<i64> = pairs.iter().map(|pair| pair[0]).collect();
    let end: Vec<i64> = pairs.iter().zip(&whole[1..]).map(|(pair, extent)| extent - pair[1]).collect();
    call.sliced(x, &axes, &begin, &end).map(Made::Value)
}
