//! `te-plan-memory`: gives every tensor of @main a place in memory, so that running the program allocates nothing.
//!
//! ```text
//!   func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {     func.func @main(%x: memref<8xf32>, %out: memref<8xf32>,
//!     %w = te.constant dense<...>                                  %constants: memref<64xi8>, %workspace: memref<64xi8>) {
//!     %0 = te.call @a(%x, %w)                                   %w = memref.view %constants[0]
//!     %1 = te.call @b(%0)                            ==>        %0 = memref.view %workspace[0]
//!     return %1                                                 call @a(%x, %w, %0)
//!   }                                                           call @b(%0, %out)
//!                                                             }
//!   workspace:  |--- %0 ---|--- scratch of @b ---|            one piece; buffers that are never live together share it
//! ```
//!
//! `plan` decides which memory (a `storage`) each tensor lies in and when it is live, `arena` where the buffers lie in the workspace,
//! `rewrite` writes the function. Kernels must be functions over flat buffers by then (`te-lower`).
//! The constants leave the program; their bytes are kept with the module until [`read_constants`] has taken them.

pub mod arena;
mod constants;
mod in_place;
mod plan;
mod rewrite;
mod storage;

pub use constants::{PlannedConstants, read_constants, strip_constants};
use storage::{Place, Plan};

use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Block, BlockLike, Build, Op, OpExt, OperationLike, Pass, PassError, RunContext, StatisticSpec, Type,
    Value, ValueLike, arguments, array_attr, buffer_type, function_parts, function_type, int_attr, ints_attr,
    none_left, str_attr, te, tensor_type, tensor_type_of, top_level, type_attr, type_of_attr,
};
use fusion_operators::DType;
use std::collections::HashMap;

/// The function a model is run by.
pub const ENTRY: &str = "main";
/// On the planned function: how many of its parameters are inputs.
pub const INPUTS: &str = "fusion.inputs";
/// On the planned function: how many of its parameters are outputs; they come after the inputs.
pub const OUTPUTS: &str = "fusion.outputs";
/// On the planned function: the size of its last parameter.
pub const WORKSPACE_BYTES: &str = "fusion.workspace_bytes";
/// On the planned function: the size of its last parameter but one.
pub const CONSTANTS_BYTES: &str = "fusion.constants_bytes";
/// On the planned function: where each constant begins.
pub const CONSTANT_OFFSETS: &str = "fusion.constant_offsets";
/// On the module: the constants.
pub const CONSTANTS: &str = "fusion.constants";

/// That function of a module.
pub fn entry_of(module: Op) -> Option<Op> {
    let functions = top_level(module, |k| matches!(k, Kind::Upstream(Upstream::Func)));
    functions.into_iter().find(|f| f.text("sym_name") == Some(ENTRY))
}

/// More bytes than any machine has; sums stay far from overflow.
const MOST_BYTES: u64 = 1 << 56;

/// The pass.
pub struct PlanMemory;

impl Pass for PlanMemory {
    const NAME: &'static str = "te-plan-memory";
    const DESCRIPTION: &'static str = "Give every tensor of @main a place: inputs, outputs, constants and one workspace, with shared buffers";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const STATISTICS: &'static [StatisticSpec] = &[
        StatisticSpec { name: "workspace-bytes", description: "Bytes of the workspace" },
        StatisticSpec { name: "peak-bytes", description: "Bytes live at one moment, a bound for any plan" },
        StatisticSpec { name: "buffer-bytes", description: "Bytes of all buffers, had they shared nothing" },
        StatisticSpec { name: "constant-bytes", description: "Bytes of the constants" },
    ];
    const DIALECTS: &'static [&'static str] = &["arith", "func", "memref", "scf"];

    fn run<'c>(module: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let functions =
            top_level(module, |k| matches!(k, Kind::Upstream(Upstream::Func) | Kind::Te(te::Op::Kernel)));
        let mut kernels: HashMap<&str, Op> = HashMap::new();
        let mut main = None;
        for function in functions {
            match function.text("sym_name") {
                Some(ENTRY) if is_function(function) => main = Some(function),
                Some(name) => {
                    refuse_tensor_function(function)?;
                    kernels.insert(name, function);
                }
                None => {}
            }
        }
        let Some(main) = main.filter(|main| main.attr(WORKSPACE_BYTES).is_none()) else { return Ok(()) };
        plan_entry(module, main, &kernels, cx)?;
        none_left(module, Self::NAME, |kind| {
            matches!(kind, Kind::Te(te::Op::Call | te::Op::Constant | te::Op::View))
        })
    }
}

fn is_function(op: Op) -> bool {
    matches!(op.kind(), Some(Kind::Upstream(Upstream::Func)))
}

fn signature(function: Op) -> (Vec<Type>, Vec<Type>) {
    function.attr("function_type").and_then(type_of_attr).and_then(function_parts).unwrap_or_default()
}

/// Other functions than the entry must be kernels or helpers without tensors.
fn refuse_tensor_function(function: Op) -> Result<(), PassError> {
    let (inputs, results) = signature(function);
    if is_function(function) && inputs.iter().chain(&results).any(|ty| tensor_type_of(*ty).is_some()) {
        let name = function.text("sym_name").unwrap_or_default();
        return Err(PassError::at(
            function,
            format!(
                "@{name} works on tensors outside of @{ENTRY}; inline it before memory is planned (a function that \
                 calls itself has no memory plan)"
            ),
        ));
    }
    Ok(())
}

fn plan_entry<'c>(
    module: Op<'c>,
    main: Op<'c>,
    kernels: &HashMap<&'c str, Op<'c>>,
    cx: &mut RunContext,
) -> Result<(), PassError<'c>> {
    let body = only_block(main)?;
    let plan = plan::plan(body, kernels)?;
    let (buffers, lifetimes): (Vec<_>, Vec<_>) = plan.lifetimes().into_iter().unzip();
    let mut offsets = Vec::new();
    let (mut constant_bytes, mut buffer_bytes) = (0u64, 0u64);
    for lifetime in &lifetimes {
        buffer_bytes = buffer_bytes.saturating_add(lifetime.size.saturating_add(arena::ALIGNMENT));
    }
    for value in plan.constant_bytes() {
        offsets.push(constant_bytes);
        constant_bytes =
            constant_bytes.saturating_add(value).min(MOST_BYTES).next_multiple_of(arena::ALIGNMENT);
    }
    if buffer_bytes.max(constant_bytes) >= MOST_BYTES {
        return Err(PassError::at(main, "needs more memory than can be addressed"));
    }
    let arena = arena::pack(&lifetimes);
    for (statistic, bytes) in
        [arena.total, arena.peak, lifetimes.iter().map(|l| arena::aligned(l.size)).sum(), constant_bytes]
            .into_iter()
            .enumerate()
    {
        cx.count(statistic, bytes);
    }
    let layout = rewrite::Layout {
        plan: &plan,
        arena: buffers.into_iter().zip(arena.offsets).collect(),
        constants: offsets.clone(),
        kernels,
    };
    let planned = declare(&plan, (main, body), constant_bytes, arena.total, &offsets, |build, parameters| {
        rewrite::write(&layout, build, body, parameters)
    });
    planned?;
    main.erase();
    module.set_attr(CONSTANTS, array_attr(module.context_ref(), &plan.constants));
    Ok(())
}

/// The block of a function that has one.
fn only_block(function: Op) -> Result<Block, PassError> {
    let Some(body) = function.body(0) else {
        return Err(PassError::at(function, format!("@{ENTRY} is declared, not defined")));
    };
    if body.next_in_region().is_some() {
        return Err(PassError::at(
            function,
            format!("@{ENTRY} has several blocks; memory is planned for scf only"),
        ));
    }
    Ok(body)
}

/// Puts the planned function before the old one, which it replaces. Inputs and outputs of which pieces are taken are bytes.
fn declare<'c>(
    plan: &Plan<'c>,
    (main, body): (Op<'c>, Block<'c>),
    constants: u64,
    workspace: u64,
    offsets: &[u64],
    write: impl FnOnce(Build<'c>, &[Value<'c>]) -> Result<(), PassError<'c>>,
) -> Result<(), PassError<'c>> {
    let build = Build::before(main);
    let context = build.context();
    let (inputs, results) = (arguments(body), plan::last_operands(body));
    let mut parameters = Vec::new();
    let cut_up = plan.cut_up();
    let places = (0..inputs.len()).map(Place::Input).chain((0..results.len()).map(Place::Output));
    for (value, place) in inputs.iter().chain(&results).zip(places) {
        let as_bytes = plan.storages.iter().zip(&cut_up).any(|(s, cut)| *cut && s.place == place);
        let flat = tensor_type(*value).and_then(|ty| {
            Some(match as_bytes {
                true => buffer_type(context, ty.bytes()?, DType::I8),
                false => buffer_type(context, ty.elements()?, ty.dtype),
            })
        });
        let unknown = || PassError::new(value.location(), format!("{} has no flat buffer", value.r#type()));
        parameters.push(flat.ok_or_else(unknown)?);
    }
    parameters.extend([constants, workspace].map(|bytes| buffer_type(context, bytes, DType::I8)));
    let offsets: Vec<i64> = offsets.iter().map(|n| *n as i64).collect();
    let mut attrs = vec![
        ("sym_name", str_attr(context, ENTRY)),
        ("function_type", type_attr(function_type(context, &parameters, &[]))),
        (INPUTS, int_attr(context, inputs.len() as i64)),
        (OUTPUTS, int_attr(context, results.len() as i64)),
        (CONSTANTS_BYTES, int_attr(context, constants as i64)),
        (WORKSPACE_BYTES, int_attr(context, workspace as i64)),
        (CONSTANT_OFFSETS, ints_attr(context, &offsets)),
    ];
    let mut others = Vec::new();
    for (name, value) in main.attributes() {
        let name = name.as_string_ref().as_str().unwrap_or_default().to_owned();
        // Names and other facts of single arguments were about the tensors.
        if !["sym_name", "function_type", "arg_attrs", "res_attrs"].contains(&name.as_str()) {
            others.push((name, value));
        }
    }
    attrs.extend(others.iter().map(|(name, value)| (name.as_str(), *value)));
    let mut outcome = Ok(());
    let region = build.region(&parameters, |inner, parameters| outcome = write(inner, parameters));
    outcome?;
    build.op_with_regions(Upstream::Func.name(), &[], &[], &attrs, vec![region]);
    Ok(())
}
