//! Operators of ONNX Runtime's own domain, `com.microsoft`, by what its documentation says ("Contrib operators").
//!
//! Many of them are operators of ONNX with something before or behind: these ask for the other conversion (`asked`).

mod activation;
mod attention;
mod distance;
mod fused;
mod gather_blocks;
mod grouped_attention;
mod integers;
mod matmul_nbits;
mod normalization;
mod qlinear;
mod same;

use super::{Conversion, find};
use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};

pub const FAMILIES: &[&[Conversion]] = &[
    activation::ROWS,
    attention::ROWS,
    distance::ROWS,
    fused::ROWS,
    gather_blocks::ROWS,
    grouped_attention::ROWS,
    integers::ROWS,
    matmul_nbits::ROWS,
    normalization::ROWS,
    qlinear::ROWS,
    same::ROWS,
];

/// A row of the domain.
const fn row(
    op_type: &'static str,
    convert: for<'m> fn(&mut Importer<'m>, &Node<'m>) -> Converted,
) -> Conversion {
    Conversion { domain: "com.microsoft", op_type, convert }
}

/// What an operator of ONNX, of that version, gives for these operands and the attributes of the node.
fn asked<'m>(
    im: &mut Importer<'m>,
    node: &Node<'m>,
    (op_type, version): (&str, i64),
    operands: &[Option<Value>],
) -> Converted {
    let conversion = find("", op_type).ok_or_else(|| Fault::unsupported(op_type))?;
    let node = Node {
        place: node.place.clone(),
        version,
        inputs: operands.to_vec(),
        outputs: node.outputs.clone(),
        names: &[],
        attributes: node.attributes.clone(),
    };
    (conversion.convert)(im, &node)
}

/// The same, of one result.
fn asked_one<'m>(
    im: &mut Importer<'m>,
    node: &Node<'m>,
    operator: (&str, i64),
    operands: &[Option<Value>],
) -> Made {
    let results = asked(im, node, operator, operands)?;
    results.first().copied().ok_or_else(|| Fault::value(format!("{} gives no result", operator.0)))
}

/// x + y, if y is there.
fn plus(im: &mut Importer, x: Value, y: Option<Value>) -> Made {
    match y {
        Some(y) => im.add(x, y),
        None => Ok(x),
    }
}
