//! Writes the planned function: tensors become views of the memory they were given, results become parameters.

use super::in_place;
use super::plan::{last_operands, ops_before_last};
use super::storage::{Id, Place, Plan, Storage};
use crate::lower::WORKSPACE;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::{Compare, Op as Te, Scalar, Scalars};
use fusion_dialects::{
    Block, Build, Op, OpExt, OperationLike, PassError, Region, Type, Value, ValueLike, ValueMap, buffer_type,
    function_parts, scalar_type, storage_type, symbol_attr, tensor_type, type_of_attr,
};
use fusion_operators::DType;
use std::collections::HashMap;

/// What the planned function is written from.
pub struct Layout<'c, 'p> {
    /// Which memory.
    pub plan: &'p Plan<'c>,
    /// Offsets in the workspace, by storage.
    pub arena: HashMap<Id, u64>,
    /// Offsets among the constants, by constant.
    pub constants: Vec<u64>,
    /// The functions that may be called.
    pub kernels: &'p HashMap<&'c str, Op<'c>>,
}

/// Writes the body of the planned function, whose parameters are the inputs, the outputs, the constants and the
/// workspace, to the end of a block.
pub fn write<'c>(
    layout: &Layout<'c, '_>,
    build: Build<'c>,
    body: Block<'c>,
    parameters: &[Value<'c>],
) -> Result<(), PassError<'c>> {
    let [io @ .., constants, workspace] = parameters else {
        return Err(PassError::new(build.location, "the planned function has no workspace parameter"));
    };
    let mut memory = vec![None; layout.plan.storages.len()];
    let mut bytes = HashMap::new();
    let inputs = layout.plan.storages.iter().filter(|s| matches!(s.place, Place::Input(_))).count();
    let cut_up = layout.plan.cut_up();
    let mut outputs = vec![None; io.len().saturating_sub(inputs)];
    for (id, storage) in layout.plan.storages.iter().enumerate() {
        let parameter = match storage.place {
            Place::Input(i) => io.get(i).copied(),
            Place::Output(i) => io.get(inputs + i).copied(),
            _ => None,
        };
        memory[id] = match parameter {
            // What pieces lie in is passed as bytes.
            Some(parameter) if cut_up[id] => {
                bytes.insert(id, parameter);
                Some(view(&build, parameter, 0, storage))
            }
            parameter => parameter,
        };
        if let Place::Output(i) = storage.place {
            outputs[i] = memory[id];
        }
    }
    let mut writer = Writer {
        layout,
        constants: *constants,
        workspace: *workspace,
        bytes,
        memory,
        scalars: ValueMap::new(),
    };
    writer.block(&build, body)?;
    for (value, output) in last_operands(body).into_iter().zip(outputs) {
        writer.copy(&build, layout.plan.of(value)?, output)?;
    }
    build.op(Upstream::Return.name(), &[], &[], &[]);
    Ok(())
}

/// A storage in bytes, from one of them on.
fn view<'c>(build: &Build<'c>, bytes: Value<'c>, from: u64, storage: &Storage) -> Value<'c> {
    let shift = Scalars { build: *build }.index(from as i64);
    let ty = buffer_type(build.context(), storage.elements, storage.dtype);
    build.value("memref.view", &[bytes, shift], ty, &[])
}

struct Writer<'c, 'p> {
    layout: &'p Layout<'c, 'p>,
    constants: Value<'c>,
    workspace: Value<'c>,
    /// The parameters of inputs and outputs that pieces lie in. Only looked up.
    bytes: HashMap<Id, Value<'c>>,
    memory: Vec<Option<Value<'c>>>,
    scalars: ValueMap<'c>,
}

impl<'c> Writer<'c, '_> {
    /// The memref of a storage, made here when it is not there yet.
    fn place(&mut self, build: &Build<'c>, id: Id) -> Value<'c> {
        if let Some(value) = self.memory[id] {
            return value;
        }
        let plan = self.layout.plan;
        let (whole, from) = plan.base(id);
        let (base, offset) = match plan.storages[whole].place {
            Place::Constant(k) => (self.constants, self.layout.constants.get(k).copied()),
            Place::Input(_) | Place::Output(_) => {
                (self.bytes.get(&whole).copied().unwrap_or(self.workspace), None)
            }
            _ => (self.workspace, self.layout.arena.get(&whole).copied()),
        };
        let view = view(build, base, offset.unwrap_or(0).saturating_add(from), &plan.storages[id]);
        self.memory[id] = Some(view);
        view
    }

    fn place_all(&mut self, build: &Build<'c>, ids: &[Id]) {
        for id in ids {
            self.place(build, *id);
        }
    }

    /// The memref of a tensor that was written before.
    fn memref(&self, value: Value<'c>) -> Result<Value<'c>, PassError<'c>> {
        let missing = || PassError::new(value.location(), "a tensor is used before it is written");
        self.memory[self.layout.plan.of(value)?].ok_or_else(missing)
    }

    fn copy(&mut self, build: &Build<'c>, from: Id, to: Option<Value<'c>>) -> Result<(), PassError<'c>> {
        let (Some(source), Some(target)) = (self.memory[from], to) else {
            return Err(PassError::new(build.location, "a tensor is copied that has no memory"));
        };
        if source != target && self.layout.plan.storages[from].elements > 0 {
            build.op("memref.copy", &[source, target], &[], &[]);
        }
        Ok(())
    }

    /// Copies what a region ends with to where it is wanted.
    fn copy_all(&mut self, build: &Build<'c>, from: &[Value<'c>], to: &[Id]) -> Result<(), PassError<'c>> {
        for (value, target) in from.iter().zip(to) {
            self.copy(build, self.layout.plan.of(*value)?, self.memory[*target])?;
        }
        Ok(())
    }

    /// Writes all of a block but its terminator.
    fn block(&mut self, build: &Build<'c>, block: Block<'c>) -> Result<(), PassError<'c>> {
        ops_before_last(block).into_iter().try_for_each(|op| self.op(&build.at(op.location()), op))
    }

    fn op(&mut self, build: &Build<'c>, op: Op<'c>) -> Result<(), PassError<'c>> {
        match op.kind() {
            Some(Kind::Te(Te::View)) if op.int("offset").is_none() => Ok(()),
            Some(Kind::Te(Te::Constant | Te::View)) => {
                let id = self.layout.plan.of(op.result_values()[0])?;
                self.place(build, id);
                Ok(())
            }
            Some(Kind::Te(Te::Call)) => self.call(build, op),
            Some(Kind::Upstream(Upstream::Extract)) => self.extract(build, op),
            Some(Kind::Upstream(Upstream::If)) => self.branch(build, op),
            Some(Kind::Upstream(Upstream::While)) => self.repeat(build, op),
            _ => {
                self.scalars.clone_op(build, op);
                Ok(())
            }
        }
    }

    fn call(&mut self, build: &Build<'c>, op: Op<'c>) -> Result<(), PassError<'c>> {
        let mut operands = Vec::new();
        for operand in op.operand_values() {
            operands.push(self.memref(operand)?);
        }
        for id in self.layout.plan.of_all(&op.result_values())? {
            operands.push(self.place(build, id));
        }
        if let Some(id) = self.layout.plan.scratch(op) {
            operands.push(self.place(build, id));
        }
        let name = op.text("kernel").unwrap_or_default();
        self.check_callee(op, name, &operands)?;
        if let Some(updated) = in_place::updated_operand(op, self.layout.kernels) {
            let from = self.layout.plan.of(op.operand_values()[updated])?;
            let to = self.memref(op.result_values()[0])?;
            self.copy(build, from, Some(to))?;
        }
        let callee = symbol_attr(build.context(), name);
        build.op(Upstream::Call.name(), &operands, &[], &[("callee", callee)]);
        Ok(())
    }

    /// A kernel takes its inputs, its outputs and, when it says how much it needs, a workspace.
    fn check_callee(&self, op: Op<'c>, name: &str, operands: &[Value<'c>]) -> Result<(), PassError<'c>> {
        let Some(kernel) = self.layout.kernels.get(name) else {
            return Err(PassError::at(op, format!("calls @{name}, which the module does not define")));
        };
        if matches!(kernel.kind(), Some(Kind::Te(_))) {
            let why = format!("calls @{name}, which is still a te.kernel; te-lower must run before");
            return Err(PassError::at(op, why));
        }
        let signature = kernel.attr("function_type").and_then(type_of_attr).and_then(function_parts);
        let (takes, gives) = signature.unwrap_or_default();
        let passed: Vec<Type> = operands.iter().map(|v| v.r#type()).collect();
        if takes != passed || !gives.is_empty() {
            let list = |types: &[Type]| types.iter().map(Type::to_string).collect::<Vec<_>>().join(", ");
            return Err(PassError::at(
                op,
                format!(
                    "passes ({}) to @{name}, which takes ({}); a kernel takes the flat buffers of its inputs and \
                     outputs, and a workspace if it has {WORKSPACE}",
                    list(&passed),
                    list(&takes)
                ),
            ));
        }
        Ok(())
    }

    /// A scalar that decides something. Booleans are bytes in memory.
    fn extract(&mut self, build: &Build<'c>, op: Op<'c>) -> Result<(), PassError<'c>> {
        let (source, result) = (op.operand_values()[0], op.result_values()[0]);
        let dtype = tensor_type(source).filter(|ty| ty.rank() == 0).map(|ty| ty.dtype);
        let context = build.context();
        let Some(dtype) = dtype.filter(|d| scalar_type(context, *d) == result.r#type()) else {
            return Err(PassError::at(
                op,
                "reads no scalar; only tensors without axes and of types without sign can be read",
            ));
        };
        let scalars = Scalars { build: *build };
        let operands = [self.memref(source)?, scalars.index(0)];
        let loaded = build.value("memref.load", &operands, storage_type(context, dtype), &[]);
        let value = if dtype == DType::Bool {
            let zero = scalars.int(0, DType::I8);
            scalars.compare(Compare::NotEqual, Scalar { value: loaded, dtype: DType::I8 }, zero).value
        } else {
            loaded
        };
        self.scalars.insert(result, value);
        Ok(())
    }

    /// Both branches write the results.
    fn branch(&mut self, build: &Build<'c>, op: Op<'c>) -> Result<(), PassError<'c>> {
        let targets = self.layout.plan.of_all(&op.result_values())?;
        self.place_all(build, &targets);
        let condition = self.scalars.lookup(op.operand_values()[0]);
        let mut regions = Vec::new();
        for index in 0..2 {
            let Some(block) = op.body(index) else {
                regions.push(Region::new());
                continue;
            };
            regions.push(self.region(build, Upstream::ScfYield, |writer, inner| {
                writer.block(inner, block)?;
                writer.copy_all(inner, &last_operands(block), &targets)?;
                Ok(Vec::new())
            })?);
        }
        build.op_with_regions(Upstream::If.name(), &[condition], &[], &[], regions);
        Ok(())
    }

    /// The state is copied in before, and at the end of each iteration: first what another copy would overwrite to
    /// a safe place, then all.
    fn repeat(&mut self, build: &Build<'c>, op: Op<'c>) -> Result<(), PassError<'c>> {
        let (Some(test), Some(step)) = (op.body(0), op.body(1)) else {
            return Err(PassError::at(op, "has no regions"));
        };
        let layout = self.layout;
        let memory = layout.plan.loop_state(op)?;
        self.place_all(build, &memory.state);
        // What the test computes lies outside of it; what it only hands on is there already.
        self.place_all(build, &memory.passed);
        self.copy_all(build, &op.operand_values(), &memory.state)?;
        let test = self.region(build, Upstream::Condition, |writer, inner| {
            writer.block(inner, test)?;
            let ends = last_operands(test);
            writer.copy_all(inner, ends.get(1..).unwrap_or_default(), &memory.passed)?;
            Ok(ends.first().map(|c| writer.scalars.lookup(*c)).into_iter().collect())
        })?;
        let step = self.region(build, Upstream::ScfYield, |writer, inner| {
            writer.block(inner, step)?;
            let next = layout.plan.of_all(&last_operands(step))?;
            let mut sources = next.clone();
            for (i, saved) in memory.saved.iter().enumerate() {
                if let Some(saved) = saved {
                    let safe = writer.place(inner, *saved);
                    writer.copy(inner, next[i], Some(safe))?;
                    sources[i] = *saved;
                }
            }
            for (from, to) in sources.iter().zip(&memory.state) {
                writer.copy(inner, *from, writer.memory[*to])?;
            }
            Ok(Vec::new())
        })?;
        build.op_with_regions(Upstream::While.name(), &[], &[], &[], vec![test, step]);
        Ok(())
    }

    /// A region of one block without arguments, ended by a terminator with the operands `body` gives.
    fn region(
        &mut self,
        build: &Build<'c>,
        terminator: Upstream,
        body: impl FnOnce(&mut Self, &Build<'c>) -> Result<Vec<Value<'c>>, PassError<'c>>,
    ) -> Result<Region<'c>, PassError<'c>> {
        let mut outcome = Ok(());
        let region = build.region(&[], |inner, _| match body(self, &inner) {
            Ok(operands) => drop(inner.op(terminator.name(), &operands, &[], &[])),
            Err(error) => outcome = Err(error),
        });
        outcome.map(|()| region)
    }
}
