//! The conversions, one family a file: adding an operator is adding a row.

mod activation;
mod attention;
mod collect;
mod contraction;
mod control;
mod convolution;
mod creation;
mod einsum;
mod elementwise;
mod flex_attention;
mod grams;
mod held;
mod indexing;
mod integer_products;
mod linear_attention;
mod loss;
mod microsoft;
mod ml;
mod normalization;
mod pooling;
mod quantization;
mod recurrent;
mod reduction;
mod regions;
mod repeat;
mod resize;
mod scan;
mod sequence;
mod shape;
mod slicing;
mod spatial;
mod training;
mod vision;
mod windows;

use std::collections::HashMap;
use std::sync::OnceLock;

use super::build::Converted;
use super::importer::Importer;
use super::node::Node;

/// How an ONNX operator becomes relay operators.
pub struct Conversion {
    /// Domain; empty for ONNX's own.
    pub domain: &'static str,
    /// Name.
    pub op_type: &'static str,
    /// Emits a node and gives its results.
    pub convert: for<'m> fn(&mut Importer<'m>, &Node<'m>) -> Converted,
}

/// A row of the default domain.
const fn row(
    op_type: &'static str,
    convert: for<'m> fn(&mut Importer<'m>, &Node<'m>) -> Converted,
) -> Conversion {
    Conversion { domain: "", op_type, convert }
}

const FAMILIES: &[&[Conversion]] = &[
    elementwise::SAME,
    elementwise::ROWS,
    activation::ROWS,
    contraction::ROWS,
    einsum::ROWS,
    convolution::ROWS,
    pooling::ROWS,
    normalization::ROWS,
    reduction::ROWS,
    shape::ROWS,
    slicing::ROWS,
    resize::ROWS,
    spatial::ROWS,
    indexing::ROWS,
    creation::ROWS,
    windows::ROWS,
    quantization::ROWS,
    loss::ROWS,
    recurrent::ROWS,
    attention::ROWS,
    linear_attention::ROWS,
    flex_attention::ROWS,
    training::ROWS,
    regions::ROWS,
    grams::ROWS,
    vision::ROWS,
    control::ROWS,
    scan::ROWS,
    sequence::ROWS,
];

/// The conversion of an operator.
pub fn find(domain: &str, op_type: &str) -> Option<&'static Conversion> {
    static TABLE: OnceLock<HashMap<(&str, &str), &Conversion>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let all = FAMILIES.iter().chain(ml::FAMILIES).chain(microsoft::FAMILIES);
        all.flat_map(|rows| rows.iter()).map(|r| ((r.domain, r.op_type), r)).collect()
    });
    table.get(&(domain, op_type)).copied()
}
