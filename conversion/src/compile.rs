//! From a relay module to code: the stages of [`crate::pipelines`], with what must be read off between them.
//!
//! Up to the plan of memory the module is one. Then the kernels leave it ([`crate::units`]) and are compiled by themselves
//! ([`crate::kernels`]); what is left, the function that calls them, is compiled here. Each becomes an object.

use crate::cache::Cache;
use crate::description::Signature;
use crate::error::{CompileError, failed};
use crate::kernels::Workshop;
use crate::pipelines::{DEFINE, GPU_HOST, HOST, LLVM, LOOP, RELAY, TE};
use crate::planning::Planning;
use crate::runner::Runner;
use crate::tuned::{self, Choices, Tunable};
use crate::units::Unit;
use fusion_dialects::module::{FpMath, attach_target, detach_target};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{Emit, Module, Op, OpExt, emit, kind_of, nested_ops, str_attr, tensor_type, top_level};
use fusion_egraph::extract::calls::arithmetic;
use fusion_egraph::extract::rates::Rates;
use fusion_egraph::unrolling::runs;
use fusion_machine::{Target, roof};
use fusion_operators::{Call, TensorType};
use fusion_relay::loop_kernels::{UNROLL, loop_of, steps};
use fusion_targets::c_interface::{MAPPED, RUN_NAME};
use fusion_targets::cpu::Processor;
use fusion_targets::gpu::Device;
pub use fusion_te_to_loop::plan_memory::PlannedConstants;
use fusion_te_to_loop::plan_memory::{ENTRY, WORKSPACE_BYTES, entry_of, read_constants, strip_constants};
use indexmap::IndexMap;
use std::collections::HashMap;
use std::path::PathBuf;

/// A compiled module.
pub struct Compilation {
    /// What `@main` takes and gives.
    pub signature: Signature,
    /// Bytes of workspace a call needs.
    pub workspace_bytes: u64,
    /// The weights.
    pub constants: PlannedConstants,
    /// The kernels in the order they run.
    pub kernels: Vec<Kernel>,
    /// The kernels as programs of their own, by name, where [`Settings::programs`] asks for them.
    pub programs: IndexMap<String, String>,
    /// What there is to choose for the kernels, by name, where [`Settings::spaces`] asks for it.
    pub tunable: IndexMap<String, Tunable>,
    /// Why choices were not taken, a sentence each.
    pub refused: Vec<String>,
    /// Where the code of kernels is: the function it is in, and the number of its object, by the kernel's name.
    pub places: IndexMap<String, (String, usize)>,
    /// Object files: the one with `fusion_run` first, then those of the kernels that differ.
    pub objects: Vec<Vec<u8>>,
    /// What took how long.
    pub timings: Timings,
}

/// Seconds of each stage.
#[derive(Clone, Debug, Default)]
pub struct Timings {
    /// Of the stages of the whole program, and of all kernels together as the clock on the wall saw it.
    pub program: Vec<(&'static str, f64)>,
    /// Of the stages of each kernel, summed over kernels.
    pub kernels: Vec<(&'static str, f64)>,
    /// Kernels that differ.
    pub compiled: usize,
    /// Those of them that were in the cache.
    pub cached: usize,
}

/// How to compile.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What for.
    pub processor: Processor,
    /// The GPU that runs the kernels, if one does; the processor is then its host.
    pub device: Option<Device>,
    /// How many kernels at a time.
    pub jobs: usize,
    /// Where compiled kernels are kept, if anywhere.
    pub cache: Option<Cache>,
    /// Files of schedules written by hand.
    pub schedules: Vec<PathBuf>,
    /// How kernels are chosen.
    pub planning: Planning,
    /// What arithmetic of floats may be taken for; where nothing is asked for, what the module says.
    pub fp_math: Option<FpMath>,
    /// Whether the kernels are wanted as programs of their own as well.
    pub programs: bool,
    /// Choices that were measured, in place of those of least estimate.
    pub choices: Choices,
    /// Whether it is wanted what there is to choose for each kernel.
    pub spaces: bool,
    /// Objects of kernels that other code generators compiled, by the kernels' names, which are the symbols that they define.
    pub external: IndexMap<String, Vec<u8>>,
    /// Whether the weights are mapped before the first run: `fusion_run` is then what does so and calls the model's code.
    pub weights_outside: bool,
}

impl Settings {
    /// What passes know of the machine that runs the kernels.
    pub fn description(&self) -> &Target {
        self.device.as_ref().map_or(&self.processor.description, |device| &device.description)
    }

    /// The arithmetic of a module, which is noted there.
    pub(crate) fn arithmetic(&self, module: Op) -> Result<FpMath, CompileError> {
        let said = FpMath::given(module).map_err(failed)?;
        if let Some(asked) = self.fp_math {
            asked.attach(module);
        }
        Ok(self.fp_math.or(said).unwrap_or_default())
    }
}

impl Default for Settings {
    /// For this machine, one kernel after another.
    fn default() -> Self {
        Settings {
            processor: Processor::host(),
            device: None,
            jobs: 1,
            cache: None,
            schedules: Vec::new(),
            planning: Planning::default(),
            fp_math: None,
            programs: false,
            choices: Choices::default(),
            spaces: false,
            external: IndexMap::new(),
            weights_outside: false,
        }
    }
}

/// A kernel of a compiled module.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// The operators fused into it, each with where it comes from.
    pub operators: Vec<String>,
    /// Arithmetic operations of one run.
    pub flops: u64,
    /// Bytes read and written by one run.
    pub bytes: u64,
    /// Seconds of one run on one core, by the roofline that kernels are chosen by.
    pub seconds: f64,
    /// How often it runs, by the loops of known length that it is in; 0 where that depends on the sizes of dynamic shapes.
    pub runs: u64,
}

/// Compiles a module whose function `@main` is the model.
pub fn compile(module: &Module, settings: &Settings) -> Result<Compilation, CompileError> {
    let mut runner = Runner::for_plan(&settings.planning);
    let Planned { signature, workspace_bytes, constants, kernels, programs, tunable, refused, units } =
        plan(module, settings, &mut runner)?;
    let stage = CompileError::Stage;
    let Settings { processor: Processor { target, .. }, device, jobs, cache, .. } = settings;
    let around = || -> Result<Vec<u8>, CompileError> {
        if settings.weights_outside
            && let Some(main) = entry_of(fusion_dialects::module_op(module))
        {
            main.set_attr(RUN_NAME, str_attr(main.context_ref(), MAPPED));
        }
        if let Some(device) = device {
            runner.replace(device.pipelines());
            runner.run(module, GPU_HOST).map_err(stage)?;
        }
        runner.run(module, LOOP).map_err(stage)?;
        runner.run(module, LLVM).map_err(stage)?;
        let start = std::time::Instant::now();
        let object = emit(module, target, Emit::Object)?;
        runner.timings.push(("llvm", start.elapsed().as_secs_f64()));
        Ok(object)
    };
    let start = std::time::Instant::now();
    let workshop = Workshop { target, device: device.as_ref(), jobs: *jobs, cache: cache.as_ref() };
    let (made, around) = workshop.compile_beside(&units, around)?;
    runner.timings.push(("kernels", start.elapsed().as_secs_f64()));
    let mut objects = vec![around?];
    objects.extend(made.objects);
    objects.extend(settings.external.values().cloned());
    let (compiled, cached) = (units.len(), made.cached);
    let names = |(at, unit): (usize, &Unit)| {
        let place = (unit.symbol.clone(), at + 1);
        unit.names.clone().into_iter().map(move |name| (name, place.clone()))
    };
    let places = units.iter().enumerate().flat_map(names).collect();
    let timings = Timings { program: runner.timings, kernels: made.timings, compiled, cached };
    Ok(Compilation {
        signature,
        workspace_bytes,
        constants,
        kernels,
        programs,
        tunable,
        refused,
        places,
        objects,
        timings,
    })
}

/// A module whose memory is planned and whose kernels have left it.
pub(crate) struct Planned {
    /// As in [`Compilation`].
    pub signature: Signature,
    /// As in [`Compilation`].
    pub workspace_bytes: u64,
    /// As in [`Compilation`].
    pub constants: PlannedConstants,
    /// As in [`Compilation`].
    pub kernels: Vec<Kernel>,
    /// As in [`Compilation`].
    pub programs: IndexMap<String, String>,
    /// As in [`Compilation`].
    pub tunable: IndexMap<String, Tunable>,
    /// As in [`Compilation`].
    pub refused: Vec<String>,
    /// The kernels that differ.
    pub units: Vec<Unit>,
}

/// The stages of the whole program: afterwards the module is a function over memory that calls kernels.
pub(crate) fn plan(
    module: &Module,
    settings: &Settings,
    runner: &mut Runner,
) -> Result<Planned, CompileError> {
    let decided = decide(module, settings, runner)?;
    finish(module, decided, settings, runner)
}

/// A module whose kernels are chosen.
pub(crate) struct Decided {
    signature: Signature,
    fp_math: FpMath,
    programs: IndexMap<String, String>,
    /// As in [`Compilation`].
    pub kernels: Vec<Kernel>,
}

/// The first of these stages: which kernels there are, and what they take by the roofline.
pub(crate) fn decide(
    module: &Module,
    settings: &Settings,
    runner: &mut Runner,
) -> Result<Decided, CompileError> {
    let root = fusion_dialects::module_op(module);
    let fp_math = settings.arithmetic(root)?;
    let target = settings.description().clone();
    let target = if fp_math.is_fast() { target.with_rounded_factors() } else { target };
    attach_target(&target, root);
    let signature = Signature::of(root, ENTRY)?;
    let stage = CompileError::Stage;
    runner.run(module, RELAY).map_err(stage)?;
    let kernels = kernels_of(root, &Rates::of(&target).with(fp_math));
    let is_tuned = settings.spaces || !settings.choices.is_empty();
    let programs = if settings.programs || is_tuned { crate::alone::programs(root) } else { IndexMap::new() };
    Ok(Decided { signature, fp_math, programs, kernels })
}

/// The other stages.
pub(crate) fn finish(
    module: &Module,
    decided: Decided,
    settings: &Settings,
    runner: &mut Runner,
) -> Result<Planned, CompileError> {
    let Decided { signature, fp_math, programs, kernels } = decided;
    let root = fusion_dialects::module_op(module);
    let is_tuned = settings.spaces || !settings.choices.is_empty();
    let stage = CompileError::Stage;
    runner.run(module, DEFINE).map_err(stage)?;
    for path in &settings.schedules {
        crate::schedules::add(module, path).map_err(stage)?;
    }
    let (mut tunable, mut refused) = (IndexMap::new(), Vec::new());
    if is_tuned && settings.device.is_none() {
        let arithmetic = format!("{} {:?}", fp_math.level.name(), fp_math.max_error);
        let hashes = programs.iter().map(|(name, p)| (name.clone(), tuned::hash(name, p, &arithmetic)));
        let hashes = hashes.collect();
        refused = tuned::attach(root, &hashes, &settings.choices)?;
        if settings.spaces {
            tunable = tuned::tunable(root, &hashes, &programs)?;
        }
    }
    crate::external::keep_layouts(root, &settings.external);
    runner.run(module, TE).map_err(stage)?;
    runner.run(module, HOST).map_err(stage)?;
    let entry = entry_of(root);
    let workspace_bytes = entry.and_then(|f| f.int(WORKSPACE_BYTES)).unwrap_or(0) as u64;
    let constants = read_constants(root).map_err(failed)?;
    strip_constants(root);
    // Loops have no decisions left that would go by it.
    detach_target(root);
    crate::external::declare(root, &settings.external);
    let units = crate::units::take(root);
    Ok(Planned { signature, workspace_bytes, constants, kernels, programs, tunable, refused, units })
}

/// The kernels that `@main` calls, in order, from the facts of their operators.
fn kernels_of(root: Op, rates: &Rates) -> Vec<Kernel> {
    let functions = top_level(root, |k| matches!(k, Kind::Upstream(Upstream::Func)));
    let by_name: HashMap<&str, Op> =
        functions.iter().filter_map(|f| Some((f.text("sym_name")?, *f))).collect();
    let Some(main) = by_name.get(ENTRY) else { return Vec::new() };
    let calls = nested_ops(*main)
        .into_iter()
        .filter(|op| matches!(kind_of(*op), Some(Kind::Upstream(Upstream::Call))));
    calls
        .filter_map(|call| {
            let name = call.text("callee")?;
            let function = by_name.get(name)?;
            Some(describe(name, call, *function, rates))
        })
        .collect()
}

fn describe(name: &str, call: Op, function: Op, rates: &Rates) -> Kernel {
    let types = |values: Vec<fusion_dialects::Value>| -> Vec<TensorType> {
        values.into_iter().filter_map(tensor_type).collect()
    };
    let moved = [types(call.operand_values()), types(call.result_values())].concat();
    let bytes = moved.iter().filter_map(TensorType::bytes).sum();
    let memory: f64 = moved.iter().filter_map(TensorType::bytes).map(|b| rates.moving(b as f64)).sum();
    let (mut operators, mut flops, mut compute) = (Vec::new(), 0.0, 0.0);
    // A loop that is a kernel has its own price, and does all of its steps in one run.
    let looped = loop_of(function).and_then(|op| Some((op, steps(op)?)));
    let trips = looped.map_or(1.0, |(_, steps)| steps.trips as f64);
    for op in nested_ops(function) {
        if let Some(Kind::Operator(operator)) = kind_of(op) {
            let (operands, results) = (types(op.operand_values()), types(op.result_values()));
            let attrs = op.attrs();
            let call = Call { op: operator, operands: &operands, attrs: &attrs };
            flops += trips * (operator.cost)(&call, &results);
            compute += arithmetic(&call, &results, rates);
            operators.push(operator.name.to_owned());
        }
    }
    if let Some((op, steps)) = looped {
        let together = op.int(UNROLL).and_then(|n| u64::try_from(n).ok()).unwrap_or(1);
        compute = rates.loops.seconds(&steps, together);
    }
    let seconds = rates.call + roof(compute, memory);
    Kernel { name: name.to_owned(), operators, flops: flops as u64, bytes, seconds, runs: runs(call) }
}
