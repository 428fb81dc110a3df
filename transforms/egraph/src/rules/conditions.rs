//! Side conditions and computed attributes that several rules share.

use super::super::language::Node;
use super::super::rule::Match;
use fusion_operators::{Attrs, DType, TensorType};

/// The difference of sums that are taken in another order.
pub const SUMS: &str = "sums in another order";

/// True when all elements of a variable's value are that number.
pub fn is_number(found: &Match, var: &str, number: f64) -> Option<bool> {
    Some(found.splat(var)? == number)
}

/// True when a variable's value is made of floats.
pub fn is_float(found: &Match, var: &str) -> Option<bool> {
    Some(found.ty(var)?.dtype.is_float())
}

/// One number in the element type of a variable's value, without axes.
pub fn scalar_like(found: &Match, var: &str, number: f64) -> Option<Node> {
    let dtype: DType = found.ty(var)?.dtype;
    Node::number(number, &TensorType::fixed(&[], dtype))
}

/// The permutation that the attributes of a transpose of a tensor of that rank are.
pub fn permutation(attrs: &Attrs, rank: usize) -> Option<Vec<usize>> {
    match attrs.ints("axes") {
        None => Some((0..rank).rev().collect()),
        Some(axes) => {
            axes.iter().map(|&a| fusion_operators::relation::normalize_axis(a, rank)).collect::<Option<_>>()
        }
    }
}

/// Attributes of a transpose.
pub fn transposing(axes: &[usize]) -> Attrs {
    Attrs::new().with("axes", axes.iter().map(|&a| a as i64).collect::<Vec<_>>())
}

/// Attributes of a product whose sums are of the type that another's are.
pub fn summing_as(product: &Attrs, attrs: Attrs) -> Attrs {
    match product.dtype("out_dtype") {
        Some(dtype) => attrs.with("out_dtype", dtype),
        None => attrs,
    }
}

/// Attributes of a reshape to a shape.
pub fn shaping(shape: &[u64]) -> Attrs {
    Attrs::new().with("shape", shape.iter().map(|&n| n as i64).collect::<Vec<_>>())
}

/// The permutation that exchanges the last two axes, when the attributes of a transpose are that.
pub fn exchanges_last_two(attrs: &Attrs, rank: usize) -> Option<bool> {
    let mut axes: Vec<usize> = (0..rank).collect();
    axes.swap(rank.checked_sub(2)?, rank - 1);
    Some(permutation(attrs, rank)? == axes)
}

/// The same attributes with a flag turned over.
pub fn flipped(attrs: &Attrs, flag: &str) -> Node {
    let mut new = attrs.clone();
    new.set(flag, !attrs.flag(flag));
    Node::attrs(new)
}

/// True when an operand is one number along each axis but one, counted from the back of the result: `[.., C, 1, 1]`.
pub fn is_along(shape: &[u64], rank: usize, axis: usize, extent: u64) -> bool {
    let from_back = rank - axis;
    let count: u64 = shape.iter().product();
    count == extent
        && (extent == 1 || shape.len().checked_sub(from_back).is_some_and(|at| shape[at] == extent))
}
