//! `--pool` and `--key`: what runs on a device of a pool in place of this machine.

use crate::commands::options::Options;
use crate::failure::Failure;
use clap::Args;
use fusion::driver;
use fusion_pool_client::Client;
use fusion_pool_device::command::Entry;
use fusion_pool_protocol::check;

/// Where a pool is, and what of it is wanted.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Pool")]
pub struct Elsewhere {
    /// Run on a device of this pool in place of this machine (`fusion pool serve`).
    #[arg(long, value_name = "HOST:PORT", requires = "key")]
    pool: Option<String>,

    /// The kind of devices. With it, `--target cpu` is what its devices say that they are.
    #[arg(long, requires = "pool")]
    key: Option<String>,

    #[command(flatten)]
    entry: Entry,
}

/// A pool that is connected.
pub struct Connected {
    /// The connection.
    pub client: Client,
    /// The kind of devices.
    pub key: String,
}

impl Elsewhere {
    /// Connects, where a pool is given.
    pub fn connect(&self) -> Result<Option<Connected>, Failure> {
        let Some((pool, key)) = self.pool.as_ref().zip(self.key.clone()) else { return Ok(None) };
        let client = connect(pool, &self.entry)?;
        Ok(Some(Connected { client, key }))
    }
}

impl Connected {
    /// The options, for the devices where they are for this machine.
    pub fn aim(&self, options: &Options) -> Result<Options, Failure> {
        if options.target != driver::HOST || options.target_file.is_some() {
            return Ok(options.clone());
        }
        let devices = self.client.status()?.devices.into_iter().filter_map(|device| device.device);
        let mut targets: Vec<String> =
            devices.filter(|device| device.key == self.key).map(|device| device.target).collect();
        targets.sort();
        targets.dedup();
        match targets.as_slice() {
            [] => Ok(options.clone()),
            [target] => Ok(Options { target: target.clone(), ..options.clone() }),
            _ => Err(Failure::SeveralTargets { key: self.key.clone(), targets: targets.join(", ") }),
        }
    }
}

/// Connects to a pool, as this user of this machine.
pub fn connect(pool: &str, entry: &Entry) -> Result<Client, Failure> {
    let user = std::env::var("USER").unwrap_or_else(|_| "user".to_owned());
    let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = format!("{user}@{}", machine.trim());
    let name = check::name("name", &name).map_or_else(|_| "user".to_owned(), |()| name);
    Ok(Client::connect(pool, &name, &entry.access())?)
}
