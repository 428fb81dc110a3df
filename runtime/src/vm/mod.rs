//! The virtual machine: runs programs in the form of [`fusion_bytecode`], with tensors computed by native kernels.
//!
//! ```text
//!   Program --check, number types, find kernels, flatten--> Machine --run--> a value
//!              (code.rs, library.rs)                         (run/ over heap.rs, tensors.rs)
//! ```
//! Values are counted as the program says, so there is nothing to collect; what owns itself through a cell goes when the run ends.
//! The machine never recurs: neither deep recursion of the program nor long lists need stack of the thread.
//! `docs/reference/bytecode.md` describes programs and their files.

mod code;
mod convert;
mod error;
mod files;
mod heap;
mod library;
mod run;
mod tensors;

pub use error::{LibraryError, MachineError, VmError};
pub use files::{ProgramFileError, TEXT, read_program, write_program};
pub use library::KernelLibrary;
pub use tensors::NoMemory;

use code::Code;
use fusion_bytecode::{Program, check_inputs};
use fusion_operators::{Dictionary, ValueTree};
use heap::{Handle, Heap};
use library::Kernels;
use run::State;

/// How much a run may use before it is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Calls inside one another.
    pub depth: usize,
    /// Bytes of values; those of registers are counted for themselves.
    pub bytes: usize,
    /// Calls and jumps.
    pub steps: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { depth: 10_000_000, bytes: 16 << 30, steps: u64::MAX }
    }
}

/// A program ready to run.
pub struct Machine {
    program: Program,
    code: Code,
    limits: Limits,
    state: State,
    /// Values that are live between runs: constants.
    constants: usize,
    /// How many strings are known between runs.
    strings: usize,
    leaked: usize,
}

impl Machine {
    /// Checks a program and prepares it to run.
    pub fn new(program: Program, library: KernelLibrary) -> Result<Machine, MachineError> {
        Machine::with_limits(program, library, Limits::default())
    }

    /// As [`Machine::new`], with limits of its own.
    pub fn with_limits(
        program: Program,
        library: KernelLibrary,
        limits: Limits,
    ) -> Result<Machine, MachineError> {
        program.check()?;
        let mut heap = Heap::new(limits.bytes);
        heap.tensors.strings = Dictionary::of(program.strings.iter().map(String::as_str));
        let constants: Result<Vec<Handle>, NoMemory> =
            program.constants.iter().map(|tensor| heap.tensors.copy_in(tensor).map(Handle::tensor)).collect();
        let kernels = Kernels::new(&program.kernels, library, &mut heap.tensors)?;
        let code = Code::new(&program, &constants?);
        let (constants, strings) = (heap.live(), heap.tensors.strings.len());
        let state = State::new(heap, kernels);
        Ok(Machine { program, code, limits, state, constants, strings, leaked: 0 })
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// How many threads kernels may use from now on, the caller's among them; 0 for one a processor.
    pub fn set_threads(&self, threads: u16) {
        self.state.kernels.library().set_threads(threads);
    }

    /// Values that are alive besides the program's constants: none between runs.
    pub fn live(&self) -> usize {
        self.state.heap.live() - self.constants
    }

    /// Values of the last run that nobody let go of: those that owned themselves through a cell.
    pub fn leaked(&self) -> usize {
        self.leaked
    }

    /// Runs the program.
    pub fn run(&mut self, inputs: &[ValueTree]) -> Result<ValueTree, VmError> {
        let result = self.run_inside(inputs);
        self.leaked = self.live();
        if self.leaked > 0 {
            self.state.heap.free_cycles();
        }
        self.state.heap.tensors.strings.truncate(self.strings);
        result
    }

    fn run_inside(&mut self, inputs: &[ValueTree]) -> Result<ValueTree, VmError> {
        let Program { data, inputs: types, ranges, .. } = &self.program;
        let constructors =
            check_inputs(data, types, ranges, inputs).map_err(|error| VmError::Inputs(error.to_string()))?;
        let heap = &mut self.state.heap;
        let mut arguments: Vec<Handle> = Vec::with_capacity(inputs.len());
        for ((value, (name, _)), constructors) in inputs.iter().zip(types).zip(&constructors) {
            match convert::from_host(heap, constructors, value) {
                Ok(handle) => arguments.push(handle),
                Err(why) => {
                    arguments.into_iter().for_each(|handle| heap.release(handle));
                    return Err(VmError::Inputs(format!("input {name:?} of the program is no value: {why}")));
                }
            }
        }
        let entry = self.program.entry;
        let (code, kernels) = (&self.code, &self.program.kernels);
        let result = self.state.run(code, kernels, self.limits, entry, &arguments);
        let value = result.map_err(|why| self.failed(why))?;
        let output = convert::to_host(&self.state.heap, &self.program.data, value);
        self.state.heap.release(value);
        output.map_err(|why| self.failed(why))
    }

    /// An error at the instruction that was carried out last.
    fn failed(&self, why: String) -> VmError {
        let at = self.state.at;
        let id =
            self.code.functions.partition_point(|function| function.start as usize <= at).saturating_sub(1);
        let start = self.code.functions.get(id).map_or(0, |function| function.start as usize);
        let function = self.program.functions.get(id);
        // A kernel of several operators knows better where it failed.
        let place = self.state.place.as_ref();
        let place = place.or_else(|| function.and_then(|function| function.places.get(at - start)));
        VmError::Failed {
            place: place.filter(|place| !place.is_empty()).cloned(),
            function: function.map(|function| function.name.clone()).unwrap_or_default(),
            why,
        }
    }
}
