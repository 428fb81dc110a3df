//! `loop-verify-sharing`: what a thread reads of a buffer is what it wrote itself, or may see.
//!
//! ```text
//!   %s = loop.alloc local                              each thread has 16 elements of its own
//!   loop.for 16 thread_y { ^(%j): store %v, %s[%j] }   of which thread j writes element j
//!   loop.for 16 serial   { ^(%j): load %s[%j] }        and every thread reads all: refused
//! ```
//!
//!     local       along blocks and threads, who reads an element has written it
//!     shared      along blocks; the threads of a block wait for each other (`loop-insert-barriers`)
//!     global      along both, as launches alone order what they do; nobody else writes it, and what all threads write they write once
//!
//! Loops around two accesses are the same iteration of both, in which what is needed is computed. So it is the loops around one of them
//! that are looked at: one that is bound to a dimension says who touches which element (`elements`); where none is, all do.
//!
//! In global memory iterations of different threads meet as well, in any order:
//!
//! ```text
//!   loop.for 16 thread_x { ^(%t): load %y[t + 1] ; store %v, %y[t] }         thread t reads what thread t + 1 writes: refused
//!   if thread_index = 0 { store %sum, %y[0] } ; load %y[0]                   one thread writes, all read: refused
//! ```

use super::elements::{Access, Dimension, Owner};
use super::launches::{self, Shape, scope};
use super::{parents, within};
use fusion_dialects::loops::KERNEL;
use fusion_dialects::loops::{Op as Loop, Scope};
use fusion_dialects::rows::Kind;
use fusion_dialects::{Op, OpExt, OperationLike, Pass, PassError, RunContext, defining_op, key};
use std::collections::BTreeMap;

/// The pass.
pub struct VerifySharing;

const DIMENSIONS: [(Dimension, &str); 6] = [
    ((false, 0), "block_x"),
    ((false, 1), "block_y"),
    ((false, 2), "block_z"),
    ((true, 0), "thread_x"),
    ((true, 1), "thread_y"),
    ((true, 2), "thread_z"),
];

impl Pass for VerifySharing {
    const NAME: &'static str = "loop-verify-sharing";
    const DESCRIPTION: &'static str = "Check that no thread reads what another one has for itself";
    const ANCHOR: Option<&'static str> = Some("func.func");

    fn run<'c>(function: Op<'c>, _: &mut RunContext) -> Result<(), PassError<'c>> {
        let Some(body) = function.body(0).filter(|_| function.attr(KERNEL).is_some()) else { return Ok(()) };
        let kernel = function.text("sym_name").unwrap_or_default();
        let (_, launches) = launches::of(body);
        for launch in launches {
            let mut buffers: BTreeMap<usize, Vec<Access>> = BTreeMap::new();
            let mut order: Vec<usize> = Vec::new();
            // Who wrote barriers by hand knows what they order.
            let is_barrier = |op: &Op| matches!(op.kind(), Some(Kind::Loop(Loop::Barrier)));
            let waits = within(launch.ops.iter().copied()).any(|op| is_barrier(&op));
            for access in within(launch.ops.iter().copied()).flat_map(Access::of) {
                let buffer = key(access.buffer);
                if !buffers.contains_key(&buffer) {
                    order.push(buffer);
                }
                buffers.entry(buffer).or_default().push(access);
            }
            for buffer in order {
                let accesses = &buffers[&buffer];
                if accesses.iter().any(|a| a.writes) {
                    buffer_of(accesses, (&launch.shape, waits), kernel)?;
                }
            }
        }
        Ok(())
    }
}

/// All accesses of one buffer in a launch, in order.
fn buffer_of<'c>(
    accesses: &[Access<'c>],
    (shape, waits): (&Shape, bool),
    kernel: &str,
) -> Result<(), PassError<'c>> {
    let scope = defining_op(accesses[0].buffer).and_then(scope).unwrap_or(Scope::Global);
    let several = |&&((thread, which), _): &&(Dimension, &str)| {
        let (of_threads, of_blocks) = (shape.block[which] > 1, shape.grid[which] > 1);
        if thread { of_threads && scope != Scope::Shared } else { of_blocks }
    };
    if scope == Scope::Fragment {
        return Ok(());
    }
    for (dimension, name) in DIMENSIONS.iter().filter(several) {
        for (at, write) in accesses.iter().enumerate().filter(|(_, a)| a.writes) {
            for (later, other) in accesses.iter().enumerate().filter(|(n, _)| *n != at) {
                let wrong = match scope {
                    Scope::Global => {
                        races(write, other, at < later, *dimension)
                            || (!waits
                                && !other.writes
                                && reads_of_others(write, other, at < later, *dimension))
                    }
                    _ => !other.writes && misses(write, other, *dimension),
                };
                if wrong {
                    return Err(refused(other, (scope, name), kernel));
                }
            }
        }
    }
    Ok(())
}

/// True when somebody may read an element of a buffer of its own that only others wrote.
fn misses(write: &Access, read: &Access, dimension: Dimension) -> bool {
    let common = write.common(read);
    let inside = |access: &Access| access.bound(dimension).filter(|place| *place >= common);
    let around = write.bound(dimension).is_some_and(|place| place < common);
    match (around, inside(write), inside(read)) {
        (true, ..) | (_, None, _) => false,
        (_, Some(_), None) => write.meets(read, common),
        (_, Some(_), Some(_)) => !agree(write, read, dimension, common),
    }
}

/// True when several may write an element while others read or write it.
fn races(write: &Access, other: &Access, before: bool, dimension: Dimension) -> bool {
    let common = write.common(other);
    let inside = |access: &Access| access.bound(dimension).filter(|place| *place >= common);
    let around = write.bound(dimension).is_some_and(|place| place < common);
    match (around, inside(write), inside(other)) {
        (true, ..) => false,
        // All write the same, and read it back.
        (_, None, _) if !other.writes && before && !write.repeats() => false,
        (_, Some(_), Some(_)) => !agree(write, other, dimension, common),
        _ => write.meets(other, common),
    }
}

/// True when a thread is known to read an element that another one writes, in whatever iteration: of those that all make, and of one that only
/// some threads make.
fn reads_of_others(write: &Access, read: &Access, before: bool, dimension: Dimension) -> bool {
    let common = write.common(read);
    let known = write.is_known(read);
    if known && write.is_of_some_threads(read, dimension) {
        return write.meets(read, common);
    }
    let around = |access: &Access| access.bound(dimension).is_some_and(|place| place < common);
    if !known || write.is_guarded() || read.is_guarded() || !around(write) || write.is_apart_as(read) {
        return false;
    }
    let of = |access: &Access| access.elements(Some(dimension), 0);
    let (Some(written), Some(read)) = (of(write), of(read)) else { return false };
    // Several may write the same before they read it back; what is read before it is written is another's.
    let is_other = |by: &Owner, writer: &Owner| {
        let each_one = by.is_one() && writer.is_one();
        (each_one && by != writer) || (!each_one && !before)
    };
    read.iter().any(|(element, by)| written.get(element).is_some_and(|writer| is_other(by, writer)))
}

/// True when each element that both touch is touched by one, the same in both.
fn agree(a: &Access, b: &Access, dimension: Dimension, common: usize) -> bool {
    if !a.meets(b, common) {
        return true;
    }
    let of = |access: &Access| access.elements(Some(dimension), common);
    let (Some(a), Some(b)) = (of(a), of(b)) else { return false };
    a.iter().all(|(element, by)| b.get(element).is_none_or(|other| by.is_one() && by == other))
}

fn refused<'c>(access: &Access<'c>, (scope, dimension): (Scope, &str), kernel: &str) -> PassError<'c> {
    let does = if access.writes { "writes" } else { "reads" };
    let (of, remedy) = match scope {
        Scope::Local => (
            "a buffer that each thread has for itself",
            "compute the stage at the loop that is bound, or keep it in shared memory with te.set_scope",
        ),
        Scope::Shared => (
            "shared memory, which each block has for itself",
            "compute the stage inside of the loop over blocks, or keep it in global memory",
        ),
        _ => (
            "a buffer of one launch",
            "bind the loops that write and read it alike, or put those over what is reduced inside of bound ones with te.reorder",
        ),
    };
    let error = PassError::at(
        access.op,
        format_args!(
            "of kernel @{kernel} {does} elements of {of}, which another along {dimension} may have written; {remedy}"
        ),
    );
    // Which loops are bound is what the schedule says.
    let bound = parents(access.op).find(|around| launches::is_bound(*around));
    PassError { location: bound.unwrap_or(access.op).location(), ..error }
}
