//! Normalizations of sums.
//!
//!     SkipLayerNormalization             y = LayerNorm(x + skip + bias)
//!     (Skip)SimplifiedLayerNormalization y = RMSNorm(x + skip + bias)
//!     EmbedLayerNormalization            y = LayerNorm(word[ids] + position[places] + segment[segments])
//!     (Skip)GroupNorm                    y = activation(GroupNorm(x + skip + bias))
//!
//! The sum is a result as well, where it is asked for.

use fusion_operators::ops::normalization as norm;
use fusion_operators::{Attrs, DType, Dim};

use super::{plus, row};
use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::Conversion;
use crate::onnx::ops::nn::activation::swish;
use crate::onnx::ops::nn::normalization::rms;

pub const ROWS: &[Conversion] = &[
    row("SkipLayerNormalization", |im, node| {
        let sum = summed(im, node, (1, 4))?;
        let y = layer_norm(im, node, sum, (node.input(2)?, node.opt(3)))?;
        with_sum(im, node, y, sum)
    }),
    row("SkipSimplifiedLayerNormalization", |im, node| {
        let sum = summed(im, node, (1, 3))?;
        let y = rms_norm(im, node, sum, node.input(2)?, 1e-12)?;
        with_sum(im, node, y, sum)
    }),
    row("SimplifiedLayerNormalization", simplified),
    // ONNX Runtime has it under ONNX's own domain, too.
    Conversion { domain: "", op_type: "SimplifiedLayerNormalization", convert: simplified },
    row("EmbedLayerNormalization", embed),
    row("GroupNorm", |im, node| group_norm(im, node, node.input(0)?)),
    row("SkipGroupNorm", |im, node| {
        let (x, skip) = (node.input(0)?, node.input(3)?);
        let skip = match im.rank(skip)? {
            2 => im.expand_dims(skip, if node.int("channels_last", 1)? != 0 { &[1, 2] } else { &[2, 3] })?,
            _ => skip,
        };
        let sum = im.add(x, skip)?;
        let sum = match node.opt(4) {
            Some(bias) if node.int("channels_last", 1)? == 0 => {
                let bias = im.along_channels(bias, 4)?;
                im.add(sum, bias)?
            }
            bias => plus(im, sum, bias)?,
        };
        let mut results = group_norm(im, node, sum)?;
        results.push(sum);
        Ok(results)
    }),
];

/// The operand and those at two places, of which the second may be left out.
fn summed(im: &mut Importer, node: &Node, (skip, bias): (usize, usize)) -> Made {
    let sum = im.add(node.input(0)?, node.input(skip)?)?;
    plus(im, sum, node.opt(bias))
}

/// The results of a normalization; its statistics are for training.
fn with_sum(im: &mut Importer, node: &Node, y: Value, sum: Value) -> Converted {
    if node.wants(1) || node.wants(2) {
        return Err(Fault::unsupported("the mean and the deviation as results, which are for training,"));
    }
    let none = im.absent();
    Ok(vec![y, none, none, sum])
}

fn layer_norm(im: &mut Importer, node: &Node, x: Value, (scale, shift): (Value, Option<Value>)) -> Made {
    let shift = match shift {
        Some(shift) => shift,
        None => im.like(scale, 0.0)?,
    };
    let axis = im.rank(x)?.saturating_sub(1) as i64;
    let attrs = Attrs::new().with("axis", axis).with("epsilon", node.float("epsilon", 1e-12)?);
    im.op(&norm::LAYER_NORM, &[x, scale, shift], attrs)
}

fn rms_norm(im: &mut Importer, node: &Node, x: Value, scale: Value, epsilon: f64) -> Made {
    let last = im.rank(x)?.saturating_sub(1);
    let normal = rms(im, x, &[last], node.float("epsilon", epsilon)?)?;
    im.mul(normal, scale)
}

fn simplified(im: &mut Importer, node: &Node) -> Converted {
    let x = node.input(0)?;
    let axis = im.axis(x, node.int("axis", -1)?)?;
    if node.wants(1) {
        return Err(Fault::unsupported("the deviation as a result, which is for training,"));
    }
    let axes: Vec<usize> = (axis..im.rank(x)?).collect();
    let normal = rms(im, x, &axes, node.float("epsilon", 1e-5)?)?;
    let y = im.mul(normal, node.input(1)?)?;
    Ok(vec![y])
}

fn embed(im: &mut Importer, node: &Node) -> Converted {
    let ids = node.input(0)?;
    let words = im.gather(node.input(2)?, ids, 0)?;
    let table = node.input(3)?;
    let places = match node.opt(8) {
        Some(places) => im.gather(table, places, 0)?,
        None => {
            let length = im.dims(ids)?.get(1).cloned().unwrap_or(Dim::Static(1));
            let places = im.arange_dim(DType::I64, &length, 0.0, 1.0)?;
            im.gather(table, places, 0)?
        }
    };
    let mut sum = im.add(words, places)?;
    if let (Some(segments), Some(table)) = (node.opt(1), node.opt(4)) {
        let segments = im.gather(table, segments, 0)?;
        sum = im.add(sum, segments)?;
    }
    let y = layer_norm(im, node, sum, (node.input(5)?, Some(node.input(6)?)))?;
    let counts = match node.opt(7) {
        Some(mask) => {
            let is_one = im.equal_f(mask, 1.0)?;
            let ones = im.cast(is_one, DType::I32)?;
            im.sum(ones, &[1], false)?
        }
        None => {
            let batch = im.dims(ids)?[0].clone();
            im.full_dims(DType::I32, &[batch], 0.0)?
        }
    };
    Ok(vec![y, counts, sum])
}

fn group_norm(im: &mut Importer, node: &Node, x: Value) -> Converted {
    let last = node.int("channels_last", 1)? != 0;
    if im.rank(x)? != 4 {
        return Err(Fault::value(format!("the operand must have rank 4, found {}", im.ty(x)?)));
    }
    let dtype = im.dtype(x)?;
    let wide = im.wide(x)?;
    let image = if last { im.transpose(wide, &[0, 3, 1, 2])? } else { wide };
    let parameter = |im: &mut Importer, v: Value| im.cast(v, im.dtype(image)?);
    let (scale, shift) = (parameter(im, node.input(1)?)?, parameter(im, node.input(2)?)?);
    let attrs = Attrs::new()
        .with("num_groups", node.required_int("groups")?)
        .with("epsilon", node.float("epsilon", 1e-5)?);
    let mut y = im.op(&norm::GROUP_NORM, &[image, scale, shift], attrs)?;
    y = match node.required_int("activation")? {
        0 => y,
        1 => swish(im, y, 1.0)?,
        _ => return Err(Fault::Attribute { name: "activation".into(), expected: "0 (none) or 1 (SiLU)" }),
    };
    let y = if last { im.transpose(y, &[0, 2, 3, 1])? } else { y };
    Ok(vec![im.cast(y, dtype)?])
}
