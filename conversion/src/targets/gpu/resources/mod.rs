//! What kernels take of a GPU, read from what was compiled.
//!
//! ```text
//!   object of the host    @k_0_kernel         grid, block, shared memory          (calls.rs wrote it)
//!                         @k_gpu_image        PTX      instructions by its text; registers and spills by ptxas, where there is one
//!                                             hsaco    registers and spills by its notes; instructions by llvm-objdump
//! ```
//!
//! It is read from the object, as kernels that come from the cache have nothing else. How many blocks a core has at a time follows:
//! what a block takes of threads, registers and shared memory, into what the core has.

mod amd;
mod message_pack;
mod nvidia;

pub use nvidia::assembler;

use super::{Device, Image};
use fusion_machine::Target;
use indexmap::IndexMap;
use object::{Object, ObjectSection, ObjectSymbol};
use std::path::Path;

/// What a kernel takes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resources {
    /// The function of the GPU.
    pub name: String,
    /// Blocks.
    pub grid: [u64; 3],
    /// Threads of a block.
    pub block: [u64; 3],
    /// Bytes that a block shares.
    pub shared_bytes: u64,
    /// Of what the code tells; nothing where there was no tool to read it.
    pub code: Code,
    /// The part of a core's threads that are there at a time, at most.
    pub occupancy: Option<f64>,
}

/// What the code of a kernel tells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Code {
    /// Registers of a thread.
    pub registers: Option<u64>,
    /// Bytes of registers that a thread keeps in memory for lack of them.
    pub spilled_bytes: Option<u64>,
    /// Instructions that matter, by how often they stand in the code.
    pub instructions: IndexMap<String, u64>,
}

/// Why it cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ResourceError {
    /// The object is none.
    #[error("the object of a kernel cannot be read: {0}")]
    Object(#[from] object::Error),
    /// A structure is not as the compiler writes it.
    #[error("the object of a kernel has no proper {0}")]
    Structure(String),
    /// A tool failed.
    #[error("{tool} failed: {why}")]
    Tool {
        /// Its name.
        tool: String,
        /// What it said.
        why: String,
    },
}

/// Where the sizes begin in `struct fusion_gpu_kernel`, behind three pointers and a number of 64 bits.
const SIZES: usize = 32;

/// The kernels of an object in their order; emulated ones have no code. `assembler` is ptxas, where there is one.
pub fn of_object(
    device: &Device,
    object: &[u8],
    assembler: Option<&Path>,
) -> Result<Vec<Resources>, ResourceError> {
    let file = object::File::parse(object)?;
    let mut data: IndexMap<String, &[u8]> = IndexMap::new();
    for symbol in file.symbols() {
        let (Ok(name), Some(index)) = (symbol.name(), symbol.section_index()) else { continue };
        let section = file.section_by_index(index)?;
        if name.ends_with("_kernel") || name.ends_with("_gpu_image") {
            let range = section.data_range(symbol.address(), symbol.size())?;
            data.extend(range.map(|bytes| (name.to_owned(), bytes)));
        }
    }
    let mut codes: IndexMap<String, Code> = IndexMap::new();
    for (_, image) in data.iter().filter(|(name, _)| name.ends_with("_gpu_image")) {
        let chip = &device.description.processor;
        codes.extend(match device.vendor.image {
            Image::Text => nvidia::codes(image, chip, assembler)?,
            Image::Linked => amd::codes(image, chip)?,
        });
    }
    let kernels = data.iter().filter_map(|(name, bytes)| Some((name.strip_suffix("_kernel")?, *bytes)));
    kernels
        .map(|(name, bytes)| {
            let number = |at: usize| {
                let bytes: Option<[u8; 4]> =
                    bytes.get(SIZES + 4 * at..).and_then(|rest| rest.first_chunk().copied());
                let number = bytes.map(u32::from_le_bytes).map(u64::from);
                number.ok_or_else(|| ResourceError::Structure(format!("{name}_kernel")))
            };
            let triple =
                |from: usize| Ok::<_, ResourceError>([number(from)?, number(from + 1)?, number(from + 2)?]);
            let code = codes.get(name).cloned().unwrap_or_default();
            let (grid, block, shared_bytes) = (triple(0)?, triple(3)?, number(6)? + number(9)?);
            let threads = block.iter().product();
            let occupancy = code.registers.map(|n| occupancy(&device.description, threads, n, shared_bytes));
            Ok(Resources { name: name.to_owned(), grid, block, shared_bytes, code, occupancy })
        })
        .collect()
}

/// Registers are given to warps in pieces of this many a thread.
const PIECE: u64 = 8;

/// The part of a core's threads that are there at a time when nothing else is: blocks are whole.
pub fn occupancy(target: &Target, threads: u64, registers: u64, shared_bytes: u64) -> f64 {
    let gpu = &target.gpu;
    let warps = threads.div_ceil(gpu.warp.max(1)).max(1);
    let taken = warps * gpu.warp.max(1);
    let by_threads = gpu.core_threads / taken;
    let by_registers = gpu.registers / (taken * registers.max(1).next_multiple_of(PIECE));
    // Where the first cache and shared memory are one, that is what there is to share.
    let by_memory = gpu.shared_bytes.max(target.l1.bytes).checked_div(shared_bytes).unwrap_or(u64::MAX);
    let blocks = by_threads.min(by_registers).min(by_memory);
    (blocks * taken) as f64 / gpu.core_threads.max(1) as f64
}

/// Counts an instruction that begins with one of these.
fn count(found: &mut IndexMap<String, u64>, instruction: &str, prefixes: &[&str]) {
    if prefixes.iter().any(|prefix| instruction.starts_with(prefix)) {
        *found.entry(instruction.to_owned()).or_insert(0) += 1;
    }
}

/// What a program prints on a file with that content, and what it says besides.
fn run(
    tool: &Path,
    arguments: &[&str],
    name: &str,
    content: &[u8],
) -> Result<(String, String), ResourceError> {
    let failed = |why: String| ResourceError::Tool { tool: tool.display().to_string(), why };
    let folder = tempfile::tempdir().map_err(|error| failed(error.to_string()))?;
    std::fs::write(folder.path().join(name), content).map_err(|error| failed(error.to_string()))?;
    let mut command = std::process::Command::new(tool);
    let output = command.args(arguments).arg(name).current_dir(folder.path()).output();
    let output = output.map_err(|error| failed(error.to_string()))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match output.status.success() {
        true => Ok((text(&output.stdout), text(&output.stderr))),
        false => Err(failed(text(&output.stderr).trim().to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Vendor;
    use super::*;

    #[test]
    fn a_core_is_full_of_what_there_is_least_of() {
        let nvidia = Vendor::named("nvidia").unwrap();
        let device = Device::named(nvidia, "sm_80").unwrap();
        let of = |threads, registers, shared| occupancy(&device.description, threads, registers, shared);
        assert_eq!(of(256, 32, 0), 1.0);
        // 65536 registers are those of 512 threads.
        assert_eq!(of(256, 128, 0), 0.25);
        assert_eq!(of(256, 121, 0), 0.25);
        // Two blocks' worth of memory.
        assert_eq!(of(128, 32, 96 << 10), 0.125);
        // A block of one thread takes a warp.
        assert_eq!(of(1, 16, 0), 1.0);
    }
}
