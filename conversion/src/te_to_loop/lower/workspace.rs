//! Memory for what a kernel computes on its way: parts of the workspace that the caller passes, or buffers of its own.

use super::{ALIGNMENT, Lowering};
use fusion_dialects::loops::{Buffer, Loops, Scope};
use fusion_dialects::te::Scalars;
use fusion_dialects::{Build, Value, buffer_type, tensor_type};
use fusion_operators::DType;
use fusion_transforms::te::layout::Layout;

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

impl<'c> Lowering<'c, '_> {
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
            return loops.alloc(elements, dtype, scope.unwrap_or(Scope::Local));
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
