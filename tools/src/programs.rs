//! The facade for programs of the whole language: those that the kernels' graph of a model is not enough for.
//!
//! ```text
//!   model --load--> relay --types--+--> interp   the interpreter, on relay itself
//!                                  +--> graph    driver::compile: kernels in order, memory planned; operators, if and while only
//!                                  +--> bytecode and kernels --+--> vm    the virtual machine
//!                                                              +--> aot   native code, in a library with the C interface
//! ```

use crate::driver::{
    self, Code, CompileOptions, Compiled, DriverError, OwnedConstants, Predicted, Unfold, failed,
};
use crate::failure::Failure;
use fusion_bytecode::ProgramFile;
use fusion_conversion::bytecode_to_llvm::compile_with_kernels;
use fusion_conversion::description::NAME;
use fusion_conversion::pipelines::{KNOWN, KNOWN_IF_SHORT, Runner, TYPES};
use fusion_conversion::program::{ProgramCompilation, compile_program};
use fusion_dialects::relay::Op as Relay;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Context, Module, Op, OpExt, TypeParts, array_elements, dictionary_text, function_parts, module_op,
    nested_ops, str_attr, top_level, type_of_attr, type_parts,
};
use fusion_interpreter::Limits;
use fusion_operators::{Item, Tensor, ValueTree};
use fusion_relay::language::functions;
use fusion_runtime::description::output_name;
use fusion_runtime::package::{CodeObject, Package};
use fusion_runtime::vm::{KernelLibrary, Machine, TEXT};
use fusion_runtime::{ModelDescription, NativeProgram};
use indexmap::IndexMap;
use std::path::{Path, PathBuf};

/// The function that a program starts with.
pub(crate) const ENTRY: &str = "main";

/// How a program is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Executor {
    /// The reference interpreter, without compiling.
    Interp,
    /// The virtual machine, with compiled kernels.
    Vm,
    /// Compiled kernels in order; for models of operators, if and while alone.
    Graph,
    /// All of it compiled to native code.
    Aot,
}

/// True for files that hold a program in the form of the virtual machine.
pub fn is_bytecode(path: &Path) -> Result<bool, Failure> {
    use std::io::Read;
    if path.extension().is_some_and(|extension| extension == TEXT) {
        return Ok(true);
    }
    let mut start = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(8).read_to_end(&mut start));
    read.map_err(Failure::file("read", path))?;
    Ok(ProgramFile::is_one(&start))
}

fn is_text(model: &Path) -> bool {
    model.extension().is_some_and(|e| e == "relay" || e == "rly")
}

/// True for files that may hold programs of the whole language.
pub fn may_be_program(model: &Path) -> bool {
    is_text(model) || model.extension().is_some_and(|e| e == "mlir")
}

/// Finds the types of a program out, and runs what is known of it if that is wanted; says whether it needs the whole language.
pub(crate) fn prepare(
    module: &mut Module<'_>,
    model: &Path,
    options: &CompileOptions,
) -> Result<bool, DriverError> {
    let is_mlir = model.extension().is_some_and(|e| e == "mlir");
    let dynamic = is_mlir && takes_dynamic_tensors(module_op(module));
    if !is_text(model) && !dynamic && !needs_language(module_op(module)) {
        return Ok(false);
    }
    let run = |module: &Module, stages| {
        Runner::default().run(module, stages).map_err(|errors| failed(errors.join("\n")))
    };
    run(module, TYPES)?;
    match options.unfold {
        Unfold::Always => {
            close(module);
            run(module, KNOWN)?;
        }
        // Of a program that takes nothing, all would be run now and nothing later.
        Unfold::Bounded if takes_something(module_op(module)) => {
            let copy = Module::from_operation((*module.as_operation()).clone());
            if let Some(graph) = copy.filter(|copy| needs_language(module_op(copy))) {
                close(&graph);
                // What cannot be run when compiling, because it fails say, is left to the program.
                if run(&graph, KNOWN_IF_SHORT).is_ok() && is_small_graph(module_op(&graph)) {
                    *module = graph;
                }
            }
        }
        Unfold::Bounded | Unfold::Never => {}
    }
    if !needs_language(module_op(module)) {
        let declared = top_level(module_op(module), |kind| matches!(kind, Kind::Relay(Relay::Data)));
        declared.into_iter().for_each(OpExt::erase);
    }
    Ok(needs_language(module_op(module))
        || (is_mlir || is_text(model)) && takes_dynamic_tensors(module_op(module)))
}

/// Nobody but the program itself calls its functions other than `@main`.
fn close(module: &Module) {
    let others = functions(module_op(module)).into_iter().filter(|(name, _)| *name != ENTRY);
    others.for_each(|(_, f)| f.set_attr("sym_visibility", str_attr(f.context_ref(), "private")));
}

/// Graphs of more operations are not made of programs that nobody asked to unfold: compiling takes time in proportion.
const MOST_UNFOLDED: usize = 2048;

fn takes_something(module: Op) -> bool {
    main_of(module).and_then(signature).is_some_and(|(takes, _)| !takes.is_empty())
}

/// True when nothing of the language is left, and few operations.
fn is_small_graph(module: Op) -> bool {
    !needs_language(module) && !takes_dynamic_tensors(module) && nested_ops(module).len() <= MOST_UNFOLDED
}

/// True when `@main` takes or gives tensors whose extents are known at run time only, for which no memory can be planned.
fn takes_dynamic_tensors(module: Op) -> bool {
    let (takes, gives) = main_of(module).and_then(signature).unwrap_or_default();
    let dynamic =
        |ty: &fusion_dialects::Type| matches!(type_parts(*ty), TypeParts::Tensor(t) if t.shape().is_none());
    takes.iter().chain(&gives).any(dynamic)
}

/// True when there is more than operators, tuples, if and while, or `@main` takes or gives more than tensors.
fn needs_language(module: Op) -> bool {
    let plain = |op: &Op| match op.kind() {
        Some(Kind::Relay(kind)) => matches!(
            kind,
            Relay::Data
                | Relay::Constant
                | Relay::Tuple
                | Relay::Get
                | Relay::If
                | Relay::While
                | Relay::Yield
        ),
        _ => true,
    };
    let (takes, gives) = main_of(module).and_then(signature).unwrap_or_default();
    let tensors = takes.iter().chain(&gives).all(|ty| matches!(type_parts(*ty), TypeParts::Tensor(_)));
    !tensors || !nested_ops(module).iter().all(plain)
}

pub(crate) fn main_of<'c>(module: Op<'c>) -> Option<Op<'c>> {
    let functions = top_level(module, |kind| matches!(kind, Kind::Upstream(Upstream::Func)));
    functions.into_iter().find(|function| function.text("sym_name") == Some(ENTRY))
}

pub(crate) type Types<'c> = Vec<fusion_dialects::Type<'c>>;

pub(crate) fn signature<'c>(function: Op<'c>) -> Option<(Types<'c>, Types<'c>)> {
    function.attr("function_type").and_then(type_of_attr).and_then(function_parts)
}

/// Names of what `@main` takes.
pub(crate) fn input_names(module: Op) -> Vec<String> {
    let Some(main) = main_of(module) else { return Vec::new() };
    let attrs = main.attr("arg_attrs").map(array_elements).unwrap_or_default();
    let takes = signature(main).unwrap_or_default().0.len();
    let given = |i: usize| attrs.get(i).and_then(|attrs| dictionary_text(*attrs, NAME));
    (0..takes).map(|i| given(i).unwrap_or_else(|| format!("input_{i}"))).collect()
}

/// What a program is run on, by name.
pub type Inputs = IndexMap<String, ValueTree>;

/// Puts named values into the order of a program's inputs. Names that numpy makes up (`arr_0`...) stand for positions.
fn ordered(names: &[String], mut tensors: Inputs) -> Result<Vec<ValueTree>, Failure> {
    let made_up = tensors.keys().enumerate().all(|(i, name)| *name == format!("arr_{i}"));
    if made_up && tensors.len() == names.len() && !names.iter().any(|name| tensors.contains_key(name)) {
        return Ok(tensors.into_values().collect());
    }
    let all = || if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    if let Some(name) = tensors.keys().find(|name| !names.contains(name)) {
        return Err(Failure::Inputs(format!("the program has no input {name:?}; its inputs are {}", all())));
    }
    let missing = |name: &String| {
        Failure::Inputs(format!("the program's input {name:?} was not given; its inputs are {}", all()))
    };
    names.iter().map(|name| tensors.shift_remove(name).ok_or_else(|| missing(name))).collect()
}

/// Values that a function gives as one: a tuple when there are several.
pub fn joined(mut values: Vec<ValueTree>) -> ValueTree {
    if values.len() == 1 { values.remove(0) } else { ValueTree::tuple(values) }
}

/// The tensors of a value that is a tensor or a tuple of tensors, with names.
pub fn tensors_of(value: &ValueTree) -> Result<Vec<(String, Tensor)>, Failure> {
    let tensors: Vec<&Tensor> = match &value.items[..] {
        [Item::Tensor(tensor)] => vec![tensor],
        [Item::Tuple(_), elements @ ..] => {
            let tensor = |item: &'_ Item| matches!(item, Item::Tensor(_));
            if !elements.iter().all(tensor) {
                return Err(Failure::NoTensors("values that are no tensors".to_owned()));
            }
            elements
                .iter()
                .filter_map(|item| if let Item::Tensor(t) = item { Some(t) } else { None })
                .collect()
        }
        _ => return Err(Failure::NoTensors("a value that is no tensor".to_owned())),
    };
    Ok(tensors.into_iter().enumerate().map(|(i, tensor)| (output_name(i), tensor.clone())).collect())
}

fn loaded<'c>(
    context: &'c Context,
    model: &Path,
    options: &CompileOptions,
) -> Result<(Module<'c>, bool), DriverError> {
    crate::register_passes();
    let (mut module, _) = driver::load_module(context, model, &options.shapes, &options.bound)?;
    let language = prepare(&mut module, model, options)?;
    Ok((module, language))
}

/// True when a model needs the whole language.
pub fn is_program(model: &Path, options: &CompileOptions) -> Result<bool, DriverError> {
    let context = fusion_dialects::load_context();
    loaded(&context, model, options).map(|(_, language)| language)
}

/// Runs a model in the interpreter.
pub fn interpret(model: &Path, options: &CompileOptions, inputs: Inputs) -> Result<ValueTree, Failure> {
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
    let settings = driver::settings(options, remarks);
    let compilation = compile_program(module, &settings).map_err(failed)?;
    if std::env::var_os("FUSION_TIMING").is_some() {
        driver::tell(&compilation.timings, settings.jobs);
    }
    Ok(compilation)
}

/// Compiles a model to bytecode, and its kernels to a library.
pub fn bytecode(model: &Path, options: &CompileOptions) -> Result<ProgramFile, Failure> {
    let context = fusion_dialects::load_context();
    let (module, _) = loaded(&context, model, options)?;
    let ProgramCompilation { program, objects, constants, .. } = compiled(&module, options, None)?;
    if program.kernels.is_empty() {
        return Ok(ProgramFile { program, library: Vec::new() });
    }
    let description = ModelDescription::of_program(&driver::name_of(model), &options.target.name, &program);
    // A library of kernels is no program: it needs nothing of the language's runtime.
    let description = ModelDescription { program: None, ..description };
    let size = constants.len() as u64;
    let constants = OwnedConstants { size, pieces: if size > 0 { vec![(0, constants)] } else { Vec::new() } };
    let package = Package {
        description: &description,
        code: objects.iter().map(|bytes| CodeObject::Bytes(bytes)).collect(),
        constants: constants.borrow(),
        outside: None,
        libraries: Vec::new(),
        linker: None,
    };
    let scratch = tempfile::tempdir().map_err(Failure::file("write", &std::env::temp_dir()))?;
    let path = scratch.path().join("kernels.so");
    package.write_kernels(&path, program.kernels.iter().map(|kernel| kernel.symbol.as_str()))?;
    let library = std::fs::read(&path).map_err(Failure::file("read", &path))?;
    Ok(ProgramFile { program, library })
}

/// A program in the virtual machine.
pub fn machine(file: ProgramFile, threads: Option<u16>) -> Result<Machine, Failure> {
    let ProgramFile { program, library } = file;
    let machine = Machine::new(program, KernelLibrary::from_image(&library)?)?;
    if let Some(threads) = threads {
        machine.set_threads(threads);
    }
    Ok(machine)
}

/// The inputs of a program in the virtual machine, in order.
pub fn inputs_of_machine(machine: &Machine, inputs: Inputs) -> Result<Vec<ValueTree>, Failure> {
    let names: Vec<String> = machine.program().inputs.iter().map(|(name, _)| name.clone()).collect();
    ordered(&names, inputs)
}

/// Runs a program in the virtual machine.
pub fn run_bytecode(file: ProgramFile, threads: Option<u16>, inputs: Inputs) -> Result<ValueTree, Failure> {
    let mut machine = machine(file, threads)?;
    let inputs = inputs_of_machine(&machine, inputs)?;
    Ok(machine.run(&inputs)?)
}

/// Compiles a model ahead of time, whatever of the language it needs.
pub fn native(model: &Path, options: &CompileOptions) -> Result<Compiled, DriverError> {
    let context = fusion_dialects::load_context();
    let (module, _) = loaded(&context, model, options)?;
    ahead_of_time(&context, &module, model, options)
}

/// Compiles a module whose types are known ahead of time.
pub(crate) fn ahead_of_time(
    context: &Context,
    module: &Module,
    model: &Path,
    options: &CompileOptions,
) -> Result<Compiled, DriverError> {
    let scratch = options.explain.then(tempfile::tempdir).transpose().map_err(failed)?;
    let file = scratch.as_ref().map(|directory| directory.path().join("remarks.json"));
    let ProgramCompilation { program, mut objects, constants, kernels, .. } =
        compiled(module, options, file.clone())?;
    let remarks = driver::remarks(file)?;
    let target = driver::settings(options, None).processor.target;
    let native = compile_with_kernels(context, &program, constants, &target).map_err(failed)?;
    objects.push(native.object);
    let kernels: Vec<_> = kernels.into_iter().flatten().collect();
    let predicted = kernels.iter().map(Predicted::of).collect();
    let mut description =
        ModelDescription::of_program(&driver::name_of(model), &options.target.name, &program);
    description.kernels = kernels.into_iter().map(driver::kernel).collect();
    let size = native.constants.len() as u64;
    let pieces = if size > 0 { vec![(0, native.constants)] } else { Vec::new() };
    let code = Code::Objects { objects, libraries: Vec::new() };
    let constants = OwnedConstants { size, pieces };
    Ok(Compiled {
        description,
        code,
        constants,
        predicted,
        launches: Vec::new(),
        remarks,
        programs: IndexMap::new(),
    })
}

/// Runs a program that was compiled ahead of time.
pub fn run_native(
    program: &NativeProgram,
    threads: Option<u16>,
    inputs: Inputs,
) -> Result<ValueTree, Failure> {
    if let Some(threads) = threads {
        program.module().set_threads(threads);
    }
    Ok(program.call(&inputs_of_native(program, inputs)?)?)
}

/// The inputs of a program that was compiled ahead of time, in order.
pub fn inputs_of_native(program: &NativeProgram, inputs: Inputs) -> Result<Vec<ValueTree>, Failure> {
    let described = program.description().program.iter();
    let names: Vec<String> = described.flat_map(|p| p.inputs.iter().map(|(name, _)| name.clone())).collect();
    ordered(&names, inputs)
}

/// Loads a model for the interpreter; `run` may run it again and again.
pub fn with_interpreted<T>(
    model: &Path,
    options: &CompileOptions,
    inputs: Inputs,
    run: impl FnOnce(&mut dyn FnMut() -> Result<ValueTree, Failure>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let context = fusion_dialects::load_context();
    let (module, _) = loaded(&context, model, options)?;
    let root = module_op(&module);
    let inputs = ordered(&input_names(root), inputs)?;
    run(&mut || Ok(joined(fusion_interpreter::run_program_on(root, ENTRY, &inputs, Limits::default())?)))
}

/// Links and loads a program that was just compiled ahead of time.
pub fn linked(compiled: &Compiled) -> Result<Option<NativeProgram>, Failure> {
    let scratch = tempfile::tempdir().map_err(Failure::file("write", &std::env::temp_dir()))?;
    let library = scratch.path().join("program.so");
    crate::load::package(compiled, None, |package| Ok(package.write_library(&library)?))?;
    Ok(NativeProgram::load(&library)?)
}
