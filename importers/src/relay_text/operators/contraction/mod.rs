//! Products of matrices and convolutions.

mod einsum;
pub mod order;

pub use einsum::BUILT as SUMS;

use super::{Built, Call, Same};
use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use fusion_operators::ops::{contraction as product, convolution as conv, elementwise as ew, shape};
use fusion_operators::{Attrs, DType, Dim, Operator};
use order::{Usual, ordered};

pub const SAME: &[Same] = &[];

pub const CONV: &[&str] =
    &["strides", "padding", "dilation", "groups", "out_dtype", "data_layout", "kernel_layout", "out_layout"];
pub const TRANSPOSED: &[&str] = &[
    "strides",
    "padding",
    "dilation",
    "groups",
    "out_dtype",
    "data_layout",
    "kernel_layout",
    "out_layout",
    "output_padding",
];
pub const SIZES: &[&str] = &["channels", "kernel_size"];

const fn conv(name: &'static str, attributes: &'static [&'static str], build: super::Build) -> Built {
    Built { name, operands: (2, 2), attributes, ignored: SIZES, build }
}

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    Built { name: "nn.dense", operands: (2, 2), attributes: &["units", "out_dtype"], ignored: &[], build: dense },
    Built { name: "nn.matmul", operands: (2, 2), attributes: &["transpose_a", "transpose_b", "out_dtype"], ignored: &["units"], build: matmul },
    Built { name: "nn.batch_matmul", operands: (2, 2), attributes: &["transpose_a", "transpose_b", "out_dtype"], ignored: &[], build: batch_matmul },
    Built { name: "nn.contrib_dense_pack", operands: (2, 2), attributes: &["units", "out_dtype", "weight_layout"], ignored: &[], build: dense_pack },
    Built { name: "nn.bias_add", operands: (2, 2), attributes: &["axis"], ignored: &[], build: bias_add },
    conv("nn.conv1d", CONV, |call| convolution(call, &conv::CONV1D, 1, "NCW", "OIW")),
    conv("nn.conv2d", CONV, |call| convolution(call, &conv::CONV2D, 2, "NCHW", "OIHW")),
    conv("nn.contrib_conv2d_NCHWc", CONV, |call| convolution(call, &conv::CONV2D, 2, "NCHW", "OIHW")),
    conv("nn.contrib_conv2d_NCHWc_int8", CONV, |call| convolution(call, &conv::CONV2D, 2, "NCHW", "OIHW")),
    conv("nn.contrib_depthwise_conv2d_NCHWc", CONV, |call| convolution(call, &conv::CONV2D, 2, "NCHW", "OIHW")),
    conv("nn.conv3d", CONV, |call| convolution(call, &conv::CONV3D, 3, "NCDHW", "OIDHW")),
    conv("nn.conv1d_transpose", TRANSPOSED, |call| convolution(call, &conv::CONV1D_TRANSPOSE, 1, "NCW", "IOW")),
    conv("nn.conv2d_transpose", TRANSPOSED, |call| convolution(call, &conv::CONV2D_TRANSPOSE, 2, "NCHW", "IOHW")),
    conv("nn.conv3d_transpose", TRANSPOSED, |call| convolution(call, &conv::CONV3D_TRANSPOSE, 3, "NCDHW", "IODHW")),
];

/// The result under the element type that was asked for.
fn product<'c>(call: &mut Call<'_, 'c, '_>, row: &'static Operator, attrs: Attrs) -> Outcome<Made<'c>> {
    let (mut operands, mut attrs) = (call.operands(), attrs);
    if let Some(dtype) = call.maybe_element("out_dtype")?.or(call.out_dtype) {
        let mut found = Vec::new();
        for operand in &operands {
            found.extend(call.ty(*operand)?.map(|ty| ty.dtype));
        }
        let same = found.iter().all(|found| *found == dtype);
        let narrow = |found: &DType| found.is_int() && found.size() <= dtype.size();
        if !same && dtype.is_int() && found.iter().all(narrow) {
            attrs.set("out_dtype", dtype);
        } else {
            // Other numbers are cast before they are multiplied.
            for operand in &mut operands {
                let other = call.ty(*operand)?.is_some_and(|ty| ty.dtype != dtype);
                *operand = if other { call.cast(*operand, dtype)? } else { *operand };
            }
        }
    }
    call.row(row, &operands, attrs).map(Made::Value)
}

/// `units` says what the weight's first extent is.
pub fn dense<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let weight = call.operand(1);
    if let (Some(units), Some(ty)) = (call.maybe_int("units")?, call.ty(weight)?)
        && let Some(Dim::Static(rows)) = ty.dims.first()
        && i64::try_from(*rows) != Ok(units)
    {
        return call.fault(format!("the weight has {rows} rows, the attribute units says {units}"));
    }
    product(call, &product::DENSE, Attrs::new())
}

/// The weight in another layout, such as NC8n.
fn dense_pack<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let layout = call.text("weight_layout", "NC")?.to_owned();
    let weight = call.operand(1);
    call.arguments[1] = Made::Value(super::rearranging::relaid(call, weight, &layout, "NC")?);
    product(call, &product::DENSE, Attrs::new())
}

fn flags(call: &Call, transpose_b: bool) -> Outcome<Attrs> {
    let mut attrs = Attrs::new();
    for (name, default) in [("transpose_a", false), ("transpose_b", transpose_b)] {
        if call.flag(name, default)? {
            attrs.set(name, true);
        }
    }
    Ok(attrs)
}

fn matmul<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let attrs = flags(call, false)?;
    product(call, &product::MATMUL, attrs)
}

pub fn batch_matmul<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let attrs = flags(call, true)?;
    product(call, &product::BATCH_MATMUL, attrs)
}

/// The bias gets an axis of extent 1 for each axis behind its own; along the last axis it needs none.
fn bias_add<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let axis = call.int("axis", 1)?;
    let (data, mut bias) = (call.operand(0), call.operand(1));
    let behind = match axis {
        -1 => 0,
        axis if axis < 0 => (-1 - axis) as usize,
        axis => {
            let rank = call.rank(data)?;
            rank - 1 - call.axis_in(axis, rank)?
        }
    };
    if behind > 64 {
        return call.fault(format!("axis {axis} is out of range"));
    }
    if behind > 0 {
        let axes: Vec<i64> = (1..=behind as i64).collect();
        bias = call.row(&shape::EXPAND_DIMS, &[bias], Attrs::new().with("axes", axes))?;
    }
    call.plain(&ew::ADD, &[data, bias]).map(Made::Value)
}

/// Padding as TVM writes it: one number for all, one an axis, or all beginnings and all ends.
pub fn padding(call: &Call, axes: usize) -> Outcome<Vec<i64>> {
    let given = call.maybe_ints("padding")?.unwrap_or_default();
    Ok(match given.len() {
        0 => vec![0; 2 * axes],
        1 => vec![given[0]; 2 * axes],
        n if n == axes => given.iter().chain(&given).copied().collect(),
        n if n == 2 * axes => given,
        n => return call.fault(format!("padding has {n} numbers; 1, {axes} or {} are expected", 2 * axes)),
    })
}

/// One number an axis; a single one is for all.
pub fn per_axis(call: &Call, name: &str, axes: usize) -> Outcome<Option<Vec<i64>>> {
    match call.maybe_ints(name)? {
        Some(one) if one.len() == 1 => Ok(Some(vec![one[0]; axes])),
        Some(list) if list.len() != axes => {
            call.fault(format!("{name} has {} numbers; {axes} are expected", list.len()))
        }
        other => Ok(other),
    }
}

pub fn convolution<'c>(
    call: &mut Call<'_, 'c, '_>,
    row: &'static Operator,
    axes: usize,
    data_layout: &'static str,
    kernel_layout: &'static str,
) -> Outcome<Made<'c>> {
    let usual = Usual { name: "data_layout", data: data_layout, weights: Some(kernel_layout) };
    let (row, mut attrs) = ordered(call, row, &usual)?;
    let plain = |numbers: &[i64], what: i64| numbers.iter().all(|&n| n == what);
    for name in ["strides", "dilation"] {
        if let Some(numbers) = per_axis(call, name, axes)?.filter(|numbers| !plain(numbers, 1)) {
            attrs.set(name, numbers);
        }
    }
    let padding = padding(call, axes)?;
    if !plain(&padding, 0) {
        attrs.set("padding", padding);
    }
    if let Some(output) = per_axis(call, "output_padding", axes)?.filter(|numbers| !plain(numbers, 0)) {
        attrs.set("output_padding", output);
    }
    match call.int("groups", 1)? {
        1 => {}
        groups => attrs.set("groups", groups),
    }
    product(call, row, attrs)
}
