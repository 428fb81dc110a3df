//! Placing buffers in one arena so that buffers alive at the same time do not overlap.
//!
//! Greedy by size, best fit: the largest buffer is placed first, each next one into the smallest
//! gap that fits it among the buffers alive at the same time, else behind the last of them.
//!
//! ```text
//!   offset ^
//!          |        +---------+
//!          |        |    C    |     A and C share no step with D,
//!          | +------+--+------+     so D lies where they lie.
//!          | |    A    |  +-------+
//!          | |         |  |   D   |
//!          +-+---------+--+-------+--> step
//! ```
//!
//! This module depends on nothing, so that whoever lowers to an arena can take it along.

use std::fmt;

/// A buffer to place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Bytes.
    pub size: u64,
    /// Alignment of its offset in bytes, a power of two.
    pub alignment: u64,
    /// The first step that uses it.
    pub first_use: usize,
    /// The last step that uses it, not before the first.
    pub last_use: usize,
}

impl Buffer {
    /// A buffer aligned to 64 bytes.
    pub fn new(size: u64, first_use: usize, last_use: usize) -> Self {
        Buffer { size, alignment: 64, first_use, last_use }
    }

    /// True when some step uses both.
    pub fn overlaps(&self, other: &Buffer) -> bool {
        self.first_use <= other.last_use && other.first_use <= self.last_use
    }
}

/// Where every buffer lies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The offset of each buffer, in the order they were given.
    pub offsets: Vec<u64>,
    /// Bytes of the arena.
    pub total: u64,
}

/// Why there is no plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanError {
    /// The arena's size overflows 64 bits.
    TooLarge,
    /// The alignment of the buffer of this index is not a power of two.
    Alignment(usize),
    /// The buffer of this index is last used before it is first used.
    Lifetime(usize),
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlanError::TooLarge => f.write_str("the buffers need more memory than there are addresses"),
            PlanError::Alignment(i) => write!(f, "the alignment of buffer {i} is not a power of two"),
            PlanError::Lifetime(i) => write!(f, "buffer {i} is last used before it is first used"),
        }
    }
}

impl std::error::Error for PlanError {}

/// Places the buffers. Takes quadratic time, which thousands of buffers do not notice.
pub fn plan(buffers: &[Buffer]) -> Result<Plan, PlanError> {
    for (i, buffer) in buffers.iter().enumerate() {
        if !buffer.alignment.is_power_of_two() {
            return Err(PlanError::Alignment(i));
        }
        if buffer.last_use < buffer.first_use {
            return Err(PlanError::Lifetime(i));
        }
    }
    let mut order: Vec<usize> = (0..buffers.len()).collect();
    // The index last, so that equal buffers are placed in a fixed order.
    order.sort_by_key(|&i| (std::cmp::Reverse(buffers[i].size), buffers[i].first_use, i));

    let mut plan = Plan { offsets: vec![0; buffers.len()], total: 0 };
    let mut placed: Vec<usize> = vec![]; // by offset
    for i in order {
        let buffer = &buffers[i];
        if buffer.size == 0 {
            continue;
        }
        let offset = best_fit(buffer, buffers, &placed, &plan.offsets).ok_or(PlanError::TooLarge)?;
        let end = offset.checked_add(buffer.size).ok_or(PlanError::TooLarge)?;
        plan.offsets[i] = offset;
        plan.total = plan.total.max(end);
        let at = placed.partition_point(|&p| plan.offsets[p] <= offset);
        placed.insert(at, i);
    }
    Ok(plan)
}

/// The lowest offset of the smallest gap that fits; none on overflow.
fn best_fit(buffer: &Buffer, buffers: &[Buffer], placed: &[usize], offsets: &[u64]) -> Option<u64> {
    let mut best: Option<(u64, u64)> = None; // gap, offset
    let mut free = 0; // the end of the live buffers passed so far
    for &p in placed.iter().filter(|&&p| buffers[p].overlaps(buffer)) {
        let start = free_at(free, buffer.alignment)?;
        let gap = offsets[p].saturating_sub(start);
        if gap >= buffer.size && best.is_none_or(|(smallest, _)| gap < smallest) {
            best = Some((gap, start));
        }
        free = free.max(offsets[p] + buffers[p].size);
    }
    match best {
        Some((_, offset)) => Some(offset),
        None => free_at(free, buffer.alignment),
    }
}

fn free_at(offset: u64, alignment: u64) -> Option<u64> {
    offset.checked_next_multiple_of(alignment)
}

/// The most bytes that are alive at one step: no plan can need less.
pub fn peak(buffers: &[Buffer]) -> u64 {
    let mut events: Vec<(usize, bool, u64)> = vec![];
    for buffer in buffers {
        events.push((buffer.first_use, true, buffer.size));
        events.push((buffer.last_use.saturating_add(1), false, buffer.size));
    }
    events.sort(); // at one step what ends goes before what starts
    let (mut live, mut most) = (0u64, 0);
    for (_, starts, size) in events {
        live = if starts { live.saturating_add(size) } else { live.saturating_sub(size) };
        most = most.max(live);
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(buffers: &[Buffer]) -> Plan {
        let plan = plan(buffers).unwrap();
        assert!(plan.total >= peak(buffers), "{buffers:?}");
        for (i, a) in buffers.iter().enumerate() {
            assert_eq!(plan.offsets[i] % a.alignment, 0);
            assert!(plan.offsets[i] + a.size <= plan.total || a.size == 0);
            for (j, b) in buffers.iter().enumerate().skip(i + 1) {
                let apart = plan.offsets[i] + a.size <= plan.offsets[j]
                    || plan.offsets[j] + b.size <= plan.offsets[i];
                assert!(apart || !a.overlaps(b) || a.size == 0 || b.size == 0, "{a:?} and {b:?}");
            }
        }
        plan
    }

    #[test]
    fn a_chain_needs_two_buffers() {
        let chain: Vec<Buffer> = (0..10).map(|i| Buffer::new(1024, i, i + 1)).collect();
        assert_eq!(check(&chain).total, 2048);
    }

    #[test]
    fn the_smallest_gap_that_fits_is_taken() {
        // The buffer of step 0 leaves gaps of 128 and 64 bytes at step 1.
        let buffers =
            [Buffer::new(512, 0, 1), Buffer::new(128, 0, 0), Buffer::new(256, 0, 1), Buffer::new(64, 1, 1)];
        assert_eq!(check(&buffers).total, 512 + 128 + 256);
    }

    #[test]
    fn random_buffers_never_overlap_while_alive() {
        let mut random = crate::random::Random::new(7);
        for round in 0..200 {
            let mut below = |n: u64| random.next_u64() % n;
            let buffers: Vec<Buffer> = (0..below(60))
                .map(|_| {
                    let first = below(40) as usize;
                    Buffer {
                        alignment: 1 << below(9),
                        ..Buffer::new(below(5000), first, first + below(12) as usize)
                    }
                })
                .collect();
            check(&buffers);
            if round == 0 {
                check(&[]);
            }
        }
    }

    #[test]
    fn thousands_of_buffers_are_planned_at_once() {
        let mut random = crate::random::Random::new(1);
        let buffers: Vec<Buffer> = (0..3000)
            .map(|i| {
                Buffer::new(64 + random.next_u64() % 100_000, i, i + 1 + (random.next_u64() % 6) as usize)
            })
            .collect();
        let start = std::time::Instant::now();
        plan(&buffers).unwrap();
        assert!(start.elapsed().as_secs() < 5);
    }

    #[test]
    fn what_cannot_be_planned_is_refused() {
        let huge = Buffer::new(u64::MAX - 10, 0, 1);
        assert_eq!(plan(&[huge, huge]), Err(PlanError::TooLarge));
        assert_eq!(plan(&[Buffer { alignment: 3, ..Buffer::new(1, 0, 0) }]), Err(PlanError::Alignment(0)));
        assert_eq!(plan(&[Buffer::new(1, 0, 0), Buffer::new(1, 2, 1)]), Err(PlanError::Lifetime(1)));
    }
}
