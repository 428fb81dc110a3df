//! Compiling.

use crate::module::Module;
use crate::port::declared;
use crate::report;
use crate::{named, raised};
use fusion::models::{Labels, onnx_facts as onnx_facts_of};
use fusion::{Format, Level, Source};
use fusion_tuning::log;
use pyo3::exceptions::{PyTypeError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A model as Python gives it.
enum Model {
    File(PathBuf),
    Bytes(Vec<u8>),
    Onnx(Vec<u8>),
    StableHlo(Vec<u8>),
    Mlir(String),
    Relay(String),
}

impl Model {
    fn of(model: &Bound<'_, PyAny>, format: &str) -> PyResult<Model> {
        match format {
            "file" => Ok(Model::File(model.extract()?)),
            "bytes" => match model.cast::<PyBytes>() {
                Ok(bytes) => Ok(Model::Bytes(bytes.as_bytes().to_vec())),
                Err(_) => Err(PyTypeError::new_err("a model in memory is bytes of ONNX or StableHLO")),
            },
            "onnx" => match model.cast::<PyBytes>() {
                Ok(bytes) => Ok(Model::Onnx(bytes.as_bytes().to_vec())),
                Err(_) => Err(PyTypeError::new_err("a model in memory is bytes of ONNX")),
            },
            "stablehlo" => match model.cast::<PyBytes>() {
                Ok(bytes) => Ok(Model::StableHlo(bytes.as_bytes().to_vec())),
                Err(_) => Ok(Model::StableHlo(text(model)?.into_bytes())),
            },
            "mlir" => Ok(Model::Mlir(text(model)?)),
            "relay" => Ok(Model::Relay(text(model)?)),
            other => Err(PyValueError::new_err(format!(
                "format is {other:?}, and \"file\", \"bytes\", \"onnx\", \"mlir\", \"relay\" or \"stablehlo\" is expected"
            ))),
        }
    }

    fn source(&self) -> Source<'_> {
        match self {
            Model::File(path) => Source::file(path),
            Model::Bytes(bytes) => Source::bytes(bytes),
            Model::Onnx(bytes) => Source::onnx(bytes),
            Model::StableHlo(bytes) => Source::stablehlo(bytes),
            Model::Mlir(text) => Source::mlir(text),
            Model::Relay(text) => Source::relay(text),
        }
    }
}

fn text(model: &Bound<'_, PyAny>) -> PyResult<String> {
    match model.cast::<PyString>() {
        Ok(text) => text.extract(),
        Err(_) => Err(PyTypeError::new_err("the text of a model is a str")),
    }
}

/// A model, and how it is compiled.
#[pyclass(frozen, module = "fusion._fusion")]
pub struct Compiler {
    model: Model,
    inner: fusion::Compiler,
}

#[pymethods]
impl Compiler {
    #[new]
    #[pyo3(signature = (model, format, *, target=None, fp_math=None, max_error=None, opt_level=3, shapes=None, likely=None, schedules=None, tuning_logs=None, jobs=None, passes=None))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        model: &Bound<'_, PyAny>,
        format: &str,
        target: Option<&str>,
        fp_math: Option<&str>,
        max_error: Option<f64>,
        opt_level: u8,
        shapes: Option<BTreeMap<String, String>>,
        likely: Option<Vec<BTreeMap<String, Vec<u64>>>>,
        schedules: Option<Vec<PathBuf>>,
        tuning_logs: Option<Vec<PathBuf>>,
        jobs: Option<usize>,
        passes: Option<Vec<String>>,
    ) -> PyResult<Compiler> {
        let model = Model::of(model, format)?;
        let mut compiler = fusion::Compiler::new().opt_level(opt_level);
        if let Some(target) = target {
            compiler = compiler.target(target).map_err(raised)?;
        }
        if let Some(name) = fp_math {
            compiler = compiler.fp_math(named("fp_math", name, Level::ALL)?);
        }
        if let Some(error) = max_error {
            compiler = compiler.max_error(error);
        }
        for (input, extents) in shapes.unwrap_or_default() {
            compiler = compiler.extents(&input, &extents).map_err(raised)?;
        }
        for (input, extents) in likely.unwrap_or_default().into_iter().flatten() {
            compiler = compiler.likely(&input, &extents);
        }
        for pipeline in passes.unwrap_or_default() {
            compiler = compiler.passes(&pipeline);
        }
        for file in schedules.unwrap_or_default() {
            compiler = compiler.schedule(file);
        }
        if let Some(jobs) = jobs {
            compiler = compiler.jobs(jobs);
        }
        let mut logs = Vec::new();
        for path in tuning_logs.unwrap_or_default() {
            let records = log::read(&path).map_err(raised)?;
            logs.push((path, records));
        }
        let mut notes = Vec::new();
        compiler = compiler.choices(|target| {
            let fit = log::fit(&logs, target, None);
            notes = fit.notes;
            fit.choices
        });
        for note in notes {
            warn(py, &format!("{note}; until then the kernels get their default schedules"))?;
        }
        Ok(Compiler { model, inner: compiler })
    }

    /// Compiles the model and loads it.
    fn compile(&self, py: Python<'_>) -> PyResult<Module> {
        py.detach(|| self.inner.compile(self.model.source())).map(Module::new).map_err(raised)
    }

    /// What `fusion explain` tells of it: as text, as a page of HTML, and as JSON.
    fn explain(&self, py: Python<'_>, measure: bool, budget: f64) -> PyResult<(String, String, String)> {
        py.detach(|| report::explain(&self.inner, self.model.source(), measure.then_some(budget)))
            .map_err(raised)
    }

    /// What `fusion bench --profile` tells of it: as text and as JSON.
    fn profile(&self, py: Python<'_>, budget: f64) -> PyResult<(String, String)> {
        py.detach(|| report::profile(&self.inner, self.model.source(), budget)).map_err(raised)
    }

    /// The module behind a stage of the compiler, as text without large constants.
    fn module_text(&self, py: Python<'_>, stage: &str) -> PyResult<String> {
        py.detach(|| self.inner.module_text(self.model.source(), stage)).map_err(raised)
    }
}

fn warn(py: Python<'_>, text: &str) -> PyResult<()> {
    let text = std::ffi::CString::new(text.replace('\0', " "))?;
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 1)
}

/// The passes that have a model compute in a narrow type.
#[pyfunction]
pub fn mixed_precision(narrow: &str) -> PyResult<String> {
    match narrow {
        "f16" | "bf16" => Ok(fusion::mixed_precision(narrow)),
        _ => Err(PyValueError::new_err(format!(
            "mixed_precision is {narrow:?}, and \"f16\" or \"bf16\" is expected"
        ))),
    }
}

/// Runs a pipeline of passes on a module, and gives its text.
#[pyfunction]
pub fn opt(py: Python<'_>, text: &str, pipeline: &str) -> PyResult<String> {
    py.detach(|| {
        fusion::register_passes();
        let context = fusion_dialects::load_context();
        let module = fusion_dialects::parse_module(&context, text).map_err(|errors| errors.join("\n"))?;
        fusion_dialects::run_passes(&module, pipeline).map_err(|errors| errors.join("\n"))?;
        Ok(format!("{}\n", module.as_operation()))
    })
    .map_err(|error: String| raised(error))
}

/// The text of a model in the relay dialect.
#[pyfunction]
pub fn import_text(py: Python<'_>, model: &Bound<'_, PyAny>, format: &str) -> PyResult<String> {
    let model = Model::of(model, format)?;
    py.detach(|| fusion::driver::import(model.source())).map_err(raised)
}

/// What a model says of itself; none where it is not of ONNX.
#[pyfunction]
pub fn onnx_facts<'py>(
    py: Python<'py>,
    model: &Bound<'py, PyAny>,
    format: &str,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    let model = Model::of(model, format)?;
    if model.source().format() != Format::Onnx {
        return Ok(None);
    }
    let facts = py.detach(|| onnx_facts_of(&model.source())).map_err(raised)?;
    let all = PyDict::new(py);
    all.set_item("producer_name", facts.producer)?;
    all.set_item("graph_name", facts.graph)?;
    all.set_item("domain", facts.domain)?;
    all.set_item("description", facts.description)?;
    all.set_item("version", facts.version)?;
    all.set_item("custom_metadata_map", facts.properties.into_iter().collect::<BTreeMap<_, _>>())?;
    all.set_item("inputs", facts.inputs.into_iter().map(declared).collect::<Vec<_>>())?;
    all.set_item("outputs", facts.outputs.into_iter().map(declared).collect::<Vec<_>>())?;
    let labels = PyDict::new(py);
    for (output, list) in facts.labels {
        match list {
            Labels::Strings(list) => labels.set_item(output, list)?,
            Labels::Integers(list) => labels.set_item(output, list)?,
        }
    }
    all.set_item("labels", labels)?;
    Ok(Some(all))
}
