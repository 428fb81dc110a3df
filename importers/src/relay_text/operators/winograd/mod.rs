//! Convolutions by Winograd's method, whose weights TVM transforms ahead.
//!
//! ```text
//!   U = G g G^T      nn.contrib_conv2d_winograd_weight_transform: [r, r, CO, CI] of weights OIHW, r = tile_size + kernel - 1
//!   V = B^T d B      for each tile d of r by r elements of the data; tiles are tile_size apart
//!   Y = A^T M A      where M[i, j] = U[i, j] V[i, j], a product of matrices over the channels for each place i, j
//! ```
//! Over three axes there are three matrices; a depth that is not transformed (the kernel is no cube) is summed over with the
//! channels. Source: Lavin and Gray, Fast algorithms for convolutional neural networks (2015).

mod cuts;
mod matrices;
mod weights;

use super::contraction::per_axis;
use super::rearranging::relaid;
use super::shape::fixed;
use super::{Build, Built, Call, built};
use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use cuts::{Cuts, is_cube};
use fusion_dialects::Value;
use fusion_operators::DType;
use fusion_operators::ops::contraction;
use matrices::{Matrices, Matrix};

const CONV: &[&str] = &[
    "tile_size",
    "strides",
    "padding",
    "dilation",
    "groups",
    "channels",
    "kernel_size",
    "data_layout",
    "out_layout",
    "out_dtype",
];

const fn product(name: &'static str, build: Build) -> Built {
    Built { name, operands: (2, 2), attributes: CONV, ignored: &["kernel_layout"], build }
}

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    built("nn.contrib_conv2d_winograd_weight_transform", 1, &["tile_size"], |call| weights::transformed(call, 2)),
    built("nn.contrib_conv3d_winograd_weight_transform", 1, &["tile_size"], |call| weights::transformed(call, 3)),
    product("nn.contrib_conv2d_winograd_without_weight_transform", |call| convolved(call, "NCHW")),
    product("nn.contrib_conv3d_winograd_without_weight_transform", |call| convolved(call, "NCDHW")),
];

/// The matrices for a kernel.
fn matrices(call: &Call<'_, '_, '_>, kernel: &[i64]) -> Outcome<Matrices> {
    let tile = call.required("tile_size")?;
    let fits = kernel.ends_with(&[kernel[kernel.len() - 1]; 2]) && kernel[0] >= 1;
    match Matrices::new(tile, kernel[kernel.len() - 1]).filter(|_| fits) {
        Some(matrices) => Ok(matrices),
        None => call.fault(format!(
            "takes a tile_size from 2 to 8 and kernels as high as wide, from 3 to 7, found {tile} and {kernel:?}"
        )),
    }
}

/// y[.., j, ..] = sum_k x[.., k, ..] matrix[k, j] along an axis.
fn along<'c>(call: &mut Call<'_, 'c, '_>, x: Value<'c>, axis: usize, matrix: &Matrix) -> Outcome<Value<'c>> {
    let mut shape = fixed(call, x)?;
    let rank = shape.len() as i64;
    let (axis, behind) = (axis as i64, rank - 1);
    let to_last: Vec<i64> = (0..rank).filter(|other| *other != axis).chain([axis]).collect();
    let back: Vec<i64> = (0..axis).chain([behind]).chain(axis..behind).collect();
    shape.remove(axis as usize);
    let x = call.transposed(x, &to_last)?;
    let extents = [matrix.rows as i64, matrix.columns as i64];
    let x = call.reshaped(x, &[shape.iter().product(), extents[0]])?;
    let dtype = call.dtype(x)?;
    let factors = call.floats_in(dtype, &extents, &matrix.elements)?;
    let y = call.plain(&contraction::MATMUL, &[x, factors])?;
    shape.push(extents[1]);
    let y = call.reshaped(y, &shape)?;
    call.transposed(y, &back)
}

fn convolved<'c>(call: &mut Call<'_, 'c, '_>, usual: &'static str) -> Outcome<Made<'c>> {
    let Some(kernel) = per_axis(call, "kernel_size", usual.len() - 2)? else {
        return call.fault("the attribute kernel_size is missing");
    };
    let (layout, matrices) = (call.text("data_layout", usual)?.to_owned(), matrices(call, &kernel)?);
    let (mut data, mut weight) = (call.operand(0), call.operand(1));
    let dtype = call.maybe_element("out_dtype")?.map_or_else(|| call.dtype(data), Ok)?;
    if !dtype.is_float() {
        return call.fault(format!("takes floats, found {dtype}"));
    }
    for operand in [&mut data, &mut weight] {
        *operand = call.cast(*operand, dtype)?;
    }
    data = relaid(call, data, &layout, usual)?;
    let shape = fixed(call, data)?;
    if shape.len() != usual.len() {
        return call.fault(format!("takes data of {} axes, found {shape:?}", usual.len()));
    }
    let cuts = Cuts::of(call, &shape, &kernel)?;
    let (weight, results) = weights::by_place(call, weight, &kernel, shape[1], &layout)?;
    let tiles = tiles(call, data, &cuts, &matrices)?;
    let product = call.plain(&contraction::BATCH_MATMUL, &[weight, tiles])?;
    let y = gathered_results(call, product, &cuts, &matrices, results)?;
    let wanted = match call.text("out_layout", "")? {
        "" => layout,
        other => other.to_owned(),
    };
    relaid(call, y, usual, &wanted).map(Made::Value)
}

/// V: [places, depth and channels, N and windows].
fn tiles<'c>(
    call: &mut Call<'_, 'c, '_>,
    data: Value<'c>,
    cuts: &Cuts,
    matrices: &Matrices,
) -> Outcome<Value<'c>> {
    let mut tiles = call.padded(data, &cuts.begin, &cuts.end, 0.0)?;
    // Along each axis, windows and what is in them: [N, C, windows, width, ...].
    for (axis, cut) in (0..).zip(&cuts.axes) {
        call.countable(&[cut.windows, cut.width])?;
        let places = (0..cut.windows).flat_map(|w| (0..cut.width).map(move |i| w * cut.step + i));
        let places: Vec<i64> = places.collect();
        let places = call.ints_in(DType::I64, &[cut.windows, cut.width], &places)?;
        tiles = call.gathered(tiles, places, 2 + 2 * axis)?;
    }
    let (b, count) = (matrices.b(), cuts.axes.len());
    for axis in cuts.transformed() {
        tiles = along(call, tiles, 3 + 2 * axis, &b)?;
    }
    let inside = cuts.transformed().chain(0..cuts.transformed().start).map(|axis| 3 + 2 * axis as i64);
    let windows = (0..count as i64).map(|axis| 2 + 2 * axis);
    let order: Vec<i64> = inside.chain([1, 0]).chain(windows).collect();
    let tiles = call.transposed(tiles, &order)?;
    let windows: i64 = cuts.axes.iter().map(|cut| cut.windows).product();
    call.reshaped(tiles, &[cuts.places(matrices), cuts.depth() * cuts.channels, cuts.batch * windows])
}

/// Y of a product [places, CO, N and windows], tile by tile: [N, CO, ...].
fn gathered_results<'c>(
    call: &mut Call<'_, 'c, '_>,
    product: Value<'c>,
    cuts: &Cuts,
    matrices: &Matrices,
    results: i64,
) -> Outcome<Value<'c>> {
    let (a, count) = (matrices.a(), cuts.transformed().len());
    let mut split = vec![matrices.extent() as i64; count];
    split.extend([results, cuts.batch]);
    split.extend(cuts.axes.iter().map(|cut| cut.windows));
    let mut y = call.reshaped(product, &split)?;
    for place in 0..count {
        y = along(call, y, place, &a)?;
    }
    let count = count as i64;
    let mut order = vec![count + 1, count];
    let mut shape = vec![cuts.batch, results];
    for (axis, cut) in cuts.axes.iter().enumerate() {
        order.push(count + 2 + axis as i64);
        order
            .extend(cuts.transformed().position(|transformed| transformed == axis).map(|place| place as i64));
        shape.push(cut.windows * cut.gives);
    }
    let y = call.transposed(y, &order)?;
    let y = call.reshaped(y, &shape)?;
    let extents: Vec<i64> = cuts.axes.iter().map(|cut| cut.extent).collect();
    let axes: Vec<i64> = (2..shape.len() as i64).collect();
    call.sliced(y, &axes, &vec![0; axes.len()], &extents)
}
