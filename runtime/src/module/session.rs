//! Runs of a model in memory that is allocated once.

use super::{Module, RunError, TensorViewMut};
use crate::description::ArgumentDescription;
use crate::profile::RunProfile;
use fusion_operators::aligned::AlignedBuffer;
use fusion_operators::{AsTensor, Tensor};
use std::ffi::{CStr, c_void};
use std::sync::PoisonError;

/// What runs of a model need, allocated once: the workspace and the outputs.
pub struct Session<'a> {
    module: &'a Module,
    workspace: AlignedBuffer,
    outputs: Vec<AlignedBuffer>,
    /// Copies of inputs that are not aligned to their element; made when first needed.
    copies: Vec<Option<AlignedBuffer>>,
    /// What a run passes; kept so that runs do not allocate.
    input_pointers: Vec<*const c_void>,
    output_pointers: Vec<*mut c_void>,
}

// SAFETY: the pointers are what a run passes and mean nothing between runs; all else may move to
// another thread, and `docs/reference/abi.md` lets any thread run the code.
unsafe impl Send for Session<'_> {}

impl<'a> Session<'a> {
    pub(super) fn new(module: &'a Module) -> Result<Self, RunError> {
        let mut session = Session::without_outputs(module)?;
        for output in &module.description.outputs {
            let bytes = output.bytes()? as u64;
            session.outputs.push(allocate(bytes, || format!("output {:?}", output.name))?);
        }
        Ok(session)
    }

    /// For runs that write into memory of the caller's.
    pub(super) fn without_outputs(module: &'a Module) -> Result<Self, RunError> {
        let description = &module.description;
        let idle = module.workspaces.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let workspace = match idle {
            Some(workspace) => workspace,
            None => allocate(description.workspace_bytes, || "workspace".to_owned())?,
        };
        let output_pointers = Vec::with_capacity(description.outputs.len());
        let copies = description.inputs.iter().map(|_| None).collect();
        let input_pointers = Vec::with_capacity(description.inputs.len());
        Ok(Session { module, workspace, outputs: vec![], copies, input_pointers, output_pointers })
    }

    /// The model it runs.
    pub fn module(&self) -> &'a Module {
        self.module
    }

    /// Runs a model for a GPU once and times what it does on the device. The outputs stay here until the next run.
    pub fn profile<T: AsTensor>(&mut self, inputs: &[T]) -> Result<RunProfile, RunError> {
        let profiler = self.module.profiler.ok_or(RunError::NoProfile)?;
        profiler.set(true);
        let outcome = self.run(inputs);
        profiler.set(false);
        outcome.map(|()| profiler.read())
    }

    /// Runs the model once, without allocating. The outputs stay here until the next run.
    pub fn run<T: AsTensor>(&mut self, inputs: &[T]) -> Result<(), RunError> {
        self.output_pointers.clear();
        self.output_pointers.extend(self.outputs.iter_mut().map(|o| o.bytes_mut().as_mut_ptr().cast()));
        self.call(inputs)
    }

    /// Runs the model once, without allocating, and has it write its outputs into the caller's memory.
    pub fn run_into<T: AsTensor>(
        &mut self,
        inputs: &[T],
        outputs: &mut [TensorViewMut],
    ) -> Result<(), RunError> {
        self.module.check_outputs(outputs)?;
        self.output_pointers.clear();
        self.output_pointers.extend(outputs.iter_mut().map(|o| o.bytes_mut().as_mut_ptr().cast()));
        self.call(inputs)
    }

    /// Runs the model; the pointers of outputs are there.
    fn call<T: AsTensor>(&mut self, inputs: &[T]) -> Result<(), RunError> {
        self.module.description.check(inputs)?;
        self.input_pointers.clear();
        for (i, input) in inputs.iter().enumerate() {
            let mut pointer = input.bytes().as_ptr();
            if pointer.align_offset(input.dtype().size()) != 0 {
                let copy = match &mut self.copies[i] {
                    Some(copy) => copy,
                    empty => empty.insert(allocate(input.bytes().len() as u64, || format!("input {i}"))?),
                };
                copy.bytes_mut().copy_from_slice(input.bytes());
                pointer = copy.bytes().as_ptr();
            }
            self.input_pointers.push(pointer.cast());
        }
        // SAFETY: the inputs were checked to be as many, and of the types, as the description says,
        // and their pointers are aligned to their elements; so are the outputs, which are borrowed,
        // as the session's own buffers are; the workspace is of the described size, aligned to 64
        // bytes, and nothing else uses it while `self` is borrowed; `module` keeps the code in memory.
        let code = unsafe {
            (self.module.entry)(
                self.input_pointers.as_ptr(),
                self.output_pointers.as_ptr(),
                self.workspace.bytes_mut().as_mut_ptr().cast(),
            )
        };
        match self.module.last_error {
            _ if code == 0 => Ok(()),
            // SAFETY: the text ends with NUL and stays until the next run on this thread; `module` keeps the code in memory.
            Some(error) => {
                let why = unsafe { CStr::from_ptr(error()) }.to_string_lossy().into_owned();
                let on_device = self.module.description.device.is_some();
                Err(if on_device { RunError::Device(why) } else { RunError::Program(why) })
            }
            None => Err(RunError::Failed(code)),
        }
    }

    /// The bytes of an output of the last run, dense and row-major.
    pub fn output(&self, index: usize) -> Option<&[u8]> {
        self.outputs.get(index).map(AlignedBuffer::bytes)
    }

    /// Copies of the outputs of the last run.
    pub fn outputs(&self) -> Result<Vec<Tensor>, RunError> {
        let described: &[ArgumentDescription] = &self.module.description.outputs;
        let tensor = |(output, bytes): (&ArgumentDescription, &AlignedBuffer)| {
            Ok(Tensor::from_bytes(output.dtype, &output.shape, bytes.bytes())?)
        };
        described.iter().zip(&self.outputs).map(tensor).collect()
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        let workspace = std::mem::take(&mut self.workspace);
        self.module.workspaces.lock().unwrap_or_else(PoisonError::into_inner).push(workspace);
    }
}

fn allocate(bytes: u64, what: impl Fn() -> String) -> Result<AlignedBuffer, RunError> {
    usize::try_from(bytes)
        .ok()
        .and_then(|n| AlignedBuffer::zeroed(n).ok())
        .ok_or_else(|| RunError::Memory { bytes, what: what() })
}
