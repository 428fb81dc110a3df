//! `fusion fuzz`: random graphs, compiled and compared with the reference interpreter.

use super::options::Options;
use crate::failure::Failure;
use crate::fuzz::{Case, Wrong, seeds, shrunk};
use crate::print;
use clap::Args;
use fusion_interpreter::random_graphs::{Graph, Step};
use fusion_operators::DType;
use fusion_runtime::npz;
use std::path::PathBuf;
use std::process::ExitCode;

/// Compile random graphs, and compare what they give with the reference semantics of their operators.
///
/// Results may differ by what rounding allows. A graph that goes wrong is made as small as it stays wrong, and written with its inputs.
/// The same seed gives the same graphs on every machine. The exit status is 1 when a graph goes wrong.
#[derive(Debug, Args)]
pub struct Fuzz {
    /// How many graphs.
    #[arg(long, default_value_t = 100)]
    count: u64,

    /// Where seeds begin.
    #[arg(long, default_value_t = 0)]
    seed: u64,

    /// Only graphs with an operator of this name, in which * stands for anything, such as 'reduce_*'.
    #[arg(long, value_name = "GLOB")]
    ops: Option<String>,

    /// Only graphs of floats of this type: f32, f16, bf16 or f64.
    #[arg(long, value_name = "TYPE")]
    dtype: Option<String>,

    /// Graphs on tensors of dynamic extents, each compiled once and run at five sizes.
    #[arg(long)]
    dynamic: bool,

    /// Where graphs that go wrong are written: seed-N.mlir and seed-N.npz.
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    output: PathBuf,

    #[command(flatten)]
    options: Options,
}

impl Fuzz {
    /// Carries out the command.
    pub fn run(&self) -> Result<ExitCode, Failure> {
        let dtype = match &self.dtype {
            Some(name) => Some(name.parse::<DType>().map_err(|_| Failure::NoType { name: name.clone() })?),
            None => None,
        };
        let wanted = |graph: &Graph| {
            let named = |step: &Step| match (step, &self.ops) {
                (Step::Call { op, .. }, Some(glob)) => matches(glob, op.name),
                _ => false,
            };
            dtype.is_none_or(|dtype| graph.dtype == dtype)
                && (self.ops.is_none() || graph.steps.iter().any(named))
        };
        // Few graphs may have what is asked for, and none may.
        let looked_at = self.count.saturating_mul(1000).min(usize::MAX as u64) as usize;
        let cases =
            seeds(self.seed).take(looked_at).filter_map(|seed| Some((seed, Case::of(seed, self.dynamic)?)));
        let cases =
            cases.filter(|(_, case)| wanted(&case.graph)).take(self.count.min(usize::MAX as u64) as usize);
        let folder = tempfile::tempdir().map_err(Failure::file("make a folder in", &std::env::temp_dir()))?;
        let options = self.options.resolve()?;
        let (mut run, mut wrong) = (0u64, 0u64);
        for (seed, case) in cases {
            run += 1;
            if case.wrong(folder.path(), &options).is_none() {
                continue;
            }
            wrong += 1;
            let case = shrunk(case, &|case| case.wrong(folder.path(), &options).is_some());
            if let Some(found) = case.wrong(folder.path(), &options) {
                let written = self.write(seed, &case, &found)?;
                print::line(format_args!("seed {seed}: {}\n  {}", found.how, written.display()))?;
            }
        }
        if run == 0 {
            return Err(Failure::NoGraphs);
        }
        print::line(format_args!("{run} graphs, {wrong} wrong"))?;
        Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// The graph, and the inputs that it goes wrong on.
    fn write(&self, seed: u64, case: &Case, wrong: &Wrong) -> Result<PathBuf, Failure> {
        let file = |ending: &str| self.output.join(format!("seed-{seed}.{ending}"));
        let path = file("mlir");
        std::fs::create_dir_all(&self.output).map_err(Failure::file("make", &self.output))?;
        std::fs::write(&path, case.graph.text()).map_err(Failure::file("write", &path))?;
        if let Some(inputs) = wrong.inputs.and_then(|number| case.inputs.get(number)) {
            let names: Vec<String> = (0..inputs.len()).map(|number| format!("x{number}")).collect();
            npz::write(&file("npz"), names.iter().map(String::as_str).zip(inputs))?;
        }
        Ok(path)
    }
}

/// Whether a name is of a form in which * stands for anything.
fn matches(glob: &str, name: &str) -> bool {
    let mut parts = glob.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn globs() {
        for (glob, name) in [
            ("add", "add"),
            ("reduce_*", "reduce_sum"),
            ("*_nd", "gather_nd"),
            ("*", "x"),
            ("a*b*c", "aXbYc"),
        ] {
            assert!(matches(glob, name), "{glob} {name}");
        }
        for (glob, name) in
            [("add", "adds"), ("reduce_*", "xreduce_sum"), ("*_nd", "gather_n"), ("a*b*c", "aXcYb")]
        {
            assert!(!matches(glob, name), "{glob} {name}");
        }
    }
}
