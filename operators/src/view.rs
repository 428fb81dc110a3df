//! Tensors in memory of the caller's: what a run reads without a copy.

use crate::tensor::bytes_of;
use crate::{DType, Tensor, TensorError, TensorType};

/// A dense tensor in row-major order, in memory that somebody else has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorView<'a> {
    dtype: DType,
    shape: Vec<usize>,
    bytes: &'a [u8],
}

impl<'a> TensorView<'a> {
    /// A tensor of bytes in native order. They need no alignment, but a run copies those that have not that of their element.
    pub fn new(dtype: DType, shape: &[usize], bytes: &'a [u8]) -> Result<Self, TensorError> {
        let expected = bytes_of(dtype, shape)?;
        match bytes.len() == expected {
            true => Ok(TensorView { dtype, shape: shape.to_vec(), bytes }),
            false => Err(TensorError::Size { dtype, shape: shape.to_vec(), expected, found: bytes.len() }),
        }
    }
}

/// What has the elements of a dense tensor.
pub trait AsTensor {
    /// The element type.
    fn dtype(&self) -> DType;
    /// The extents, outermost first.
    fn shape(&self) -> &[usize];
    /// The elements in row-major order, as bytes in native order.
    fn bytes(&self) -> &[u8];

    /// Its type.
    fn tensor_type(&self) -> TensorType {
        let shape: Vec<u64> = self.shape().iter().map(|&n| n as u64).collect();
        TensorType::fixed(&shape, self.dtype())
    }
}

impl AsTensor for TensorView<'_> {
    fn dtype(&self) -> DType {
        self.dtype
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn bytes(&self) -> &[u8] {
        self.bytes
    }
}

impl AsTensor for Tensor {
    fn dtype(&self) -> DType {
        Tensor::dtype(self)
    }

    fn shape(&self) -> &[usize] {
        Tensor::shape(self)
    }

    fn bytes(&self) -> &[u8] {
        Tensor::bytes(self)
    }
}

impl<T: AsTensor> AsTensor for &T {
    fn dtype(&self) -> DType {
        (**self).dtype()
    }

    fn shape(&self) -> &[usize] {
        (**self).shape()
    }

    fn bytes(&self) -> &[u8] {
        (**self).bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_has_as_many_bytes_as_its_shape_says() {
        let view = TensorView::new(DType::I16, &[2], &[1, 0, 2, 0]).unwrap();
        assert_eq!(view.tensor_type().to_string(), "tensor<2xi16>");
        let short = TensorView::new(DType::I16, &[2], &[1, 0]).unwrap_err();
        assert!(short.to_string().contains("needs 4 bytes, found 2"), "{short}");
    }
}
