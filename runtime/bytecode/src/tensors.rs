//! What the interface of compiled models needs to know of a program.

use crate::{Program, ValueType};
use fusion_operators::TensorType;

impl Program {
    /// The tensors that the program gives, those of tuples in order: where it takes and gives tensors of known shapes and nothing
    /// else, as a compiled model does.
    pub fn tensors_given(&self) -> Option<Vec<TensorType>> {
        let known = |ty: &ValueType| matches!(ty, ValueType::Tensor(ty) if ty.shape().is_some());
        let takes_tensors = self.inputs.iter().all(|(_, ty)| known(ty));
        takes_tensors.then(|| tensors_of(&self.output)).flatten()
    }

    /// Bytes of workspace that kernels need; no two run at a time.
    pub fn workspace_bytes(&self) -> u64 {
        self.kernels.iter().map(|kernel| kernel.workspace_bytes).max().unwrap_or(0)
    }
}

fn tensors_of(ty: &ValueType) -> Option<Vec<TensorType>> {
    match ty {
        ValueType::Tensor(ty) => ty.shape().map(|_| vec![ty.clone()]),
        ValueType::Tuple(elements) => {
            let parts: Option<Vec<_>> = elements.iter().map(tensors_of).collect();
            Some(parts?.into_iter().flatten().collect())
        }
        ValueType::Data(..) | ValueType::Cell(_) | ValueType::Function | ValueType::Parameter(_) => None,
    }
}
