//! Windows over what is moved in the same kernel: elements that are neighbours for the window lie apart, and are read one by one.
//!
//! ```text
//!     max_pool(transpose x)        9 elements for each result of a window of 3 x 3, each from a line of its own
//! ```
//!
//! Counted on one core of Zen 5: a pool of 3 x 3 over a transposed image takes 1.7 cycles for each element it looks at, where one over an
//! image as it lies takes a vector of them in that. Stored first, the image is moved in tiles.

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

/// Seconds that windows of a kernel take longer for what they read one by one.
pub fn seconds(space: &Space, state: &State, kernel: &Kernel) -> f64 {
    let Some(registers) = &space.rates.registers else { return 0.0 };
    let is = |class: ClassId, operators: &[&Operator]| {
        state.candidate(space, class).operator.is_some_and(|o| operators.iter().any(|other| o.is(other)))
    };
    if !kernel.members.iter().any(|&m| is(m, &WINDOWS)) {
        return 0.0;
    }
    // Operands stand before those who read them.
    let mut moved: Vec<ClassId> = Vec::new();
    let mut seconds = 0.0;
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
