//! Running pass pipelines, and machine code from the LLVM dialect.

use super::diagnostics::with_diagnostics;
use super::ffi::{self, FusionTarget};
use super::ir::{Op, string};
use melior::ir::Module;
use mlir_sys::MlirStringRef;
use std::ffi::c_void;

/// Why there is no code.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CodegenError {
    /// A pass or the verifier failed.
    #[error("{}", .0.join("\n"))]
    Passes(Vec<String>),
    /// LLVM refused.
    #[error("code generation failed: {0}")]
    Backend(String),
}

/// What code is for. Empty texts mean the machine this process runs on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// `x86_64-linux-gnu`, ...
    pub triple: String,
    /// `znver5`, ...
    pub cpu: String,
    /// `+avx2,-fma`, ...; added to those of the CPU.
    pub features: String,
    /// 0 to 3, as in `-O3`.
    pub optimization: u32,
    /// Width in bits of the registers that loops LLVM vectorises use; 0 leaves it to LLVM. Explicit vectors do not ask it.
    pub vector_width: u32,
    /// Files of bitcode that functions are linked from, a line each.
    pub libraries: String,
}

impl Default for Target {
    fn default() -> Self {
        let empty = String::new;
        Target {
            triple: empty(),
            cpu: empty(),
            features: empty(),
            optimization: 3,
            vector_width: 512,
            libraries: empty(),
        }
    }
}

impl Target {
    /// The target with this machine's facts in place of empty texts: what [`emit`] makes code for.
    pub fn resolved(&self) -> Target {
        let mut text = Vec::<u8>::new();
        // SAFETY: the texts live through the call; `collect` gets the vector it expects.
        unsafe { ffi::fusionResolve(&self.raw(), Some(collect), std::ptr::from_mut(&mut text).cast()) };
        let text = String::from_utf8_lossy(&text).into_owned();
        let mut lines = text.split('\n').map(str::to_owned);
        let mut next = || lines.next().unwrap_or_default();
        Target { triple: next(), cpu: next(), features: next(), ..self.clone() }
    }

    /// The features of the processor, as LLVM names them: `avx512f`, `neon`, ...
    pub fn processor_features(&self) -> Vec<String> {
        let mut text = Vec::<u8>::new();
        // SAFETY: as above.
        unsafe { ffi::fusionFeatures(&self.raw(), Some(collect), std::ptr::from_mut(&mut text).cast()) };
        String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()
    }

    /// The same for the shim, borrowed.
    fn raw(&self) -> FusionTarget {
        FusionTarget {
            triple: string(&self.triple),
            cpu: string(&self.cpu),
            features: string(&self.features),
            optimization: self.optimization.min(3),
            vector_width: self.vector_width,
            libraries: string(&self.libraries),
        }
    }
}

/// The names of the processors LLVM knows for a triple, such as `x86_64-linux-gnu`.
pub fn processors(triple: &str) -> Vec<String> {
    let mut text = Vec::<u8>::new();
    // SAFETY: as above.
    unsafe { ffi::fusionProcessors(string(triple), Some(collect), std::ptr::from_mut(&mut text).cast()) };
    String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()
}

/// The form of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Emit {
    /// A relocatable object file.
    Object = 0,
    /// Assembly text.
    Assembly = 1,
    /// LLVM IR text after optimization.
    LlvmIr = 2,
}

pub(super) unsafe extern "C" fn collect(text: MlirStringRef, user: *mut c_void) {
    // SAFETY: `user` is the vector that was passed along with this function; the text has that length.
    unsafe {
        let bytes = std::slice::from_raw_parts(text.data.cast::<u8>(), text.length);
        (*user.cast::<Vec<u8>>()).extend_from_slice(bytes);
    }
}

/// Code of a module that is in the LLVM dialect.
pub fn emit(module: &Module, target: &Target, form: Emit) -> Result<Vec<u8>, CodegenError> {
    let _emission = super::trace::span("llvm");
    let (mut code, mut error) = (Vec::<u8>::new(), Vec::<u8>::new());
    let op: Op = view(module);
    let (done, diagnostics) = with_diagnostics(super::ir::OpExt::context_ref(op), || {
        // SAFETY: texts and vectors live through the call; `collect` gets the vectors it expects.
        unsafe {
            ffi::fusionEmit(
                op.to_raw(),
                &target.raw(),
                form as u32,
                Some(collect),
                std::ptr::from_mut(&mut code).cast(),
                Some(collect),
                std::ptr::from_mut(&mut error).cast(),
            )
        }
    });
    if done {
        return Ok(code);
    }
    let mut why = vec![String::from_utf8_lossy(&error).into_owned()];
    why.extend(diagnostics);
    Err(CodegenError::Backend(why.join("\n")))
}

/// Verifies a module, then runs a textual pipeline (`builtin.module(...)`) on it. The errors have their locations.
pub fn run_passes(module: &Module, pipeline: &str) -> Result<(), Vec<String>> {
    use melior::pass::PassManager;
    use mlir_sys::{mlirOperationVerify, mlirPassManagerRunOnOp};
    let op: Op = view(module);
    let context = super::ir::OpExt::context_ref(op);
    let (outcome, mut errors) = with_diagnostics(context, || {
        // SAFETY: the module is alive.
        if !unsafe { mlirOperationVerify(op.to_raw()) } {
            return Err("the input of the pipeline does not verify".to_owned());
        }
        let manager = PassManager::new(context);
        // The next pipeline verifies what this one leaves. After every pass it costs more than most passes do; where passes are
        // tested, in `fusion-opt`, MLIR does so.
        manager.enable_verifier(false);
        melior::utility::parse_pass_pipeline(manager.as_operation_pass_manager(), pipeline)
            .map_err(|error| format!("the pipeline does not parse: {error}"))?;
        if super::trace::records() {
            // SAFETY: the manager is alive.
            unsafe { ffi::fusionTracePasses(manager.to_raw()) };
        }
        // SAFETY: manager and module are alive and of one context.
        let ran = unsafe { mlirPassManagerRunOnOp(manager.to_raw(), op.to_raw()) };
        if ran.value != 0 { Ok(()) } else { Err("a pass of the pipeline failed".to_owned()) }
    });
    match outcome {
        Ok(()) => Ok(()),
        Err(why) => {
            if errors.is_empty() {
                errors.push(why);
            }
            Err(errors)
        }
    }
}

/// A handle to the module's operation.
fn view<'c>(module: &Module<'c>) -> Op<'c> {
    // SAFETY: the handle is used while the caller holds the module.
    unsafe { Op::from_raw(module.as_operation().to_raw()) }
}

/// True for operations that work lane by lane on vectors as they do on scalars.
pub fn is_elementwise(op: Op) -> bool {
    // SAFETY: the operation is alive.
    unsafe { ffi::fusionIsElementwise(op.to_raw()) }
}

/// True for operations that touch no memory and never trap: they may be copied, moved and dropped.
pub fn is_pure(op: Op) -> bool {
    // SAFETY: the operation is alive.
    unsafe { ffi::fusionIsPure(op.to_raw()) }
}
