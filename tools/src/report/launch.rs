//! What a kernel launches on a GPU.

use fusion_machine::Factors;
use fusion_targets::gpu::resources::Resources;
use serde::Serialize;
use std::collections::BTreeMap;

/// A launch of a function of a GPU. As JSON, what is null is not known.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Launch {
    /// The function.
    pub name: String,
    /// Blocks.
    pub grid: [u64; 3],
    /// Threads of a block.
    pub block: [u64; 3],
    /// Bytes that a block shares.
    pub shared_bytes: u64,
    /// Registers of a thread.
    pub registers: Option<u64>,
    /// Bytes that a thread keeps in memory for lack of registers.
    pub spilled_bytes: Option<u64>,
    /// The part of a core's threads that are there at a time, at most.
    pub occupancy: Option<f64>,
    /// Instructions that matter, with how often they stand in the code.
    pub instructions: BTreeMap<String, u64>,
}

impl Launch {
    /// As the compiler read it.
    pub fn of(resources: &Resources) -> Launch {
        let Resources { name, grid, block, shared_bytes, code, occupancy } = resources.clone();
        let (registers, spilled_bytes) = (code.registers, code.spilled_bytes);
        let instructions = code.instructions.into_iter().collect();
        Launch { name, grid, block, shared_bytes, registers, spilled_bytes, occupancy, instructions }
    }

    /// What its matrix instructions multiply, where it has some.
    pub fn multiplies_matrices(&self) -> Option<Factors> {
        // NVIDIA's name the types of all operands, AMD's end with that of the factors.
        let of_matrices = |name: &String| {
            let prefixes = ["mma.", "wgmma", "v_mfma", "v_smfma", "v_wmma"];
            prefixes.iter().any(|prefix| name.starts_with(prefix)).then_some(match name {
                name if name.contains("tf32") || name.ends_with("xf32") => Factors::Tf32,
                name if name.starts_with("v_") && name.ends_with("f32") => Factors::F32,
                _ => Factors::Half,
            })
        };
        let all: Vec<Factors> = self.instructions.keys().filter_map(of_matrices).collect();
        // Of several, the roof is that of the fastest.
        [Factors::Half, Factors::Tf32, Factors::F32].into_iter().find(|factors| all.contains(factors))
    }
}
