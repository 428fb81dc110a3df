//! Convolutions with a 3x3 kernel in Winograd's form: `y = A' [ sum_c (G w G') * (B' x B) ] A`, tile by tile.
//!
//! A tile of m x m results takes (m + 2)^2 multiplications where the definition takes 9 m^2 (Lavin and Gray, "Fast Algorithms
//! for Convolutional Neural Networks", 2016). The weight is given transformed, `u[i (m + 2) + j, c, f]`. The transforms of data and
//! of results are products of two sparse matrices each, the first of which has the sums that rows share.

use crate::form::{form, int, ints, operand};
use crate::operator::{
    Related,
    cost::{elements, one_each},
};
pub use crate::parameters::winograd::{Matrix, Transform, padding, transform, transform_weight};
use crate::reference::winograd as reference;
use crate::relation::same_dtype;
use crate::{Call, DType, Dim, FusionKind, Operator, TensorType, operators, require};

/// Results along an axis of the data with padding; `None` when they would be fewer than 1.
fn results(data: &Dim, padding: (i64, i64)) -> Option<Dim> {
    match data.known() {
        None => Some(Dim::Any),
        Some(n) => {
            let padded = i64::try_from(n).ok()?.checked_add(padding.0)?.checked_add(padding.1)?;
            u64::try_from(padded - 2).ok().filter(|&n| n > 0).map(Dim::Static)
        }
    }
}

/// C1: operands are f32. C2: data has rank 4, the weight rank 3. C3: `tile` is 2 or 4, the weight's first extent the square
/// of tile + 2. C4: the data's channels are the weight's second extent. C5: `padding` has four numbers that are not
/// negative, and the result's extents are above 0.
fn relation(call: &Call) -> Related {
    let (data, weight) = (&call.operands[0], &call.operands[1]);
    same_dtype(call.operands, 1)?;
    require!(data.dtype == DType::F32, C 1, "operands must be f32, found {}", data.dtype);
    require!(
        data.rank() == 4 && weight.rank() == 3,
        C 2,
        "data must have rank 4 and weight rank 3, found {data} and {weight}"
    );
    let tile = call.attrs.int_or("tile", 0);
    let points = transform(tile).map(|t| (t.reads() * t.reads()) as u64);
    require!(
        points.is_some_and(|n| weight.dims[0].known().is_none_or(|d| d == n)),
        C 3,
        "tile must be 2 or 4 and the weight's first extent (tile + 2)^2, found tile {tile} and {}",
        weight.dims[0]
    );
    require!(
        data.dims[1].compatible(&weight.dims[1]),
        C 4,
        "the data's channels must be the weight's second extent, found {} and {}",
        data.dims[1],
        weight.dims[1]
    );
    let padding = padding(call);
    let extents = padding
        .and_then(|[t, l, b, r]| Some([results(&data.dims[2], (t, b))?, results(&data.dims[3], (l, r))?]));
    let Some([height, width]) = extents else {
        return Err(crate::Violation::new(
            5,
            format!(
                "padding must be four numbers that are not negative and leave a result, found {:?} for {data}",
                call.attrs.ints("padding")
            ),
        ));
    };
    let dims = vec![data.dims[0].clone(), weight.dims[2].clone(), height, width];
    Ok(vec![TensorType::new(dims, data.dtype)])
}

/// What the convolution takes by its definition, so that rates compare.
fn cost(call: &Call, results: &[TensorType]) -> f64 {
    18.0 * elements(&results[..1]) * call.operands[1].dims[1].known().unwrap_or(1) as f64
}

/// C1: the weight is f32 of rank 4 with a kernel of 3 x 3. C2: `tile` is 2 or 4.
fn weight_relation(call: &Call) -> Related {
    let weight = &call.operands[0];
    let is_kernel = weight.rank() == 4 && weight.dims[2..] == [Dim::Static(3), Dim::Static(3)];
    require!(weight.dtype == DType::F32 && is_kernel, C 1, "the weight must be f32 [F, C, 3, 3], found {weight}");
    let tile = call.attrs.int_or("tile", 0);
    let Some(by) = transform(tile) else {
        return Err(crate::Violation::new(2, format!("tile must be 2 or 4, found {tile}")));
    };
    let points = Dim::Static((by.reads() * by.reads()) as u64);
    let dims = vec![points, weight.dims[1].clone(), weight.dims[0].clone()];
    Ok(vec![TensorType::new(dims, weight.dtype)])
}

operators! {
    /// The weight of such a convolution, u = G w G'
    ///
    /// Weight [F, C, 3, 3], result [(tile + 2)^2, C, F]. It has no kernel: weights are transformed when compiling.
    /// - C1: the weight is f32 of rank 4 with a kernel of 3 x 3.
    /// - C2: tile is 2 or 4.
    WINOGRAD_WEIGHT = Operator::new("winograd_weight", FusionKind::Opaque, weight_relation, one_each, reference::weight)
        .of(form(&[operand("weight")]).attributes(&[int("tile")]));
    /// A convolution with a 3x3 kernel, tile by tile: y = A' [sum_c u[:, c, f] * (B' x B)] A
    ///
    /// Data [N, C, H, W], weight [(tile + 2)^2, C, F]: `G w G'` of a weight [F, C, 3, 3] (Lavin and Gray, 2016). `padding` is at the
    /// top, left, bottom and right, and 0 when absent.
    /// - C1: operands are f32.
    /// - C2: data has rank 4, the weight rank 3.
    /// - C3: tile is 2 or 4, the weight's first extent the square of tile + 2.
    /// - C4: the data's channels are the weight's second extent.
    /// - C5: padding has four numbers that are not negative, and the result's extents are above 0.
    WINOGRAD_CONV2D = Operator::new("winograd_conv2d", FusionKind::Contraction, relation, cost, reference::winograd)
        .of(form(&[operand("data"), operand("weight")]).attributes(&[int("tile"), ints("padding")]));
}
