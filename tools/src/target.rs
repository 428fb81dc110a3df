//! What is compiled for: this machine's processor, another one, or a GPU, by the names that `--target` takes.

use crate::print;
use fusion_conversion::targets::cpu::{self, Processor, ProcessorError};
use fusion_conversion::targets::gpu::resources;
use fusion_conversion::targets::gpu::{Device, DeviceError, VENDORS, Vendor};
use fusion_machine::{Memory, Target as Description, TargetError as DescriptionError};
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

/// Where a description of this machine is looked for.
pub fn file_of_host() -> Option<PathBuf> {
    Some(cpu::directory()?.join(format!("{}.toml", Processor::host().description.processor)))
}

/// All GPUs that are described, by their names.
pub fn gpus() -> Result<Vec<(String, Description)>, TargetError> {
    let mut all = Vec::new();
    for vendor in VENDORS {
        for description in vendor.descriptions() {
            let description = description.map_err(DeviceError::from)?;
            all.push((format!("{}:{}", vendor.name, description.name), description));
        }
    }
    Ok(all)
}

/// What `fusion targets` lists: a name or a family of them, and what it is.
pub fn targets() -> Result<Vec<(String, String)>, TargetError> {
    let host: Target = HOST.parse()?;
    let cpu = &host.processor.target.resolved().cpu;
    let from =
        host.processor.file.as_ref().map_or(String::new(), |file| format!(", from {}", file.display()));
    let described = |d: &Description, from: &str| format!("{}{from}\n{}", d.about, facts(d));
    let about = format!("this machine's processor, {cpu}: {}", described(host.description(), &from));
    let mut all = vec![(host.name.clone(), about)];
    for file in cpu::descriptions_of_user() {
        let name = format!("{HOST}:{}", file.file_stem().unwrap_or_default().display());
        let from = format!(", from {}", file.display());
        // One that cannot be read takes none of the others away.
        let about = match Target::from_file(&file) {
            Ok(target) => described(target.description(), &from),
            Err(error) => format!("cannot be used: {error}"),
        };
        all.push((name, about));
    }
    for description in cpu::descriptions() {
        let description = description.map_err(|error: DescriptionError| ProcessorError::from(error))?;
        all.push((format!("{HOST}:{}", description.name), described(&description, "")));
    }
    all.extend(gpus()?.into_iter().map(|(name, description)| (name, described(&description, ""))));
    for family in cpu::FAMILIES {
        let names = fusion_dialects::processors(family.triple).join(" ");
        all.push((format!("{HOST}:PROCESSOR"), format!("{}: {names}", family.name)));
    }
    Ok(all)
}

/// What is known of a target, in two lines.
pub fn facts(target: &Description) -> String {
    let level = |name: &str, level: &Memory| {
        let size = if level.bytes > 0 { format!(" {}", size(level.bytes)) } else { String::new() };
        format!("{name}{size} at {:.0} ({:.0}) GB/s", level.bandwidth / 1e9, level.bandwidth_all / 1e9)
    };
    let mut levels = vec![level("L1", &target.l1), level("L2", &target.l2)];
    levels.extend((target.l3.bytes > 0).then(|| level("L3", &target.l3)));
    levels.push(level("memory", &target.memory));
    format!(
        "{} cores of {:.1} GFLOP/s, {} vectors of {} bytes, a kernel call {}, a parallel loop {}, exp as {:.0} multiply-adds\n\
         on one core (on all): {}",
        target.cores,
        target.peak_flops / 1e9,
        target.vector_registers,
        target.vector_bytes,
        print::seconds(target.kernel_call),
        print::seconds(target.parallel_region),
        target.transcendental,
        levels.join(", "),
    )
}

/// Sizes of caches, which are powers of two or nearly.
fn size(bytes: u64) -> String {
    if bytes < 1 << 20 { format!("{} KiB", bytes >> 10) } else { format!("{} MiB", bytes >> 20) }
}
