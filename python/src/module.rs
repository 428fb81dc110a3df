//! Compiled models.

use crate::capsule::{self, Given};
use crate::port::{Port, of_argument, of_value};
use crate::raised;
use fusion::{DType, Tensor, ValueTree, programs};
use fusion_runtime::RunError;
use fusion_runtime::description::output_name;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyList};
use std::path::PathBuf;

/// A compiled model. Threads may share it.
#[pyclass(frozen, module = "fusion._fusion")]
pub struct Module {
    inner: fusion::Module,
}

/// A result: its name, element type, shape, and elements: their bytes, or a list of strings.
type Result<'py> = (String, String, Vec<usize>, Bound<'py, PyAny>);

impl Module {
    /// Of a model that was compiled.
    pub fn new(inner: fusion::Module) -> Module {
        Module { inner }
    }

    fn is_program(&self) -> bool {
        self.inner.description().program.is_some()
    }

    fn call(&self, inputs: &[Given]) -> std::result::Result<Vec<(String, Tensor)>, fusion::Error> {
        if self.inner.takes_numbers() {
            let views: Vec<_> = inputs.iter().map(Given::view).collect::<std::result::Result<_, _>>()?;
            let results = self.inner.run(&views)?;
            let name =
                |i: usize| self.inner.outputs().get(i).map_or_else(|| output_name(i), |o| o.name.clone());
            return Ok(results.into_iter().enumerate().map(|(i, result)| (name(i), result)).collect());
        }
        let values: Vec<ValueTree> =
            inputs.iter().map(|v| v.owned().map(ValueTree::tensor)).collect::<std::result::Result<_, _>>()?;
        programs::tensors_of(&self.inner.call(&values)?)
    }
}

#[pymethods]
impl Module {
    /// Loads a compiled model.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Module> {
        py.detach(|| fusion::Module::load(path)).map(Module::new).map_err(raised)
    }

    /// Writes the library, and its C header beside it.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.inner.save(path)).map_err(raised)
    }

    /// Names, element types and shapes of what it takes, as far as these are known.
    fn inputs(&self) -> Vec<Port> {
        match &self.inner.description().program {
            None => self.inner.inputs().iter().map(of_argument).collect(),
            Some(program) => program.types.inputs.iter().map(|(name, ty)| of_value(name, ty)).collect(),
        }
    }

    /// The same of what it gives; none where that follows from what it is given.
    fn outputs(&self) -> Option<Vec<Port>> {
        (!self.is_program()).then(|| self.inner.outputs().iter().map(of_argument).collect())
    }

    /// The target that it was compiled for.
    fn target(&self) -> String {
        self.inner.description().target.clone()
    }

    /// Threads of later runs; 0 for one a processor.
    fn set_threads(&self, threads: u16) {
        self.inner.set_threads(threads);
    }

    /// Runs it on tensors: what has `__dlpack__`, or an element type, shape and bytes each, or a shape and strings.
    fn run<'py>(&self, py: Python<'py>, inputs: Vec<Bound<'py, PyAny>>) -> PyResult<Vec<Result<'py>>> {
        let given = inputs.iter().map(capsule::given).collect::<PyResult<Vec<Given>>>()?;
        let results = py.detach(|| self.call(&given)).map_err(raised)?;
        let result = |(name, tensor): (String, Tensor)| -> PyResult<Result<'py>> {
            let (dtype, shape) = (tensor.dtype().to_string(), tensor.shape().to_vec());
            let elements = match tensor.dtype() {
                DType::String => PyList::new(py, tensor.strings().collect::<Vec<&str>>())?.into_any(),
                _ => PyByteArray::new(py, tensor.bytes()).into_any(),
            };
            Ok((name, dtype, shape, elements))
        };
        results.into_iter().map(result).collect()
    }

    /// Runs it on the same, and has it write its outputs into the memory of objects with `__dlpack__`; not for programs, whose outputs have no shapes
    /// beforehand.
    fn run_into(
        &self,
        py: Python<'_>,
        inputs: Vec<Bound<'_, PyAny>>,
        outputs: Vec<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let given = inputs.iter().map(capsule::given).collect::<PyResult<Vec<Given>>>()?;
        let mut written = capsule::written(&outputs, &given)?;
        let run = || {
            let inputs: Vec<_> = given.iter().map(Given::view).collect::<std::result::Result<_, _>>()?;
            let described = self.inner.outputs();
            if written.len() != described.len() {
                let (expected, found) = (described.len(), written.len());
                return Err(fusion::Error::from(RunError::Outputs { expected, found }));
            }
            let outputs = written.iter_mut().zip(described).map(|(memory, output)| memory.view(output));
            self.inner.run_into(&inputs, &mut outputs.collect::<std::result::Result<Vec<_>, _>>()?)
        };
        py.detach(run).map_err(raised)
    }
}
