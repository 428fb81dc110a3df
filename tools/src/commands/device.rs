//! `--device`: which of several GPUs a model runs on.

use crate::failure::Failure;
use fusion_runtime::{Device, Module};
use std::fmt;
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
