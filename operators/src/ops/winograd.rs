//! Convolutions with a 3x3 kernel in Winograd's form: `y = A' [ sum_c (G w G') * (B' x B) ] A`, tile by tile.
//!
//! A tile of m x m results takes (m + 2)^2 multiplications where the definition takes 9 m^2 (Lavin and Gray, "Fast Algorithms
//! for Convolutional Neural Networks", 2016). The weight is given transformed, `u[i (m + 2) + j, c, f]`. The transforms of data and
//! of results are products of two sparse matrices each, the first of which has the sums that rows share.

use crate::form::{Form, form, int, ints, operand};
use crate::operator::cost::elements;
use crate::reference::winograd as reference;
use crate::relation::{Related, same_dtype};
use crate::{Call, DType, Dim, FusionKind, Operator, Tensor, TensorError, TensorType, operators, require};

/// A matrix by rows.
pub type Matrix = &'static [&'static [f64]];

/// The transforms for tiles of `size` results in one dimension.
pub struct Transform {
    /// Results of a tile along an axis.
    pub size: usize,
    /// The largest error of a result of one channel in f32, as a part of the largest one near it. It grows with the root of the channels.
    pub rounding: f64,
    /// `B'`, the product of the second and the first.
    pub data: [Matrix; 2],
    /// `G`.
    pub weight: Matrix,
    /// `A'`, the product of the second and the first.
    pub result: [Matrix; 2],
}

impl Transform {
    /// Elements of the data that a tile reads along an axis.
    pub const fn reads(&self) -> usize {
        self.size + 2
    }

    /// The largest error of a result of so many channels, as a part of the largest result near it.
    pub fn error(&self, channels: u64) -> f64 {
        self.rounding * (channels as f64).sqrt()
    }
}

const F2: Transform = Transform {
    size: 2,
    rounding: 8e-8,
    data: [
        &[&[1., 0., -1., 0.], &[0., 1., 1., 0.], &[0., -1., 1., 0.], &[0., 1., 0., -1.]],
        &[&[1., 0., 0., 0.], &[0., 1., 0., 0.], &[0., 0., 1., 0.], &[0., 0., 0., 1.]],
    ],
    weight: &[&[1., 0., 0.], &[0.5, 0.5, 0.5], &[0.5, -0.5, 0.5], &[0., 0., 1.]],
    result: [
        &[&[1., 0., 0., 0.], &[0., 1., 1., 0.], &[0., 1., -1., 0.], &[0., 0., 0., 1.]],
        &[&[1., 1., 0., 0.], &[0., 0., 1., -1.]],
    ],
};

/// The points 0, ±3/4, ±3/2 and infinity, in place of 0, ±1, ±2: products of powers of two and three keep the coefficients exact and near
/// each other, which makes the largest error a third (Barabasz, Anderson, Soodhalter and Gregg, "Error Analysis and Improving the Accuracy
/// of Winograd Convolution for Deep Neural Networks", 2020, section 5; found there by search).
const F4: Transform = Transform {
    size: 4,
    rounding: 4e-7,
    data: [
        &[
            &[81. / 64., 0., -45. / 16., 0., 1., 0.],
            &[0., 0., -9. / 4., 0., 1., 0.],
            &[0., -9. / 4., 0., 1., 0., 0.],
            &[0., 0., -9. / 16., 0., 1., 0.],
            &[0., -9. / 16., 0., 1., 0., 0.],
            &[0., 81. / 64., 0., -45. / 16., 0., 1.],
        ],
        &[
            &[1., 0., 0., 0., 0., 0.],
            &[0., 1., 3. / 4., 0., 0., 0.],
            &[0., 1., -3. / 4., 0., 0., 0.],
            &[0., 0., 0., 1., 3. / 2., 0.],
            &[0., 0., 0., 1., -3. / 2., 0.],
            &[0., 0., 0., 0., 0., 1.],
        ],
    ],
    weight: &[
        &[64. / 81., 0., 0.],
        &[-128. / 243., -32. / 81., -8. / 27.],
        &[-128. / 243., 32. / 81., -8. / 27.],
        &[32. / 243., 16. / 81., 8. / 27.],
        &[32. / 243., -16. / 81., 8. / 27.],
        &[0., 0., 1.],
    ],
    result: [
        &[
            &[1., 0., 0., 0., 0., 0.],
            &[0., 1., 1., 0., 0., 0.],
            &[0., 1., -1., 0., 0., 0.],
            &[0., 0., 0., 1., 1., 0.],
            &[0., 0., 0., 1., -1., 0.],
            &[0., 0., 0., 0., 0., 1.],
        ],
        &[
            &[1., 1., 0., 1., 0., 0.],
            &[0., 0., 3. / 4., 0., 3. / 2., 0.],
            &[0., 9. / 16., 0., 9. / 4., 0., 0.],
            &[0., 0., 27. / 64., 0., 27. / 8., 1.],
        ],
    ],
};

/// The transforms for tiles of that many results along an axis: 2 or 4.
pub fn transform(tile: i64) -> Option<&'static Transform> {
    [&F2, &F4].into_iter().find(|t| t.size as i64 == tile)
}

/// `u[i (m + 2) + j, c, f] = (G w[f, c] G')[i, j]`, computed in f64.
pub fn transform_weight(weight: &Tensor, by: &Transform) -> Result<Tensor, TensorError> {
    let (filters, channels, reads) = (weight.shape()[0], weight.shape()[1], by.reads());
    let w = weight.to_f64s();
    let mut u = vec![0.0; reads * reads * channels * filters];
    for (c, f) in (0..channels).flat_map(|c| (0..filters).map(move |f| (c, f))) {
        let of = &w[(f * channels + c) * 9..][..9];
        let column = |i: usize, b: usize| (0..3).map(|a| by.weight[i][a] * of[a * 3 + b]).sum::<f64>();
        for i in 0..reads {
            let half = [column(i, 0), column(i, 1), column(i, 2)];
            for j in 0..reads {
                let terms = half.iter().zip(by.weight[j]).map(|(a, b)| a * b);
                u[((i * reads + j) * channels + c) * filters + f] = terms.sum();
            }
        }
    }
    Tensor::from_f64s(weight.dtype(), &[reads * reads, channels, filters], &u)
}

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

/// Padding at the top, left, bottom and right; none when absent.
pub fn padding(call: &Call) -> Option<[i64; 4]> {
    let given = call.attrs.ints("padding").unwrap_or(&[0, 0, 0, 0]);
    <[i64; 4]>::try_from(given).ok().filter(|p| p.iter().all(|&n| n >= 0))
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
    WINOGRAD_WEIGHT = Operator {
        name: "winograd_weight",
        docs: &[], form: Form::UNARY,
        relation: weight_relation,
        fusion: FusionKind::Opaque,
        cost: crate::operator::cost::one_each,
        reference: reference::weight,
    }.of(form(&[operand("weight")]).attributes(&[int("tile")]));
    /// A convolution with a 3x3 kernel, tile by tile: y = A' [sum_c u[:, c, f] * (B' x B)] A
    ///
    /// Data [N, C, H, W], weight [(tile + 2)^2, C, F]: `G w G'` of a weight [F, C, 3, 3] (Lavin and Gray, 2016). `padding` is at the
    /// top, left, bottom and right, and 0 when absent.
    /// - C1: operands are f32.
    /// - C2: data has rank 4, the weight rank 3.
    /// - C3: tile is 2 or 4, the weight's first extent the square of tile + 2.
    /// - C4: the data's channels are the weight's second extent.
    /// - C5: padding has four numbers that are not negative, and the result's extents are above 0.
    WINOGRAD_CONV2D = Operator {
        name: "winograd_conv2d",
        docs: &[], form: Form::UNARY,
        relation,
        fusion: FusionKind::Contraction,
        cost,
        reference: reference::winograd,
    }.of(form(&[operand("data"), operand("weight")]).attributes(&[int("tile"), ints("padding")]));
}
