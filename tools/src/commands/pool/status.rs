//! `fusion pool status` and `fusion pool readmit`.

use super::entry::connect;
use crate::failure::Failure;
use crate::print;
use clap::Args;
use fusion_pool_device::command::Entry;
use fusion_pool_protocol::messages::{DeviceStatus, PoolStatus};

/// Print the devices of a pool and who waits for them.
#[derive(Debug, Args)]
pub struct Status {
    /// The pool's tracker.
    #[arg(value_name = "HOST:PORT", default_value = "127.0.0.1:9190")]
    pool: String,

    #[command(flatten)]
    entry: Entry,
}

/// Have a pool give jobs again to a device that it set aside.
#[derive(Debug, Args)]
pub struct Readmit {
    /// The device.
    #[arg(value_name = "NAME")]
    name: String,

    /// The pool's tracker.
    #[arg(value_name = "HOST:PORT", default_value = "127.0.0.1:9190")]
    pool: String,

    #[command(flatten)]
    entry: Entry,
}

impl Status {
    /// Carries out the command.
    pub fn run(&self) -> Result<(), Failure> {
        print::line(shown(&connect(&self.pool, &self.entry)?.status()?))
    }
}

impl Readmit {
    /// Carries out the command.
    pub fn run(&self) -> Result<(), Failure> {
        Ok(connect(&self.pool, &self.entry)?.readmit(&self.name)?)
    }
}

fn shown(status: &PoolStatus) -> String {
    let mut lines: Vec<String> = status.devices.iter().map(device).collect();
    if lines.is_empty() {
        lines.push("there is no device".to_owned());
    }
    let client = |client: &fusion_pool_protocol::messages::ClientStatus| {
        format!("{}: {} jobs wait, {} run", client.name, client.waiting, client.running)
    };
    lines.extend(status.clients.iter().map(client));
    lines.join("\n")
}

fn device(status: &DeviceStatus) -> String {
    let says = status.device.clone().unwrap_or_default();
    let state = match (status.set_aside.as_str(), status.busy) {
        ("", false) => "idle".to_owned(),
        ("", true) => "busy".to_owned(),
        (why, _) => format!("set aside: {why}"),
    };
    format!(
        "{:<12} {:<20} {:<20} {state}; {} jobs done, {} wrong, lost with {}; sandbox: {}",
        says.key, says.name, says.target, status.done, status.wrong, status.lost, says.sandbox
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use fusion_pool_protocol::messages::{ClientStatus, Register};

    #[test]
    fn a_line_is_a_device_or_a_client() {
        let says = Register {
            name: "pi".into(),
            key: "rpi4".into(),
            target: "cpu:cortex-a72".into(),
            sandbox: "seccomp".into(),
        };
        let status = DeviceStatus { device: Some(says), busy: true, done: 3, ..Default::default() };
        let client = ClientStatus { name: "a".into(), waiting: 2, running: 1 };
        let text = shown(&PoolStatus { devices: vec![status.clone()], clients: vec![client] });
        assert!(
            text.contains("busy; 3 jobs done, 0 wrong, lost with 0; sandbox: seccomp\na: 2 jobs wait, 1 run"),
            "{text}"
        );
        let set_aside = device(&DeviceStatus { set_aside: "it lies".into(), ..status });
        assert!(set_aside.contains("set aside: it lies"), "{set_aside}");
        assert_eq!(shown(&PoolStatus::default()), "there is no device");
    }
}
