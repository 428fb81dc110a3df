//! Operators on each element: real and complex arithmetic, bits, special functions; Fourier transforms.

pub mod apply;
pub mod bits;
pub mod chlo;
pub mod complex;
pub mod elementwise;
pub mod fourier;
pub mod random;
pub mod real;
pub mod special;

use super::Row;

pub const FAMILIES: &[&[Row]] =
    &[bits::ROWS, chlo::ROWS, complex::ROWS, elementwise::ROWS, fourier::ROWS, random::ROWS];
