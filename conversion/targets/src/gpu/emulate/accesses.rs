//! What a thread reads and writes is told to the run time first, which checks it (`runtime/gpu/races.c` and `memory.c`).
//!
//!     load %s[%i], of memory that the block shares      =>      call @fusion_emulated_access(address, bytes, 0)
//!     store %v, %x[%i], of argument 2 of 144 elements   =>      call @fusion_emulated_global(2, %i, 1, bytes of an element, 144, 1)
//!
//! Lanes under a mask and lanes that lie anywhere are told one by one. Memory of the thread alone needs no check.

use super::Emulator;
use crate::gpu::forms::element;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::Scalars;
use fusion_dialects::{
    Build, Op, OpExt, Value, ValueLike, buffer_parts, dtype_of, key, scalar_type, vector_parts,
};
use fusion_operators::DType;
use std::collections::HashMap;

/// Memory that several threads can access.
#[derive(Clone, Copy, Debug)]
pub(super) enum Memory {
    /// Of the block.
    Shared,
    /// An argument of the kernel.
    Argument(usize),
}

/// The memory that values stand for.
pub(super) type Memories = HashMap<usize, Memory>;

/// Where an operation has its operands.
struct Access<'c> {
    buffer: Value<'c>,
    index: Value<'c>,
    /// What is added to the index, by lane.
    offsets: Option<Value<'c>>,
    mask: Option<Value<'c>>,
    lanes: usize,
    writes: bool,
}

impl<'c> Access<'c> {
    fn of(op: Op<'c>) -> Option<Access<'c>> {
        let Some(Kind::Upstream(kind)) = op.kind() else { return None };
        let (operands, results) = (op.operand_values(), op.result_values());
        let writes = results.is_empty();
        // Where the buffer is; then its index, offsets and a mask.
        let (at, scattered, masked) = match kind {
            Upstream::MemRefLoad | Upstream::VectorLoad => (0, false, false),
            Upstream::MemRefStore | Upstream::VectorStore => (1, false, false),
            Upstream::MaskedLoad | Upstream::MaskedStore => (0, false, true),
            Upstream::MaskedGather | Upstream::MaskedScatter => (0, true, true),
            _ => return None,
        };
        let value = match (at, writes) {
            (0, false) => *results.first()?,
            (0, true) => *operands.last()?,
            _ => operands[0],
        };
        Some(Access {
            buffer: *operands.get(at)?,
            index: *operands.get(at + 1)?,
            offsets: operands.get(at + 2).copied().filter(|_| scattered),
            mask: operands.get(at + 2 + usize::from(scattered)).copied().filter(|_| masked),
            lanes: vector_parts(value.r#type()).map_or(1, |(_, lanes)| lanes as usize),
            writes,
        })
    }
}

impl<'c> Emulator<'c> {
    /// Tells of what an operation accesses, if it does.
    pub(super) fn tell(&mut self, op: Op<'c>, memories: &Memories) {
        let Some(access) = Access::of(op) else { return };
        let Some(&memory) = memories.get(&key(access.buffer)) else { return };
        let build = Build::before(op);
        let (scalars, writes) = (Scalars { build }, access.writes);
        if access.mask.is_none() && access.offsets.is_none() {
            let lanes = self.int(&build, DType::I64, access.lanes as i64);
            return self.tell_of(&build, memory, (access.buffer, access.index), lanes, writes);
        }
        for lane in 0..access.lanes {
            let index = match access.offsets {
                Some(offsets) => {
                    let offset = element(&build, offsets, lane);
                    scalars.index_add(access.index, self.as_index(&build, offset))
                }
                None => scalars.index_affine(access.index, 1, lane as i64),
            };
            let count = match access.mask {
                Some(mask) => {
                    let bit = element(&build, mask, lane);
                    build.value("arith.extui", &[bit], scalar_type(build.context(), DType::I64), &[])
                }
                None => self.int(&build, DType::I64, 1),
            };
            self.tell_of(&build, memory, (access.buffer, index), count, writes);
        }
    }

    /// Tells of so many elements from an index on.
    pub(super) fn tell_of(
        &mut self,
        build: &Build<'c>,
        memory: Memory,
        (buffer, index): (Value<'c>, Value<'c>),
        count: Value<'c>,
        writes: bool,
    ) {
        let wide = scalar_type(build.context(), DType::I64);
        let (size, elements) = buffer_parts(buffer.r#type())
            .map_or((4, 0), |(element, n)| (dtype_of(element).map_or(4, DType::size), n));
        let size = self.int(build, DType::I64, size as i64);
        let writes = self.int(build, DType::I32, writes.into());
        match memory {
            Memory::Shared => {
                let address = self.address(build, buffer, Some(index));
                let bytes = build.value("arith.muli", &[count, size], wide, &[]);
                self.call(build, "fusion_emulated_access", &[address, bytes, writes], &[]);
            }
            Memory::Argument(number) => {
                let number = self.int(build, DType::I32, number as i64);
                let elements = self.int(build, DType::I64, elements as i64);
                let index = build.value("arith.index_cast", &[index], wide, &[]);
                let passed = [number, index, count, size, elements, writes];
                self.call(build, "fusion_emulated_global", &passed, &[]);
            }
        }
    }

    /// An integer as an index.
    fn as_index(&self, build: &Build<'c>, value: Value<'c>) -> Value<'c> {
        let index = fusion_dialects::index_type(build.context());
        if value.r#type() == index { value } else { build.value("arith.index_cast", &[value], index, &[]) }
    }
}
