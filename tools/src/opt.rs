//! `fusion-opt`: MLIR's driver, with validation of our passes.
//!
//! MLIR's driver reads its own options; those that begin with `--validate-` and `--bisect-rules` are ours and are taken out
//! before.

use crate::print;
use fusion::validate::{self, Settings};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::PoisonError;

const HELP: &str = "\
Validation (fusion):

  --validate-passes           - Run each function that one of fusion's passes changes before and after it, on random inputs
  --validate-flops=<number>   - Do not run functions that take more operations (1e9)
  --validate-rtol=<number>    - Largest difference, relative to the largest element of an output (1e-4)
  --validate-seed=<number>    - Seed of the inputs (0)
  --validate-output=<folder>  - Where to write what shows a difference (.)
  --bisect-rules              - Where relay-optimize is wrong, find the fewest applications of rules that make it so
";

/// Runs the program; gives the exit status.
pub fn main() -> i32 {
    main_with(std::env::args_os().collect())
}

/// Runs the program over other arguments, of which the first names it; gives the exit status.
pub fn main_with(mut arguments: Vec<OsString>) -> i32 {
    if arguments.iter().any(|a| a == "--help" || a == "-help") {
        let _ = print::line(HELP);
    }
    let settings = match take(&mut arguments) {
        Ok(settings) => settings,
        Err(why) => {
            print::error(why);
            return 1;
        }
    };
    let report = settings.map(|settings| {
        // What a function calls is run with it, so nobody else may change the module.
        arguments.push("--mlir-disable-threading".into());
        validate::start(settings)
    });
    let status = fusion_dialects::opt_main_with(arguments);
    if let Some(report) = report {
        for line in report.lock().unwrap_or_else(PoisonError::into_inner).lines() {
            print::aside(line);
        }
    }
    status
}

/// Takes our options out; settings where passes are to be validated.
fn take(arguments: &mut Vec<OsString>) -> Result<Option<Settings>, String> {
    let (mut settings, mut wanted, mut rest) = (Settings::default(), false, Vec::new());
    for argument in arguments.drain(..) {
        let text = argument.to_str().unwrap_or_default();
        if text == "--bisect-rules" || text == "-bisect-rules" {
            settings.bisect = true;
            continue;
        }
        let Some(ours) = text.strip_prefix("--validate-").or_else(|| text.strip_prefix("-validate-")) else {
            rest.push(argument);
            continue;
        };
        let (name, value) = ours.split_once('=').unwrap_or((ours, ""));
        let number = || {
            let number = value.parse().ok().filter(|n: &f64| *n >= 0.0);
            number.ok_or_else(|| format!("--validate-{name} takes a number, found {value:?}"))
        };
        match name {
            "passes" => wanted = true,
            "flops" => settings.budget.flops = number()?,
            "rtol" => settings.budget.tolerance = number()?,
            "seed" => {
                settings.seed =
                    value.parse().map_err(|_| format!("--validate-seed takes an integer, found {value:?}"))?
            }
            "output" => settings.directory = PathBuf::from(value),
            _ => return Err(format!("there is no option --validate-{name}; --help lists all")),
        }
    }
    *arguments = rest;
    if settings.bisect && !wanted {
        return Err(
            "--bisect-rules says what is wrong where --validate-passes finds it; give both".to_owned()
        );
    }
    Ok(wanted.then_some(settings))
}

#[cfg(test)]
mod tests {
    use super::take;
    use std::ffi::OsString;

    fn taken(arguments: &[&str]) -> Result<(Option<super::Settings>, Vec<OsString>), String> {
        let mut all: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        take(&mut all).map(|settings| (settings, all))
    }

    #[test]
    fn our_options_are_taken_out() {
        let (settings, rest) = taken(&["a.mlir", "--validate-passes", "--bisect-rules", "--cse"]).unwrap();
        assert!(settings.unwrap().bisect);
        assert_eq!(rest, ["a.mlir", "--cse"]);
        assert!(!taken(&["--validate-passes"]).unwrap().0.unwrap().bisect);
        assert!(taken(&["--cse"]).unwrap().0.is_none());
    }

    #[test]
    fn bisection_without_validation_is_refused() {
        let why = taken(&["--bisect-rules"]).unwrap_err();
        assert_eq!(why, "--bisect-rules says what is wrong where --validate-passes finds it; give both");
    }
}
