//! How much a run of a function costs, before it is run: operations of operators by their rows, points of kernels.

use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Block, Op, OpExt, Value, kind_of, loops, nested_ops, ops_in, relay, te, tensor_type, top_level,
};
use fusion_operators::{Call, TensorType, operator::cost};
use std::collections::HashMap;

/// Operations of a call of a function of a module, those it calls included. Bodies of loops in kernels count as often as they run, those of
/// other loops once.
pub fn flops_of(module: Op, function: &str) -> f64 {
    let callable = |kind| matches!(kind, Kind::Upstream(Upstream::Func) | Kind::Te(te::Op::Kernel));
    let functions: HashMap<&str, Op> =
        top_level(module, callable).into_iter().filter_map(|f| Some((f.text("sym_name")?, f))).collect();
    count(&functions, function, &mut HashMap::new())
}

fn count<'c>(functions: &HashMap<&'c str, Op<'c>>, name: &str, known: &mut HashMap<String, f64>) -> f64 {
    if let Some(flops) = known.get(name) {
        return *flops;
    }
    // Who calls itself counts once.
    known.insert(name.to_owned(), 0.0);
    let operations = functions.get(name).map(|f| nested_ops(*f)).unwrap_or_default();
    let flops = operations.into_iter().map(|op| of_operation(functions, op, known)).sum();
    known.insert(name.to_owned(), flops);
    flops
}

fn of_operation<'c>(
    functions: &HashMap<&'c str, Op<'c>>,
    op: Op<'c>,
    known: &mut HashMap<String, f64>,
) -> f64 {
    let types =
        |values: Vec<Value<'c>>| values.into_iter().filter_map(tensor_type).collect::<Vec<TensorType>>();
    match kind_of(op) {
        Some(Kind::Operator(operator)) => {
            let (operands, results) = (types(op.operand_values()), types(op.result_values()));
            let call = Call { op: operator, operands: &operands, attrs: &op.attrs() };
            // What is only moved takes its time as well.
            (operator.cost)(&call, &results) + cost::elements(&results)
        }
        Some(Kind::Upstream(Upstream::Call) | Kind::Relay(relay::Op::Call)) => {
            count(functions, op.text("callee").unwrap_or_default(), known)
        }
        Some(Kind::Te(te::Op::Call)) => count(functions, op.text("kernel").unwrap_or_default(), known),
        Some(Kind::Te(te::Op::Compute)) => {
            let points = |name| op.ints(name).unwrap_or_default().iter().map(|n| *n as f64).product::<f64>();
            let body = op.body(0).map_or(0.0, scalars);
            points("axes") * points("reduce") * body
        }
        _ => 0.0,
    }
}

/// Operations on scalars of a block.
fn scalars(block: Block) -> f64 {
    let of = |op: Op| match kind_of(op) {
        Some(Kind::Loop(loops::Op::For)) => {
            op.int("extent").unwrap_or(1).max(0) as f64 * op.body(0).map_or(0.0, scalars)
        }
        _ => 1.0,
    };
    ops_in(block).into_iter().map(of).sum()
}
