//! Instances of closures.
//!
//! ```text
//!     %f = relay.fn {..} : (a) -> a                           %f1 = relay.fn {..} : (tensor<i1>) -> tensor<i1>
//!     relay.apply %f(%x) : .., (tensor<i1>) -> tensor<i1>  => relay.apply %f1(%x)
//! ```
//! A closure is used behind the place where it is made, and what uses it may be in polymorphic closures behind it: the last is
//! copied first, so that uses are at known types when their closure's turn comes; closures inside copies come next.

use super::choices::{Choice, bounded, chosen, has_variable, put};
use fusion_dialects::relay::{Instance, Op as Functional};
use fusion_dialects::rows::Kind;
use fusion_dialects::{
    Build, Op, OpExt, OperationLike, PassError, Value, ValueLike, ValueMap, function_type, op_key, ops_in,
    users,
};
use indexmap::IndexMap;
use std::collections::HashMap;

/// Copies the polymorphic closures of a function for each of their instances; how many copies.
pub fn specialise<'c>(function: Op<'c>) -> Result<usize, PassError<'c>> {
    let mut stack = Vec::new();
    collect(function, &mut stack);
    let mut made = 0;
    while let Some(op) = stack.pop() {
        if !is_polymorphic(op) {
            continue;
        }
        for copy in instances(op)? {
            stack.push(copy);
            collect(copy, &mut stack);
            made += 1;
        }
    }
    Ok(made)
}

fn is_polymorphic(op: Op) -> bool {
    if !matches!(op.kind(), Some(Kind::Relay(Functional::Fn))) {
        return false;
    }
    let value = op.result_values()[0];
    has_variable(value.r#type()) || users(value).into_iter().any(instantiates)
}

fn instantiates(op: Op) -> bool {
    matches!(op.kind(), Some(Kind::Relay(Functional::Instantiate)))
}

/// The operations in another, in order, without what is in polymorphic closures.
fn collect<'c>(root: Op<'c>, found: &mut Vec<Op<'c>>) {
    let inside = |op: Op<'c>| -> Vec<Op<'c>> {
        (0..op.region_count()).filter_map(|i| op.body(i)).flat_map(ops_in).collect()
    };
    let mut stack: Vec<Op<'c>> = inside(root).into_iter().rev().collect();
    while let Some(op) = stack.pop() {
        found.push(op);
        if op.region_count() > 0 && !is_polymorphic(op) {
            stack.extend(inside(op).into_iter().rev());
        }
    }
}

/// The copies of a closure, which goes.
fn instances<'c>(op: Op<'c>) -> Result<Vec<Op<'c>>, PassError<'c>> {
    let value = op.result_values()[0];
    let declared = value.r#type();
    let mut uses: Vec<Op<'c>> = users(value);
    // Uses are listed last first; an operation may be there twice.
    uses.reverse();
    let mut seen = HashMap::new();
    uses.retain(|user| seen.insert(op_key(*user), ()).is_none());
    let mut copies: IndexMap<Choice, Op<'c>> = IndexMap::new();
    for user in uses {
        let used = match user.kind() {
            Some(Kind::Relay(Functional::Instantiate)) => user.result_values()[0].r#type(),
            Some(Kind::Relay(Functional::Apply)) if only_called(user, value) => {
                let types = |values: &[Value<'c>]| values.iter().map(|v| v.r#type()).collect::<Vec<_>>();
                let (inputs, results) = (types(&user.operand_values()[1..]), types(&user.result_values()));
                function_type(user.context_ref(), &inputs, &results)
            }
            _ => {
                let message = format!(
                    "uses a closure of the polymorphic type {declared} without choosing an instance; run relay-infer-types before"
                );
                return Err(PassError::at(user, message));
            }
        };
        let mut instance = Instance::default();
        if !instance.matches(declared, used) || instance.types.values().any(|ty| has_variable(*ty)) {
            let message = format!(
                "uses a closure of type {declared} as {used}, which is no instance without type variables"
            );
            return Err(PassError::at(user, message));
        }
        let (instance, choice) = chosen(instance);
        let copy = match copies.get(&choice) {
            Some(copy) => *copy,
            None => {
                bounded(user, "a closure", &instance)?;
                let copy = ValueMap::new().clone_op(&Build::before(op), op);
                put(copy, &instance);
                copies.insert(choice, copy);
                copy
            }
        };
        let copied = copy.result_values()[0];
        if instantiates(user) {
            let result = user.result_values()[0];
            let same = copied.r#type() == result.r#type();
            let view =
                || Build::before(user).value(Functional::Ascribe.name(), &[copied], result.r#type(), &[]);
            user.replace_all_uses(&[if same { copied } else { view() }]);
            user.erase();
        } else {
            user.set_operand_value(0, copied);
        }
    }
    op.erase();
    Ok(copies.into_values().collect())
}

/// True when an application calls the value and does not pass it as well.
fn only_called<'c>(apply: Op<'c>, value: Value<'c>) -> bool {
    !apply.operand_values()[1..].contains(&value)
}
