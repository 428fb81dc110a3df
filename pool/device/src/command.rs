//! The command line of a device: `fusion device serve`, and `fusion-device serve`.

use crate::child;
use crate::runner::Processes;
use crate::serve::{DeviceError, Options, serve};
use clap::{Args, Subcommand};
use fusion_pool_protocol::access::Access;
use fusion_pool_protocol::messages::Register;
use std::path::PathBuf;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// Be a device of a pool.
#[derive(Debug, Args)]
pub struct Device {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(Box<Serve>),
    /// Run a job that comes on the standard input.
    #[command(hide = true)]
    Child(child::Limits),
}

/// How a pool is reached.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Pool")]
pub struct Entry {
    /// A file with a token, where the pool asks for one.
    #[arg(long, value_name = "FILE")]
    token: Option<PathBuf>,

    /// The certificate of who signs the pool's; the connection is encrypted.
    #[arg(long, value_name = "FILE.pem")]
    ca: Option<PathBuf>,

    /// A certificate of one's own, where the pool asks for one.
    #[arg(long, value_name = "FILE.pem", requires = "private_key")]
    certificate: Option<PathBuf>,

    /// The key of that certificate.
    #[arg(long, value_name = "FILE.pem", requires = "certificate")]
    private_key: Option<PathBuf>,
}

impl Entry {
    /// The files.
    pub fn access(&self) -> Access {
        let identity = self.certificate.clone().zip(self.private_key.clone());
        Access { ca: self.ca.clone(), identity, token: self.token.clone() }
    }
}

/// Serve a pool: run the jobs that its tracker sends, each in a process of its own under limits.
#[derive(Clone, Debug, Args)]
pub struct Serve {
    /// The pool's tracker.
    #[arg(long, value_name = "HOST:PORT")]
    pool: String,

    /// The kind of device. Devices of a key are taken to be equally fast.
    #[arg(long)]
    key: String,

    /// What is compiled for this device, such as `cpu:cortex-a72` [default: this machine's processor].
    #[arg(long)]
    target: Option<String>,

    /// Its name, of which there is one in the pool [default: the name of this machine].
    #[arg(long)]
    name: Option<String>,

    /// Megabytes of memory that a job may take.
    #[arg(long, value_name = "MB", default_value_t = 4096)]
    memory: u64,

    /// Seconds that a job may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    most_seconds: u64,

    /// Megabytes of objects that are kept in memory, so that they are not sent again.
    #[arg(long, value_name = "MB", default_value_t = 512)]
    keep: usize,

    /// Serve where the kernel has neither seccomp nor landlock, so that jobs can reach files and the network.
    #[arg(long)]
    without_sandbox: bool,

    #[command(flatten)]
    entry: Entry,
}

impl Device {
    /// Carries out the command. `command` is what runs a job by itself: this program, and its arguments up to `child`. `target` is that of this machine where
    /// something knows it.
    pub fn run(&self, command: Vec<PathBuf>, target: Option<String>) -> Result<(), DeviceError> {
        match &self.command {
            Command::Child(limits) => child::main(limits).map_err(DeviceError::Runtime),
            Command::Serve(options) => options.run(command, target),
        }
    }
}

impl Serve {
    fn run(&self, command: Vec<PathBuf>, target: Option<String>) -> Result<(), DeviceError> {
        let target = self.target.clone().or(target);
        let target = target.ok_or_else(|| {
            DeviceError::Options(
                "give what is compiled for this device with --target, such as cpu:cortex-a72".to_owned(),
            )
        })?;
        let own_name = || rustix::system::uname().nodename().to_string_lossy().into_owned();
        let processes = Processes {
            command,
            memory_bytes: self.memory.saturating_mul(1 << 20),
            most: Duration::from_secs(self.most_seconds),
            without_sandbox: self.without_sandbox,
        };
        // Processes end with the thread that started them, so that there is only this one.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(DeviceError::Runtime)?.block_on(async {
            let sandbox = processes.sandbox().await.map_err(DeviceError::Sandbox)?;
            if sandbox.starts_with(child::NO_SANDBOX) && !self.without_sandbox {
                return Err(DeviceError::Sandbox(format!(
                    "jobs would reach its files and the network ({sandbox}); give --without-sandbox where that is no harm"
                )));
            }
            let says = Register { name: self.name.clone().unwrap_or_else(own_name), key: self.key.clone(), target, sandbox };
            tell(format!("{} runs jobs in a sandbox of {}", says.name, says.sandbox));
            let store_bytes = self.keep.saturating_mul(1 << 20);
            let options = Options { pool: self.pool.clone(), access: self.entry.access(), says, store_bytes };
            tokio::select! {
                ended = serve(&options, &processes, tell) => ended,
                () = asked_to_end() => Ok(()),
            }
        })
    }
}

/// Waits until this process is asked to end, so that it takes a job that runs with it.
pub async fn asked_to_end() {
    let all = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()].map(signal);
    let [Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)] = all else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        _ = hangup.recv() => {}
    }
}

fn tell(sentence: String) {
    use std::io::Write;
    // That nobody reads it is no failure.
    let _ = writeln!(std::io::stderr(), "{sentence}");
}
