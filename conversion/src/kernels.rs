//! Object code of kernels: each in an MLIR context of its own, on as many threads as are wanted, or from the cache.
//!
//! A worker takes the largest kernel that nobody has taken, so that no large one begins when all others are done. The program around them
//! is compiled meanwhile, and counts as one of those that are compiled at a time. Objects come
//! back in the order of the kernels, and of several failures the one of the first kernel taken is told: nothing depends on
//! which thread did what.

use crate::cache::{Cache, Key, compiler};
use crate::error::CompileError;
use crate::pipelines::{LLVM, LOOP};
use crate::runner::Runner;
use crate::units::Unit;
use fusion_dialects::{Context, Emit, Target, emit, load_worker_context, parse_module, span, span_of};
use fusion_targets::cpu;
use fusion_targets::gpu::Device;
use fusion_targets::stage::Stage;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// LLVM recurses more deeply than the stacks that threads have by default allow.
const STACK_BYTES: usize = 64 << 20;

/// How kernels are compiled.
pub struct Workshop<'a> {
    /// What for.
    pub target: &'a Target,
    /// The GPU that runs them, if one does; what code is for is then its host.
    pub device: Option<&'a Device>,
    /// How many at a time.
    pub jobs: usize,
    /// Where compiled ones are kept.
    pub cache: Option<&'a Cache>,
}

/// Compiled kernels.
#[derive(Default)]
pub struct Objects {
    /// An object each, in their order.
    pub objects: Vec<Vec<u8>>,
    /// Seconds of each stage, of all kernels together.
    pub timings: Vec<(&'static str, f64)>,
    /// How many came from the cache.
    pub cached: usize,
}

/// What became of one.
struct Done {
    object: Vec<u8>,
    timings: Vec<(&'static str, f64)>,
    cached: bool,
    /// Its entry in the cache, where it was put there.
    written: Option<Key>,
}

impl Workshop<'_> {
    /// Compiles all of them.
    pub fn compile(&self, units: &[Unit]) -> Result<Objects, CompileError> {
        self.compile_beside(units, || ()).map(|(objects, ())| objects)
    }

    /// The same, and does something else meanwhile, on this thread.
    pub fn compile_beside<R>(
        &self,
        units: &[Unit],
        around: impl FnOnce() -> R,
    ) -> Result<(Objects, R), CompileError> {
        let mut order: Vec<usize> = (0..units.len()).collect();
        order.sort_by_key(|i| std::cmp::Reverse(units[*i].content.len()));
        let (next, outcomes) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let pipelines = self.pipelines();
        let _kernels = span("kernels");
        // What all keys have in common.
        let common = self.cache.and_then(|_| self.fingerprint(&pipelines));
        let work = || {
            let mut context = None;
            while let Some(at) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                let outcome = self.one(&units[*at], (common.as_ref(), &pipelines), &mut context);
                if outcome.is_err() {
                    next.store(order.len(), Ordering::Relaxed);
                }
                outcomes.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((*at, outcome));
            }
        };
        let around = std::thread::scope(|scope| {
            let begin = || {
                let worker = std::thread::Builder::new().stack_size(STACK_BYTES);
                worker.spawn_scoped(scope, work).is_ok()
            };
            let beside = self.jobs.min(units.len()).saturating_sub(1);
            let _ = (0..beside).all(|_| begin());
            let around = around();
            begin();
            around
        });
        // Where the system gives no thread, this one does what is left.
        work();
        let mut outcomes = outcomes.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        outcomes.sort_by_key(|(at, outcome)| {
            (outcome.is_ok(), order.iter().position(|i| i == at).filter(|_| outcome.is_err()), *at)
        });
        if let Some(cache) = self.cache {
            let written = outcomes.iter().filter_map(|(_, outcome)| outcome.as_ref().ok()?.written);
            // As the cache says: one that cannot be written is no failure.
            let _ = cache.trim(&written.collect::<Vec<_>>());
        }
        let mut all = Objects::default();
        for (_, outcome) in outcomes {
            let done = outcome?;
            all.objects.push(done.object);
            all.cached += usize::from(done.cached);
            for (stage, seconds) in done.timings {
                match all.timings.iter_mut().find(|(name, _)| *name == stage) {
                    Some((_, sum)) => *sum += seconds,
                    None => all.timings.push((stage, seconds)),
                }
            }
        }
        Ok((all, around))
    }

    /// One kernel; `context` is the worker's, made when first needed.
    fn one(
        &self,
        unit: &Unit,
        (common, pipelines): (Option<&Key>, &[(&'static str, String)]),
        context: &mut Option<Context>,
    ) -> Result<Done, CompileError> {
        let _kernel = span_of("kernel", &unit.name);
        let mut runner = Runner::of_kernel(&unit.name);
        runner.replace(pipelines.to_vec());
        let entry = self.cache.zip(common).map(|(cache, common)| {
            let mut hash = blake3::Hasher::new_keyed(common.as_bytes());
            // Neither holds a NUL.
            hash.update(unit.symbol.as_bytes()).update(b"\0").update(unit.content.as_bytes());
            (cache, hash.finalize())
        });
        // Who wants to see the stages wants them to run.
        if let Some(object) = entry.filter(|_| !runner.dumps()).and_then(|(cache, key)| cache.get(&key)) {
            return Ok(Done { object, timings: Vec::new(), cached: true, written: None });
        }
        let context = context.get_or_insert_with(load_worker_context);
        // Errors call a kernel what its program calls it, and the first says which it is.
        let told = |errors: Vec<String>| {
            let mut errors: Vec<String> = errors.iter().map(|e| unit.told(e)).collect();
            if let Some(first) = errors.first_mut().filter(|e| !e.contains(&unit.name)) {
                first.push_str(&format!(" (in kernel @{})", unit.name));
            }
            CompileError::Stage(errors)
        };
        let module = parse_module(context, &unit.source).map_err(told)?;
        for stages in self.stages() {
            runner.run(&module, stages).map_err(told)?;
        }
        runner.run(&module, LLVM).map_err(told)?;
        let start = std::time::Instant::now();
        let object = emit(&module, self.target, Emit::Object)?;
        runner.timings.push(("llvm", start.elapsed().as_secs_f64()));
        // As the cache says: one that cannot be written is no failure.
        let written = entry.filter(|(cache, key)| cache.put(key, &object).is_ok()).map(|(_, key)| key);
        Ok(Done { object, timings: runner.timings, cached: false, written })
    }

    /// What the machine has done in its own way.
    fn pipelines(&self) -> Vec<(&'static str, String)> {
        self.device.map_or_else(|| cpu::pipelines(self.target), Device::pipelines)
    }

    /// From loops to what LLVM's stages go on with.
    fn stages(&self) -> Vec<&'static [Stage]> {
        self.device.map_or_else(|| vec![LOOP], Device::stages)
    }

    /// A hash of what code follows from besides the kernel; none where it is not known which compiler this is.
    fn fingerprint(&self, pipelines: &[(&'static str, String)]) -> Option<Key> {
        let program = compiler()?.metadata().ok()?;
        let built = program.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        let target = self.target.resolved();
        let mut parts = vec![
            // A compiler under development keeps its version while what it does changes.
            format!("{} {} {}", env!("CARGO_PKG_VERSION"), program.len(), built.as_nanos()),
            format!("{} {}", target.optimization, target.vector_width),
            target.triple,
            target.cpu,
            target.features,
        ];
        let stages = self.stages().into_iter().chain([LLVM]).flatten();
        parts.extend(stages.map(|stage| stage.pipeline.to_owned()));
        parts.extend(pipelines.iter().map(|(_, pipeline)| pipeline.clone()));
        Some(blake3::hash(parts.join("\0").as_bytes()))
    }
}
