//! Tensors and strings as the C interface of `docs/reference/abi.md` has them.
#![allow(unsafe_code)]

use fusion_operators::DType;
use std::ffi::c_void;

/// `struct fusion_tensor`.
#[repr(C)]
pub(crate) struct RawTensor {
    data: *mut c_void,
    dtype: u32,
    ndim: u32,
    shape: *const i64,
    strides: *const i64,
}

/// `struct fusion_string`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct RawString {
    data: *const u8,
    bytes: u64,
}

impl RawTensor {
    /// A dense tensor.
    pub(crate) fn of(dtype: DType, shape: &[i64], data: *mut c_void) -> RawTensor {
        let dtype = DType::ALL.iter().position(|&other| other == dtype).unwrap_or(0) as u32;
        RawTensor { data, dtype, ndim: shape.len() as u32, shape: shape.as_ptr(), strides: std::ptr::null() }
    }

    /// The element type and the extents, where they are some.
    ///
    /// # Safety
    ///
    /// The extents lie where it says.
    pub(crate) unsafe fn dtype_and_shape(&self) -> Option<(DType, Vec<usize>)> {
        let dtype = DType::ALL.get(self.dtype as usize).copied()?;
        if self.ndim == 0 {
            return Some((dtype, Vec::new()));
        }
        // SAFETY: on the caller's word.
        let extents = unsafe { std::slice::from_raw_parts(self.shape, self.ndim as usize) };
        Some((dtype, extents.iter().map(|&n| usize::try_from(n).ok()).collect::<Option<_>>()?))
    }
}

impl RawString {
    pub(crate) const NONE: RawString = RawString { data: std::ptr::null(), bytes: 0 };

    /// A text, which must live as long as what reads it.
    pub(crate) fn of(text: &str) -> RawString {
        RawString { data: text.as_ptr(), bytes: text.len() as u64 }
    }

    /// The text.
    ///
    /// # Safety
    ///
    /// Its bytes lie where it says.
    pub(crate) unsafe fn text(&self) -> String {
        match self.bytes {
            0 => String::new(),
            // SAFETY: on the caller's word.
            bytes => {
                String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(self.data, bytes as usize) })
                    .into_owned()
            }
        }
    }
}
