//! Matrix instructions of four warps, whose factors are in shared memory: NVIDIA's `wgmma`.
//!
//!     loop.multiply_shared wgmma_m64n128k64_f16 %a[%i], %b[%j], %c      =>      nvvm.wgmma.fence
//!                                                                               nvvm.wgmma.mma_async, 16 deep, four times
//!                                                                               nvvm.wgmma.commit.group
//!                                                                               wait, as which the sums come
//!
//! A factor is described by 64 bits (PTX ISA, "Matrix descriptor"): where it begins, how far its panels and its groups of 8 lines are apart, all in
//! 16 bytes, and that its lines of 128 bytes are swizzled. 16 elements further along a line are 32 bytes; 16 lines further are 2048. The
//! instruction reads by another way than threads write, so that before a barrier these fence what they wrote.
//!
//! Upstream's operation that waits takes no values, so that nothing would keep the sums from being used before it: the instruction is
//! written down here, with the sums going through.

use super::forms::{element, parsed, parsed_type};
use fusion_dialects::loops::Op as Loop;
use fusion_dialects::loops::matrix::Instruction;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::Scalars;
use fusion_dialects::{
    Attribute, Build, Op, OpExt, PassError, Type, Value, ValueLike, buffer_parts, dtype_of, index_type,
    int_attr, ints_attr, nested_ops, scalar_type, str_attr, typed_int_attr, unit_attr,
};
use fusion_operators::DType;

/// Bytes of a row's factors that one instruction reads: of 16 products, or of 8 of tf32.
const DEPTH: i64 = 32;
/// Bytes of a line, and of a group of 8 lines.
const LINE: i64 = 128;
const LINES: i64 = 8 * LINE;
/// What addresses and distances are counted in.
const UNIT: i64 = 16;
/// The largest number of a distance or address.
const MOST: i64 = 0x3fff;
/// Where a descriptor has the distance of panels, that of groups of lines, and the kind of swizzle, of which 1 is that of 128 bytes.
const PANELS_AT: i64 = 16;
const LINES_AT: i64 = 32;
const SWIZZLE_AT: i64 = 62;
/// Where one for tensor memory says so.
const TENSOR_MEMORY_AT: i64 = 46;

/// Has threads show what they wrote to those who read it otherwise, before barriers behind which somebody does.
pub fn show_writes(module: Op) {
    let all = nested_ops(module);
    if !all.iter().any(|op| matches!(op.kind(), Some(Kind::Loop(Loop::MultiplyShared)))) {
        return;
    }
    for op in all.into_iter().filter(|op| matches!(op.kind(), Some(Kind::Upstream(Upstream::GpuBarrier)))) {
        let context = op.context_ref();
        let kind = Attribute::parse(context, "#nvvm.proxy_kind<async.shared>");
        let space = Attribute::parse(context, "#nvvm.shared_space<cta>");
        if let (Some(kind), Some(space)) = (kind, space) {
            Build::before(op).op("nvvm.fence.proxy", &[], &[], &[("kind", kind), ("space", space)]);
        }
    }
}

/// The instructions of one operation.
pub fn multiply<'c>(op: Op<'c>) -> Result<Value<'c>, PassError<'c>> {
    let row = op.int("instruction").and_then(Instruction::numbered);
    let row = row.ok_or_else(|| PassError::at(op, "names no instruction"))?;
    let [a, from_a, b, from_b, apart, sums] = op.operand_values()[..] else {
        return Err(PassError::at(op, "takes two factors and sums"));
    };
    let build = Build::before(op);
    let transposed = op.attr("transposed").is_some();
    let one = Scalars { build }.index(0);
    let left = Descriptor::of(op, a, from_a, one)?;
    let right = Descriptor::of(op, b, from_b, if transposed { apart } else { one })?;
    let [m, n, all_deep] = row.shape;
    let deep = DEPTH as u64 / row.dtype.size() as u64;
    let down = if transposed { deep as i64 * LINE } else { DEPTH };
    let kind = if row.dtype == DType::F32 { "tf32" } else { row.dtype.mlir_name() };
    let attribute = |text: &str| parsed(op, text);
    let attrs = [
        ("shape", attribute(&format!("#nvvm.shape<m = {m}, n = {n}, k = {deep}>"))?),
        ("typeA", attribute(&format!("#nvvm.wgmma_type<{kind}>"))?),
        ("typeB", attribute(&format!("#nvvm.wgmma_type<{kind}>"))?),
        ("typeD", attribute("#nvvm.wgmma_type<f32>")?),
        ("scaleA", attribute("#nvvm.wgmma_scale_in<one>")?),
        ("scaleB", attribute("#nvvm.wgmma_scale_in<one>")?),
        ("scaleD", attribute("#nvvm.wgmma_scale_out<one>")?),
        ("layoutA", attribute("#nvvm.mma_layout<row>")?),
        ("layoutB", attribute(if transposed { "#nvvm.mma_layout<row>" } else { "#nvvm.mma_layout<col>" })?),
    ];
    let count = row.elements[2] as usize;
    let all = parsed_type(op, &format!("!llvm.struct<({})>", vec!["f32"; count].join(", ")))?;
    let mut state = build.value("llvm.mlir.undef", &[], all, &[]);
    for i in 0..count {
        let at = [("position", ints_attr(build.context(), &[i as i64]))];
        state = build.value("llvm.insertvalue", &[state, element(&build, sums, i)], all, &at);
    }
    build.op("nvvm.wgmma.fence.aligned", &[], &[], &[]);
    for step in 0..(all_deep / deep) as i64 {
        let factors = [left.moved(&build, step * DEPTH), right.moved(&build, step * down)];
        state = build.value("nvvm.wgmma.mma_async", &[&[state], &factors[..]].concat(), all, &attrs);
    }
    build.op("nvvm.wgmma.commit.group.sync.aligned", &[], &[], &[]);
    let done = waited(&build, state, (all, count));
    Ok(build.value("vector.from_elements", &done, op.result_values()[0].r#type(), &[]))
}

/// The sums, once they are there.
fn waited<'c>(build: &Build<'c>, state: Value<'c>, (all, count): (Type<'c>, usize)) -> Vec<Value<'c>> {
    let context = build.context();
    let float = scalar_type(context, DType::F32);
    let parts = |state: Value<'c>| -> Vec<Value<'c>> {
        let at = |i: usize| [("position", ints_attr(context, &[i as i64]))];
        (0..count).map(|i| build.value("llvm.extractvalue", &[state], float, &at(i))).collect()
    };
    parts(through(build, "wgmma.wait_group.sync.aligned 0;", &parts(state), all))
}

/// An instruction that waits, as which floats come: a structure of as many.
pub(super) fn through<'c>(
    build: &Build<'c>,
    instruction: &str,
    floats: &[Value<'c>],
    all: Type<'c>,
) -> Value<'c> {
    let (context, count) = (build.context(), floats.len());
    let same: Vec<String> = (0..count).map(|i| i.to_string()).collect();
    let constraints = [vec!["=f".to_owned(); count], same].concat().join(",");
    let attrs = [
        ("asm_string", str_attr(context, instruction)),
        ("constraints", str_attr(context, &constraints)),
        ("has_side_effects", unit_attr(context)),
        ("asm_dialect", int_attr(context, 0)),
    ];
    build.value("llvm.inline_asm", floats, all, &attrs)
}

/// The description of a factor.
#[derive(Clone, Copy)]
pub(super) struct Descriptor<'c> {
    bits: Value<'c>,
}

impl<'c> Descriptor<'c> {
    /// That of a swizzled buffer from an element on, with panels that many elements apart.
    fn of(
        op: Op<'c>,
        buffer: Value<'c>,
        from: Value<'c>,
        apart: Value<'c>,
    ) -> Result<Descriptor<'c>, PassError<'c>> {
        if !buffer.r#type().to_string().contains("workgroup") {
            return Err(PassError::at(
                op,
                "multiplies what is not in memory that a block shares; have it read a te.cache_read in shared memory",
            ));
        }
        let build = Build::before(op);
        let (s, wide, index) =
            (Scalars { build }, scalar_type(build.context(), DType::I64), index_type(build.context()));
        let size = element_bytes(buffer);
        let start = build.value("memref.extract_aligned_pointer_as_index", &[buffer], index, &[]);
        let start = s.index_add(start, s.index_affine(from, size, 0));
        let units = |bytes: Value<'c>| {
            let shift = s.index(UNIT.trailing_zeros().into());
            let units = build.value("arith.shrui", &[bytes, shift], index, &[]);
            build.value(Upstream::AndI.name(), &[units, s.index(MOST)], index, &[])
        };
        let place = |units: Value<'c>, at: i64| build.value("arith.shli", &[units, s.index(at)], index, &[]);
        let panels = place(units(s.index_affine(apart, size, 0)), PANELS_AT);
        let fixed = s.index(1 << SWIZZLE_AT | (LINES / UNIT) << LINES_AT);
        let bits = s.index_add(s.index_add(units(start), panels), fixed);
        Ok(Descriptor { bits: build.value("arith.index_cast", &[bits], wide, &[]) })
    }

    /// The same for instructions whose sums are in tensor memory.
    pub(super) fn of_tensor_memory(
        op: Op<'c>,
        buffer: Value<'c>,
        from: Value<'c>,
        apart: Value<'c>,
    ) -> Result<Descriptor<'c>, PassError<'c>> {
        let same = Descriptor::of(op, buffer, from, apart)?;
        let (build, wide) = (Build::before(op), scalar_type(op.context_ref(), DType::I64));
        let version = [("value", typed_int_attr(wide, 1 << TENSOR_MEMORY_AT))];
        let version = build.value("arith.constant", &[], wide, &version);
        Ok(Descriptor { bits: build.value(Upstream::AddI.name(), &[same.bits, version], wide, &[]) })
    }

    /// The same so many bytes further.
    pub(super) fn moved(&self, build: &Build<'c>, bytes: i64) -> Value<'c> {
        let wide = scalar_type(build.context(), DType::I64);
        let by = build.value("arith.constant", &[], wide, &[("value", typed_int_attr(wide, bytes / UNIT))]);
        build.value(Upstream::AddI.name(), &[self.bits, by], wide, &[])
    }
}

/// Bytes of an element of a buffer.
fn element_bytes(buffer: Value) -> i64 {
    buffer_parts(buffer.r#type()).and_then(|(element, _)| dtype_of(element)).map_or(1, DType::size) as i64
}
