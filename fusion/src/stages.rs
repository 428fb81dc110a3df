//! The module that a model is behind a stage of the compiler, as text.
//!
//! ```text
//!   import    as it was read
//!   relay     kernels are decided                 te     each says what it computes
//!   schedule  and how                             loop   as loops
//!   llvm      in LLVM's dialect
//! ```
//! Any stage of `fusion-opt`'s pipelines may be named as well, such as loop-vectorize.

use crate::compilation::{CompileOptions, settings};
use crate::driver::DriverError;
use crate::error::failed;
use crate::language::prepare;
use crate::models::load_module;
use crate::passes::register_passes;
use crate::shapes::constrain;
use crate::source::Source;
use fusion_conversion::pipelines::{DEFINE, HOST, LANGUAGE, LLVM, LOOP, RELAY, TE};
use fusion_conversion::runner::Runner;
use fusion_dialects::module::attach_target;
use fusion_dialects::{Module, module_op};
use fusion_targets::stage::Stage;

/// Short names, and the stage behind which the module is meant.
const NAMES: [(&str, &str); 5] = [
    ("relay", "relay-optimize"),
    ("te", "te-merge"),
    ("schedule", "te-schedule"),
    ("loop", "te-lower"),
    ("llvm", "convert-to-llvm"),
];
const IMPORT: &str = "import";

/// The module behind a stage; large constants are left out of the text.
pub fn text<'a>(
    model: impl Into<Source<'a>>,
    options: &CompileOptions,
    stage: &str,
) -> Result<String, DriverError> {
    register_passes();
    let model = &model.into();
    let context = fusion_dialects::load_context();
    let (mut module, _) = load_module(&context, model, &options.shapes, &options.bound)?;
    if stage == IMPORT {
        return Ok(without_weights(&module));
    }
    constrain(&module, &options.shapes, &options.likely)?;
    options.run_passes(&module)?;
    let groups = match prepare(&mut module, model, options)? {
        true => vec![LANGUAGE],
        false => vec![RELAY, DEFINE, TE, HOST, LOOP, LLVM],
    };
    let wanted = NAMES.iter().find(|(short, _)| *short == stage).map_or(stage, |(_, behind)| behind);
    let stages: Vec<&Stage> = groups.into_iter().flatten().collect();
    let Some(last) = stages.iter().position(|known| known.name == wanted) else {
        let short = NAMES.iter().map(|(short, _)| *short);
        let known: Vec<&str> =
            [IMPORT].into_iter().chain(short).chain(stages.iter().map(|s| s.name)).collect();
        return Err(failed(format!(
            "there is no stage {stage:?}; those of this model are {}",
            known.join(", ")
        )));
    };
    attach_target(options.target.description(), module_op(&module));
    if let Some(arithmetic) = options.fp_math {
        arithmetic.attach(module_op(&module));
    }
    let planning = settings(options, None, None).planning;
    let mut runner = Runner::for_plan(&planning);
    for stage in &stages[..=last] {
        let run = runner.run(&module, std::slice::from_ref(*stage));
        run.map_err(|errors| failed(errors.join("\n")))?;
    }
    Ok(without_weights(&module))
}

/// The text up to the section of large constants, which stands last.
fn without_weights(module: &Module) -> String {
    let mut text = format!("{}\n", module.as_operation());
    if let Some(section) = text.find("\n{-#") {
        text.truncate(section + 1);
    }
    text
}
