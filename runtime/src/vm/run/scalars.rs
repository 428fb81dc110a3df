//! Numbers by themselves, in and out of tensors of rank 0.

use super::{State, Step};
use crate::vm::heap::{Handle, Sort};
use fusion_bytecode::Register;
use fusion_operators::DType;

impl State {
    /// The bits of a number of that type.
    #[inline]
    pub(super) fn bits(&self, register: Register, ty: DType) -> Step<u64> {
        let value = self.get(register);
        match value.sort() {
            Sort::Tensor(slot) if self.heap.tensors.is_scalar(slot, ty) => {
                Ok(self.heap.tensors.scalar_bits(slot))
            }
            _ => Err(format!("a tensor<{ty}> was expected, found {}", self.what(value))),
        }
    }

    #[inline]
    pub(super) fn set_bits(&mut self, to: Register, ty: DType, bits: u64) -> Step<()> {
        let slot = self.heap.tensors.new_scalar(ty, bits).map_err(|error| error.to_string())?;
        self.set(to, Handle::tensor(slot));
        Ok(())
    }
}
