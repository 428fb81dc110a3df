//! Blocks divided into groups of four warps: one copies, the others compute ("warp specialization", CUTLASS).
//!
//! ```text
//!   threads 0..128 of z = Z: copies              z < Z: computes                            mbarriers, one of each a slot
//!     fewer registers                              more registers
//!     one thread: for k of K {                     for k of K {
//!       wait: empty[k mod n] ----<---------------+   wait: full[k mod n]                    full: 1 thread, and the bytes of a step
//!       expect full[k mod n]                     |   use s[k mod n]
//!       copy_tensor to s[k mod n] -> full[..]    +-- a thread of each warp: empty[k mod n]  empty: the warps that compute
//!     }                                            }
//!                                                  what goes on with the sums
//! ```
//!
//! No barrier of the block stands in the loop: who copies is up to n steps ahead, and who computes goes on as soon as a slot is full. The
//! first time that a slot is filled nobody has to leave it: phase -1 of a mbarrier is over. A warp has left a slot when the instructions that
//! read it are done, for which all of the warp wait together.
//!
//! A block is divided where the loop is all that its threads do with shared memory, and instructions of four warps are all that reads it.

use super::super::launches::scope;
use super::super::parents;
use super::super::{result, within};
use super::tma::{TmaLoop, is_copy};
use fusion_dialects::loops::{LoopKind, Loops, Op as Loop, Scope, loop_kind};
use fusion_dialects::rows::Kind;
use fusion_dialects::te::Compare;
use fusion_dialects::{
    Build, Op, OpExt, OperationLike, Value, ValueLike, ValueMap, buffer_parts, defining_op, dtype_of,
    int_attr, is_pure, key, ops_in, unit_attr, users,
};
use fusion_operators::DType;
use std::collections::HashSet;

/// Threads of a group.
const GROUP: u64 = 128;
/// Groups of a block, at most.
const MOST_GROUPS: u64 = 8;
/// Those that leave and come to mbarriers together.
const WARP: u64 = 32;
/// Registers of a thread that copies.
const FEWEST_REGISTERS: u64 = 24;
/// What numbers of registers are multiples of.
const REGISTERS: u64 = 8;
/// The most that a thread can have.
const MOST_REGISTERS: u64 = 240;
/// Sums of a thread from which on it needs more registers than all threads can have alike.
const MANY_SUMS: u64 = 96;

/// The mbarriers of a divided block.
#[derive(Clone, Copy)]
struct Mbarriers<'c> {
    full: Value<'c>,
    empty: Value<'c>,
}

/// Divides the block; false, and nothing is changed, where it cannot be.
pub fn divide<'c>(tma: &TmaLoop<'c>, threads: [u64; 3], registers: u64) -> bool {
    let Some(needed) = tma.made_before().filter(|_| fits(tma, threads)) else { return false };
    let groups = threads[2];
    let all = [threads[0], 1, groups + 1];
    tma.buffers.iter().for_each(|op| op.move_before_op(tma.nest));
    let full = tma.mbarriers(all, 1);
    let mbarriers = Mbarriers { full, empty: tma.mbarriers(all, groups * GROUP / WARP) };
    let own = own_registers(tma, all, registers);
    copy(tma, mbarriers, &needed, (all, own.is_some()));
    compute(tma, mbarriers, own);
    true
}

/// The last group copies.
fn copy<'c>(
    tma: &TmaLoop<'c>,
    mbarriers: Mbarriers<'c>,
    needed: &[Op<'c>],
    (threads, passes): ([u64; 3], bool),
) {
    let before = Loops { build: Build::before(tma.nest) };
    let s = before.scalars();
    let mut map = ValueMap::new();
    needed.iter().for_each(|op| {
        map.clone_op(&before.build, *op);
    });
    let group = before.thread_index(threads[2], LoopKind::ThreadZ);
    let copies = s.index_compare(Compare::Equal, group, s.index(threads[2] as i64 - 1));
    before.guard(copies, |inside| {
        if passes {
            registers_from_here(&inside.build, FEWEST_REGISTERS, true);
        }
        let s = inside.scalars();
        let thread = inside.thread_index(threads[0], LoopKind::ThreadX);
        let first = s.index_compare(Compare::Equal, thread, s.index(0));
        inside.guard(first, |inside| {
            inside.each(tma.extent(), |inside, step| {
                let s = inside.scalars();
                let slots = tma.slots as i64;
                let (slot, turn) = (s.index_mod(step, slots), s.index_div(step, slots));
                let before = s.index_affine(turn, 1, -1);
                inside.build.op(Loop::MbarrierWait.name(), &[mbarriers.empty, slot, before], &[], &[]);
                tma.begin(&inside.build, step, mbarriers.full, map);
            });
        });
    });
}

/// The others compute, each step as soon as it is there.
fn compute<'c>(tma: &TmaLoop<'c>, mbarriers: Mbarriers<'c>, registers: Option<u64>) {
    let body = |op: Op<'c>| op.body(0).map(ops_in).unwrap_or_default();
    if let (Some(registers), Some(first)) = (registers, body(tma.nest).first()) {
        registers_from_here(&Build::before(*first), registers, false);
    }
    let steps = body(tma.around);
    let (Some(index), Some(first), Some(last)) = (tma.index(), steps.first(), steps.last()) else { return };
    tma.wait(&Build::before(*first), index, mbarriers.full);
    let loops = Loops { build: Build::before(*last) };
    let s = loops.scalars();
    let slot = s.index_mod(index, tma.slots as i64);
    let of_warp = s.index_mod(loops.thread_index(GROUP, LoopKind::ThreadX), WARP as i64);
    loops.guard(s.index_compare(Compare::Equal, of_warp, s.index(0)), |inside| {
        inside.build.op(Loop::MbarrierArrive.name(), &[mbarriers.empty, slot], &[], &[]);
    });
    tma.fills.erase();
}

/// True where a block can be divided.
fn fits(tma: &TmaLoop, threads: [u64; 3]) -> bool {
    let nest = tma.nest;
    let by_groups = matches!(nest.kind(), Some(Kind::Loop(Loop::For)))
        && loop_kind(nest) == LoopKind::ThreadZ
        && nest.int("extent").is_some_and(|n| n as u64 == threads[2]);
    let buffers: HashSet<usize> = tma.buffers.iter().filter_map(|op| result(*op)).map(key).collect();
    let read_by_instructions = tma
        .buffers
        .iter()
        .filter_map(|op| result(*op))
        .flat_map(users)
        .all(|user| is_copy(user) || matches!(user.kind(), Some(Kind::Loop(Loop::MultiplyShared))));
    // Nobody of it waits for the others, or exchanges anything else with them.
    let is_shared = |v: &Value| defining_op(*v).is_some_and(|op| scope(op) == Some(Scope::Shared));
    let alone = |op: &Op| {
        let waits = matches!(op.kind(), Some(Kind::Loop(Loop::Barrier | Loop::AllReduce)));
        !waits && op.operand_values().iter().all(|v| !is_shared(v) || buffers.contains(&key(*v)))
    };
    // Beside the nest there is nothing to do.
    let beside = |op: Op| {
        let all = op.block().map(ops_in).unwrap_or_default();
        all.into_iter().filter(|o| *o != op).all(|o| {
            matches!(o.kind(), Some(Kind::Loop(Loop::Yield | Loop::Alloc | Loop::ThreadIndex)))
                || (is_pure(o) && o.regions().next().is_none())
        })
    };
    let mut above = std::iter::once(nest)
        .chain(parents(nest).take_while(|op| matches!(op.kind(), Some(Kind::Loop(Loop::For)))));
    let is_alone = above.all(|op| {
        let at_top = op.parent_operation().is_none_or(|o| !matches!(o.kind(), Some(Kind::Loop(_))));
        at_top || beside(op)
    });
    by_groups
        && threads[0] == GROUP
        && threads[1] == 1
        && threads[2] < MOST_GROUPS
        && read_by_instructions
        && within([nest]).all(|op| alone(&op))
        && is_alone
}

/// Registers of a thread that computes, where they are worth asking for.
fn own_registers(tma: &TmaLoop, threads: [u64; 3], registers: u64) -> Option<u64> {
    let own = within([tma.nest]).filter(|op| scope(*op) == Some(Scope::Local));
    let words = own
        .filter_map(result)
        .filter_map(|v| buffer_parts(v.r#type()))
        .map(|(element, n)| n * dtype_of(element).map_or(4, DType::size) as u64 / 4);
    if words.sum::<u64>() < MANY_SUMS {
        return None;
    }
    let groups = threads[2] - 1;
    let each = (registers / GROUP).saturating_sub(FEWEST_REGISTERS) / groups;
    Some((each / REGISTERS * REGISTERS).min(MOST_REGISTERS)).filter(|n| *n > registers / (GROUP * threads[2]))
}

fn registers_from_here(build: &Build, count: u64, fewer: bool) {
    let context = build.context();
    let mut attrs = vec![("count", int_attr(context, count as i64))];
    if fewer {
        attrs.push(("fewer", unit_attr(context)));
    }
    build.op(Loop::Registers.name(), &[], &[], &attrs);
}
