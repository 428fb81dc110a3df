//! What a product by the inner-product trick takes beside the plain one.
//!
//!     2 m k n / peak      =>      2/3 of it  +  left side read, divided and stored  +  rows by themselves
//!
//! Where as many additions begin in a cycle beside multiply-adds, four of six numbers summed over are multiplied in pairs: four multiplications
//! and four additions, in place of six. The numbers are filled up to a multiple of six, the columns to whole vectors, and tiles have a step
//! that is not their rows' ([`InnerProductTile`]). The left side goes through the second cache once more, and nothing hides that it is read first. (On Zen 4,
//! 512 x 512 by 512 x 16 takes 87 us, of which 48 are the product, 4096 x 64 by 64 x 16 101 and 49.) Places of an image are vectors, whose
//! channels are gone over twice, a line of memory of each at a time: 384 x 14 x 14 by 64 filters takes 74 us, of which 56 are the product,
//! 32 x 112 x 112 by 16 170 and 82.

use super::rates::Rates;
use fusion_operators::ops::attention::ATTENTION;
use fusion_operators::ops::inner_product_trick::{
    BEHIND, CONV2D_INNER_PRODUCT_TRICK, PARTS, lies_along_places,
};
use fusion_operators::{Call, DType, TensorType};
use fusion_schedule::auto_schedule::InnerProductTile;

/// Cycles that a row takes by itself: its largest number and its sum are put together from lanes.
const ROW: f64 = 16.0;
/// Cycles that a vector of an image takes before it is multiplied, beside its way through the caches.
const VECTOR: f64 = 6.0;
/// Cycles that a vector of results takes before it is stored.
const RESULT: f64 = 1.0;
/// Cycles that a vector of scores takes beside those of an attention whose products are not by the inner-product trick.
const SCORE: f64 = 2.0;
/// Less gain than this is not worth the rounding.
const LEAST_GAIN: f64 = 1.02;
/// Fewer rows than a tile's of one vector do not pay.
const LEAST_ROWS: f64 = 14.0;
const BYTES: f64 = 4.0;

/// True where such products are allowed, and additions cost nothing beside multiplications.
pub fn pays(rates: &Rates) -> bool {
    rates.fp_math.allows_normwise_products()
        && rates.core.is_some_and(|core| core.additions >= core.multiply_adds)
}

/// Seconds of a product of so many rows, numbers summed over and columns by the inner-product trick.
pub fn matrices([m, k, n]: [f64; 3], rates: &Rates) -> f64 {
    let rows = m * ROW * lanes(rates) / rates.operations;
    product([m, k, n], rates) + through_caches(m * k, rates) + rows
}

/// Seconds of a convolution of so many images, by a kernel of 1 x 1: of how many places, channels and filters.
pub fn places(images: f64, [places, channels, filters]: [f64; 3], rates: &Rates) -> f64 {
    let each = match lies_along_places(places as u64, filters as u64) {
        true => product([filters, channels, places], rates),
        false => product([places, channels, filters], rates),
    };
    let numbers = images * places * channels;
    images * each + through_caches(numbers, rates) + numbers * VECTOR / rates.operations
}

/// True where both products of an attention are by the inner-product trick: of f32 and known extents, on a processor that takes less so.
pub fn attends(call: &Call, rates: &Rates) -> bool {
    attention(call, rates).is_some()
}

/// Seconds of an attention's products as they are, and by the inner-product trick, where that is less.
fn attention(call: &Call, rates: &Rates) -> Option<[f64; 2]> {
    let known = |ty: &TensorType| -> Option<Vec<f64>> {
        let shape = ty.shape().filter(|_| ty.dtype == DType::F32)?;
        Some(shape.into_iter().map(|n| n as f64).collect())
    };
    let (q, v) = (known(&call.operands[0])?, known(&call.operands[2])?);
    let (&[ref lead @ .., queries, width], &[.., keys, columns]) = (&q[..], &v[..]) else { return None };
    let heads: f64 = lead.iter().product();
    let plain = heads * 2.0 * queries * keys * (width + columns) / rates.of_contractions();
    let products = product([queries, width, keys], rates) + product([queries, keys, columns], rates);
    // Scores are put together from their sums, and those of both sides are made of what is near.
    let numbers = queries * width + keys * (width + columns);
    let near = (queries * keys * SCORE + numbers * VECTOR) / rates.operations;
    let by_trick = heads * (products + near);
    let is_less = by_trick * LEAST_GAIN < plain;
    (is_less && pays(rates) && queries >= LEAST_ROWS && columns > 0.0).then_some([plain, by_trick])
}

fn lanes(rates: &Rates) -> f64 {
    rates.stored_together.map_or(1.0, |lanes| lanes as f64)
}

/// Seconds of the products alone.
fn product([m, k, n]: [f64; 3], rates: &Rates) -> f64 {
    let Some(core) = &rates.core else { return f64::INFINITY };
    let extents = [m as u64, n as u64];
    let cycles = InnerProductTile::of(extents, core).cycles(extents, core) * (k / PARTS as f64).ceil();
    // Multiply-adds that begin meanwhile.
    let of_cycle = 2.0 * lanes(rates) * core.multiply_adds as f64;
    cycles * of_cycle / rates.of_contractions() + m * n * RESULT / rates.operations
}

/// Seconds that so many numbers take to be read and stored before they are multiplied.
fn through_caches(numbers: f64, rates: &Rates) -> f64 {
    rates.moving(BYTES * numbers) + 2.0 * rates.beside(BYTES * numbers)
}

/// How many times as fast as the plain product's definition says a call by the inner-product trick is.
pub fn gain_of(call: &Call, results: &[TensorType], rates: &Rates) -> Option<f64> {
    if call.op.is(&ATTENTION) {
        let [plain, by_trick] = attention(call, rates)?;
        let all = (call.op.cost)(call, results) / rates.of_contractions();
        return Some(all / (all - plain + by_trick));
    }
    let known = |ty: &TensorType| ty.shape().map(|shape| shape.into_iter().map(|n| n as f64).collect());
    let (left, result): (Vec<f64>, Vec<f64>) = (known(&call.operands[0])?, known(&results[0])?);
    let seconds = match (&left[..], &result[..]) {
        (&[images, channels, ..], &[_, filters, height, width])
            if call.op.is(&CONV2D_INNER_PRODUCT_TRICK) =>
        {
            places(images, [height * width, channels, filters], rates)
        }
        ([rows @ .., k], [.., n]) => matrices([rows.iter().product(), *k, *n], rates),
        _ => return None,
    };
    Some((call.op.cost)(call, results) / rates.of_contractions() / seconds)
}

/// Rows of the right side of a product of so many numbers summed over, as a share of these.
pub fn more(k: f64) -> f64 {
    ((k / PARTS as f64).ceil() * PARTS as f64 + BEHIND as f64) / k.max(1.0)
}
