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
mod selection;
mod sequence;
mod shape;
mod slicing;
mod spatial;
mod suppression;
mod training;
mod vision;
mod windows;

use std::collections::HashMap;
use std::sync::OnceLock;

use super::build::Converted;
use super::importer::Importer;
use super::node::Node;
use crate::nearest::nearest;

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
    selection::ROWS,
    suppression::ROWS,
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

type Table = HashMap<(&'static str, &'static str), &'static Conversion>;

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let all = FAMILIES.iter().chain(ml::FAMILIES).chain(microsoft::FAMILIES);
        all.flat_map(|rows| rows.iter()).map(|r| ((r.domain, r.op_type), r)).collect()
    })
}

/// The conversion of an operator.
pub fn find(domain: &str, op_type: &str) -> Option<&'static Conversion> {
    table().get(&(domain, op_type)).copied()
}

/// The operator whose name is most like one that is not there, with its domain.
pub fn like(op_type: &str) -> Option<String> {
    let mut known: Vec<&str> = table().keys().map(|(_, name)| *name).collect();
    known.sort_unstable();
    let near = nearest(op_type, &known)?;
    // ONNX's own first.
    let mut domains: Vec<&str> = table().keys().filter(|(_, name)| *name == near).map(|(d, _)| *d).collect();
    domains.sort_unstable();
    let domain = domains.first().filter(|domain| !domain.is_empty());
    Some(domain.map_or_else(|| near.to_owned(), |domain| format!("{domain}.{near}")))
}
