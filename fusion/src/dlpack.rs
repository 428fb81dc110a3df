//! Tensors of other libraries, by DLPack's C interface (version 0.8: `DLManagedTensor`).
//!
//! ```text
//!     library --DLManagedTensor--> DlTensor --view--> Module::run --Tensor--> export --DLManagedTensor--> library
//! ```
//!
//! A managed tensor has one owner, who calls its deleter once. Only dense row-major tensors in host memory are taken.
#![allow(unsafe_code)]

use crate::error::Error;
use fusion_operators::tensor::bytes_of;
use fusion_operators::{DType, Tensor, TensorView};
use std::ffi::c_void;
use std::ops::Range;
use std::ptr::{self, NonNull};

/// `DLDevice`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DLDevice {
    /// The kind of device; 1 for the host.
    pub device_type: i32,
    /// Its number.
    pub device_id: i32,
}

/// `DLDataType`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLDataType {
    /// The class: 0 signed, 1 unsigned, 2 float, 4 bfloat, 6 bool.
    pub code: u8,
    /// Bits of a number.
    pub bits: u8,
    /// Numbers of an element.
    pub lanes: u16,
}

/// `DLTensor`.
#[repr(C)]
#[derive(Debug)]
pub struct DLTensor {
    /// The memory.
    pub data: *mut c_void,
    /// Where it is.
    pub device: DLDevice,
    /// The number of axes.
    pub ndim: i32,
    /// The element type.
    pub dtype: DLDataType,
    /// The extents.
    pub shape: *mut i64,
    /// Elements from one to the next along each axis; null for row-major.
    pub strides: *mut i64,
    /// Bytes from the start of the memory to the first element.
    pub byte_offset: u64,
}

/// `DLManagedTensor`.
#[repr(C)]
#[derive(Debug)]
pub struct DLManagedTensor {
    /// The tensor.
    pub dl_tensor: DLTensor,
    /// The owner's.
    pub manager_ctx: *mut c_void,
    /// Frees it.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensor)>,
}

const HOST: i32 = 1;

const TYPES: [(DType, u8); 13] = [
    (DType::F64, 2),
    (DType::F32, 2),
    (DType::F16, 2),
    (DType::BF16, 4),
    (DType::I64, 0),
    (DType::I32, 0),
    (DType::I16, 0),
    (DType::I8, 0),
    (DType::U64, 1),
    (DType::U32, 1),
    (DType::U16, 1),
    (DType::U8, 1),
    (DType::Bool, 6),
];

fn data_type((dtype, code): (DType, u8)) -> DLDataType {
    DLDataType { code, bits: 8 * dtype.size() as u8, lanes: 1 }
}

/// A tensor of another library. Its deleter is called when this goes.
///
/// ```
/// use fusion::dlpack::{DlTensor, export};
/// use fusion::{AsTensor, Tensor};
///
/// let exported = export(Tensor::from_slice(&[2], &[1.0f32, 2.0])?);
/// // SAFETY: the managed tensor was just made, and nobody else has it.
/// let imported = unsafe { DlTensor::import(exported) }?;
/// assert_eq!(imported.view()?.shape(), [2]);
/// # Ok::<(), fusion::Error>(())
/// ```
#[derive(Debug)]
pub struct DlTensor {
    managed: NonNull<DLManagedTensor>,
    dtype: DType,
    shape: Vec<usize>,
    bytes: usize,
}

impl DlTensor {
    /// Takes a managed tensor over. Where it is refused, its deleter is called as well.
    ///
    /// # Safety
    /// `managed` is null or a managed tensor as DLPack defines it, which nobody else owns; until its deleter is called its memory stays
    /// readable and nobody writes it.
    pub unsafe fn import(managed: *mut DLManagedTensor) -> Result<DlTensor, Error> {
        let Some(managed) = NonNull::new(managed) else {
            return Err(Error::Layout("the DLPack tensor is a null pointer".to_owned()));
        };
        let mut taken = DlTensor { managed, dtype: DType::U8, shape: Vec::new(), bytes: 0 };
        // SAFETY: the caller says that it is a managed tensor, which is now ours.
        let tensor = unsafe { &managed.as_ref().dl_tensor };
        if tensor.device.device_type != HOST {
            let kind = tensor.device.device_type;
            return Err(refused(format!("lies on a device of kind {kind}, and host memory (1) is expected")));
        }
        let found = TYPES.into_iter().find(|known| data_type(*known) == tensor.dtype);
        let Some((dtype, _)) = found else {
            return Err(refused(format!("has elements of {:?}, which are no element type", tensor.dtype)));
        };
        let rank = usize::try_from(tensor.ndim).map_err(|_| refused("has a negative number of axes"))?;
        // SAFETY: a tensor has an extent for each axis, and a stride where there are strides.
        let (extents, strides) = unsafe { (list(tensor.shape, rank), list(tensor.strides, rank)) };
        let extents = extents.ok_or_else(|| refused("has axes and no extents"))?;
        let shape: Option<Vec<usize>> = extents.iter().map(|&n| usize::try_from(n).ok()).collect();
        taken.shape = shape.ok_or_else(|| refused(format!("has a negative extent in {extents:?}")))?;
        taken.dtype = dtype;
        taken.bytes = bytes_of(dtype, &taken.shape)?;
        if let Some(strides) = strides.filter(|_| taken.bytes > 0) {
            let mut expected = 1;
            for (&stride, &extent) in strides.iter().zip(extents).rev() {
                if extent != 1 && stride != expected {
                    return Err(refused(format!(
                        "of shape {extents:?} has strides {strides:?}, and a row-major tensor is expected; copy it into one"
                    )));
                }
                expected *= extent;
            }
        }
        if taken.bytes > 0 && tensor.data.is_null() {
            return Err(refused("has elements and no memory"));
        }
        Ok(taken)
    }

    /// The tensor, to run a model on.
    pub fn view(&self) -> Result<TensorView<'_>, Error> {
        let bytes = match self.bytes {
            0 => &[][..],
            // SAFETY: it was checked to be dense and in host memory; that memory stays readable and unwritten while this lives.
            len => unsafe { std::slice::from_raw_parts(self.first(), len) },
        };
        Ok(TensorView::new(self.dtype, &self.shape, bytes)?)
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The extents.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The addresses of its bytes.
    pub fn addresses(&self) -> Range<usize> {
        let first = self.first() as usize;
        first..first.wrapping_add(self.bytes)
    }

    /// Where its first byte is.
    fn first(&self) -> *mut u8 {
        // SAFETY: the managed tensor is ours.
        let tensor = unsafe { &self.managed.as_ref().dl_tensor };
        tensor.data.cast::<u8>().wrapping_add(tensor.byte_offset as usize)
    }

    /// Its bytes, for a run to write.
    ///
    /// # Safety
    /// The memory may be written, and nobody else reads or writes it while the result is used.
    pub unsafe fn bytes_mut(&mut self) -> &mut [u8] {
        match self.bytes {
            0 => &mut [],
            // SAFETY: it was checked to be dense and in host memory; the caller says that it may be written.
            len => unsafe { std::slice::from_raw_parts_mut(self.first(), len) },
        }
    }
}

impl Drop for DlTensor {
    fn drop(&mut self) {
        // SAFETY: the managed tensor is ours, and this is the only call of its deleter.
        unsafe {
            if let Some(deleter) = self.managed.as_ref().deleter {
                deleter(self.managed.as_ptr());
            }
        }
    }
}

/// # Safety
/// `start` is null or the first of `len` numbers that outlive the result.
unsafe fn list<'a>(start: *const i64, len: usize) -> Option<&'a [i64]> {
    match len {
        0 => Some(&[]),
        // SAFETY: as the caller says.
        _ => (!start.is_null()).then(|| unsafe { std::slice::from_raw_parts(start, len) }),
    }
}

fn refused(why: impl std::fmt::Display) -> Error {
    Error::Layout(format!("the DLPack tensor {why}"))
}

/// What an exported tensor keeps.
struct Exported {
    managed: DLManagedTensor,
    tensor: Tensor,
    shape: Vec<i64>,
}

/// Gives a tensor to another library, which owns it from now on and calls its deleter.
pub fn export(tensor: Tensor) -> *mut DLManagedTensor {
    let code = TYPES.into_iter().find(|(dtype, _)| *dtype == tensor.dtype()).map_or(0, |(_, code)| code);
    let dl_tensor = DLTensor {
        data: ptr::null_mut(),
        device: DLDevice { device_type: HOST, device_id: 0 },
        ndim: tensor.shape().len() as i32,
        dtype: data_type((tensor.dtype(), code)),
        shape: ptr::null_mut(),
        strides: ptr::null_mut(),
        byte_offset: 0,
    };
    let shape = tensor.shape().iter().map(|&n| n as i64).collect();
    let managed = DLManagedTensor { dl_tensor, manager_ctx: ptr::null_mut(), deleter: Some(delete) };
    let owner = Box::into_raw(Box::new(Exported { managed, tensor, shape }));
    // SAFETY: the box was just made, and is freed by `delete` alone.
    unsafe {
        let Exported { managed, tensor, shape } = &mut *owner;
        managed.dl_tensor.data = tensor.bytes_mut().as_mut_ptr().cast();
        managed.dl_tensor.shape = shape.as_mut_ptr();
        managed.manager_ctx = owner.cast();
        managed
    }
}

unsafe extern "C" fn delete(managed: *mut DLManagedTensor) {
    // SAFETY: who calls a deleter gives the tensor that it belongs to, once; its context is the box that `export` made.
    unsafe { drop(Box::from_raw((*managed).manager_ctx.cast::<Exported>())) }
}
