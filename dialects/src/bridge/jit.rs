//! Machine code in this process.
//!
//! The bytes are those of an object file: what is tested in memory is what a library would hold.

use super::codegen::collect;
use super::ffi;
use super::ir::string;
use std::ffi::c_void;

/// Why code could not be loaded or called.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JitError {
    /// The loader refused, with its message.
    #[error("cannot load machine code: {0}")]
    Load(String),
    /// Calls of kernels have a bound number of buffers.
    #[error("a kernel of {0} buffers cannot be called directly; at most {1}")]
    TooManyBuffers(usize, usize),
}

/// A function that loaded code may call by name.
#[derive(Clone, Copy, Debug)]
pub struct Symbol<'a> {
    /// Name.
    pub name: &'a str,
    /// Address.
    pub address: *mut c_void,
}

/// The type of a compiled model's entry; see `docs/reference/abi.md`.
pub type Entry = unsafe extern "C" fn(*const *const c_void, *const *mut c_void, *mut c_void) -> i32;

/// Loaded code. It is unloaded when this is dropped.
pub struct Jit {
    raw: *mut c_void,
}

// SAFETY: the loader locks inside; loaded code is read-only.
unsafe impl Send for Jit {}
// SAFETY: as above.
unsafe impl Sync for Jit {}

const MOST_BUFFERS: usize = 12;

impl Jit {
    /// Loads objects; names they do not define come from `symbols`, then from this process.
    pub fn new<O: AsRef<[u8]>>(objects: &[O], symbols: &[Symbol]) -> Result<Jit, JitError> {
        let objects: Vec<_> = objects.iter().map(|o| view(o.as_ref())).collect();
        let symbols: Vec<_> =
            symbols.iter().map(|s| ffi::FusionSymbol { name: string(s.name), address: s.address }).collect();
        let mut error = Vec::<u8>::new();
        // SAFETY: bytes, names and the error text live through the call, which copies the bytes.
        let raw = unsafe {
            ffi::fusionJitCreate(
                objects.as_ptr(),
                objects.len(),
                symbols.as_ptr(),
                symbols.len(),
                Some(collect),
                std::ptr::from_mut(&mut error).cast(),
            )
        };
        if raw.is_null() { Err(JitError::Load(text(&error))) } else { Ok(Jit { raw }) }
    }

    /// The address of a function or constant.
    pub fn lookup(&self, name: &str) -> Result<*mut c_void, JitError> {
        let mut error = Vec::<u8>::new();
        // SAFETY: as above.
        let found = unsafe {
            ffi::fusionJitLookup(self.raw, string(name), Some(collect), std::ptr::from_mut(&mut error).cast())
        };
        if found.is_null() { Err(JitError::Load(text(&error))) } else { Ok(found) }
    }

    /// Calls a function of the model ABI and gives its status.
    ///
    /// The function must have that signature, and the buffers must be as large as it expects.
    pub fn run(
        &self,
        name: &str,
        inputs: &[&[u8]],
        outputs: &mut [&mut [u8]],
        workspace: &mut [u8],
    ) -> Result<i32, JitError> {
        let address = self.lookup(name)?;
        let inputs: Vec<*const c_void> = inputs.iter().map(|b| b.as_ptr().cast()).collect();
        let outputs: Vec<*mut c_void> = outputs.iter_mut().map(|b| b.as_mut_ptr().cast()).collect();
        // SAFETY: the caller names a function of this signature whose buffers have the sizes it was compiled for.
        Ok(unsafe {
            let entry: Entry = std::mem::transmute(address);
            entry(inputs.as_ptr(), outputs.as_ptr(), workspace.as_mut_ptr().cast())
        })
    }

    /// Calls a kernel: a function of bare pointers without result.
    ///
    /// It must take as many pointers, to buffers as large as these.
    pub fn call(&self, name: &str, buffers: &mut [&mut [u8]]) -> Result<(), JitError> {
        let pointers: Vec<*mut c_void> = buffers.iter_mut().map(|b| b.as_mut_ptr().cast()).collect();
        self.call_pointers(name, &pointers)
    }

    /// As [`Jit::call`], where buffers may overlap or come from elsewhere.
    pub fn call_pointers(&self, name: &str, p: &[*mut c_void]) -> Result<(), JitError> {
        if p.len() > MOST_BUFFERS {
            return Err(JitError::TooManyBuffers(p.len(), MOST_BUFFERS));
        }
        let address = self.lookup(name)?;
        let mut all = [std::ptr::null_mut::<c_void>(); MOST_BUFFERS];
        all[..p.len()].copy_from_slice(p);
        let [a, b, c, d, e, f, g, h, i, j, k, l] = all;
        type P = *mut c_void;
        type Kernel = extern "C" fn(P, P, P, P, P, P, P, P, P, P, P, P);
        // SAFETY: C lets a callee take fewer arguments than are passed on the targets we run on (the caller cleans up);
        // the caller vouches for the buffers.
        unsafe {
            let kernel: Kernel = std::mem::transmute(address);
            kernel(a, b, c, d, e, f, g, h, i, j, k, l);
        }
        Ok(())
    }
}

impl Drop for Jit {
    fn drop(&mut self) {
        // SAFETY: created by the shim, destroyed once.
        unsafe { ffi::fusionJitDestroy(self.raw) }
    }
}

fn view(bytes: &[u8]) -> mlir_sys::MlirStringRef {
    mlir_sys::MlirStringRef { data: bytes.as_ptr().cast(), length: bytes.len() }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
