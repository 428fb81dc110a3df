//! `gpu-emulate`: functions of a GPU become functions of the host, each the code of one thread.
//!
//! ```text
//!   gpu.func @k_0(%x) workgroup(%s) kernel {          func @k_0(%x) {
//!     %t = gpu.thread_id x                              %t = call @fusion_emulated_id(3)
//!     store %v, %s[%t]                          =>      call @fusion_emulated_access(address of %s[%t], 4, 1) ; store %v, %s[%t]
//!     store %v, %x[%t]                                  call @fusion_emulated_global(0, %t, 1, 4, 144, 1) ; store %v, %x[%t]
//!     gpu.barrier                                       call @fusion_emulated_barrier()
//!   }                                                 }
//! ```
//!
//! The run time (`runtime/gpu/emulate.c`) runs it once for each thread of each block, as coroutines that change at barriers. Shared
//! memory is the run time's. Each access to it is told, so that two threads that use one element without a barrier
//! between them are found, and each of an argument, so that those beside it and between blocks are. Upstream's conversion of `gpu` to LLVM for a processor does not exist; this is one.

mod accesses;
mod matrix;
mod mbarriers;

use crate::loop_to_gpu::maps::MAPS;
use crate::loop_to_gpu::within;
use accesses::{Memories, Memory};
use fusion_dialects::loops::Op as Loop;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::Scalars;
use fusion_dialects::{
    Attribute, Block, Build, Op, OpExt, OperationLike, Pass, PassError, Region, RegionLike, RunContext, Type,
    Value, ValueLike, arguments, attr_to_mlir, buffer_parts, buffer_type, defining_op, dtype_of,
    erase_argument, function_type, index_type, key, ops_in, replace_uses, scalar_type, segments_attr,
    set_type, str_attr, symbol_attr, take_region, type_attr,
};
use fusion_operators::{Attr, DType};
use indexmap::IndexMap;

/// The pass.
pub struct Emulate;

/// Bytes that a block can share at most, as far as types go.
const SHARED: u64 = 1 << 20;

impl Pass for Emulate {
    const NAME: &'static str = "gpu-emulate";
    const DESCRIPTION: &'static str = "Make functions of the host, a thread each, of those of a GPU";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const DIALECTS: &'static [&'static str] = &["func", "memref", "arith", "llvm"];

    fn run<'c>(module: Op<'c>, _: &mut RunContext) -> Result<(), PassError<'c>> {
        let inside = module.body(0).map(ops_in).unwrap_or_default();
        let is_gpu = |op: &Op| matches!(op.kind(), Some(Kind::Upstream(Upstream::GpuModule)));
        let mut emulator = Emulator::default();
        let modules: Vec<Op> = inside.into_iter().filter(is_gpu).collect();
        for gpu in &modules {
            for function in gpu.body(0).map(ops_in).unwrap_or_default() {
                if matches!(function.kind(), Some(Kind::Upstream(Upstream::GpuFunc))) {
                    emulator.function(*gpu, function)?;
                }
            }
        }
        if let Some(first) = modules.first() {
            emulator.declare(*first);
        }
        modules.into_iter().for_each(|op| op.erase());
        Ok(())
    }
}

/// What is called of the run time: names and types.
#[derive(Default)]
struct Emulator<'c> {
    called: IndexMap<&'static str, (Vec<Type<'c>>, Vec<Type<'c>>)>,
    /// Where a function begins.
    entry: Option<Op<'c>>,
    /// Memory for what matrix instructions take and give, by its place among them and its type.
    registers: IndexMap<(&'static str, String), Value<'c>>,
}

impl<'c> Emulator<'c> {
    /// Moves a function before the GPU module, and has it call the run time.
    fn function(&mut self, module: Op<'c>, function: Op<'c>) -> Result<(), PassError<'c>> {
        let context = function.context_ref();
        let Some(region) = function.regions().next() else { return Ok(()) };
        let types = function
            .attr("function_type")
            .and_then(fusion_dialects::type_of_attr)
            .and_then(fusion_dialects::function_parts)
            .map(|(inputs, _)| inputs)
            .unwrap_or_default();
        let shared = function.int("workgroup_attributions").unwrap_or(0).max(0) as usize;
        // The emulator knows maps by their numbers.
        let pointers = types.len().saturating_sub(function.int(MAPS).unwrap_or(0).max(0) as usize);
        let body: Region = take_region(region);
        if let Some(block) = body.first_block() {
            arguments(block)[pointers..types.len()].iter().rev().for_each(|map| erase_argument(*map));
            self.body(block, pointers, shared)?;
        }
        let types = &types[..pointers];
        let attrs = [
            ("sym_name", str_attr(context, function.text("sym_name").unwrap_or_default())),
            ("sym_visibility", str_attr(context, "private")),
            ("function_type", type_attr(function_type(context, types, &[]))),
        ];
        let build = Build::before(module).at(function.location());
        build.op_with_regions(Upstream::Func.name(), &[], &[], &attrs, vec![body]);
        function.erase();
        Ok(())
    }

    fn body(&mut self, block: Block<'c>, parameters: usize, shared: usize) -> Result<(), PassError<'c>> {
        let Some(first) = ops_in(block).first().copied() else { return Ok(()) };
        self.entry = defining_op(Scalars { build: Build::before(first) }.index(0));
        self.registers.clear();
        let buffers: Vec<Value<'c>> = arguments(block).into_iter().skip(parameters).collect();
        let given = arguments(block).into_iter().take(parameters).enumerate();
        let mut memories: Memories = given.map(|(i, buffer)| (key(buffer), Memory::Argument(i))).collect();
        let (build, mut offset) = (Build::before(first), 0u64);
        for (i, buffer) in buffers.iter().enumerate() {
            let Some((element, n)) = buffer_parts(buffer.r#type()) else { continue };
            let dtype = dtype_of(element).unwrap_or(DType::F32);
            let plain = buffer_type(build.context(), n, dtype);
            let here = if i < shared {
                let view = self.shared(&build, plain, offset);
                offset += n.saturating_mul(dtype.size() as u64).div_ceil(16) * 16;
                memories.insert(key(view), Memory::Shared);
                view
            } else {
                let segments = segments_attr(build.context(), &[0, 0]);
                let alignment = fusion_dialects::int_attr(build.context(), 64);
                let attrs = [("operandSegmentSizes", segments), ("alignment", alignment)];
                build.value(Upstream::Alloca.name(), &[], plain, &attrs)
            };
            // Users take the type of what they use; the old one must not be left on the way.
            set_type(*buffer, plain);
            replace_uses(*buffer, here);
        }
        for buffer in buffers.into_iter().rev() {
            erase_argument(buffer);
        }
        let all: Vec<Op> = within(ops_in(block)).collect();
        for op in all {
            self.operation(op, &memories)?;
        }
        Ok(())
    }

    /// A part of the memory that the block shares.
    fn shared(&mut self, build: &Build<'c>, ty: Type<'c>, offset: u64) -> Value<'c> {
        let bytes = buffer_type(build.context(), SHARED, DType::I8);
        let zero = self.int(build, DType::I64, 0);
        let all = self.call(build, "fusion_emulated_shared", &[zero], &[bytes]);
        let offset = Scalars { build: *build }.index(offset as i64);
        build.value(Upstream::View.name(), &[all[0], offset], ty, &[])
    }

    fn operation(&mut self, op: Op<'c>, memories: &Memories) -> Result<(), PassError<'c>> {
        let build = Build::before(op);
        match op.kind() {
            Some(Kind::Upstream(Upstream::ThreadId)) => self.number(op, 3),
            Some(Kind::Upstream(Upstream::BlockId)) => self.number(op, 0),
            Some(Kind::Upstream(Upstream::GpuBarrier)) => {
                self.call(&build, "fusion_emulated_barrier", &[], &[]);
                op.erase();
            }
            Some(Kind::Upstream(Upstream::GpuReturn)) => {
                build.op(Upstream::Return.name(), &[], &[], &[]);
                op.erase();
            }
            Some(Kind::Upstream(Upstream::Shuffle)) => self.shuffle(op)?,
            Some(Kind::Loop(Loop::MultiplyMatrix)) => self.multiply_matrix(op),
            Some(Kind::Loop(Loop::MultiplyShared)) => self.multiply_shared(op),
            Some(Kind::Loop(Loop::LoadMatrix)) => self.load_matrix(op),
            Some(Kind::Loop(Loop::CopyTensor)) => self.copy_tensor(op)?,
            Some(Kind::Loop(
                kind
                @ (Loop::MbarrierInit | Loop::MbarrierExpect | Loop::MbarrierArrive | Loop::MbarrierWait),
            )) => self.mbarrier(kind, op),
            Some(Kind::Loop(Loop::Registers)) => op.erase(),
            Some(Kind::Upstream(Upstream::DeviceAsyncCopy)) => self.copy_async(op, memories),
            Some(Kind::Upstream(Upstream::CopyCommitGroup)) => {
                self.call(&build, "fusion_emulated_commit", &[], &[]);
                op.erase();
            }
            Some(Kind::Upstream(Upstream::CopyWaitGroup)) => {
                let groups = self.int(&build, DType::I64, op.int("n").unwrap_or(0));
                self.call(&build, "fusion_emulated_wait", &[groups], &[]);
                op.erase();
            }
            _ => self.tell(op, memories),
        }
        Ok(())
    }

    /// The number of the thread or block.
    fn number(&mut self, op: Op<'c>, first: i64) {
        let build = Build::before(op);
        let dimension = op.attr("dimension").map(|d| d.to_string()).unwrap_or_default();
        let which =
            first + ["x>", "y>", "z>"].iter().position(|d| dimension.ends_with(d)).unwrap_or(0) as i64;
        let which = self.int(&build, DType::I32, which);
        let id =
            self.call(&build, "fusion_emulated_id", &[which], &[scalar_type(build.context(), DType::I64)]);
        let id = build.value("arith.index_cast", &[id[0]], index_type(build.context()), &[]);
        op.replace_all_uses(&[id]);
        op.erase();
    }

    /// `gpu.shuffle`: the bits of another thread of the warp, and whether there is one.
    fn shuffle(&mut self, op: Op<'c>) -> Result<(), PassError<'c>> {
        const MODES: [&str; 4] = ["xor", "up", "down", "idx"];
        let (build, operands) = (Build::before(op), op.operand_values());
        let context = build.context();
        let mode = op.attr("mode").map(|m| m.to_string()).unwrap_or_default();
        let mode = MODES.iter().position(|m| mode.contains(m)).unwrap_or(0) as i64;
        let ty = operands[0].r#type();
        let (bits, wide) = (scalar_type(context, DType::I32), scalar_type(context, DType::I64));
        let size = dtype_of(ty).map_or(0, DType::size);
        if size != 4 {
            return Err(PassError::at(
                op,
                format_args!("shuffles values of type {ty}; only those of 4 bytes are"),
            ));
        }
        let is_float = dtype_of(ty).is_some_and(DType::is_float);
        let value =
            if is_float { build.value("arith.bitcast", &[operands[0]], bits, &[]) } else { operands[0] };
        let value = build.value("arith.extui", &[value], wide, &[]);
        let mode = self.int(&build, DType::I32, mode);
        let got =
            self.call(&build, "fusion_emulated_shuffle", &[mode, value, operands[1], operands[2]], &[wide]);
        let got = build.value("arith.trunci", &[got[0]], bits, &[]);
        let got = if is_float { build.value("arith.bitcast", &[got], ty, &[]) } else { got };
        let yes = attr_to_mlir(context, &Attr::Bool(true));
        let valid = build.value("arith.constant", &[], scalar_type(context, DType::Bool), &[("value", yes)]);
        op.replace_all_uses(&[got, valid]);
        op.erase();
        Ok(())
    }

    /// `nvgpu.device_async_copy` of so many elements, of which all but the first few are 0.
    fn copy_async(&mut self, op: Op<'c>, memories: &Memories) {
        let (build, operands) = (Build::before(op), op.operand_values());
        let [shared, to, global, from, ..] = operands[..] else { return };
        let size = buffer_parts(shared.r#type()).and_then(|(e, _)| dtype_of(e)).map_or(4, DType::size) as i64;
        let bytes = self.int(&build, DType::I64, size * op.int("dstElements").unwrap_or(0));
        let wide = scalar_type(build.context(), DType::I64);
        let copied = match operands.get(4) {
            Some(elements) => {
                let copied = Scalars { build }.index_affine(*elements, size, 0);
                build.value("arith.index_cast", &[copied], wide, &[])
            }
            None => bytes,
        };
        if let Some(&memory) = memories.get(&key(global)) {
            let size = self.int(&build, DType::I64, size);
            let count = build.value("arith.divui", &[copied, size], wide, &[]);
            self.tell_of(&build, memory, (global, from), count, false);
        }
        let addresses = [(shared, to), (global, from)].map(|(b, i)| self.address(&build, b, Some(i)));
        self.call(&build, "fusion_emulated_copy_async", &[addresses[0], addresses[1], bytes, copied], &[]);
        op.erase();
    }

    /// Where an element of a buffer is.
    fn address(&self, build: &Build<'c>, buffer: Value<'c>, index: Option<Value<'c>>) -> Value<'c> {
        let context = build.context();
        let start =
            build.value("memref.extract_aligned_pointer_as_index", &[buffer], index_type(context), &[]);
        let size = buffer_parts(buffer.r#type()).and_then(|(element, _)| dtype_of(element));
        let size = size.map_or(4, DType::size) as i64;
        let scalars = Scalars { build: *build };
        let address =
            index.map_or(start, |index| scalars.index_add(start, scalars.index_affine(index, size, 0)));
        build.value("arith.index_cast", &[address], scalar_type(context, DType::I64), &[])
    }

    fn int(&self, build: &Build<'c>, dtype: DType, value: i64) -> Value<'c> {
        let ty = scalar_type(build.context(), dtype);
        build.value("arith.constant", &[], ty, &[("value", fusion_dialects::typed_int_attr(ty, value))])
    }

    fn call(
        &mut self,
        build: &Build<'c>,
        name: &'static str,
        operands: &[Value<'c>],
        results: &[Type<'c>],
    ) -> Vec<Value<'c>> {
        let inputs = operands.iter().map(|v| v.r#type()).collect();
        self.called.entry(name).or_insert_with(|| (inputs, results.to_vec()));
        let callee: (&str, Attribute) = ("callee", symbol_attr(build.context(), name));
        build.op(Upstream::Call.name(), operands, results, &[callee]).result_values()
    }

    fn declare(&self, before: Op<'c>) {
        let build = Build::before(before);
        let context = build.context();
        for (name, (inputs, results)) in &self.called {
            let attrs = [
                ("sym_name", str_attr(context, name)),
                ("sym_visibility", str_attr(context, "private")),
                ("function_type", type_attr(function_type(context, inputs, results))),
            ];
            build.op_with_regions(Upstream::Func.name(), &[], &[], &attrs, vec![Region::new()]);
        }
    }
}
