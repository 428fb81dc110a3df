//! Nests that write where data says, and of which no loops are independent: each thread has some of the elements, goes through all
//! that is written, and writes what is its own.
//!
//! ```text
//!   loop.for 300 { ^(%u):                             loop.for 2 block_x {  loop.for 32 thread_x {       %t = the thread's number
//!     %to = at[%u]                             =>       loop.for 300 { ^(%u):
//!     %r[%to] += x[%u]                                    %to = at[%u]
//!                                                         loop.guard %to mod 64 = %t { %r[%to] += x[%u] }
//! ```
//!
//! Each element is read and written by one thread, which meets the updates in their order: what comes out is what one thread alone
//! would compute, bit for bit, as no atomic operations would. All threads read all indices, at the same time and from the
//! same places, so that this takes about as long as to read them once, where one thread alone waits for memory at each update.
//! ("Owner computes": Rogers and Pingali, "Process Decomposition Through Locality of Reference", 1989.)

use super::put_under;
use super::spread::{may_write, outside_in};
use fusion_dialects::loops::{LoopKind, Loops, Op as Loop};
use fusion_dialects::rows::Kind;
use fusion_dialects::te::{Compare, Scalar};
use fusion_dialects::{
    Build, Op, OpExt, OperationLike, Value, ValueLike, ValueMap, buffer_parts, defining_op, key, op_key,
    ops_in,
};

/// Threads of a nest, at most: each of them goes through all of it.
const MOST: u64 = 1 << 14;

/// How the elements that a nest writes are given out.
pub struct Owners {
    /// The place of the only store among all operations of the nest.
    store: usize,
    /// Threads, each of which has every so many-th element.
    threads: u64,
}

/// Of a nest whose only store goes to a place that is computed in it, and which reads that buffer at the same place beside it or not at
/// all.
pub fn find(nest: Op) -> Option<Owners> {
    let all = outside_in(nest);
    let mut writes = (0..all.len()).filter(|&place| may_write(all[place]));
    let (store, others) = (writes.next()?, writes.next());
    if others.is_some() || !matches!(all[store].kind(), Some(Kind::Loop(Loop::Store))) {
        return None;
    }
    let [_, buffer, to] = all[store].operand_values()[..] else { return None };
    let beside = behind(all[store], to)?;
    let computed = defining_op(to).is_some_and(|op| all.iter().any(|own| op_key(*own) == op_key(op)));
    // What is read of the buffer elsewhere may be another thread's.
    let own = |op: &Op| {
        let reads = op.operand_values().iter().any(|v| key(*v) == key(buffer));
        let here = beside.iter().any(|own| op_key(*own) == op_key(*op));
        !reads || here && op.operand_values().iter().any(|v| key(*v) == key(to))
    };
    let (_, elements) = buffer_parts(buffer.r#type())?;
    let threads = elements.min(MOST).next_multiple_of(32);
    (computed && elements > 1 && all.iter().all(own)).then_some(Owners { store, threads })
}

/// The operations of a store's block behind the one that computes its place; none where one of them gives something to what is around
/// the block.
fn behind<'c>(store: Op<'c>, to: Value<'c>) -> Option<Vec<Op<'c>>> {
    let around = store.parent_operation()?;
    let block = ops_in(around.body(0)?);
    let at = |op: Op| block.iter().position(|own| op_key(*own) == op_key(op));
    at(store)?;
    let first = defining_op(to).and_then(at).map_or(0, |place| place + 1);
    let (terminator, inside) = block[first..].split_last()?;
    terminator.operand_values().is_empty().then(|| inside.to_vec())
}

/// Has the threads go through a nest.
pub fn share(nest: Op, owners: &Owners, block_threads: u64) {
    let threads = block_threads.min(owners.threads);
    let blocks = owners.threads.div_ceil(threads);
    let all = blocks * threads;
    let loops = Loops { build: Build::before(nest) };
    loops.for_(blocks, LoopKind::BlockX, &[], |outer, block, _| {
        outer.for_(threads, LoopKind::ThreadX, &[], |inner, thread, _| {
            let s = inner.scalars();
            let number = s.index_add(s.index_affine(block, threads as i64, 0), thread);
            let copy = ValueMap::new().clone_op(&inner.build, nest);
            let store = outside_in(copy)[owners.store];
            let place = store.operand_values().get(2).copied();
            if let Some((to, own)) = place.and_then(|to| Some((to, behind(store, to)?)))
                && let Some(&first) = own.first()
            {
                let s = Loops { build: Build::before(first) }.scalars();
                let is_own: Scalar = s.index_compare(Compare::Equal, s.index_mod(to, all as i64), number);
                put_under(first, is_own, &own);
            }
            Vec::new()
        });
        Vec::new()
    });
    nest.erase();
}
