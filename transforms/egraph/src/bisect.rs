//! The smallest set of rule applications that breaks a result.
//!
//! ```text
//!     1 2 3 4 5 6 7 8 9      all: wrong
//!     1 2 3 4                right            the shortest beginning that goes wrong, by halves;
//!     1 2 3 4 5 6            wrong            its last application is needed
//!             3     6        wrong            then parts are left out, halves first, single ones last, as long as it
//!             3              right            stays wrong
//! ```
//!
//! That is delta debugging (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002). Each run saturates anew with only
//! the chosen applications; one whose left side is not there without another is not made. Of the set found each member is needed: without
//! any one of them the result is right. It need not be the only such set.

use super::applications::{Alike, Application, Chosen, Log};
use super::pass::optimize;
use super::settings::Settings;
use fusion_dialects::{Op, Options, RunContext, module_copy, module_op};
use std::collections::HashSet;

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// The result is right when the pass runs again.
    Right,
    /// It is wrong without any rule.
    WithoutRules,
    /// These applications break it.
    Smallest(Smallest),
}

/// Applications that break a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Smallest {
    /// They, in order.
    pub applications: Vec<Application>,
    /// How many were made in all.
    pub of: usize,
    /// How often the pass was run.
    pub runs: usize,
    /// Whether each was shown to be needed; else the budget of runs was used up.
    pub all_needed: bool,
    /// What goes wrong with them.
    pub error: String,
}

impl Smallest {
    /// The value of the pass's option `only` that makes just these.
    pub fn only(&self) -> String {
        let keys: Vec<String> =
            self.applications.iter().map(|a| format!("{:016x}", a.key.number())).collect();
        keys.join("+")
    }
}

/// The most runs of the pass.
pub const MOST_RUNS: usize = 400;

/// What a run of the pass with some of the applications gave.
pub struct Trial {
    /// What is wrong with the result.
    pub error: Option<String>,
    /// The applications that were made.
    pub applications: Vec<Application>,
    /// Labels that ended in one class.
    pub alike: Alike,
}

/// Runs the pass on copies of a module, with its options but without its files; `judge` says what is wrong with a result.
pub fn bisect(module: Op, options: &Options, judge: &mut dyn FnMut(Op) -> Option<String>) -> Found {
    let mut run = |chosen: &Chosen| {
        let mut log = Log { chosen: chosen.clone(), describes: true, ..Log::default() };
        let Some(copy) = module_copy(module) else {
            return Trial { error: None, applications: Vec::new(), alike: Alike::new() };
        };
        let new = module_op(&copy);
        let mut cx = RunContext::detached(options.clone());
        let ran = Settings::of(new, &cx).and_then(|settings| {
            let settings = Settings { remarks: None, proofs: false, ..settings };
            optimize(new, &settings, &mut log, &mut cx)
        });
        let error = match ran {
            Ok(()) => judge(new),
            Err(error) => Some(error.message),
        };
        Trial { error, applications: log.applications, alike: log.alike }
    };
    smallest(&mut run, MOST_RUNS)
}

/// The smallest set of applications with which `run` gives an error.
pub fn smallest(run: &mut dyn FnMut(&Chosen) -> Trial, most_runs: usize) -> Found {
    let all = run(&Chosen::All);
    let mut search = Search { runs: 1, most_runs, run };
    let of = all.applications.len();
    let Trial { error: Some(error), .. } = &all else { return Found::Right };
    if of == 0 || search.go(&Chosen::First(0)).is_some() {
        return Found::WithoutRules;
    }
    let error = error.clone();
    let best = search.shortest_beginning(Failing { error, applications: all.applications, alike: all.alike });
    let (best, all_needed) = search.reduced(best);
    Found::Smallest(Smallest {
        applications: best.applications,
        of,
        runs: search.runs,
        all_needed,
        error: best.error,
    })
}

/// A run that went wrong.
struct Failing {
    error: String,
    applications: Vec<Application>,
    alike: Alike,
}

struct Search<'a> {
    run: &'a mut dyn FnMut(&Chosen) -> Trial,
    runs: usize,
    most_runs: usize,
}

impl Search<'_> {
    fn go(&mut self, chosen: &Chosen) -> Option<Failing> {
        self.runs += 1;
        let trial = (self.run)(chosen);
        let Trial { applications, alike, .. } = trial;
        trial.error.map(|error| Failing { error, applications, alike })
    }

    fn has_runs(&self) -> bool {
        self.runs + 2 <= self.most_runs
    }

    /// A beginning that goes wrong, and does not without its last application.
    fn shortest_beginning(&mut self, all: Failing) -> Failing {
        let (mut right, mut best) = (0, all);
        while best.applications.len() - right > 1 && self.has_runs() {
            let middle = right + (best.applications.len() - right) / 2;
            match self.go(&Chosen::First(middle)) {
                Some(failing) => best = failing,
                None => right = middle,
            }
        }
        best
    }

    /// Leaves parts out; also tells whether every single one was tried.
    fn reduced(&mut self, mut best: Failing) -> (Failing, bool) {
        let mut part = best.applications.len().div_ceil(2);
        let mut begin = 0;
        while best.applications.len() > 1 {
            if begin >= best.applications.len() {
                // At single ones until none can be left out: what is needed may have changed meanwhile.
                if part == 1 {
                    return (best, true);
                }
                (part, begin) = (part.div_ceil(2), 0);
            }
            if !self.has_runs() {
                return (best, false);
            }
            let end = (begin + part).min(best.applications.len());
            match self.without(&best, begin, end) {
                Some(failing) => {
                    best = failing;
                    part = part.min(best.applications.len().div_ceil(2)).max(1);
                    begin = 0;
                }
                None => begin = end,
            }
        }
        (best, true)
    }

    /// A run without some applications that still goes wrong, and makes fewer.
    fn without(&mut self, best: &Failing, begin: usize, end: usize) -> Option<Failing> {
        let rest = || best.applications[..begin].iter().chain(&best.applications[end..]).map(|a| &a.key);
        for alike in [Alike::new(), best.alike.clone()] {
            let keys: HashSet<u64> = rest().map(|key| key.number_alike(&alike)).collect();
            let found = self.go(&Chosen::Only { keys, alike });
            if let Some(failing) = found.filter(|f| f.applications.len() < best.applications.len()) {
                return Some(failing);
            }
        }
        None
    }
}
