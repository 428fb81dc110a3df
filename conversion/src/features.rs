//! Features of the loops that choices give: the kernel is scheduled and lowered so far, and no further.
//!
//! ```text
//!   the kernel as a program of its own  --DEFINE, once-->  te  --te.choices, TE-->  loops  -->  numbers
//! ```

use crate::pipelines::{DEFINE, TE};
use crate::runner::Runner;
use fusion_dialects::OpExt;
use fusion_dialects::loops::KERNEL;
use fusion_dialects::module::{FpMath, attach_target, target_of};
use fusion_dialects::rows::Kind;
use fusion_dialects::rows::Upstream;
use fusion_dialects::{Op, load_context, module_op, parse_module, te, top_level};
use fusion_loops::features;
use fusion_machine::Target;
use fusion_schedule::auto_schedule::{Choice, attach_choices};

/// What gives the features of a kernel's loops.
#[derive(Clone, Debug, PartialEq)]
pub struct Features {
    program: String,
    target: Target,
    fp_math: FpMath,
}

impl Features {
    /// Of a kernel as a program of its own, for the target and the arithmetic of a module.
    pub fn of(module: Op, program: &str) -> Features {
        let fp_math = FpMath::given(module).ok().flatten().unwrap_or_default();
        Features { program: program.to_owned(), target: target_of(module).unwrap_or_default(), fp_math }
    }

    /// The names of the features.
    pub fn names() -> Vec<String> {
        features::names()
    }

    /// The features of the loops that each of these choices gives; none of those that are not possible.
    pub fn of_choices(&self, all: &[Vec<Choice>]) -> Vec<Option<Vec<f32>>> {
        let context = load_context();
        let defined = || {
            let module = parse_module(&context, &self.program).ok()?;
            let root = module_op(&module);
            attach_target(&self.target, root);
            self.fp_math.attach(root);
            Runner::default().run(&module, DEFINE).ok()?;
            Some(module.as_operation().to_string())
        };
        let Some(defined) = defined() else { return vec![None; all.len()] };
        let of_one = |choices: &Vec<Choice>| {
            let module = parse_module(&context, &defined).ok()?;
            let root = module_op(&module);
            for kernel in top_level(root, |k| matches!(k, Kind::Te(te::Op::Kernel))) {
                attach_choices(kernel, choices);
            }
            Runner::default().run(&module, TE).ok()?;
            let functions = top_level(root, |k| matches!(k, Kind::Upstream(Upstream::Func)));
            let kernel = functions.into_iter().find(|f| f.attr(KERNEL).is_some())?;
            Some(features::features(kernel))
        };
        all.iter().map(of_one).collect()
    }
}
