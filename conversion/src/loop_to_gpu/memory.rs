//! Buffers of a nest: shared by the threads of a block, or of a thread alone.
//!
//!     loop.alloc shared : memref<256xf32>      =>      workgroup(%s : memref<256xf32, #gpu.address_space<workgroup>>)
//!     loop.alloc local  : memref<8xf32>        =>      private(%p : memref<8xf32, #gpu.address_space<private>>)
//!
//! They are parameters of the function behind those it is launched with: first the shared ones, then the others.

use super::launches::{bytes, scope};
use super::{result, within};
use fusion_dialects::loops::Scope;
use fusion_dialects::{
    Block, BlockLike, Op, OpExt, OperationLike, PassError, Type, ValueLike, buffer_parts, ops_in,
};

/// What a thread can keep in memory of its own: code generators and the emulator have about twice that much for all it needs.
const MOST_OWN: u64 = 64 << 10;

/// Makes parameters of all buffers; gives the number of shared and of private ones.
pub fn place(block: Block) -> Result<(i64, i64), PassError> {
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
    for (ops, space) in [(&shared, "workgroup"), (&private, "private")] {
        for op in ops {
            let Some(buffer) = result(*op) else { continue };
            let ty = in_space(*op, buffer.r#type(), space)?;
            let parameter = block.add_argument(ty, op.location());
            op.replace_all_uses(&[parameter]);
            op.erase();
        }
    }
    Ok((shared.len() as i64, private.len() as i64))
}

fn in_space<'c>(op: Op<'c>, ty: Type<'c>, space: &str) -> Result<Type<'c>, PassError<'c>> {
    let spelled =
        buffer_parts(ty).map(|(element, n)| format!("memref<{n}x{element}, #gpu.address_space<{space}>>"));
    let parsed = spelled.and_then(|text| Type::parse(op.context_ref(), &text));
    parsed
        .ok_or_else(|| PassError::at(op, format_args!("is of type {ty}, which cannot be in {space} memory")))
}
