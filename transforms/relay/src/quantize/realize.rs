//! `relay-quantize-realize`: simulated quantization becomes integers.
//!
//! ```text
//!   relay.simulated_quantize %x, s, z, 0, 255       =>      (cast(q as i32) - z) * s        q = cast(clip(round(x / s) + z, 0, 255) as ui8)
//!   relay.simulated_quantize W, s, 0, -127, 127     =>      cast(Q as i32) * s              Q a constant of i8
//!   relay.simulated_quantize %x, 0, ...             =>      %x
//! ```
//! These are the formulas of ONNX's QuantizeLinear and DequantizeLinear, operator by operator as the importer writes them. So what the e-graph makes
//! integer sums of is the same, whichever way a model was quantized.

use super::parameters::{Numbers, Parameters};
use super::simulated::{Simulated, simulated_in};
use fusion_dialects::relay::Builder;
use fusion_dialects::{
    Build, Op, OpExt, Pass, PassError, RunContext, StatisticSpec, Value, defining_op, unused,
};
use fusion_operators::ops::elementwise as ew;
use fusion_operators::reference::elementwise::broadcast_indices;
use fusion_operators::{Attrs, DType, Operator, Tensor, TensorError, Violation};

/// The pass.
pub struct QuantizeRealize;

impl Pass for QuantizeRealize {
    const NAME: &'static str = "relay-quantize-realize";
    const DESCRIPTION: &'static str = "Make integers of simulated quantization";
    const ANCHOR: Option<&'static str> = Some("func.func");
    const STATISTICS: &'static [StatisticSpec] = &[
        StatisticSpec { name: "quantized", description: "Edges that became integers" },
        StatisticSpec { name: "floats", description: "Edges that stay in floats" },
    ];
    const DIALECTS: &'static [&'static str] = &["relay"];

    fn run<'c>(function: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        for edge in simulated_in(function) {
            let quantized = realize(&edge).map_err(|why| PassError::at(edge.op, why))?;
            let value = quantized.unwrap_or_else(|| edge.data());
            cx.count(usize::from(quantized.is_none()), 1);
            let operands = edge.op.operand_values();
            edge.op.replace_all_uses(&[value]);
            edge.op.erase();
            for operand in operands.into_iter().filter(|operand| unused(*operand)) {
                if let Some(op) = defining_op(operand).filter(|op| op.operand_values().is_empty()) {
                    op.erase();
                }
            }
        }
        Ok(())
    }
}

/// The dequantized value, where the edge is quantized.
fn realize<'c>(edge: &Simulated<'c>) -> Result<Option<Value<'c>>, String> {
    let numbers = edge.numbers()?;
    let parameters = edge.parameters().ok_or("has no constant scale and zero point; calibrate it first")?;
    parameters.check(&numbers)?;
    if parameters.is_none() {
        return Ok(None);
    }
    let builder = Builder::new(Build::before(edge.op));
    let settings = edge.settings();
    let call = |op: &'static Operator, operands: &[Value<'c>], attrs: Attrs| {
        builder
            .op(op, operands, &attrs)
            .map(|values| values[0])
            .map_err(|violation: Violation| violation.to_string())
    };
    let cast = |x: Value<'c>, dtype: DType| call(&ew::CAST, &[x], Attrs::new().with("dtype", dtype));
    let (scale, zero) = (settings[0], settings[1]);
    let q = match edge.constant() {
        Some(tensor) => {
            let integers = integers(&tensor, edge, &parameters, &numbers)?;
            let name = fusion_dialects::name_of_location(fusion_dialects::OperationLike::location(&edge.op));
            builder.named_constant(&integers, &name)
        }
        None => {
            let scaled = call(&ew::DIV, &[edge.data(), scale], Attrs::new())?;
            let q = call(&ew::ROUND, &[scaled], Attrs::new())?;
            let q = call(&ew::ADD, &[q, zero], Attrs::new())?;
            let bounds = Attrs::new().with("min", numbers.least).with("max", numbers.most);
            cast(call(&ew::CLIP, &[q], bounds)?, numbers.dtype())?
        }
    };
    let mut x = cast(q, DType::I32)?;
    if parameters.zeros.iter().any(|zero| *zero != 0.0) {
        x = call(&ew::SUB, &[x, cast(zero, DType::I32)?], Attrs::new())?;
    }
    let x = cast(x, edge.dtype())?;
    call(&ew::MUL, &[x, scale], Attrs::new()).map(Some)
}

/// The whole numbers of a constant.
pub fn integers(
    tensor: &Tensor,
    edge: &Simulated,
    parameters: &Parameters,
    numbers: &Numbers,
) -> Result<Tensor, String> {
    let axis = edge.axis().filter(|_| parameters.scales.len() > 1);
    quantized(tensor, axis, parameters, numbers).map_err(|error| error.to_string())
}

/// The whole numbers that stand for elements, by scales along an axis.
pub fn quantized(
    tensor: &Tensor,
    axis: Option<usize>,
    parameters: &Parameters,
    numbers: &Numbers,
) -> Result<Tensor, TensorError> {
    let shape: Vec<usize> = match axis {
        Some(axis) => {
            (0..tensor.shape().len()).map(|i| if i == axis { parameters.scales.len() } else { 1 }).collect()
        }
        None => Vec::new(),
    };
    let channels = broadcast_indices(tensor.shape(), &shape);
    let one = |values: &[f64], channel: usize| values[if values.len() == 1 { 0 } else { channel }];
    let number = |(x, channel): (f64, usize)| {
        let q = (x / one(&parameters.scales, channel)).round_ties_even() + one(&parameters.zeros, channel);
        q.clamp(numbers.least, numbers.most)
    };
    let values: Vec<f64> = tensor.to_f64s().into_iter().zip(channels).map(number).collect();
    Tensor::from_f64s(numbers.dtype(), tensor.shape(), &values)
}
