//! Products whose results are stored by columns.
//!
//!     y[j, i] = sum_k x[i, k] w[k, j]          vectors go along i: x is laid out by columns first, and each w[k, j] is used for a vector of them
//!
//! What is laid out is a matrix as deep as the sums, where a kernel of its own would read and write all results. Counted on one core of Zen 4, 4096 x 128
//! by 128 x 128 as [128, 64, 64]: half a cycle for each element of x; 1.6 where pixels side by side are those of a column, whose rows of x are
//! on pages of their own.

use super::kernel::{Kernel, Members};
use super::space::Space;
use super::state::State;
use fusion_operators::FusionKind;
use fusion_operators::ops::shape::TRANSPOSE;
use fusion_schedule::auto_schedule::LANE_BYTES;

/// Cycles of an element of what is laid out, where rows follow one another.
const IN_ORDER: f64 = 0.5;
/// The same where they do not.
const APART: f64 = 1.6;

/// Seconds that a kernel takes longer for a product that it stores by columns.
pub fn seconds(space: &Space, state: &State, kernel: &Kernel) -> f64 {
    let Some(registers) = &space.rates.registers else { return 0.0 };
    let members = Members { space, state, members: &kernel.members };
    if !kernel.members.iter().any(|&m| members.operator(m).is_some_and(|o| o.is(&TRANSPOSE))) {
        return 0.0;
    }
    let product = kernel.members.iter().find(|&&m| members.kind(m) == FusionKind::Contraction);
    let Some(&product) = product.filter(|&&m| members.is_product(m)) else { return 0.0 };
    let Some(apart) = members.rows_apart(product) else { return 0.0 };
    let cycles = if apart == 1 { IN_ORDER } else { APART };
    let elements =
        members.operands(product).first().map_or(0.0, |x| space.classes[*x].bytes / LANE_BYTES as f64);
    elements * cycles / registers.clock
}
