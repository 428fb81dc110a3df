//! Shapes and tensor types, with symbolic and unknown extents.

use crate::DType;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One extent of a shape.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Dim {
    /// A known extent.
    Static(u64),
    /// A named extent: the same name is the same number everywhere in a function.
    Symbol(String),
    /// Relay's `Any`: an extent known only at run time.
    Any,
}

impl Dim {
    /// The extent when it is known.
    pub fn known(&self) -> Option<u64> {
        match self {
            Dim::Static(n) => Some(*n),
            _ => None,
        }
    }

    /// True when the two extents can be equal at run time.
    pub fn compatible(&self, other: &Dim) -> bool {
        match (self, other) {
            (Dim::Static(a), Dim::Static(b)) => a == b,
            _ => true,
        }
    }

    /// Whichever of two compatible extents says more.
    pub fn meet(&self, other: &Dim) -> Dim {
        match (self, other) {
            (Dim::Static(_), _) | (_, Dim::Any) => self.clone(),
            (_, Dim::Static(_)) | (Dim::Any, _) => other.clone(),
            _ => self.clone(),
        }
    }
}

impl From<u64> for Dim {
    fn from(extent: u64) -> Self {
        Dim::Static(extent)
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dim::Static(n) => write!(f, "{n}"),
            Dim::Symbol(name) => f.write_str(name),
            Dim::Any => f.write_str("?"),
        }
    }
}

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
