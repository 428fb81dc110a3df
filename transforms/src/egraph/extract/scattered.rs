//! What kernels read one by one: windows over what is moved in the same kernel, and blocks of channels that are taken apart.
//!
//! ```text
//!     max_pool(transpose x)                9 elements for each result of a window of 3 x 3, each from a line of its own
//!     layout_transform x, NCHW32c to NCHW  pixels of a channel are 32 elements apart, and no axis of the result is that of its 32 channels
//! ```
//!
//! Counted on one core of Zen 5: a pool of 3 x 3 over a transposed image takes 1.7 cycles for each element it looks at, where one over an
//! image as it lies takes a vector of them in that. Stored first, the image is moved in tiles. Counted on one core of Zen 4: to take [1, 4, 28, 28, 32]
//! out of its blocks takes 2.9 cycles an element, alone or beside a sum, where to bring it into blocks, and either transpose, takes 0.3 to 0.5.

use super::kernel::Kernel;
use super::space::{ClassId, Space};
use super::state::State;
use fusion_operators::ops::layout::{LAYOUT_AVG_POOL2D, LAYOUT_MAX_POOL2D, LAYOUT_TRANSFORM, orders};
use fusion_operators::ops::pooling::{
    AVG_POOL1D, AVG_POOL2D, AVG_POOL3D, MAX_POOL1D, MAX_POOL2D, MAX_POOL3D,
};
use fusion_operators::ops::shape::TRANSPOSE;
use fusion_operators::{Layout, Operator};

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

/// Cycles of an element that is read by itself, and of one that is taken out of a block besides what moving it takes.
const CYCLES: f64 = 1.7;
const TAKEN_OUT: f64 = 2.5;

/// Seconds that a kernel takes longer for what it reads one by one.
pub fn seconds(space: &Space, state: &State, kernel: &Kernel) -> f64 {
    let Some(registers) = &space.rates.registers else { return 0.0 };
    let is = |class: ClassId, operators: &[&Operator]| {
        state.candidate(space, class).operator.is_some_and(|o| operators.iter().any(|other| o.is(other)))
    };
    let taken_out: f64 = kernel.members.iter().filter_map(|&m| taken_out(space, state, m)).sum();
    let mut seconds = taken_out * TAKEN_OUT / registers.clock;
    if !kernel.members.iter().any(|&m| is(m, &WINDOWS)) {
        return seconds;
    }
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

/// The elements that a member takes out of blocks of channels.
fn taken_out(space: &Space, state: &State, member: ClassId) -> Option<f64> {
    let candidate = state.candidate(space, member);
    candidate.operator.filter(|o| o.is(&LAYOUT_TRANSFORM))?;
    let (from, to) = orders(&candidate.attrs.attrs).ok()?;
    let is_split = |layout: &Layout| layout.parts().iter().any(|part| part.inner.is_some());
    let ty = space.classes[member].types.first().filter(|_| is_split(&from) && !is_split(&to))?;
    Some(space.classes[member].bytes / ty.dtype.size() as f64)
}
