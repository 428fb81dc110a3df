//! What runs a job: a process of its own, which may crash, hang, or say anything.

use crate::frames;
use bytes::Bytes;
use fusion_pool_protocol::check::Progress;
use fusion_pool_protocol::messages::{Given, Part, Work};
use prost::Message;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::timeout;

/// Runs work.
pub trait Runner: Sync {
    /// Runs work, of which these are the libraries and then the inputs; what it gives goes into the queue. Gives why it ended early, or nothing
    /// where all was answered. Nothing of it runs any more once the future is dropped.
    fn run(
        &self,
        work: Work,
        objects: Vec<Bytes>,
        given: UnboundedSender<Given>,
    ) -> impl Future<Output = String> + Send;
}

/// Runs each job in a process of its own.
#[derive(Clone, Debug)]
pub struct Processes {
    /// The program and its arguments that run a job ([`child::main`](crate::child::main)).
    pub command: Vec<PathBuf>,
    /// Bytes of memory that a job may take.
    pub memory_bytes: u64,
    /// How long a job may take.
    pub most: Duration,
    /// Whether a job runs where its process cannot be kept from files and the network.
    pub without_sandbox: bool,
}

/// What the process needs of the environment where it is not linked statically.
const KEPT: [&str; 4] = ["LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONPATH", "RUST_BACKTRACE"];

impl Processes {
    fn start(&self, arguments: &[String]) -> Result<Child, String> {
        let program = self.command.first().map_or(Path::new("fusion-device"), PathBuf::as_path);
        let mut command = Command::new(program);
        command.args(self.command.iter().skip(1)).args(arguments).env_clear();
        command.envs(KEPT.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        command.spawn().map_err(|why| format!("cannot start {} to run it: {why}", program.display()))
    }

    /// What keeps work from the rest of the device, as its process says.
    pub async fn sandbox(&self) -> Result<String, String> {
        let child = self.start(&["--probe".to_owned()])?;
        let output = timeout(Duration::from_secs(30), child.wait_with_output()).await;
        let output =
            output.map_err(|_| "its process does not answer".to_owned())?.map_err(|why| why.to_string())?;
        let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        match output.status.success() {
            true => Ok(said),
            false => Err(format!("its process ended with {}", output.status)),
        }
    }

    async fn talk(
        child: &mut Child,
        work: &Work,
        objects: &[Bytes],
        given: &UnboundedSender<Given>,
    ) -> Result<(), String> {
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (Some(mut input), Some(mut output)) = (input, output) else {
            return Err("its process cannot be talked to".to_owned());
        };
        // A process that ends before it has read all says why by its status.
        let sent = async {
            frames::send(&mut input, &work.encode_to_vec()).await?;
            for object in objects {
                frames::send(&mut input, object).await?;
            }
            input.flush().await
        };
        let _ = sent.await;
        let nonsense = |why: String| format!("its process said nonsense: {why}");
        let mut progress = Progress::of(work);
        while let Some(part) = frames::read::<Part>(&mut output).await.map_err(nonsense)? {
            let part = part.given.ok_or_else(|| nonsense("a part is empty".to_owned()))?;
            if progress.take(&part).map_err(nonsense)? {
                // That nobody listens is found out by who listens.
                return match part {
                    Given::Done(done) if !done.failure.is_empty() => Err(done.failure),
                    _ => Ok(()),
                };
            }
            let _ = given.send(part);
        }
        match child.wait().await {
            Ok(status) => Err(format!("it crashed ({status})")),
            Err(why) => Err(format!("its process was lost: {why}")),
        }
    }
}

/// What each library answered, and its outputs.
pub type Answered = (Vec<Result<Vec<u64>, String>>, Vec<Vec<Vec<u8>>>);

/// Runs a job on this machine, without a pool.
pub fn here(
    processes: &Processes,
    work: &Work,
    libraries: &[Bytes],
    inputs: &[Bytes],
) -> Result<Answered, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|why| why.to_string())?;
    let (sender, mut given) = tokio::sync::mpsc::unbounded_channel();
    let objects = [libraries, inputs].concat();
    let failure = runtime.block_on(processes.run(work.clone(), objects, sender));
    let mut answers: Vec<Result<Vec<u64>, String>> = vec![Err(failure); libraries.len()];
    let mut outputs = vec![vec![Vec::new(); work.output_bytes.len()]; libraries.len()];
    while let Ok(part) = given.try_recv() {
        match part {
            Given::Answer(answer) if answer.error.is_empty() => {
                answers[answer.library as usize] = Ok(answer.times_ps)
            }
            Given::Answer(answer) => answers[answer.library as usize] = Err(answer.error),
            Given::Output(part) => {
                outputs[part.library as usize][part.output as usize].extend_from_slice(&part.bytes)
            }
            Given::Done(_) => {}
        }
    }
    Ok((answers, outputs))
}

impl Runner for Processes {
    async fn run(&self, work: Work, objects: Vec<Bytes>, given: UnboundedSender<Given>) -> String {
        let limit = Duration::from_millis(work.timeout_ms).min(self.most);
        let memory = match work.memory_bytes {
            0 => self.memory_bytes,
            asked => asked.min(self.memory_bytes),
        };
        let mut arguments = vec![
            "--memory".to_owned(),
            memory.to_string(),
            "--seconds".to_owned(),
            limit.as_secs_f64().ceil().to_string(),
        ];
        if self.without_sandbox {
            arguments.push("--without-sandbox".to_owned());
        }
        let mut child = match self.start(&arguments) {
            Ok(child) => child,
            Err(why) => return why,
        };
        let talked = timeout(limit, Processes::talk(&mut child, &work, &objects, &given)).await;
        let failure = match talked {
            Ok(Ok(())) => String::new(),
            Ok(Err(why)) => why,
            Err(_) => format!("it took more than {} s", limit.as_secs_f64()),
        };
        // It is waited for as well, so that it leaves nothing behind.
        let _ = child.kill().await;
        failure
    }
}
