//! The function of a kernel: its arguments are the buffers of what the kernel takes and gives, and a workspace.
//!
//!     @k(inputs, results, workspace)
//!
//! A result that a stage gives is computed in its argument; another one, which is an argument or given twice, is copied there in the end.

use super::super::roundings::Roundings;
use super::interface::Interface;
use super::{KERNEL, UPDATES, WORKSPACE};
use super::{Lowering, Part, Place, workspace};
use fusion_dialects::loops::{Buffer, Loops, STREAMED};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::{Op as Te, Parts};
use fusion_dialects::{
    Attribute, Build, Context, Op, OpExt, PassError, Type, Value, ValueMap, arguments, array_attr,
    attr_to_mlir, buffer_type, dict_attr, erase_argument, function_type, int_attr, key, kind_of, op_key,
    ops_in, set_type, str_attr, tensor_type, type_attr, unit_attr,
};
use fusion_operators::{Attr, DType};
use fusion_schedule::schedule::{Attach, Handle, Refusal, Relation, Said, Schedule, Stage, StageId, Tail};
use std::collections::{HashMap, HashSet};

/// Makes the function; gives the bytes of its workspace.
pub(super) fn lower<'c>(
    kernel: Op<'c>,
    tree: &Schedule<'c>,
    roundings: Roundings,
) -> Result<u64, PassError<'c>> {
    if let Some(input) = tree.input_layouts.iter().position(Option::is_some) {
        let says = |said: &&Said| said.kind == Te::TransformLayout && said.handles == [Handle::Input(input)];
        return Err(PassError::at(
            tree.said.iter().find(says).map_or(kernel, |said| said.op),
            format_args!(
                "has a layout for argument {input}; run te-pack-arguments, which makes the callers give it so"
            ),
        ));
    }
    let build = Build::before(kernel);
    let block = kernel.body(0).ok_or_else(|| PassError::at(kernel, "has no body"))?;
    let ops = ops_in(block);
    let interface = Interface::of(kernel, &arguments(block), &ops)?;
    let buffers = workspace::Buffers::of(tree, &interface)?;
    let mut types = interface.types(build.context())?;
    // How large it is is known once the loops are made.
    types.push(buffer_type(build.context(), 1, DType::I8));

    let updated = interface.updated_argument();
    let mut lowering = Lowering::of(kernel, tree, roundings);
    lowering.prepared = updated.map(|(nest, _)| nest);
    lowering.workspace_bytes = buffers.bytes;
    let region = build.region(&types, |inner, args| {
        let loops = Loops { build: inner };
        lowering.place_arguments(&interface, args);
        lowering.workspace = args.last().copied();
        for stage in &tree.stages {
            let into = stage.into.and_then(|into| lowering.places.get(&key(into)).cloned());
            for (result, place) in stage.op.result_values().into_iter().zip(into) {
                lowering.places.insert(key(result), place);
            }
        }
        lowering.place_buffers(&loops, &buffers, args[types.len() - 1]);
        lowering.block(&loops, &ops);
        for (tensor, argument) in interface.copied() {
            lowering.copy(&loops, tensor, args[argument]);
        }
        inner.op("func.return", &[], &[], &[]);
    });
    lowering.all_replaced();
    if let Some(error) = lowering.error {
        return Err(error);
    }
    let workspace = lowering.workspace_bytes;
    if let Some((argument, last)) = lowering.workspace.zip(types.last_mut()) {
        if workspace == 0 {
            erase_argument(argument);
            types.pop();
        } else {
            *last = buffer_type(build.context(), workspace, DType::I8);
            set_type(argument, *last);
        }
    }
    let mut attrs = attributes(build.context(), kernel, &types, &interface.streamed(tree));
    if let Some((_, argument)) = updated {
        attrs.push((UPDATES, int_attr(build.context(), argument as i64)));
    }
    if workspace > 0 {
        attrs.push((WORKSPACE, int_attr(build.context(), workspace as i64)));
    }
    build.op_with_regions("func.func", &[], &[], &attrs, vec![region]);
    Ok(workspace)
}

/// Those of every kernel's function, of these arguments, some of which are stored past the caches.
fn attributes<'c>(
    context: &'c Context,
    kernel: Op<'c>,
    types: &[Type<'c>],
    streamed: &[usize],
) -> Vec<(&'static str, Attribute<'c>)> {
    let noalias = ("llvm.noalias", unit_attr(context));
    let of_argument = |number: usize| match streamed.contains(&number) {
        true => dict_attr(context, &[noalias, (STREAMED, attr_to_mlir(context, &Attr::Bool(true)))]),
        false => dict_attr(context, &[noalias]),
    };
    let arguments: Vec<Attribute> = (0..types.len()).map(of_argument).collect();
    vec![
        ("sym_name", str_attr(context, kernel.text("sym_name").unwrap_or_default())),
        ("function_type", type_attr(function_type(context, types, &[]))),
        ("sym_visibility", str_attr(context, "private")),
        ("arg_attrs", array_attr(context, &arguments)),
        (KERNEL, unit_attr(context)),
    ]
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

impl<'c, 't> Lowering<'c, 't> {
    fn of(kernel: Op<'c>, tree: &'t Schedule<'c>, roundings: Roundings) -> Self {
        let results = |(s, stage): (StageId, &Stage<'c>)| {
            let all = stage.op.result_values().into_iter().enumerate();
            all.map(move |(r, result)| (key(result), (s, r))).collect::<Vec<_>>()
        };
        Lowering {
            kernel,
            tree,
            roundings,
            prepared: None,
            stage_of: tree.stages.iter().enumerate().flat_map(results).collect(),
            places: HashMap::new(),
            outside: ValueMap::new(),
            around: Vec::new(),
            shares: Vec::new(),
            pads: tree.stages.iter().enumerate().any(|(id, _)| goes_beyond(tree, id)),
            replaced: Vec::new(),
            indices: fusion_dialects::indices::Indices::default(),
            thread_vars: HashSet::new(),
            workspace: None,
            workspace_bytes: 0,
            parallel_loops: 0,
            way_buffers: None,
            error: None,
        }
    }

    fn place_arguments(&mut self, interface: &Interface<'c>, args: &[Value<'c>]) {
        let inputs = interface.inputs.iter().copied().zip(0..);
        for (tensor, argument) in inputs.chain(interface.results(true)) {
            self.place_whole(tensor, args[argument]);
        }
    }

    /// Each stage whose loops were to become an intrinsic did.
    fn all_replaced(&mut self) {
        let unused = |id: &StageId| self.tree.stages[*id].tensorized.is_some() && !self.replaced.contains(id);
        if let Some(id) = (0..self.tree.stages.len()).find(unused) {
            let why = format!(
                "replaces loops of stage \"{}\" by an intrinsic, which never have as many iterations as it",
                self.tree.stages[id].name
            );
            self.refuse(Refusal::of(id, &[Te::Tensorize], why));
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
}
