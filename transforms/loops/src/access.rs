//! What an operation of a loop reads or writes.

use fusion_dialects::loops::Op as Loop;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{Op, OpExt, Value, is_elementwise, is_pure, kind_of, nested_ops};

/// A load, gather, store or scatter.
pub struct Access<'c> {
    /// The operation.
    pub op: Op<'c>,
    /// The buffer.
    pub buffer: Value<'c>,
    /// Where in it, or where that begins.
    pub index: Value<'c>,
    /// True for stores and scatters.
    pub writes: bool,
}

impl<'c> Access<'c> {
    /// That of an operation, where it is one.
    pub fn of(op: Op<'c>) -> Option<Self> {
        // Places of the buffer and of the index among the operands.
        let (buffer, index, writes) = match kind_of(op) {
            Some(Kind::Loop(
                Loop::Load
                | Loop::Gather
                | Loop::LoadStrided
                | Loop::LoadPacked
                | Loop::LoadMatrix
                | Loop::MultiplyShared,
            )) => (0, 1, false),
            Some(Kind::Loop(Loop::Store | Loop::Scatter | Loop::StoreStrided)) => (1, 2, true),
            Some(Kind::Upstream(Upstream::MaskedLoad)) => (0, 1, false),
            Some(Kind::Upstream(Upstream::MaskedStore)) => (0, 1, true),
            Some(Kind::Upstream(Upstream::MaskedGather)) => (0, 2, false),
            Some(Kind::Upstream(Upstream::MaskedScatter)) => (0, 2, true),
            _ => return None,
        };
        let operands = op.operand_values();
        Some(Access { op, buffer: *operands.get(buffer)?, index: *operands.get(index)?, writes })
    }
}

/// All accesses inside an operation.
pub fn accesses<'c>(op: Op<'c>) -> impl Iterator<Item = Access<'c>> {
    nested_ops(op).into_iter().filter_map(Access::of)
}

/// True for operations without effects on memory: executing one once gives what executing it again gives.
pub fn is_free(op: Op) -> bool {
    is_pure(op) || is_elementwise(op)
}
