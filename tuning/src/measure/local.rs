//! Measuring on this machine: kernels are compiled side by side, and timed one after another.

use super::error::MeasureError;
use super::shop::Shop;
use super::worker::{Answer, Request};
use super::{Measured, Measurer, TURNS};
use crate::kernel::Kernel;
use fusion::driver::CompileOptions;
use fusion_schedule::auto_schedule::Choice;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// How kernels are run.
#[derive(Clone, Debug)]
pub struct Running {
    /// The program and its arguments that answer requests ([`worker::serve`](super::worker::serve)).
    pub command: Vec<PathBuf>,
    /// Threads that kernels run on.
    pub threads: u16,
    /// Kernels that are compiled at a time.
    pub jobs: usize,
    /// How long a request may take.
    pub timeout: Duration,
}

/// Measures on this machine.
pub struct Local {
    shop: Shop,
    running: Running,
    process: Option<Process>,
    /// The library of the default of the kernel that is being measured, with the kernel's hash.
    reference: Option<(String, PathBuf)>,
}

impl Local {
    /// For kernels of a model that is compiled with these options.
    pub fn new(options: &CompileOptions, running: Running) -> Result<Local, MeasureError> {
        Ok(Local { shop: Shop::new(options)?, running, process: None, reference: None })
    }

    fn time(
        &mut self,
        kernel: &Kernel,
        choices: &[Vec<Choice>],
        rounds: usize,
        together: bool,
    ) -> Result<Vec<Measured>, MeasureError> {
        self.refer_to(kernel)?;
        let libraries = self.shop.compile_all(kernel, choices, self.running.jobs);
        let whole: Vec<PathBuf> = libraries.iter().filter_map(|l| l.as_ref().ok().cloned()).collect();
        let groups: Vec<Vec<PathBuf>> =
            if together { vec![whole] } else { whole.into_iter().map(|library| vec![library]).collect() };
        let mut answers = Vec::new();
        for group in groups {
            let count = group.len();
            let answer = self.ask(&Request::Time { libraries: group.clone(), rounds })?;
            match answer {
                Ok(times) if times.len() == count => answers.extend(times),
                Ok(_) => answers.extend((0..count).map(|_| Err("its process gave no answer".to_owned()))),
                Err(why) => {
                    answers.extend((0..count).map(|_| Err(why.clone())));
                    // The next process knows nothing of this kernel.
                    self.refer_to(kernel)?;
                }
            }
            for library in group {
                let _ = std::fs::remove_file(library);
            }
        }
        let mut answers = answers.into_iter();
        let missing = || Err("its process gave no answer".to_owned());
        Ok(libraries
            .into_iter()
            .map(|library| library.and_then(|_| answers.next().unwrap_or_else(missing)))
            .collect())
    }

    /// Has the process know what a kernel gives.
    fn refer_to(&mut self, kernel: &Kernel) -> Result<(), MeasureError> {
        let known = self.reference.as_ref().is_some_and(|(hash, _)| *hash == kernel.hash);
        if known && self.process.is_some() {
            return Ok(());
        }
        if !known {
            // Where that fails, so do all measurements, which say why.
            let Ok(library) = self.shop.compile(kernel, &kernel.space.default) else { return Ok(()) };
            self.reference = Some((kernel.hash.clone(), library));
        }
        if let Some((_, library)) = self.reference.clone() {
            let threads = self.running.threads;
            let _ = self.ask(&Request::Reference { library, threads })?;
        }
        Ok(())
    }

    /// What the process answers; the sentence where it crashes or hangs, after which there is none.
    fn ask(&mut self, request: &Request) -> Result<Result<Answer, String>, MeasureError> {
        let mut process = match self.process.take() {
            Some(process) => process,
            None => Process::start(&self.running.command)?,
        };
        let answer = process.ask(request, self.running.timeout);
        match answer {
            Ok(_) => self.process = Some(process),
            Err(_) => process.end(),
        }
        Ok(answer)
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.end();
        }
    }
}

impl Measurer for Local {
    type Error = MeasureError;

    fn measure(&mut self, kernel: &Kernel, choices: &[Vec<Choice>]) -> Result<Vec<Measured>, MeasureError> {
        self.time(kernel, choices, 1, false)
    }

    fn again(&mut self, kernel: &Kernel, choices: &[Vec<Choice>]) -> Result<Vec<Measured>, MeasureError> {
        self.time(kernel, choices, TURNS, true)
    }
}

/// The process that runs kernels.
struct Process {
    child: Child,
    lines: Receiver<String>,
}

impl Process {
    fn start(command: &[PathBuf]) -> Result<Process, MeasureError> {
        let program = command.first().map_or(Path::new("fusion"), PathBuf::as_path);
        let failed = |why| MeasureError::Start { program: program.to_owned(), why };
        let mut child = Command::new(program)
            .args(command.iter().skip(1))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let (sender, lines) = channel();
        let output = child.stdout.take();
        std::thread::spawn(move || {
            let lines = output.into_iter().flat_map(|output| BufReader::new(output).lines());
            for line in lines.map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Process { child, lines })
    }

    fn ask(&mut self, request: &Request, timeout: Duration) -> Result<Answer, String> {
        let crashed = |child: &mut Child| match child.wait() {
            Ok(status) => format!("it crashed ({status})"),
            Err(why) => format!("its process was lost: {why}"),
        };
        let text = serde_json::to_string(request).map_err(|error| error.to_string())?;
        let sent =
            self.child.stdin.as_mut().map(|input| writeln!(input, "{text}").and_then(|()| input.flush()));
        if !matches!(sent, Some(Ok(()))) {
            return Err(crashed(&mut self.child));
        }
        match self.lines.recv_timeout(timeout) {
            Ok(line) => {
                serde_json::from_str(&line).map_err(|error| format!("its process said nonsense: {error}"))
            }
            Err(RecvTimeoutError::Timeout) => Err(format!("it took more than {} s", timeout.as_secs_f64())),
            Err(RecvTimeoutError::Disconnected) => Err(crashed(&mut self.child)),
        }
    }

    fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
