//! Tensors as arrays of the crate ndarray.

use crate::error::Error;
use fusion_operators::TensorView;
use fusion_operators::tensor::{Element, Tensor};
use ndarray::{ArrayBase, ArrayD, Data, Dimension, IxDyn};

/// An array as an input, without a copy. Its elements must lie in row-major order; `as_standard_layout` has them do so.
///
/// ```
/// let x = ndarray::arr2(&[[1.0f32, 2.0], [3.0, 4.0]]);
/// assert!(fusion::view(&x).is_ok());
/// assert!(fusion::view(&x.t()).is_err());
/// ```
pub fn view<'a, T, S, D>(array: &'a ArrayBase<S, D>) -> Result<TensorView<'a>, Error>
where
    T: Element,
    S: Data<Elem = T>,
    D: Dimension,
{
    let elements = array.as_slice().ok_or_else(|| {
        let (shape, strides) = (array.shape(), array.strides());
        Error::Layout(format!(
            "the array of shape {shape:?} has strides {strides:?}, and a run takes row-major arrays; give array.as_standard_layout()"
        ))
    })?;
    Ok(TensorView::new(T::DTYPE, array.shape(), bytemuck::cast_slice(elements))?)
}

/// A tensor as an array.
///
/// ```
/// let y = fusion::Tensor::from_slice(&[2, 1], &[1.0f32, 2.0])?;
/// assert_eq!(fusion::array::<f32>(&y)?, ndarray::arr2(&[[1.0], [2.0]]).into_dyn());
/// # Ok::<(), fusion::Error>(())
/// ```
pub fn array<T: Element>(tensor: &Tensor) -> Result<ArrayD<T>, Error> {
    let elements = tensor.to_vec::<T>().ok_or_else(|| {
        Error::Layout(format!(
            "the tensor has elements of {}, and those asked for are {}",
            tensor.dtype(),
            T::DTYPE
        ))
    })?;
    ArrayD::from_shape_vec(IxDyn(tensor.shape()), elements).map_err(|error| Error::Layout(error.to_string()))
}
