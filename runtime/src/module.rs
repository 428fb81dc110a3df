//! Loading and running a compiled model, be it a shared library or code just compiled in memory.
//!
//! Foreign code is called here, in `module/session.rs`, `program.rs`, in `profile.rs` and in `vm/library.rs`, and nowhere else is `unsafe`; all that `docs/reference/abi.md` asks
//! of the caller is checked before.
#![allow(unsafe_code)]

mod error;
mod outputs;
mod session;

pub use error::{LoadError, RunError};
pub use outputs::TensorViewMut;
pub use session::Session;

use crate::description::ModelDescription;
use crate::object_file::ABI_VERSION;
use crate::profile::Profiler;
use fusion_operators::aligned::AlignedBuffer;
use fusion_operators::{AsTensor, Tensor};
use indexmap::IndexMap;
use libloading::Library;
use std::any::Any;
use std::ffi::{CStr, c_char, c_void};
use std::path::Path;
use std::sync::Mutex;

/// `fusion_run` of `docs/reference/abi.md`.
pub type RunFunction = unsafe extern "C" fn(*const *const c_void, *const *mut c_void, *mut c_void) -> i32;

/// `fusion_set_threads` of `docs/reference/abi.md`.
type SetThreads = unsafe extern "C" fn(i32);

/// `fusion_set_device` of `docs/reference/abi.md`.
type SetDevice = unsafe extern "C" fn(i32);

/// `fusion_last_error` of `docs/reference/abi.md`.
type LastError = unsafe extern "C" fn() -> *const c_char;

/// A compiled model in memory.
pub struct Module {
    description: ModelDescription,
    entry: RunFunction,
    /// None for code in memory, which runs on the caller's thread.
    set_threads: Option<SetThreads>,
    /// Of libraries for a device.
    set_device: Option<SetDevice>,
    /// Of programs of the whole language, of libraries for a device, and of those whose weights lie in a file: they may fail.
    last_error: Option<LastError>,
    /// Of libraries for a device.
    profiler: Option<Profiler>,
    /// Workspaces of runs that are over, for those to come: to come by memory may take longer than a run.
    workspaces: Mutex<Vec<AlignedBuffer>>,
    /// What keeps the code of `entry` in memory.
    _code: Box<dyn Any + Send + Sync>,
}

impl Module {
    /// Loads a shared library. Loading runs its initialisers, so load only what you trust.
    pub fn load(path: &Path) -> Result<Module, LoadError> {
        let unloadable = |why: String| LoadError::Library { path: path.to_owned(), why };
        // A full path, since a bare name would be looked for in the system's directories.
        let full = path.canonicalize().map_err(|e| unloadable(e.to_string()))?;
        // SAFETY: the initialisers of a library are those of the C compiler; a compiled model adds
        // none. The caller vouches for the file, as for any program it runs.
        let library = unsafe { Library::new(&full) }.map_err(|e| unloadable(e.to_string()))?;

        let version: *const u32 = symbol(&library, path, "fusion_abi_version")?;
        // SAFETY: the symbol is a u32 in every version of the interface, and the library is loaded.
        let found = unsafe { version.read_unaligned() };
        if found != ABI_VERSION {
            return Err(LoadError::Version { path: path.to_owned(), found });
        }
        let workspace: *const u64 = symbol(&library, path, "fusion_workspace_bytes")?;
        let json: *const c_char = symbol(&library, path, "fusion_model_json")?;
        let entry: *const c_void = symbol(&library, path, "fusion_run")?;
        let set_threads: *const c_void = symbol(&library, path, "fusion_set_threads")?;
        // SAFETY: in this version of the interface the symbol is a u64; the library is loaded.
        let workspace_bytes = unsafe { workspace.read_unaligned() };
        // SAFETY: in this version of the interface the symbol is a NUL-terminated constant.
        let json = unsafe { CStr::from_ptr(json) };
        let mut description: ModelDescription = serde_json::from_slice(json.to_bytes())
            .map_err(|e| LoadError::Description { path: path.to_owned(), why: e.to_string() })?;
        description.workspace_bytes = workspace_bytes;
        // SAFETY: in this version of the interface the symbol is a function of this type, and it is
        // not null; `symbol` checked that.
        let entry = unsafe { std::mem::transmute::<*const c_void, RunFunction>(entry) };
        // SAFETY: as above.
        let set_threads = Some(unsafe { std::mem::transmute::<*const c_void, SetThreads>(set_threads) });
        let last_error = if description.program.is_some() || description.device.is_some() {
            let address: *const c_void = symbol(&library, path, "fusion_last_error")?;
            // SAFETY: a library that describes a program or a device has a function of this type by that name.
            Some(unsafe { std::mem::transmute::<*const c_void, LastError>(address) })
        } else {
            // SAFETY: where there is one, as of a model whose weights lie in a file, it is of this type.
            unsafe { library.get::<LastError>(b"fusion_last_error\0") }.ok().map(|function| *function)
        };
        let set_device = if description.device.is_some() {
            let address: *const c_void = symbol(&library, path, "fusion_set_device")?;
            // SAFETY: a library that describes a device has a function of this type by that name.
            Some(unsafe { std::mem::transmute::<*const c_void, SetDevice>(address) })
        } else {
            None
        };
        let profiler = description.device.and_then(|_| Profiler::of(&library));
        let _code = Box::new(library);
        let workspaces = Mutex::default();
        Ok(Module { description, entry, set_threads, set_device, last_error, profiler, workspaces, _code })
    }

    /// A model whose code is already in memory, such as a just-in-time compiler's.
    ///
    /// # Safety
    /// `entry` must behave as `docs/reference/abi.md` says for the inputs, outputs and workspace that
    /// `description` states, and stay callable from any thread while `code` lives.
    pub unsafe fn from_function(
        description: ModelDescription,
        entry: RunFunction,
        code: Box<dyn Any + Send + Sync>,
    ) -> Module {
        let (set_threads, set_device, last_error, profiler) = (None, None, None, None);
        let workspaces = Mutex::default();
        Module { description, entry, set_threads, set_device, last_error, profiler, workspaces, _code: code }
    }

    /// What the model takes and gives.
    pub fn description(&self) -> &ModelDescription {
        &self.description
    }

    /// How many threads runs may use from now on, the caller's among them; 0 for one a processor.
    pub fn set_threads(&self, threads: u16) {
        if let Some(set) = self.set_threads {
            // SAFETY: the function takes any number, and `_code` keeps it in memory.
            unsafe { set(i32::from(threads)) }
        }
    }

    /// Which device runs are on from now on, of several of the library's kind; the first one is 0. Without a call it is that of
    /// `FUSION_DEVICE` in the environment, else 0. Nothing happens where the model runs on the processor.
    pub fn set_device(&self, number: u16) {
        if let Some(set) = self.set_device {
            // SAFETY: the function takes any number, and `_code` keeps it in memory.
            unsafe { set(i32::from(number)) }
        }
    }

    /// Runs the model once. To run it often, make a [`Session`].
    pub fn run<T: AsTensor>(&self, inputs: &[T]) -> Result<Vec<Tensor>, RunError> {
        let outputs = self.description.outputs.iter();
        let mut outputs: Vec<Tensor> =
            outputs.map(|output| Tensor::zeros(output.dtype, &output.shape)).collect::<Result<_, _>>()?;
        let views = outputs
            .iter_mut()
            .zip(&self.description.outputs)
            .map(|(tensor, output)| TensorViewMut::new(output.dtype, &output.shape, tensor.bytes_mut()));
        let mut views = views.collect::<Result<Vec<_>, _>>()?;
        self.run_into(inputs, &mut views)?;
        Ok(outputs)
    }

    /// Runs the model once, and has it write its outputs into the caller's memory. Where runs of as many threads were made before, nothing is
    /// allocated but some words for each input and output.
    pub fn run_into<T: AsTensor>(&self, inputs: &[T], outputs: &mut [TensorViewMut]) -> Result<(), RunError> {
        Session::without_outputs(self)?.run_into(inputs, outputs)
    }

    /// Allocates what runs need.
    pub fn session(&self) -> Result<Session<'_>, RunError> {
        Session::new(self)
    }

    /// Puts named tensors into the order of the model's inputs ([`ModelDescription::bind`]).
    pub fn bind(&self, tensors: IndexMap<String, Tensor>) -> Result<Vec<Tensor>, RunError> {
        self.description.bind(tensors)
    }
}

pub(crate) fn symbol<T>(library: &Library, path: &Path, name: &'static str) -> Result<*const T, LoadError> {
    // SAFETY: only the address is taken; who reads through it says why it may.
    unsafe { library.get::<*const T>(name.as_bytes()) }
        .ok()
        .map(|symbol| *symbol)
        .filter(|address| !address.is_null())
        .ok_or_else(|| LoadError::Symbol { path: path.to_owned(), symbol: name })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::description::ArgumentDescription;
    use fusion_operators::DType;

    unsafe extern "C" fn double(
        inputs: *const *const c_void,
        outputs: *const *mut c_void,
        _: *mut c_void,
    ) -> i32 {
        // SAFETY: the description below gives one input and one output of three floats.
        let (x, y) = unsafe { (*inputs.cast::<&[f32; 3]>(), *outputs.cast::<*mut [f32; 3]>()) };
        // SAFETY: as above.
        unsafe { *y = x.map(|v| v * 2.0) };
        0
    }

    #[test]
    fn code_in_memory_runs_like_a_library() {
        let argument = |name: &str| ArgumentDescription {
            name: name.to_owned(),
            dtype: DType::F32,
            shape: vec![3],
            value: None,
        };
        let description = ModelDescription {
            name: "double".to_owned(),
            target: "cpu".to_owned(),
            inputs: vec![argument("x")],
            outputs: vec![argument("y")],
            kernels: vec![],
            program: None,
            device: None,
            workspace_bytes: 0,
        };
        // SAFETY: `double` does what the description says and is always callable.
        let module = unsafe { Module::from_function(description, double, Box::new(())) };
        let x = Tensor::from_slice(&[3], &[1.0f32, 2.0, 3.0]).unwrap();
        assert_eq!(module.run(&[&x]).unwrap()[0].to_f64s(), [2.0, 4.0, 6.0]);

        let mut memory = Tensor::zeros(DType::F32, &[3]).unwrap();
        let mut into = |dtype, shape: &[usize]| {
            let view = TensorViewMut::new(dtype, shape, memory.bytes_mut()).unwrap();
            module.run_into(&[&x], &mut [view]).map_err(|error| error.to_string())
        };
        let wrong = "output \"y\" of the model is a tensor<3xf32>, but memory for a tensor<3xi32> was given";
        assert_eq!(into(DType::I32, &[3]).unwrap_err(), wrong);
        assert!(into(DType::F32, &[1, 3]).is_err());
        into(DType::F32, &[3]).unwrap();
        assert_eq!(memory.to_f64s(), [2.0, 4.0, 6.0]);
        let none = module.run_into(&[&x], &mut []).unwrap_err();
        assert_eq!(none.to_string(), "the model gives 1 outputs, but memory for 0 was given");
        // One workspace served all of these runs.
        assert_eq!(module.workspaces.lock().unwrap().len(), 1);
    }
}
