//! `fusion pool serve`: the tracker.

use crate::failure::Failure;
use crate::print;
use clap::Args;
use fusion_pool_device::command::asked_to_end;
use fusion_pool_tracker::scheduler::Quotas;
use fusion_pool_tracker::{Options, Tracker, TrackerError};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Be the tracker of a pool: devices register here, and clients ask for jobs.
#[derive(Debug, Args)]
pub struct Serve {
    /// The address to listen on. One that other machines reach takes a certificate, and tokens or certificates of who may come; port 0 is any that is free.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:9190")]
    listen: SocketAddr,

    /// The tracker's certificate; connections are encrypted.
    #[arg(long, value_name = "FILE.pem", requires = "private_key")]
    certificate: Option<PathBuf>,

    /// The key of the certificate.
    #[arg(long, value_name = "FILE.pem", requires = "certificate")]
    private_key: Option<PathBuf>,

    /// Who has a certificate signed by these may come.
    #[arg(long, value_name = "FILE.pem")]
    client_ca: Option<PathBuf>,

    /// Who has a token of this file may come: a line is `client` or `device`, a name, and a token.
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,

    /// Jobs of a client that may wait.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    most_waiting: usize,

    /// Jobs of a client that may be on devices at a time [default: as many as there are devices].
    #[arg(long, value_name = "N")]
    most_running: Option<usize>,

    /// Megabytes of objects that are kept.
    #[arg(long, value_name = "MB", default_value_t = 1024)]
    keep: usize,

    /// Seconds that a device is waited for after its job should have ended.
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = crate::commands::bench::budget)]
    grace: Duration,
}

impl Serve {
    /// Carries out the command.
    pub fn run(&self) -> Result<(), Failure> {
        let options = Options {
            listen: self.listen,
            identity: self.certificate.clone().zip(self.private_key.clone()),
            client_ca: self.client_ca.clone(),
            tokens: self.tokens.clone(),
            quotas: Quotas {
                waiting: self.most_waiting,
                running: self.most_running.unwrap_or(usize::MAX).max(1),
            },
            store_bytes: self.keep.saturating_mul(1 << 20),
            grace: self.grace,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|why| TrackerError::Ended(why.to_string()))?;
        runtime.block_on(async {
            let tracker = Tracker::bind(&options).await?;
            print::line(format_args!("the pool is at {}", tracker.address()))?;
            Ok(tracker.serve(asked_to_end()).await?)
        })
    }
}
