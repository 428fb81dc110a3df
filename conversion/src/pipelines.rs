//! The stages a model goes through, in order. This list is the compiler.

use crate::planning::Planning;
use fusion_dialects::{Module, run_passes};
use std::path::PathBuf;

/// A stage: its name in dumps and timings, and the pipeline it runs.
#[derive(Debug)]
pub struct Stage {
    /// Name.
    pub name: &'static str,
    /// A textual pipeline anchored at `builtin.module`.
    pub pipeline: &'static str,
}

const fn stage(name: &'static str, pipeline: &'static str) -> Stage {
    Stage { name, pipeline }
}

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

/// On loops for a GPU: as for a processor, but that loops bound to threads stay; then functions of the GPU.
pub const GPU_LOOP: &[Stage] = &[
    stage("loop-verify-sharing", "builtin.module(func.func(loop-verify-sharing))"),
    stage("loop-bind-warps", "builtin.module(func.func(loop-bind-warps))"),
    stage("loop-spread", "builtin.module(func.func(loop-spread))"),
    stage("loop-simplify", "builtin.module(func.func(canonicalize,cse,loop-simplify))"),
    stage("loop-vectorize", "builtin.module(func.func(loop-vectorize,canonicalize,cse))"),
    stage("loop-unroll", "builtin.module(func.func(loop-unroll,canonicalize,cse))"),
    stage("loop-clean", "builtin.module(func.func(loop-simplify,canonicalize,cse,loop-simplify))"),
    stage("loop-merge-equal", "builtin.module(func.func(loop-merge-equal,canonicalize,cse))"),
    stage("loop-value-ranges", "builtin.module(func.func(loop-value-ranges,loop-signs))"),
    stage("loop-fragments", "builtin.module(func.func(loop-fragments))"),
    stage("loop-store-once", "builtin.module(func.func(loop-store-once))"),
    stage("loop-pipeline", "builtin.module(func.func(loop-pipeline,loop-unroll,canonicalize,cse))"),
    stage("loop-insert-barriers", "builtin.module(func.func(loop-insert-barriers))"),
    stage("loop-verify-gpu", "builtin.module(func.func(loop-verify-gpu))"),
    stage("math-approximate", "builtin.module(func.func(math-approximate{doubles=true exp2=true}))"),
    stage("gpu-math", "builtin.module(func.func(gpu-math))"),
    stage("convert-loop-to-gpu", "builtin.module(convert-loop-to-gpu,gpu.module(canonicalize,cse))"),
];

/// From functions of a GPU, in LLVM by its vendor's stages, to bytes.
pub const GPU_IMAGE: &[Stage] = &[stage("fusion-gpu-image", "builtin.module(fusion-gpu-image)")];

/// From functions of a GPU to functions of the host.
pub const GPU_EMULATED: &[Stage] = &[stage("gpu-emulate", "builtin.module(gpu-emulate)")];

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
    for (name, pipeline) in crate::targets::gpu::named_pipelines() {
        fusion_dialects::register_pipeline(&name, "From loops to the assembly of this GPU", &pipeline);
    }
}

/// What stands in a pipeline for modules.
pub(crate) fn inner_of(pipeline: &str) -> &str {
    pipeline.strip_prefix("builtin.module(").and_then(|p| p.strip_suffix(')')).unwrap_or(pipeline)
}

/// Runs stages; with `FUSION_DUMP=dir` in the environment, one numbered file a stage is written there, those of a kernel into
/// a folder of its name.
pub struct Runner {
    dump: Option<PathBuf>,
    number: usize,
    last: String,
    /// Pipelines in place of those of some stages, by name; stages without one are left out.
    instead: Vec<(&'static str, Option<String>)>,
    /// Seconds of each stage so far.
    pub timings: Vec<(&'static str, f64)>,
}

impl Default for Runner {
    fn default() -> Self {
        Runner {
            dump: std::env::var_os("FUSION_DUMP").map(PathBuf::from),
            number: 0,
            last: String::new(),
            instead: Vec::new(),
            timings: Vec::new(),
        }
    }
}

impl Runner {
    /// For a program whose kernels are chosen like that.
    pub fn for_plan(planning: &Planning) -> Runner {
        Runner { instead: planning.instead(), ..Runner::default() }
    }

    /// For a kernel by itself.
    pub fn of_kernel(name: &str) -> Runner {
        let mut runner = Runner::default();
        if let Some(dir) = &mut runner.dump {
            dir.push(name);
        }
        runner
    }

    /// For tensor code of a larger program, whose kernels are chosen like that.
    pub fn of_segment(planning: &Planning, name: &str) -> Runner {
        Runner { instead: planning.instead(), ..Runner::of_kernel(name) }
    }

    /// Adds the times of another.
    pub fn add(&mut self, other: Runner) {
        for (stage, seconds) in other.timings {
            match self.timings.iter_mut().find(|(name, _)| *name == stage) {
                Some((_, sum)) => *sum += seconds,
                None => self.timings.push((stage, seconds)),
            }
        }
    }

    /// Another pipeline for a stage.
    pub fn replace(&mut self, stages: Vec<(&'static str, String)>) {
        self.instead.extend(stages.into_iter().map(|(name, pipeline)| (name, Some(pipeline))));
    }

    /// Whether the stages are written to files.
    pub fn dumps(&self) -> bool {
        self.dump.is_some()
    }

    /// Runs stages on a module; the errors have their locations.
    pub fn run(&mut self, module: &Module, stages: &'static [Stage]) -> Result<(), Vec<String>> {
        if self.number == 0 {
            self.write("input", module)?;
        }
        for stage in stages {
            let pipeline = match self.instead.iter().find(|(name, _)| *name == stage.name) {
                Some((_, None)) => continue,
                Some((_, Some(other))) => other,
                None => stage.pipeline,
            };
            let start = std::time::Instant::now();
            run_passes(module, pipeline)?;
            self.timings.push((stage.name, start.elapsed().as_secs_f64()));
            self.write(stage.name, module)?;
        }
        Ok(())
    }

    fn write(&mut self, name: &str, module: &Module) -> Result<(), Vec<String>> {
        let Some(dir) = &self.dump else { return Ok(()) };
        let text = module.as_operation().to_string();
        let path = dir.join(format!("{:02}-{name}.mlir", self.number));
        let content = if text == self.last { "// unchanged\n" } else { &text };
        std::fs::create_dir_all(dir)
            .and_then(|()| std::fs::write(&path, content))
            .map_err(|error| vec![format!("cannot write {}: {error}", path.display())])?;
        self.number += 1;
        self.last = text;
        Ok(())
    }
}
