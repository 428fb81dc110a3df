//! The programs of the command line, which scripts of the wheel call.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;

/// Runs a program that a command calls over arguments, of which the first names it; gives the exit status.
#[pyfunction]
pub fn command_line(
    py: Python<'_>,
    program: &str,
    command: Vec<PathBuf>,
    arguments: Vec<OsString>,
) -> PyResult<i32> {
    if command.is_empty() {
        return Err(PyValueError::new_err("the command that calls a program has at least a file to execute"));
    }
    fusion_tools::program::is_called_by(command);
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
