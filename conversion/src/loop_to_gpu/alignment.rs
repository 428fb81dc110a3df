//! Accesses of several elements at once say how they are aligned, so that they become one instruction.
//!
//!     vector.load %x[%i] : vector<4xf32>, %i = 4 * %t + 64      =>      alignment = 16
//!
//! Buffers begin at multiples of 64 bytes or more; what divides the index, divides the address.

use super::within;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Block, Op, OpExt, Value, ValueLike, buffer_parts, defining_op, dtype_of, ops_in, scalar_type,
    typed_int_attr, vector_parts,
};
use fusion_loops::divisor::{divisor, gcd};
use fusion_operators::DType;

/// What all buffers are aligned to, in bytes.
const BUFFERS: i64 = 16;

/// Notes it at all accesses of vectors in a block.
pub fn note(block: Block) {
    let all: Vec<Op> = within(ops_in(block)).collect();
    for op in all {
        let (buffer, index, vector) = match op.kind() {
            Some(Kind::Upstream(Upstream::VectorLoad)) => (0, 1, op.result_values().first().copied()),
            Some(Kind::Upstream(Upstream::VectorStore)) => (1, 2, op.operand_values().first().copied()),
            _ => continue,
        };
        let operands = op.operand_values();
        let parts = vector.and_then(|v| vector_parts(v.r#type()));
        let (Some((element, lanes)), Some(index)) = (parts, operands.get(index)) else { continue };
        let size = dtype_of(element).map_or(1, DType::size) as i64;
        let base = operands.get(buffer).map_or(1, |b| base_of(*b));
        let alignment = gcd(gcd(base, divisor(*index) * size), (lanes as i64 * size).max(1));
        if alignment > size {
            let ty = scalar_type(op.context_ref(), DType::I64);
            op.set_attr("alignment", typed_int_attr(ty, alignment));
        }
    }
}

/// A number of bytes that divides the address at which a buffer begins: a view of bytes begins where it begins.
pub fn base_of(buffer: Value) -> i64 {
    view_offset(buffer).map_or(BUFFERS, |offset| gcd(BUFFERS, offset))
}

/// The byte at which a view begins, where it is known.
fn view_offset(buffer: Value) -> Option<i64> {
    let op = defining_op(buffer)?;
    buffer_parts(buffer.r#type())?;
    matches!(op.kind(), Some(Kind::Upstream(Upstream::View)))
        .then(|| op.operand_values().get(1).map(|v| divisor(*v)))?
}
