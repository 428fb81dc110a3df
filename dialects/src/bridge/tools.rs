//! The mains of the tools.

use super::ffi;
use std::ffi::{CString, OsString, c_char, c_int};

type Main = unsafe extern "C" fn(c_int, *const *const c_char, mlir_sys::MlirDialectRegistry) -> c_int;

/// MLIR's optimizer driver over the process's arguments; gives the exit status.
pub fn opt_main() -> i32 {
    opt_main_with(std::env::args_os())
}

/// The same over other arguments, the first of which names the program.
pub fn opt_main_with(arguments: impl IntoIterator<Item = OsString>) -> i32 {
    register_upstream_passes();
    let status = call_with(ffi::fusionOptMain, arguments);
    super::statistics::report();
    status
}

/// MLIR's language server.
pub fn lsp_server_main() -> i32 {
    lsp_server_main_with(std::env::args_os())
}

/// The same over other arguments, the first of which names the program.
pub fn lsp_server_main_with(arguments: impl IntoIterator<Item = OsString>) -> i32 {
    call_with(ffi::fusionLspServerMain, arguments)
}

/// MLIR's test-case reducer.
pub fn reduce_main() -> i32 {
    register_upstream_passes();
    call(ffi::fusionReduceMain)
}

/// Registers upstream's passes; once, however often it is called.
pub fn register_upstream_passes() {
    // SAFETY: guarded by the shim.
    unsafe { ffi::fusionRegisterUpstreamPasses() }
}

fn call(main: Main) -> i32 {
    call_with(main, std::env::args_os())
}

fn call_with(main: Main, arguments: impl IntoIterator<Item = OsString>) -> i32 {
    let arguments: Vec<CString> =
        arguments.into_iter().filter_map(|a| CString::new(a.into_encoded_bytes()).ok()).collect();
    let pointers: Vec<_> = arguments.iter().map(|a| a.as_ptr()).chain([std::ptr::null()]).collect();
    let registry = super::context::registry();
    // SAFETY: the pointers are NUL-terminated texts that live through the call, closed by null.
    unsafe { main(arguments.len() as c_int, pointers.as_ptr(), registry.to_raw()) }
}
