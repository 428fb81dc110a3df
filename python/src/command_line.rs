//! The programs of the command line, which scripts of the wheel call.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;

/// Runs a program over arguments, of which the first is the script that calls it; gives the exit status.
#[pyfunction]
pub fn command_line(py: Python<'_>, program: &str, arguments: Vec<OsString>) -> PyResult<i32> {
    if let Some(script) = arguments.first() {
        fusion_tools::program::is_called_by(PathBuf::from(script));
    }
    let run: fn(Vec<OsString>) -> i32 = match program {
        "fusion" => |arguments| fusion_tools::commands::main(arguments).into(),
        "fusion-opt" => |arguments| {
            fusion::register_passes();
            fusion_tools::opt::main_with(arguments)
        },
        "fusion-lsp-server" => |arguments| fusion_dialects::lsp_server_main_with(arguments),
        _ => return Err(PyValueError::new_err(format!("there is no program {program:?}"))),
    };
    Ok(py.detach(|| run(arguments)))
}
