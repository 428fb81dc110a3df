//! Products of matrices by the inner-product trick (Winograd, "A New Algorithm for Inner Product", 1968): a multiplication and two additions in place of two
//! multiplications.
//!
//!     x1 u1 + x2 u2  =  (x1 + u2) (x2 + u1)  -  x1 x2  -  u1 u2        the last two are of one row and of one column
//!
//! The numbers summed over are in six parts, `q` of each at a time, of which two pairs are multiplied so and two parts as they are. The second
//! pair is of differences, and subtracted, so that what is taken away again does not grow where all numbers have one sign:
//!
//!     p   =  (x[0] + u[1]) (x[1] + u[0]) + x[2] u[2]  -  (u[4] - x[3]) (u[3] - x[4]) + x[5] u[5]              x[i]: x[q + i Q]
//!     own =  x[0] x[1] - x[3] x[4]
//!     y[i, j]  =  s[i] t[j] (sum_q p  -  sum_q own x  -  sum_q own u)
//!
//! Rows of the left side and columns of the right one are divided by powers of two `s` and `t`, so that the largest number of each is
//! between 1 and 2: sums of large and small numbers would lose the latter. With them an error is bounded by the largest number of the row
//! and of the column. What is of the right side, its columns so divided, their sums and `t`, is an operand, so that those of a
//! constant are made when compiling.

use crate::form::{form, operand};
use crate::operator::{
    Related,
    cost::{elements, one_each},
};
pub use crate::parameters::inner_product_trick::{BEHIND, LEAST, PARTS, power, rows};
use crate::reference::inner_product_trick as reference;
use crate::relation::same_dtype;
use crate::{Call, DType, Dim, FusionKind, Operator, TensorType, operators, require};

/// True where a convolution of so many places and filters goes along places in vectors, as they lie: where no fewer lanes are filled than
/// along filters, but for some that turning those round is worth.
pub fn lies_along_places(places: u64, filters: u64) -> bool {
    let filled = |n: u64| n as f64 / n.next_multiple_of(LANES) as f64;
    filled(places) >= filled(filters) - TURNING
}

/// Numbers of a vector of AVX-512.
const LANES: u64 = 16;
/// The share of lanes that turning vectors round is worth.
const TURNING: f64 = 0.1;

fn rows_of(depth: &Dim) -> Dim {
    depth.known().map_or(Dim::Any, |n| Dim::Static(rows(n)))
}

/// C1: operands are f32. C2: they have one rank, of 2 or more, and the same leading extents. C3: the right side has the rows that the left
/// side's columns ask for.
fn relation(call: &Call) -> Related {
    let (left, right) = (&call.operands[0], &call.operands[1]);
    same_dtype(call.operands, 1)?;
    require!(left.dtype == DType::F32, C 1, "operands must be f32, found {}", left.dtype);
    let lead = left.rank().saturating_sub(2);
    let alike = left.rank() >= 2 && left.rank() == right.rank();
    require!(
        alike && left.dims[..lead].iter().zip(&right.dims).all(|(a, b)| a.compatible(b)),
        C 2,
        "both sides must have one rank, of 2 or more, and the same leading extents, found {left} and {right}"
    );
    let rows = rows_of(&left.dims[lead + 1]);
    require!(
        rows.compatible(&right.dims[lead]),
        C 3,
        "the right side must have {rows} rows for {} numbers summed over, found {right}",
        left.dims[lead + 1]
    );
    let dims = [&left.dims[..=lead], &right.dims[lead + 1..]].concat();
    Ok(vec![TensorType::new(dims, left.dtype)])
}

/// What the product takes by its definition, so that rates compare.
fn cost(call: &Call, results: &[TensorType]) -> f64 {
    let depth = call.operands[0].dims.last().and_then(Dim::known);
    2.0 * elements(&results[..1]) * depth.unwrap_or(1) as f64
}

/// C1: operands are f32. C2: the image has rank 4, the right side rank 2. C3: the right side has the rows that the channels ask for.
fn pointwise_relation(call: &Call) -> Related {
    let (image, right) = (&call.operands[0], &call.operands[1]);
    same_dtype(call.operands, 1)?;
    require!(image.dtype == DType::F32, C 1, "operands must be f32, found {}", image.dtype);
    require!(
        image.rank() == 4 && right.rank() == 2,
        C 2,
        "the image must have rank 4 and the right side rank 2, found {image} and {right}"
    );
    let rows = rows_of(&image.dims[1]);
    require!(
        rows.compatible(&right.dims[0]),
        C 3,
        "the right side must have {rows} rows for {} channels, found {right}",
        image.dims[1]
    );
    let mut dims = image.dims.clone();
    dims[1] = right.dims[1].clone();
    Ok(vec![TensorType::new(dims, image.dtype)])
}

fn pointwise_cost(call: &Call, results: &[TensorType]) -> f64 {
    2.0 * elements(&results[..1]) * call.operands[0].dims[1].known().unwrap_or(1) as f64
}

/// C1: the matrix is f32, of rank 2 or more.
fn right_relation(call: &Call) -> Related {
    let matrix = &call.operands[0];
    require!(
        matrix.dtype == DType::F32 && matrix.rank() >= 2,
        C 1,
        "the matrix must be f32 of rank 2 or more, found {matrix}"
    );
    let mut dims = matrix.dims.clone();
    let lead = dims.len() - 2;
    dims[lead] = rows_of(&dims[lead]);
    Ok(vec![TensorType::new(dims, matrix.dtype)])
}

operators! {
    /// A product's right side as products by the inner-product trick read it
    ///
    /// The matrix [..., K, N], result [..., 6 ceil(K / 6) + 2, N]: its columns divided by powers of two, zeros, the sums that its pairs have of
    /// themselves, and those powers. Those of a constant are made when compiling.
    /// - C1: the matrix is f32, of rank 2 or more.
    INNER_PRODUCT_TRICK_RIGHT = Operator::new("inner_product_trick_right", FusionKind::Opaque, right_relation, one_each, reference::right)
        .of(form(&[operand("right")]));
    /// A convolution by a kernel of 1 x 1, by the inner-product trick
    ///
    /// The image [N, C, H, W], and of the weights, channels by filters [C, F], what `relay.inner_product_trick_right` gives; result [N, F, H, W]. The numbers of
    /// all channels at a place are a row as those of `relay.matmul_inner_product_trick`.
    /// - C1: operands are f32.
    /// - C2: the image has rank 4, the right side rank 2.
    /// - C3: the right side has the rows that the channels ask for.
    CONV2D_INNER_PRODUCT_TRICK = Operator::new("conv2d_inner_product_trick", FusionKind::Contraction, pointwise_relation, pointwise_cost, reference::pointwise)
        .of(form(&[operand("data"), operand("right")]));
    /// A product of matrices by the inner-product trick: a multiplication and two additions in place of two multiplications
    ///
    /// The left side [..., M, K], and of the right side [..., K, N] what `relay.inner_product_trick_right` gives (Winograd, 1968). Rows and columns are
    /// divided by powers of two before; errors are bounded by the largest number of a row and of a column, and not by each element. A row or
    /// a column with an infinity gives no numbers.
    /// - C1: operands are f32.
    /// - C2: they have one rank, of 2 or more, and the same leading extents.
    /// - C3: the right side has the rows that the left side's columns ask for.
    MATMUL_INNER_PRODUCT_TRICK = Operator::new("matmul_inner_product_trick", FusionKind::Contraction, relation, cost, reference::matmul)
        .of(form(&[operand("left"), operand("right")]));
}
