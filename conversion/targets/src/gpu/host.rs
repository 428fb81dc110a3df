//! `fusion-gpu-host`: the program around kernels, whose tensors are in the memory of a GPU.
//!
//!     memref.copy %x, %y              call @fusion_gpu_copy(%y, %x, bytes)
//!     memref.load %condition[]   =>   call @fusion_gpu_read(the stack, %condition, bytes) ; memref.load of the stack
//!
//! The host has their addresses, and must not look behind them. What the run time must know of the program (how many bytes
//! its tensors have) is noted at @main, while that still has their types.

use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::Scalars;
use fusion_dialects::{
    Build, Op, OpExt, OptionKind, OptionSpec, Pass, PassError, RunContext, Type, Value, ValueLike, arguments,
    function_type, index_type, int_attr, ints_attr, nested_ops, str_attr, symbol_attr, type_attr,
};
use fusion_loop_to_cpu::memory::buffer_bytes;
use fusion_te_to_loop::plan_memory::{INPUTS, OUTPUTS, entry_of};

/// On @main: what runs its kernels, a number of `runtime/gpu/gpu.h`.
pub const DEVICE: &str = "fusion.device";
/// On @main: bytes of its inputs and outputs.
pub const TENSOR_BYTES: &str = "fusion.tensor_bytes";

const COPY: &str = "fusion_gpu_copy";
const READ: &str = "fusion_gpu_read";

/// The pass.
pub struct GpuHost;

impl Pass for GpuHost {
    const NAME: &'static str = "fusion-gpu-host";
    const DESCRIPTION: &'static str = "Have the program around kernels keep its hands off the GPU's memory";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const OPTIONS: &'static [OptionSpec] = &[OptionSpec {
        name: "device",
        description: "What runs the kernels: 1 CUDA, 2 HIP, 3 the emulator",
        kind: OptionKind::Int,
        initial: "3",
    }];
    const DIALECTS: &'static [&'static str] = &["func", "memref", "arith"];

    fn run<'c>(module: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let Some(main) = entry_of(module) else { return Ok(()) };
        let Some(body) = main.body(0) else { return Ok(()) };
        let context = main.context_ref();
        let count = |name: &str| main.int(name).unwrap_or(0).max(0) as usize;
        let tensors = arguments(body).into_iter().take(count(INPUTS) + count(OUTPUTS));
        let sizes: Vec<i64> = tensors.map(|v| bytes(v.r#type()) as i64).collect();
        main.set_attr(TENSOR_BYTES, ints_attr(context, &sizes));
        main.set_attr(DEVICE, int_attr(context, cx.options.int("device")));
        let (mut copies, mut reads) = (false, false);
        for op in nested_ops(main) {
            match op.kind() {
                Some(Kind::Upstream(Upstream::Copy)) => {
                    copies = true;
                    let [from, to] = op.operand_values()[..] else { continue };
                    call(op, COPY, [to, from], bytes(from.r#type()));
                    op.erase();
                }
                Some(Kind::Upstream(Upstream::MemRefLoad)) => {
                    reads = true;
                    let Some(from) = op.operand_values().first().copied() else { continue };
                    let build = Build::before(op);
                    let segments = fusion_dialects::segments_attr(context, &[0, 0]);
                    let here = build.value(
                        Upstream::Alloca.name(),
                        &[],
                        from.r#type(),
                        &[("operandSegmentSizes", segments)],
                    );
                    call(op, READ, [here, from], bytes(from.r#type()));
                    op.set_operand_value(0, here);
                }
                _ => {}
            }
        }
        for (name, used) in [(COPY, copies), (READ, reads)] {
            if used {
                declare(main, name);
            }
        }
        Ok(())
    }
}

fn bytes(ty: Type) -> u64 {
    buffer_bytes(ty).unwrap_or(0)
}

/// A call with the addresses of two buffers.
fn call<'c>(op: Op<'c>, name: &str, buffers: [Value<'c>; 2], bytes: u64) {
    let build = Build::before(op);
    let address = |v: Value<'c>| {
        build.value("memref.extract_aligned_pointer_as_index", &[v], index_type(build.context()), &[])
    };
    let size = Scalars { build }.index(bytes as i64);
    let operands = [address(buffers[0]), address(buffers[1]), size];
    build.op(Upstream::Call.name(), &operands, &[], &[("callee", symbol_attr(build.context(), name))]);
}

fn declare(main: Op, name: &str) {
    let build = Build::before(main);
    let context = build.context();
    let attrs = [
        ("sym_name", str_attr(context, name)),
        ("sym_visibility", str_attr(context, "private")),
        ("function_type", type_attr(function_type(context, &[index_type(context); 3], &[]))),
    ];
    build.op_with_regions(Upstream::Func.name(), &[], &[], &attrs, vec![fusion_dialects::Region::new()]);
}
