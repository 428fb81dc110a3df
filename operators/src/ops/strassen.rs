//! Products of matrices by Strassen's algorithm (Strassen, "Gaussian Elimination is not Optimal", 1969), in Winograd's form: 7 products of quarters in
//! place of 8.
//!
//!     | A11 A12 | | B11 B12 |    | C11 C12 |        p[t] = a[t] u[t],   t = 0..7
//!     | A21 A22 | | B21 B22 | =  | C21 C22 |        a, u, C: sums of quarters of A, of quarters of B, and of p
//!
//! The right side's sums `u[t, k, j]` are an operand, so that those of a constant are made when compiling. The sums are products of two
//! sparse matrices each, the first of which has what several of them share.

use crate::form::{form, operand};
use crate::operator::{
    Related,
    cost::{elements, one_each},
};
pub use crate::parameters::strassen::{LEFT, PRODUCTS, RESULT, RIGHT};
use crate::reference::strassen as reference;
use crate::relation::same_dtype;
use crate::{Call, DType, Dim, FusionKind, Operator, TensorType, operators, require};

/// Half of an extent; `None` when it is odd.
fn half(dim: &Dim) -> Option<Dim> {
    match dim.known() {
        None => Some(Dim::Any),
        Some(n) => n.is_multiple_of(2).then_some(Dim::Static(n / 2)),
    }
}

fn twice(dim: &Dim) -> Dim {
    dim.known().and_then(|n| n.checked_mul(2)).map_or(Dim::Any, Dim::Static)
}

/// C1: operands are f32. C2: the left side has rank 2, the sums of the right side rank 3. C3: these are 7. C4: the left side's extents are
/// even, and half of its columns are the sums' rows.
fn relation(call: &Call) -> Related {
    let (left, sums) = (&call.operands[0], &call.operands[1]);
    same_dtype(call.operands, 1)?;
    require!(left.dtype == DType::F32, C 1, "operands must be f32, found {}", left.dtype);
    require!(
        left.rank() == 2 && sums.rank() == 3,
        C 2,
        "the left side must have rank 2 and the sums of the right side rank 3, found {left} and {sums}"
    );
    let all = &sums.dims[0];
    require!(
        all.known().is_none_or(|n| n == PRODUCTS as u64),
        C 3,
        "the right side must be 7 sums of quarters, found {all} in {sums}"
    );
    let depth =
        half(&left.dims[1]).filter(|depth| half(&left.dims[0]).is_some() && depth.compatible(&sums.dims[1]));
    require!(
        depth.is_some(),
        C 4,
        "the left side's extents must be even, and its columns twice the rows of the sums, found {left} and {sums}"
    );
    Ok(vec![TensorType::new(vec![left.dims[0].clone(), twice(&sums.dims[2])], left.dtype)])
}

/// What the product takes by its definition, so that rates compare.
fn cost(call: &Call, results: &[TensorType]) -> f64 {
    2.0 * elements(&results[..1]) * call.operands[0].dims[1].known().unwrap_or(1) as f64
}

/// C1: the matrix is f32 of rank 2. C2: its extents are even.
fn sums_relation(call: &Call) -> Related {
    let matrix = &call.operands[0];
    require!(
        matrix.dtype == DType::F32 && matrix.rank() == 2,
        C 1,
        "the matrix must be f32 of rank 2, found {matrix}"
    );
    let halves: Option<Vec<Dim>> = matrix.dims.iter().map(half).collect();
    let Some(halves) = halves else {
        return Err(crate::Violation::new(2, format!("the matrix must have even extents, found {matrix}")));
    };
    Ok(vec![TensorType::new([vec![Dim::Static(PRODUCTS as u64)], halves].concat(), matrix.dtype)])
}

operators! {
    /// The sums of quarters of such a product's right side
    ///
    /// The matrix [K, N], result [7, K/2, N/2]. Those of a constant are made when compiling.
    /// - C1: the matrix is f32 of rank 2.
    /// - C2: its extents are even.
    STRASSEN_SUMS = Operator::new("strassen_sums", FusionKind::Opaque, sums_relation, one_each, reference::sums)
        .of(form(&[operand("right")]));
    /// A product of matrices by Strassen's algorithm: 7 products of sums of quarters in place of 8 of quarters
    ///
    /// The left side [M, K], and of the right side [K, N] the sums that `relay.strassen_sums` gives (Strassen, 1969, in Winograd's form). Errors are
    /// bounded by the norms of the matrices and not by each element.
    /// - C1: operands are f32.
    /// - C2: the left side has rank 2, the sums of the right side rank 3.
    /// - C3: these are 7.
    /// - C4: the left side's extents are even, and half of its columns are the sums' rows.
    MATMUL_STRASSEN = Operator::new("matmul_strassen", FusionKind::Contraction, relation, cost, reference::matmul)
        .of(form(&[operand("left"), operand("sums")]));
}
