//! Tensors in host memory: dense, row-major, with their element type at run time.

use crate::aligned::AlignedBuffer;
use crate::{DType, TensorType, dtype::Class, narrow};
use half::{bf16, f16};
use std::sync::Arc;

/// What the elements of a tensor of strings are numbers of.
pub(crate) type Strings = Arc<[Arc<str>]>;

/// A dense tensor in row-major order, whose first element is aligned to a line of the caches. Copies share their elements until one of
/// them is written to: weights go through a compiler by the gigabyte.
#[derive(Clone, PartialEq)]
pub struct Tensor {
    dtype: DType,
    shape: Vec<usize>,
    data: Arc<AlignedBuffer>,
    /// What elements of [`DType::String`] are numbers of.
    pub(crate) strings: Option<Strings>,
}

impl AsRef<[u8]> for Tensor {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

/// Why bytes are not a tensor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TensorError {
    /// The bytes do not fill the shape.
    #[error("a {dtype} tensor of shape {shape:?} needs {expected} bytes, found {found}")]
    Size {
        /// Element type.
        dtype: DType,
        /// Shape.
        shape: Vec<usize>,
        /// Bytes the shape needs.
        expected: usize,
        /// Bytes given.
        found: usize,
    },
    /// The elements do not fit the address space, or memory.
    #[error("a tensor of shape {shape:?} is too large")]
    TooLarge {
        /// Shape.
        shape: Vec<usize>,
    },
}

impl Tensor {
    /// A tensor of bytes in native order.
    pub fn from_bytes(dtype: DType, shape: &[usize], bytes: impl AsRef<[u8]>) -> Result<Self, TensorError> {
        let bytes = bytes.as_ref();
        check(dtype, shape, bytes.len())?;
        let data = Arc::new(AlignedBuffer::of(bytes).map_err(|_| too_large(shape))?);
        Ok(Tensor { dtype, shape: shape.to_vec(), data, strings: None })
    }

    /// A tensor of zeros.
    pub fn zeros(dtype: DType, shape: &[usize]) -> Result<Self, TensorError> {
        let data = Arc::new(AlignedBuffer::zeroed(bytes_of(dtype, shape)?).map_err(|_| too_large(shape))?);
        Ok(Tensor { dtype, shape: shape.to_vec(), data, strings: None })
    }

    /// A tensor from elements of the matching Rust type.
    pub fn from_slice<T: Element>(shape: &[usize], elements: &[T]) -> Result<Self, TensorError> {
        Tensor::from_bytes(T::DTYPE, shape, bytemuck::cast_slice(elements))
    }

    /// Floats rounded to the element type; integers truncated toward zero and wrapped.
    pub fn from_f64s(dtype: DType, shape: &[usize], values: &[f64]) -> Result<Self, TensorError> {
        check(dtype, shape, values.len().saturating_mul(dtype.size()))?;
        let mut tensor = Tensor::zeros(dtype, shape)?;
        tensor.set_f64s(0, values);
        Ok(tensor)
    }

    /// Rounds numbers to the element type, and writes them from a flat index on. Panics when there are fewer elements.
    pub fn set_f64s(&mut self, first: usize, values: &[f64]) {
        let (dtype, size) = (self.dtype, self.dtype.size());
        let bytes = &mut self.bytes_mut()[first * size..][..values.len() * size];
        if dtype == DType::F32 {
            let (elements, _) = bytes.as_chunks_mut();
            elements.iter_mut().zip(values).for_each(|(to, &v)| *to = (v as f32).to_ne_bytes());
            return;
        }
        let mut data = Vec::with_capacity(bytes.len());
        values.iter().for_each(|&v| push_f64(&mut data, dtype, v));
        bytes.copy_from_slice(&data);
    }

    /// Integers wrapped to the element type, or converted to the nearest float.
    pub fn from_ints(dtype: DType, shape: &[usize], values: &[i128]) -> Result<Self, TensorError> {
        let mut data = Vec::with_capacity(values.len() * dtype.size());
        for &v in values {
            push_int(&mut data, dtype, v);
        }
        Tensor::from_bytes(dtype, shape, data)
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Extents, outermost first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.bytes().len() / self.dtype.size()
    }

    /// True when there are no elements.
    pub fn is_empty(&self) -> bool {
        self.bytes().is_empty()
    }

    /// The tensor's type.
    pub fn tensor_type(&self) -> TensorType {
        let shape: Vec<u64> = self.shape.iter().map(|&n| n as u64).collect();
        TensorType::fixed(&shape, self.dtype)
    }

    /// Bytes in native order.
    pub fn bytes(&self) -> &[u8] {
        self.data.bytes()
    }

    /// Bytes in native order, to write.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        Arc::make_mut(&mut self.data).bytes_mut()
    }

    /// The same elements under another shape of the same size.
    pub fn reshaped(self, shape: &[usize]) -> Result<Self, TensorError> {
        check(self.dtype, shape, self.bytes().len())?;
        Ok(Tensor { shape: shape.to_vec(), ..self })
    }

    /// The elements where they lie, when `T` is the element type.
    pub fn as_slice<T: Element>(&self) -> Option<&[T]> {
        (T::DTYPE == self.dtype).then(|| bytemuck::try_cast_slice(self.bytes()).ok()).flatten()
    }

    /// The elements, when `T` is the element type.
    pub fn to_vec<T: Element>(&self) -> Option<Vec<T>> {
        (T::DTYPE == self.dtype).then(|| bytemuck::pod_collect_to_vec(self.bytes()))
    }

    /// Elements as f64 (64-bit integers are rounded).
    pub fn to_f64s(&self) -> Vec<f64> {
        // Nearly all tensors are of f32: what each element is, is not asked for each again.
        if self.dtype == DType::F32 {
            let (elements, _) = self.bytes().as_chunks();
            return elements.iter().map(|&bytes| f64::from(f32::from_ne_bytes(bytes))).collect();
        }
        (0..self.len()).map(|i| self.f64_at(i)).collect()
    }

    /// Elements as f64, in order, without a copy of all.
    pub fn f64s(&self) -> impl Iterator<Item = f64> {
        const AT_ONCE: usize = 1024;
        (0..self.len()).step_by(AT_ONCE).flat_map(|first| {
            let some = first..self.len().min(first + AT_ONCE);
            match self.dtype {
                DType::F32 => {
                    let (elements, _) = self.bytes()[some.start * 4..some.end * 4].as_chunks();
                    elements.iter().map(|&bytes| f64::from(f32::from_ne_bytes(bytes))).collect()
                }
                _ => some.map(|i| self.f64_at(i)).collect::<Vec<_>>(),
            }
        })
    }

    /// Elements as integers (floats are truncated).
    pub fn to_ints(&self) -> Vec<i128> {
        (0..self.len()).map(|i| self.int_at(i)).collect()
    }

    /// Element at a flat index, as f64. Panics when the index is out of range.
    pub fn f64_at(&self, index: usize) -> f64 {
        match self.dtype {
            DType::F64 => f64::from_ne_bytes(self.raw(index)),
            DType::F32 => f32::from_ne_bytes(self.raw(index)).into(),
            DType::F16 => f16::from_ne_bytes(self.raw(index)).into(),
            DType::BF16 => bf16::from_ne_bytes(self.raw(index)).into(),
            _ => self.int_at(index) as f64,
        }
    }

    /// Element at a flat index, as an integer. Panics when the index is out of range.
    pub fn int_at(&self, index: usize) -> i128 {
        match self.dtype {
            DType::I64 => i64::from_ne_bytes(self.raw(index)).into(),
            DType::I32 => i32::from_ne_bytes(self.raw(index)).into(),
            DType::I16 => i16::from_ne_bytes(self.raw(index)).into(),
            DType::I8 => i8::from_ne_bytes(self.raw(index)).into(),
            DType::U64 | DType::String => u64::from_ne_bytes(self.raw(index)).into(),
            DType::U32 => u32::from_ne_bytes(self.raw(index)).into(),
            DType::U16 => u16::from_ne_bytes(self.raw(index)).into(),
            DType::U8 => u8::from_ne_bytes(self.raw(index)).into(),
            DType::Bool => (self.bytes()[index] != 0).into(),
            _ => self.f64_at(index) as i128,
        }
    }

    fn raw<const N: usize>(&self, index: usize) -> [u8; N] {
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.bytes()[index * N..][..N]);
        bytes
    }
}

impl std::fmt::Debug for Tensor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let more = if self.len() > 8 { "..." } else { "" };
        if self.dtype == DType::String {
            let first: Vec<&str> = self.strings().take(8).collect();
            return write!(f, "{} {first:?}{more}", self.tensor_type());
        }
        let first: Vec<f64> = (0..self.len().min(8)).map(|i| self.f64_at(i)).collect();
        write!(f, "{} {first:?}{more}", self.tensor_type())
    }
}

/// Bytes of a dense tensor, checked for overflow.
pub fn bytes_of(dtype: DType, shape: &[usize]) -> Result<usize, TensorError> {
    shape
        .iter()
        .try_fold(dtype.size(), |n, &d| n.checked_mul(d))
        .filter(|&n| n <= isize::MAX as usize)
        .ok_or_else(|| too_large(shape))
}

fn too_large(shape: &[usize]) -> TensorError {
    TensorError::TooLarge { shape: shape.to_vec() }
}

/// Says where so many bytes do not fill a shape.
fn check(dtype: DType, shape: &[usize], found: usize) -> Result<(), TensorError> {
    let expected = bytes_of(dtype, shape)?;
    match found == expected {
        true => Ok(()),
        false => Err(TensorError::Size { dtype, shape: shape.to_vec(), expected, found }),
    }
}

/// Appends a float, rounded or truncated to the element type.
pub fn push_f64(data: &mut Vec<u8>, dtype: DType, v: f64) {
    match dtype {
        DType::F64 => data.extend(v.to_ne_bytes()),
        DType::F32 => data.extend((v as f32).to_ne_bytes()),
        DType::F16 => data.extend(narrow::to_f16(v).to_ne_bytes()),
        DType::BF16 => data.extend(narrow::to_bf16(v).to_ne_bytes()),
        DType::Bool => data.push((v != 0.0).into()),
        _ => push_int(data, dtype, v as i128),
    }
}

/// Appends an integer, wrapped to the element type.
pub fn push_int(data: &mut Vec<u8>, dtype: DType, v: i128) {
    match (dtype.class(), dtype.size()) {
        (Class::Bool, _) => data.push((v != 0).into()),
        (Class::Float, _) => push_f64(data, dtype, v as f64),
        (_, 8) => data.extend((v as i64).to_ne_bytes()),
        (_, 4) => data.extend((v as i32).to_ne_bytes()),
        (_, 2) => data.extend((v as i16).to_ne_bytes()),
        _ => data.push(v as u8),
    }
}

/// Rust types that are element types.
pub trait Element: bytemuck::Pod {
    /// The element type.
    const DTYPE: DType;
}

macro_rules! element {
    ($($t:ty => $d:ident),*) => { $(impl Element for $t { const DTYPE: DType = DType::$d; })* };
}
element!(f64 => F64, f32 => F32, i64 => I64, i32 => I32, i16 => I16, i8 => I8, u64 => U64, u32 => U32, u16 => U16, u8 => U8);
