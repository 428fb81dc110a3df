//! Buffers of a nest: shared by the threads of a block, or of a thread alone.
//!
//!     loop.alloc shared : memref<256xf32>      =>      workgroup(%s : memref<256xf32, #gpu.address_space<workgroup>>)
//!     loop.alloc local  : memref<8xf32>        =>      private(%p : memref<8xf32, #gpu.address_space<private>>)
//!
//! They are parameters of the function behind those it is launched with: first the shared ones, then the others. Where a block
//! shares more than it can without asking, the shared ones are views of what the launch asks for:
//!
//!     loop.alloc shared : memref<32768xf32>    =>      memref.view of gpu.dynamic_shared_memory

use super::launches::{bytes, scope};
use super::{result, swizzle, within};
use fusion_dialects::loops::tensor_copy::{LINE_BYTES, TensorCopy};
use fusion_dialects::loops::{SWIZZLED_BYTES, Scope};
use fusion_dialects::rows::Upstream;
use fusion_dialects::te::Scalars;
use fusion_dialects::{
    Block, BlockLike, Build, Op, OpExt, OperationLike, PassError, Type, ValueLike, buffer_parts, ops_in,
    users,
};
use fusion_loop_to_cpu::memory::buffer_bytes;

/// What a thread can keep in memory of its own: code generators and the emulator have about twice that much for all it needs.
const MOST_OWN: u64 = 64 << 10;

/// Bytes that a buffer begins at a multiple of.
const BUFFERS: u64 = 16;

/// Makes parameters of all buffers, or views where the launch asks for the memory; gives what those for shared ones are aligned to.
pub fn place(block: Block, asks: bool) -> Result<Vec<u64>, PassError> {
    let all: Vec<Op> = within(ops_in(block)).collect();
    let used = |op: &Op| result(*op).is_some_and(|v| !fusion_dialects::unused(v));
    let (live, dead): (Vec<Op>, Vec<Op>) = all.into_iter().filter(|op| scope(*op).is_some()).partition(used);
    dead.into_iter().for_each(|op| op.erase());
    let is_shared = |op: &Op| scope(*op) == Some(Scope::Shared);
    let (shared, private): (Vec<Op>, Vec<Op>) = live.into_iter().partition(is_shared);
    let own = private.iter().fold(0u64, |sum, op| sum.saturating_add(bytes(*op)));
    if let Some(largest) = private.iter().copied().filter(|_| own > MOST_OWN).max_by_key(|op| bytes(*op)) {
        return Err(PassError::at(
            largest,
            format_args!(
                "is of {own} bytes that each thread keeps for itself, of which GPUs have {MOST_OWN}; \
                 compute less of it at a time, by te.compute_at a loop further in"
            ),
        ));
    }
    // Those first that begin at larger multiples, of which they are.
    let (mut shared, others): (Vec<Op>, Vec<Op>) =
        shared.into_iter().partition(|op| swizzle::is_swizzled(*op));
    shared.iter().try_for_each(|op| swizzle::exchange(*op))?;
    let mut alignments = vec![SWIZZLED_BYTES; shared.len()];
    let (tma, others): (Vec<Op>, Vec<Op>) = others.into_iter().partition(|op| takes_tma_copies(*op));
    for (more, alignment) in [(tma, LINE_BYTES), (others, BUFFERS)] {
        shared.extend(more);
        alignments.resize(shared.len(), alignment);
    }
    if asks {
        views(block, &shared)?;
        shared.clear();
        alignments.clear();
    }
    for (ops, space) in [(&shared, "workgroup"), (&private, "private")] {
        for op in ops {
            let Some(buffer) = result(*op) else { continue };
            let ty = in_space(*op, buffer.r#type(), space)?;
            let parameter = block.add_argument(ty, op.location());
            op.replace_all_uses(&[parameter]);
            op.erase();
        }
    }
    Ok(alignments)
}

/// True for buffers that boxes of tensors (TMA) are copied to.
fn takes_tma_copies(op: Op) -> bool {
    let users = result(op).map(users).unwrap_or_default();
    users.into_iter().any(|user| TensorCopy::of(user).is_some_and(|copy| Some(copy.buffer) == result(op)))
}

/// Makes views of the memory that the launch asks for, one behind the other.
fn views<'c>(block: Block<'c>, buffers: &[Op<'c>]) -> Result<(), PassError<'c>> {
    let Some(first) = ops_in(block).first().copied() else { return Ok(()) };
    let build = Build::before(first);
    let bytes_of_block = "memref<?xi8, #gpu.address_space<workgroup>>";
    let ty = Type::parse(build.context(), bytes_of_block)
        .ok_or_else(|| PassError::at(first, "cannot share memory: the gpu dialect is not loaded"))?;
    let all = build.value("gpu.dynamic_shared_memory", &[], ty, &[]);
    let mut offset = 0u64;
    for op in buffers {
        let Some(buffer) = result(*op) else { continue };
        let ty = in_space(*op, buffer.r#type(), "workgroup")?;
        let from = Scalars { build }.index(offset as i64);
        let view = build.value(Upstream::View.name(), &[all, from], ty, &[]);
        op.replace_all_uses(&[view]);
        op.erase();
        offset += buffer_bytes(ty).unwrap_or(0).next_multiple_of(BUFFERS);
    }
    Ok(())
}

fn in_space<'c>(op: Op<'c>, ty: Type<'c>, space: &str) -> Result<Type<'c>, PassError<'c>> {
    let spelled =
        buffer_parts(ty).map(|(element, n)| format!("memref<{n}x{element}, #gpu.address_space<{space}>>"));
    let parsed = spelled.and_then(|text| Type::parse(op.context_ref(), &text));
    parsed
        .ok_or_else(|| PassError::at(op, format_args!("is of type {ty}, which cannot be in {space} memory")))
}
