//! Tensors that a model holds by the places of their elements, as dense ones.
//!
//! ```text
//!   values [n],  indices [n] (row-major places) or [n, rank],  dims        =>    zeros of dims, and each value at its place
//! ```

use super::proto::SparseTensorProto;
use super::tensor::{MOST_EXTENT, TensorProtoError, tensor};
use fusion_operators::{DType, Tensor};
use std::path::Path;

/// Bytes of a dense tensor: few places can say that it is larger than memory.
const MOST_BYTES: u64 = 1 << 32;

/// The dense tensor; `directory` is where external data may lie.
pub fn dense(proto: &SparseTensorProto, directory: Option<&Path>) -> Result<Tensor, TensorProtoError> {
    let name = || proto.values.as_ref().map(|values| values.name.clone()).unwrap_or_default();
    let wrong = |why: String| TensorProtoError::Sparse { name: name(), why };
    let (Some(values), Some(indices)) = (&proto.values, &proto.indices) else {
        return Err(wrong("it has no values or no indices".into()));
    };
    let (values, places) = (tensor(values, directory)?, tensor(indices, directory)?);
    if values.dtype() == DType::String {
        return Err(wrong("it is of strings, which are not supported".into()));
    }
    let shape = extents(&proto.dims, values.dtype().size())
        .ok_or_else(|| wrong(format!("its extents {:?} are out of range", proto.dims)))?;
    let is_flat = match places.shape() {
        [count] if [*count] == values.shape() => true,
        [count, rank] if [*count] == values.shape() && *rank == shape.len() => false,
        found => {
            let (values, shape) = (values.shape(), &shape);
            return Err(wrong(format!(
                "indices of shape {found:?} are none of {values:?} values in {shape:?}"
            )));
        }
    };
    if places.dtype() != DType::I64 {
        return Err(wrong(format!("its indices are i64, found {}", places.dtype())));
    }
    let (size, count) = (values.dtype().size(), shape.iter().product::<usize>());
    let mut bytes = vec![0; size * count];
    let places: Vec<usize> =
        places.to_ints().into_iter().map(|n| usize::try_from(n).unwrap_or(usize::MAX)).collect();
    for (at, value) in values.bytes().chunks_exact(size).enumerate() {
        let place = match is_flat {
            true => Some(places[at]).filter(|place| *place < count),
            false => flat(&places[at * shape.len()..][..shape.len()], &shape),
        };
        let place = place.ok_or_else(|| wrong(format!("index {at} lies outside of {shape:?}")))?;
        bytes[place * size..][..size].copy_from_slice(value);
    }
    Tensor::from_bytes(values.dtype(), &shape, bytes)
        .map_err(|source| TensorProtoError::Tensor { name: name(), source })
}

fn extents(dims: &[i64], size: usize) -> Option<Vec<usize>> {
    let known = |&n: &i64| u64::try_from(n).ok().filter(|n| *n <= MOST_EXTENT);
    let shape: Vec<u64> = dims.iter().map(known).collect::<Option<_>>()?;
    let bytes = shape.iter().try_fold(size as u64, |bytes, n| bytes.checked_mul((*n).max(1)))?;
    (bytes <= MOST_BYTES).then(|| shape.into_iter().map(|n| n as usize).collect())
}

/// The row-major place of an index.
fn flat(index: &[usize], shape: &[usize]) -> Option<usize> {
    index.iter().zip(shape).try_fold(0, |place, (i, n)| (i < n).then_some(place * n + i))
}
