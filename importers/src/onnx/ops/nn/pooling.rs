//! Pooling.

use fusion_operators::ops::{elementwise as ew, indexing, pooling as pool, reduction};
use fusion_operators::{Attrs, Operator};

use crate::onnx::build::{Converted, Made, volume};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::moving::spatial::Window;
use crate::onnx::ops::{Conversion, row};

pub const ROWS: &[Conversion] = &[
    row("MaxPool", max_pool),
    row("AveragePool", |im, node| {
        let x = node.input(0)?;
        let window = window(im, node, x)?;
        let mut attrs = attributes(node, &window)?;
        attrs.set("count_include_pad", node.flag("count_include_pad")?);
        Ok(vec![pooled(im, x, &MEAN, attrs)?])
    }),
    row("LpPool", lp_pool),
    row("MaxUnpool", max_unpool),
    row("GlobalMaxPool", |im, node| Ok(vec![im.un(&pool::GLOBAL_MAX_POOL, node.input(0)?)?])),
    row("GlobalAveragePool", |im, node| Ok(vec![im.un(&pool::GLOBAL_AVG_POOL, node.input(0)?)?])),
    row("GlobalLpPool", |im, node| {
        let x = node.input(0)?;
        let p = power(node)?;
        let axes: Vec<usize> = (2..im.rank(x)?).collect();
        let powers = power_of_size(im, x, p)?;
        let sum = im.sum(powers, &axes, true)?;
        Ok(vec![root(im, sum, p)?])
    }),
];

const MAX: [&Operator; 3] = [&pool::MAX_POOL1D, &pool::MAX_POOL2D, &pool::MAX_POOL3D];
const MEAN: [&Operator; 3] = [&pool::AVG_POOL1D, &pool::AVG_POOL2D, &pool::AVG_POOL3D];

/// The node's window with its padding.
fn window(im: &mut Importer, node: &Node, x: Value) -> Result<Window, Fault> {
    let kernel =
        node.ints("kernel_shape")?.ok_or_else(|| Fault::MissingAttribute { name: "kernel_shape".into() })?;
    if im.rank(x)? != kernel.len() + 2 {
        let ty = im.ty(x)?;
        return Err(Fault::value(format!(
            "the operand must have {} axes for kernel {kernel:?}, found {ty}",
            kernel.len() + 2
        )));
    }
    let mut window = Window::read(node, kernel.to_vec())?;
    window.resolve(&im.dims(x)?)?;
    Ok(window)
}

fn attributes(node: &Node, window: &Window) -> Result<Attrs, Fault> {
    Ok(Attrs::new()
        .with("kernel", window.kernel.clone())
        .with("strides", window.strides.clone())
        .with("padding", window.pads.clone())
        .with("dilation", window.dilations.clone())
        .with("ceil_mode", node.flag("ceil_mode")?))
}

fn pooled(im: &mut Importer, x: Value, family: &[&'static Operator; 3], attrs: Attrs) -> Made {
    let spatial = im.rank(x)?.wrapping_sub(2);
    let op = family
        .get(spatial.wrapping_sub(1))
        .ok_or_else(|| Fault::unsupported(format!("pooling over {spatial} spatial axes")))?;
    im.op(op, &[x], attrs)
}

fn max_pool(im: &mut Importer, node: &Node) -> Converted {
    let x = node.input(0)?;
    let window = window(im, node, x)?;
    let attrs = attributes(node, &window)?;
    let y = pooled(im, x, &MAX, attrs)?;
    if !node.wants(1) {
        return Ok(vec![y]);
    }
    let places = places_of_max(im, node, x, y, &window)?;
    Ok(vec![y, places])
}

/// Flat indices, in the whole operand, of each window's greatest element: the windows are gathered
/// (what lies outside repeats the lowest number) and the greatest is looked up among them.
fn places_of_max(im: &mut Importer, node: &Node, x: Value, y: Value, window: &Window) -> Made {
    let (from, to) = (im.shape(x, "the operand")?, im.shape(y, "the result")?);
    let axes = window.kernel.len();
    let column_major = node.flag("storage_order")?;
    if column_major && axes != 2 {
        return Err(Fault::unsupported("storage_order with other than two spatial axes"));
    }
    let (outputs, taps) =
        (to[2..].iter().product::<i64>(), volume(&window.kernel, "attribute kernel_shape")?);
    if outputs.saturating_mul(taps) > 1 << 24 {
        return Err(Fault::unsupported("the second result of pooling with so many windows"));
    }
    let plane: i64 = from[2..].iter().product();
    let (mut source, mut label) = (Vec::new(), Vec::new());
    for o in 0..outputs {
        for k in 0..taps {
            let (mut o, mut k, mut flat, mut step, mut inside) = (o, k, 0, 1, true);
            let mut at = vec![0; axes];
            for i in (0..axes).rev() {
                at[i] = (o % to[i + 2]) * window.strides[i] + (k % window.kernel[i]) * window.dilations[i]
                    - window.pads[i];
                o /= to[i + 2];
                k /= window.kernel[i];
                inside &= (0..from[i + 2]).contains(&at[i]);
                flat += at[i] * step;
                step *= from[i + 2];
            }
            // One more element stands behind the plane: the lowest number.
            source.push(if inside { flat } else { plane });
            label.push(if column_major { at[0] + at[1] * from[2] } else { flat });
        }
    }
    let (n, c) = (from[0], from[1]);
    let flat = im.reshape(x, &[n, c, plane])?;
    let lowest = if im.dtype(x)?.is_float() { f64::NEG_INFINITY } else { i64::MIN as f64 };
    let lowest = match im.dtype(x)?.class() {
        fusion_operators::dtype::Class::Signed => -(2f64.powi(8 * im.dtype(x)?.size() as i32 - 1)),
        fusion_operators::dtype::Class::Float => lowest,
        _ => 0.0,
    };
    let flat = im.pad(flat, &[0, 0, 0, 0, 0, 1], lowest)?;
    let indices = im.ints(&[outputs as usize, taps as usize], &source)?;
    let windows = im.gather(flat, indices, 2)?;
    let which =
        im.op(&reduction::ARGMAX, &[windows], Attrs::new().with("axis", 3i64).with("keepdims", true))?;
    let labels = im.ints(&[1, 1, outputs as usize, taps as usize], &label)?;
    let labels = im.broadcast_to(labels, &[n, c, outputs, taps])?;
    let places = im.op(&indexing::GATHER_ELEMENTS, &[labels, which], Attrs::new().with("axis", 3i64))?;
    let offsets: Vec<i64> = (0..n * c).map(|i| i * plane).collect();
    let offsets = im.ints(&[n as usize, c as usize, 1, 1], &offsets)?;
    let places = im.add(places, offsets)?;
    im.reshape(places, &to)
}

/// The attribute p, which is a float in the first version.
fn power(node: &Node) -> Result<f64, Fault> {
    if node.version < 2 { node.float("p", 2.0) } else { Ok(node.int("p", 2)? as f64) }
}

fn power_of_size(im: &mut Importer, x: Value, p: f64) -> Made {
    let size = im.un(&ew::ABS, x)?;
    if p == 1.0 {
        return Ok(size);
    }
    let p = im.like(x, p)?;
    im.bin(&ew::POW, size, p)
}

fn root(im: &mut Importer, x: Value, p: f64) -> Made {
    if p == 1.0 {
        return Ok(x);
    }
    let p = im.like(x, 1.0 / p)?;
    im.bin(&ew::POW, x, p)
}

/// The p-norm of each window: its mean of |x|^p times its volume, over zeros where it hangs over.
fn lp_pool(im: &mut Importer, node: &Node) -> Converted {
    let x = node.input(0)?;
    let p = power(node)?;
    let mut window = window(im, node, x)?;
    let axes = window.kernel.len();
    let ceil = node.flag("ceil_mode")?;
    let mut padding = [&[0, 0], &window.pads[..axes], &[0, 0], &window.pads[axes..]].concat();
    if ceil {
        for i in 0..axes {
            let (extent, stride) = (im.extent(x, i + 2, "the operand")?, window.strides[i]);
            let begun = extent + window.pads[i];
            let spare = begun + window.pads[axes + i] - window.reach(i);
            let mut last = ((spare + stride - 1) / stride) * stride;
            if last >= begun {
                last -= stride;
            }
            padding[axes + 4 + i] += (last - spare).max(0);
        }
    }
    let powers = power_of_size(im, x, p)?;
    let padded = im.pad(powers, &padding, 0.0)?;
    window.pads = vec![0; 2 * axes];
    let mut attrs = attributes(node, &window)?;
    attrs.set("ceil_mode", false);
    let mean = pooled(im, padded, &MEAN, attrs)?;
    let sum = im.mul_f(mean, window.kernel.iter().map(|&k| k as f64).product())?;
    Ok(vec![root(im, sum, p)?])
}

/// Puts each element at its flat index in a tensor of zeros.
fn max_unpool(im: &mut Importer, node: &Node) -> Converted {
    let (x, places) = (node.input(0)?, node.input(1)?);
    let window = window(im, node, x)?;
    let from = im.shape(x, "the operand")?;
    let axes = window.kernel.len();
    let mut shape = from[..2].to_vec();
    for i in 0..axes {
        let padding = window.pads[i] + window.pads[axes + i];
        shape.push(
            (from[i + 2] - 1).saturating_mul(window.strides[i]).saturating_add(window.kernel[i] - padding),
        );
    }
    let mut places = im.reshape(places, &[-1])?;
    let to = match im.opt_ints_of(node, 2)? {
        Some(to) if to.len() == shape.len() => to,
        Some(to) => {
            return Err(Fault::value(format!("output shape {to:?} must have {} numbers", shape.len())));
        }
        None => shape.clone(),
    };
    let total = volume(&to, "the result's shape")?;
    volume(&shape, "the shape that is pooled from")?;
    // Indices count in the shape the attributes give, not in a larger one asked for.
    if to != shape {
        let (mut rest, mut flat, mut step) = (places, None, 1i64);
        for i in (0..shape.len()).rev() {
            let extent = im.like(rest, shape[i] as f64)?;
            let at = im.bin(&ew::MOD, rest, extent)?;
            rest = im.div(rest, extent)?;
            let part = im.mul_f(at, step as f64)?;
            flat = Some(match flat {
                None => part,
                Some(flat) => im.add(flat, part)?,
            });
            step *= to[i];
        }
        places = flat.unwrap_or(places);
    }
    let zeros = im.full(im.dtype(x)?, &[total], 0.0)?;
    let flat = im.reshape(x, &[-1])?;
    let attrs = Attrs::new().with("axis", 0i64);
    let y = im.op(&indexing::SCATTER_ELEMENTS, &[zeros, places, flat], attrs)?;
    Ok(vec![im.reshape(y, &to)?])
}
