//! `fusion-attach-fp-math`: notes at a module what arithmetic it is for, as the compiler does before all other passes.
//!
//!     module { ... }    =>    module attributes {fusion.fp_math = "fast"} { ... }

use fusion_dialects::module::{FpMath, Level};
use fusion_dialects::{Op, OperationLike, OptionKind, OptionSpec, Pass, PassError, RunContext};

/// The pass.
pub struct AttachFpMath;

impl Pass for AttachFpMath {
    const NAME: &'static str = "fusion-attach-fp-math";
    const DESCRIPTION: &'static str = "Note at a module what its arithmetic of floats may be taken for";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "level",
            description: "strict, standard or fast",
            kind: OptionKind::Text,
            initial: "standard",
        },
        OptionSpec {
            name: "max-error",
            description: "The largest error by normwise forms, as a part of the largest result; empty for the level's",
            kind: OptionKind::Text,
            initial: "",
        },
    ];

    fn run<'c>(module: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let wrong = |what: String| PassError::new(module.location(), format!("the option {what}"));
        let (level, error) = (cx.options.text("level"), cx.options.text("max-error"));
        let level = Level::named(level).ok_or_else(|| {
            wrong(format!("level of {} must be strict, standard or fast, found {level:?}", Self::NAME))
        })?;
        let max_error = match error {
            "" => None,
            text => Some(text.parse().ok().filter(|error| *error > 0.0).ok_or_else(|| {
                wrong(format!(
                    "max-error of {} must be a number above 0, as 1e-4, found {text:?}",
                    Self::NAME
                ))
            })?),
        };
        FpMath { level, max_error }.attach(module);
        Ok(())
    }
}
