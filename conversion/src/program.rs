//! From a module of the whole language to a program of [`fusion_bytecode`], with native code for its tensor code.
//!
//! ```text
//!   relay  --pipelines::LANGUAGE-->  functions that call kernels  --relay_to_bytecode-->  Program
//!                                      |
//!                                      each kernel as the @main of a module of its own: crate::compile as far as the plan of
//!                                      memory, then all functions of all of them as units  --kernels-->  objects
//! ```
//!
//! All kernels share one block of constants: each finds its own at an offset that is written into its code. Kernels with the same
//! constants share them.

use crate::block::{Block, share, unit};
use crate::compile::{Kernel, Planned, Settings, Timings, plan};
use crate::error::{CompileError, failed};
use crate::kernels::Workshop;
use crate::pipelines::{DYNAMIC, LANGUAGE, STRINGS};
use crate::runner::Runner;
use crate::tiled::{self, Choice, Tiled};
use crate::units::Unit;
use fusion_bytecode::{Program, Shapes};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Build, Module, Op, OpExt, OperationLike, ValueMap, array_elements, kind_of, module_op, nested_ops,
    str_attr, tensor_type_of, top_level, type_of_attr, unit_attr,
};
use fusion_egraph::remarks::Remarks;
use fusion_programs::relay_to_bytecode::outline::SEGMENT;
use fusion_programs::relay_to_bytecode::{Lowered, lower};
use fusion_relay::number_strings::{has_strings, name_strings, strings_of};
use fusion_relay_to_te::PRIMITIVE;
use fusion_relay_to_te::dynamic::DYNAMIC as FOR_ALL_SIZES;
use fusion_targets::cpu::Processor;
use fusion_te_to_loop::dynamic::TEMPORARIES;
use fusion_te_to_loop::plan_memory::{ENTRY, entry_of};
use indexmap::IndexMap;
use std::collections::HashMap;

/// A compiled program.
pub struct ProgramCompilation {
    /// What it does around its tensor code.
    pub program: Program,
    /// The code of its kernels.
    pub objects: Vec<Vec<u8>>,
    /// The weights that the kernels use.
    pub constants: Vec<u8>,
    /// The native kernels that each of the program's kernels runs, in order.
    pub kernels: Vec<Vec<Kernel>>,
    /// What was decided of the tiles of its kernels of dynamic extents.
    pub tiles: Vec<Choice>,
    /// What took how long.
    pub timings: Timings,
}

/// What the functions of a program's kernels are called.
const SYMBOL: &str = "fusion_kernel_";

/// Compiles a typed, monomorphic module whose function `@main` is the program.
pub fn compile_program(module: &Module, settings: &Settings) -> Result<ProgramCompilation, CompileError> {
    let mut runner = Runner::default();
    let root = module_op(module);
    runner.run(module, LANGUAGE).map_err(CompileError::Stage)?;
    let Lowered { mut program } = lower(root).map_err(failed)?;
    program.strings = strings_of(root);
    let functions = top_level(root, |k| matches!(k, Kind::Upstream(Upstream::Func)));
    let segments: HashMap<&str, Op> = functions
        .into_iter()
        .filter(|f| f.attr(SEGMENT).is_some())
        .filter_map(|f| Some((f.text("sym_name")?, f)))
        .collect();
    let mut block = Block::default();
    let mut units: IndexMap<String, Unit> = IndexMap::new();
    let (mut kernels, mut tiles) = (Vec::new(), Vec::new());
    let mut remarks = Remarks::default();
    for (number, kernel) in program.kernels.iter_mut().enumerate() {
        let Some(segment) = segments.get(kernel.symbol.as_str()) else { continue };
        let symbol = format!("{SYMBOL}{number}");
        let part = alone(*segment);
        if has_strings(module_op(&part)) {
            name_strings(module_op(&part), &program.strings);
            runner.run(&part, STRINGS).map_err(CompileError::Stage)?;
        }
        if let Some(shapes) = &mut kernel.shapes {
            settings.arithmetic(module_op(&part))?;
            let mut stages = Runner::of_segment(&settings.planning, &kernel.symbol);
            let Tiled { units: made, kernels: own, choices } =
                tiled::compile(&part, settings, &mut stages, (&kernel.symbol, &symbol), &mut block)?;
            units.extend(made);
            tiles.extend(choices);
            let (made, described) = open(&part, &mut stages, &kernel.symbol, &symbol, shapes)?;
            runner.add(stages);
            units.insert(symbol.clone(), made);
            kernel.symbol = symbol;
            kernels.push([vec![described], own].concat());
            continue;
        }
        let mut stages = Runner::of_segment(&settings.planning, &kernel.symbol);
        let planned = plan(&part, settings, &mut stages)?;
        if let Some(path) = &settings.planning.remarks {
            remarks.take(path, &kernel.symbol).map_err(|error| CompileError::Stage(vec![error]))?;
        }
        runner.add(stages);
        let Planned { workspace_bytes, constants, kernels: described, units: own, .. } = planned;
        share(&part, &constants, &mut block)?;
        units.extend(own.into_iter().map(|unit| (unit.symbol.clone(), unit)));
        let unit = unit(&part, &kernel.symbol, &symbol);
        units.insert(symbol.clone(), unit);
        kernel.symbol = symbol;
        kernel.workspace_bytes = workspace_bytes;
        kernels.push(described);
    }
    if let Some(path) = &settings.planning.remarks {
        remarks.write(path).map_err(|error| CompileError::Stage(vec![error]))?;
    }
    let units: Vec<Unit> = units.into_values().collect();
    let Settings { processor: Processor { target, .. }, jobs, cache, .. } = settings;
    let start = std::time::Instant::now();
    let made = Workshop { target, device: None, jobs: *jobs, cache: cache.as_ref() }.compile(&units)?;
    runner.timings.push(("kernels", start.elapsed().as_secs_f64()));
    let (compiled, cached) = (units.len(), made.cached);
    let timings = Timings { program: runner.timings, kernels: made.timings, compiled, cached };
    Ok(ProgramCompilation { program, objects: made.objects, constants: block.bytes, kernels, tiles, timings })
}

/// A kernel whose extents are known when it runs: its code and what is told of it. Its temporaries join its shape function.
fn open(
    part: &Module,
    stages: &mut Runner,
    name: &str,
    symbol: &str,
    shapes: &mut Shapes,
) -> Result<(Unit, Kernel), CompileError> {
    let root = module_op(part);
    let mut operators = Vec::new();
    if let Some(main) = entry_of(root) {
        main.set_attr(PRIMITIVE, unit_attr(root.context_ref()));
        main.set_attr(FOR_ALL_SIZES, unit_attr(root.context_ref()));
        let rows = nested_ops(main).into_iter().filter_map(|op| match kind_of(op) {
            Some(Kind::Operator(operator)) => Some(operator.name.to_owned()),
            _ => None,
        });
        operators.extend(rows);
    }
    stages.run(part, DYNAMIC).map_err(CompileError::Stage)?;
    let temporaries =
        entry_of(root).and_then(|main| main.attr(TEMPORARIES)).map(array_elements).unwrap_or_default();
    shapes.temporaries =
        temporaries.into_iter().filter_map(type_of_attr).filter_map(tensor_type_of).collect();
    let described = Kernel { name: name.to_owned(), operators, flops: 0, bytes: 0, seconds: 0.0, runs: 1 };
    Ok((unit(part, name, symbol), described))
}

/// A module whose `@main` is that function.
fn alone<'c>(segment: Op<'c>) -> Module<'c> {
    let context = segment.context_ref();
    Build::module(context, segment.location(), |build| {
        let copy = ValueMap::new().clone_op(&build, segment);
        copy.set_attr("sym_name", str_attr(context, ENTRY));
        copy.remove_attr("sym_visibility");
        copy.remove_attr(SEGMENT);
    })
}
