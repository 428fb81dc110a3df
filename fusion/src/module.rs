//! A compiled model: what it takes and gives, runs, and its file.

use crate::error::Error;
use crate::load::Runnable;
use fusion_operators::{AsTensor, Tensor, TensorType, ValueTree};
use fusion_runtime::header::header;
use fusion_runtime::output::{self, OutputFile};
use fusion_runtime::{ArgumentDescription, ModelDescription, Session, TensorViewMut};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A compiled model in memory. Threads may share it.
///
/// ```
/// use fusion::{Compiler, DType, Module, Source, Tensor};
///
/// let model = "func.func @main(%x: tensor<2xf32> {relay.name = \"x\"}) -> tensor<2xf32> {
///   %y = relay.exp %x : (tensor<2xf32>) -> tensor<2xf32>
///   return %y : tensor<2xf32>
/// }";
/// let directory = std::env::temp_dir().join(format!("fusion_doc_{}", std::process::id()));
/// std::fs::create_dir_all(&directory).unwrap();
/// let path = directory.join("exp.so");
/// Compiler::new().opt_level(0).compile(Source::mlir(model))?.save(&path)?;
/// let module = Module::load(&path)?;
///
/// let x = &module.inputs()[0];
/// assert_eq!((x.name.as_str(), x.dtype, &x.shape[..]), ("x", DType::F32, &[2][..]));
/// assert_eq!(module.run(&[Tensor::from_slice(&[2], &[0.0f32, 0.0])?])?[0].to_f64s(), [1.0, 1.0]);
/// # std::fs::remove_dir_all(directory).unwrap();
/// # Ok::<(), fusion::Error>(())
/// ```
pub struct Module {
    code: Runnable,
    file: PathBuf,
    /// The folder of the file, where it goes with the model.
    _folder: Option<TempDir>,
}

impl Module {
    pub(crate) fn new(code: Runnable, file: PathBuf, folder: Option<TempDir>) -> Module {
        Module { code, file, _folder: folder }
    }

    /// Loads a compiled model. Loading runs the code of the file, so load only what you trust.
    pub fn load(path: impl AsRef<Path>) -> Result<Module, Error> {
        let path = path.as_ref();
        Ok(Module::new(Runnable::load(path)?, path.to_owned(), None))
    }

    /// Writes the library, and the C header beside it. A file that is loaded is not changed but replaced.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = path.as_ref();
        let header_path = path.with_extension("h");
        if header_path == path {
            return Err(Error::Option(format!(
                "{} is the name of the header; give the library one that ends in .so",
                path.display()
            )));
        }
        let copy = || {
            let mut library = OutputFile::create(path)?;
            std::io::copy(&mut std::fs::File::open(&self.file)?, library.file())?;
            library.commit()
        };
        copy().map_err(Error::file("write", path))?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let text = header(self.description(), &stem);
        output::write(&header_path, text.as_bytes()).map_err(Error::file("write", &header_path))
    }

    /// All that it says of itself, kernels included.
    pub fn description(&self) -> &ModelDescription {
        self.model().description()
    }

    /// What it takes: names, element types and extents.
    pub fn inputs(&self) -> &[ArgumentDescription] {
        &self.description().inputs
    }

    /// What it gives.
    pub fn outputs(&self) -> &[ArgumentDescription] {
        &self.description().outputs
    }

    /// How many threads runs may use from now on, the caller's among them; 0 for one a processor.
    pub fn set_threads(&self, threads: u16) {
        self.model().set_threads(threads);
    }

    /// Runs it once on [`Tensor`]s or [`TensorView`](crate::TensorView)s, in the order of [`inputs`](Module::inputs).
    ///
    /// A program of the whole language may have tensors of dynamic shapes. One that takes other values, or strings, is
    /// [called](Module::call).
    pub fn run<T: AsTensor>(&self, inputs: &[T]) -> Result<Vec<Tensor>, Error> {
        match &self.code {
            Runnable::Program(program) if program.takes_numbers() => Ok(program.run(inputs)?),
            _ => Ok(self.model().run(inputs)?),
        }
    }

    /// True where [`run`](Module::run) takes what it takes: tensors of numbers.
    pub fn takes_numbers(&self) -> bool {
        match &self.code {
            Runnable::Program(program) => program.takes_numbers(),
            Runnable::Model(_) => true,
        }
    }

    /// Runs it once, and has it write its outputs into memory of the caller's, in the order of [`outputs`](Module::outputs).
    ///
    /// ```
    /// use fusion::{Compiler, DType, Source, Tensor, TensorViewMut};
    ///
    /// let module = Compiler::new().opt_level(0).compile(Source::mlir(
    ///     "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    ///       %y = relay.exp %x : (tensor<2xf32>) -> tensor<2xf32>
    ///       return %y : tensor<2xf32>
    ///     }",
    /// ))?;
    /// let (x, mut y) = (Tensor::from_slice(&[2], &[0.0f32, 0.0])?, Tensor::zeros(DType::F32, &[2])?);
    /// module.run_into(&[x], &mut [TensorViewMut::new(DType::F32, &[2], y.bytes_mut())?])?;
    /// assert_eq!(y.to_f64s(), [1.0, 1.0]);
    /// # Ok::<(), fusion::Error>(())
    /// ```
    pub fn run_into<T: AsTensor>(&self, inputs: &[T], outputs: &mut [TensorViewMut]) -> Result<(), Error> {
        Ok(self.model().run_into(inputs, outputs)?)
    }

    /// What many runs need, allocated once: a run of it allocates nothing.
    pub fn session(&self) -> Result<Session<'_>, Error> {
        Ok(self.model().session()?)
    }

    /// Calls a program of the whole language, which may take and give more than tensors.
    ///
    /// ```
    /// use fusion::{Compiler, Source, ValueTree};
    ///
    /// let sum = "#[version = \"0.0.5\"]
    /// import \"prelude\"
    /// def @sum(%xs: List[float32]) -> float32 {
    ///   match (%xs) { Cons(%x, %rest) => add(%x, @sum(%rest)), Nil => 0f }
    /// }
    /// def @main(%xs: List[float32]) -> float32 { @sum(%xs) }";
    /// let program = Compiler::new().compile(Source::relay(sum))?;
    /// let list = ValueTree::parse("Cons(1f, Cons(2f, Nil))").unwrap();
    /// assert_eq!(program.call(&[list])?.to_string(), "tensor<f32> 3.0");
    /// # Ok::<(), fusion::Error>(())
    /// ```
    pub fn call(&self, inputs: &[ValueTree]) -> Result<ValueTree, Error> {
        match &self.code {
            Runnable::Program(program) => Ok(program.call(inputs)?),
            Runnable::Model(_) => Err(Error::Inputs(
                "the model is one of operators alone, which takes and gives tensors; use run in place of call".to_owned(),
            )),
        }
    }

    /// The shapes of its outputs for inputs of these shapes, without running it. An extent that follows from more than the shapes of inputs
    /// is an error.
    ///
    /// ```
    /// use fusion::{Compiler, Source};
    ///
    /// let module = Compiler::new().opt_level(0).compile(Source::mlir(
    ///     r##"func.func @main(%x: tensor<?x3xf32, #relay.dims<["n", ""]>>) -> tensor<?x3xf32, #relay.dims<["2*n", ""]>> {
    ///       %y = relay.concat %x, %x {axis = 0 : i64} : (tensor<?x3xf32, #relay.dims<["n", ""]>>, tensor<?x3xf32, #relay.dims<["n", ""]>>) -> tensor<?x3xf32, #relay.dims<["2*n", ""]>>
    ///       return %y : tensor<?x3xf32, #relay.dims<["2*n", ""]>>
    ///     }"##,
    /// ))?;
    /// assert_eq!(module.output_shapes(&[&[5, 3]])?, [[10, 3]]);
    /// assert_eq!(module.run_bytes(&[&[5, 3]])?, 10 * 3 * 4);
    /// assert!(module.output_shapes(&[&[5, 4]]).unwrap_err().to_string().contains("must be a tensor<?x3xf32>"));
    /// # Ok::<(), fusion::Error>(())
    /// ```
    pub fn output_shapes(&self, inputs: &[&[u64]]) -> Result<Vec<Vec<u64>>, Error> {
        match &self.code {
            Runnable::Program(program) => {
                let inputs = self.typed(inputs)?;
                let outputs = program.outputs() as u32;
                Ok((0..outputs)
                    .map(|output| program.output_shape(&inputs, output))
                    .collect::<Result<_, _>>()?)
            }
            Runnable::Model(_) => {
                self.typed(inputs)?;
                let shape = |output: &ArgumentDescription| output.shape.iter().map(|&n| n as u64).collect();
                Ok(self.outputs().iter().map(shape).collect())
            }
        }
    }

    /// How many bytes of tensors a run on inputs of these shapes holds at a time, besides inputs, outputs of the caller's and constants.
    pub fn run_bytes(&self, inputs: &[&[u64]]) -> Result<u64, Error> {
        let typed = self.typed(inputs)?;
        match &self.code {
            Runnable::Program(program) => Ok(program.run_bytes(&typed)?),
            Runnable::Model(_) => Ok(self.description().workspace_bytes),
        }
    }

    /// Inputs of these shapes with the model's element types; those of known shapes have these.
    fn typed(&self, shapes: &[&[u64]]) -> Result<Vec<TensorType>, Error> {
        let takes: Vec<(String, TensorType)> = match &self.code {
            Runnable::Program(program) => program.inputs()?,
            Runnable::Model(_) => {
                self.inputs().iter().map(|input| (input.name.clone(), input.tensor_type())).collect()
            }
        };
        if takes.len() != shapes.len() {
            let (takes, given) = (takes.len(), shapes.len());
            return Err(Error::Inputs(format!(
                "the model takes {takes} inputs, and shapes of {given} are given"
            )));
        }
        let is_program = matches!(self.code, Runnable::Program(_));
        let typed = |((name, ty), shape): ((String, TensorType), &&[u64])| {
            let given = TensorType::fixed(shape, ty.dtype);
            match is_program || ty == given {
                true => Ok(given),
                false => Err(Error::Inputs(format!(
                    "input {name:?} is a {ty}, and is given the shape of a {given}"
                ))),
            }
        };
        takes.into_iter().zip(shapes).map(typed).collect()
    }

    fn model(&self) -> &fusion_runtime::Module {
        match &self.code {
            Runnable::Model(model) => model,
            Runnable::Program(program) => program.module(),
        }
    }
}
