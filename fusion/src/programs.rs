//! The facade for programs of the whole language: those that the kernels' graph of a model is not enough for.
//!
//! ```text
//!   model --load--> relay --types--+--> interp   the interpreter, on relay itself
//!                                  +--> graph    driver::compile: kernels in order, memory planned; operators, if and while only
//!                                  +--> bytecode and kernels --+--> vm    the virtual machine
//!                                                              +--> aot   native code, in a library with the C interface
//! ```

use crate::compilation::{self, Code, CompileOptions, Compiled, OwnedConstants, Predicted};
use crate::error::{DriverError, Error, failed};
pub use crate::language::may_be_program;
use crate::language::{ENTRY, input_names, prepare};
use crate::models::load_module;
use crate::package::package;
use crate::passes::register_passes;
use crate::shapes::{check, constrain};
use crate::source::Source;
use fusion_bytecode::ProgramFile;
use fusion_conversion::program::{ProgramCompilation, compile_program};
use fusion_dialects::{Context, Module, module_op};
use fusion_interpreter::Limits;
use fusion_operators::{Item, Tensor, ValueTree};
use fusion_programs::bytecode_to_llvm::{BytecodeError, compile_with_kernels};
use fusion_runtime::description::output_name;
use fusion_runtime::package::{CodeObject, Package};
use fusion_runtime::vm::{KernelLibrary, Machine, TEXT};
use fusion_runtime::{ModelDescription, NativeProgram};
use fusion_schedule::auto_schedule::ScheduleRemarks;
use indexmap::IndexMap;
use std::path::{Path, PathBuf};

/// True for files that hold a program in the form of the virtual machine.
pub fn is_bytecode(path: &Path) -> Result<bool, Error> {
    use std::io::Read;
    if path.extension().is_some_and(|extension| extension == TEXT) {
        return Ok(true);
    }
    let mut start = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(8).read_to_end(&mut start));
    read.map_err(Error::file("read", path))?;
    Ok(ProgramFile::is_one(&start))
}

/// What a program is run on, by name.
pub type Inputs = IndexMap<String, ValueTree>;

/// Puts named values into the order of a program's inputs. Names that numpy makes up (`arr_0`...) stand for positions.
fn ordered(names: &[String], mut tensors: Inputs) -> Result<Vec<ValueTree>, Error> {
    let made_up = tensors.keys().enumerate().all(|(i, name)| *name == format!("arr_{i}"));
    if made_up && tensors.len() == names.len() && !names.iter().any(|name| tensors.contains_key(name)) {
        return Ok(tensors.into_values().collect());
    }
    let all = || if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    if let Some(name) = tensors.keys().find(|name| !names.contains(name)) {
        return Err(Error::Inputs(format!("the program has no input {name:?}; its inputs are {}", all())));
    }
    let missing = |name: &String| {
        Error::Inputs(format!("the program's input {name:?} was not given; its inputs are {}", all()))
    };
    names.iter().map(|name| tensors.shift_remove(name).ok_or_else(|| missing(name))).collect()
}

/// Values that a function gives as one: a tuple when there are several.
pub fn joined(mut values: Vec<ValueTree>) -> ValueTree {
    if values.len() == 1 { values.remove(0) } else { ValueTree::tuple(values) }
}

/// The tensors of a value that is a tensor or a tuple of tensors, with names.
pub fn tensors_of(value: &ValueTree) -> Result<Vec<(String, Tensor)>, Error> {
    let tensors: Vec<&Tensor> = match &value.items[..] {
        [Item::Tensor(tensor)] => vec![tensor],
        [Item::Tuple(_), elements @ ..] => {
            let tensor = |item: &'_ Item| matches!(item, Item::Tensor(_));
            if !elements.iter().all(tensor) {
                return Err(Error::NoTensors("values that are no tensors".to_owned()));
            }
            elements
                .iter()
                .filter_map(|item| if let Item::Tensor(t) = item { Some(t) } else { None })
                .collect()
        }
        _ => return Err(Error::NoTensors("a value that is no tensor".to_owned())),
    };
    Ok(tensors.into_iter().enumerate().map(|(i, tensor)| (output_name(i), tensor.clone())).collect())
}

fn loaded<'c>(
    context: &'c Context,
    model: &Source,
    options: &CompileOptions,
) -> Result<(Module<'c>, bool), DriverError> {
    register_passes();
    let (mut module, _) = load_module(context, model, &options.shapes, &options.bound)?;
    constrain(&module, &options.shapes, &options.likely)?;
    options.run_passes(&module)?;
    let language = prepare(&mut module, model, options)?;
    Ok((module, language))
}

/// True when a model needs the whole language.
pub fn is_program(model: &Path, options: &CompileOptions) -> Result<bool, DriverError> {
    let context = fusion_dialects::load_context();
    loaded(&context, &Source::file(model), options).map(|(_, language)| language)
}

/// Runs a model in the interpreter.
pub fn interpret(model: &Path, options: &CompileOptions, inputs: Inputs) -> Result<ValueTree, Error> {
    with_interpreted(model, options, inputs, |run| run())
}

fn compiled(
    module: &Module,
    options: &CompileOptions,
    remarks: Option<PathBuf>,
) -> Result<ProgramCompilation, DriverError> {
    if options.target.device().is_some() {
        return Err(DriverError::NoPrograms(options.target.name.clone()));
    }
    let settings = compilation::settings(options, remarks, None);
    let made = compile_program(module, &settings).map_err(failed)?;
    if std::env::var_os("FUSION_TIMING").is_some() {
        compilation::tell(&made.timings, settings.jobs);
    }
    Ok(made)
}

/// Compiles a model to bytecode, and its kernels to a library.
pub fn bytecode(model: &Path, options: &CompileOptions) -> Result<ProgramFile, Error> {
    let context = fusion_dialects::load_context();
    let (module, _) = loaded(&context, &Source::file(model), options)?;
    let ProgramCompilation { program, objects, constants, .. } = compiled(&module, options, None)?;
    if program.kernels.is_empty() {
        return Ok(ProgramFile { program, library: Vec::new() });
    }
    let description =
        ModelDescription::of_program(&Source::file(model).name(), &options.target.name, &program);
    // A library of kernels is no program: it needs nothing of the language's runtime.
    let description = ModelDescription { program: None, ..description };
    let constants = OwnedConstants::whole(constants);
    let package = Package {
        description: &description,
        code: objects.iter().map(|bytes| CodeObject::Bytes(bytes)).collect(),
        constants: constants.borrow(),
        outside: None,
        libraries: Vec::new(),
        linker: None,
        own_linker: Some(fusion_linker::link),
    };
    let scratch = tempfile::tempdir().map_err(Error::file("write", &std::env::temp_dir()))?;
    let path = scratch.path().join("kernels.so");
    package.write_kernels(&path, program.kernels.iter().map(|kernel| kernel.symbol.as_str()))?;
    let library = std::fs::read(&path).map_err(Error::file("read", &path))?;
    Ok(ProgramFile { program, library })
}

/// A program in the virtual machine.
pub fn machine(file: ProgramFile, threads: Option<u16>) -> Result<Machine, Error> {
    let ProgramFile { program, library } = file;
    let machine = Machine::new(program, KernelLibrary::from_image(&library)?)?;
    if let Some(threads) = threads {
        machine.set_threads(threads);
    }
    Ok(machine)
}

/// The inputs of a program in the virtual machine, in order.
pub fn inputs_of_machine(machine: &Machine, inputs: Inputs) -> Result<Vec<ValueTree>, Error> {
    let names: Vec<String> = machine.program().inputs.iter().map(|(name, _)| name.clone()).collect();
    ordered(&names, inputs)
}

/// Runs a program in the virtual machine.
pub fn run_bytecode(file: ProgramFile, threads: Option<u16>, inputs: Inputs) -> Result<ValueTree, Error> {
    let mut machine = machine(file, threads)?;
    let inputs = inputs_of_machine(&machine, inputs)?;
    Ok(machine.run(&inputs)?)
}

/// Compiles a model ahead of time, whatever of the language it needs.
pub fn native(model: &Path, options: &CompileOptions) -> Result<Compiled, DriverError> {
    let context = fusion_dialects::load_context();
    let (module, _) = loaded(&context, &Source::file(model), options)?;
    ahead_of_time(&context, &module, &Source::file(model), options)
}

/// Compiles a module whose types are known ahead of time.
pub(crate) fn ahead_of_time(
    context: &Context,
    module: &Module,
    model: &Source,
    options: &CompileOptions,
) -> Result<Compiled, DriverError> {
    let scratch = options.explain.then(tempfile::tempdir).transpose().map_err(failed)?;
    let file = scratch.as_ref().map(|directory| directory.path().join("remarks.json"));
    let ProgramCompilation { program, mut objects, constants, kernels, tiles, .. } =
        compiled(module, options, file.clone())?;
    let remarks = compilation::remarks(file)?;
    let target = compilation::settings(options, None, None).processor.target;
    let native = compile_with_kernels(context, &program, constants, &target);
    let native = native.map_err(|error| match error {
        BytecodeError::Dynamic { .. } => DriverError::Unsupported(error.to_string()),
        other => failed(other),
    })?;
    objects.push(native.object);
    let kernels: Vec<_> = kernels.into_iter().flatten().collect();
    let predicted = kernels.iter().map(Predicted::of).collect();
    let mut description = ModelDescription::of_program(&model.name(), &options.target.name, &program);
    description.kernels = kernels.into_iter().map(compilation::kernel).collect();
    let code = Code { objects, libraries: Vec::new() };
    let constants = OwnedConstants::whole(native.constants);
    Ok(Compiled {
        description,
        code,
        constants,
        predicted,
        tiles,
        launches: Vec::new(),
        remarks,
        kinds: ScheduleRemarks::default(),
        programs: IndexMap::new(),
        tunable: IndexMap::new(),
    })
}

/// Runs a program that was compiled ahead of time.
pub fn run_native(program: &NativeProgram, threads: Option<u16>, inputs: Inputs) -> Result<ValueTree, Error> {
    if let Some(threads) = threads {
        program.module().set_threads(threads);
    }
    Ok(program.call(&inputs_of_native(program, inputs)?)?)
}

/// The inputs of a program that was compiled ahead of time, in order.
pub fn inputs_of_native(program: &NativeProgram, inputs: Inputs) -> Result<Vec<ValueTree>, Error> {
    let described = program.description().program.iter();
    let names: Vec<String> = described.flat_map(|p| p.inputs.iter().map(|(name, _)| name.clone())).collect();
    ordered(&names, inputs)
}

/// Loads a model for the interpreter; `run` may run it again and again.
pub fn with_interpreted<T>(
    model: &Path,
    options: &CompileOptions,
    inputs: Inputs,
    run: impl FnOnce(&mut dyn FnMut() -> Result<ValueTree, Error>) -> Result<T, Error>,
) -> Result<T, Error> {
    let context = fusion_dialects::load_context();
    let (module, _) = loaded(&context, &Source::file(model), options)?;
    let root = module_op(&module);
    let inputs = ordered(&input_names(root), inputs)?;
    check(&module, &inputs)?;
    run(&mut || Ok(joined(fusion_interpreter::run_program_on(root, ENTRY, &inputs, Limits::default())?)))
}

/// Links and loads a program that was just compiled ahead of time.
pub fn linked(compiled: &Compiled) -> Result<Option<NativeProgram>, Error> {
    let scratch = tempfile::tempdir().map_err(Error::file("write", &std::env::temp_dir()))?;
    let library = scratch.path().join("program.so");
    package(compiled, None, |package| package.write_library(&library))?;
    Ok(NativeProgram::load(&library)?)
}
