//! What the cost of kernels depends on: rates and sizes of a machine.

/// A machine, one core of it.
#[derive(Clone, Debug)]
pub struct Target {
    /// Floating-point operations a second of a contraction that reaches the ceiling.
    pub flops: f64,
    /// Operations a second of elementwise code; a transcendental function counts as ten.
    pub operations: f64,
    /// Sizes in bytes of the memories, the nearest first, and the bytes a second that come from each. The last has no size.
    pub memories: Vec<(f64, f64)>,
    /// Seconds that calling a kernel takes.
    pub call: f64,
}

impl Default for Target {
    fn default() -> Self {
        Target {
            flops: 200e9,
            operations: 40e9,
            memories: vec![(1e6, 120e9), (24e6, 50e9), (f64::INFINITY, 25e9)],
            call: 1e-7,
        }
    }
}

impl Target {
    /// Seconds that reading or writing a tensor takes, by the memory it fits.
    pub fn moving(&self, bytes: f64) -> f64 {
        let memory = self.memories.iter().find(|(size, _)| bytes <= *size);
        memory.map_or(0.0, |(_, rate)| bytes / rate)
    }
}
