//! Numbers as they are after they were quantized: what a quantizer judges a program by, before it rewrites it.
//!
//! `y = (q - zero) * scale` with `q = clamp(round(x / scale) + zero, least, most)` (Jacob et al., "Quantization and Training of Neural
//! Networks for Efficient Integer-Arithmetic-Only Inference", 2018, section 3; TVM's `simulated_quantize`).

use crate::form::{floats, form, int, ints, operand};
use crate::operator::Related;
use crate::operator::cost::elements;
use crate::reference::elementwise::broadcast_indices;
use crate::reference::{Evaluated, static_shape};
use crate::relation::{broadcast_all, same_dtype};
use crate::{Call, FusionKind, Operator, Precision, Tensor, TensorType, operators, require};

operators! {
    /// (clamp(round(x / scale) + zero, least, most) - zero) * scale
    ///
    /// What is left of x where whole numbers from least to most stand for it. Where the scale is 0 it is x itself. `axis` is the axis along which
    /// scales may differ. `range` (least and greatest element) and `histogram` (counts of equal parts of the range) are what was seen of x; they do not
    /// change the result.
    /// - C1: operands have one type of floats.
    /// - C2: scale, zero, least and most broadcast to the shape of x.
    SIMULATED_QUANTIZE = Operator::new("simulated_quantize", FusionKind::Broadcast, relation, |_, results| 6.0 * elements(&results[..1]), reference)
        .of(form(&[operand("data"), operand("scale"), operand("zero"), operand("least"), operand("most")])
            .attributes(&[int("axis"), floats("range"), ints("histogram")]))
        .computes(Precision::Wide);
}

fn relation(call: &Call) -> Related {
    let data = &call.operands[0];
    require!(data.dtype.is_float(), C 1, "the operands must be float tensors, found {data}");
    same_dtype(call.operands, 1)?;
    let dims = broadcast_all(call.operands, 2)?;
    require!(dims == data.dims, C 2, "scale, zero, least and most must broadcast to {data}");
    Ok(vec![data.clone()])
}

/// What is left of one element.
pub fn simulated(x: f64, scale: f64, zero: f64, least: f64, most: f64) -> f64 {
    if scale == 0.0 {
        return x;
    }
    // NaN stays NaN.
    let q = ((x / scale).round_ties_even() + zero).clamp(least.min(most), most);
    (q - zero) * scale
}

fn reference(_: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let shape = static_shape(&results[0])?;
    let places: Vec<_> = x.iter().map(|t| broadcast_indices(&shape, t.shape())).collect();
    let at = |operand: usize, i: usize| x[operand].f64_at(places[operand][i]);
    let elements = (0..places[0].len()).map(|i| simulated(at(0, i), at(1, i), at(2, i), at(3, i), at(4, i)));
    Ok(vec![Tensor::from_f64s(results[0].dtype, &shape, &elements.collect::<Vec<f64>>())?])
}
