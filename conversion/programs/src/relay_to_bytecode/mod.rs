//! From typed, monomorphic relay to [`fusion_bytecode::Program`].
//!
//! ```text
//!   func.func @sum(%l: !relay.adt<@List, ...>)        @sum: 1 parameter
//!     relay.match %l                                    0: switch r0 [1, 4]
//!     case [@Nil] { yield %zero }                       1: drop r0;  2: r1 = constant 0;  3: return r1
//!     case [@Cons, "x", "rest"] {               ==>     4: r1 = field r0 0;  5: r2 = field r0 1;  6: drop r0
//!       %s = relay.call @sum(%rest)                     7: r3 = call @sum(r2)
//!       %y = call @kernel_0(%x, %s)                     8: r0 = kernel 0 (r1, r3);  ...
//!       yield %y }                                      11: return r0
//! ```
//!
//! Tensor code must have been outlined before ([`outline`]). Functions are lowered when something reachable from `@main` needs
//! them: [`function`] lowers one, with the control flow in [`control`] and matches in [`matching`]. Values live in registers and
//! have one owner; where a value is used for the last time its owner gives it away or drops it ([`liveness`]). Which values need
//! no register at all (constants, functions, closures that are only called, tuples that are taken apart at once) [`known`] says.

mod code;
mod control;
mod dynamic;
mod function;
mod known;
mod liveness;
mod matching;
mod operations;
pub mod outline;
mod program;
mod scalars;

use fusion_bytecode::Program;
use fusion_dialects::{Op, PassError};
use program::Lowering;

/// A program whose kernels have names and no code yet.
pub struct Lowered {
    /// The program. Each kernel's symbol is the name of its function in the module.
    pub program: Program,
}

/// Lowers what is reachable from `@main`.
pub fn lower(module: Op) -> Result<Lowered, PassError> {
    let mut lowering = Lowering::of(module)?;
    while let Some(wanted) = lowering.next() {
        let function = function::lower(&mut lowering, &wanted)?;
        lowering.program.functions.push(function);
    }
    Ok(Lowered { program: lowering.program })
}
