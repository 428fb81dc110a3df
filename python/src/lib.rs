//! The Python module `fusion._fusion`: compiling models, and running them on what other libraries hold.
//!
//! ```text
//!     fusion.compile(model)  ->  Module      numpy, torch, jax  --DLPack, no copy-->  run  --bytes-->  numpy
//! ```
//!
//! What is convenient in Python (arrays, names, a session as ONNX Runtime has it) is written in Python, in `fusion/`. The global interpreter lock
//! is released while models are compiled and run.

mod capsule;
mod command_line;
mod compile;
mod module;
mod port;
mod quantize;
mod report;
mod rules;

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;

create_exception!(
    fusion,
    FusionError,
    PyException,
    "Why a model cannot be compiled, loaded or run, in a sentence."
);

/// A failure of the compiler as an exception.
fn raised(error: impl std::fmt::Display) -> PyErr {
    FusionError::new_err(error.to_string())
}

/// The value of a name among those that there are.
fn named<T: Copy>(what: &str, name: &str, all: &[(T, &'static str)]) -> PyResult<T> {
    all.iter().find(|(_, known)| *known == name).map(|(value, _)| *value).ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|(_, known)| *known).collect();
        PyValueError::new_err(format!("{what} is {name:?}, and one of {} is expected", known.join(", ")))
    })
}

#[pymodule]
fn _fusion(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("FusionError", module.py().get_type::<FusionError>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<compile::Compiler>()?;
    module.add_class::<module::Module>()?;
    module.add_function(wrap_pyfunction!(command_line::command_line, module)?)?;
    module.add_function(wrap_pyfunction!(compile::mixed_precision, module)?)?;
    module.add_function(wrap_pyfunction!(compile::opt, module)?)?;
    module.add_function(wrap_pyfunction!(rules::add_rule, module)?)?;
    module.add_function(wrap_pyfunction!(quantize::quantize, module)?)?;
    module.add_function(wrap_pyfunction!(compile::onnx_facts, module)?)?;
    module.add_function(wrap_pyfunction!(compile::import_text, module)?)
}
