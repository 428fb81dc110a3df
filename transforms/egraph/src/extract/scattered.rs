//! What kernels read one by one: windows over what is moved in the same kernel.
//!
//! ```text
//!     max_pool(transpose x)      9 elements for each result of a window of 3 x 3, each from a line of its own
//! ```
//!
//! Counted on one core of Zen 5: a pool of 3 x 3 over a transposed image takes 1.7 cycles for each element it looks at, where one over an
//! image as it lies takes a vector of them in that. Stored first, the image is moved in tiles. Moved alone, or beside what is elementwise, an
//! image takes what its bytes take: on one core of Zen 4 both ways between NCHW and NCHW32c take 1.0 to 1.3 times as long as a copy, and transposes
//! 1.0 to 1.8 times, from 7 x 7 to 112 x 112 pixels.

use super::kernel::Kernel;
use super::space::{ClassId, Space};
use super::state::State;
use fusion_operators::Operator;
use fusion_operators::ops::layout::{LAYOUT_AVG_POOL2D, LAYOUT_MAX_POOL2D, LAYOUT_TRANSFORM};
use fusion_operators::ops::pooling::{
    AVG_POOL1D, AVG_POOL2D, AVG_POOL3D, MAX_POOL1D, MAX_POOL2D, MAX_POOL3D,
};
use fusion_operators::ops::shape::TRANSPOSE;

/// Operators that go over windows.
static WINDOWS: [&Operator; 8] = [
    &MAX_POOL1D,
    &MAX_POOL2D,
    &MAX_POOL3D,
    &AVG_POOL1D,
    &AVG_POOL2D,
    &AVG_POOL3D,
    &LAYOUT_MAX_POOL2D,
    &LAYOUT_AVG_POOL2D,
];

/// Operators that take neighbours apart.
static MOVERS: [&Operator; 2] = [&TRANSPOSE, &LAYOUT_TRANSFORM];

/// Cycles of an element that is read by itself.
const CYCLES: f64 = 1.7;

/// Seconds that a kernel takes longer for what it reads one by one.
pub fn seconds(space: &Space, state: &State, kernel: &Kernel) -> f64 {
    let Some(registers) = &space.rates.registers else { return 0.0 };
    let is = |class: ClassId, operators: &[&Operator]| {
        state.candidate(space, class).operator.is_some_and(|o| operators.iter().any(|other| o.is(other)))
    };
    if !kernel.members.iter().any(|&m| is(m, &WINDOWS)) {
        return 0.0;
    }
    let mut seconds = 0.0;
    // Operands stand before those who read them.
    let mut moved: Vec<ClassId> = Vec::new();
    for &member in &kernel.members {
        let candidate = state.candidate(space, member);
        let reads_moved = candidate.operands.iter().any(|o| moved.contains(o));
        if is(member, &WINDOWS) {
            // Of a pool the operations are the elements that it looks at.
            let elements = candidate.seconds * space.rates.operations;
            seconds += if reads_moved { elements * CYCLES / registers.clock } else { 0.0 };
        } else if reads_moved || is(member, &MOVERS) {
            moved.push(member);
        }
    }
    seconds
}
