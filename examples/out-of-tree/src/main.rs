//! mlir-opt with the passes of MLIR and fusion, and one of our own: `example-count-flops`.

use fusion_dialects::rows::Kind;
use fusion_dialects::{
    Op, OpExt, Pass, PassError, RunContext, StatisticSpec, Value, int_attr, kind_of, nested_ops, tensor_type,
};
use fusion_operators::{Call, TensorType};

/// Adds up what the operators of each function cost.
///
/// The pass has no list of operators: each brings its cost in its row of facts.
struct CountFlops;

impl Pass for CountFlops {
    const NAME: &'static str = "example-count-flops";
    const DESCRIPTION: &'static str = "Note the arithmetic operations of each function as example.flops";
    const ANCHOR: Option<&'static str> = Some("func.func");
    const STATISTICS: &'static [StatisticSpec] =
        &[StatisticSpec { name: "operators", description: "Number of operators counted" }];

    fn run<'c>(function: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let mut flops = 0.0;
        for op in nested_ops(function) {
            let Some(Kind::Operator(operator)) = kind_of(op) else { continue };
            let (operands, results) = (types(op, op.operand_values())?, types(op, op.result_values())?);
            let call = Call { op: operator, operands: &operands, attrs: &op.attrs() };
            flops += (operator.cost)(&call, &results);
            cx.count(0, 1);
        }
        function.set_attr("example.flops", int_attr(function.context_ref(), flops as i64));
        Ok(())
    }
}

/// The types of an operator's values, whose extents must be known.
fn types<'c>(op: Op<'c>, values: Vec<Value<'c>>) -> Result<Vec<TensorType>, PassError<'c>> {
    let known = |v: &Value<'c>| tensor_type(*v).filter(|t| t.elements().is_some());
    let types: Option<Vec<_>> = values.iter().map(known).collect();
    types.ok_or_else(|| PassError::at(op, "has a tensor with an unknown extent, so its cost is not known"))
}

fn main() {
    fusion::register_passes();
    fusion_dialects::register::<CountFlops>();
    std::process::exit(fusion_tools::opt::main());
}
