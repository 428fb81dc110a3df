//! What all GPUs of a vendor have in common.

use crate::stage::Stage;
use fusion_dialects::Emit;

/// What all GPUs of a vendor have in common.
#[derive(Debug)]
pub struct Vendor {
    /// What targets begin with: `nvidia`.
    pub name: &'static str,
    /// What runs its code: `cuda`.
    pub device: &'static str,
    /// The number of that in `runtime/gpu/gpu.h`.
    pub number: u32,
    /// What code is for.
    pub triple: &'static str,
    /// Of the code generator.
    pub features: &'static str,
    /// The form in which the code generator gives code.
    pub emit: Emit,
    /// What becomes of it.
    pub image: Image,
    /// From `gpu` to LLVM; `CHIP` stands for the processor.
    pub stages: &'static [Stage],
    /// Upstream's pass that makes calls of its library; none where the stages do.
    pub calls: &'static str,
    /// What its library wants to know of a processor, as globals of the LLVM dialect.
    pub settings: fn(&str) -> String,
    /// The descriptions.
    pub described: &'static [&'static str],
}

/// What device code is packed as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Image {
    /// Text, which ends with a NUL.
    Text,
    /// A shared object, linked from what the code generator gives.
    Linked,
}
