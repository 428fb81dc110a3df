//! Loops bound to blocks and threads: each thread runs the iteration of its number.
//!
//!     loop.for 32 thread_x { ^(%i): body(%i) }      =>      body(thread_id x)                          of 32 threads
//!                                                           if thread_id x < 32 { body(thread_id x) }  of more

use super::launches::{Shape, is_bound};
use super::{put_under, within};
use fusion_dialects::loops::{Op as Loop, loop_kind};
use fusion_dialects::rows::Kind;
use fusion_dialects::te::{Compare, Scalars};
use fusion_dialects::{
    Attribute, Block, Build, Op, OpExt, PassError, Value, arguments, index_type, ops_in, replace_uses,
};

/// Replaces all bound loops in a block.
pub fn bind<'c>(block: Block<'c>, shape: &Shape) -> Result<(), PassError<'c>> {
    let mut ids: [[Option<Value<'c>>; 3]; 2] = Default::default();
    // Numbers are made before this one operation, which stays where it is.
    let Some(first) = ops_in(block).first().copied() else { return Ok(()) };
    let mark =
        fusion_dialects::defining_op(Scalars { build: Build::before(first) }.index(0)).unwrap_or(first);
    let bound: Vec<Op> = within(ops_in(block)).filter(|op| is_bound(*op)).collect();
    for op in bound {
        let Some((thread, which)) = loop_kind(op).binding() else { continue };
        if !op.operand_values().is_empty() {
            return Err(PassError::at(
                op,
                "carries a value from thread to thread, which run at the same time",
            ));
        }
        let id = match ids[usize::from(thread)][which] {
            Some(id) => id,
            None => *ids[usize::from(thread)][which].insert(number(mark, thread, which)?),
        };
        if matches!(op.kind(), Some(Kind::Loop(Loop::ThreadIndex))) {
            op.replace_all_uses(&[id]);
            op.erase();
            continue;
        }
        let size = if thread { shape.block[which] } else { shape.grid[which] };
        let extent = op.int("extent").unwrap_or(0);
        replace(op, id, (extent as u64) < size);
    }
    mark.erase();
    Ok(())
}

/// `gpu.thread_id x`, at the beginning.
fn number<'c>(first: Op<'c>, thread: bool, which: usize) -> Result<Value<'c>, PassError<'c>> {
    let build = Build::before(first);
    let name = if thread { "gpu.thread_id" } else { "gpu.block_id" };
    let dimension = format!("#gpu<dim {}>", ["x", "y", "z"][which]);
    let dimension = Attribute::parse(build.context(), &dimension)
        .ok_or_else(|| PassError::at(first, "cannot number threads: the gpu dialect is not loaded"))?;
    Ok(build.value(name, &[], index_type(build.context()), &[("dimension", dimension)]))
}

/// Puts the body in place of the loop, for threads below its extent.
fn replace<'c>(op: Op<'c>, id: Value<'c>, some: bool) {
    let Some(body) = op.body(0) else { return };
    if let Some(index) = arguments(body).first() {
        replace_uses(*index, id);
    }
    let ops = ops_in(body);
    let inner = ops.into_iter().filter(|op| !matches!(op.kind(), Some(Kind::Loop(Loop::Yield))));
    if some {
        let scalars = Scalars { build: Build::before(op) };
        let extent = scalars.index(op.int("extent").unwrap_or(0));
        let below = scalars.index_compare(Compare::Less, id, extent);
        let inner: Vec<Op> = inner.collect();
        put_under(op, below, &inner);
    } else {
        inner.for_each(|inner| inner.move_before_op(op));
    }
    op.erase();
}
