//! The program around the kernels: calls, constants, views and control flow.

use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Build, Op, OpExt, OperationLike, PassError, RegionLike, Type, Value, ValueLike, arguments, int_attr,
    kind_of, ops_in, relay, symbol_attr, te,
};
use fusion_operators::ops::shape;
use fusion_operators::{DType, Operator};
use fusion_relay::fuse_ops::contiguous_piece;
use std::collections::HashSet;

/// Operators that give the same elements under another shape.
const VIEWS: &[&Operator] = &[&shape::RESHAPE, &shape::SQUEEZE, &shape::EXPAND_DIMS];

/// True for operators that give the same elements under another shape.
pub fn is_view(operator: &Operator) -> bool {
    VIEWS.iter().any(|view| view.is(operator))
}

/// Rewrites a function in place; `kernels` are the names of the functions that became kernels.
pub fn convert<'c>(function: Op<'c>, kernels: &HashSet<String>) -> Result<(), PassError<'c>> {
    let Some(body) = function.body(0) else { return Ok(()) };
    for op in ops_in(body) {
        convert_op(op, kernels)?;
    }
    Ok(())
}

fn convert_op<'c>(op: Op<'c>, kernels: &HashSet<String>) -> Result<(), PassError<'c>> {
    for region in op.regions() {
        for block in std::iter::successors(region.first_block(), fusion_dialects::BlockLike::next_in_region) {
            for inner in ops_in(block) {
                convert_op(inner, kernels)?;
            }
        }
    }
    let build = Build::before(op);
    let operands = op.operand_values();
    let results: Vec<Type> = op.result_values().iter().map(|v| v.r#type()).collect();
    let new = match kind_of(op) {
        Some(Kind::Relay(relay::Op::Constant)) => {
            let value = op.attr("value").ok_or_else(|| PassError::at(op, "has no value"))?;
            build.op(te::Op::Constant.name(), &[], &results, &[("value", value)])
        }
        Some(Kind::Operator(operator)) => {
            let place = match is_view(operator) {
                true => None,
                false => match contiguous_piece(op) {
                    Some(from) => Some(("offset", int_attr(build.context(), from as i64))),
                    None => return Ok(()),
                },
            };
            build.op(te::Op::View.name(), &operands, &results, place.as_slice())
        }
        Some(Kind::Upstream(Upstream::Call)) => {
            let callee = op.text("callee").unwrap_or_default().to_owned();
            if !kernels.contains(&callee) {
                return Ok(());
            }
            build.op(
                te::Op::Call.name(),
                &operands,
                &results,
                &[("kernel", symbol_attr(build.context(), &callee))],
            )
        }
        Some(Kind::Relay(relay::Op::If)) => {
            let condition = scalar_condition(&build, operands[0]);
            let regions = op.regions().map(|r| move_region(r, "scf.yield", |_, v| v)).collect();
            build.op_with_regions("scf.if", &[condition], &results, &[], regions)
        }
        Some(Kind::Relay(relay::Op::While)) => {
            let mut regions = op.regions();
            let (test, step) = (regions.next(), regions.next());
            let (Some(test), Some(step)) = (test, step) else {
                return Err(PassError::at(op, "has no regions"));
            };
            let state = test.first_block().map(arguments).unwrap_or_default();
            let test = move_region(test, "scf.condition", |b, v| {
                [vec![scalar_condition(b, v[0])], state.clone()].concat()
            });
            let step = move_region(step, "scf.yield", |_, v| v);
            build.op_with_regions("scf.while", &operands, &results, &[], vec![test, step])
        }
        _ => return Ok(()),
    };
    op.replace_all_uses(&new.result_values());
    op.erase();
    Ok(())
}

fn scalar_condition<'c>(build: &Build<'c>, condition: Value<'c>) -> Value<'c> {
    build.value(
        "tensor.extract",
        &[condition],
        fusion_dialects::scalar_type(build.context(), DType::Bool),
        &[],
    )
}

/// The region with its operations moved into a new one whose terminator is upstream's.
fn move_region<'c>(
    region: impl RegionLike<'c, 'c>,
    terminator: &str,
    values: impl FnOnce(&Build<'c>, Vec<Value<'c>>) -> Vec<Value<'c>>,
) -> fusion_dialects::Region<'c> {
    let moved = fusion_dialects::take_region(region);
    if let Some(last) = moved.first_block().and_then(|b| ops_in(b).last().copied()) {
        let build = Build::before(last);
        let yielded = values(&build, last.operand_values());
        build.op(terminator, &yielded, &[], &[]);
        last.erase();
    }
    moved
}
