//! The roofline of a kernel: seconds = call + max(arithmetic, memory) + a quarter of the lesser, which is not hidden wholly.
//!
//! Arithmetic is that of all members, each once: code generation computes what several members read once. Memory is what the kernel reads
//! from outside and the results it stores, each at the rate of the memory that is large enough for it; of an operand that a member
//! cuts a piece from, only the piece counts. (Williams, Waterman and Patterson, "Roofline", 2009.)

use super::kernel::Kernel;
use super::rates::Rates;
use super::space::Space;
use super::state::State;
use crate::relay::winograd;
use fusion_operators::ops::winograd::WINOGRAD_CONV2D;
use fusion_operators::{Call, FusionKind, TensorType};

/// Bytes of tensors; unknown extents count as 1.
pub fn bytes(types: &[TensorType]) -> f64 {
    let one = |t: &TensorType| {
        t.dims.iter().map(|d| d.known().unwrap_or(1) as f64).product::<f64>() * t.dtype.size() as f64
    };
    types.iter().map(one).sum()
}

/// Seconds of a call's arithmetic.
pub fn arithmetic(call: &Call, results: &[TensorType], rates: &Rates) -> f64 {
    let operations = (call.op.cost)(call, results);
    match call.op.fusion {
        // Of Winograd's form the row says what the convolution takes by its definition.
        FusionKind::Contraction if call.op.is(&WINOGRAD_CONV2D) => {
            operations / rates.flops / winograd::gain(call, results).unwrap_or(1.0)
        }
        FusionKind::Contraction => operations / rates.flops,
        _ => operations / rates.operations,
    }
}

/// The share of arithmetic or memory that the other does not hide.
const NOT_HIDDEN: f64 = 0.25;

/// Seconds of a kernel.
pub fn kernel(space: &Space, state: &State, kernel: &Kernel) -> f64 {
    if kernel.members.is_empty() {
        return 0.0;
    }
    let mut compute = 0.0;
    for &member in &kernel.members {
        compute += state.candidate(space, member).seconds;
    }
    let rates = &space.rates;
    let mut memory = 0.0;
    for (&input, &read) in kernel.inputs.iter().zip(&kernel.read) {
        memory += rates.moving(space.classes[input].bytes.min(read));
    }
    for &result in &kernel.results {
        memory += rates.moving(space.classes[result].bytes);
    }
    rates.call + f64::max(compute, memory) + NOT_HIDDEN * f64::min(compute, memory)
}
