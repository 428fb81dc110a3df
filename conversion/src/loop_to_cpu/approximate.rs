//! `math-approximate`: functions of f32 that vectorise become polynomials.
//!
//! A call into the C library a lane costs ten times what the same function costs as straight vector code. The polynomials
//! err by a few units in the last place. Functions whose polynomials are worse (sin and cos of large numbers, powers)
//! stay calls, as do those of f64.

use fusion_dialects::rows::Upstream;
use fusion_dialects::{Op, Pass, PassError, RunContext, approximate_math};

/// The pass.
pub struct MathApproximate;

/// What is approximated.
const FUNCTIONS: &[Upstream] = &[Upstream::Exp, Upstream::Log, Upstream::Tanh, Upstream::Erf];

impl Pass for MathApproximate {
    const NAME: &'static str = "math-approximate";
    const DESCRIPTION: &'static str = "Replace calls of the C library by polynomials where those are as good";
    const ANCHOR: Option<&'static str> = Some("func.func");
    const DIALECTS: &'static [&'static str] = &["math", "arith", "vector"];

    fn run<'c>(function: Op<'c>, _: &mut RunContext) -> Result<(), PassError<'c>> {
        let names: Vec<&str> = FUNCTIONS.iter().map(|f| f.name()).collect();
        if approximate_math(function, &names) {
            Ok(())
        } else {
            Err(PassError::at(function, "has math functions whose replacement does not end"))
        }
    }
}
