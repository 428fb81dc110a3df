//! Nests that write where data says: besides its iterations of the independent loops, each thread has some of the elements, goes
//! through all that is written, and writes what is its own.
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

use super::{may_write, outside_in, put_under};
use fusion_dialects::loops::{Loops, Op as Loop};
use fusion_dialects::rows::Kind;
use fusion_dialects::te::Compare;
use fusion_dialects::{
    Build, Op, OpExt, OperationLike, Value, ValueLike, buffer_parts, defining_op, key, op_key, ops_in,
};

/// Threads of a nest that has owners, at most: each of them goes through all of it.
const MOST: u64 = 1 << 14;

/// Iterations of a loop that is gone through, at least: fewer are soon done by one thread.
const FEWEST: i64 = 4;

/// How the elements that a nest writes are given out.
pub struct Owners {
    /// The place of the only store among all operations of the nest.
    store: usize,
    /// Elements that are written.
    elements: u64,
    /// Iterations of the independent loops, each of which has owners of its own.
    iterations: u64,
}

impl Owners {
    /// How many owners there are of each iteration.
    pub fn number(&self) -> u64 {
        self.elements.min(MOST) / self.iterations
    }

    /// Has a copy of the nest write only what an owner has.
    pub fn restrict<'c>(&self, nest: Op<'c>, owner: Value<'c>) {
        let store = outside_in(nest)[self.store];
        let Some(&to) = store.operand_values().get(2) else { return };
        let Some(own) = behind(store, to) else { return };
        let Some(&first) = own.first() else { return };
        let s = Loops { build: Build::before(first) }.scalars();
        // What one iteration writes lies about as many elements apart as there are iterations: all owners get some of it.
        let group = if self.iterations > 1 { s.index_div(to, self.iterations as i64) } else { to };
        let of = s.index_mod(group, self.number() as i64);
        put_under(first, s.index_compare(Compare::Equal, of, owner), &own);
    }
}

/// Of a nest whose only store goes to a place that is computed in it, and which reads that buffer at the same place beside it or not at
/// all; where there are several of each iteration of the independent loops, those at the given places, and enough to go through.
pub fn find(nest: Op, independent: &[usize], iterations: u64) -> Option<Owners> {
    let all = outside_in(nest);
    let goes_through = |place: &usize| {
        let is_loop = matches!(all[*place].kind(), Some(Kind::Loop(Loop::For | Loop::Upto)));
        is_loop && !independent.contains(place) && all[*place].int("extent").is_none_or(|n| n >= FEWEST)
    };
    (0..all.len()).find(goes_through)?;
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
    let owners = Owners { store, elements, iterations };
    (computed && owners.number() > 1 && all.iter().all(own)).then_some(owners)
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
