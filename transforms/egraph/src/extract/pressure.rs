//! What a kernel holds at once: values in registers, and rows in the caches.
//!
//! ```text
//!     a = exp x; b = tanh x; c = ..; y = a + (b + (c + ..))         a, b, c, .. wait for each other in registers
//!     y = x - max x; z = exp y; r = z / sum z                       three passes over a row of x
//! ```
//!
//! Members are computed in order for a vector of elements. A value *waits* from where it is computed until it is read last. What the target
//! has no registers for is stored and loaded again, once for each vector:
//!
//!     spills = 2 (values that wait - registers) / loads a cycle * vectors
//!
//! Each reduction reads its row, and so does what follows. The first pass is counted as memory in any case; the others read from the cache
//! that holds the row, which costs nothing where that is the first one:
//!
//!     passes = (reductions - 1 + what follows) * bytes of rows / bandwidth of the cache that holds one
//!
//! What code takes is counted by itself ([`code`](super::code)). Contractions are left out, whose schedules count their own registers, and GPUs, whose threads have some hundred.

use super::kernel::Kernel;
use super::rates::Rates;
use super::space::{ClassId, Space};
use super::state::State;
use fusion_operators::FusionKind;

/// Values that wait at once at most.
pub fn waiting(space: &Space, state: &State, kernel: &Kernel) -> usize {
    let mut last_read: Vec<(ClassId, usize)> = Vec::with_capacity(kernel.members.len());
    let largest = largest(space, kernel);
    // Rows and single numbers are few; views are what they are views of.
    let is_value = |class: ClassId| 2.0 * space.classes[class].bytes > largest;
    let mut place = vec![usize::MAX; space.classes.len()];
    for (at, &member) in kernel.members.iter().enumerate() {
        for &operand in &state.candidate(space, member).operands {
            if let Some(read) = last_read.get_mut(place[operand]) {
                read.1 = at;
            }
        }
        place[member] = last_read.len();
        last_read.push((member, at));
    }
    let mut ends = vec![0usize; kernel.members.len() + 1];
    let (mut now, mut most) = (0usize, 0);
    for (at, &(member, read)) in last_read.iter().enumerate() {
        if is_value(member) && !state.candidate(space, member).is_view {
            now += 1;
            ends[read] += 1;
        }
        most = most.max(now);
        now -= ends[at];
    }
    most
}

/// Bytes of the largest member.
fn largest(space: &Space, kernel: &Kernel) -> f64 {
    kernel.members.iter().map(|&m| space.classes[m].bytes).fold(0.0, f64::max)
}

/// Values that a kernel stores and loads again for want of registers.
pub fn spilled(space: &Space, state: &State, kernel: &Kernel) -> usize {
    let Some(registers) = &space.rates.registers else { return 0 };
    // No more values wait than there are.
    if kernel.members.len() <= registers.count {
        return 0;
    }
    let of_kind = |kind: FusionKind| kernel.members.iter().any(|&m| state.candidate(space, m).kind == kind);
    if of_kind(FusionKind::Contraction) || of_kind(FusionKind::Opaque) {
        return 0;
    }
    waiting(space, state, kernel).saturating_sub(registers.count)
}

/// Seconds that spilled values take.
pub fn spills(space: &Space, state: &State, kernel: &Kernel) -> f64 {
    let spilled = spilled(space, state, kernel);
    match &space.rates.registers {
        Some(registers) if spilled > 0 => {
            2.0 * spilled as f64 * largest(space, kernel) / registers.bytes / registers.loads
        }
        _ => 0.0,
    }
}

/// Seconds that passes over rows take after the first.
pub fn passes(space: &Space, state: &State, kernel: &Kernel) -> f64 {
    let (mut reductions, mut rows) = (0.0, f64::INFINITY);
    for &member in &kernel.members {
        let candidate = state.candidate(space, member);
        let Some(ty) = space.classes[member].types.first() else { continue };
        let elements = space.classes[member].bytes / ty.dtype.size() as f64;
        match candidate.kind {
            FusionKind::Reduction => {
                reductions += 1.0;
                rows = f64::min(rows, elements);
            }
            // A maximum or a mean, and a sum.
            FusionKind::Rows => {
                let axis = candidate.attrs.attrs.int_or("axis", -1);
                let axis = fusion_operators::relation::normalize_axis(axis, ty.rank()).unwrap_or(0);
                reductions += 2.0;
                rows =
                    f64::min(rows, ty.dims[..axis].iter().map(|d| d.known().unwrap_or(1) as f64).product());
            }
            FusionKind::Contraction | FusionKind::Opaque => return 0.0,
            _ => {}
        }
    }
    if reductions < 2.0 || space.rates.registers.is_none() {
        return 0.0;
    }
    let read: f64 = kernel.inputs.iter().map(|&input| space.classes[input].bytes).sum();
    let written: f64 = kernel.results.iter().map(|&result| space.classes[result].bytes).sum();
    let follows = if written >= 0.5 * read { 1.0 } else { 0.0 };
    (reductions - 1.0 + follows) * space.rates.again(read, (read + written) / rows.max(1.0))
}

/// What a kernel holds that takes time, as a part of a sentence.
pub fn reason(space: &Space, state: &State, kernel: &Kernel) -> Option<String> {
    let count = space.rates.registers.as_ref()?.count;
    match spilled(space, state, kernel) {
        0 if passes(space, state, kernel) > 0.0 => {
            Some("it goes several times over rows that the first cache does not hold".to_owned())
        }
        0 => None,
        spilled => {
            Some(format!("of {} values that wait in it at once registers hold {count}", count + spilled))
        }
    }
}

impl Rates {
    /// Seconds of reading bytes again from the memory that holds twice as many as are read in between; nothing of the first.
    fn again(&self, bytes: f64, between: f64) -> f64 {
        match self.memories().iter().position(|(size, _)| 2.0 * between <= *size) {
            Some(0) | None => 0.0,
            Some(level) => bytes / self.memories()[level].1,
        }
    }
}
