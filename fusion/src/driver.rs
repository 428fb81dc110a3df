//! A model to a compiled one: the only file that puts the parts of the compiler together.

pub use crate::compilation::{Code, CompileOptions, Compiled, OwnedConstants, Predicted, Unfold};
use crate::compilation::{kernel, settings, tell};
pub use crate::error::DriverError;
use crate::error::failed;
use crate::language::prepare;
use crate::models::load_module;
use crate::passes::register_passes;
use crate::shapes::constrain;
use crate::source::Source;
pub use crate::target::{HOST, Target, TargetError};
use crate::{compilation, external, notes, programs, validate};
use fusion_conversion::compile::{self as conversion, Settings};
use fusion_conversion::description;
pub use fusion_conversion::planning::{LOOPS, switches};
use fusion_dialects::{Context, Module};
pub use fusion_egraph::Strategy;
use fusion_runtime::ModelDescription;
use fusion_runtime::description::{ArgumentDescription, KernelDescription};
use fusion_schedule::auto_schedule::ScheduleRemarks;
use fusion_targets::gpu::Device;
use fusion_targets::gpu::resources::{self, Resources};
use indexmap::IndexMap;

/// Compiles a model: ONNX, Relay text or MLIR, by its file extension.
pub fn compile<'a>(model: impl Into<Source<'a>>, options: &CompileOptions) -> Result<Compiled, DriverError> {
    register_passes();
    let model = &model.into();
    let context = fusion_dialects::load_context();
    let import = fusion_dialects::span("import");
    let (mut module, specialized) = load_module(&context, model, &options.shapes, &options.bound)?;
    drop(import);
    constrain(&module, &options.shapes, &options.likely)?;
    options.run_passes(&module)?;
    if prepare(&mut module, model, options)? {
        return programs::ahead_of_time(&context, &module, model, options);
    }
    compile_graph(&context, &module, &specialized, model.name(), options)
}

/// Compiles a module of operators alone, which relies on the values of some inputs.
pub(crate) fn compile_graph(
    context: &Context,
    module: &Module,
    specialized: &[String],
    name: String,
    options: &CompileOptions,
) -> Result<Compiled, DriverError> {
    let scratch = options.explain.then(tempfile::tempdir).transpose().map_err(failed)?;
    let remarks = scratch.as_ref().map(|directory| directory.path().join("remarks.json"));
    let kinds = scratch.as_ref().map(|directory| directory.path().join("kinds.json"));
    let external = external::compile(module, options.target.device().is_none())?;
    let settings = Settings { external, ..settings(options, remarks.clone(), kinds.clone()) };
    let report = options.validate.clone().map(|settings| {
        // What a function calls is run with it, so nobody else may change the module.
        context.enable_multi_threading(false);
        validate::start(settings)
    });
    let made = conversion::compile(module, &settings).map_err(failed);
    if let Some(report) = report {
        for line in report.lock().unwrap_or_else(std::sync::PoisonError::into_inner).lines() {
            notes::tell(line);
        }
    }
    let made = made?;
    if std::env::var_os("FUSION_TIMING").is_some() {
        tell(&made.timings, settings.jobs);
    }
    for why in &made.refused {
        notes::tell(format_args!("note: {why}; the default is taken, as if the tuning log did not have it"));
    }
    for input in specialized {
        notes::tell(format_args!("note: the compiled model is for the given value of input {input:?}"));
    }
    let mut inputs = made.signature.inputs.iter().map(argument).collect::<Result<Vec<_>, DriverError>>()?;
    for input in inputs.iter_mut().filter(|input| specialized.contains(&input.name)) {
        input.value = options.bound.get(&input.name).map(|value| value.bytes().to_vec());
    }
    let predicted = made.kernels.iter().map(Predicted::of).collect();
    let remarks = compilation::remarks(remarks)?;
    let kinds = match kinds.filter(|file| file.exists()) {
        Some(file) => ScheduleRemarks::read(&file).map_err(failed)?,
        None => ScheduleRemarks::default(),
    };
    let launches = match settings.device.as_ref().filter(|_| options.explain) {
        Some(device) => launches(device, &made)?,
        None => Vec::new(),
    };
    let mut kernels: Vec<KernelDescription> = made.kernels.into_iter().map(kernel).collect();
    for kernel in kernels.iter_mut().filter(|_| settings.device.is_some()) {
        kernel.function = made.places.get(&kernel.name).map(|(function, _)| function.clone());
    }
    let description = ModelDescription {
        name,
        target: options.target.name.clone(),
        inputs,
        outputs: made.signature.outputs.iter().map(argument).collect::<Result<_, _>>()?,
        kernels,
        program: None,
        device: options.target.device().and_then(runs_on),
        workspace_bytes: made.workspace_bytes,
    };
    let code = Code { objects: made.objects, libraries: Vec::new() };
    let constants = OwnedConstants::planned(made.constants);
    let (programs, tunable) = (made.programs, made.tunable);
    let tiles = Vec::new();
    Ok(Compiled {
        description,
        code,
        constants,
        predicted,
        tiles,
        launches,
        remarks,
        kinds,
        programs,
        tunable,
    })
}

/// What each kernel launches.
fn launches(
    device: &Device,
    compilation: &conversion::Compilation,
) -> Result<Vec<Vec<Resources>>, DriverError> {
    let assembler = resources::assembler();
    let mut read: IndexMap<usize, Vec<Resources>> = IndexMap::new();
    let mut all = Vec::new();
    for kernel in &compilation.kernels {
        let Some((symbol, at)) = compilation.places.get(&kernel.name) else {
            all.push(Vec::new());
            continue;
        };
        if !read.contains_key(at) {
            let object = compilation.objects.get(*at).map_or(&[][..], Vec::as_slice);
            read.insert(*at, resources::of_object(device, object, assembler.as_deref()).map_err(failed)?);
        }
        let own = |r: &&Resources| {
            let number = r.name.strip_prefix(symbol.as_str()).and_then(|rest| rest.strip_prefix('_'));
            number.is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
        };
        all.push(read.get(at).into_iter().flatten().filter(own).cloned().collect());
    }
    Ok(all)
}

/// What the run time calls what runs kernels.
fn runs_on(device: &Device) -> Option<fusion_runtime::gpu::Device> {
    use fusion_runtime::gpu::Device::{Cuda, Emulated, Hip};
    let number = device.number() as usize;
    [Cuda, Hip, Emulated].get(number.checked_sub(1)?).copied()
}

fn argument(port: &description::Port) -> Result<ArgumentDescription, DriverError> {
    let shape =
        port.ty.shape().ok_or_else(|| failed(format!("the shape of {:?} is not known", port.name)))?;
    let shape = shape.into_iter().map(|n| n as usize).collect();
    Ok(ArgumentDescription { name: port.name.clone(), dtype: port.ty.dtype, shape, value: None })
}

/// Imports a model into the relay dialect and gives its text.
pub fn import<'a>(model: impl Into<Source<'a>>) -> Result<String, DriverError> {
    let context = fusion_dialects::load_context();
    let (module, _) = load_module(&context, &model.into(), &IndexMap::new(), &IndexMap::new())?;
    Ok(format!("{}\n", module.as_operation()))
}
