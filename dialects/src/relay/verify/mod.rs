//! Verifiers: an operator's type relation, and the functional side's rules.

mod control;
mod data;
mod functions;
mod values;

use super::{Op as Functional, agree};
use crate::bridge::symbols::Symbols;
use crate::{Block, Op, OpExt, Type, TypeParts, Value, ValueLike, ops_in, tensor_type, type_parts};
use fusion_operators::{Operator, TensorType};

/// Checks a call of an operator against its type relation.
pub fn operator(operator: &'static Operator, op: Op) -> Result<(), String> {
    let unknown = |v: &Value| matches!(type_parts(v.r#type()), TypeParts::Hole);
    if op.operand_values().iter().chain(&op.result_values()).any(unknown) {
        // `relay-infer-types` solves the relation.
        return Ok(());
    }
    let types = |values: Vec<Value>| -> Result<Vec<TensorType>, String> {
        let of = |v: &Value| {
            tensor_type(*v).ok_or_else(|| {
                format!(
                    "takes and gives tensors of f64, f32, f16, bf16, i8 to i64, ui8 to ui64, i1 and !relay.string, found {}",
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

/// Checks the functional side; `symbols` are those of the module, for operations that name some.
pub fn functional(kind: Functional, op: Op, symbols: &Symbols) -> Result<(), String> {
    match kind {
        Functional::Tuple => values::tuple(op),
        Functional::Get => values::get(op),
        Functional::Ascribe => values::ascribe(op),
        Functional::RefNew | Functional::RefRead | Functional::RefWrite => values::reference(op),
        Functional::If => control::branches(op),
        Functional::While => control::while_loop(op),
        Functional::Fn => functions::closure(op),
        Functional::Apply => functions::apply(op),
        Functional::Call => functions::call(op, symbols),
        Functional::Global => functions::global(op, symbols),
        Functional::Instantiate => functions::instantiate(op),
        Functional::Data => data::declaration(op),
        Functional::Construct => data::construction(op, symbols),
        Functional::Match => data::matching(op, symbols),
        Functional::Constant | Functional::Yield => Ok(()),
    }
}

fn types_of<'c>(values: &[Value<'c>]) -> Vec<Type<'c>> {
    values.iter().map(|v| v.r#type()).collect()
}

fn listed(types: &[Type]) -> String {
    let names: Vec<_> = types.iter().map(Type::to_string).collect();
    format!("({})", names.join(", "))
}

fn terminator<'c>(block: Block<'c>) -> Option<Op<'c>> {
    ops_in(block).last().copied()
}

fn yielded<'c>(block: Block<'c>) -> Result<Vec<Type<'c>>, String> {
    let last = terminator(block)
        .filter(|op| op.kind().is_some_and(|k| matches!(k, crate::rows::Kind::Relay(Functional::Yield))));
    last.map(|op| types_of(&op.operand_values())).ok_or_else(|| "each region ends with relay.yield".into())
}

/// Both lists agree in what is known of them.
fn same(found: &[Type], expected: &[Type], what: &str) -> Result<(), String> {
    let agrees = found.len() == expected.len() && found.iter().zip(expected).all(|(f, e)| agree(*f, *e));
    if agrees { Ok(()) } else { Err(format!("{what} must be {}, found {}", listed(expected), listed(found))) }
}
