//! `fusion-gpu-calls`: what `convert-loop-to-gpu` declared launches its kernel.
//!
//! ```text
//!   llvm.func @k_launch_0(ptr, ptr)                    @k_gpu_image = "..." ; @k_0_name = "k_0"
//!       attributes {fusion.launch = {...}}      =>     @k_0_kernel = {@k_0_name, @k_gpu_image, bytes, host, grid, block, ...}
//!   gpu.module @k_gpu {fusion.image = ...}             llvm.func @k_launch_0(%x, %y) {
//!                                                        the stack gets a list of %x and %y
//!                                                        call @fusion_gpu_launch(@k_0_kernel, %list)
//!                                                      }
//! ```
//!
//! The structure is `fusion_gpu_kernel` of `runtime/gpu/gpu.h`, which is linked into every library for a GPU and has
//! @fusion_gpu_launch. Where the kernel is a function of this program, which is so when it is emulated, it gets one that takes its
//! arguments as a list.

use super::globals::{by_list, constant, number, structure};
use super::image::IMAGE;
use super::interface;
use crate::spelled::Spelled;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Build, Op, OpExt, OptionKind, OptionSpec, Pass, PassError, RunContext, Value, dictionary_attr,
    dictionary_text, ops_in, str_attr, top_level, type_attr,
};
use fusion_loop_to_gpu::{LAUNCH, maps};
use fusion_operators::Attr;

/// The function of the run time.
const START: &str = "fusion_gpu_launch";
/// `struct fusion_gpu_kernel`.
const KERNEL: &str =
    "!llvm.struct<(ptr, ptr, i64, ptr, array<3 x i32>, array<3 x i32>, i32, i32, i32, i32, ptr, i32, ptr)>";

/// The pass.
pub struct GpuCalls;

impl Pass for GpuCalls {
    const NAME: &'static str = "fusion-gpu-calls";
    const DESCRIPTION: &'static str = "Launch kernels where they are called";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const OPTIONS: &'static [OptionSpec] = &[OptionSpec {
        name: "warp",
        description: "Threads that run in step",
        kind: OptionKind::Int,
        initial: "32",
    }];
    const DIALECTS: &'static [&'static str] = &["llvm"];

    fn run<'c>(module: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let warp = cx.options.int("warp");
        let functions = top_level(module, |k| matches!(k, Kind::Upstream(Upstream::LlvmFunc)));
        let starts: Vec<Op> = functions.iter().copied().filter(|f| f.attr(LAUNCH).is_some()).collect();
        let Some(first) = starts.first().copied() else { return Ok(()) };
        let lib = Spelled::new(first)?;
        if !functions.iter().any(|f| f.text("sym_name") == Some(START)) {
            declare(&lib, START, "!llvm.func<i32 (ptr, ptr)>")?;
        }
        let inside = module.body(0).map(ops_in).unwrap_or_default();
        let is_gpu = |op: &Op| matches!(op.kind(), Some(Kind::Upstream(Upstream::GpuModule)));
        let modules: Vec<Op> = inside.into_iter().filter(is_gpu).collect();
        for gpu in &modules {
            if let (Some(image), Some(name)) = (gpu.attr(IMAGE), gpu.text("sym_name")) {
                let bytes = fusion_dialects::bytes_of(image).map_or(0, <[u8]>::len);
                let ty = lib.ty(&format!("!llvm.array<{bytes} x i8>"))?;
                constant(&lib, &format!("{name}_image"), ty, image)?;
            }
        }
        for start in starts {
            let emulated =
                functions.iter().find(|f| f.text("sym_name") == kernel_of(start).as_deref()).copied();
            write(start, &modules, emulated, warp)?;
        }
        modules.into_iter().for_each(|op| op.erase());
        Ok(())
    }
}

fn kernel_of(start: Op) -> Option<String> {
    dictionary_text(start.attr(LAUNCH)?, "kernel")
}

/// Declares a function of the run time.
pub(super) fn declare<'c>(lib: &Spelled<'c>, name: &str, signature: &str) -> Result<(), PassError<'c>> {
    let build = Build::before(lib.owner);
    let attrs = [
        ("sym_name", str_attr(build.context(), name)),
        ("function_type", type_attr(lib.ty(signature)?)),
        ("linkage", lib.attribute("#llvm.linkage<external>")?),
    ];
    build.op_with_regions(Upstream::LlvmFunc.name(), &[], &[], &attrs, vec![fusion_dialects::Region::new()]);
    Ok(())
}

fn write<'c>(
    start: Op<'c>,
    modules: &[Op<'c>],
    emulated: Option<Op<'c>>,
    warp: i64,
) -> Result<(), PassError<'c>> {
    let lib = Spelled::new(start)?;
    let build = Build::before(start);
    let context = build.context();
    let Some(launch) = start.attr(LAUNCH) else { return Ok(()) };
    let wrong = |what: &str| PassError::at(start, format!("has a {LAUNCH} without {what}"));
    let kernel = dictionary_text(launch, "kernel").ok_or_else(|| wrong("a kernel"))?;
    let module = dictionary_text(launch, "module").ok_or_else(|| wrong("a module"))?;
    let triple = |key: &str| match dictionary_attr(launch, key) {
        Some(Attr::Ints(sizes)) if sizes.len() == 3 => Ok(sizes),
        _ => Err(wrong(&format!("three numbers {key:?}"))),
    };
    let (grid, block) = (triple("grid")?, triple("block")?);
    let shared = match dictionary_attr(launch, "shared") {
        Some(Attr::Int(bytes)) => bytes as u64,
        _ => return Err(wrong("bytes that are shared")),
    };
    let asked = match dictionary_attr(launch, "shared_asked") {
        Some(Attr::Int(bytes)) => bytes as u64,
        _ => 0,
    };
    let image = modules.iter().find(|op| op.text("sym_name") == Some(&module)).and_then(|op| op.attr(IMAGE));
    let image_bytes = image.and_then(fusion_dialects::bytes_of).map_or(0, <[u8]>::len);
    let ty = start.attr("function_type").ok_or_else(|| wrong("a type"))?;
    let spelled = ty.to_string();
    let count = spelled.matches("ptr").count();

    let text = fusion_dialects::bytes_attr(context, &[kernel.as_bytes(), &[0]].concat());
    constant(
        &lib,
        &format!("{kernel}_name"),
        lib.ty(&format!("!llvm.array<{} x i8>", kernel.len() + 1))?,
        text,
    )?;
    let host = match emulated {
        Some(_) => Some(by_list(&lib, &kernel, count)?),
        None => None,
    };
    let maps = match dictionary_attr(launch, "maps") {
        Some(Attr::Ints(numbers)) => numbers,
        _ => Vec::new(),
    };
    let (list, maps_count) = (format!("{kernel}_maps"), maps.len() / maps::NUMBERS);
    if maps_count > 0 {
        interface::list(&lib, &list, &maps)?;
    }
    let record = format!("{kernel}_kernel");
    structure(&lib, (&record, "internal"), KERNEL, |inner| {
        let null = || inner.value("llvm.mlir.zero", &[], lib.pointer, &[]);
        let sizes = |sizes: &[i64]| {
            let ty = lib.ty("!llvm.array<3 x i32>")?;
            let text = sizes.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
            let value = ("value", lib.attribute(&format!("dense<[{text}]> : tensor<3xi32>"))?);
            Ok(inner.value("llvm.mlir.constant", &[], ty, &[value]))
        };
        let address = |name: &str| lib.address(inner, name);
        Ok(vec![
            address(&format!("{kernel}_name")),
            if image_bytes > 0 { address(&format!("{module}_image")) } else { null() },
            number(&lib, inner, "i64", image_bytes as u64)?,
            host.as_deref().map_or_else(null, address),
            sizes(&grid)?,
            sizes(&block)?,
            number(&lib, inner, "i32", shared)?,
            number(&lib, inner, "i32", count as u64)?,
            number(&lib, inner, "i32", warp.max(0) as u64)?,
            number(&lib, inner, "i32", asked)?,
            if maps_count > 0 { address(&list) } else { null() },
            number(&lib, inner, "i32", maps_count as u64)?,
            null(),
        ])
    })?;

    let mut outcome = Ok(());
    let pointers = vec![lib.pointer; count];
    let region = build.region(&pointers, |inner, given| {
        outcome = start_it(&lib, &inner, &record, given);
    });
    outcome?;
    let attrs = [
        ("sym_name", str_attr(context, start.text("sym_name").unwrap_or_default())),
        ("function_type", ty),
        ("linkage", lib.attribute("#llvm.linkage<internal>")?),
    ];
    build.op_with_regions(Upstream::LlvmFunc.name(), &[], &[], &attrs, vec![region]);
    start.erase();
    Ok(())
}

/// Lists the arguments and launches.
fn start_it<'c>(
    lib: &Spelled<'c>,
    build: &Build<'c>,
    record: &str,
    given: &[Value<'c>],
) -> Result<(), PassError<'c>> {
    let list = lib.stack(build, lib.ty(&format!("!llvm.array<{} x ptr>", given.len().max(1)))?)?;
    for (i, value) in given.iter().enumerate() {
        let place = lib.element(build, list, i)?;
        build.op("llvm.store", &[*value, place], &[], &[]);
    }
    let record = lib.address(build, record);
    lib.call_for(build, START, &[record, list], &[lib.ty("i32")?])?;
    build.op("llvm.return", &[], &[], &[]);
    Ok(())
}
