//! `convert-loop-to-gpu`: each nest of a kernel becomes a function of the GPU, and the kernel a function of the host that launches
//! them one after another.
//!
//! ```text
//!   func @k(%x, %y) {                          gpu.module @k_gpu {
//!     loop.for 6 block_x {                       gpu.func @k_0(%x, %y) kernel { block 0..6, thread 0..32: ... }
//!       loop.for 32 thread_x { ... }             gpu.func @k_1(%x, %y) kernel { ... }
//!     }                                   =>   }
//!     loop.for 8 block_x { ... }               func @k(%x, %y) { call @k_launch_0(%x, %y) ; call @k_launch_1(%x, %y) }
//!   }                                          func @k_launch_0(..) attributes {fusion.launch = {grid = [6, 1, 1], ...}}
//! ```
//!
//! Launches of a stream run in order, so that what a nest reads was written by those before it. Code that is bound to nothing
//! runs on one thread. What is in a nest and how it is cut up is in `launches`, what becomes of bound loops in `bindings`, of
//! buffers in `memory`, of values that threads combine in `reduce`, of tensors whose boxes are copied in `maps`; loops that are left go the way of `loop_to_cpu`.

mod alignment;
pub mod barriers;
mod bindings;
mod copies;
mod elements;
pub mod equal;
pub mod fragments;
pub mod launches;
pub mod maps;
pub mod math;
mod memory;
pub mod once;
mod owners;
pub mod pipeline;
mod places;
mod reduce;
pub mod sharing;
pub mod spread;
mod swizzle;
pub mod verify;
pub mod warps;

use fusion_dialects::loops::KERNEL;
use fusion_dialects::loops::{Loops, Op as Loop};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::Scalar;
use fusion_dialects::{
    Attribute, BlockLike, Build, Op, OpExt, OperationLike, OptionKind, OptionSpec, Pass, PassError,
    RunContext, Value, ValueLike, ValueMap, arguments, defining_op, dict_attr, function_type, int_attr,
    ints_attr, is_pure, nested_ops, none_left, ops_in, str_attr, symbol_attr, top_level, type_attr,
    unit_attr,
};
use launches::{Launch, Shape};

/// On a declared function of the host: what calling it launches.
pub const LAUNCH: &str = "fusion.launch";

/// On a function of the GPU: how many blocks fit into a core by the memory they ask for.
pub const BLOCKS_OF_CORE: &str = "fusion.blocks_of_core";

/// What an operation stands in, from the inside out.
fn parents<'c>(op: Op<'c>) -> impl Iterator<Item = Op<'c>> {
    std::iter::successors(op.parent_operation(), |o| o.parent_operation())
}

/// An error of an access to a buffer, where the schedule says in which memory that is; a buffer of which it says nothing comes from
/// where its stage does.
fn at_buffer<'c>(op: Op<'c>, buffer: Value<'c>, message: impl std::fmt::Display) -> PassError<'c> {
    let home = defining_op(buffer).unwrap_or(op);
    PassError { location: home.location(), ..PassError::at(op, message) }
}

/// The pass.
pub struct ConvertLoopToGpu;

impl Pass for ConvertLoopToGpu {
    const NAME: &'static str = "convert-loop-to-gpu";
    const DESCRIPTION: &'static str = "Make functions of the GPU of loop nests, and the kernel launch them";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "warp",
            description: "Threads that run in step",
            kind: OptionKind::Int,
            initial: "32",
        },
        OptionSpec {
            name: "static-bytes",
            description: "Bytes that a block can share without the launch asking for them",
            kind: OptionKind::Int,
            initial: "49152",
        },
        OptionSpec {
            name: "core-bytes",
            description: "Bytes that the blocks of a core share together; 0 where that is not known",
            kind: OptionKind::Int,
            initial: "0",
        },
    ];
    const DIALECTS: &'static [&'static str] =
        &["gpu", "nvgpu", "nvvm", "llvm", "scf", "memref", "vector", "arith", "func", "affine"];

    fn run<'c>(module: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let functions = top_level(module, |k| matches!(k, Kind::Upstream(Upstream::Func)));
        for function in functions.into_iter().filter(|f| f.attr(KERNEL).is_some() && f.body(0).is_some()) {
            let target = Target {
                warp: cx.options.int("warp").max(1) as u64,
                static_bytes: cx.options.int("static-bytes").max(0) as u64,
                core_bytes: cx.options.int("core-bytes").max(0) as u64,
            };
            convert(function, target)?;
        }
        // What a warp does together stays: see `gpu-matrix` and `gpu-emulate`.
        let of_a_warp = |kind| {
            use Loop::*;
            let multiplies = matches!(kind, MultiplyMatrix | MultiplyShared | LoadMatrix);
            let mbarriers = matches!(kind, MbarrierInit | MbarrierExpect | MbarrierArrive | MbarrierWait);
            multiplies || mbarriers || matches!(kind, CopyTensor | Registers)
        };
        none_left(module, Self::NAME, |kind| matches!(kind, Kind::Loop(kind) if !of_a_warp(kind)))
    }
}

/// What there is to know of the GPU.
#[derive(Clone, Copy)]
struct Target {
    /// Threads that run in step.
    warp: u64,
    /// Bytes that a block can share without asking.
    static_bytes: u64,
    /// Bytes that the blocks of a core share together, if known.
    core_bytes: u64,
}

impl Target {
    /// How many blocks fit into a core, where what they ask for decides it, which nobody sees in their code.
    fn blocks_of_core(&self, shape: &Shape) -> Option<u64> {
        let asks = shape.shared_bytes > self.static_bytes;
        (asks && self.core_bytes >= shape.shared_bytes).then(|| self.core_bytes / shape.shared_bytes)
    }
}

fn convert(function: Op, target: Target) -> Result<(), PassError> {
    let Some(block) = function.body(0) else { return Ok(()) };
    let (shared, launches) = launches::of(block);
    let name = function.text("sym_name").unwrap_or_default().to_owned();
    let build = Build::before(function);
    let context = build.context();
    let gpu = format!("{name}_gpu");
    let mut outcome = Ok(());
    let mut maps = Vec::new();
    let region = build.region(&[], |inside, _| {
        for (number, launch) in launches.iter().enumerate() {
            let made = kernel(&inside, function, &format!("{name}_{number}"), &shared, launch, target);
            let before = std::mem::replace(&mut outcome, Ok(()));
            outcome = before.and(made.map(|rows| maps.push(rows)));
        }
    });
    build.op_with_regions("gpu.module", &[], &[], &[("sym_name", str_attr(context, &gpu))], vec![region]);
    outcome?;
    let passed = arguments(block);
    for (number, (launch, maps)) in launches.iter().zip(maps).enumerate() {
        let (of, declared) = (format!("{name}_{number}"), format!("{name}_launch_{number}"));
        let names = [gpu.as_str(), of.as_str()];
        declare(&build, function, &declared, &describe(function, names, (&launch.shape, &maps), target));
        let place = launch.ops[0];
        let callee = [("callee", symbol_attr(context, &declared))];
        Build::before(place).op(Upstream::Call.name(), &passed, &[], &callee);
    }
    // Users first: what a nest used goes after it.
    for op in ops_in(block).into_iter().rev() {
        if !matches!(op.kind(), Some(Kind::Upstream(Upstream::Call | Upstream::Return))) {
            op.erase();
        }
    }
    Ok(())
}

/// What a launch is, for who makes the call of it.
fn describe<'c>(
    function: Op<'c>,
    [module, name]: [&str; 2],
    (shape, maps): (&Shape, &[[i64; maps::NUMBERS]]),
    target: Target,
) -> Attribute<'c> {
    let context = function.context_ref();
    let asks = shape.shared_bytes > target.static_bytes;
    let (fixed, asked) = if asks { (0, shape.shared_bytes) } else { (shape.shared_bytes, 0) };
    let triple = |sizes: [u64; 3]| ints_attr(context, &sizes.map(|n| n as i64));
    let mut entries = vec![
        ("block", triple(shape.block)),
        ("grid", triple(shape.grid)),
        ("kernel", str_attr(context, name)),
        ("module", str_attr(context, module)),
        ("shared", int_attr(context, fixed as i64)),
    ];
    if asked > 0 {
        entries.push(("shared_asked", int_attr(context, asked as i64)));
    }
    if !maps.is_empty() {
        entries.push(("maps", ints_attr(context, maps.as_flattened())));
    }
    dict_attr(context, &entries)
}

/// A private function without a body that takes what the kernel takes.
fn declare<'c>(build: &Build<'c>, function: Op<'c>, name: &str, launch: &Attribute<'c>) {
    let context = build.context();
    let mut attrs = vec![
        ("sym_name", str_attr(context, name)),
        ("sym_visibility", str_attr(context, "private")),
        (LAUNCH, *launch),
    ];
    attrs.extend(function.attr("function_type").map(|ty| ("function_type", ty)));
    build.op_with_regions(Upstream::Func.name(), &[], &[], &attrs, vec![fusion_dialects::Region::new()]);
}

/// The function of the GPU for a nest; gives the tensor maps it wants.
fn kernel<'c>(
    build: &Build<'c>,
    function: Op<'c>,
    name: &str,
    shared: &[Op<'c>],
    launch: &Launch<'c>,
    target: Target,
) -> Result<Vec<[i64; maps::NUMBERS]>, PassError<'c>> {
    let context = build.context();
    let Some(block) = function.body(0) else { return Ok(Vec::new()) };
    let parameters = arguments(block);
    let mut types: Vec<_> = parameters.iter().map(|v| v.r#type()).collect();
    let mut outcome = Ok(());
    let (mut alignments, mut rows) = (Vec::new(), Vec::new());
    let region = build.region(&types, |inside, given| {
        let mut map = ValueMap::new();
        for (old, new) in parameters.iter().zip(given) {
            map.insert(*old, *new);
        }
        for op in shared.iter().chain(&launch.ops) {
            map.clone_op(&inside, *op);
        }
        inside.op("gpu.return", &[], &[], &[]);
        outcome = bindings::bind(inside.block(), &launch.shape)
            .and_then(|()| reduce::expand(inside.block(), &launch.shape, target.warp))
            .and_then(|()| maps::number(inside.block()))
            .map(|numbered| {
                rows = numbered;
                rows.iter().for_each(|_| {
                    inside.block().add_argument(fusion_dialects::llvm_pointer(context), function.location());
                });
            })
            .and_then(|()| memory::place(inside.block(), launch.shape.shared_bytes > target.static_bytes))
            .and_then(|placed| {
                alignments = placed;
                copies::convert(inside.block());
                fusion_loop_to_cpu::convert_block(inside.block(), &fusion_loop_to_cpu::Dots::default())
            });
        alignment::note(inside.block());
    });
    let sizes = |sizes: [u64; 3]| {
        let text = sizes.map(|n| n.to_string()).join(", ");
        Attribute::parse(context, &format!("array<i32: {text}>")).unwrap_or_else(|| unit_attr(context))
    };
    let mut aligned = vec!["{llvm.align = 16 : i64}"; types.len()];
    types.resize(types.len() + rows.len(), fusion_dialects::llvm_pointer(context));
    aligned.resize(types.len(), "{llvm.align = 64 : i64}");
    let aligned = aligned.join(", ");
    let aligned = Attribute::parse(context, &format!("[{aligned}]")).unwrap_or_else(|| unit_attr(context));
    let shared: Vec<String> = alignments.iter().map(|n| format!("{{llvm.align = {n} : i64}}")).collect();
    let shared =
        Attribute::parse(context, &format!("[{}]", shared.join(", "))).unwrap_or_else(|| unit_attr(context));
    let mut attrs = vec![
        ("sym_name", str_attr(context, name)),
        ("function_type", type_attr(function_type(context, &types, &[]))),
        ("workgroup_attrib_attrs", shared),
        // Accesses of 16 bytes need it; the run time refuses tensors that do not have it.
        ("arg_attrs", aligned),
        ("gpu.kernel", unit_attr(context)),
        ("known_block_size", sizes(launch.shape.block)),
        ("known_grid_size", sizes(launch.shape.grid)),
        ("workgroup_attributions", int_attr(context, alignments.len() as i64)),
    ];
    if let Some(blocks) = target.blocks_of_core(&launch.shape) {
        attrs.push((BLOCKS_OF_CORE, int_attr(context, blocks as i64)));
    }
    if !rows.is_empty() {
        attrs.push((maps::MAPS, int_attr(context, rows.len() as i64)));
    }
    build.at(launch.ops[0].location()).op_with_regions("gpu.func", &[], &[], &attrs, vec![region]);
    outcome.map(|()| rows)
}

/// Operations with all that is in them, which comes first.
pub fn within<'c>(ops: impl IntoIterator<Item = Op<'c>>) -> impl Iterator<Item = Op<'c>> {
    ops.into_iter().flat_map(|op| nested_ops(op).into_iter().chain([op]))
}

/// A nest and all in it; a loop comes before what is in it.
fn outside_in(nest: Op) -> Vec<Op> {
    [nest].into_iter().chain(nested_ops(nest)).collect()
}

/// True for what is no loop, condition or load, and does more than to give a value.
fn may_write(op: Op) -> bool {
    let reads = |kind| matches!(kind, Loop::Load | Loop::LoadStrided | Loop::Gather);
    let structure = |kind| matches!(kind, Loop::For | Loop::Upto | Loop::Guard | Loop::Yield);
    match op.kind() {
        Some(Kind::Loop(kind)) => !reads(kind) && !structure(kind),
        _ => !is_pure(op),
    }
}

/// Moves operations under a condition, before an operation that may be one of them.
fn put_under<'c>(before: Op<'c>, condition: Scalar<'c>, ops: &[Op<'c>]) {
    // What the guard is built before must not move into it.
    let place = Loops { build: Build::before(before) }.scalars().index(0);
    let Some(place) = defining_op(place) else { return };
    let build = Build::before(place).at(before.location());
    Loops { build }.guard(condition, |inside| {
        // The terminator is built behind what is moved.
        let mark = inside.scalars().index(0);
        if let Some(mark) = defining_op(mark) {
            ops.iter().for_each(|op| op.move_before_op(mark));
            mark.erase();
        }
    });
    place.erase();
}

/// The value of an operation's only result.
fn result<'c>(op: Op<'c>) -> Option<Value<'c>> {
    op.result_values().first().copied()
}
