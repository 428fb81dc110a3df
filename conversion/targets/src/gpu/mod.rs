//! GPUs to compile for, of several vendors.
//!
//!     nvidia:sm_90a           what descriptions/sm_90a.toml of that vendor's folder describes
//!     amd:gfx942
//!
//! What differs between vendors is a row of facts, [`Vendor`]: how device code is made and what the run time loads it with. What
//! differs between GPUs of a vendor is a description. A kernel goes from loops to `gpu` (`loop_to_gpu`), by the vendor's
//! stages to LLVM, and becomes an image in the object of its host code (`image`), which launches it (`calls`). Emulated, it
//! becomes a function of the host instead (`emulate`).

pub mod calls;
pub mod emulate;
mod forms;
mod globals;
pub mod host;
pub mod image;
pub mod interface;
pub mod matrix;
pub mod resources;
pub mod stages;
mod tensor_copies;
mod tensor_memory;
mod warp_groups;

use super::spelling::near;
pub use super::vendor::{Image, Vendor};
use super::{amd, nvidia};
use crate::stage::{Stage, inner_of};
use fusion_dialects::{Target as Codegen, processors};
use fusion_machine::{Target, TargetError};
use stages::{GPU_EMULATED, GPU_IMAGE, GPU_LOOP};
use std::path::PathBuf;

/// All vendors.
pub const VENDORS: &[&Vendor] = &[&nvidia::VENDOR, &amd::VENDOR];

/// The number of the emulator in `runtime/gpu/gpu.h`.
const EMULATED: u32 = 3;

/// A GPU to compile for.
#[derive(Clone, Debug)]
pub struct Device {
    /// Its vendor.
    pub vendor: &'static Vendor,
    /// What passes know of it.
    pub description: Target,
    /// Whether its kernels run on the host's processor.
    pub emulated: bool,
    /// The vendor's assembler, where images are to be what it makes.
    pub assembler: Option<PathBuf>,
    /// Files of bitcode that functions of numbers are linked from, in place of straight code.
    pub libraries: Vec<PathBuf>,
}

impl PartialEq for Device {
    fn eq(&self, other: &Device) -> bool {
        let facts = |d: &Device| (d.vendor.name, d.emulated);
        facts(self) == facts(other)
            && (&self.description, &self.assembler, &self.libraries)
                == (&other.description, &other.assembler, &other.libraries)
    }
}

/// Why there is no GPU to compile for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// Nobody describes it.
    #[error("there is no GPU {vendor}:{name}; those described are {}", known.join(", "))]
    Unknown {
        /// The vendor.
        vendor: &'static str,
        /// The name.
        name: String,
        /// Names that are.
        known: Vec<String>,
    },
    /// A file of a description cannot be read.
    #[error("cannot read {file}, which is to describe a GPU of {vendor}: {error}")]
    Unreadable {
        /// The vendor.
        vendor: &'static str,
        /// The file.
        file: String,
        /// What the system says of it.
        error: String,
    },
    /// A file describes a processor.
    #[error(
        "{file} describes no GPU: `warp` is 0 or missing; `fusion targets {vendor}:NAME` prints a description to begin with"
    )]
    NoGpu {
        /// The vendor.
        vendor: &'static str,
        /// The file.
        file: String,
    },
    /// A file names a processor that LLVM does not know of this vendor.
    #[error(
        "{file} names the processor {name:?}, of which the code generator for {vendor} knows nothing; names like it are {}",
        near.join(", ")
    )]
    Processor {
        /// The vendor.
        vendor: &'static str,
        /// The file.
        file: String,
        /// The name.
        name: String,
        /// Names that are alike, the most alike first.
        near: Vec<String>,
    },
    /// Nothing makes cubins.
    #[error(
        "there is no ptxas to assemble with: FUSION_PTXAS names none and PATH has none; leave --cubin away, and the driver assembles"
    )]
    NoAssembler,
    /// A library is no file, or has a name that a pipeline cannot hold.
    #[error(
        "{file} is no library to link: it must be a file of bitcode, such as libdevice.10.bc, with no spaces, braces or colons in its path"
    )]
    Library {
        /// The file.
        file: String,
    },
    /// A description is wrong.
    #[error(transparent)]
    Description(#[from] TargetError),
}

impl Vendor {
    /// The one whose name a target begins with.
    pub fn named(name: &str) -> Option<&'static Vendor> {
        VENDORS.iter().copied().find(|vendor| vendor.name == name)
    }

    /// What is described of this vendor.
    pub fn descriptions(&self) -> impl Iterator<Item = Result<Target, TargetError>> {
        self.described.iter().map(|text| Target::parse(text, "a description of the compiler"))
    }
}

impl Device {
    /// The GPU of a vendor with that name, or the one that a file describes.
    pub fn named(vendor: &'static Vendor, name: &str) -> Result<Device, DeviceError> {
        if name.ends_with(".toml") {
            return Device::from_file(vendor, name);
        }
        let mut known = Vec::new();
        for description in vendor.descriptions() {
            let description = description?;
            if description.name == name {
                return Ok(Device::of(vendor, description));
            }
            known.push(format!("{}:{}", vendor.name, description.name));
        }
        Err(DeviceError::Unknown { vendor: vendor.name, name: name.to_owned(), known })
    }

    /// The GPU of a vendor that a file describes.
    fn from_file(vendor: &'static Vendor, file: &str) -> Result<Device, DeviceError> {
        let text = std::fs::read_to_string(file).map_err(|error| DeviceError::Unreadable {
            vendor: vendor.name,
            file: file.to_owned(),
            error: error.to_string(),
        })?;
        let description = Target::parse(&text, file)?;
        if !description.is_gpu() {
            return Err(DeviceError::NoGpu { vendor: vendor.name, file: file.to_owned() });
        }
        // The code generator ends the process where it does not know one.
        let known = processors(vendor.triple);
        if !known.contains(&description.processor) {
            let (name, file) = (description.processor, file.to_owned());
            let near = near(&name, known);
            return Err(DeviceError::Processor { vendor: vendor.name, file, name, near });
        }
        Ok(Device::of(vendor, description))
    }

    fn of(vendor: &'static Vendor, description: Target) -> Device {
        Device { vendor, description, emulated: false, assembler: None, libraries: Vec::new() }
    }

    /// Has functions of numbers linked from a vendor's library of bitcode.
    pub fn link(&mut self, file: PathBuf) -> Result<(), DeviceError> {
        let file = std::path::absolute(&file).unwrap_or(file);
        let text = file.display().to_string();
        if !file.is_file() || text.contains(|c: char| c.is_whitespace() || "{}:=\"'".contains(c)) {
            return Err(DeviceError::Library { file: text });
        }
        self.libraries.push(file);
        Ok(())
    }

    /// For the code generator.
    pub fn codegen(&self) -> Codegen {
        codegen(self.vendor, &self.description.processor)
    }

    /// From the loops of a kernel to code of the host that launches it.
    pub fn stages(&self) -> Vec<&'static [Stage]> {
        match self.emulated {
            true => vec![GPU_LOOP, GPU_EMULATED],
            false => vec![GPU_LOOP, self.vendor.stages, GPU_IMAGE],
        }
    }

    /// The pipelines of stages that want to know more of the GPU.
    pub fn pipelines(&self) -> Vec<(&'static str, String)> {
        let (gpu, chip) = (&self.description.gpu, &self.description.processor);
        let assembler = self.assembler.as_ref().filter(|_| self.vendor.image == Image::Text);
        let assembler = assembler.map_or(String::new(), |path| format!(" assembler={}", path.display()));
        let paths: Vec<String> = self.libraries.iter().map(|file| file.display().to_string()).collect();
        let libraries = match paths.is_empty() {
            true => String::new(),
            false => format!(" libraries={}", paths.join(image::LIST)),
        };
        let mut all = vec![
            ("fusion-gpu-host", format!("builtin.module(fusion-gpu-host{{device={}}})", self.number())),
            ("loop-bind-warps", format!("builtin.module(func.func(loop-bind-warps{{warp={}}}))", gpu.warp)),
            (
                "loop-spread",
                format!("builtin.module(func.func(loop-spread{{cores={}}}))", self.description.cores),
            ),
            (
                "loop-pipeline",
                format!(
                    "builtin.module(func.func(loop-pipeline{{copy-bytes={} registers={}}},loop-unroll,canonicalize,cse))",
                    gpu.copy_bytes, gpu.registers
                ),
            ),
            (
                "loop-verify-gpu",
                format!(
                    "builtin.module(func.func(loop-verify-gpu{{threads={} warp={} shared-bytes={}}}))",
                    gpu.block_threads, gpu.warp, gpu.most_shared_bytes
                ),
            ),
            (
                "fusion-gpu-image",
                format!(
                    "builtin.module(fusion-gpu-image{{vendor={} chip={chip}{assembler}{libraries}}})",
                    self.vendor.name
                ),
            ),
            (
                "convert-loop-to-gpu",
                format!(
                    "builtin.module(convert-loop-to-gpu{{warp={} static-bytes={} core-bytes={}}},gpu.module(canonicalize,cse))",
                    gpu.warp,
                    // The emulator's memory is one.
                    if self.emulated { gpu.most_shared_bytes } else { gpu.shared_bytes },
                    gpu.most_shared_bytes
                ),
            ),
            ("fusion-gpu-calls", format!("builtin.module(fusion-gpu-calls{{warp={}}})", gpu.warp)),
        ];
        if !self.libraries.is_empty() {
            all.push(("math-approximate", "builtin.module(func.func(canonicalize))".to_owned()));
            all.push(("gpu-math", "builtin.module(func.func(gpu-math{library=true}))".to_owned()));
        }
        let calls = if self.libraries.is_empty() { "" } else { self.vendor.calls };
        all.extend(self.vendor.stages.iter().map(|stage| {
            let pipeline = stage.pipeline.replacen("gpu.module(", &format!("{calls}gpu.module("), 1);
            (stage.name, pipeline.replace("CHIP", chip))
        }));
        all
    }

    /// The number of what runs its code in `runtime/gpu/gpu.h`.
    pub fn number(&self) -> u32 {
        if self.emulated { EMULATED } else { self.vendor.number }
    }

    /// What runs its code, in words.
    pub fn runs_on(&self) -> &'static str {
        if self.emulated { "emulated" } else { self.vendor.device }
    }
}

/// Pipelines of `fusion-opt` from loops to the text of each GPU's code: `fusion-nvidia-sm_80`.
pub fn named_pipelines() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for vendor in VENDORS {
        for description in vendor.descriptions().flatten() {
            let Ok(device) = Device::named(vendor, &description.name) else { continue };
            let other = device.pipelines();
            let pipeline = |stage: &Stage| {
                let own = other.iter().find(|(name, _)| *name == stage.name);
                inner_of(own.map_or(stage.pipeline, |(_, pipeline)| pipeline)).to_owned()
            };
            let stages: Vec<String> = device.stages().into_iter().flatten().map(pipeline).collect();
            let text = stages.join(",").replace("fusion-gpu-image{", "fusion-gpu-image{emit=assembly ");
            all.push((format!("fusion-{}-{}", vendor.name, description.name), text));
        }
    }
    all
}

fn codegen(vendor: &Vendor, chip: &str) -> Codegen {
    Codegen {
        triple: vendor.triple.to_owned(),
        cpu: chip.to_owned(),
        features: vendor.features.to_owned(),
        vector_width: 0,
        ..Codegen::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_descriptions_are_found_by_their_names() {
        for vendor in VENDORS {
            for description in vendor.descriptions() {
                let description = description.unwrap();
                assert!(description.is_gpu(), "{}", description.name);
                let device = Device::named(vendor, &description.name).unwrap();
                assert_eq!(device.description, description);
                assert_eq!(Target::parse(&description.to_string(), "again"), Ok(description));
            }
        }
    }

    #[test]
    fn a_name_that_is_wrong_gives_names_that_are_right() {
        let said = Device::named(&nvidia::VENDOR, "sm_30").unwrap_err().to_string();
        let first = Target::parse(nvidia::VENDOR.described[0], "").unwrap().name;
        let begin = format!("there is no GPU nvidia:sm_30; those described are nvidia:{first}, nvidia:");
        assert!(said.starts_with(&begin), "{said}");
    }
}
