//! Registers of a core.

use fusion_machine::Target;

/// Registers of one core, and what moves values between them and the first cache.
#[derive(Clone, Copy, Debug)]
pub struct Registers {
    /// Vector registers.
    pub count: usize,
    /// Bytes of each.
    pub bytes: f64,
    /// Loads a second.
    pub loads: f64,
    /// Cycles a second.
    pub clock: f64,
}

impl Registers {
    /// Those of a target; none on GPUs.
    pub fn of(target: &Target) -> Option<Registers> {
        (!target.is_gpu()).then(|| Registers {
            count: target.vector_registers.max(1) as usize,
            bytes: target.vector_bytes.max(1) as f64,
            clock: target.clock(),
            loads: target.clock() * target.loads.max(1) as f64,
        })
    }
}
