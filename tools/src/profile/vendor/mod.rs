//! Profilers of the vendors: they watch `fusion bench` run a library, and what they write becomes samples.
//!
//! ```text
//!   TOOL [its options] -- fusion bench model.so --runs 3 --warm-up 1 --inputs inputs.npz       FUSION_GPU_GRAPH=0
//!     |
//!   files in a directory of their own  -> parse ->  launches by name, time and counters  ->  3 runs of samples
//! ```
//!
//! A profiler is a row of [`TOOLS`] and a file here. What they write is read by the names of columns, which their documentation
//! gives; columns that are not there are not told.

pub mod csv;
pub mod error;
pub mod ncu;
pub mod rocprof_compute;
pub mod rocprof_sys;
pub mod rocprofv3;

use super::attribute::parts;
use super::{Sample, Samples};
use crate::failure::Failure;
use crate::program;
use error::ToolError;
use fusion_runtime::Device;
use indexmap::{IndexMap, IndexSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::str::FromStr;
use std::time::{Duration, Instant};

/// Runs that are timed, ...
const RUNS: usize = 3;
/// ... and those before, which load the kernels.
const WARM_UP: usize = 1;
/// A profiler that takes longer than this hangs: it is ended.
const MOST: Duration = Duration::from_secs(600);

/// A profiler.
#[derive(Debug)]
pub struct Tool {
    /// What `--profiler` calls it.
    pub name: &'static str,
    /// The program that is looked for in PATH.
    program: &'static str,
    /// What it comes with.
    package: &'static str,
    /// Whose kernels it sees.
    device: Device,
    /// Options before the program it watches; files go into the directory.
    options: fn(&Path, &[String]) -> Vec<OsString>,
    /// Variables of the environment.
    variables: fn(&Path) -> Vec<(&'static str, OsString)>,
    /// Reads what it wrote.
    read: fn(&Path) -> Result<Vec<Sample>, String>,
}

/// All profilers.
pub static TOOLS: [&Tool; 4] = [&ncu::TOOL, &rocprofv3::TOOL, &rocprof_sys::TOOL, &rocprof_compute::TOOL];

/// One of them, chosen.
#[derive(Clone, Copy, Debug)]
pub struct Choice(pub &'static Tool);

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Choice, String> {
        let known = || TOOLS.map(|tool| tool.name).join(", ");
        TOOLS
            .into_iter()
            .find(|tool| tool.name == text)
            .map(Choice)
            .ok_or_else(|| format!("the profilers are {}", known()))
    }
}

impl Tool {
    /// Has the profiler watch runs of a library. `arguments` are those of `fusion bench` besides.
    pub fn watch(
        &'static self,
        library: &Path,
        functions: &IndexSet<&str>,
        arguments: &[OsString],
        counters: &[String],
    ) -> Result<Samples, Failure> {
        let Some(program) = in_path(self.program) else {
            return Err(ToolError::NotInstalled { program: self.program, package: self.package }.into());
        };
        let scratch = tempfile::tempdir().map_err(Failure::file("write", &std::env::temp_dir()))?;
        let own = program::command().map_err(Failure::file("find", Path::new("fusion")))?;
        let count = |n: usize| OsString::from(n.to_string());
        let mut command = Command::new(&program);
        command.args((self.options)(scratch.path(), counters)).args(own).arg("bench").arg(library);
        command
            .args([OsString::from("--runs"), count(RUNS), "--warm-up".into(), count(WARM_UP)])
            .args(arguments);
        command.envs((self.variables)(scratch.path())).env("FUSION_GPU_GRAPH", "0");
        let said = scratch.path().join("said");
        let status = watched(&mut command, &said, MOST).map_err(Failure::file("run", &program))?;
        let Some(status) = status else {
            let said = last_lines(&std::fs::read_to_string(&said).unwrap_or_default());
            return Err(ToolError::TooLong { program: self.program, seconds: MOST.as_secs(), said }.into());
        };
        if !status.success() {
            let said = last_lines(&std::fs::read_to_string(&said).unwrap_or_default());
            let status = status.to_string();
            return Err(ToolError::Failed { program: self.program, status, said }.into());
        }
        let wrong = |why: String| ToolError::Output { program: self.program, why };
        let samples = (self.read)(scratch.path()).map_err(wrong)?;
        let runs = split(samples, functions).map_err(wrong)?;
        Ok(Samples { timed_by: self.program.to_owned(), runs, ..Samples::default() })
    }

    /// Fails where it does not see kernels of this device.
    pub fn check(&'static self, device: Option<Device>, target: &str) -> Result<(), ToolError> {
        if device == Some(self.device) {
            return Ok(());
        }
        if device == Some(Device::Emulated) {
            return Err(ToolError::Emulated { name: self.name });
        }
        let kind = if self.device == Device::Cuda { "NVIDIA's GPUs" } else { "AMD's GPUs" };
        Err(ToolError::OtherDevice { name: self.name, kind, target: target.to_owned() })
    }
}

/// Runs a program that writes what it says to a file; its status, or none where it took too long and was ended.
fn watched(command: &mut Command, said: &Path, most: Duration) -> std::io::Result<Option<ExitStatus>> {
    let file = std::fs::File::create(said)?;
    let mut child = command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file).spawn()?;
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if begin.elapsed() > most {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A program that may be run, by its name.
fn in_path(program: &str) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let runs = |path: &PathBuf| {
        path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(&std::env::var_os("PATH")?).map(|directory| directory.join(program)).find(runs)
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(3)..].join(" / ")
}

/// All launches of the program as runs that are alike: those of other functions than the model's, and the first runs, are dropped.
fn split(samples: Vec<Sample>, functions: &IndexSet<&str>) -> Result<Vec<Vec<Sample>>, String> {
    let seen = samples.len();
    let own: Vec<Sample> =
        samples.into_iter().filter(|sample| functions.contains(parts(&sample.function).0)).collect();
    if own.is_empty() {
        return Err(format!("of {seen} launches in it none is of a kernel of the model"));
    }
    let all = RUNS + WARM_UP;
    if !own.len().is_multiple_of(all) {
        return Err(format!(
            "it has {} launches of the model's kernels, which are not those of {all} runs",
            own.len()
        ));
    }
    Ok(own.chunks(own.len() / all).skip(WARM_UP).map(<[Sample]>::to_vec).collect())
}

/// Samples of a profiler that tells no launches one by one, but how often each function was launched and the seconds in all: as
/// many as runs, each function's launches one behind another, as its calls do them.
fn spread(all: &[(String, usize, f64)]) -> Result<Vec<Sample>, String> {
    let runs = RUNS + WARM_UP;
    let mut calls: IndexMap<&str, Vec<&(String, usize, f64)>> = IndexMap::new();
    for entry in all {
        calls.entry(parts(&entry.0).0).or_default().push(entry);
    }
    let mut run = Vec::new();
    for entries in calls.values_mut() {
        entries.sort_by_key(|(function, ..)| parts(function).1);
        let most = entries.iter().map(|(_, count, _)| count / runs).max().unwrap_or(0);
        for call in 0..most {
            for (function, count, seconds) in entries.iter().filter(|(_, count, _)| call < count / runs) {
                let seconds = seconds / *count as f64;
                run.push(Sample { function: function.clone(), seconds, ..Sample::default() });
            }
        }
    }
    if let Some((function, count, _)) = all.iter().find(|(_, count, _)| count % runs != 0) {
        return Err(format!(
            "{function} was launched {count} times, which is not so often in each of {runs} runs"
        ));
    }
    Ok(std::iter::repeat_n(run, runs).flatten().collect())
}

/// The name of a kernel without its arguments and without what AMD's loader adds.
fn bare(name: &str) -> String {
    let name = name.split('(').next().unwrap_or(name).trim();
    name.strip_suffix(".kd").unwrap_or(name).to_owned()
}

/// The files below a directory whose names end like this, in order.
fn files(directory: &Path, end: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![directory.to_owned()];
    while let Some(directory) = left.pop() {
        let entries = std::fs::read_dir(&directory).into_iter().flatten().flatten();
        for path in entries.map(|entry| entry.path()) {
            if path.is_dir() {
                left.push(path);
            } else if path.to_string_lossy().ends_with(end) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The text of the one file below a directory whose name ends like this.
fn read_one(directory: &Path, end: &str) -> Result<String, String> {
    let files = files(directory, end);
    match files.as_slice() {
        [file] => std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display())),
        [] => Err(format!("there is no file *{end}")),
        more => Err(format!("there are {} files *{end}, not one", more.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::tests::launch;

    #[test]
    fn a_program_that_does_not_end_is_ended() {
        let scratch = tempfile::tempdir().unwrap();
        let said = scratch.path().join("said");
        let run = |script: &str, most| {
            let status = watched(Command::new("sh").args(["-c", script]), &said, most).unwrap();
            (status.map(|s| s.code()), std::fs::read_to_string(&said).unwrap())
        };
        let (long, short) = (Duration::from_secs(60), Duration::from_millis(200));
        assert_eq!(run("echo out; echo wrong >&2; exit 3", long), (Some(Some(3)), "out\nwrong\n".to_owned()));
        let begin = Instant::now();
        assert_eq!(run("echo begun; exec sleep 50", short), (None, "begun\n".to_owned()));
        assert!(begin.elapsed() < Duration::from_secs(40));
    }

    #[test]
    fn runs_are_told_apart_by_their_number() {
        let run = [launch("k_0", 0.0, 1.0), launch("copy", 0.0, 1.0), launch("k_1", 0.0, 1.0)];
        let all: Vec<Sample> = std::iter::repeat_n(run, 4).flatten().collect();
        let runs = split(all.clone(), &IndexSet::from(["k"])).unwrap();
        assert_eq!(runs.len(), 3);
        assert!(runs.iter().all(|run| run.iter().map(|s| s.function.as_str()).eq(["k_0", "k_1"])));
        let said = split(all[1..].to_vec(), &IndexSet::from(["k"])).unwrap_err();
        assert_eq!(said, "it has 7 launches of the model's kernels, which are not those of 4 runs");
        let said = split(all, &IndexSet::from(["j"])).unwrap_err();
        assert_eq!(said, "of 12 launches in it none is of a kernel of the model");
    }

    #[test]
    fn sums_are_spread_over_calls() {
        let all = [("k_1".to_owned(), 8, 16.0), ("j_0".to_owned(), 4, 4.0), ("k_0".to_owned(), 8, 8.0)];
        let samples = spread(&all).unwrap();
        let run: Vec<(&str, f64)> = samples[..5].iter().map(|s| (s.function.as_str(), s.seconds)).collect();
        assert_eq!(run, [("k_0", 1.0), ("k_1", 2.0), ("k_0", 1.0), ("k_1", 2.0), ("j_0", 1.0)]);
        assert_eq!(samples.len(), 20);
        let said = spread(&[("k_0".to_owned(), 7, 1.0)]).unwrap_err();
        assert_eq!(said, "k_0 was launched 7 times, which is not so often in each of 4 runs");
    }

    #[test]
    fn tools_that_are_not_there_are_named_with_what_they_come_with() {
        assert_eq!(
            "nsys".parse::<Choice>().unwrap_err(),
            "the profilers are ncu, rocprofv3, rocprof-sys, rocprof-compute"
        );
        let wrong = ncu::TOOL.check(Some(Device::Hip), "amd:gfx942").unwrap_err().to_string();
        assert_eq!(
            wrong,
            "--profiler ncu watches kernels of NVIDIA's GPUs, and this model is for amd:gfx942; leave --profiler away"
        );
        let emulated = ncu::TOOL.check(Some(Device::Emulated), "nvidia:sm_80").unwrap_err().to_string();
        assert!(
            emulated
                .ends_with("with --emulate they run on this machine's processor; leave one of the two away")
        );
        assert!(in_path("there is no such program").is_none());
    }

    #[test]
    fn names_are_bared() {
        assert_eq!(bare("fused_add_0.kd"), "fused_add_0");
        assert_eq!(bare("fused_add_0(float*, int)"), "fused_add_0");
    }
}
