//! What the interface of compiled models needs to know of a program.

use crate::{Program, ValueType};
use fusion_operators::{DType, TensorType};

impl Program {
    /// The tensors that the program gives, those of tuples in order: where it takes and gives tensors of known shapes and nothing
    /// else, as a compiled model does. Strings have other elements outside of the program than inside.
    pub fn tensors_given(&self) -> Option<Vec<TensorType>> {
        let known = |ty: &ValueType| matches!(ty, ValueType::Tensor(ty) if is_known(ty));
        let takes_tensors = self.inputs.iter().all(|(_, ty)| known(ty));
        takes_tensors.then(|| tensors_of(&self.output)).flatten()
    }

    /// Bytes of workspace that kernels need; no two run at a time.
    pub fn workspace_bytes(&self) -> u64 {
        self.kernels.iter().map(|kernel| kernel.workspace_bytes).max().unwrap_or(0)
    }
}

fn is_known(ty: &TensorType) -> bool {
    ty.dtype != DType::String && ty.shape().is_some()
}

fn tensors_of(ty: &ValueType) -> Option<Vec<TensorType>> {
    match ty {
        ValueType::Tensor(ty) => is_known(ty).then(|| vec![ty.clone()]),
        ValueType::Tuple(elements) => {
            let parts: Option<Vec<_>> = elements.iter().map(tensors_of).collect();
            Some(parts?.into_iter().flatten().collect())
        }
        ValueType::Data(..) | ValueType::Cell(_) | ValueType::Function | ValueType::Parameter(_) => None,
    }
}
