//! `fusion fuzz`: random graphs, compiled and compared with the reference interpreter.

use super::options::Options;
use crate::failure::Failure;
use crate::fuzz::{Case, Kind, Peer, Verdict, seeds, shrunk};
use crate::print;
use clap::{Args, ValueEnum};
use fusion_interpreter::random_graphs::{Graph, Step};
use fusion_operators::DType;
use std::cell::RefCell;
use std::path::PathBuf;

/// Compile random graphs, and compare what they give with the reference semantics of their operators.
///
/// Results may differ by what rounding allows. A graph that goes wrong is made as small as it stays wrong, and written with its inputs: as
/// seed-N.mlir and seed-N.npz, and where ONNX has its operators, as the backend test seed-N, which others can run.
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

    /// Graphs of one to four operators of all families, on all element types.
    #[arg(long, conflicts_with = "dynamic")]
    broad: bool,

    /// Write each graph as a model of ONNX, and have another implementation run it too: both are held to the reference semantics.
    #[arg(long, value_name = "WHO")]
    against: Option<Against>,

    /// The Python that has the other implementation.
    #[arg(long, value_name = "PROGRAM", default_value = "python3", requires = "against")]
    python: String,

    /// Where graphs that go wrong are written.
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    output: PathBuf,

    #[command(flatten)]
    options: Options,
}

/// Another implementation of ONNX.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Against {
    /// ONNX Runtime, by its package for Python.
    Onnxruntime,
}

impl Fuzz {
    /// Carries out the command.
    pub fn run(&self) -> Result<bool, Failure> {
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
        let kind = match (self.dynamic, self.broad) {
            (true, _) => Kind::Dynamic,
            (_, true) => Kind::Broad,
            _ => Kind::Floats,
        };
        // Arrays of NumPy, which a peer takes, have no bf16.
        let dtypes: Vec<DType> = match (dtype, self.against) {
            (Some(dtype), _) => vec![dtype],
            (None, against) => {
                let fits = |dtype: &DType| against.is_none() || *dtype != DType::BF16;
                DType::NUMBERS.into_iter().filter(fits).chain([DType::F32; 4]).collect()
            }
        };
        let of = |seed: u64| Some((seed, Case::of(seed, kind, &dtypes)?));
        let cases = seeds(self.seed).take(looked_at).filter_map(of);
        let cases =
            cases.filter(|(_, case)| wanted(&case.graph)).take(self.count.min(usize::MAX as u64) as usize);
        let folder = tempfile::tempdir().map_err(Failure::file("make a folder in", &std::env::temp_dir()))?;
        let options = self.options.resolve()?;
        let peer =
            self.against.map(|Against::Onnxruntime| Peer::start(&self.python)).transpose()?.map(RefCell::new);
        let judge = |case: &Case| match &peer {
            Some(peer) => case.against(folder.path(), &options, &mut peer.borrow_mut()),
            None => Ok(case.wrong(folder.path(), &options).map_or(Verdict::Right, Verdict::Wrong)),
        };
        let (mut run, mut wrong, mut not_run) = (0u64, 0u64, 0u64);
        for (seed, case) in cases {
            run += 1;
            let mut found = match judge(&case)? {
                Verdict::Right => continue,
                Verdict::NotRun(_) => {
                    not_run += 1;
                    continue;
                }
                Verdict::Wrong(found) => found,
            };
            wrong += 1;
            let case = shrunk(case, &|case| matches!(judge(case), Ok(Verdict::Wrong(_))));
            if let Verdict::Wrong(least) = judge(&case)? {
                found = least;
            }
            let written = case.write(&self.output, &format!("seed-{seed}"), &found)?;
            print::line(format_args!("seed {seed}: {}\n  {}", found.how, written.display()))?;
        }
        if run == 0 {
            return Err(Failure::NoGraphs);
        }
        match &peer {
            Some(peer) => print::line(format_args!(
                "{run} graphs, {wrong} wrong, {not_run} not run by ONNX Runtime {}",
                peer.borrow().version
            ))?,
            None => print::line(format_args!("{run} graphs, {wrong} wrong"))?,
        }
        Ok(wrong == 0)
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
