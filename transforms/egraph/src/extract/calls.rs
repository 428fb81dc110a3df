//! What a call takes by itself, and what it may be off by.

use super::few_bits;
use super::inner_product_trick;
use super::rates::Rates;
use super::strassen;
use crate::layouts;
use fusion_operators::ops::attention::ATTENTION;
use fusion_operators::ops::convolution::CONV2D;
use fusion_operators::ops::elementwise::{ADD, DIV, RECIPROCAL, SUB};
use fusion_operators::ops::few_bits::DENSE_FEW_BITS;
use fusion_operators::ops::inner_product_trick::{CONV2D_INNER_PRODUCT_TRICK, MATMUL_INNER_PRODUCT_TRICK};
use fusion_operators::ops::layout::LAYOUT_CONV2D;
use fusion_operators::ops::strassen::MATMUL_STRASSEN;
use fusion_operators::ops::winograd::{WINOGRAD_CONV2D, transform};
use fusion_operators::{Call, FusionKind, Operator, TensorType};
use fusion_relay::winograd;

/// Bytes of tensors; unknown extents count as 1.
pub fn bytes(types: &[TensorType]) -> f64 {
    let one = |t: &TensorType| {
        t.dims.iter().map(|d| d.known().unwrap_or(1) as f64).product::<f64>() * t.dtype.size() as f64
    };
    types.iter().map(one).sum()
}

/// Seconds of a call's arithmetic.
pub fn arithmetic(call: &Call, results: &[TensorType], rates: &Rates) -> f64 {
    let operations = (call.op.cost)(call, results);
    let contraction = || {
        let elements = results.iter().map(|t| bytes(std::slice::from_ref(t)) / t.dtype.size() as f64).sum();
        rates.conversions(call) * operations / rates.contraction(call.operands, operations, elements)
    };
    let in_order = || rates.core.and_then(|core| layouts::seconds_of_bytes(call, results, &core));
    match call.op.fusion {
        // Of Winograd's forms the rows say what the convolution and the product take by their definitions.
        FusionKind::Contraction if call.op.is(&WINOGRAD_CONV2D) => {
            contraction() / winograd::gain(call, results).unwrap_or(1.0)
        }
        FusionKind::Contraction if call.op.is(&MATMUL_STRASSEN) => {
            contraction() / strassen::gain_of(call, rates).unwrap_or(1.0)
        }
        FusionKind::Contraction if call.op.is(&DENSE_FEW_BITS) => {
            few_bits::seconds(call, contraction(), rates)
        }
        FusionKind::Contraction if INNER_PRODUCT_TRICK.iter().any(|o| call.op.is(o)) => {
            contraction() / inner_product_trick::gain_of(call, results, rates).unwrap_or(1.0)
        }
        FusionKind::Contraction if call.op.is(&LAYOUT_CONV2D) => {
            let gain = rates.core.and_then(|core| layouts::gain(call, results, &core));
            in_order().unwrap_or_else(|| contraction() / gain.unwrap_or(1.0))
        }
        FusionKind::Contraction if call.op.is(&CONV2D) => in_order().unwrap_or_else(contraction),
        FusionKind::Contraction => contraction(),
        _ => operations * slowness(call, rates) / rates.operations,
    }
}

/// Operators whose products are by the inner-product trick, or may be.
static INNER_PRODUCT_TRICK: [&Operator; 3] =
    [&MATMUL_INNER_PRODUCT_TRICK, &CONV2D_INNER_PRODUCT_TRICK, &ATTENTION];

/// Operators that count as one operation and take longer: a core divides a vector of floats in five to ten cycles, where it multiplies
/// two in one.
static SLOW: [(&Operator, f64); 2] = [(&DIV, 4.0), (&RECIPROCAL, 4.0)];

fn slowness(call: &Call, rates: &Rates) -> f64 {
    let is_sum = [&ADD, &SUB].iter().any(|o| call.op.is(o)) && call.operands[0].dtype.is_float();
    let slow = SLOW.iter().find(|(slow, _)| call.op.is(slow)).map(|(_, times)| *times);
    slow.unwrap_or(if is_sum { rates.sums } else { 1.0 })
}

/// Of Strassen's products, for the root of the numbers summed over: 1.3e-6 of the largest result for 512 of normal size, 3.4e-6 for 2048.
const STRASSEN: f64 = 8e-8;

/// Of the inner-product trick: 2e-5 for 2304 numbers that range over six orders of magnitude.
const INNER_PRODUCTS: f64 = 4.5e-7;

/// The largest error of a call beyond that of a plain sum, as a part of the largest result near; 0 of what is bounded element by element.
pub fn error_of(call: &Call, rates: &Rates) -> f64 {
    let last = |operand: usize| call.operands[operand].dims.last().and_then(|dim| dim.known()).unwrap_or(1);
    let root = |n: u64| (n as f64).sqrt();
    if call.op.is(&WINOGRAD_CONV2D) {
        let channels = call.operands[1].dims.get(1).and_then(|dim| dim.known()).unwrap_or(1);
        return transform(call.attrs.int_or("tile", 0)).map_or(f64::INFINITY, |t| t.error(channels));
    }
    if call.op.is(&MATMUL_STRASSEN) {
        return STRASSEN * root(last(0));
    }
    if call.op.is(&MATMUL_INNER_PRODUCT_TRICK) {
        return INNER_PRODUCTS * root(last(0));
    }
    if call.op.is(&CONV2D_INNER_PRODUCT_TRICK) {
        return INNER_PRODUCTS * root(call.operands[0].dims.get(1).and_then(|dim| dim.known()).unwrap_or(1));
    }
    if call.op.is(&ATTENTION) && inner_product_trick::attends(call, rates) {
        return INNER_PRODUCTS
            * root(
                last(0).max(call.operands[1].dims.iter().rev().nth(1).and_then(|d| d.known()).unwrap_or(1)),
            );
    }
    0.0
}
