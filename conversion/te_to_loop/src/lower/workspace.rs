//! Memory for what a kernel computes on its way: parts of the workspace that the caller passes, one after another, or buffers of its own.

use super::interface::Interface;
use super::{ALIGNMENT, Lowering};
use fusion_dialects::loops::{Buffer, Loops, Scope};
use fusion_dialects::te::Scalars;
use fusion_dialects::{Build, OpExt, PassError, Value, buffer_type, key, tensor_type};
use fusion_operators::{DType, TensorType};
use fusion_schedule::layout::Layout;
use fusion_schedule::schedule::{Attach, Schedule, Stage, StageId, Store};

/// Local buffers above this many bytes do not go on the stack.
const LARGE: u64 = 16 << 10;

/// Elements of a buffer for a tensor of that shape.
pub fn room(shape: &[u64], layout: Option<&Layout>) -> u64 {
    let whole = || shape.iter().fold(1u64, |all, n| all.saturating_mul(*n));
    layout.map_or_else(whole, |l| l.strides(shape).1)
}

/// That many elements of the workspace from an offset in bytes on.
fn part<'c>(
    build: &Build<'c>,
    workspace: Value<'c>,
    offset: u64,
    (elements, dtype): (u64, DType),
) -> Value<'c> {
    let offset = Scalars { build: *build }.index(offset as i64);
    build.value("memref.view", &[workspace, offset], buffer_type(build.context(), elements, dtype), &[])
}

/// Where what stands on its own, and is computed in no argument, is to lie.
pub struct Buffers<'c> {
    /// Tensors in the workspace, and where in it they begin.
    offsets: Vec<(Value<'c>, u64)>,
    /// Tensors in a memory of their own.
    scoped: Vec<(Value<'c>, Scope)>,
    /// Bytes of the workspace that are taken.
    pub bytes: u64,
}

impl<'c> Buffers<'c> {
    /// One after another.
    pub fn of(tree: &Schedule<'c>, interface: &Interface<'c>) -> Result<Self, PassError<'c>> {
        let mut buffers = Buffers { offsets: Vec::new(), scoped: Vec::new(), bytes: 0 };
        for (_, stage) in tree.stages.iter().enumerate().filter(|(id, _)| has_place(tree, *id)) {
            let own = stage.op.result_values().into_iter().filter(|r| !interface.is_direct(*r));
            if let Some(scope) = stage.scope.filter(|s| *s != Scope::Global) {
                buffers.scoped.extend(own.map(|result| (result, scope)));
                continue;
            }
            for result in own {
                buffers.offsets.push((result, buffers.bytes));
                buffers.take(stage, interface.known(result)?.0)?;
            }
        }
        Ok(buffers)
    }

    /// Takes room for a result of that type.
    fn take(&mut self, stage: &Stage<'c>, ty: TensorType) -> Result<(), PassError<'c>> {
        let held = match stage.is_narrowed() {
            true => stage.part().into_iter().map(|(_, extent)| extent).collect(),
            false => ty.shape().unwrap_or_default(),
        };
        let elements = room(&stage.padded(held), stage.layout.as_ref());
        let bytes = elements.checked_mul(ty.dtype.size() as u64).ok_or_else(|| {
            PassError::at(
                stage.op,
                format_args!("has a result of type {ty}, which is more than can be addressed"),
            )
        })?;
        // A tensor without elements has a place as well.
        let taken = bytes.max(1).checked_next_multiple_of(ALIGNMENT);
        self.bytes = taken
            .and_then(|n| self.bytes.checked_add(n))
            .ok_or_else(|| PassError::at(stage.op, "needs a workspace that is more than can be addressed"))?;
        Ok(())
    }
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

impl<'c> Lowering<'c, '_> {
    pub(super) fn place_buffers(&mut self, loops: &Loops<'c>, buffers: &Buffers<'c>, workspace: Value<'c>) {
        for (tensor, offset) in &buffers.offsets {
            let buffer = self.view(&loops.build, *tensor, workspace, *offset);
            self.place_whole(*tensor, buffer);
        }
        for (tensor, scope) in &buffers.scoped {
            let Some(ty) = tensor_type(*tensor) else { continue };
            let stage = self.stage_of.get(&key(*tensor)).map(|(stage, _)| *stage);
            let loops = &stage.map_or(*loops, |stage| self.at_scope(loops, stage));
            let buffer = loops.alloc(self.room_of(*tensor), ty.dtype, *scope);
            self.place_whole(*tensor, buffer.value);
        }
    }

    /// Elements of the buffer of a whole tensor.
    pub(super) fn room_of(&self, tensor: Value<'c>) -> u64 {
        room(&self.held(tensor).1, self.layout_of(tensor).as_ref())
    }

    /// A buffer for a part of a stage that is computed inside a loop: a large one is a part of the workspace, unless
    /// iterations that run at the same time would share it.
    pub(super) fn local(
        &mut self,
        loops: &Loops<'c>,
        elements: u64,
        dtype: DType,
        scope: Option<Scope>,
    ) -> Buffer<'c> {
        let bytes = elements.saturating_mul(dtype.size() as u64);
        let workspace = self.workspace.filter(|_| {
            let far = scope.map_or(bytes > LARGE, |s| s == Scope::Global);
            far && self.parallel_loops == 0
        });
        let Some(workspace) = workspace else {
            let scope = scope.unwrap_or(Scope::Local);
            if let Some(buffer) =
                Some(bytes).filter(|n| *n > LARGE).and_then(|_| self.buffer_of_way(elements, dtype, scope))
            {
                return buffer;
            }
            return loops.alloc(elements, dtype, scope);
        };
        let offset = self.workspace_bytes;
        self.workspace_bytes = offset.saturating_add(bytes.next_multiple_of(ALIGNMENT));
        Buffer { value: part(&loops.build, workspace, offset, (elements, dtype)), dtype }
    }

    /// A tensor's part of the workspace.
    pub(super) fn view(
        &self,
        build: &Build<'c>,
        tensor: Value<'c>,
        workspace: Value<'c>,
        offset: u64,
    ) -> Value<'c> {
        let Some(ty) = tensor_type(tensor) else { return workspace };
        part(build, workspace, offset, (self.room_of(tensor), ty.dtype))
    }
}
