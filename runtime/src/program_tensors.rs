//! Runs of a program on tensors: inputs are read where they lie, and outputs are written where they stay.
//!
//! ```text
//!   fusion_run_tensors(inputs, count, allocate, user)      allocate(user, i, type and shape of output i) -> memory for it
//! ```
//! How large an output is follows from the inputs, and is known when it is there. Of an output of strings first all bytes are asked for, as a
//! tensor of ui8, and then the strings, which point there.
#![allow(unsafe_code)]

use crate::module::RunError;
use crate::program::{NativeProgram, older};
use crate::raw::{RawString, RawTensor};
use fusion_bytecode::ValueType;
use fusion_operators::aligned::AlignedBuffer;
use fusion_operators::{AsTensor, DType, Tensor};
use std::ffi::c_void;

/// An output.
enum Output {
    Numbers(Tensor),
    /// Strings of a shape, each a [`RawString`].
    Strings(Vec<usize>, AlignedBuffer),
}

/// The outputs of a run, each with its place, and what strings among them point to.
#[derive(Default)]
struct Outputs {
    made: Vec<(u32, Output)>,
    texts: Vec<Output>,
}

/// Whether elements lie as the library reads them.
fn is_aligned(bytes: &[u8], dtype: DType) -> bool {
    bytes.as_ptr().addr().is_multiple_of(dtype.size().max(1))
}

impl NativeProgram {
    /// True for a program that [`run`](NativeProgram::run) may be asked of: it takes tensors of numbers.
    pub fn takes_numbers(&self) -> bool {
        let is_numbers = |ty: &ValueType| matches!(ty, ValueType::Tensor(ty) if ty.dtype != DType::String);
        self.interface.run_tensors.is_some() && self.program.types.inputs.iter().all(|(_, ty)| is_numbers(ty))
    }

    /// Runs the program once on tensors, and gives the tensors that it gives.
    pub fn run<T: AsTensor>(&self, inputs: &[T]) -> Result<Vec<Tensor>, RunError> {
        let Some(run) = self.interface.run_tensors else { return Err(older()) };
        let shapes = inputs.iter().map(|x| x.shape().iter().map(|&n| n as i64).collect::<Vec<i64>>());
        let shapes: Vec<Vec<i64>> = shapes.collect();
        let copies = inputs.iter().map(|x| match is_aligned(x.bytes(), x.dtype()) {
            true => Ok(None),
            false => Tensor::from_bytes(x.dtype(), x.shape(), x.bytes()).map(Some),
        });
        let copies: Vec<Option<Tensor>> = copies.collect::<Result<_, _>>()?;
        let given = inputs.iter().zip(&copies).zip(&shapes);
        let given = given.map(|((x, copy), shape)| {
            let bytes = copy.as_ref().map_or(x.bytes(), Tensor::bytes);
            RawTensor::of(x.dtype(), shape, bytes.as_ptr().cast_mut().cast())
        });
        let given: Vec<RawTensor> = given.collect();
        let mut outputs = Outputs::default();
        let user: *mut c_void = std::ptr::from_mut(&mut outputs).cast();
        // SAFETY: tensors and outputs live through the call; the library reads inputs only, and checks what they say.
        if unsafe { run(given.as_ptr(), given.len() as u32, allocate, user) } != 0 {
            return Err(self.last_error());
        }
        let Outputs { made, texts } = outputs;
        let tensors = made.into_iter().map(|(_, output)| tensor(output)).collect();
        drop(texts);
        tensors
    }
}

fn tensor(output: Output) -> Result<Tensor, RunError> {
    let (shape, elements) = match output {
        Output::Numbers(tensor) => return Ok(tensor),
        Output::Strings(shape, elements) => (shape, elements),
    };
    let text = |raw: &[u8]| {
        // SAFETY: the library has written strings there, and their bytes are still where it was told to put them.
        unsafe { raw.as_ptr().cast::<RawString>().read_unaligned().text() }
    };
    let strings: Vec<String> = elements.bytes().chunks_exact(size_of::<RawString>()).map(text).collect();
    Ok(Tensor::from_strings(&shape, &strings)?)
}

/// Memory for an output; null where there is none.
unsafe extern "C" fn allocate(user: *mut c_void, place: u32, tensor: *const RawTensor) -> *mut c_void {
    // SAFETY: the library gives back what it was given, and a tensor that lives through this call; nothing else looks at the outputs meanwhile.
    let (outputs, tensor) = unsafe { (&mut *user.cast::<Outputs>(), &*tensor) };
    // SAFETY: as above.
    let Some((dtype, shape)) = (unsafe { tensor.dtype_and_shape() }) else { return std::ptr::null_mut() };
    // The bytes that strings point to come before them, for the same place.
    if outputs.made.last().is_some_and(|(last, _)| *last == place)
        && let Some((_, text)) = outputs.made.pop()
    {
        outputs.texts.push(text);
    }
    let (output, memory) = match dtype {
        DType::String => {
            let bytes = shape.iter().try_fold(size_of::<RawString>(), |n, &extent| n.checked_mul(extent));
            let Some(Ok(mut elements)) = bytes.map(AlignedBuffer::zeroed) else {
                return std::ptr::null_mut();
            };
            let memory = elements.bytes_mut().as_mut_ptr();
            (Output::Strings(shape, elements), memory)
        }
        _ => {
            let Ok(mut tensor) = Tensor::zeros(dtype, &shape) else { return std::ptr::null_mut() };
            let memory = tensor.bytes_mut().as_mut_ptr();
            (Output::Numbers(tensor), memory)
        }
    };
    outputs.made.push((place, output));
    memory.cast()
}
