//! What of the whole language a model needs, and what its `@main` takes and gives.

use crate::compilation::{CompileOptions, Unfold};
use crate::error::{DriverError, failed};
use crate::source::{Format, Source};
use fusion_conversion::description::NAME;
use fusion_conversion::pipelines::{KNOWN, KNOWN_IF_SHORT, TYPES};
use fusion_conversion::runner::Runner;
use fusion_dialects::relay::Op as Relay;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Module, Op, OpExt, TypeParts, array_elements, dictionary_text, function_parts, module_op, nested_ops,
    str_attr, top_level, type_of_attr, type_parts,
};
use fusion_operators::ops::creation::DYNAMIC_IOTA;
use fusion_relay::language::functions;
use fusion_relay::number_strings::has_strings;
use std::path::Path;

/// The function that a program starts with.
pub(crate) const ENTRY: &str = "main";

/// True for files that may hold programs of the whole language.
pub fn may_be_program(model: &Path) -> bool {
    Source::file(model).format() != Format::Onnx
}

/// Finds the types of a program out, and runs what is known of it if that is wanted; says whether it needs the whole language.
pub(crate) fn prepare(
    module: &mut Module<'_>,
    model: &Source,
    options: &CompileOptions,
) -> Result<bool, DriverError> {
    let is_text = model.format() == Format::Relay;
    let dynamic = takes_dynamic_tensors(module_op(module)) || has_strings(module_op(module));
    if !is_text && !dynamic && !needs_language(module_op(module)) {
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
    let module = module_op(module);
    Ok(needs_language(module) || takes_dynamic_tensors(module) || has_strings(module))
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
    let is_graph = !needs_language(module) && !takes_dynamic_tensors(module) && !has_strings(module);
    is_graph && nested_ops(module).len() <= MOST_UNFOLDED
}

/// True when there are tensors whose extents are known at run time only, for which no memory can be planned.
fn takes_dynamic_tensors(module: Op) -> bool {
    let takes_number =
        |op: Op| matches!(op.kind(), Some(Kind::Operator(operator)) if operator.is(&DYNAMIC_IOTA));
    if nested_ops(module).into_iter().any(takes_number) {
        return true;
    }
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
