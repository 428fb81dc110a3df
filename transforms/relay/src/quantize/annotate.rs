//! `relay-quantize-annotate`: simulated quantization around operators that can be quantized.
//!
//! ```text
//!   %y = relay.conv2d %x, %w      =>      %a = relay.simulated_quantize %x, 0, 0, 0, 255
//!                                         %b = relay.simulated_quantize %w, 0, 0, -127, 127 {axis = 0}
//!                                         %y = relay.conv2d %a, %b
//! ```
//! The operator's row says which operands, which numbers, and the axis of a weight's channels. Scales are 0, so that nothing changes yet. Each use
//! of a value has a simulation of its own: one call may be quantized while another stays in floats.
//!
//! Operators in loops and branches stay as they are: what flows there cannot be seen from outside.

use super::parameters::Numbers;
use fusion_dialects::relay::{Builder, Op as Relay};
use fusion_dialects::rows::Kind;
use fusion_dialects::{
    Build, Op, OpExt, OptionKind, OptionSpec, Pass, PassError, RunContext, StatisticSpec, Value, ValueLike,
    attr_to_mlir, defining_op, kind_of, ops_in, tensor_type,
};
use fusion_operators::ops::quantization::SIMULATED_QUANTIZE;
use fusion_operators::quantization::{Operand, Partition};
use fusion_operators::{Attr, Call, Operator, Tensor, TensorType};

/// The pass.
pub struct QuantizeAnnotate;

impl Pass for QuantizeAnnotate {
    const NAME: &'static str = "relay-quantize-annotate";
    const DESCRIPTION: &'static str = "Simulate quantization around operators that can be quantized";
    const ANCHOR: Option<&'static str> = Some("func.func");
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "weight-bits",
            description: "Bits of weights",
            kind: OptionKind::Int,
            initial: "8",
        },
        OptionSpec {
            name: "data-bits",
            description: "Bits of data; 0 leaves data in floats",
            kind: OptionKind::Int,
            initial: "8",
        },
    ];
    const STATISTICS: &'static [StatisticSpec] =
        &[StatisticSpec { name: "edges", description: "Operands that are simulated" }];
    const DIALECTS: &'static [&'static str] = &["relay"];

    fn run<'c>(function: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let bits = [cx.options.int("data-bits"), cx.options.int("weight-bits")];
        for op in function.body(0).map(ops_in).unwrap_or_default() {
            cx.count(0, annotate(op, bits).map_err(|why| PassError::at(op, why))?);
        }
        Ok(())
    }
}

fn is_constant(value: Value) -> bool {
    defining_op(value).is_some_and(|op| matches!(kind_of(op), Some(Kind::Relay(Relay::Constant))))
}

/// Simulates the operands of a call; says how many.
fn annotate(op: Op, bits: [i64; 2]) -> Result<u64, String> {
    let Some(Kind::Operator(row)) = kind_of(op) else { return Ok(0) };
    let Some(how) = row.quantization.filter(|how| how.partition == Partition::Sums) else { return Ok(0) };
    let (operands, attrs) = (op.operand_values(), op.attrs());
    let types: Option<Vec<TensorType>> = operands.iter().map(|v| tensor_type(*v)).collect();
    let floats = |types: &Vec<TensorType>| types.iter().all(|ty| ty.dtype.is_float() && ty.rank() > 0);
    let Some(types) = types.filter(floats).filter(|_| attrs.get("out_dtype").is_none()) else {
        return Ok(0);
    };
    let constants: Vec<bool> = how.operands.iter().map(|o| is_constant(operands[o.place])).collect();
    // Of constants alone a product is one as well, and data is quantized for the sake of its products with weights or other data.
    if constants.iter().all(|constant| *constant) || bits[0] == 0 && !constants.contains(&true) {
        return Ok(0);
    }
    let call = Call { op: row, operands: &types, attrs: &attrs };
    let mut count = 0;
    for (operand, &constant) in how.operands.iter().zip(&constants) {
        let numbers = if constant { operand.constant } else { operand.computed };
        let wanted = bits[usize::from(constant)];
        if wanted == 0 {
            continue;
        }
        let Some(bits) = numbers.bits.iter().copied().find(|bits| i64::from(*bits) == wanted) else {
            let (what, name) = if constant { ("weights", row.name) } else { ("data", row.name) };
            return Err(format!(
                "takes no {what} of {wanted} bits; the bits of relay.{name} are {:?}",
                numbers.bits
            ));
        };
        let range = numbers.range(bits);
        simulate(op, operand, &call, constant, Numbers { least: range.0, most: range.1 })?;
        count += 1;
    }
    Ok(count)
}

fn simulate(op: Op, operand: &Operand, call: &Call, constant: bool, numbers: Numbers) -> Result<(), String> {
    let build = Build::before(op);
    let builder = Builder::new(build);
    let data = op.operand_values()[operand.place];
    let number = |value: f64| {
        let tensor = Tensor::from_f64s(call.operands[operand.place].dtype, &[], &[value]);
        tensor.map(|t| builder.constant(&t)).map_err(|error| error.to_string())
    };
    let operands = [data, number(0.0)?, number(0.0)?, number(numbers.least)?, number(numbers.most)?];
    let axis = constant.then(|| (operand.channels)(call.attrs, call.operands)).flatten();
    let attrs: Vec<_> = axis
        .map(|axis| ("axis", attr_to_mlir(op.context_ref(), &Attr::Int(axis as i64))))
        .into_iter()
        .collect();
    let row: &Operator = &SIMULATED_QUANTIZE;
    // Not by the builder, which would fold the simulation of a small weight.
    let value = build.value(&format!("relay.{}", row.name), &operands, data.r#type(), &attrs);
    op.set_operand_value(operand.place, value);
    Ok(())
}
