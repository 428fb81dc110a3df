//! Operators that make tensors, and move elements by their position or by computed places.

pub mod creation;
pub mod dynamic;
pub mod gather;
pub mod shape;
pub mod slicing;

use super::Row;

pub const FAMILIES: &[&[Row]] = &[creation::ROWS, dynamic::ROWS, gather::ROWS, shape::ROWS, slicing::ROWS];
