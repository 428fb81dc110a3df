//! The mains of the tools, and running things while collecting diagnostics.

use super::ffi;
use super::ir::Context;
use melior::diagnostic::DiagnosticSeverity;
use std::cell::RefCell;
use std::ffi::{CString, OsString, c_char, c_int};
use std::rc::Rc;

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
    call(ffi::fusionLspServerMain)
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

/// Runs something and collects the errors it emits, each with its location. Warnings are written to the standard error.
pub fn with_diagnostics<T>(context: &Context, run: impl FnOnce() -> T) -> (T, Vec<String>) {
    let found = Rc::new(RefCell::new(Vec::new()));
    let sink = Rc::clone(&found);
    let id = context.attach_diagnostic_handler(move |diagnostic| {
        let mut text = format!("{}: {}", place(&diagnostic.location().to_string()), diagnostic);
        for i in 0..diagnostic.note_count() {
            if let Ok(note) = diagnostic.note(i) {
                text.push_str(&format!("; note: {note}"));
            }
        }
        match diagnostic.severity() {
            DiagnosticSeverity::Error => sink.borrow_mut().push(text),
            DiagnosticSeverity::Warning => eprintln!("warning: {text}"),
            _ => {}
        }
        true
    });
    let result = run();
    context.detach_diagnostic_handler(id);
    let messages = found.borrow().clone();
    (result, messages)
}

/// `loc("file":1:2)` as compilers write it: `file:1:2`; other locations as MLIR prints them.
fn place(location: &str) -> String {
    let inner = location.strip_prefix("loc(").and_then(|l| l.strip_suffix(')')).unwrap_or(location);
    inner.replace('"', "")
}
