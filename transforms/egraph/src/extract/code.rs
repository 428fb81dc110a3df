//! What the code of a kernel takes: chains that wait, operations that are fetched again, and blocks that compilers are slow at.
//!
//! ```text
//!     for v  y[v] = f_n(.. f_2(f_1(x[v])))          n operations of a vector, and with an epilogue's c vectors side by side n c
//!
//!     waits    = chain * latency / (c + WINDOW / n)         of a vector, where that is more than its arithmetic
//!     fetching = n * BYTES / rate                           rate of what holds n c operations: none, decoded, or the second cache's
//!     compile  = SQUARE (n c - FEW)^2 / CALLS
//! ```
//!
//! A core looks so many operations ahead as its schedulers hold: where a vector takes more, few vectors are at work together and a chain waits
//! for itself. Counted on Zen 4, chains of 48, 96, 200, 467 and 2000 operations take 1.9, 2.6, 3.8, 4.4 and 4.8 cycles for each of them, as 1 + 70 / n
//! vectors at work say. Passes over rows are loops of their own, each with its code. To compile a block takes
//! a part of its time in the square of its operations (0.7 s for 467, 3.5 s for 2000); a second of that counts as much as a million calls. GPUs hide chains behind
//! threads. (Fog, "The microarchitecture of Intel, AMD and VIA CPUs", on the front end and schedulers.)

use super::kernel::Kernel;
use super::space::{ClassId, Space};
use super::state::State;
use fusion_operators::FusionKind;
use fusion_schedule::auto_schedule::LANE_BYTES;

/// The share of registers that tiles of a product take.
const OF_REGISTERS: f64 = 0.75;
/// Operations that are kept decoded, on the smallest of today's cores.
pub const DECODED: f64 = 1500.0;
/// Bytes of an operation, of those decoded in a cycle, and of those that come from the second cache in one.
const BYTES: f64 = 7.0;
const DECODED_BYTES: f64 = 16.0;
const FETCHED_BYTES: f64 = 8.0;
/// Bytes of the first instruction cache.
const FIRST: f64 = 32768.0;
/// Operations that a core looks ahead while a chain waits.
const WINDOW: f64 = 70.0;
/// Seconds of compiling a block for the square of its operations, and the calls that pay for a second.
const SQUARE: f64 = 3.4e-7;
const CALLS: f64 = 1e6;
/// A lesser part of a kernel's time is no reason for anything.
const LEAST: f64 = 0.01;
/// Operations of a block that nothing is slow at.
const FEW: f64 = 256.0;

/// Cycles in which operations come to be executed, that are some of a loop of so many.
pub fn fetching(operations: f64, of: f64) -> f64 {
    let rate = match of {
        decoded if decoded <= DECODED => return 0.0,
        near if near * BYTES <= FIRST => DECODED_BYTES,
        _ => FETCHED_BYTES,
    };
    operations * BYTES / rate
}

/// Seconds of a call that compiling a block of so many operations counts as, beyond what grows with them.
pub fn compiling(operations: f64) -> f64 {
    SQUARE * (operations - FEW).max(0.0).powi(2) / CALLS
}

/// A loop of a kernel: what it computes between two reductions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pass {
    /// Operations for a vector.
    pub operations: f64,
    /// The most of them that wait for each other.
    pub chain: f64,
    /// Cycles of their arithmetic, as it is counted.
    busy: f64,
}

/// What takes most of the time of a kernel's code.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Slow {
    Waits { chain: f64 },
    Fetching { operations: f64 },
    Compiling { operations: f64 },
}

/// The passes of a kernel, with how many vectors each has side by side.
pub fn passes(space: &Space, state: &State, kernel: &Kernel) -> Option<(Vec<Pass>, f64)> {
    let (core, registers) = (space.rates.core.as_ref()?, space.rates.registers.as_ref()?);
    let lanes = core.lanes(LANE_BYTES) as f64;
    let elements = |class: ClassId| {
        let size = space.classes[class].types.first().map_or(LANE_BYTES as usize, |ty| ty.dtype.size());
        space.classes[class].bytes / size as f64
    };
    let goes_over = |member: ClassId| {
        let operands = &state.candidate(space, member).operands;
        operands.iter().map(|&o| elements(o)).fold(elements(member), f64::max)
    };
    let of = |member: ClassId| {
        let operations = state.candidate(space, member).seconds * space.rates.operations;
        operations / goes_over(member).max(1.0)
    };
    let is = |member: ClassId, kind| state.candidate(space, member).kind == kind;
    let is_product = |member: ClassId| is(member, FusionKind::Contraction);
    if kernel.members.iter().any(|&m| is(m, FusionKind::Opaque)) {
        return None;
    }
    let has_product = kernel.members.iter().any(|&m| is_product(m));
    let all: f64 = kernel.members.iter().filter(|&&m| !is_product(m)).map(|&m| of(m)).sum();
    // Tiles of a product take most registers, and what follows is written out for each of them.
    let together = if has_product { (OF_REGISTERS * core.registers as f64).floor().max(1.0) } else { 1.0 };
    // Most kernels are so small that nothing is to be found out.
    if all <= WINDOW && all * together <= FEW {
        return None;
    }
    let largest = kernel.members.iter().map(|&m| elements(m)).fold(0.0, f64::max);
    // Of each member the pass it belongs to, and the operations up to it that wait for each other.
    let mut known: Vec<(u32, f64)> = vec![(0, 0.0); space.classes.len()];
    let mut passes: Vec<Pass> = Vec::new();
    for &member in &kernel.members {
        let candidate = state.candidate(space, member);
        let number = candidate.operands.iter().map(|&o| known[o].0).max().unwrap_or(0);
        let before = candidate.operands.iter().filter(|&&o| known[o].0 == number).map(|&o| known[o].1);
        let before = before.fold(0.0, f64::max);
        // Rows and single numbers are few.
        let counts = !is_product(member) && 2.0 * goes_over(member) > largest;
        let operations = if counts { of(member) } else { 0.0 };
        passes.resize(passes.len().max(number as usize + 1), Pass::default());
        let pass = &mut passes[number as usize];
        pass.operations += operations;
        pass.chain = pass.chain.max(before + operations);
        pass.busy += operations * lanes / space.rates.operations * registers.clock;
        known[member] = match candidate.kind {
            FusionKind::Reduction | FusionKind::Rows => (number + 1, 0.0),
            _ => (number, before + operations),
        };
    }
    Some((passes, together))
}

/// Seconds that a kernel's code takes beside its arithmetic, and what takes most of them.
fn slowest(space: &Space, state: &State, kernel: &Kernel) -> (f64, Option<Slow>) {
    let (Some((passes, together)), Some(core), Some(registers)) =
        (passes(space, state, kernel), &space.rates.core, &space.rates.registers)
    else {
        return (0.0, None);
    };
    let bytes = kernel.members.iter().map(|&m| space.classes[m].bytes).fold(0.0, f64::max);
    let vectors = (bytes / core.vector_bytes as f64).max(1.0);
    let (mut sum, mut most) = (0.0, (0.0, None));
    for pass in passes.iter().filter(|pass| pass.operations > 0.0) {
        let operations = pass.operations * together;
        let waits = pass.chain * core.latency as f64 / (together + WINDOW / pass.operations);
        let fetching = fetching(pass.operations, operations);
        // The first vector waits for itself wherever it is computed.
        let seconds = |cycles: f64| (cycles - pass.busy).max(0.0) * (vectors - 1.0) / registers.clock;
        let compiling = compiling(operations);
        sum += seconds(waits.max(fetching)) + compiling;
        for (seconds, slow) in [
            (seconds(waits), Slow::Waits { chain: pass.chain }),
            (seconds(fetching), Slow::Fetching { operations }),
            (compiling, Slow::Compiling { operations }),
        ] {
            if seconds > most.0 {
                most = (seconds, Some(slow));
            }
        }
    }
    (sum, most.1)
}

/// Seconds that a kernel's code takes beside its arithmetic.
pub fn seconds(space: &Space, state: &State, kernel: &Kernel) -> f64 {
    slowest(space, state, kernel).0
}

/// What of a kernel's code takes time, as a part of a sentence; the kernel takes that many seconds as a whole.
pub fn reason(space: &Space, state: &State, kernel: &Kernel, whole: f64) -> Option<String> {
    let (taken, slow) = slowest(space, state, kernel);
    if taken < LEAST * whole {
        return None;
    }
    Some(match slow? {
        Slow::Waits { chain } => {
            format!("{chain:.0} operations in it wait for each other, and a core looks {WINDOW} ahead")
        }
        Slow::Fetching { operations } => {
            format!("its code of {operations:.0} operations is fetched again for each vector")
        }
        Slow::Compiling { operations } => {
            format!(
                "compiling its code of {operations:.0} operations takes more than all its calls would gain"
            )
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_stays_decoded_is_not_fetched() {
        assert_eq!(fetching(DECODED, DECODED), 0.0);
        assert_eq!(compiling(FEW), 0.0);
    }

    #[test]
    fn more_code_never_takes_less() {
        let sizes: Vec<f64> = (0..200).map(|n| 100.0 * n as f64).collect();
        for two in sizes.windows(2) {
            assert!(fetching(two[0], two[0]) <= fetching(two[1], two[1]));
            assert!(compiling(two[0]) <= compiling(two[1]));
        }
        // What the first instruction cache does not hold comes more slowly.
        assert!(fetching(1.0, 20000.0) > fetching(1.0, 2000.0));
    }
}
