//! The ways of running a program, as `--executor` names them.

/// How a program is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Executor {
    /// The reference interpreter, without compiling.
    Interp,
    /// The virtual machine, with compiled kernels.
    Vm,
    /// Compiled kernels in order; for models of operators, if and while alone.
    Graph,
    /// All of it compiled to native code.
    Aot,
}
