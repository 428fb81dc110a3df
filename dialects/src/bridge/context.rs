//! Contexts with our dialects.

use super::diagnostics::with_diagnostics;
use super::ffi;
use super::ir::{Context, Op, OperationLike};
use melior::dialect::{DialectHandle, DialectRegistry};
use melior::ir::Module;
use melior::ir::operation::OperationPrintingFlags;

/// A registry of all upstream dialects and ours.
pub fn registry() -> DialectRegistry {
    let registry = DialectRegistry::new();
    melior::utility::register_all_dialects(&registry);
    // SAFETY: the shim's handles are constants; the registry is alive.
    unsafe {
        for handle in [
            ffi::mlirGetDialectHandle__relay__(),
            ffi::mlirGetDialectHandle__te__(),
            ffi::mlirGetDialectHandle__loop__(),
        ] {
            DialectHandle::from_raw(handle).insert_dialect(&registry);
        }
        ffi::fusionRegisterTranslations(registry.to_raw());
    }
    registry
}

/// A context in which all dialects are loaded and LLVM translation is ready.
pub fn load_context() -> Context {
    let context = Context::new_with_registry(&registry(), true);
    context.load_all_available_dialects();
    melior::utility::register_all_llvm_translations(&context);
    context
}

/// What kernels are made of, from loops to LLVM. Passes load what else they need.
const OF_KERNELS: &[&str] =
    &["loop", "func", "scf", "cf", "affine", "arith", "math", "index", "memref", "vector", "ub", "llvm"];

/// A context for kernels on a thread that is one of many: it starts no threads of its own. It has the dialects of kernels
/// alone, since each canonicalization begins by collecting the patterns of all dialects there are.
pub fn load_worker_context() -> Context {
    let context = Context::new_with_registry(&registry(), false);
    for dialect in OF_KERNELS {
        context.get_or_load_dialect(dialect);
    }
    melior::utility::register_all_llvm_translations(&context);
    context
}

/// An operation as text that parses by itself, with the locations it and what is in it come from or without any.
pub fn source_of(op: Op, locations: bool) -> String {
    let flags = OperationPrintingFlags::new().use_local_scope().enable_debug_info(locations, false);
    // It fails for text that is not UTF-8, which MLIR does not print.
    op.to_string_with_flags(flags).unwrap_or_default()
}

/// A copy of a module's operation; none of another operation.
pub fn module_copy<'c>(module: Op<'c>) -> Option<Module<'c>> {
    // SAFETY: the operation is alive; the copy is nobody else's, and freed where it is no module.
    unsafe {
        let copy = mlir_sys::mlirOperationClone(module.to_raw());
        let raw = mlir_sys::mlirModuleFromOperation(copy);
        if raw.ptr.is_null() {
            mlir_sys::mlirOperationDestroy(copy);
            return None;
        }
        Some(Module::from_raw(raw))
    }
}

/// Parses a module; the diagnostics say why there is none.
pub fn parse_module<'c>(context: &'c Context, source: &str) -> Result<Module<'c>, Vec<String>> {
    let (module, diagnostics) = with_diagnostics(context, || Module::parse(context, source));
    module.ok_or(diagnostics)
}

/// Parses a file; the errors name it with line and column.
pub fn parse_file<'c>(context: &'c Context, path: &std::path::Path) -> Result<Module<'c>, Vec<String>> {
    let name = path.display().to_string();
    let (module, diagnostics) = with_diagnostics(context, || {
        // SAFETY: the name lives through the call; a null module is checked for.
        unsafe {
            let raw = mlir_sys::mlirModuleCreateParseFromFile(context.to_raw(), super::ir::string(&name));
            (!raw.ptr.is_null()).then(|| Module::from_raw(raw))
        }
    });
    module.ok_or(diagnostics)
}
