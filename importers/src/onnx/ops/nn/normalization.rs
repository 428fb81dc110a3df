//! Normalisations.

use fusion_operators::ops::{elementwise as ew, normalization as norm, reduction};
use fusion_operators::{Attrs, DType};

use crate::onnx::build::{Converted, Made, axis_in};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::{Conversion, row};

pub const ROWS: &[Conversion] = &[
    row("BatchNormalization", batch_norm),
    row("InstanceNormalization", |im, node| {
        let attrs = Attrs::new().with("epsilon", node.float("epsilon", 1e-5)?);
        let operands = [node.input(0)?, node.input(1)?, node.input(2)?];
        Ok(vec![im.op(&norm::INSTANCE_NORM, &operands, attrs)?])
    }),
    row("GroupNormalization", group_norm),
    row("LayerNormalization", layer_norm),
    row("RMSNormalization", |im, node| {
        let x = node.input(0)?;
        let axis = im.axis(x, node.int("axis", -1)?)?;
        let axes: Vec<usize> = (axis..im.rank(x)?).collect();
        let normal = rms(im, x, &axes, node.float("epsilon", 1e-5)?)?;
        Ok(vec![im.mul(normal, node.input(1)?)?])
    }),
    row("LRN", |im, node| {
        let attrs = Attrs::new()
            .with("size", node.required_int("size")?)
            .with("alpha", node.float("alpha", 1e-4)?)
            .with("beta", node.float("beta", 0.75)?)
            .with("bias", node.float("bias", 1.0)?);
        Ok(vec![im.op(&norm::LRN, &[node.input(0)?], attrs)?])
    }),
    row("LpNormalization", lp_norm),
    row("MeanVarianceNormalization", mean_variance),
];

/// Variance over axes, which stay with extent 1, about a mean of the same shape.
fn variance(im: &mut Importer, x: Value, mean: Value, axes: &[usize]) -> Result<(Value, Value), Fault> {
    let centred = im.sub(x, mean)?;
    let square = im.mul(centred, centred)?;
    Ok((centred, im.mean(square, axes, true)?))
}

/// x / sqrt(mean(x^2) + epsilon), in the element type of x.
pub fn rms(im: &mut Importer, x: Value, axes: &[usize], epsilon: f64) -> Made {
    let dtype = im.dtype(x)?;
    let wide = im.wide(x)?;
    let square = im.mul(wide, wide)?;
    let mean = im.mean(square, axes, true)?;
    let shifted = im.add_f(mean, epsilon)?;
    let scale = im.un(&ew::RSQRT, shifted)?;
    let normal = im.mul(wide, scale)?;
    im.cast(normal, dtype)
}

fn batch_norm(im: &mut Importer, node: &Node) -> Converted {
    let x = node.input(0)?;
    let (gamma, beta) = (node.input(1)?, node.input(2)?);
    let (mean, var) = (node.input(3)?, node.input(4)?);
    let attrs = Attrs::new().with("epsilon", node.float("epsilon", 1e-5)?);
    if node.version < 9 && node.int("spatial", 1)? == 0 {
        return Err(Fault::unsupported("spatial = 0 (statistics for each element)"));
    }
    let trains =
        if node.version < 7 { !node.flag("is_test")? && node.wants(1) } else { node.flag("training_mode")? };
    if !trains {
        return Ok(vec![im.op(&norm::BATCH_NORM, &[x, gamma, beta, mean, var], attrs)?]);
    }
    if node.version < 14 {
        return Err(Fault::unsupported("training"));
    }
    // Statistics of the batch, and running ones that forget by `momentum`.
    let momentum = node.float("momentum", 0.9)?;
    let axes: Vec<usize> = (0..im.rank(x)?).filter(|&a| a != 1).collect();
    let flat: Vec<i64> = axes.iter().map(|&a| a as i64).collect();
    let batch_mean = im.mean(x, &axes, true)?;
    let (_, batch_var) = variance(im, x, batch_mean, &axes)?;
    let (batch_mean, batch_var) = (im.squeeze(batch_mean, &flat)?, im.squeeze(batch_var, &flat)?);
    let y = im.op(&norm::BATCH_NORM, &[x, gamma, beta, batch_mean, batch_var], attrs)?;
    let mut results = vec![y];
    for (running, batch) in [(mean, batch_mean), (var, batch_var)] {
        let old = im.mul_f(running, momentum)?;
        let batch = im.cast(batch, im.dtype(running)?)?;
        let new = im.mul_f(batch, 1.0 - momentum)?;
        results.push(im.add(old, new)?);
    }
    Ok(results)
}

/// Before version 21 scale and shift have one number a group, since then one a channel.
fn group_norm(im: &mut Importer, node: &Node) -> Converted {
    let x = node.input(0)?;
    let groups = node.required_int("num_groups")?;
    let channels = im.extent(x, 1, "the operand")?;
    let mut operands = [x, node.input(1)?, node.input(2)?];
    for operand in &mut operands[1..] {
        if node.version < 21 && groups > 0 && channels % groups == 0 {
            let column = im.expand_dims(*operand, &[1])?;
            let each = im.broadcast_to(column, &[groups, channels / groups])?;
            *operand = im.reshape(each, &[channels])?;
        }
    }
    let attrs = Attrs::new().with("num_groups", groups).with("epsilon", node.float("epsilon", 1e-5)?);
    Ok(vec![im.op(&norm::GROUP_NORM, &operands, attrs)?])
}

fn layer_norm(im: &mut Importer, node: &Node) -> Converted {
    let (x, scale) = (node.input(0)?, node.input(1)?);
    let axis = im.axis(x, node.int("axis", -1)?)?;
    let epsilon = node.float("epsilon", 1e-5)?;
    if node.int("stash_type", 1)? != 1 {
        return Err(Fault::unsupported("a stash_type other than float"));
    }
    let shift = match node.opt(2) {
        Some(shift) => shift,
        None => im.like(scale, 0.0)?,
    };
    let attrs = Attrs::new().with("axis", axis as i64).with("epsilon", epsilon);
    let y = im.op(&norm::LAYER_NORM, &[x, scale, shift], attrs)?;
    if !node.wants(1) && !node.wants(2) {
        return Ok(vec![y]);
    }
    let wide = im.cast(x, DType::F32)?;
    let axes: Vec<usize> = (axis..im.rank(x)?).collect();
    let mean = im.mean(wide, &axes, true)?;
    let (_, var) = variance(im, wide, mean, &axes)?;
    let shifted = im.add_f(var, epsilon)?;
    let inverse = im.un(&ew::RSQRT, shifted)?;
    Ok(vec![y, mean, inverse])
}

/// x / (sum |x|^p)^(1 / p); 0 where that is 0 / 0
fn lp_norm(im: &mut Importer, node: &Node) -> Converted {
    let x = node.input(0)?;
    let axis = im.axis(x, node.int("axis", -1)?)?;
    let length = match node.int("p", 2)? {
        1 => l1_norm(im, x, axis)?,
        2 => l2_norm(im, x, axis)?,
        p => return Err(Fault::unsupported(format!("the {p}-norm"))),
    };
    Ok(vec![over_length(im, x, length)?])
}

/// The 1-norm along an axis, which stays with extent 1.
pub fn l1_norm(im: &mut Importer, x: Value, axis: usize) -> Made {
    let size = im.un(&ew::ABS, x)?;
    im.sum(size, &[axis], true)
}

/// The 2-norm along an axis, which stays with extent 1.
pub fn l2_norm(im: &mut Importer, x: Value, axis: usize) -> Made {
    let square = im.mul(x, x)?;
    let sum = im.sum(square, &[axis], true)?;
    im.un(&ew::SQRT, sum)
}

/// x / length. What has the length 0 stays as it is.
pub fn over_length(im: &mut Importer, x: Value, length: Value) -> Made {
    let none = im.equal_f(length, 0.0)?;
    let one = im.like(length, 1.0)?;
    let length = im.select(none, one, length)?;
    im.div(x, length)
}

/// (x - mean) / (standard deviation + 1e-9)
fn mean_variance(im: &mut Importer, node: &Node) -> Converted {
    let x = node.input(0)?;
    let rank = im.rank(x)?;
    let axes = node.ints("axes")?.unwrap_or(&[0, 2, 3]);
    let axes = axes.iter().map(|&a| axis_in(a, rank)).collect::<Result<Vec<_>, _>>()?;
    let mean = im.reduce(&reduction::REDUCE_MEAN, x, &axes, true)?;
    let (centred, var) = variance(im, x, mean, &axes)?;
    let deviation = im.un(&ew::SQRT, var)?;
    let below = im.add_f(deviation, 1e-9)?;
    Ok(vec![im.div(centred, below)?])
}
