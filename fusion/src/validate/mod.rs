//! Validation of passes: every function that one of our passes changed is run before and after, on random inputs.
//!
//! ```text
//!   copy = module            the interpreter runs both, and what they give must agree
//!   pass(module)      =>     @f of the copy   ~   @f of the module         for every @f that is not the same
//! ```
//!
//! A function that calls changed ones is run where these have no counterpart to be run with. What cannot be run (loops, unknown
//! extents, more operations than allowed) is listed in the [`Report`], never passed over. A difference fails the pass, with a
//! sentence, and the module as it was before becomes a file that `fusion-opt` runs again.
//!
//! The module must be changed by one thread at a time: what a function calls is run with it.

mod blame;
mod functions;

use blame::{Blame, with_option};
use functions::{callees, functions, same, same_type};
use fusion_dialects::{
    Module, Op, OpExt, OperationLike, Pass, PassError, PassRun, Watch, module_copy, module_op,
};
use fusion_egraph::RelayOptimize;
use fusion_egraph::bisect::bisect;
use fusion_interpreter::{Agreement, Budget, SAMPLES, agree};
use indexmap::IndexMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// How to validate.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// What a comparison may cost, and how far values may be apart.
    pub budget: Budget,
    /// The seed of all inputs.
    pub seed: u64,
    /// Where files that show a difference are written.
    pub directory: PathBuf,
    /// Whether the applications of rules are found that make `relay-optimize` go wrong.
    pub bisect: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { budget: Budget::default(), seed: 0, directory: PathBuf::from("."), bisect: false }
    }
}

/// What was validated.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// For each pass, the functions that agree and the largest error of each; apart those of which some elements were compared.
    agreed: IndexMap<(String, bool), Vec<(String, f64)>>,
    /// For each pass and reason, the functions that were not validated.
    unknown: IndexMap<(String, String), Vec<String>>,
    /// The differences found.
    pub mismatches: Vec<String>,
}

/// Watches passes.
struct Validator {
    settings: Settings,
    report: Arc<Mutex<Report>>,
}

/// Validates all of our passes that this process runs from now on, and tells in the report. An earlier call is kept to.
pub fn start(settings: Settings) -> Arc<Mutex<Report>> {
    let report = Arc::new(Mutex::new(Report::default()));
    fusion_dialects::watch_passes(Box::new(Validator { settings, report: report.clone() }));
    report
}

impl Report {
    fn unknown(&mut self, pass: &str, why: &str, function: &str) {
        self.unknown.entry((pass.to_owned(), why.to_owned())).or_default().push(function.to_owned());
    }

    fn add(&mut self, other: Report) {
        for (what, functions) in other.agreed {
            self.agreed.entry(what).or_default().extend(functions);
        }
        for (what, names) in other.unknown {
            self.unknown.entry(what).or_default().extend(names);
        }
        self.mismatches.extend(other.mismatches);
    }

    /// For people, a line a fact.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for ((pass, sampled), functions) in &self.agreed {
            let what = if *sampled {
                format!("validated in {SAMPLES} elements of each result")
            } else {
                "validated".to_owned()
            };
            let worst = functions.iter().map(|(_, error)| *error).fold(0.0, f64::max);
            let names: Vec<&str> = functions.iter().map(|(name, _)| name.as_str()).collect();
            lines.push(format!("{what}: {pass}: {} (largest error {worst:.1e})", list(&names)));
        }
        for ((pass, why), names) in &self.unknown {
            lines.push(format!("not validated: {pass}: {}: {why}", list(names)));
        }
        if lines.is_empty() && self.mismatches.is_empty() {
            lines.push("validated: no pass changed a function".to_owned());
        }
        lines
    }
}

/// `a, b and 7 more`.
fn list<S: AsRef<str>>(names: &[S]) -> String {
    const MOST: usize = 4;
    let first: Vec<&str> = names.iter().take(MOST).map(AsRef::as_ref).collect();
    let more = names.len().saturating_sub(MOST);
    if more == 0 { first.join(", ") } else { format!("{} and {more} more", first.join(", ")) }
}

impl Watch for Validator {
    fn around<'c>(
        &self,
        pass: &PassRun,
        op: Op<'c>,
        run: &mut dyn FnMut() -> Result<(), PassError<'c>>,
    ) -> Result<(), PassError<'c>> {
        let Some(module) = std::iter::successors(Some(op), |o| o.parent_operation()).last() else {
            return run();
        };
        let Some(copy) = module_copy(module) else {
            let function = op.text("sym_name").unwrap_or_default();
            self.tell(|report| report.unknown(pass.name, "it runs on no module", function));
            return run();
        };
        let symbol = op.parent_operation().and_then(|_| op.text("sym_name"));
        if let Err(error) = run() {
            return Err(match self.blame(pass, &copy, None) {
                Some(blame) => {
                    PassError::new(error.location, format!("{}; {}", error.message, blame.sentence))
                }
                None => error,
            });
        }
        let mut noted = Report::default();
        let compared = self.compare(pass, (module_op(&copy), module), symbol, &mut noted);
        self.tell(|report| report.add(noted));
        compared.map_err(|what| {
            let blame = self.blame(pass, &copy, symbol);
            let element = with_option(&pass.element(), blame.as_ref().and_then(|b| b.option.as_deref()));
            let shown = self.reproduce(pass.name, &pipeline(op, &element), &copy, &what);
            let because = blame.map_or(String::new(), |blame| format!("{}; ", blame.sentence));
            let sentence = format!("{} is wrong: {what}; {because}{shown}", pass.name);
            self.tell(|report| report.mismatches.push(sentence.clone()));
            PassError::new(op.location(), sentence)
        })
    }
}

impl Validator {
    /// Compares the functions that a pass changed, the one of that name alone where it ran on one; gives the first difference.
    fn compare(
        &self,
        pass: &PassRun,
        (old, new): (Op, Op),
        symbol: Option<&str>,
        report: &mut Report,
    ) -> Result<(), String> {
        let (before, after) = (functions(old), functions(new));
        let paired = |name: &str| before.get(name).zip(after.get(name)).filter(|(a, b)| same_type(**a, **b));
        let changed = |name: &str| before.get(name).zip(after.get(name)).is_none_or(|(a, b)| !same(*a, *b));
        for (name, function) in &before {
            if symbol.is_some_and(|only| only != *name) {
                continue;
            }
            // Kernels that can be compared are, one by one; who calls others is compared with what it calls.
            let calls_other = || {
                let called = [*function].into_iter().chain(after.get(name).copied()).flat_map(callees);
                called.into_iter().any(|callee| paired(callee).is_none())
            };
            let concerned = changed(name) || (symbol.is_none() && calls_other());
            if !concerned {
                continue;
            }
            let Some((old, new)) = paired(name) else {
                let gone = !after.contains_key(name);
                let why = if gone { "it is gone" } else { "it is of another type after the pass" };
                report.unknown(pass.name, why, &format!("@{name}"));
                continue;
            };
            match agree(*old, *new, self.settings.seed, &self.settings.budget) {
                Ok(Agreement::Same { error, sampled }) => {
                    let agreed = report.agreed.entry((pass.name.to_owned(), sampled)).or_default();
                    agreed.push((format!("@{name}"), error));
                }
                Ok(Agreement::Unknown(why)) => report.unknown(pass.name, &why, &format!("@{name}")),
                Err(mismatch) => return Err(mismatch.to_string()),
            }
        }
        if before.is_empty() {
            report.unknown(pass.name, "there is no function of relay or te", "the module");
        }
        Ok(())
    }

    /// Of the pass that applies rules, which of them make it go wrong.
    fn blame(&self, pass: &PassRun, before: &Module, symbol: Option<&str>) -> Option<Blame> {
        if !self.settings.bisect || pass.name != RelayOptimize::NAME {
            return None;
        }
        let before = module_op(before);
        let mut judge = |new: Op| self.compare(pass, (before, new), symbol, &mut Report::default()).err();
        Some(Blame::of(&bisect(before, pass.options, &mut judge)))
    }

    fn tell(&self, what: impl FnOnce(&mut Report)) {
        what(&mut self.report.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Writes the module before the pass, and says where.
    fn reproduce(&self, pass: &str, pipeline: &str, module: &Module, what: &str) -> String {
        let path = self.settings.directory.join(format!("{pass}-wrong.mlir"));
        let file = path.display();
        let Settings { budget, seed, .. } = &self.settings;
        let text = format!(
            "// {pass}: {}\n// fusion-opt {file} --pass-pipeline='{pipeline}' --validate-passes --validate-seed={seed} \
             --validate-rtol={:e} --validate-flops={:e}\n{}\n",
            what.replace('\n', " "),
            budget.tolerance,
            budget.flops,
            module.as_operation()
        );
        match write(&path, &text) {
            Ok(()) => format!("{file} shows it"),
            Err(why) => format!("{file} cannot be written: {why}"),
        }
    }
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory)?;
    }
    std::fs::write(path, text)
}

/// The pipeline that runs a pass on the operations it is run on: `builtin.module(func.func(a-pass))`.
fn pipeline(op: Op, element: &str) -> String {
    let around = std::iter::successors(Some(op), |o| o.parent_operation());
    around.fold(element.to_owned(), |inner, op| format!("{}({inner})", op.full_name()))
}
