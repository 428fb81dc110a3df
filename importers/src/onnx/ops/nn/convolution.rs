//! Convolutions and their transposes.

use fusion_operators::ops::convolution as conv;
use fusion_operators::{Attrs, DType, Dim, Operator};

use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::moving::spatial::{Auto, Window};
use crate::onnx::ops::{Conversion, row};

pub const ROWS: &[Conversion] = &[
    row("Conv", |im, node| {
        let y = convolve(im, node, node.input(0)?, node.input(1)?)?;
        Ok(vec![biased(im, node, y)?])
    }),
    row("ConvTranspose", conv_transpose),
];

const FORWARD: [&Operator; 3] = [&conv::CONV1D, &conv::CONV2D, &conv::CONV3D];
const TRANSPOSE: [&Operator; 3] = [&conv::CONV1D_TRANSPOSE, &conv::CONV2D_TRANSPOSE, &conv::CONV3D_TRANSPOSE];

/// The operator for so many spatial axes, and the extents of the kernel.
fn pick(
    im: &Importer,
    node: &Node,
    x: Value,
    w: Value,
    family: &[&'static Operator; 3],
) -> Result<(&'static Operator, Vec<i64>), Fault> {
    let (rank, weight_rank) = (im.rank(x)?, im.rank(w)?);
    if rank < 3 || weight_rank != rank {
        return Err(Fault::value(format!(
            "data and weight must have one rank of 3 or more, found {} and {}",
            im.ty(x)?,
            im.ty(w)?
        )));
    }
    let op = family
        .get(rank - 3)
        .ok_or_else(|| Fault::unsupported(format!("a convolution over {} spatial axes", rank - 2)))?;
    let kernel = im.shape(w, "the weight")?[2..].to_vec();
    match node.ints("kernel_shape")? {
        Some(stated) if stated != kernel => Err(Fault::value(format!(
            "attribute kernel_shape is {stated:?}, but the weight is {}",
            im.ty(w)?
        ))),
        _ => Ok((op, kernel)),
    }
}

/// The convolution a node's attributes describe, without the bias.
pub fn convolve(im: &mut Importer, node: &Node, x: Value, w: Value) -> Made {
    convolve_with(im, node, (x, w), 0.0, None)
}

/// The same, of data padded with a number, with sums of an element type.
pub fn convolve_with(
    im: &mut Importer,
    node: &Node,
    (x, w): (Value, Value),
    around: f64,
    sums: Option<DType>,
) -> Made {
    let (op, kernel) = pick(im, node, x, w, &FORWARD)?;
    let axes = kernel.len();
    let mut window = Window::read(node, kernel)?;
    window.resolve(&im.dims(x)?)?;
    let mut x = x;
    if window.pads.iter().any(|&p| p < 0 || p > 0 && around != 0.0) {
        let (begin, end) = window.pads.split_at(axes);
        let padding = [&[0, 0], begin, &[0, 0], end].concat();
        x = im.pad(x, &padding, around)?;
        window.pads = vec![0; 2 * axes];
    }
    let mut attrs = Attrs::new()
        .with("strides", window.strides)
        .with("padding", window.pads)
        .with("dilation", window.dilations)
        .with("groups", node.int("group", 1)?);
    if let Some(sums) = sums {
        attrs.set("out_dtype", sums);
    }
    im.op(op, &[x, w], attrs)
}

/// y plus operand 2, a vector along the channels, if it is there.
fn biased(im: &mut Importer, node: &Node, y: Value) -> Made {
    let Some(bias) = node.opt(2) else { return Ok(y) };
    let bias = im.along_channels(bias, im.rank(y)?)?;
    im.add(y, bias)
}

/// A transposed convolution of an image of dynamic extents whose windows lie side by side (strides as long as the kernel): each element of
/// the data gives a block of the result, which a 1 x 1 convolution computes. None for others.
///
///     y[n, f, h k + i, w k + j] = sum_c x[n, c, h, w] w[c, f, i, j]
fn side_by_side(
    im: &mut Importer,
    node: &Node,
    (x, w): (Value, Value),
    window: &Window,
) -> Result<Option<Value>, Fault> {
    let (dims, weight) = (im.dims(x)?, im.dims(w)?);
    let known: Option<Vec<u64>> = weight.iter().map(Dim::known).collect();
    let ungrouped = node.int("group", 1)? == 1;
    let ranks = 3..3 + FORWARD.len();
    let Some(known) = known.filter(|known| ungrouped && ranks.contains(&known.len())) else {
        return Ok(None);
    };
    let kernel = &known[2..];
    let aside = kernel.iter().zip(&window.strides).all(|(&k, &s)| i64::try_from(k) == Ok(s))
        && window.dilations.iter().all(|&d| d == 1);
    let dynamic = dims[2..].iter().any(|dim| dim.known().is_none()) && !dims.contains(&Dim::Any);
    if !aside || !dynamic {
        return Ok(None);
    }
    let (axes, filters) = (kernel.len(), known[1]);
    let block: u64 = kernel.iter().product();
    let order: Vec<usize> = (1..known.len()).chain([0]).collect();
    let w = im.transpose(w, &order)?;
    let mut shape = vec![Dim::Static(filters * block), weight[0].clone()];
    shape.resize(2 + axes, Dim::Static(1));
    let w = im.reshape_dims(w, &shape)?;
    let y = im.op(FORWARD[axes - 1], &[x, w], Attrs::new())?;
    let kernel: Vec<Dim> = kernel.iter().map(|&k| Dim::Static(k)).collect();
    let leading = [dims[0].clone(), Dim::Static(filters)];
    let y = im.reshape_dims(y, &[&leading, &kernel[..], &dims[2..]].concat())?;
    let between = (0..axes).flat_map(|axis| [2 + axes + axis, 2 + axis]);
    let y = im.transpose(y, &[0, 1].into_iter().chain(between).collect::<Vec<_>>())?;
    let spatial: Vec<Dim> = dims[2..].iter().zip(&kernel).map(|(dim, k)| dim.times(k)).collect();
    Ok(Some(im.reshape_dims(y, &[&leading, &spatial[..]].concat())?))
}

fn conv_transpose(im: &mut Importer, node: &Node) -> Converted {
    let (x, w) = (node.input(0)?, node.input(1)?);
    let (op, kernel) = pick(im, node, x, w, &TRANSPOSE)?;
    let axes = kernel.len();
    let mut window = Window::read(node, kernel)?;
    let mut extra = match node.ints("output_padding")? {
        None => vec![0; axes],
        Some(list) if list.len() == axes => list.to_vec(),
        Some(list) => {
            return Err(Fault::value(format!(
                "attribute output_padding must have {axes} numbers, found {list:?}"
            )));
        }
    };
    let stated = node.ints("output_shape")?.unwrap_or_default();
    if let Some(n) = extra.iter().chain(stated).find(|n| !(0..=i64::from(i32::MAX)).contains(*n)) {
        return Err(Fault::value(format!("{n} in output_padding or output_shape is out of range")));
    }
    let mut target = None;
    if let Some(shape) = node.ints("output_shape")? {
        // Some producers give the batch and the channels too.
        let spatial = shape.len().checked_sub(axes).map(|skip| &shape[skip..]);
        let spatial = spatial
            .ok_or_else(|| Fault::value(format!("attribute output_shape {shape:?} has too few numbers")))?;
        target = Some(spatial.to_vec());
    } else if matches!(window.auto, Auto::SameUpper | Auto::SameLower) {
        let mut extents = Vec::with_capacity(axes);
        for i in 0..axes {
            extents.push(im.extent(x, i + 2, "the operand")?.saturating_mul(window.strides[i]).min(1 << 61));
        }
        target = Some(extents);
    }
    if let Some(target) = target {
        for i in 0..axes {
            let extent = im.extent(x, i + 2, "the operand")?;
            let total =
                window.strides[i].saturating_mul(extent - 1).min(1 << 61) + extra[i] + window.reach(i)
                    - target[i];
            if total < 0 {
                // More is asked for than the sum of windows covers.
                extra[i] -= total;
            }
            let total = total.max(0);
            let begin = if window.auto == Auto::SameUpper { total / 2 } else { total - total / 2 };
            window.pads[i] = begin;
            window.pads[axes + i] = total - begin;
        }
    }
    if extra.iter().chain(&window.pads).all(|&n| n == 0)
        && let Some(y) = side_by_side(im, node, (x, w), &window)?
    {
        return Ok(vec![biased(im, node, y)?]);
    }
    let attrs = Attrs::new()
        .with("strides", window.strides)
        .with("padding", window.pads)
        .with("output_padding", extra)
        .with("dilation", window.dilations)
        .with("groups", node.int("group", 1)?);
    let y = im.op(op, &[x, w], attrs)?;
    Ok(vec![biased(im, node, y)?])
}
