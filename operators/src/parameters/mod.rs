//! What an operator's row and its reference both need: what they take from a call, and the numbers of the algorithms.

pub mod few_bits;
pub mod indexing;
pub mod inner_product_trick;
pub mod layout;
pub mod reduction;
pub mod shape;
pub mod strassen;
pub mod winograd;
