//! `loop-verify-gpu`: what a GPU would run wrongly or not at all, found before it is made.
//!
//!     a block has more threads, or shares more memory, than the target has
//!     a grid has more blocks than can be numbered
//!     a barrier stands where not all threads come, or a matrix instruction where not all of a warp do
//!     two threads write one element: a store of every thread to a place that does not depend on it
//!     what an asynchronous copy writes is read, and nobody waited for it
//!
//! Races between a write and a read are no question here: `loop-insert-barriers` puts a barrier between any two such accesses
//! of shared memory.

use super::barriers::AHEAD;
use super::launches::{self, Shape, bytes, scope};
use super::{parents, reduce};
use fusion_dialects::loops::KERNEL;
use fusion_dialects::loops::matrix::Instruction;
use fusion_dialects::loops::tensor_copy::TensorCopy;
use fusion_dialects::loops::{Op as Loop, Scope, loop_kind};
use fusion_dialects::rows::Kind;
use fusion_dialects::{
    Op, OpExt, OperationLike, OptionKind, OptionSpec, Pass, PassError, RunContext, Value, arguments,
    defining_op, key, nested_ops,
};
use std::collections::HashSet;

/// The pass.
pub struct VerifyGpu;

impl Pass for VerifyGpu {
    const NAME: &'static str = "loop-verify-gpu";
    const DESCRIPTION: &'static str = "Check kernels for what a GPU cannot run";
    const ANCHOR: Option<&'static str> = Some("func.func");
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "threads",
            description: "The most threads of a block",
            kind: OptionKind::Int,
            initial: "1024",
        },
        OptionSpec {
            name: "warp",
            description: "Threads that combine values without waiting",
            kind: OptionKind::Int,
            initial: "32",
        },
        OptionSpec {
            name: "shared-bytes",
            description: "The most bytes that a block shares",
            kind: OptionKind::Int,
            initial: "49152",
        },
    ];

    fn run<'c>(function: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let Some(body) = function.body(0).filter(|_| function.attr(KERNEL).is_some()) else { return Ok(()) };
        let (threads, shared) = (cx.options.int("threads"), cx.options.int("shared-bytes"));
        let warp_threads = cx.options.int("warp").max(1) as u64;
        let (_, launches) = launches::of(body);
        for launch in launches {
            waits(&launch.ops)?;
            limits(&launch.ops, &launch.shape, threads.max(1) as u64, shared.max(0) as u64)?;
            for op in &launch.ops {
                for inner in nested_ops(*op).into_iter().chain([*op]) {
                    barrier(inner, &launch.shape, warp_threads)?;
                    warp(inner, &launch.shape)?;
                    store(inner, &launch.shape)?;
                }
            }
        }
        Ok(())
    }
}

/// What is copied asynchronously is read behind a wait. Loops that `loop-pipeline` made wait for the copies of earlier steps.
fn waits<'c>(ops: &[Op<'c>]) -> Result<(), PassError<'c>> {
    let mut copied: HashSet<usize> = HashSet::new();
    for op in inside(ops) {
        let operand = |at: usize| op.operand_values().get(at).copied();
        match op.kind() {
            Some(Kind::Loop(Loop::CopyAsync)) if !parents(op).any(|o| o.attr(AHEAD).is_some()) => {
                copied.extend(operand(2).map(key));
            }
            Some(Kind::Loop(Loop::CopyTensor)) => {
                let Some(copy) = TensorCopy::of(op) else { continue };
                if copy.mbarrier.is_none() {
                    return Err(PassError::at(
                        op,
                        "has no mbarrier that tells of it; have its buffer take turns in a loop, by te.double_buffer",
                    ));
                }
                if !parents(op).any(|o| o.attr(AHEAD).is_some()) {
                    copied.insert(key(copy.buffer));
                }
            }
            Some(Kind::Loop(Loop::CopyWait | Loop::MbarrierWait)) => copied.clear(),
            Some(Kind::Loop(Loop::Load | Loop::Gather | Loop::LoadStrided | Loop::LoadMatrix))
                if operand(0).is_some_and(|b| copied.contains(&key(b))) =>
            {
                return Err(too_early(op));
            }
            Some(Kind::Loop(Loop::MultiplyShared))
                if [operand(0), operand(2)].into_iter().flatten().any(|b| copied.contains(&key(b))) =>
            {
                return Err(too_early(op));
            }
            _ => {}
        }
    }
    Ok(())
}

fn too_early<'c>(op: Op<'c>) -> PassError<'c> {
    PassError::at(
        op,
        "reads what an asynchronous copy writes, for which nothing waits; put loop.copy_wait or loop.mbarrier_wait before it",
    )
}

/// Blocks in y and z; x goes further.
const MOST_ROWS_OF_BLOCKS: u64 = 65_535;
const MOST_BLOCKS: u64 = (1 << 31) - 1;

fn limits<'c>(ops: &[Op<'c>], shape: &Shape, threads: u64, shared: u64) -> Result<(), PassError<'c>> {
    let all = shape.block.iter().fold(1u64, |all, n| all.saturating_mul(*n));
    if all > threads {
        let [x, y, z] = shape.block;
        return Err(PassError::at(
            longest(ops, true),
            format_args!(
                "needs blocks of {all} threads ({x} x {y} x {z}), the target has at most {threads}; split the loops bound to threads"
            ),
        ));
    }
    if shape.shared_bytes > shared {
        let buffers = inside(ops).filter(|op| scope(*op) == Some(Scope::Shared));
        return Err(PassError::at(
            buffers.max_by_key(|op| bytes(*op)).unwrap_or(ops[0]),
            format_args!(
                "shares {} bytes in each block, the target has at most {shared}; use smaller tiles",
                shape.shared_bytes
            ),
        ));
    }
    let [x, y, z] = shape.grid;
    if x > MOST_BLOCKS || y > MOST_ROWS_OF_BLOCKS || z > MOST_ROWS_OF_BLOCKS {
        return Err(PassError::at(
            longest(ops, false),
            format_args!(
                "needs {x} x {y} x {z} blocks, a GPU has at most {MOST_BLOCKS} x {MOST_ROWS_OF_BLOCKS} x {MOST_ROWS_OF_BLOCKS}; \
                 bind the longest loop to block_x, or split it"
            ),
        ));
    }
    Ok(())
}

/// The operations of a launch, and all inside them.
fn inside<'c>(ops: &[Op<'c>]) -> impl Iterator<Item = Op<'c>> {
    ops.iter().flat_map(|op| [*op].into_iter().chain(nested_ops(*op)))
}

/// The longest loop that is bound to threads, or to blocks: where the schedule said so.
fn longest<'c>(ops: &[Op<'c>], threads: bool) -> Op<'c> {
    let bound = inside(ops)
        .filter(|op| matches!(op.kind(), Some(Kind::Loop(Loop::For | Loop::ThreadIndex))))
        .filter(|op| loop_kind(*op).binding().is_some_and(|(thread, _)| thread == threads));
    let extent = |op: &Op<'c>| op.int("extent").unwrap_or(0);
    // The first of several, as they are written.
    bound.reduce(|a, b| if extent(&b) > extent(&a) { b } else { a }).unwrap_or(ops[0])
}

/// Threads that do together what a warp does on any GPU.
const FEWEST_OF_A_WARP: u64 = 32;

/// A barrier is for all threads of the block.
fn barrier<'c>(op: Op<'c>, shape: &Shape, warp: u64) -> Result<(), PassError<'c>> {
    match op.kind() {
        Some(Kind::Loop(Loop::Barrier)) => {}
        Some(Kind::Loop(Loop::AllReduce)) => {
            let extent = op.int("extent").unwrap_or(0) as u64;
            if loop_kind(op).binding().is_some_and(|(_, which)| shape.block[which] != extent) {
                return Err(PassError::at(
                    op,
                    format_args!("combines values of {extent} threads in blocks of another number"),
                ));
            }
            if !reduce::waits(op, shape, warp) {
                return Ok(());
            }
        }
        _ => return Ok(()),
    }
    for around in parents(op) {
        match around.kind() {
            Some(Kind::Loop(Loop::Guard)) => {
                return Err(PassError::at(
                    op,
                    "stands under a condition, where not all threads of the block come: they would wait for ever",
                ));
            }
            Some(Kind::Loop(Loop::For)) => {
                let Some((true, which)) = loop_kind(around).binding() else { continue };
                let extent = around.int("extent").unwrap_or(0);
                if (extent as u64) < shape.block[which] {
                    return Err(PassError::at(
                        op,
                        format_args!(
                            "stands in a loop of {extent} of {} threads; the others would never come",
                            shape.block[which]
                        ),
                    ));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// What the threads of a warp do together is for all of them, and they are numbered by `thread_x`.
fn warp<'c>(op: Op<'c>, shape: &Shape) -> Result<(), PassError<'c>> {
    let lanes = match op.kind() {
        Some(Kind::Loop(Loop::MultiplyMatrix | Loop::MultiplyShared)) => {
            op.int("instruction").and_then(Instruction::numbered).map_or(FEWEST_OF_A_WARP, |row| row.lanes)
        }
        Some(Kind::Loop(Loop::LoadMatrix)) => FEWEST_OF_A_WARP,
        _ => return Ok(()),
    };
    if shape.block[0] != lanes {
        return Err(PassError::at(
            op,
            format_args!(
                "is of warps of {lanes} threads, which thread_x numbers, but blocks have {} along x; bind a loop of {lanes} to it",
                shape.block[0]
            ),
        ));
    }
    if parents(op).any(|around| matches!(around.kind(), Some(Kind::Loop(Loop::Guard)))) {
        return Err(PassError::at(
            op,
            "stands under a condition, where not all threads of a warp may come: the others' registers would be missing",
        ));
    }
    Ok(())
}

/// A store of several threads to one place outside of a thread's own memory.
fn store<'c>(op: Op<'c>, shape: &Shape) -> Result<(), PassError<'c>> {
    if !matches!(op.kind(), Some(Kind::Loop(Loop::Store))) {
        return Ok(());
    }
    let operands = op.operand_values();
    let [value, buffer, index] = operands[..] else { return Ok(()) };
    let scope = defining_op(buffer).and_then(scope);
    if scope.is_some_and(|s| s != Scope::Shared && s != Scope::Global) {
        return Ok(());
    }
    let (mut places, mut values) = (HashSet::new(), HashSet::new());
    depends(index, &mut places);
    depends(value, &mut values);
    for around in parents(op).filter(|o| matches!(o.kind(), Some(Kind::Loop(Loop::For)))) {
        let Some((thread, which)) = loop_kind(around).binding() else { continue };
        // Each block has shared memory of its own.
        let several = match thread {
            true => shape.block[which] > 1,
            false => shape.grid[which] > 1 && scope != Some(Scope::Shared),
        };
        let Some(id) = around.body(0).and_then(|b| arguments(b).first().copied()) else { continue };
        let same_place = !places.contains(&key(id));
        if several
            && same_place
            && values.contains(&key(id))
            && around.int("extent").is_some_and(|n| n > 1)
            && !guarded(op, id)
        {
            let error = PassError::at(
                op,
                format_args!(
                    "writes what differs from {} to {} to one place; bind no loop to {0}s that the place does not depend on",
                    if thread { "thread" } else { "block" },
                    if thread { "thread" } else { "block" },
                ),
            );
            return Err(PassError { location: around.location(), ..error });
        }
    }
    Ok(())
}

/// True when a condition around the operation looks at a value.
fn guarded<'c>(op: Op<'c>, id: Value<'c>) -> bool {
    parents(op).filter(|o| matches!(o.kind(), Some(Kind::Loop(Loop::Guard)))).any(|guard| {
        let mut seen = HashSet::new();
        guard.operand_values().first().is_some_and(|condition| {
            depends(*condition, &mut seen);
            seen.contains(&key(id))
        })
    })
}

/// All values that one is computed from, through operations without regions.
fn depends(value: Value, seen: &mut HashSet<usize>) {
    let mut open = vec![value];
    while let Some(next) = open.pop() {
        if !seen.insert(key(next)) {
            continue;
        }
        let Some(op) = defining_op(next) else { continue };
        // All threads get the same.
        if matches!(op.kind(), Some(Kind::Loop(Loop::AllReduce))) {
            continue;
        }
        open.extend(op.operand_values());
        for inner in nested_ops(op) {
            open.extend(inner.operand_values());
        }
    }
}
