//! Another implementation of ONNX, which runs the same models: a process of Python with ONNX Runtime.
//!
//!     model.onnx, inputs.npz -> a line to the process -> outputs.npz, a line back: done, not supported, or why it failed
//!
//! The process serves all models of a run. One that ends is started anew.

use crate::failure::Failure;
use fusion_operators::Tensor;
use fusion_runtime::npz;
use serde::Deserialize;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

const PROGRAM: &str = include_str!("onnxruntime.py");

/// The process.
pub struct Peer {
    python: String,
    /// The version of ONNX Runtime.
    pub version: String,
    process: Process,
}

struct Process {
    child: Child,
    lines: BufReader<ChildStdout>,
}

#[derive(Deserialize)]
struct Answer {
    status: String,
    why: String,
}

/// What it makes of a model.
pub enum Answered {
    /// Results.
    Results(Vec<Tensor>),
    /// It has no such operator, or not of these types.
    Unsupported(String),
    /// Why it fails.
    Failed(String),
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Process {
    fn start(python: &str) -> Result<(Process, String), Failure> {
        let mut child = Command::new(python)
            .args(["-c", PROGRAM])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| Failure::NoPython { python: python.to_owned(), error })?;
        let Some(lines) = child.stdout.take().map(BufReader::new) else {
            return Err(Failure::NoPeer { python: python.to_owned(), why: String::new() });
        };
        let mut process = Process { child, lines };
        match process.answer() {
            Some(Answer { status, why }) if status == "ready" => Ok((process, why)),
            other => Err(Failure::NoPeer {
                python: python.to_owned(),
                why: other.map(|other| other.why).unwrap_or_default(),
            }),
        }
    }

    fn answer(&mut self) -> Option<Answer> {
        let mut line = String::new();
        self.lines.read_line(&mut line).ok()?;
        serde_json::from_str(&line).ok()
    }

    fn ask(&mut self, line: &str) -> Option<Answer> {
        let stdin = self.child.stdin.as_mut()?;
        stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush()).ok()?;
        self.answer()
    }
}

impl Peer {
    /// Starts the process.
    pub fn start(python: &str) -> Result<Peer, Failure> {
        let (process, version) = Process::start(python)?;
        Ok(Peer { python: python.to_owned(), version, process })
    }

    /// Runs a model on inputs `x0`, `x1`, and so on, by files in a folder.
    pub fn run(&mut self, model: &Path, inputs: &[Tensor], folder: &Path) -> Result<Answered, Failure> {
        let (given, made) = (folder.join("inputs.npz"), folder.join("outputs.npz"));
        let names: Vec<String> = (0..inputs.len()).map(|number| format!("x{number}")).collect();
        npz::write(&given, names.iter().map(String::as_str).zip(inputs))?;
        let line = format!("{}\t{}\t{}\n", model.display(), given.display(), made.display());
        let Some(Answer { status, why }) = self.process.ask(&line) else {
            self.process = Process::start(&self.python)?.0;
            return Ok(Answered::Failed("its process ended".to_owned()));
        };
        match status.as_str() {
            "ok" => {
                let mut results = npz::read(&made)?;
                let of = |number: usize| format!("y{number}");
                Ok(Answered::Results(
                    (0..results.len()).map_while(|n| results.shift_remove(&of(n))).collect(),
                ))
            }
            "unsupported" => Ok(Answered::Unsupported(why)),
            _ => Ok(Answered::Failed(why)),
        }
    }
}
