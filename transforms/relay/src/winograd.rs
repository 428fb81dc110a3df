//! `relay-winograd`: convolutions with a constant 3x3 kernel in Winograd's form, where that is faster.
//!
//!     relay.conv2d %x, %w {padding}    =>    relay.winograd_conv2d %x, %u {padding, tile}        %u = G w G'
//!
//! Tiles of 4 x 4 results take 36 multiplications instead of 144, tiles of 2 x 2 take 16 instead of 36; but the transformed weight is 4
//! times, or almost 2 times, as large, data and results are transformed and moved, and at the border tiles compute what nobody
//! asked for. Whether it pays is counted in cycles of one core. Errors grow with the tile and the root of the channels: a tile is
//! taken only where `operators/ops/winograd` bounds its error by what the program's arithmetic allows (`fp_math`).

use fusion_dialects::module::FpMath;
use fusion_dialects::relay::{Builder, constant_value};
use fusion_dialects::rows::Kind;
use fusion_dialects::{
    Build, Op, OpExt, Pass, PassError, RunContext, StatisticSpec, kind_of, nested_ops, tensor_type,
};
use fusion_operators::ops::convolution::CONV2D;
use fusion_operators::ops::winograd::{WINOGRAD_CONV2D, transform, transform_weight};
use fusion_operators::{Attrs, Call, DType, TensorType};

/// The pass.
pub struct RelayWinograd;

impl Pass for RelayWinograd {
    const NAME: &'static str = "relay-winograd";
    const DESCRIPTION: &'static str = "Compute convolutions in Winograd's form where that is faster";
    const ANCHOR: Option<&'static str> = Some("func.func");
    const STATISTICS: &'static [StatisticSpec] = &[
        StatisticSpec { name: "tiles2", description: "Convolutions with tiles of 2 x 2 results" },
        StatisticSpec { name: "tiles4", description: "Convolutions with tiles of 4 x 4 results" },
    ];
    const DIALECTS: &'static [&'static str] = &["relay"];

    fn run<'c>(function: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let most = FpMath::of(function)?.largest_normwise_error();
        for op in nested_ops(function) {
            if matches!(kind_of(op), Some(Kind::Operator(operator)) if operator.is(&CONV2D))
                && let Some(shape) = Shape::of_op(op)
                && let Some(tile) = shape.best_tile(most)
            {
                rewrite(op, tile)?;
                cx.count(usize::from(tile == 4), 1);
            }
        }
        Ok(())
    }
}

/// A convolution that has a form of Winograd's: images, channels, filters, and the result's extents.
pub struct Shape {
    images: u64,
    channels: u64,
    filters: u64,
    height: u64,
    width: u64,
}

/// Multiply-adds, and elements moved, in a cycle of one core.
const MULTIPLY_ADDS: f64 = 32.0;
const MOVED: f64 = 4.0;
/// Vector operations of both transforms, and what else is done, for 16 elements of a tile's data or result.
const TRANSFORM: [f64; 2] = [70.0, 180.0];
/// Bytes of weights that a cycle brings from beyond the second-level cache.
const FAR_BYTES: f64 = 12.0;
/// Less gain than this is not worth the rounding.
const LEAST_GAIN: f64 = 1.15;

impl Shape {
    /// Of a convolution by its attributes, its operands and its result.
    pub fn of(attrs: &Attrs, data: &TensorType, weight: &TensorType, result: &TensorType) -> Option<Shape> {
        let is_one = |name: &str| attrs.ints(name).is_none_or(|v| v.iter().all(|&n| n == 1));
        let (x, w, y) = (data.shape()?, weight.shape()?, result.shape()?);
        let fits = data.dtype == DType::F32
            && w[2..] == [3, 3]
            && is_one("strides")
            && is_one("dilation")
            && attrs.int_or("groups", 1) == 1;
        fits.then_some(Shape { images: x[0], channels: w[1], filters: w[0], height: y[2], width: y[3] })
    }

    fn of_op(op: Op) -> Option<Shape> {
        let (operands, result) = (op.operand_values(), *op.result_values().first()?);
        let (data, weight) = (tensor_type(operands[0])?, tensor_type(operands[1])?);
        Shape::of(&op.attrs(), &data, &weight, &tensor_type(result)?)
    }

    /// The tile that is best of those whose error is bounded by `most` of the largest result near, if one is better than none.
    pub fn best_tile(&self, most: f64) -> Option<i64> {
        if self.channels < 16 || self.filters < 16 {
            return None;
        }
        let is_bounded = |tile: &u64| transform(*tile as i64).is_some_and(|t| t.error(self.channels) <= most);
        let bounded = [2, 4].into_iter().filter(is_bounded);
        let best = bounded.min_by(|a, b| self.cycles(*a).total_cmp(&self.cycles(*b)))?;
        (self.cycles(best) * LEAST_GAIN < self.direct()).then_some(best as i64)
    }

    fn direct(&self) -> f64 {
        let results = (self.images * self.filters * self.height * self.width) as f64;
        let weights = (9 * self.channels * self.filters * 4) as f64;
        (results * (9 * self.channels) as f64 / MULTIPLY_ADDS).max(weights / FAR_BYTES) + results / MOVED
    }

    fn cycles(&self, tile: u64) -> f64 {
        let tiles = (self.images * self.height.div_ceil(tile) * self.width.div_ceil(tile)) as f64;
        let points = ((tile + 2) * (tile + 2)) as f64;
        let (channels, filters) = (self.channels as f64, self.filters as f64);
        let products = tiles * points * channels * filters / MULTIPLY_ADDS;
        let weights = points * channels * filters * 4.0 / FAR_BYTES;
        let transforms = tiles * (channels + filters) / 16.0 * TRANSFORM[usize::from(tile == 4)] / 2.0;
        let moved = tiles * (tile * tile) as f64 * (channels + filters) / MOVED;
        products.max(weights) + transforms + moved
    }
}

/// How many times as fast as the direct convolution a call of `relay.winograd_conv2d` is.
pub fn gain(call: &Call, results: &[TensorType]) -> Option<f64> {
    let (weight, result) = (call.operands[1].shape()?, results.first()?.shape()?);
    let tile = u64::try_from(call.attrs.int_or("tile", 0)).ok().filter(|t| [2, 4].contains(t))?;
    let shape = Shape {
        images: result[0],
        channels: weight[1],
        filters: weight[2],
        height: result[2],
        width: result[3],
    };
    Some(shape.direct() / shape.cycles(tile))
}

fn rewrite<'c>(op: Op<'c>, tile: i64) -> Result<(), PassError<'c>> {
    let operands = op.operand_values();
    let Some((weight, by)) = constant_value(operands[1]).zip(transform(tile)) else { return Ok(()) };
    let transformed = transform_weight(&weight, by).map_err(|why| PassError::at(op, why))?;
    let attrs = op.attrs();
    let mut new = Attrs::new().with("tile", tile);
    if let Some(padding) = attrs.get("padding") {
        new.set("padding", padding.clone());
    }
    let builder = Builder::new(Build::before(op));
    let weight = builder.named_constant(&transformed, "winograd");
    let values = builder
        .op(&WINOGRAD_CONV2D, &[operands[0], weight], &new)
        .map_err(|violation| PassError::at(op, violation))?;
    op.replace_all_uses(&values);
    op.erase();
    Ok(())
}
