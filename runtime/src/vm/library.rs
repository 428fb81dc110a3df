//! The native code of a program's kernels: loading it, and calling it.
//!
//! Beside [`crate::module`] this is the only place with `unsafe`. A kernel is called with pointers to tensors whose types were
//! compared with those it was compiled for.
#![allow(unsafe_code)]

use super::error::{LibraryError, MachineError};
use super::tensors::{NoMemory, Slot, Tensors, TypeId};
use crate::machine::Machine;
use fusion_bytecode::{Kernel, Shapes};
use fusion_operators::TensorType;
use fusion_operators::aligned::AlignedBuffer;
use libloading::Library;
use std::ffi::c_void;
use std::io::Write;
use std::sync::Arc;

/// A kernel: `void symbol(const void *const *inputs, void *const *outputs, void *workspace)`.
type KernelFunction = unsafe extern "C" fn(*const *const c_void, *const *mut c_void, *mut c_void);

/// `fusion_set_threads` of `docs/reference/abi.md`.
type SetThreads = unsafe extern "C" fn(i32);

/// Native code that was loaded.
#[derive(Clone)]
pub struct KernelLibrary {
    library: Option<Arc<Library>>,
}

impl KernelLibrary {
    /// No code, for programs without kernels.
    pub fn none() -> Self {
        KernelLibrary { library: None }
    }

    /// Loads an ELF image. Its initialisers are run, so load only what you trust.
    pub fn from_image(image: &[u8]) -> Result<Self, LibraryError> {
        if image.is_empty() {
            return Ok(KernelLibrary::none());
        }
        check_header(image).map_err(|why| LibraryError::Image(why.to_owned()))?;
        let failed = |error: &dyn std::fmt::Display| LibraryError::Load(error.to_string());
        let mut file = tempfile::Builder::new()
            .prefix("fusion-")
            .suffix(".so")
            .tempfile()
            .map_err(|error| failed(&error))?;
        file.write_all(image).and_then(|()| file.flush()).map_err(|error| failed(&error))?;
        // SAFETY: the initialisers are those of the C compiler; compiled kernels add none. The caller vouches for the image, as
        // for any program it runs.
        let library = unsafe { Library::new(file.path()) }.map_err(|error| failed(&error))?;
        // What was loaded stays in memory when its file goes.
        Ok(KernelLibrary { library: Some(Arc::new(library)) })
    }

    /// How many threads kernels may use from now on, the caller's among them; 0 for one a processor.
    pub fn set_threads(&self, threads: u16) {
        let set = |library: &Arc<Library>| {
            // SAFETY: a library that has this symbol follows `docs/reference/abi.md`, where it is this function.
            if let Ok(set) = unsafe { library.get::<SetThreads>(b"fusion_set_threads") } {
                // SAFETY: the function takes any number, and the library is loaded.
                unsafe { set(i32::from(threads)) }
            }
        };
        self.library.iter().for_each(set);
    }

    fn function(&self, symbol: &str) -> Result<KernelFunction, LibraryError> {
        let missing = || LibraryError::Symbol { symbol: symbol.to_owned() };
        let library = self.library.as_ref().ok_or_else(missing)?;
        // SAFETY: the program says that the symbol is a kernel, and who made the library with the program vouches for it.
        // The address is used only while the library is loaded: whoever has it holds the library as well.
        let function = unsafe { library.get::<Option<KernelFunction>>(symbol.as_bytes()) };
        function.ok().and_then(|function| *function).ok_or_else(missing)
    }
}

/// Whether an image is a shared library for this machine.
fn check_header(image: &[u8]) -> Result<(), &'static str> {
    let half = |at: usize| image.get(at..at + 2).map(|b| u16::from_le_bytes([b[0], b[1]]));
    // Magic, 64 bits, little-endian; then the type, where 3 is shared.
    if !image.starts_with(b"\x7fELF\x02\x01") || half(16) != Some(3) {
        return Err("is not a 64-bit little-endian ELF shared library");
    }
    if half(18).and_then(Machine::from_elf) != Machine::host() {
        return Err("was compiled for another machine than this one; compile the model again");
    }
    Ok(())
}

/// A kernel with its types as the machine numbers them.
struct Loaded {
    function: KernelFunction,
    inputs: Vec<TypeId>,
    outputs: Vec<TypeId>,
    dynamic: Option<Dynamic>,
}

/// A kernel of dynamic extents.
struct Dynamic {
    shapes: Shapes,
    inputs: Vec<TensorType>,
    outputs: Vec<TensorType>,
    /// The types of the inputs of the last call, the numbers of its shape function, and its outputs and temporaries: the next call
    /// is often the same.
    last: Vec<TypeId>,
    numbers: Vec<u64>,
    made: Vec<TypeId>,
}

impl Dynamic {
    /// Runs the shape function, unless the inputs have the types they had before.
    fn prepare(&mut self, tensors: &mut Tensors, slots: &[Slot]) -> Result<(), NotCalled> {
        if !self.last.is_empty()
            && !self.shapes.reads_values()
            && slots.iter().map(|&slot| tensors.type_id(slot)).eq(self.last.iter().copied())
        {
            return Ok(());
        }
        self.last.clear();
        let found: Vec<&TensorType> = slots.iter().map(|&slot| tensors.type_of(slot)).collect();
        // Names are compared by the shape function, which says which operator needs them to be the same.
        let wrong = self.inputs.iter().zip(&found).position(|(ty, found)| !ty.compatible(found));
        if let Some(place) = wrong.or((found.len() < self.inputs.len()).then_some(found.len())) {
            return Err(NotCalled::Input(place));
        }
        let value = |input: usize| {
            let bytes = slots.get(input).and_then(|&slot| tensors.bytes(slot).first_chunk());
            bytes.map_or(-1, |bytes| i64::from_ne_bytes(*bytes))
        };
        self.numbers =
            self.shapes.run(&found, &value).map_err(|(place, why)| NotCalled::Shapes(place, why))?;
        self.made.clear();
        for ty in self.outputs.iter().chain(&self.shapes.temporaries) {
            let known = self.shapes.known(ty, &self.numbers);
            self.made.push(tensors.intern(&known).map_err(NotCalled::Memory)?);
        }
        self.last.extend(slots.iter().map(|&slot| tensors.type_id(slot)));
        Ok(())
    }
}

/// The kernels of a program, ready to be called.
pub struct Kernels {
    loaded: Vec<Loaded>,
    /// As large as the largest that a kernel needs.
    workspace: AlignedBuffer,
    /// What a call passes; kept so that calls do not allocate.
    input_pointers: Vec<*const c_void>,
    output_pointers: Vec<*mut c_void>,
    /// Keeps the code in memory.
    library: KernelLibrary,
}

/// Why a kernel was not called.
pub enum NotCalled {
    /// An input has another type: which one.
    Input(usize),
    /// A check of the shape function fails: where in the source, and the sentence.
    Shapes(String, String),
    /// There is no memory for an output.
    Memory(NoMemory),
}

impl Kernels {
    /// Finds the kernels in the library and numbers their types.
    pub fn new(
        kernels: &[Kernel],
        library: KernelLibrary,
        tensors: &mut Tensors,
    ) -> Result<Self, MachineError> {
        let mut loaded = Vec::with_capacity(kernels.len());
        for kernel in kernels {
            let function = library.function(&kernel.symbol)?;
            if let Some(shapes) = kernel.shapes.clone() {
                let (inputs, outputs) = (kernel.inputs.clone(), kernel.outputs.clone());
                let (last, numbers, made) = (Vec::new(), Vec::new(), Vec::new());
                let dynamic = Some(Dynamic { shapes, inputs, outputs, last, numbers, made });
                loaded.push(Loaded { function, inputs: Vec::new(), outputs: Vec::new(), dynamic });
                continue;
            }
            let inputs = kernel.inputs.iter().map(|ty| tensors.intern(ty)).collect::<Result<_, _>>()?;
            let outputs = kernel.outputs.iter().map(|ty| tensors.intern(ty)).collect::<Result<_, _>>()?;
            loaded.push(Loaded { function, inputs, outputs, dynamic: None });
        }
        let most = kernels.iter().map(|kernel| kernel.workspace_bytes).max().unwrap_or(0);
        let no_memory = || NoMemory::Bytes { bytes: usize::MAX, held: 0, most: 0 };
        let bytes = usize::try_from(most).map_err(|_| no_memory())?;
        let workspace = AlignedBuffer::zeroed(bytes).map_err(|_| no_memory())?;
        let (input_pointers, output_pointers) = (Vec::new(), Vec::new());
        Ok(Kernels { loaded, workspace, input_pointers, output_pointers, library })
    }

    /// The library.
    pub fn library(&self) -> &KernelLibrary {
        &self.library
    }

    /// Runs a kernel; its outputs, new tensors, are added to `outputs`.
    #[inline]
    pub fn call(
        &mut self,
        kernel: usize,
        tensors: &mut Tensors,
        inputs: &[Slot],
        outputs: &mut Vec<Slot>,
    ) -> Result<(), NotCalled> {
        let loaded = &mut self.loaded[kernel];
        self.input_pointers.clear();
        self.output_pointers.clear();
        if let Some(dynamic) = &mut loaded.dynamic {
            dynamic.prepare(tensors, inputs)?;
            for &slot in inputs {
                self.input_pointers.push(tensors.bytes(slot).as_ptr().cast());
            }
            self.input_pointers.push(dynamic.numbers.as_ptr().cast());
            for &ty in &dynamic.made {
                let slot = tensors.allocate(ty).map_err(NotCalled::Memory)?;
                outputs.push(slot);
                self.output_pointers.push(tensors.bytes_mut(slot).as_mut_ptr().cast());
            }
            // SAFETY: as below. Inputs have the types that the shape function was run for, and outputs, temporaries and the
            // numbers are those that it gave; the kernel was compiled with it.
            unsafe {
                (loaded.function)(
                    self.input_pointers.as_ptr(),
                    self.output_pointers.as_ptr(),
                    self.workspace.bytes_mut().as_mut_ptr().cast(),
                );
            }
            outputs.drain(dynamic.outputs.len()..).for_each(|slot| tensors.release(slot));
            return Ok(());
        }
        if inputs.len() != loaded.inputs.len() {
            return Err(NotCalled::Input(inputs.len().min(loaded.inputs.len())));
        }
        for (place, (&slot, &ty)) in inputs.iter().zip(&loaded.inputs).enumerate() {
            if tensors.type_id(slot) != ty {
                return Err(NotCalled::Input(place));
            }
            self.input_pointers.push(tensors.bytes(slot).as_ptr().cast());
        }
        for &ty in &loaded.outputs {
            let slot = tensors.allocate(ty).map_err(NotCalled::Memory)?;
            outputs.push(slot);
            self.output_pointers.push(tensors.bytes_mut(slot).as_mut_ptr().cast());
        }
        // SAFETY: the function is a kernel of the library, which `self` keeps loaded. Inputs are tensors of the types it was
        // compiled for, outputs new ones of those types, so that nothing else refers to their bytes; all are aligned to 64 bytes,
        // and buffers do not move while `tensors` is borrowed. The workspace is as large as any kernel of the program needs.
        unsafe {
            (loaded.function)(
                self.input_pointers.as_ptr(),
                self.output_pointers.as_ptr(),
                self.workspace.bytes_mut().as_mut_ptr().cast(),
            );
        }
        Ok(())
    }
}
