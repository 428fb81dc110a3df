//! Operators that multiply and add: products, convolutions, factorizations, normalisation.

pub mod contraction;
pub mod convolution;
pub mod linear;
pub mod normalization;
pub mod orthogonal;

use super::Row;

pub const FAMILIES: &[&[Row]] = &[contraction::ROWS, convolution::ROWS, linear::ROWS, normalization::ROWS];
