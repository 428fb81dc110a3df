//! What is compiled for: this machine's processor, another one, or a GPU, by the names that `--target` takes.

use fusion_machine::{FIELDS, Target as Description};
use fusion_targets::cpu::{self, Processor, ProcessorError};
use fusion_targets::gpu::resources;
use fusion_targets::gpu::{Device, DeviceError, Vendor};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A target, as `--target` names it.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// The name.
    pub name: String,
    /// What the code of the host is for.
    pub(crate) processor: Processor,
    /// What runs kernels, where that is no processor.
    pub(crate) device: Option<Device>,
}

/// Why there is no target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// It is of no kind that is known.
    #[error(
        "there is no target {0:?}; the targets are cpu, cpu:PROCESSOR, nvidia:GPU and amd:GPU, see `fusion targets`"
    )]
    Kind(String),
    /// Its description would have a number that makes no sense.
    #[error("{0}")]
    Number(String),
    /// It is a processor, which has functions of its own.
    #[error("{0} is no GPU, for which alone --device-library names a library")]
    NoDevice(String),
    /// There is no GPU of that name, or its description is wrong.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// There is no processor of that name, or its description is wrong.
    #[error(transparent)]
    Processor(#[from] ProcessorError),
}

/// The target that is this machine's processor.
pub const HOST: &str = "cpu";

impl Default for Target {
    fn default() -> Self {
        Target::uncalibrated()
    }
}

impl Target {
    /// This machine's processor as the compiler describes it, whatever the user measured.
    pub fn uncalibrated() -> Target {
        Target { name: HOST.to_owned(), processor: Processor::host(), device: None }
    }

    /// The one a file describes.
    pub fn from_file(file: &Path) -> Result<Target, TargetError> {
        let processor = Processor::from_file(file)?;
        Ok(Target { name: format!("{HOST}:{}", processor.description.name), processor, device: None })
    }

    /// What passes know of it.
    pub fn description(&self) -> &Description {
        self.device.as_ref().map_or(&self.processor.description, |device| &device.description)
    }

    /// Whether its code runs on this machine: that of its processor, or of a GPU, which may be there.
    pub fn is_of_this_machine(&self) -> bool {
        let triple = |processor: &Processor| processor.target.resolved().triple;
        let machine = |triple: String| triple.split('-').next().unwrap_or_default().to_owned();
        machine(triple(&self.processor)) == machine(triple(&Processor::host()))
    }

    /// The same with another number in its description, as files of descriptions call it. The clock stays: wider vectors and more multiply-adds at a time
    /// raise the peak.
    pub fn varied(&self, key: &str, value: f64) -> Result<Target, TargetError> {
        let field = FIELDS.iter().find(|field| field.key == key && (!field.gpu || self.device.is_some()));
        let field = field.ok_or_else(|| {
            let known =
                FIELDS.iter().filter(|f| !f.gpu || self.device.is_some()).map(|f| f.key).collect::<Vec<_>>();
            TargetError::Number(format!(
                "{key:?} is no number of a description; they are {}",
                known.join(", ")
            ))
        })?;
        if !field.allows(value) {
            let kind = if field.whole { "a whole number" } else { "a number" };
            let (least, most) = field.range;
            return Err(TargetError::Number(format!(
                "{key} is {kind} from {least} to {most}, and {value} is none"
            )));
        }
        let mut varied = Target { name: format!("{key}={value}"), ..self.clone() };
        let description = match &mut varied.device {
            Some(device) => &mut device.description,
            None => &mut varied.processor.description,
        };
        if matches!(key, "vector_bytes" | "multiply_adds") {
            description.peak_flops *= value / (field.get)(description);
        }
        (field.set)(description, value);
        description.check().map_err(|why| TargetError::Number(format!("with {key} = {value}, {why}")))?;
        Ok(varied)
    }

    /// What the code of the host is for.
    pub fn processor(&self) -> &Processor {
        &self.processor
    }

    /// What runs kernels, where that is no processor.
    pub fn device(&self) -> Option<&Device> {
        self.device.as_ref()
    }

    /// The same target, with code that its vendor's assembler made.
    pub fn assembled(mut self) -> Result<Target, TargetError> {
        let assembler = resources::assembler().ok_or(DeviceError::NoAssembler)?;
        if let Some(device) = &mut self.device {
            device.assembler = Some(assembler);
        }
        Ok(self)
    }

    /// The same target, whose kernels have functions of numbers from a library.
    pub fn linked(mut self, file: PathBuf) -> Result<Target, TargetError> {
        match &mut self.device {
            Some(device) => device.link(file)?,
            None => return Err(TargetError::NoDevice(self.name)),
        }
        Ok(self)
    }

    /// The same target with its kernels run on this machine's processor, as a GPU would.
    pub fn emulated(mut self) -> Target {
        if let Some(device) = &mut self.device {
            device.emulated = true;
        }
        self
    }
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(name: &str) -> Result<Target, TargetError> {
        if let Some((vendor, gpu)) = name.split_once(':')
            && let Some(vendor) = Vendor::named(vendor)
        {
            let device = Some(Device::named(vendor, gpu)?);
            return Ok(Target { name: name.to_owned(), processor: Processor::host(), device });
        }
        let processor = match name.strip_prefix(HOST) {
            Some("") => cpu::HOST,
            Some(rest) => rest.strip_prefix(':').ok_or_else(|| TargetError::Kind(name.to_owned()))?,
            None => return Err(TargetError::Kind(name.to_owned())),
        };
        Ok(Target { name: name.to_owned(), processor: Processor::named(processor)?, device: None })
    }
}

impl TryFrom<&str> for Target {
    type Error = TargetError;

    fn try_from(name: &str) -> Result<Target, TargetError> {
        name.parse()
    }
}
