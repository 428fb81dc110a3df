//! From bytecode to native code: a program becomes a module in the LLVM dialect, and that an object.
//!
//! ```text
//!   function @f of 2 parameters         llvm.func tailcc @function.0.f(run, a, b) -> ptr
//!   Call, Apply                         calls with that convention
//!   TailCall, TailApply                 `musttail`: the stack does not grow
//!   Construct, Field, Switch, Drop      loads and stores of counted values, see layout.rs
//!   Kernel                              a call of its symbol
//!   Fail, a stack that is used up       a call that leaves the run, see runtime/language/run.c
//! ```
//! Values are counted as the instructions say; the code of the common cases stands where it happens and the rest in
//! `runtime/language`. `docs/explanation/aot.md` has the pictures.

mod automaton;
mod extents;
mod function;
mod globals;
mod held;
mod layout;
mod values;
mod writer;

use function::strings::STRING_OPERATORS;
use function::{
    CHECK_TYPE, FAIL, FAIL_ARGUMENTS, FAIL_EXTENTS, FAIL_STACK, NEW_TENSOR, symbol_of, write_applied,
    write_function,
};
use fusion_bytecode::{CheckError, FunctionId, Program};
use fusion_dialects::{Build, CodegenError, Context, Emit, Location, Module, Target, Type, emit};
use globals::{Globals, write_numbers};
use indexmap::IndexSet;
use values::{FREE_VALUE, REFILL};
use writer::{Callee, Spelling, Writer};

/// What the runtime starts.
const ENTER: &str = "fusion_program_enter";
/// What the runtime knows of the program.
const FACTS: &str = "fusion_program_facts";
/// What elements of tensors of strings are numbers of.
const STRINGS: &str = "fusion_program_strings";

/// A program as native code.
pub struct Native {
    /// The object; it needs those of the kernels and of `runtime/language`.
    pub object: Vec<u8>,
    /// The bytes behind `fusion_constants`.
    pub constants: Vec<u8>,
}

/// Why there is no code.
#[derive(Debug, thiserror::Error)]
pub enum BytecodeError {
    /// The program is none.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// The program is too much.
    #[error("the program cannot be compiled: {0}")]
    Malformed(String),
    /// Only the virtual machine has it.
    #[error(
        "{place}relay.{operator} has no machine code: it is one that only the compiler itself computes, or its operands have dynamic \
         shapes; give the shapes of @main's inputs, or run the program with --executor vm"
    )]
    Dynamic {
        /// Where.
        place: String,
        /// The operator.
        operator: String,
    },
    /// A pattern has no automaton of bytes.
    #[error("{place}relay.string_match cannot be compiled: {why}; run the program with --executor vm")]
    Pattern {
        /// Where.
        place: String,
        /// What is wrong with the pattern.
        why: String,
    },
    /// LLVM refused.
    #[error(transparent)]
    Codegen(#[from] CodegenError),
}

/// Compiles a program.
pub fn compile(context: &Context, program: &Program, target: &Target) -> Result<Native, BytecodeError> {
    compile_with_kernels(context, program, Vec::new(), target)
}

/// Compiles a program whose kernels find constants of their own at the start of `fusion_constants`; those of the program follow.
pub fn compile_with_kernels(
    context: &Context,
    program: &Program,
    kernel_constants: Vec<u8>,
    target: &Target,
) -> Result<Native, BytecodeError> {
    let (module, mut constants) = module_after(context, program, kernel_constants.len() as u64)?;
    constants[..kernel_constants.len()].copy_from_slice(&kernel_constants);
    let object = emit(&module, target, Emit::Object)?;
    Ok(Native { object, constants })
}

/// The program as a module in the LLVM dialect, and the bytes of its constants.
pub fn to_module<'c>(
    context: &'c Context,
    program: &Program,
) -> Result<(Module<'c>, Vec<u8>), BytecodeError> {
    module_after(context, program, 0)
}

/// As [`to_module`], with so many bytes before those of the program's constants.
fn module_after<'c>(
    context: &'c Context,
    program: &Program,
    before: u64,
) -> Result<(Module<'c>, Vec<u8>), BytecodeError> {
    program.check()?;
    let no_dialect = || BytecodeError::Malformed("the LLVM dialect is not loaded".into());
    let spelling = Spelling::of(context).ok_or_else(no_dialect)?;
    let mut outcome = Ok(Vec::new());
    let module = Build::module(context, Location::unknown(context), |build| {
        outcome = write_program(&Writer { build, spelling }, program, before);
    });
    Ok((module, outcome?))
}

fn write_program(writer: &Writer, program: &Program, before: u64) -> Result<Vec<u8>, BytecodeError> {
    declare(writer, program);
    let mut globals = Globals::behind(before);
    for id in 0..program.functions.len() {
        write_function(writer, program, id as FunctionId, &mut globals)?;
    }
    for &(function, captured) in &globals.applied {
        write_applied(writer, program, function, captured)?;
    }
    let bytes = globals.write(writer, program);
    write_numbers(writer, FACTS, &globals::facts(program), true);
    write_numbers(writer, STRINGS, &globals::strings(program), true);
    writer.function(ENTER, 2, false, |writer, arguments| {
        let pointer = writer.spelling.pointer;
        let mut passed = vec![arguments[0]];
        for i in 0..program.inputs.len() {
            passed.push(writer.load(pointer, arguments[1], 8 * i as u64));
        }
        let callee = symbol_of(program, program.entry);
        let result = writer.call(Callee::Program(&callee), &passed, Some(pointer));
        writer.give(result.as_slice());
        Ok::<(), BytecodeError>(())
    })?;
    Ok(bytes)
}

/// Declares what is defined elsewhere.
fn declare(writer: &Writer, program: &Program) {
    let Spelling { pointer, int32, int64, .. } = writer.spelling;
    let all: [(&str, Option<Type>, &[Type]); 8] = [
        (REFILL, Some(pointer), &[pointer, int32]),
        (FREE_VALUE, None, &[pointer; 2]),
        (NEW_TENSOR, Some(pointer), &[pointer, int32, int32, int32, pointer]),
        (FAIL, None, &[pointer; 2]),
        (FAIL_STACK, None, &[pointer; 2]),
        (FAIL_ARGUMENTS, None, &[pointer; 2]),
        (FAIL_EXTENTS, None, &[pointer, pointer, int64, int64]),
        (CHECK_TYPE, None, &[pointer; 5]),
    ];
    all.into_iter().for_each(|(symbol, result, takes)| writer.declare(symbol, result, takes));
    STRING_OPERATORS.iter().for_each(|row| writer.declare(row.symbol, None, &[pointer; 5]));
    let kernels: IndexSet<&str> = program.kernels.iter().map(|kernel| kernel.symbol.as_str()).collect();
    kernels.into_iter().for_each(|symbol| writer.declare(symbol, None, &[pointer; 3]));
}
