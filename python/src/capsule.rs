//! Tensors that Python gives: capsules of DLPack, whose memory is read where it is, or bytes.

// A capsule of DLPack is a pointer with a name, which says who owns it.
#![allow(unsafe_code)]

use crate::raised;
use fusion::dlpack::{DLManagedTensor, DlTensor};
use fusion::{ArgumentDescription, AsTensor, DType, Error, Tensor, TensorView, TensorViewMut};
use fusion_operators::TensorType;
use fusion_runtime::RunError;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use pyo3::{ffi, intern};
use std::ops::Range;

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

    /// The addresses of memory of another library.
    fn addresses(&self) -> Option<Range<usize>> {
        match self {
            Given::Shared(Shared(tensor)) => Some(tensor.addresses()),
            Given::Own(_) => None,
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
    if !object.is_instance_of::<PyTuple>() {
        return imported(object).map(|tensor| Given::Shared(Shared(tensor)));
    }
    if let Ok((shape, strings)) = object.extract::<(Vec<usize>, Vec<String>)>() {
        return Tensor::from_strings(&shape, &strings).map(Given::Own).map_err(raised);
    }
    let (name, shape, bytes) = object.extract::<(String, Vec<usize>, Bound<'_, PyBytes>)>()?;
    let dtype = name
        .parse::<DType>()
        .map_err(|()| PyTypeError::new_err(format!("there is no element type {name:?}")))?;
    Tensor::from_bytes(dtype, &shape, bytes.as_bytes()).map(Given::Own).map_err(raised)
}

/// The tensor of an object with `__dlpack__`.
fn imported(object: &Bound<'_, PyAny>) -> PyResult<DlTensor> {
    let capsule = object.call_method0(intern!(object.py(), "__dlpack__"))?;
    // SAFETY: the object is alive; a capsule of that name holds a managed tensor, which is taken once: its name says so from then on.
    unsafe {
        let pointer = ffi::PyCapsule_GetPointer(capsule.as_ptr(), FRESH.as_ptr());
        if pointer.is_null() {
            return Err(PyErr::fetch(object.py()));
        }
        if ffi::PyCapsule_SetName(capsule.as_ptr(), TAKEN.as_ptr()) != 0 {
            return Err(PyErr::fetch(object.py()));
        }
        DlTensor::import(pointer.cast::<DLManagedTensor>()).map_err(raised)
    }
}

/// Memory of the caller's, for a run to write.
pub struct Written(DlTensor);

// SAFETY: whoever gives memory to be written leaves it alone while a model runs; as to the deleter see `Shared`.
unsafe impl Send for Written {}
// SAFETY: it is written through an exclusive reference only.
unsafe impl Sync for Written {}

/// The memory of objects with `__dlpack__`, which share no byte with each other, nor with the inputs.
pub fn written(objects: &[Bound<'_, PyAny>], inputs: &[Given]) -> PyResult<Vec<Written>> {
    let mut all: Vec<Written> = Vec::with_capacity(objects.len());
    for object in objects {
        let tensor = imported(object)?;
        let own = tensor.addresses();
        let meets = |other: Range<usize>| own.start < other.end && other.start < own.end;
        let of_inputs = inputs.iter().filter_map(Given::addresses);
        if of_inputs.chain(all.iter().map(|w| w.0.addresses())).any(meets) {
            return Err(PyValueError::new_err(
                "an output shares memory with an input or another output; give it memory of its own",
            ));
        }
        all.push(Written(tensor));
    }
    Ok(all)
}

impl Written {
    /// The tensor to write: an output of the model, whose bytes stand for elements that NumPy has no type for.
    pub fn view<'a>(&'a mut self, output: &'a ArgumentDescription) -> Result<TensorViewMut<'a>, Error> {
        let (dtype, shape) = (self.0.dtype(), self.0.shape().to_vec());
        let is_of_numpy =
            !output.dtype.is_float() || matches!(output.dtype, DType::F64 | DType::F32 | DType::F16);
        let is_bytes = dtype == DType::U8 && shape.len() == 1 && !is_of_numpy;
        // SAFETY: `written` saw to it that nothing else of this run has the memory, and who gave it leaves it alone.
        let bytes = unsafe { self.0.bytes_mut() };
        let fits = is_bytes && output.bytes().is_ok_and(|n| n == bytes.len());
        if fits || (dtype == output.dtype && shape == output.shape) {
            return Ok(TensorViewMut::new(output.dtype, &output.shape, bytes)?);
        }
        let extents: Vec<u64> = shape.iter().map(|&n| n as u64).collect();
        let (expected, found) = (output.tensor_type(), TensorType::fixed(&extents, dtype));
        Err(RunError::Output { name: output.name.clone(), expected, found }.into())
    }
}
