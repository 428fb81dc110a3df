//! Layers of networks, their activations and losses.

pub mod activation;
pub mod attention;
pub mod convolution;
pub mod flex_attention;
pub mod linear_attention;
pub mod loss;
pub mod normalization;
pub mod pooling;
pub mod recurrent;
pub mod training;

use super::Conversion;

/// The operators, a family a file.
pub const FAMILIES: &[&[Conversion]] = &[
    activation::ROWS,
    convolution::ROWS,
    pooling::ROWS,
    normalization::ROWS,
    loss::ROWS,
    recurrent::ROWS,
    attention::ROWS,
    linear_attention::ROWS,
    flex_attention::ROWS,
    training::ROWS,
];
