//! Shapes and tensor types, with symbolic and unknown extents.

use crate::{DType, Dim};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A ranked tensor type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TensorType {
    /// Extents, outermost first.
    pub dims: Vec<Dim>,
    /// Element type.
    pub dtype: DType,
}

impl TensorType {
    /// A tensor type of known or unknown extents.
    pub fn new(dims: Vec<Dim>, dtype: DType) -> Self {
        TensorType { dims, dtype }
    }

    /// A tensor type whose extents are all known.
    pub fn fixed(shape: &[u64], dtype: DType) -> Self {
        TensorType { dims: shape.iter().map(|&n| Dim::Static(n)).collect(), dtype }
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// The extents when all are known.
    pub fn shape(&self) -> Option<Vec<u64>> {
        self.dims.iter().map(Dim::known).collect()
    }

    /// Number of elements when all extents are known.
    pub fn elements(&self) -> Option<u64> {
        self.dims.iter().try_fold(1u64, |n, d| n.checked_mul(d.known()?))
    }

    /// Bytes in memory when all extents are known.
    pub fn bytes(&self) -> Option<u64> {
        self.elements()?.checked_mul(self.dtype.size() as u64)
    }

    /// Same element type and rank, and no extent that contradicts.
    pub fn compatible(&self, other: &TensorType) -> bool {
        self.dtype == other.dtype
            && self.rank() == other.rank()
            && self.dims.iter().zip(&other.dims).all(|(a, b)| a.compatible(b))
    }

    /// The same shape with another element type.
    pub fn with_dtype(&self, dtype: DType) -> TensorType {
        TensorType { dims: self.dims.clone(), dtype }
    }
}

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tensor<")?;
        for dim in &self.dims {
            write!(f, "{dim}x")?;
        }
        write!(f, "{}>", self.dtype)
    }
}
