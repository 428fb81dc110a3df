//! Attention whose scores and probabilities pass through subgraphs of the node (domain ai.onnx.preview).
//!
//!     y = prob_mod(softmax(score_mod(q k' scale))) v

use fusion_operators::DType;

use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::Conversion;
use crate::onnx::ops::nn::attention::grouped;

pub const ROWS: &[Conversion] =
    &[Conversion { domain: "ai.onnx.preview", op_type: "FlexAttention", convert: flex_attention }];

fn flex_attention<'m>(im: &mut Importer<'m>, node: &Node<'m>) -> Converted {
    let (q, k, v) = (node.input(0)?, node.input(1)?, node.input(2)?);
    for operand in [q, k, v] {
        if im.rank(operand)? != 4 {
            return Err(Fault::value(format!("the operands must have rank 4, found {}", im.ty(operand)?)));
        }
    }
    let dtype = im.dtype(q)?;
    let precision = match node.opt_dtype("softmax_precision")? {
        Some(precision) => precision,
        None if dtype == DType::F64 => DType::F64,
        None => DType::F32,
    };
    if !precision.is_float() {
        let expected = "a floating-point type";
        return Err(Fault::Attribute { name: "softmax_precision".into(), expected });
    }
    let (k, v) = (grouped(im, q, k)?, grouped(im, q, v)?);
    let size = im.extent(q, 3, "the queries")?;
    let scale = node.opt_float("scale")?.unwrap_or(1.0 / (size as f64).sqrt());
    let (wide_q, wide_k) = (im.cast(q, precision)?, im.cast(k, precision)?);
    let transposed = im.swap(wide_k, 2, 3)?;
    let product = im.matmul(wide_q, transposed)?;
    let scores = im.mul_f(product, scale)?;
    let scores = modified(im, node, "score_mod", scores)?;
    let weights = im.softmax(scores, 3)?;
    let weights = modified(im, node, "prob_mod", weights)?;
    let wide_v = im.cast(v, precision)?;
    let y = im.matmul(weights, wide_v)?;
    Ok(vec![im.cast(y, dtype)?])
}

/// A tensor as the node's subgraph of that name makes it, if there is one; its type stays.
fn modified<'m>(im: &mut Importer<'m>, node: &Node<'m>, name: &str, x: Value) -> Made {
    if !node.has(name) {
        return Ok(x);
    }
    let results = im.subgraph(node.graph(name)?, &[x]).map_err(Box::new)?;
    let [y] = results[..] else {
        return Err(Fault::value(format!("{name} must give one tensor, found {}", results.len())));
    };
    if im.dtype(y)? != im.dtype(x)? || im.rank(y)? != im.rank(x)? {
        let (x, y) = (im.ty(x)?, im.ty(y)?);
        return Err(Fault::value(format!("{name} must give a tensor of type {x}, found {y}")));
    }
    Ok(y)
}
