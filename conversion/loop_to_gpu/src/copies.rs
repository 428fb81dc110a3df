//! Asynchronous copies to shared memory, in upstream's terms for NVIDIA's GPUs.
//!
//!     loop.copy_async 4 from %x[%i] to %s[%j] if %c      %n = select %c, 4, 0
//!                                                =>      nvgpu.device_async_copy %x[%i], %s[%j], 4, %n       zeros behind the first %n
//!     loop.copy_commit                                   nvvm.cp.async.commit.group
//!     loop.copy_wait 1                                   nvvm.cp.async.wait.group 1
//!
//! Those of 16 bytes go around the first cache, in which nobody would look for them again (PTX ISA, "cp.async", `.cg`).

use super::within;
use fusion_dialects::loops::Op as Loop;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::Scalars;
use fusion_dialects::{
    Block, Build, Op, OpExt, Type, ValueLike, buffer_parts, dtype_of, index_type, ops_in, scalar_type,
    segments_attr, typed_int_attr, unit_attr,
};
use fusion_operators::DType;

/// Bytes of the copies that go around the first cache.
const LARGEST: i64 = 16;

/// Replaces all of them in a block.
pub fn convert(block: Block) {
    let all: Vec<Op> = within(ops_in(block)).collect();
    for op in all {
        let build = Build::before(op);
        match op.kind() {
            Some(Kind::Loop(Loop::CopyAsync)) => copy(op),
            Some(Kind::Loop(Loop::CopyCommit)) => {
                build.op(Upstream::CopyCommitGroup.name(), &[], &[], &[]);
            }
            Some(Kind::Loop(Loop::CopyWait)) => {
                let ty = scalar_type(build.context(), DType::I32);
                let groups = typed_int_attr(ty, op.int("groups").unwrap_or(0));
                build.op(Upstream::CopyWaitGroup.name(), &[], &[], &[("n", groups)]);
            }
            _ => continue,
        }
        op.erase();
    }
}

fn copy(op: Op) {
    let build = Build::before(op);
    let context = build.context();
    let operands = op.operand_values();
    let [source, from, buffer, to, ..] = operands[..] else { return };
    let elements = op.int("elements").unwrap_or(0);
    let size = buffer_parts(buffer.r#type()).and_then(|(e, _)| dtype_of(e)).map_or(0, DType::size) as i64;
    let mut given = vec![buffer, to, source, from];
    let mut sizes = [1, 1, 1, 1, 0];
    if let Some(condition) = operands.get(4) {
        let s = Scalars { build };
        let (all, none) = (s.index(elements), s.index(0));
        given.push(build.value("arith.select", &[*condition, all, none], index_type(context), &[]));
        sizes[4] = 1;
    }
    let Some(token) = Type::parse(context, "!nvgpu.device.async.token") else { return };
    let mut attrs = vec![
        ("dstElements", typed_int_attr(index_type(context), elements)),
        ("operandSegmentSizes", segments_attr(context, &sizes)),
    ];
    if elements * size == LARGEST {
        attrs.push(("bypassL1", unit_attr(context)));
    }
    build.op(Upstream::DeviceAsyncCopy.name(), &given, &[token], &attrs);
}
