//! Programs whose extents are known at run time only: compiled once, and run with inputs of several sizes in the virtual machine and as
//! native code, where they give what the interpreter gives.

mod errors;
mod graphs;
mod moving;
mod operators;
mod random;
mod ranges;
mod tiles;

use fusion::driver::{CompileOptions, Target};
use fusion::programs;
use fusion_bytecode::ProgramFile;
use fusion_operators::{Tensor, ValueTree};
use fusion_runtime::NativeProgram;
use indexmap::IndexMap;
use std::path::PathBuf;
use tempfile::TempDir;

/// A program that was compiled once for each way to run it.
pub struct Compiled {
    path: PathBuf,
    bytecode: ProgramFile,
    native: NativeProgram,
    _directory: TempDir,
}

/// Named inputs.
pub type Inputs = IndexMap<String, Tensor>;

/// Those that nobody gave.
pub fn options() -> CompileOptions {
    CompileOptions::for_target(Target::uncalibrated())
}

impl Compiled {
    /// Compiles Relay text.
    pub fn of(source: &str) -> Compiled {
        Compiled::of_file("program.relay", source)
    }

    /// Compiles a file of that name.
    pub fn of_file(name: &str, source: &str) -> Compiled {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(name);
        std::fs::write(&path, source).unwrap();
        let bytecode =
            programs::bytecode(&path, &options()).unwrap_or_else(|error| panic!("{error}\n{source}"));
        let native = programs::native(&path, &options()).unwrap_or_else(|error| panic!("{error}\n{source}"));
        let native = programs::linked(&native).unwrap().unwrap();
        Compiled { path, bytecode, native, _directory: directory }
    }

    /// What each way to run it says: the interpreter, the virtual machine, native code.
    pub fn run(&self, inputs: &Inputs) -> [Result<ValueTree, String>; 3] {
        let values: programs::Inputs =
            inputs.iter().map(|(name, tensor)| (name.clone(), ValueTree::tensor(tensor.clone()))).collect();
        let said = |outcome: Result<ValueTree, fusion::Error>| outcome.map_err(|e| e.to_string());
        [
            said(programs::interpret(&self.path, &options(), values.clone())),
            said(programs::run_bytecode(self.bytecode.clone(), None, values.clone())),
            said(programs::run_native(&self.native, None, values.clone())),
        ]
    }

    /// Compares what all ways give.
    pub fn agree(&self, inputs: &Inputs) {
        let source = std::fs::read_to_string(&self.path).unwrap();
        let shapes: Vec<String> = inputs.iter().map(|(n, t)| format!("{n}: {}", t.tensor_type())).collect();
        let [expected, vm, aot] = self.run(inputs).map(|outcome| {
            outcome.unwrap_or_else(|error| panic!("{}: {error}\n{source}", shapes.join(", ")))
        });
        for (how, found) in [("vm", vm), ("aot", aot)] {
            found
                .same(&expected, 1e-4)
                .unwrap_or_else(|why| panic!("{how} on {}: {why}\n{source}", shapes.join(", ")));
        }
    }

    /// The program, of which no operator is left to reference semantics.
    pub fn without_references(self) -> Compiled {
        let text = self.bytecode.program.to_string();
        assert!(!text.contains(" operator "), "{text}");
        self
    }
}

/// Floats of a shape that look random.
pub fn tensor(shape: &[usize], seed: usize) -> Tensor {
    let count = shape.iter().product::<usize>();
    let values: Vec<f32> = (0..count).map(|i| (((i * 37 + seed * 101) % 997) as f32 * 0.7).sin()).collect();
    Tensor::from_slice(shape, &values).unwrap()
}

/// Inputs of these shapes.
pub fn inputs(shapes: &[(&str, &[usize])]) -> Inputs {
    let named = |(seed, (name, shape)): (usize, &(&str, &[usize]))| ((*name).to_owned(), tensor(shape, seed));
    shapes.iter().enumerate().map(named).collect()
}
