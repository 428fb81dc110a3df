//! What is tuned.

use fusion_conversion::features::Features;
use fusion_schedule::auto_schedule::KernelSpace;

/// A kernel to tune.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Its name in the model.
    pub name: String,
    /// Its hash.
    pub hash: String,
    /// The kernel as a program of its own.
    pub program: String,
    /// What there is to choose.
    pub space: KernelSpace,
    /// How often the model calls it.
    pub calls: u64,
    /// Seconds that it takes at least on this machine, where they are known.
    pub roof: Option<f64>,
    /// What gives the features of its loops, where something does.
    pub features: Option<Features>,
}
