//! Tensor maps: what a launch tells of the tensors whose boxes its kernel copies.
//!
//! ```text
//!   loop.copy_tensor %x[%i, %k] of [300, 1000] box [128, 64] to %s     =>     {map = 0}, and {maps = [.. a row of numbers ..]} of the launch
//! ```
//!
//! The row is `fusion_gpu_map` of `runtime/gpu/gpu.h`: from it the run time makes what the device is given, for each launch, as it holds the
//! tensor's address. Copies of the same tensor in boxes of the same size share one.

use super::{swizzle, within};
use fusion_dialects::loops::Op as Loop;
use fusion_dialects::loops::tensor_copy::{LINE_BYTES, MOST_AXES, TensorCopy, strides};
use fusion_dialects::rows::Kind;
use fusion_dialects::{
    Block, OpExt, PassError, ValueLike, arguments, buffer_parts, defining_op, dtype_of, int_attr, key, ops_in,
};
use fusion_loops::divisor::divisor;
use fusion_operators::DType;

/// On a copy: the number of its map.
pub const MAP: &str = "map";
/// On a function of the GPU: how many maps it is given, behind its pointers.
pub const MAPS: &str = "fusion.tensor_maps";
/// Numbers of a row.
pub const NUMBERS: usize = 4 + 3 * MOST_AXES;

/// Numbers the copies of a kernel; gives the rows.
pub fn number(block: Block) -> Result<Vec<[i64; NUMBERS]>, PassError> {
    let parameters = arguments(block);
    let mut rows: Vec<[i64; NUMBERS]> = Vec::new();
    let all = within(ops_in(block)).filter(|op| matches!(op.kind(), Some(Kind::Loop(Loop::CopyTensor))));
    for op in all.collect::<Vec<_>>() {
        let copy = TensorCopy::of(op).ok_or_else(|| PassError::at(op, "names no box"))?;
        let argument = parameters.iter().position(|v| key(*v) == key(copy.source)).ok_or_else(|| {
            PassError::at(op, "copies boxes of what is no argument of the kernel; leave te.bulk_copy away")
        })?;
        let element = buffer_parts(copy.source.r#type()).and_then(|(element, _)| dtype_of(element));
        let bytes = element.map_or(0, DType::size) as u64;
        let swizzled = defining_op(copy.buffer).is_some_and(swizzle::is_swizzled);
        copy.limits(bytes, swizzled).map_err(|why| PassError::at(op, why))?;
        let room = buffer_parts(copy.buffer.r#type()).map_or(0, |(_, n)| n) * bytes;
        let to = divisor(copy.to).unsigned_abs() * bytes;
        if !room.is_multiple_of(LINE_BYTES) || !to.is_multiple_of(LINE_BYTES) {
            return Err(PassError::at(
                op,
                format_args!(
                    "copies a box to a place that is no multiple of {LINE_BYTES} bytes in a buffer of {room}; make the box larger, or leave \
                     te.bulk_copy away"
                ),
            ));
        }
        let apart: Vec<u64> = strides(&copy.extents).into_iter().map(|n| n * bytes).collect();
        let mut row = [0; NUMBERS];
        row[..4].copy_from_slice(&[
            argument as i64,
            bytes as i64,
            copy.extents.len() as i64,
            swizzled.into(),
        ]);
        for (i, list) in [&copy.extents, &apart, &copy.size].into_iter().enumerate() {
            for (axis, n) in list.iter().rev().enumerate() {
                row[4 + i * MOST_AXES + axis] = *n as i64;
            }
        }
        let number = rows.iter().position(|known| *known == row).unwrap_or_else(|| {
            rows.push(row);
            rows.len() - 1
        });
        op.set_attr(MAP, int_attr(op.context_ref(), number as i64));
    }
    Ok(rows)
}
