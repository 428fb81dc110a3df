//! `--device`: which of several GPUs a model runs on; and `fusion device`: this machine as a device of a pool.

use crate::failure::Failure;
use crate::program;
use fusion::driver::{HOST, Target};
use fusion_pool_device::command::Device as PoolDevice;
use fusion_runtime::{Device, Module};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A kind of device and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    device: Device,
    number: u16,
}

/// How the kinds are called.
const NAMES: [(&str, Device); 2] = [("cuda", Device::Cuda), ("hip", Device::Hip)];

impl Choice {
    /// Lets runs of the model be on this device; `None` changes nothing.
    pub fn apply(choice: Option<Choice>, module: &Module) -> Result<(), Failure> {
        let Some(choice) = choice else { return Ok(()) };
        let description = module.description();
        if description.device != Some(choice.device) {
            let target = description.target.clone();
            return Err(Failure::OtherDevice { asked: choice.to_string(), target });
        }
        module.set_device(choice.number);
        Ok(())
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name =
            NAMES.iter().find(|(_, device)| *device == self.device).map_or("emulated", |(name, _)| name);
        write!(f, "{name}:{}", self.number)
    }
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Choice, String> {
        let parsed = text.split_once(':').and_then(|(name, number)| {
            let (_, device) = NAMES.iter().find(|(known, _)| *known == name)?;
            Some(Choice { device: *device, number: number.parse().ok()? })
        });
        parsed.ok_or_else(|| "devices are cuda:0, cuda:1 ... and hip:0, hip:1 ...".to_owned())
    }
}

/// What runs a job of a pool on this machine.
pub fn child() -> Result<Vec<PathBuf>, Failure> {
    let mut command = program::command().map_err(Failure::file("find", Path::new("this program")))?;
    command.extend(["device".into(), "child".into()]);
    Ok(command)
}

/// This machine as a device of a pool.
pub fn run(device: &PoolDevice) -> Result<(), Failure> {
    let own = format!("{HOST}:{}", Target::uncalibrated().processor().description.processor);
    Ok(device.run(child()?, Some(own))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_have_a_kind_and_a_number() {
        let choice: Choice = "hip:3".parse().unwrap();
        assert_eq!(choice, Choice { device: Device::Hip, number: 3 });
        assert_eq!(choice.to_string(), "hip:3");
        for wrong in ["cuda", "cuda:", "cuda:-1", "emulated:0", "cuda:99999", ":0", ""] {
            assert!(wrong.parse::<Choice>().is_err(), "{wrong:?}");
        }
    }
}
