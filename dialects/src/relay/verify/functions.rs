//! Functions as values, and calls.

use super::{listed, same, types_of, yielded};
use crate::bridge::symbols::Symbols;
use crate::relay::{Instance, RECURSIVE};
use crate::rows::{Kind, Upstream};
use crate::{Op, OpExt, Type, TypeParts, arguments, function_parts, function_type, type_of_attr, type_parts};

pub fn closure(op: Op) -> Result<(), String> {
    let block = op.body(0).ok_or("the body is empty")?;
    let (mut takes, yields) = (types_of(&arguments(block)), yielded(block)?);
    let own = types_of(&op.result_values())[0];
    if op.attr(RECURSIVE).is_some() {
        if takes.is_empty() {
            return Err(format!("is {RECURSIVE}: the body must take the function itself first, found ()"));
        }
        let itself = takes.remove(0);
        same(&[itself], &[own], &format!("is {RECURSIVE}: what the body takes first"))?;
    }
    let TypeParts::Function(inputs, results) = type_parts(own) else {
        return Ok(());
    };
    same(&takes, &inputs, "what the body takes")?;
    same(&yields, &results, "what the body yields")
}

pub fn apply(op: Op) -> Result<(), String> {
    let operands = types_of(&op.operand_values());
    let TypeParts::Function(inputs, results) = type_parts(operands[0]) else { return Ok(()) };
    let (given, taken) = (&operands[1..], types_of(&op.result_values()));
    // A polymorphic closure chooses its type variables for each use.
    let mut instance = Instance::default();
    if !instance.match_all(&inputs, given) {
        return Err(format!("the arguments must be {}, found {}", listed(&inputs), listed(given)));
    }
    if !instance.match_all(&results, &taken) {
        return Err(format!("the results must be {}, found {}", listed(&results), listed(&taken)));
    }
    Ok(())
}

pub fn call(op: Op, symbols: &Symbols) -> Result<(), String> {
    let callee = function_type_of(op, "callee", symbols)?;
    let (given, taken) = (types_of(&op.operand_values()), types_of(&op.result_values()));
    let found = function_type(op.context_ref(), &given, &taken);
    instance_of(found, callee, &format!("the call's type, of @{},", op.text("callee").unwrap_or_default()))
}

pub fn global(op: Op, symbols: &Symbols) -> Result<(), String> {
    let function = function_type_of(op, "function", symbols)?;
    let what = format!("the value's type, of @{},", op.text("function").unwrap_or_default());
    instance_of(types_of(&op.result_values())[0], function, &what)
}

pub fn instantiate(op: Op) -> Result<(), String> {
    let (from, to) = (types_of(&op.operand_values())[0], types_of(&op.result_values())[0]);
    if Instance::default().matches(from, to) {
        return Ok(());
    }
    Err(format!("violates constraint C1: the result must be an instance of {from}, found {to}"))
}

/// The type of the function that an attribute names.
fn function_type_of<'c>(op: Op<'c>, attr: &str, symbols: &Symbols) -> Result<Type<'c>, String> {
    let name = op.text(attr).unwrap_or_default();
    let is_function = |op: &Op| matches!(op.kind(), Some(Kind::Upstream(Upstream::Func)));
    let function = symbols
        .named(op, name)
        .filter(is_function)
        .ok_or_else(|| format!("violates constraint C1: the module has no function @{name}"))?;
    let ty = function.attr("function_type").and_then(type_of_attr);
    ty.ok_or_else(|| format!("violates constraint C1: @{name} has no type"))
}

fn instance_of<'c>(found: Type<'c>, declared: Type<'c>, what: &str) -> Result<(), String> {
    // Parameters are compared first: what an unknown type stands for may follow from a known one after it.
    let known = |ty: Type| function_parts(ty).is_some();
    if !known(found) || Instance::default().matches(declared, found) {
        return Ok(());
    }
    Err(format!("violates constraint C2: {what} must be an instance of {declared}, found {found}"))
}
