//! Tensors in memory of the caller's that a run writes.

use super::{Module, RunError};
use crate::description::ArgumentDescription;
use fusion_operators::tensor::bytes_of;
use fusion_operators::{DType, TensorError, TensorType};

/// A dense tensor in row-major order, in memory that somebody else has, for a run to write.
#[derive(Debug)]
pub struct TensorViewMut<'a> {
    dtype: DType,
    shape: &'a [usize],
    bytes: &'a mut [u8],
}

impl<'a> TensorViewMut<'a> {
    /// A tensor of bytes in native order, aligned to their element.
    pub fn new(dtype: DType, shape: &'a [usize], bytes: &'a mut [u8]) -> Result<Self, TensorError> {
        let expected = bytes_of(dtype, shape)?;
        match bytes.len() == expected {
            true => Ok(TensorViewMut { dtype, shape, bytes }),
            false => Err(TensorError::Size { dtype, shape: shape.to_vec(), expected, found: bytes.len() }),
        }
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        self.bytes
    }

    fn tensor_type(&self) -> TensorType {
        let shape: Vec<u64> = self.shape.iter().map(|&n| n as u64).collect();
        TensorType::fixed(&shape, self.dtype)
    }
}

impl Module {
    /// Whether these are as many outputs, of the types that the model gives. That no two of them, nor inputs, share memory follows from how they are borrowed.
    pub(super) fn check_outputs(&self, outputs: &[TensorViewMut]) -> Result<(), RunError> {
        let expected = &self.description.outputs;
        if outputs.len() != expected.len() {
            return Err(RunError::Outputs { expected: expected.len(), found: outputs.len() });
        }
        for (output, expected) in outputs.iter().zip(expected) {
            let ArgumentDescription { name, dtype, shape, .. } = expected;
            if output.dtype != *dtype || output.shape != *shape {
                let (expected, found) = (expected.tensor_type(), output.tensor_type());
                return Err(RunError::Output { name: name.clone(), expected, found });
            }
            if output.bytes.as_ptr().align_offset(dtype.size()) != 0 {
                return Err(RunError::Unaligned { name: name.clone(), bytes: dtype.size() });
            }
        }
        Ok(())
    }
}
