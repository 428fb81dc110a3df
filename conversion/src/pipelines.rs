//! The stages a model goes through, in order. This list is the compiler.

use fusion_targets::gpu::stages::GPU_LOOP;
use fusion_targets::stage::{Stage, inner_of, stage};

/// On typed functional programs: simplify, decide the kernels.
pub const RELAY: &[Stage] = &[
    stage("simplify", "builtin.module(canonicalize,cse)"),
    stage("relay-loop-kernels", "builtin.module(relay-loop-kernels)"),
    stage("relay-optimize", "builtin.module(relay-optimize)"),
];

/// On programs as they were written: find all types out, and leave one function for each instance of a polymorphic one.
pub const TYPES: &[Stage] = &[
    stage("relay-infer-types", "builtin.module(relay-infer-types)"),
    stage("relay-check-match", "builtin.module(relay-check-match)"),
    stage("relay-monomorphise", "builtin.module(relay-monomorphise)"),
];

/// On programs of which some is known: run that, so that a recursion of known length becomes straight code.
pub const KNOWN: &[Stage] =
    &[stage("relay-partial-eval", "builtin.module(relay-partial-eval,canonicalize,cse)")];

/// The same with little fuel, to find out whether little is left.
pub const KNOWN_IF_SHORT: &[Stage] = &[stage(
    "relay-partial-eval",
    "builtin.module(relay-partial-eval{fuel=512 depth=512 specialisations=16},canonicalize,cse)",
)];

/// On programs of the whole language: simplify, bring constants to where they are used, take the tensor code out. It then goes
/// the way of a model.
pub const LANGUAGE: &[Stage] = &[
    stage("simplify-language", "builtin.module(canonicalize,cse)"),
    stage("relay-propagate-constants", "builtin.module(relay-propagate-constants)"),
    stage("relay-outline-kernels", "builtin.module(relay-outline-kernels)"),
];

/// On tensor code that a program calls, where it has strings: their numbers in its list take their place.
pub const STRINGS: &[Stage] = &[stage("relay-number-strings", "builtin.module(relay-number-strings)")];

/// To tensor expressions: say what each kernel computes. Then schedules written by hand join.
pub const DEFINE: &[Stage] = &[
    stage("convert-relay-to-te", "builtin.module(convert-relay-to-te)"),
    stage("te-simplify", "builtin.module(te.kernel(canonicalize,cse))"),
    stage("te-merge", "builtin.module(te.kernel(te-merge,canonicalize,cse))"),
];

/// On tensor expressions: say how each kernel computes; make its loops.
pub const TE: &[Stage] = &[
    stage("te-schedule", "builtin.module(te-schedule)"),
    stage("te-pack-arguments", "builtin.module(te-pack-arguments)"),
    stage("te-lower", "builtin.module(te-lower)"),
];

/// On tensor code whose extents are known at run time only: one kernel, for all of them.
pub const DYNAMIC: &[Stage] = &[
    stage("convert-relay-to-te", "builtin.module(convert-relay-to-te)"),
    stage("te-simplify", "builtin.module(te.kernel(canonicalize,cse))"),
    stage("te-lower", "builtin.module(te-lower)"),
];

/// On the program around the kernels: give every tensor its memory.
pub const HOST: &[Stage] = &[stage("te-plan-memory", "builtin.module(te-plan-memory)")];

/// On loops: make straight vector code of the inner ones.
pub const LOOP: &[Stage] = &[
    stage("loop-share", "builtin.module(func.func(loop-share))"),
    stage("loop-simplify", "builtin.module(func.func(canonicalize,cse,loop-simplify))"),
    stage("loop-vectorize", "builtin.module(func.func(loop-vectorize,canonicalize,cse))"),
    stage("loop-unroll", "builtin.module(func.func(loop-unroll,canonicalize,cse))"),
    // Copies have constant indices: guards that only depend on them are decided.
    stage("loop-transpose", "builtin.module(func.func(loop-transpose,canonicalize,cse))"),
    stage("loop-clean", "builtin.module(func.func(loop-simplify,canonicalize,cse,loop-simplify))"),
    stage("loop-overlap", "builtin.module(func.func(loop-overlap,loop-fuse,canonicalize,cse))"),
    stage("loop-value-ranges", "builtin.module(func.func(loop-value-ranges,loop-signs))"),
    stage("loop-stream", "builtin.module(func.func(loop-stream))"),
    stage("loop-outline-parallel", "builtin.module(loop-outline-parallel)"),
    stage("convert-loop-to-scf", "builtin.module(func.func(convert-loop-to-scf))"),
];

/// On the program around kernels of a GPU.
pub const GPU_HOST: &[Stage] = &[stage("fusion-gpu-host", "builtin.module(fusion-gpu-host)")];

/// Upstream's way to LLVM.
pub const LLVM: &[Stage] = &[
    stage("simplify-scf", "builtin.module(func.func(canonicalize,cse))"),
    stage("math-approximate", "builtin.module(func.func(math-approximate{extremes=true}))"),
    stage(
        "convert-to-llvm",
        "builtin.module(\
         convert-math-to-funcs,convert-vector-to-scf,lower-affine,convert-scf-to-cf,expand-strided-metadata,lower-affine,\
         func.func(bf16-of-integers),arith-expand{include-bf16=true},\
         convert-vector-to-llvm{enable-x86vector=1},convert-ub-to-llvm,convert-math-to-llvm,convert-math-to-libm,\
         convert-vector-to-llvm,convert-index-to-llvm,convert-arith-to-llvm,finalize-memref-to-llvm{use-aligned-alloc=1},\
         convert-func-to-llvm{use-bare-ptr-memref-call-conv=1},convert-cf-to-llvm,reconcile-unrealized-casts,canonicalize,cse,\
         bf16-as-bits)",
    ),
    stage("fusion-parallel-calls", "builtin.module(fusion-parallel-calls)"),
    stage("fusion-gpu-calls", "builtin.module(fusion-gpu-calls)"),
    stage("fusion-c-interface", "builtin.module(fusion-c-interface)"),
];

/// Named pipelines of `fusion-opt`.
pub const NAMED: &[(&str, &str, &[&[Stage]])] = &[
    ("fusion-kernels", "From relay to loops: fuse, define, schedule, lower", &[RELAY, DEFINE, TE]),
    ("fusion-cpu-codegen", "From loops to LLVM for the CPU", &[LOOP, LLVM]),
    ("fusion-gpu-codegen", "From loops to functions of a GPU", &[GPU_LOOP]),
    (
        "fusion-cpu",
        "From relay to LLVM for the CPU: all stages in order",
        &[RELAY, DEFINE, TE, HOST, LOOP, LLVM],
    ),
];

/// Registers the named pipelines.
pub fn register() {
    for (name, description, parts) in NAMED {
        let inner: Vec<&str> = parts.iter().flat_map(|p| p.iter()).map(|s| inner_of(s.pipeline)).collect();
        fusion_dialects::register_pipeline(name, description, &inner.join(","));
    }
    for (name, pipeline) in fusion_targets::gpu::named_pipelines() {
        fusion_dialects::register_pipeline(&name, "From loops to the assembly of this GPU", &pipeline);
    }
}
