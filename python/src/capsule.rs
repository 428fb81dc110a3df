//! Tensors that Python gives: capsules of DLPack, whose memory is read where it is, or bytes.

// A capsule of DLPack is a pointer with a name, which says who owns it.
#![allow(unsafe_code)]

use crate::raised;
use fusion::dlpack::{DLManagedTensor, DlTensor};
use fusion::{AsTensor, DType, Error, Tensor, TensorView};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The name of a capsule that nobody has taken the tensor of, and that of others.
const FRESH: &std::ffi::CStr = c"dltensor";
const TAKEN: &std::ffi::CStr = c"used_dltensor";

/// A tensor that Python gave.
pub enum Given {
    /// Memory of another library.
    Shared(Shared),
    /// Elements of our own.
    Own(Tensor),
}

/// A tensor of another library, which threads may read.
pub struct Shared(DlTensor);

// SAFETY: whoever gives a tensor by DLPack leaves its memory readable and unwritten while a model runs; its deleter may be called on any thread, and
// those of libraries in Python take the interpreter's lock themselves.
unsafe impl Send for Shared {}
// SAFETY: it is only read.
unsafe impl Sync for Shared {}

impl Given {
    /// A tensor of our own, which a program of the whole language may keep.
    pub fn owned(&self) -> Result<Tensor, Error> {
        match self {
            Given::Own(tensor) => Ok(tensor.clone()),
            Given::Shared(_) => {
                let view = self.view()?;
                Ok(Tensor::from_bytes(view.dtype(), view.shape(), view.bytes())?)
            }
        }
    }

    /// The tensor.
    pub fn view(&self) -> Result<TensorView<'_>, Error> {
        match self {
            Given::Shared(Shared(tensor)) => tensor.view(),
            Given::Own(tensor) => Ok(TensorView::new(tensor.dtype(), tensor.shape(), tensor.bytes())?),
        }
    }
}

/// The tensor of an object with `__dlpack__`, or of a tuple of element type, shape and bytes, or of shape and strings.
pub fn given(object: &Bound<'_, PyAny>) -> PyResult<Given> {
    if let Ok((shape, strings)) = object.extract::<(Vec<usize>, Vec<String>)>() {
        return Tensor::from_strings(&shape, &strings).map(Given::Own).map_err(raised);
    }
    if let Ok((name, shape, bytes)) = object.extract::<(String, Vec<usize>, Bound<'_, PyBytes>)>() {
        let dtype = name
            .parse::<DType>()
            .map_err(|()| PyTypeError::new_err(format!("there is no element type {name:?}")))?;
        return Tensor::from_bytes(dtype, &shape, bytes.as_bytes()).map(Given::Own).map_err(raised);
    }
    let capsule = object.call_method0("__dlpack__")?;
    // SAFETY: the object is alive; a capsule of that name holds a managed tensor, which is taken once: its name says so from then on.
    unsafe {
        let pointer = ffi::PyCapsule_GetPointer(capsule.as_ptr(), FRESH.as_ptr());
        if pointer.is_null() {
            return Err(PyErr::fetch(object.py()));
        }
        if ffi::PyCapsule_SetName(capsule.as_ptr(), TAKEN.as_ptr()) != 0 {
            return Err(PyErr::fetch(object.py()));
        }
        let tensor = DlTensor::import(pointer.cast::<DLManagedTensor>()).map_err(raised)?;
        Ok(Given::Shared(Shared(tensor)))
    }
}
