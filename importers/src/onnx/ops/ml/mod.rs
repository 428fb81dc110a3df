//! Operators of the domain `ai.onnx.ml`, as scikit-learn, LightGBM and XGBoost export them.
//!
//! A map from labels to scores, which `ZipMap` makes, is the tensor of the scores: a column a label, in their order.

mod features;
mod forest;
pub mod labels;
mod linear;
mod maps;
mod pairs;
mod scores;
mod support_vectors;
mod trees;

use super::Conversion;
use crate::onnx::build::Converted;
use crate::onnx::importer::Importer;
use crate::onnx::node::Node;

pub const FAMILIES: &[&[Conversion]] =
    &[features::ROWS, labels::ROWS, linear::ROWS, maps::ROWS, support_vectors::ROWS, trees::ROWS];

/// A row of the domain.
const fn row(
    op_type: &'static str,
    convert: for<'m> fn(&mut Importer<'m>, &Node<'m>) -> Converted,
) -> Conversion {
    Conversion { domain: "ai.onnx.ml", op_type, convert }
}
