//! The process that runs kernels: requests come as lines of JSON, and so do answers.
//!
//! ```text
//!   {"reference":{"library":"/tmp/0.so","threads":1}}        what is given on random inputs is kept
//!   {"time":{"libraries":["/tmp/1.so", ...],"rounds":1}}     what each gives is compared with that, then each is timed, in turn
//! ```

use super::Measured;
use super::agree::{agrees, inputs_of};
use crate::log::picoseconds;
use fusion_operators::Tensor;
use fusion_runtime::{Module, Session};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What is wanted.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Request {
    /// What the kernel gives is what others have to give.
    Reference {
        /// The kernel.
        library: PathBuf,
        /// Threads to run on.
        threads: u16,
    },
    /// Times of kernels.
    Time {
        /// The kernels.
        libraries: Vec<PathBuf>,
        /// How often each has its turn.
        rounds: usize,
    },
}

/// What came of it: of each kernel, times or why there are none.
pub type Answer = Vec<Measured>;

/// What a sample takes at least, in seconds: the clock's error is nothing beside it.
pub const SAMPLE: f64 = 2e-3;
/// Samples of a turn, and the seconds after which there are no more.
pub const SAMPLES: usize = 5;
/// Those seconds.
pub const MOST_SECONDS: f64 = 0.5;

struct Reference {
    inputs: Vec<Tensor>,
    outputs: Vec<Tensor>,
    threads: u16,
}

/// Answers requests until there are no more.
pub fn serve(requests: impl BufRead, mut answers: impl Write) -> io::Result<()> {
    let mut reference = None;
    for line in requests.lines() {
        let answer = match serde_json::from_str(&line?) {
            Ok(Request::Reference { library, threads }) => {
                vec![keep(&library, threads).map(|kept| {
                    reference = Some(kept);
                    Vec::new()
                })]
            }
            Ok(Request::Time { libraries, rounds }) => time(&libraries, rounds, reference.as_ref()),
            Err(why) => vec![Err(format!("the request is none: {why}"))],
        };
        writeln!(answers, "{}", serde_json::to_string(&answer)?)?;
        answers.flush()?;
    }
    Ok(())
}

fn load(library: &Path, threads: u16) -> Result<Module, String> {
    let module = Module::load(library).map_err(|error| error.to_string())?;
    module.set_threads(threads);
    Ok(module)
}

fn keep(library: &Path, threads: u16) -> Result<Reference, String> {
    let module = load(library, threads)?;
    let inputs = inputs_of(module.description())?;
    let outputs = module.run(&inputs).map_err(|error| error.to_string())?;
    Ok(Reference { inputs, outputs, threads })
}

/// Times of kernels that give what the reference gives.
fn time(libraries: &[PathBuf], rounds: usize, reference: Option<&Reference>) -> Answer {
    let Some(reference) = reference else {
        return libraries.iter().map(|_| Err("there is no reference to compare with".to_owned())).collect();
    };
    let modules: Vec<Result<Module, String>> = libraries
        .iter()
        .map(|library| {
            let module = load(library, reference.threads)?;
            let found = module.run(&reference.inputs).map_err(|error| error.to_string())?;
            agrees(&found, &reference.outputs)?;
            Ok(module)
        })
        .collect();
    let mut times: Answer =
        modules.iter().map(|m| m.as_ref().map(|_| Vec::new()).map_err(String::clone)).collect();
    for _ in 0..rounds.max(1) {
        for (module, times) in modules.iter().zip(&mut times) {
            let (Ok(module), Ok(all)) = (module, times.as_mut()) else { continue };
            match samples(module, &reference.inputs) {
                Ok(more) => all.extend(more),
                Err(why) => *times = Err(why),
            }
        }
    }
    times
}

fn samples(module: &Module, inputs: &[Tensor]) -> Result<Vec<u64>, String> {
    let mut session = module.session().map_err(|error| error.to_string())?;
    let run = |session: &mut Session, runs: u32| {
        let start = Instant::now();
        for _ in 0..runs {
            session.run(inputs).map_err(|error| error.to_string())?;
        }
        Ok::<f64, String>(start.elapsed().as_secs_f64())
    };
    run(&mut session, 1)?;
    // Caches and clocks settle while it is found out how many runs a sample is of.
    let mut runs = 1u32;
    loop {
        let seconds = run(&mut session, runs)?;
        if seconds >= SAMPLE {
            break;
        }
        runs = runs.saturating_mul(2).max((f64::from(runs) * SAMPLE / seconds.max(1e-9)).min(1e8) as u32);
    }
    let (begin, mut all) = (Instant::now(), Vec::new());
    while all.len() < SAMPLES && (all.is_empty() || begin.elapsed().as_secs_f64() < MOST_SECONDS) {
        all.push(picoseconds(run(&mut session, runs)? / f64::from(runs)));
    }
    Ok(all)
}
