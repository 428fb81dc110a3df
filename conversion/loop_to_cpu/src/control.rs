//! Loops and guards.

use fusion_dialects::loops::{ANNOTATIONS, LoopKind, Op as Loop, loop_kind};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::Scalars;
use fusion_dialects::{
    Block, Build, Op, OpExt, OperationLike, PassError, Region, RegionLike, Type, Value, ValueLike, kind_of,
    ops_in, take_region,
};

/// `loop.for` and `loop.upto` become `scf.for`, a parallel one that carries nothing `scf.parallel`.
pub fn for_loop(op: Op) -> Result<(), PassError> {
    if loop_kind(op).binding().is_some() {
        return Err(PassError::at(
            op,
            "is bound to the blocks or threads of a GPU, which a CPU has not; use te.parallel, te.vectorize or te.unroll",
        ));
    }
    let build = Build::before(op);
    let scalars = Scalars { build };
    let (extent, inits) = count_of(op, &scalars);
    let results: Vec<Type> = inits.iter().map(|v| v.r#type()).collect();
    let (zero, one) = (scalars.index(0), scalars.index(1));
    let Some(region) = op.regions().next() else { return Ok(()) };
    let notes: Vec<_> = op.attr(ANNOTATIONS).map(|n| (ANNOTATIONS, n)).into_iter().collect();
    if loop_kind(op) == LoopKind::Parallel {
        let body = with_terminator(region, "scf.reduce");
        if let Some(block) = body.first_block() {
            give_stack_back(block);
        }
        let sizes = fusion_dialects::segments_attr(build.context(), &[1, 1, 1, 0]);
        let attrs = [&[("operandSegmentSizes", sizes)], notes.as_slice()].concat();
        build.op_with_regions("scf.parallel", &[zero, extent, one], &[], &attrs, vec![body]);
    } else {
        let body = with_terminator(region, "scf.yield");
        let operands = [&[zero, extent, one], inits.as_slice()].concat();
        let new = build.op_with_regions("scf.for", &operands, &results, &notes, vec![body]);
        op.replace_all_uses(&new.result_values());
    }
    op.erase();
    Ok(())
}

/// How many iterations a loop has, and what it carries first.
pub fn count_of<'c>(op: Op<'c>, scalars: &Scalars<'c>) -> (Value<'c>, Vec<Value<'c>>) {
    let operands = op.operand_values();
    match (kind_of(op), operands.split_first()) {
        (Some(Kind::Loop(Loop::Upto)), Some((count, inits))) => (*count, inits.to_vec()),
        _ => (scalars.index(op.int("extent").unwrap_or(0)), operands),
    }
}

/// Puts a body that has buffers on the stack into a scope at whose end they are gone: it runs many times a call.
fn give_stack_back(block: Block) {
    let ops = ops_in(block);
    let Some((last, rest)) = ops.split_last() else { return };
    if !rest.iter().any(|op| matches!(kind_of(*op), Some(Kind::Upstream(Upstream::Alloca)))) {
        return;
    }
    let build = Build::before(*last);
    let scope = build.region(&[], |inner, _| {
        let end = inner.op("memref.alloca_scope.return", &[], &[], &[]);
        for op in rest {
            op.move_before_op(end);
        }
    });
    build.op_with_regions("memref.alloca_scope", &[], &[], &[], vec![scope]);
}

/// `loop.guard` becomes `scf.if`.
pub fn guard(op: Op) {
    let build = Build::before(op);
    let operands = op.operand_values();
    let results: Vec<Type> = op.result_values().iter().map(|v| v.r#type()).collect();
    let Some(region) = op.regions().next() else { return };
    let then = with_terminator(region, "scf.yield");
    let otherwise = if results.is_empty() {
        Region::new()
    } else {
        build.region(&[], |inner, _| {
            inner.op("scf.yield", &operands[1..], &[], &[]);
        })
    };
    let new = build.op_with_regions("scf.if", &operands[..1], &results, &[], vec![then, otherwise]);
    op.replace_all_uses(&new.result_values());
    op.erase();
}

/// The body with upstream's terminator in place of ours.
pub fn with_terminator<'c>(region: impl RegionLike<'c, 'c>, name: &str) -> Region<'c> {
    let moved = take_region(region);
    if let Some(last) = moved.first_block().and_then(|b| ops_in(b).last().copied()) {
        let values: Vec<Value> = last.operand_values();
        Build::before(last).op(name, &values, &[], &[]);
        last.erase();
    }
    moved
}
