//! `te-lower`: each kernel and its schedule become one function of loop nests over flat buffers.
//!
//!     te.kernel @k(%x: tensor<4x8xf32>) -> tensor<4x8xf32>        func.func private @k(%x: memref<32xf32>, %y: memref<32xf32>)
//!     te.schedule for @k { ... }                            =>      loop.for 4 serial { loop.for 8 vectorized { ... } }
//!
//! The schedule's tree is complete before the first loop is made (`fusion_transforms::te::schedule`); the loops are then
//! generated from it in one go: `nest` makes the loops of a stage, `attached` what is computed inside them, `bounds` infers
//! what that must compute, `parts` makes those of nests written by hand, `lanes` combines in vectors and `threads` across threads, `intrinsics` puts declared code in place of inner loops, `ahead`
//! prefetches, `bulk` copies boxes of tensors, `body` writes the scalar expressions with inlined stages in place, `index` turns index expressions into
//! operations.
//! Intermediate stages that stand on their own live in a workspace that the caller passes.
//! With `until=N` only the first N primitives are applied: what each does can be seen, and is right by itself.

mod ahead;
mod attached;
mod body;
mod bounds;
mod bulk;
pub(crate) mod index;
mod intrinsics;
mod lanes;
mod nest;
mod parts;
mod reduction;
mod threads;
mod ways;
mod workspace;

pub use body::combine;

use super::open;
use fusion_dialects::loops::{Buffer, Loops, Scope};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::{Op as Te, Parts};
use fusion_dialects::{
    Build, Op, OpExt, OptionKind, OptionSpec, Pass, PassError, RunContext, StatisticSpec, Type, Value,
    ValueMap, arguments, buffer_type, erase_argument, function_type, int_attr, key, kind_of, op_key, ops_in,
    set_type, str_attr, tensor_type, top_level, type_attr, unit_attr,
};
use fusion_operators::{DType, TensorType};
use fusion_transforms::te::expr::{Expr, flatten};
use fusion_transforms::te::layout::Layout;
use fusion_transforms::te::schedule::{Attach, Relation, Schedule, StageId, Store, Tail, apply_schedule};
use std::collections::{HashMap, HashSet};

/// The attribute of functions that are lowered kernels.
pub const KERNEL: &str = "loop.kernel";
/// The attribute with the bytes of workspace a kernel needs.
pub const WORKSPACE: &str = "loop.workspace";
/// The attribute with the argument that the only result starts as: the caller puts its elements there.
pub const UPDATES: &str = "loop.updates";
const ALIGNMENT: u64 = 64;

/// The pass.
pub struct TeLower;

impl Pass for TeLower {
    const NAME: &'static str = "te-lower";
    const DESCRIPTION: &'static str = "Generate the loops of each kernel from its schedule";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const OPTIONS: &'static [OptionSpec] = &[OptionSpec {
        name: "until",
        description: "Apply only the first N primitives of each schedule (all when negative)",
        kind: OptionKind::Int,
        initial: "-1",
    }];
    const STATISTICS: &'static [StatisticSpec] = &[
        StatisticSpec { name: "kernels", description: "Number of kernels lowered" },
        StatisticSpec { name: "workspace", description: "Bytes of workspace of all kernels" },
    ];
    const DIALECTS: &'static [&'static str] =
        &["te", "loop", "func", "affine", "arith", "math", "memref", "vector"];

    fn run<'c>(module: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let until = cx.options.int("until");
        let kernels = top_level(module, |k| matches!(k, Kind::Te(Te::Kernel)));
        let schedules = top_level(module, |k| matches!(k, Kind::Te(Te::Schedule)));
        let mut by_kernel: HashMap<String, Vec<Op<'c>>> = HashMap::new();
        for schedule in &schedules {
            by_kernel
                .entry(schedule.text("kernel").unwrap_or_default().to_owned())
                .or_default()
                .push(*schedule);
        }
        for kernel in kernels {
            if open::is_open(kernel) {
                open::lower(kernel)?;
                cx.count(0, 1);
                kernel.erase();
                continue;
            }
            let name = kernel.text("sym_name").unwrap_or_default().to_owned();
            let mut tree = Schedule::of(kernel);
            match by_kernel.remove(&name).unwrap_or_default().as_slice() {
                [] => {}
                [schedule] => apply_schedule(&mut tree, *schedule, until)?,
                [_, second, ..] => {
                    return Err(PassError::at(*second, format_args!("is a second schedule for @{name}")));
                }
            }
            let workspace = lower(kernel, &tree)?;
            cx.count(0, 1);
            cx.count(1, workspace);
            kernel.erase();
        }
        if let Some(schedule) =
            schedules.iter().find(|s| by_kernel.contains_key(s.text("kernel").unwrap_or_default()))
        {
            return Err(PassError::at(
                *schedule,
                format_args!(
                    "is for @{}, which is no kernel of the module",
                    schedule.text("kernel").unwrap_or_default()
                ),
            ));
        }
        for op in schedules.into_iter().chain(top_level(module, |k| matches!(k, Kind::Te(Te::Intrinsic)))) {
            op.erase();
        }
        Ok(())
    }
}

/// Where a tensor's elements are.
#[derive(Clone)]
enum Place<'c> {
    /// In memory: the part of a tensor that starts at `origin` and has the extents `shape`, row-major.
    Memory(Part<'c>),
    /// One element, as a value.
    Value(Value<'c>),
}

/// The part of a tensor that a buffer holds.
#[derive(Clone)]
struct Part<'c> {
    buffer: Buffer<'c>,
    /// Indices of its first element.
    origin: Vec<Expr>,
    shape: Vec<u64>,
    /// The order of its elements; row-major without one.
    layout: Option<Layout>,
    /// Where in the buffer the part begins.
    base: Expr,
}

impl Part<'_> {
    /// Where in the buffer an element is.
    fn offset(&self, indices: &[Expr]) -> Expr {
        let local: Vec<Expr> = indices.iter().zip(&self.origin).map(|(i, o)| i.minus(o)).collect();
        let place = match &self.layout {
            None => flatten(&local, &self.shape),
            Some(layout) => layout.offset(&local, &self.shape),
        };
        place.plus(&self.base)
    }
}

/// A kernel being lowered.
struct Lowering<'c, 't> {
    kernel: Op<'c>,
    tree: &'t Schedule<'c>,
    /// The stage and result a tensor is.
    stage_of: HashMap<usize, (StageId, usize)>,
    /// Where the tensors are that have a place now.
    places: HashMap<usize, Place<'c>>,
    /// The nest whose result the caller prepares.
    prepared: Option<Op<'c>>,
    /// Constants of the kernel's block.
    outside: ValueMap<'c>,
    /// The places around the loops that are being made, outermost first.
    around: Vec<Loops<'c>>,
    /// What loops inside are to ask for.
    shares: Vec<ahead::Share<'c>>,
    /// True when a stage is computed beyond its end.
    pads: bool,
    /// Stages with loops that became an intrinsic.
    replaced: Vec<StageId>,
    indices: index::Indices<'c>,
    /// The variables that are numbers of threads of a block.
    thread_vars: HashSet<usize>,
    /// What the caller passes, and how much of it is taken.
    workspace: Option<Value<'c>>,
    workspace_bytes: u64,
    /// Number of parallel loops around.
    parallel_loops: usize,
    error: Option<PassError<'c>>,
}

fn lower<'c>(kernel: Op<'c>, tree: &Schedule<'c>) -> Result<u64, PassError<'c>> {
    if let Some(input) = tree.input_layouts.iter().position(Option::is_some) {
        return Err(PassError::at(
            kernel,
            format_args!(
                "has a layout for argument {input}; run te-pack-arguments, which makes the callers give it so"
            ),
        ));
    }
    let build = Build::before(kernel);
    let context = build.context();
    let block = kernel.body(0).ok_or_else(|| PassError::at(kernel, "has no body"))?;
    let ops = ops_in(block);
    let returned = ops
        .iter()
        .find(|op| matches!(kind_of(**op), Some(Kind::Te(Te::Return))))
        .map(|op| op.operand_values())
        .ok_or_else(|| PassError::at(kernel, "does not return"))?;
    let known = |v: Value<'c>| -> Result<(TensorType, u64), PassError<'c>> {
        let ty = tensor_type(v).and_then(|t| t.elements().map(|n| (t, n)));
        ty.ok_or_else(|| {
            PassError::at(
                kernel,
                "has a tensor with an unknown extent; give the shapes of the model's inputs",
            )
        })
    };
    let inputs = arguments(block);
    let mut types: Vec<Type> = Vec::new();
    for tensor in inputs.iter().chain(&returned) {
        let (ty, elements) = known(*tensor)?;
        types.push(buffer_type(context, elements, ty.dtype));
    }

    // Results that a stage gives go straight to their argument; others (an input, the same tensor twice) are copied.
    let mut direct: HashMap<usize, usize> = HashMap::new();
    for (i, tensor) in returned.iter().enumerate() {
        if fusion_dialects::defining_op(*tensor).is_some() {
            direct.entry(key(*tensor)).or_insert(i);
        }
    }
    // Everything else that stands on its own lives in the workspace, one after another.
    let mut offsets: Vec<(Value<'c>, u64)> = Vec::new();
    let mut workspace = 0u64;
    let mut scoped: Vec<(Value<'c>, Scope)> = Vec::new();
    for (_, stage) in tree.stages.iter().enumerate().filter(|(id, _)| has_place(tree, *id)) {
        if let Some(scope) = stage.scope.filter(|s| *s != Scope::Global) {
            let own = stage.op.result_values().into_iter().filter(|r| !direct.contains_key(&key(*r)));
            scoped.extend(own.map(|result| (result, scope)));
            continue;
        }
        for result in stage.op.result_values().into_iter().filter(|r| !direct.contains_key(&key(*r))) {
            let (ty, _) = known(result)?;
            offsets.push((result, workspace));
            let held = match stage.is_narrowed() {
                true => stage.part().into_iter().map(|(_, extent)| extent).collect(),
                false => ty.shape().unwrap_or_default(),
            };
            let elements = workspace::room(&stage.padded(held), stage.layout.as_ref());
            let bytes = elements.checked_mul(ty.dtype.size() as u64).ok_or_else(|| {
                PassError::at(
                    stage.op,
                    format_args!("has a result of type {ty}, which is more than can be addressed"),
                )
            })?;
            // A tensor without elements has a place as well.
            let taken = bytes.max(1).checked_next_multiple_of(ALIGNMENT);
            workspace = taken.and_then(|n| workspace.checked_add(n)).ok_or_else(|| {
                PassError::at(stage.op, "needs a workspace that is more than can be addressed")
            })?;
        }
    }
    // How large it is is known once the loops are made.
    types.push(buffer_type(context, 1, DType::I8));

    let updated = updated_argument(&inputs, &returned);
    let mut lowering = Lowering {
        kernel,
        tree,
        prepared: updated.map(|(nest, _)| nest),
        stage_of: HashMap::new(),
        places: HashMap::new(),
        outside: ValueMap::new(),
        around: Vec::new(),
        shares: Vec::new(),
        pads: tree.stages.iter().enumerate().any(|(id, _)| goes_beyond(tree, id)),
        replaced: Vec::new(),
        indices: index::Indices::default(),
        thread_vars: HashSet::new(),
        workspace: None,
        workspace_bytes: workspace,
        parallel_loops: 0,
        error: None,
    };
    for (s, stage) in tree.stages.iter().enumerate() {
        for (r, result) in stage.op.result_values().into_iter().enumerate() {
            lowering.stage_of.insert(key(result), (s, r));
        }
    }
    let region = build.region(&types, |inner, args| {
        let loops = Loops { build: inner };
        for (i, tensor) in inputs.iter().enumerate() {
            lowering.place_whole(*tensor, args[i]);
        }
        for (tensor, i) in returned.iter().enumerate().map(|(i, t)| (*t, i)) {
            if direct.get(&key(tensor)) == Some(&i) {
                lowering.place_whole(tensor, args[inputs.len() + i]);
            }
        }
        lowering.workspace = args.last().copied();
        for stage in &tree.stages {
            let into = stage.into.and_then(|into| lowering.places.get(&key(into)).cloned());
            for (result, place) in stage.op.result_values().into_iter().zip(into) {
                lowering.places.insert(key(result), place);
            }
        }
        for (tensor, offset) in &offsets {
            let buffer = lowering.view(&inner, *tensor, args[types.len() - 1], *offset);
            lowering.place_whole(*tensor, buffer);
        }
        for (tensor, scope) in &scoped {
            let Some(ty) = tensor_type(*tensor) else { continue };
            let buffer = loops.alloc(lowering.room_of(*tensor), ty.dtype, *scope);
            lowering.place_whole(*tensor, buffer.value);
        }
        lowering.block(&loops, &ops);
        for (i, tensor) in returned.iter().enumerate() {
            if direct.get(&key(*tensor)) != Some(&i) {
                lowering.copy(&loops, *tensor, args[inputs.len() + i]);
            }
        }
        inner.op("func.return", &[], &[], &[]);
    });
    let unused = |id: &StageId| tree.stages[*id].tensorized.is_some() && !lowering.replaced.contains(id);
    if let Some(id) = (0..tree.stages.len()).find(unused) {
        lowering.fail(PassError::at(
            tree.stages[id].op,
            "never has as many iterations as the intrinsic that its loops were to be",
        ));
    }
    if let Some(error) = lowering.error {
        return Err(error);
    }
    let workspace = lowering.workspace_bytes;
    if let Some((argument, last)) = lowering.workspace.zip(types.last_mut()) {
        if workspace == 0 {
            erase_argument(argument);
            types.pop();
        } else {
            *last = buffer_type(context, workspace, DType::I8);
            set_type(argument, *last);
        }
    }
    let noalias = fusion_dialects::dict_attr(context, &[("llvm.noalias", unit_attr(context))]);
    let name = kernel.text("sym_name").unwrap_or_default();
    let mut attrs = vec![
        ("sym_name", str_attr(context, name)),
        ("function_type", type_attr(function_type(context, &types, &[]))),
        ("sym_visibility", str_attr(context, "private")),
        ("arg_attrs", fusion_dialects::array_attr(context, &vec![noalias; types.len()])),
        (KERNEL, unit_attr(context)),
    ];
    if let Some((_, argument)) = updated {
        attrs.push((UPDATES, int_attr(context, argument as i64)));
    }
    if workspace > 0 {
        attrs.push((WORKSPACE, int_attr(context, workspace as i64)));
    }
    build.op_with_regions("func.func", &[], &[], &attrs, vec![region]);
    Ok(workspace)
}

/// True when a stage, or what is computed in its loops, is computed beyond its end.
fn goes_beyond(tree: &Schedule, id: StageId) -> bool {
    let s = &tree.stages[id];
    let split =
        |tail: Tail| s.relations.iter().any(|r| matches!(r, Relation::Split { tail: t, .. } if *t == tail));
    let by_threads = || s.axes.iter().any(|a| a.kind.is_thread());
    let holds = || tree.stages.iter().any(|o| matches!(o.attach, Attach::At(of, _) if of == id));
    split(Tail::Pad) || (split(Tail::Guard) && by_threads() && holds())
}

/// True when a stage's results have a place for the whole time.
fn has_place(tree: &Schedule, id: StageId) -> bool {
    match tree.stages[id].attach {
        // A part of a result is where the result is.
        _ if tree.stages[id].into.is_some() => false,
        Attach::Root => !tree.is_passing(id),
        Attach::After(..) => true,
        Attach::At(..) => tree.stages[id].store == Some(Store::Root),
        Attach::Inline => false,
    }
}

/// The nest that gives the kernel's only result by updating an argument that nothing else reads, and that argument.
fn updated_argument<'c>(inputs: &[Value<'c>], returned: &[Value<'c>]) -> Option<(Op<'c>, usize)> {
    let [result] = returned else { return None };
    let nest = fusion_dialects::defining_op(*result)?;
    let updates = usize::try_from(nest.int("updates")?).ok()?;
    let operand = *nest.operand_values().get(updates)?;
    let argument = inputs.iter().position(|input| *input == operand)?;
    (fusion_dialects::users(operand).len() == 1).then_some((nest, argument))
}

impl<'c> Lowering<'c, '_> {
    fn place_whole(&mut self, tensor: Value<'c>, buffer: Value<'c>) {
        let Some(ty) = tensor_type(tensor) else { return };
        let (origin, shape) = self.held(tensor);
        let buffer = Buffer { value: buffer, dtype: ty.dtype };
        let layout = self.layout_of(tensor);
        let base = Expr::constant(0);
        self.places.insert(key(tensor), Place::Memory(Part { buffer, origin, shape, layout, base }));
    }

    fn layout_of(&self, tensor: Value<'c>) -> Option<Layout> {
        let (stage, _) = self.stage_of.get(&key(tensor))?;
        self.tree.stages[*stage].layout.clone()
    }

    /// What the buffer of a tensor that stands on its own holds of it: where that begins, and its extents.
    fn held(&self, tensor: Value<'c>) -> (Vec<Expr>, Vec<u64>) {
        let whole = tensor_type(tensor).and_then(|t| t.shape()).unwrap_or_default();
        match self.stage_of.get(&key(tensor)).map(|(stage, _)| (*stage, &self.tree.stages[*stage])) {
            Some((stage, s)) if s.is_narrowed() && s.into.is_none() => self.computed(stage),
            of => {
                let origin = vec![Expr::constant(0); whole.len()];
                (origin, of.map_or(whole.clone(), |(_, s)| s.padded(whole)))
            }
        }
    }

    /// Lowers what stands on its own, in program order.
    fn block(&mut self, loops: &Loops<'c>, ops: &[Op<'c>]) {
        let stages: HashMap<usize, StageId> =
            self.tree.stages.iter().enumerate().map(|(i, s)| (op_key(s.op), i)).collect();
        for op in ops {
            match kind_of(*op) {
                Some(Kind::Te(Te::Compute)) => {
                    let stage = stages[&op_key(*op)];
                    if self.tree.stages[stage].attach == Attach::Root {
                        self.root_stage(loops, stage);
                    }
                }
                Some(Kind::Te(Te::Extern)) if Parts::of(*op).is_some() => {
                    let stage = stages[&op_key(*op)];
                    if self.tree.stages[stage].attach == Attach::Root {
                        self.root_stage(loops, stage);
                    }
                }
                Some(Kind::Te(Te::Extern)) => self.nest_by_hand(loops, *op),
                Some(Kind::Te(Te::Return)) => {}
                Some(Kind::Upstream(Upstream::ArithConstant)) => {
                    let mut outside = std::mem::take(&mut self.outside);
                    outside.clone_op(&loops.build, *op);
                    self.outside = outside;
                }
                _ => self.fail(PassError::at(*op, "cannot stand in a kernel outside of te.compute")),
            }
        }
    }

    /// Puts the loops of a `te.extern` in place, over the tensors' buffers.
    fn nest_by_hand(&mut self, loops: &Loops<'c>, op: Op<'c>) {
        let tensors = [op.operand_values(), op.result_values()].concat();
        if let Some(updates) = op.int("updates")
            && self.prepared != Some(op)
            && let (Some(from), Some(Place::Memory(Part { buffer, .. }))) = (
                op.operand_values().get(updates as usize),
                op.result_values().first().and_then(|result| self.places.get(&key(*result))),
            )
        {
            let to = buffer.value;
            self.copy(loops, *from, to);
        }
        let mut map = self.outside.clone();
        let Some(body) = op.body(0) else { return };
        for (argument, tensor) in arguments(body).into_iter().zip(tensors) {
            match self.places.get(&key(tensor)) {
                Some(Place::Memory(part)) => map.insert(argument, part.buffer.value),
                _ => return self.fail(PassError::at(op, "reads a tensor that is not in memory")),
            }
        }
        let ops = ops_in(body);
        for inner in &ops[..ops.len().saturating_sub(1)] {
            map.clone_op(&loops.build, *inner);
        }
    }

    /// Copies a whole tensor to a result's buffer.
    fn copy(&mut self, loops: &Loops<'c>, tensor: Value<'c>, to: Value<'c>) {
        let (Some(Place::Memory(Part { buffer, .. })), Some(ty)) =
            (self.places.get(&key(tensor)).cloned(), tensor_type(tensor))
        else {
            return self.fail(PassError::at(self.kernel, "returns a tensor that is not in memory"));
        };
        loops.each_independent(ty.elements().unwrap_or(0), |inner, i| {
            let value = inner.load_raw(buffer, i);
            inner.store(value, Buffer { value: to, dtype: ty.dtype }, i);
        });
    }

    fn fail(&mut self, error: PassError<'c>) {
        self.error.get_or_insert(error);
    }
}
