//! Accesses of swizzled buffers: groups of 16 bytes are exchanged within their line of 128.
//!
//!     loop.load %s[%i] : vector<8xf16>      =>      loop.load %s[%i xor (%i / 8 mod 64 - %i / 8 mod 8)]
//!
//! Of the place in bytes, bits 7 to 9 (the line) are added to bits 4 to 6 (the group) without carry, which is its own inverse. An access stays
//! in one group, so what lies together in it stays together. Matrix instructions that read shared memory themselves do the same.

use super::{at_buffer, result};
use fusion_dialects::loops::Op as Loop;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::Scalars;
use fusion_dialects::{
    Build, Op, OpExt, PassError, Value, ValueLike, buffer_parts, dtype_of, index_type, key, users,
    vector_parts,
};
use fusion_loops::divisor::divisor;
use fusion_operators::DType;

/// Bytes of a group.
const GROUP: i64 = 16;
/// Groups of a line, and lines that differ.
const GROUPS: i64 = 8;

/// True for the `loop.alloc` of a swizzled buffer.
pub fn is_swizzled(op: Op) -> bool {
    op.attr("swizzled").is_some()
}

/// Has all accesses of a buffer go where its elements are.
pub fn exchange(buffer: Op) -> Result<(), PassError> {
    let Some(memory) = result(buffer) else { return Ok(()) };
    let size = buffer_parts(memory.r#type()).and_then(|(e, _)| dtype_of(e)).map_or(1, DType::size) as i64;
    for user in users(memory) {
        let operands = user.operand_values();
        let wide =
            |value: Option<Value>| value.map_or(1, |v| vector_parts(v.r#type()).map_or(1, |(_, n)| n as i64));
        // Which operand is the buffer and which its index, and how many elements lie together.
        let (of, at, lanes) = match user.kind() {
            Some(Kind::Loop(Loop::MultiplyShared | Loop::CopyTensor)) => continue,
            Some(Kind::Loop(Loop::Load)) => (0, 1, wide(result(user))),
            Some(Kind::Loop(Loop::Store)) => (1, 2, wide(operands.first().copied())),
            Some(Kind::Loop(Loop::LoadMatrix)) => (0, 1, GROUP / size),
            Some(Kind::Loop(Loop::CopyAsync)) => (2, 3, user.int("elements").unwrap_or(0)),
            Some(Kind::Upstream(Upstream::MaskedLoad)) => (0, 1, wide(result(user))),
            Some(Kind::Upstream(Upstream::MaskedStore)) => (0, 1, wide(operands.get(3).copied())),
            _ => (0, 0, 0),
        };
        let index = operands.get(at).copied().filter(|_| lanes > 0);
        let inside = index.is_some_and(|index| {
            let bytes = lanes * size;
            GROUP % bytes == 0 && (lanes == 1 || (divisor(index) * size) % bytes == 0)
        });
        let (Some(index), true) = (index, inside && key(operands[of]) == key(memory)) else {
            return Err(at_buffer(
                user,
                memory,
                "accesses a swizzled buffer otherwise than by up to 16 bytes that lie together, at a multiple of as many; vectorize by fewer \
                 elements, or leave te.storage_swizzle away",
            ));
        };
        user.set_operand_value(at, place(&Build::before(user), index, size));
    }
    Ok(())
}

/// Where the element with that index is.
fn place<'c>(build: &Build<'c>, index: Value<'c>, size: i64) -> Value<'c> {
    let (s, ty) = (Scalars { build: *build }, index_type(build.context()));
    let group = (GROUP / size).max(1);
    // The line's number, where the group's is.
    let line = s.index((GROUPS as u64).trailing_zeros().into());
    let line = build.value("arith.shrui", &[index, line], ty, &[]);
    let mask = s.index(group * (GROUPS - 1));
    let line = build.value(Upstream::AndI.name(), &[line, mask], ty, &[]);
    build.value(Upstream::XOrI.name(), &[index, line], ty, &[])
}
