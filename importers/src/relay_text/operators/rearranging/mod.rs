//! Operators that move elements by rules of their own: blocks, windows, diagonals, shapes of other tensors.

mod blocks;
mod diagonals;
mod like;
mod loops;
mod windows;

use super::Built;
pub use like::relaid;
pub use loops::{ORIGINAL, REWRITTEN, in_first_order};

pub const BUILT: &[&[Built]] = &[blocks::BUILT, diagonals::BUILT, like::BUILT, loops::BUILT, windows::BUILT];
