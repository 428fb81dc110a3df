//! Verifiers: an operator's type relation, and the functional side's rules.

use super::Op as Functional;
use crate::{Block, Op, OpExt, Type, Value, ValueLike, arguments, function_parts, ops_in, tensor_type};
use fusion_operators::{DType, Operator, TensorType};

/// Checks a call of an operator against its type relation.
pub fn operator(operator: &'static Operator, op: Op) -> Result<(), String> {
    let types = |values: Vec<Value>| -> Result<Vec<TensorType>, String> {
        let of = |v: &Value| {
            tensor_type(*v).ok_or_else(|| {
                format!(
                    "takes and gives tensors of f64, f32, f16, bf16, i8 to i64, ui8 to ui64 and i1, found {}",
                    v.r#type()
                )
            })
        };
        values.iter().map(of).collect()
    };
    let operands = types(op.operand_values())?;
    let found = types(op.result_values())?;
    let related = operator.infer(&operands, &op.attrs()).map_err(|violation| violation.to_string())?;
    if related.len() != found.len() {
        return Err(format!("has {} results, its type relation gives {}", found.len(), related.len()));
    }
    for (i, (found, related)) in found.iter().zip(&related).enumerate() {
        if !found.compatible(related) {
            return Err(format!("result {i} is {found}, its type relation gives {related}"));
        }
    }
    Ok(())
}

/// Checks the functional side.
pub fn functional(kind: Functional, op: Op) -> Result<(), String> {
    match kind {
        Functional::Tuple => tuple(op),
        Functional::Get => get(op),
        Functional::If => branches(op),
        Functional::While => while_loop(op),
        Functional::Fn => closure(op),
        Functional::Apply => apply(op),
        _ => Ok(()),
    }
}

fn types_of(values: &[Value]) -> Vec<String> {
    values.iter().map(|v| v.r#type().to_string()).collect()
}

fn tuple(op: Op) -> Result<(), String> {
    let elements = types_of(&op.operand_values()).join(", ");
    let result = op.result_values()[0].r#type();
    let expected = format!("tuple<{elements}>");
    same(&result.to_string(), &expected, "the tuple's type")
}

fn get(op: Op) -> Result<(), String> {
    let ty = op.operand_values()[0].r#type();
    let tuple = melior::ir::r#type::TupleType::try_from(ty).map_err(|e| e.to_string())?;
    let index = op.int("index").unwrap_or(-1);
    let element =
        usize::try_from(index).ok().filter(|&i| i < tuple.type_count()).and_then(|i| tuple.r#type(i).ok());
    let Some(element) = element else {
        return Err(format!("violates constraint C1: index {index} is out of range for {ty}"));
    };
    same(&op.result_values()[0].r#type().to_string(), &element.to_string(), "the element's type")
}

fn branches(op: Op) -> Result<(), String> {
    condition(&op.operand_values(), "the condition")?;
    let results = types_of(&op.result_values());
    for (region, name) in [(0, "the first region"), (1, "the second region")] {
        let block = op.body(region).ok_or_else(|| format!("{name} is empty"))?;
        same(&yielded(block)?.join(", "), &results.join(", "), &format!("what {name} yields"))?;
    }
    Ok(())
}

fn while_loop(op: Op) -> Result<(), String> {
    let state = types_of(&op.operand_values()).join(", ");
    same(&types_of(&op.result_values()).join(", "), &state, "the results")?;
    for (region, name) in [(0, "the condition region"), (1, "the body")] {
        let block = op.body(region).ok_or_else(|| format!("{name} is empty"))?;
        same(&types_of(&arguments(block)).join(", "), &state, &format!("what {name} takes"))?;
    }
    let tested = op.body(0).and_then(terminator).map(|t| t.operand_values()).unwrap_or_default();
    condition(&tested, "what the condition region yields")?;
    let next = op.body(1).ok_or("the body is empty").map_err(String::from)?;
    same(&yielded(next)?.join(", "), &state, "what the body yields")
}

fn closure(op: Op) -> Result<(), String> {
    let (inputs, results) = function_parts(op.result_values()[0].r#type()).ok_or("gives no function")?;
    let block = op.body(0).ok_or("the body is empty")?;
    let names = |types: &[Type]| types.iter().map(|t| t.to_string()).collect::<Vec<_>>().join(", ");
    same(&types_of(&arguments(block)).join(", "), &names(&inputs), "what the body takes")?;
    same(&yielded(block)?.join(", "), &names(&results), "what the body yields")
}

fn apply(op: Op) -> Result<(), String> {
    let operands = op.operand_values();
    let (inputs, results) = function_parts(operands[0].r#type()).ok_or("calls no function")?;
    let names = |types: &[Type]| types.iter().map(|t| t.to_string()).collect::<Vec<_>>().join(", ");
    same(&types_of(&operands[1..]).join(", "), &names(&inputs), "the arguments")?;
    same(&types_of(&op.result_values()).join(", "), &names(&results), "the results")
}

fn terminator<'c>(block: Block<'c>) -> Option<Op<'c>> {
    ops_in(block).last().copied()
}

fn yielded(block: Block) -> Result<Vec<String>, String> {
    let last = terminator(block)
        .filter(|op| op.kind().is_some_and(|k| matches!(k, crate::rows::Kind::Relay(Functional::Yield))));
    last.map(|op| types_of(&op.operand_values())).ok_or_else(|| "each region ends with relay.yield".into())
}

fn condition(values: &[Value], what: &str) -> Result<(), String> {
    let scalar = |v: &Value| tensor_type(*v).is_some_and(|t| t.rank() == 0 && t.dtype == DType::Bool);
    match values {
        [value] if scalar(value) => Ok(()),
        _ => Err(format!("{what} must be one tensor<i1>, found {}", types_of(values).join(", "))),
    }
}

fn same(found: &str, expected: &str, what: &str) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what} must be ({expected}), found ({found})")) }
}
