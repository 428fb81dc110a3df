//! The code that runs the kernels of a library for a GPU, ready to link into it: `gpu/*.c`.

use crate::embedded::embedded;
use crate::machine::Machine;
use serde::{Deserialize, Serialize};

/// What the kernels of a library run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Device {
    /// A GPU of NVIDIA, through the driver of CUDA.
    Cuda,
    /// A GPU of AMD, through the driver of HIP.
    Hip,
    /// The emulator, on the host.
    Emulated,
}

/// The object files for a machine, by name. They define `fusion_run` and what else `docs/reference/abi.md` says of libraries for GPUs, and
/// need `fusion_gpu_program`.
pub fn objects(machine: Machine) -> [(&'static str, &'static [u8]); 16] {
    macro_rules! objects {
        ($($name:literal)*) => { [$(($name, embedded!(machine, "gpu-" $name))),*] };
    }
    objects!("block" "collective" "cuda" "dlpack" "driver" "emulate" "entry" "hip" "maps" "matrix" "memory" "profile" "races" "run" "mbarriers" "stream")
}
