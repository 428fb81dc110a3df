//! Matrix instructions whose sums are in tensor memory: `tcgen05` of NVIDIA's sm_100a.
//!
//! ```text
//!                                                   warp 0: tcgen05.alloc, and its address through shared memory; mbarriers ; barrier
//!   for k {                                         tcgen05.st of the sums so far ; barrier of the group
//!     %c = vector.load %sums                        for k {
//!     %d = loop.multiply_shared %a, %b, %c    =>      one thread: tcgen05.mma, 16 deep, four times ; tcgen05.commit to a mbarrier
//!     vector.store %d, %sums                          wait for the mbarrier
//!   }                                               }
//!                                                   tcgen05.ld of the sums
//!                                                   barrier ; warp 0: tcgen05.dealloc
//! ```
//!
//! Tensor memory has 128 lanes of 512 columns of four bytes. A group of four warps has some of the columns
//! for each of its instructions, a row of the sums a lane, and each of its warps reads and writes 32 of the
//! lanes (PTX ISA, "Tensor Memory"). Where loops do nothing else with the sums, these stay there. Operands
//! are described as for `wgmma`, but for a bit that says which of the two it is.

mod around;

use super::forms::{element, parsed, parsed_type};
use super::warp_groups::{Descriptor, through};
use around::Around;
use fusion_dialects::loops::Op as Loop;
use fusion_dialects::loops::matrix::{Family, Instruction};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::{Compare, Scalars};
use fusion_dialects::{
    Build, Op, OpExt, PassError, Region, Type, Value, ValueLike, ValueMap, index_type, ints_attr, nested_ops,
    ops_in, parse_module, scalar_type, segments_attr, str_attr, symbol_attr, top_level, type_attr,
    typed_int_attr, vector_type,
};
use fusion_operators::DType;

/// Columns of a core, and the fewest that are allocated.
const COLUMNS: u64 = 512;
const FEWEST: u64 = 32;
/// Threads of a group and of a warp.
const GROUP: i64 = 128;
const WARP: i64 = 32;
/// Where an address has its lane.
const LANE_AT: i64 = 16;
/// The first barrier of a group; 0 is that of the block.
const FIRST_BARRIER: i64 = 1;
/// Products that one instruction sums up.
const DEPTH: u64 = 16;
/// How long a thread sleeps at most before it looks again, in nanoseconds.
const SLEEP: i64 = 10_000_000;
/// Bytes of a line of an operand.
const LINE: i64 = 128;

/// Converts all of them in a module of a GPU.
pub fn convert(module: Op) -> Result<(), PassError> {
    for function in nested_ops(module) {
        if !matches!(function.kind(), Some(Kind::Upstream(Upstream::GpuFunc))) {
            continue;
        }
        let all: Vec<(Op, &Instruction)> =
            nested_ops(function).into_iter().filter_map(|op| Some((op, instruction(op)?))).collect();
        if let Some(((first, _), body)) = all.first().zip(function.body(0)) {
            let memory = Memory::begin(*first, ops_in(body), function, &all)?;
            for (number, (op, row)) in all.iter().enumerate() {
                memory.multiply(*op, row, number as i64)?;
            }
        }
    }
    Ok(())
}

fn instruction(op: Op) -> Option<&'static Instruction> {
    let is_multiply = matches!(op.kind(), Some(Kind::Loop(Loop::MultiplyShared)));
    let row = op.int("instruction").filter(|_| is_multiply).and_then(Instruction::numbered)?;
    (row.family == Family::TensorMemory).then_some(row)
}

/// What a block has of tensor memory, and the mbarriers of its groups.
struct Memory<'c> {
    /// The address of the first column, in 32 bits.
    address: Value<'c>,
    /// Where the mbarriers begin.
    shared: Value<'c>,
    /// The thread's number in its group, and the number of that.
    thread: Value<'c>,
    group: Value<'c>,
    /// How many instructions there are, and columns that each has.
    instructions: i64,
    columns: i64,
    /// Where each instruction has its phase.
    first: Op<'c>,
}

impl<'c> Memory<'c> {
    /// Allocates at the begin of a function, and gives back at its end.
    fn begin(
        op: Op<'c>,
        body: Vec<Op<'c>>,
        function: Op<'c>,
        all: &[(Op<'c>, &Instruction)],
    ) -> Result<Memory<'c>, PassError<'c>> {
        let (Some(first), Some(last)) = (body.first(), body.last()) else {
            return Err(PassError::at(function, "has no body"));
        };
        let groups = groups_of(function)
            .ok_or_else(|| PassError::at(function, "does not say how large its blocks are"))?;
        let columns = all.iter().map(|(_, row)| row.shape[1]).max().unwrap_or(0);
        let wanted = (columns * all.len() as u64 * groups).next_power_of_two().max(FEWEST);
        if wanted > COLUMNS {
            return Err(PassError::at(
                op,
                format_args!(
                    "has sums of {wanted} columns with the others of its block, tensor memory has {COLUMNS}; use smaller tiles"
                ),
            ));
        }
        let build = Build::before(*first);
        let name = format!("{}_tensor_memory", function.text("sym_name").unwrap_or_default());
        declare(function, &name, 1 + groups * all.len() as u64)?;
        let shared = build.value(
            "llvm.mlir.addressof",
            &[],
            parsed_type(op, "!llvm.ptr<3>")?,
            &[("global_name", symbol_attr(build.context(), &name))],
        );
        let number = |which: &str| -> Result<Value<'c>, PassError<'c>> {
            let dimension = [("dimension", parsed(op, &format!("#gpu<dim {which}>"))?)];
            Ok(build.value(Upstream::ThreadId.name(), &[], index_type(build.context()), &dimension))
        };
        let (thread, group) = (number("x")?, number("z")?);
        let wanted = word(&build, wanted as i64);
        let of_first_group = is_less(&build, group, 1);
        let both = |other| build.value(Upstream::AndI.name(), &[of_first_group, other], bit(&build), &[]);
        let allocates = both(is_less(&build, thread, WARP));
        let is_first = both(is_less(&build, thread, 1));
        let group_of = parsed(op, "#nvvm.cta_group<cta_1>")?;
        guard(&build, allocates, |inside| {
            inside.op("nvvm.tcgen05.alloc", &[shared, wanted], &[], &[("group", group_of)]);
            inside.op("nvvm.tcgen05.relinquish_alloc_permit", &[], &[], &[("group", group_of)]);
        });
        let mbarriers: Vec<i64> = (0..(groups * all.len() as u64) as i64).collect();
        guard(&build, is_first, |inside| {
            for mbarrier in &mbarriers {
                let at = Scalars { build: inside }.index(*mbarrier);
                let one = word(&inside, 1);
                inside.op("nvvm.mbarrier.init", &[mbarrier_at(&inside, shared, at), one], &[], &[]);
            }
            inside.op("nvvm.fence.mbarrier.init", &[], &[], &[]);
        });
        fence(op, &build, "before")?;
        build.op(Upstream::GpuBarrier.name(), &[], &[], &[]);
        fence(op, &build, "after")?;
        let address = build.value("llvm.load", &[shared], scalar_type(build.context(), DType::I32), &[]);
        let end = Build::before(*last);
        fence(op, &end, "before")?;
        end.op(Upstream::GpuBarrier.name(), &[], &[], &[]);
        let space = parsed_type(op, "!llvm.ptr<6>")?;
        guard(&end, allocates, |inside| {
            let all = inside.value("llvm.inttoptr", &[address], space, &[]);
            inside.op("nvvm.tcgen05.dealloc", &[all, wanted], &[], &[("group", group_of)]);
        });
        Ok(Memory {
            address,
            shared,
            thread,
            group,
            instructions: all.len() as i64,
            columns: columns as i64,
            first: *first,
        })
    }

    /// One instruction, with its sums in tensor memory for as long as nothing else is done with them.
    fn multiply(&self, op: Op<'c>, row: &Instruction, number: i64) -> Result<(), PassError<'c>> {
        let [a, from_a, b, from_b, apart, sums] = op.operand_values()[..] else {
            return Err(PassError::at(op, "takes two factors and sums"));
        };
        let around = Around::of(op, sums);
        let context = op.context_ref();
        let (float, bits) = (scalar_type(context, DType::F32), scalar_type(context, DType::I32));
        let (floats, words) = (vector_type(float, row.elements[2]), vector_type(bits, row.elements[2]));
        // The sums so far.
        let before = Build::before(around.outermost);
        let s = Scalars { build: before };
        let mine = s.index_affine(self.group, self.instructions, number);
        let place = self.place(&before, mine);
        let lanes = s.index_affine(s.index_div(self.thread, WARP), WARP << LANE_AT, 0);
        let own = self.pointer(op, &before, s.index_add(place, lanes))?;
        let whole = self.pointer(op, &before, place)?;
        let mbarrier = mbarrier_at(&before, self.shared, mine);
        let so_far = around.load(&before, sums, floats);
        let so_far = before.value("vector.bitcast", &[so_far], words, &[]);
        let shape = [("shape", parsed(op, "#nvvm.tcgen05_ldst_shape<shape_32x32b>")?)];
        before.op("nvvm.tcgen05.st", &[own, so_far], &[], &shape);
        before.op("nvvm.tcgen05.wait", &[], &[], &[("kind", parsed(op, "#nvvm.tcgen05_wait<store>")?)]);
        fence(op, &before, "before")?;
        self.meet(&before);
        // The products.
        let build = Build::before(op);
        let transposed = op.attr("transposed").is_some();
        let zero = Scalars { build }.index(0);
        let left = Descriptor::of_tensor_memory(op, a, from_a, zero)?;
        let right = Descriptor::of_tensor_memory(op, b, from_b, if transposed { apart } else { zero })?;
        let down = if transposed { DEPTH as i64 * LINE } else { 2 * DEPTH as i64 };
        let what = word(&build, descriptor(row, transposed));
        let adds =
            build.value("arith.constant", &[], bit(&build), &[("value", typed_int_attr(bit(&build), 1))]);
        let attrs = [
            ("kind", parsed(op, "#nvvm.tcgen05_mma_kind<f16>")?),
            ("ctaGroup", parsed(op, "#nvvm.cta_group<cta_1>")?),
            ("operandSegmentSizes", segments_attr(context, &[1, 1, 1, 1, 1, 0, 0])),
        ];
        let after = parsed(op, "#nvvm.tcgen05_fence<after>")?;
        let group = [("group", parsed(op, "#nvvm.cta_group<cta_1>")?)];
        let steps: Vec<[Value; 2]> = (0..(row.shape[2] / DEPTH) as i64)
            .map(|step| [left.moved(&build, step * 2 * DEPTH as i64), right.moved(&build, step * down)])
            .collect();
        guard(&build, is_less(&build, self.thread, 1), |inside| {
            inside.op("nvvm.tcgen05.fence", &[], &[], &[("kind", after)]);
            for [left, right] in steps {
                inside.op("nvvm.tcgen05.mma", &[whole, left, right, what, adds], &[], &attrs);
            }
            inside.op("nvvm.tcgen05.commit", &[mbarrier], &[], &group);
        });
        self.wait(op, &build, mbarrier)?;
        fence(op, &build, "after")?;
        // What comes of them.
        let behind = Build::after(around.outermost);
        let done = behind.value("nvvm.tcgen05.ld", &[own], words, &shape);
        let done = behind.value("vector.bitcast", &[done], floats, &[]);
        around.store(&behind, op, waited(op, &behind, done, row.elements[2] as usize)?);
        Ok(())
    }

    /// The column at which an instruction of a group has its sums, as an address.
    fn place(&self, build: &Build<'c>, mine: Value<'c>) -> Value<'c> {
        let s = Scalars { build: *build };
        let base = build.value(Upstream::IndexCast.name(), &[self.address], index_type(build.context()), &[]);
        s.index_add(base, s.index_affine(mine, self.columns, 0))
    }

    fn pointer(&self, op: Op<'c>, build: &Build<'c>, place: Value<'c>) -> Result<Value<'c>, PassError<'c>> {
        let narrow =
            build.value(Upstream::IndexCast.name(), &[place], scalar_type(build.context(), DType::I32), &[]);
        Ok(build.value("llvm.inttoptr", &[narrow], parsed_type(op, "!llvm.ptr<6>")?, &[]))
    }

    /// All threads of a group come here.
    fn meet(&self, build: &Build<'c>) {
        let number = Scalars { build: *build }.index_affine(self.group, 1, FIRST_BARRIER);
        let bits = scalar_type(build.context(), DType::I32);
        let number = build.value(Upstream::IndexCast.name(), &[number], bits, &[]);
        let attrs = [
            ("intrin", str_attr(build.context(), "llvm.nvvm.barrier.cta.sync.aligned.count")),
            ("op_bundle_sizes", segments_attr(build.context(), &[])),
            ("operandSegmentSizes", segments_attr(build.context(), &[2, 0])),
        ];
        build.op("llvm.call_intrinsic", &[number, word(build, GROUP)], &[], &attrs);
    }

    /// Waits for the next phase of a mbarrier, whose number is even or odd by turns.
    fn wait(&self, op: Op<'c>, build: &Build<'c>, mbarrier: Value<'c>) -> Result<(), PassError<'c>> {
        let begin = Build::before(self.first);
        let bits = scalar_type(build.context(), DType::I32);
        let attrs = [("elem_type", type_attr(bits))];
        let one = word(&begin, 1);
        let phase = begin.value("llvm.alloca", &[one], parsed_type(op, "!llvm.ptr")?, &attrs);
        begin.op(Upstream::LlvmStore.name(), &[word(&begin, 0), phase], &[], &[]);
        let now = build.value(Upstream::LlvmLoad.name(), &[phase], bits, &[]);
        build.op("nvvm.mbarrier.try_wait.parity", &[mbarrier, now, word(build, SLEEP)], &[], &[]);
        let next = build.value(Upstream::XOrI.name(), &[now, word(build, 1)], bits, &[]);
        build.op(Upstream::LlvmStore.name(), &[next, phase], &[], &[]);
        Ok(())
    }
}

/// The sums, once they are in registers: upstream's operation that waits takes no values, and nothing would
/// keep them from being used before it.
fn waited<'c>(
    op: Op<'c>,
    build: &Build<'c>,
    sums: Value<'c>,
    count: usize,
) -> Result<Value<'c>, PassError<'c>> {
    let float = scalar_type(build.context(), DType::F32);
    let all = parsed_type(op, &format!("!llvm.struct<({})>", vec!["f32"; count].join(", ")))?;
    let parts: Vec<Value> = (0..count).map(|i| element(build, sums, i)).collect();
    let done = through(build, "tcgen05.wait::ld.sync.aligned;", &parts, all);
    let at = |i: usize| [("position", ints_attr(build.context(), &[i as i64]))];
    let parts: Vec<Value> =
        (0..count).map(|i| build.value("llvm.extractvalue", &[done], float, &at(i))).collect();
    Ok(build.value("vector.from_elements", &parts, sums.r#type(), &[]))
}

/// How many groups of four warps a block of a function has.
fn groups_of(function: Op) -> Option<u64> {
    let text = function.attr("known_block_size")?.to_string();
    let sizes = text.split_once(':')?.1.trim_end_matches('>');
    sizes.split(',').nth(2)?.trim().parse().ok()
}

/// Numbers of 64 bits that the threads of a block share: where tensor memory is, and mbarriers.
fn declare<'c>(function: Op<'c>, name: &str, count: u64) -> Result<(), PassError<'c>> {
    let text = format!(
        "llvm.mlir.global internal @{name}() {{addr_space = 3 : i32, alignment = 8 : i64}} : !llvm.array<{count} x i64>"
    );
    let parsed = parse_module(function.context_ref(), &text).map_err(|errors| {
        PassError::at(function, format_args!("gets no tensor memory: {}", errors.join("; ")))
    })?;
    for op in top_level(parsed.as_operation(), |k| matches!(k, Kind::Upstream(Upstream::LlvmGlobal))) {
        ValueMap::new().clone_op(&Build::before(function), op);
    }
    Ok(())
}

/// The mbarrier of that number, behind the address.
fn mbarrier_at<'c>(build: &Build<'c>, shared: Value<'c>, number: Value<'c>) -> Value<'c> {
    let wide = scalar_type(build.context(), DType::I64);
    let s = Scalars { build: *build };
    let at = build.value(Upstream::IndexCast.name(), &[s.index_affine(number, 1, 1)], wide, &[]);
    let attrs = [
        ("elem_type", type_attr(wide)),
        // The one index is an operand.
        ("rawConstantIndices", segments_attr(build.context(), &[i32::MIN])),
    ];
    build.value("llvm.getelementptr", &[shared, at], shared.r#type(), &attrs)
}

/// What is multiplied (PTX ISA, "Instruction descriptor"): f16 or bf16 with sums of f32, columns in eights,
/// rows in sixteens.
fn descriptor(row: &Instruction, transposed: bool) -> i64 {
    const F32: i64 = 1 << 4;
    let factors = if row.dtype == DType::BF16 { 1 << 7 | 1 << 10 } else { 0 };
    let [rows, columns, _] = row.shape.map(|n| n as i64);
    F32 | factors | i64::from(transposed) << 16 | (columns / 8) << 17 | (rows / 16) << 24
}

fn fence<'c>(op: Op<'c>, build: &Build<'c>, which: &str) -> Result<(), PassError<'c>> {
    let kind = parsed(op, &format!("#nvvm.tcgen05_fence<{which}>"))?;
    build.op("nvvm.tcgen05.fence", &[], &[], &[("kind", kind)]);
    Ok(())
}

fn bit<'c>(build: &Build<'c>) -> Type<'c> {
    scalar_type(build.context(), DType::Bool)
}

fn word<'c>(build: &Build<'c>, number: i64) -> Value<'c> {
    let word = scalar_type(build.context(), DType::I32);
    build.value("arith.constant", &[], word, &[("value", typed_int_attr(word, number))])
}

fn is_less<'c>(build: &Build<'c>, index: Value<'c>, than: i64) -> Value<'c> {
    let s = Scalars { build: *build };
    s.index_compare(Compare::Less, index, s.index(than)).value
}

/// What only some threads do.
fn guard<'c>(build: &Build<'c>, condition: Value<'c>, body: impl FnOnce(Build<'c>)) {
    let then = build.region(&[], |inside, _| {
        body(inside);
        inside.op(Upstream::ScfYield.name(), &[], &[], &[]);
    });
    build.op_with_regions(Upstream::If.name(), &[condition], &[], &[], vec![then, Region::new()]);
}
