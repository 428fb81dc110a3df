//! Packs buffers with known lifetimes into one block of memory.
//!
//! Time runs along the program; a buffer is live from its first to its last moment, both included. Two buffers
//! that are live together must not overlap in memory:
//!
//! ```text
//!   offset ^   +-----------+
//!          |   |     c     |   +-----+
//!          |   +------+----+   |  d  |     peak: the largest sum of sizes at one moment,
//!          |   |  a   | +------+-----+           a lower bound of the total
//!          |   |      | |     b      |
//!          +---+------+-+------------+-> time
//! ```
//!
//! Greedy by size with best fit (Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference",
//! 2020): the largest buffers choose first, each takes the smallest gap that holds it between the buffers that
//! live with it. Where that misses the peak, other orders are tried and the smallest total wins. The buffers that
//! live with one are found in an index over time, so the work follows the number of pairs that live together.

use std::collections::BTreeSet;

/// Every offset is a multiple of this: a cache line, and enough for any vector.
pub const ALIGNMENT: u64 = 64;

/// A buffer to place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// Bytes.
    pub size: u64,
    /// The first moment it is live.
    pub first: usize,
    /// The last moment it is live; not before the first.
    pub last: usize,
}

impl Lifetime {
    /// True when both are live at some moment.
    pub fn meets(&self, other: &Lifetime) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

/// Where the buffers lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arena {
    /// The offset of each buffer, in the order they were given.
    pub offsets: Vec<u64>,
    /// Bytes of the whole; a multiple of [`ALIGNMENT`].
    pub total: u64,
    /// The largest sum of sizes, rounded up to [`ALIGNMENT`], at one moment.
    pub peak: u64,
}

/// Rounds up to [`ALIGNMENT`].
pub fn aligned(bytes: u64) -> u64 {
    bytes.next_multiple_of(ALIGNMENT)
}

/// Places the buffers. Sizes whose sum exceeds 64 bits are the caller's to refuse.
pub fn pack(buffers: &[Lifetime]) -> Arena {
    let peak = peak(buffers);
    let duration = |b: &Lifetime| b.last.saturating_sub(b.first);
    // Each order ends with the place in the list, so that equal programs get equal plans.
    type Key = fn(&Lifetime, usize) -> (std::cmp::Reverse<u64>, usize);
    let orders: [Key; 3] = [
        |b, _| (std::cmp::Reverse(b.size), b.first),
        |b, d| (std::cmp::Reverse(d as u64), b.first),
        |b, d| (std::cmp::Reverse(b.size.saturating_mul(d as u64 + 1)), b.first),
    ];
    let mut best: Option<(Vec<u64>, u64)> = None;
    for order in orders {
        let mut queue: Vec<usize> = (0..buffers.len()).filter(|&i| buffers[i].size > 0).collect();
        queue.sort_by_key(|&i| (order(&buffers[i], duration(&buffers[i])), i));
        let (offsets, total) = place(buffers, &queue);
        if best.as_ref().is_none_or(|(_, least)| total < *least) {
            best = Some((offsets, total));
        }
        if best.as_ref().is_some_and(|(_, least)| *least == peak) {
            break;
        }
    }
    let (offsets, total) = best.unwrap_or_default();
    Arena { offsets, total, peak }
}

fn place(buffers: &[Lifetime], queue: &[usize]) -> (Vec<u64>, u64) {
    let mut offsets = vec![0; buffers.len()];
    let mut placed = Index::new(buffers.iter().map(|b| b.last + 1).max().unwrap_or(0));
    let mut total = 0;
    let mut around: Vec<(u64, u64)> = Vec::new();
    for &i in queue {
        let size = aligned(buffers[i].size);
        around.clear();
        placed.for_each_meeting(&buffers[i], |j| {
            around.push((offsets[j], offsets[j] + aligned(buffers[j].size)));
        });
        around.sort_unstable();
        offsets[i] = best_gap(&around, size);
        total = total.max(offsets[i] + size);
        placed.insert(i, &buffers[i]);
    }
    (offsets, total)
}

/// The start of the smallest gap of at least `size` between ranges sorted by start; the end of all when there is none.
fn best_gap(around: &[(u64, u64)], size: u64) -> u64 {
    let mut end = 0;
    let mut best: Option<(u64, u64)> = None;
    for &(from, to) in around {
        if from >= end + size && best.is_none_or(|(width, _)| from - end < width) {
            best = Some((from - end, end));
        }
        end = end.max(to);
    }
    best.map_or(end, |(_, start)| start)
}

/// The largest sum of sizes at one moment.
fn peak(buffers: &[Lifetime]) -> u64 {
    // (time, is birth, size): at one time, what died the moment before goes first.
    let mut events: Vec<(usize, bool, u64)> = Vec::with_capacity(2 * buffers.len());
    for buffer in buffers {
        events.push((buffer.first, true, aligned(buffer.size)));
        events.push((buffer.last + 1, false, aligned(buffer.size)));
    }
    events.sort_unstable();
    let (mut live, mut peak) = (0u64, 0u64);
    for (_, birth, size) in events {
        live = if birth { live + size } else { live - size };
        peak = peak.max(live);
    }
    peak
}

/// Buffers by time: those that live with another one are those that begin while it is live, and those that are
/// live when it begins. The latter are on the path from a moment's leaf to the root of a segment tree.
struct Index {
    starts: BTreeSet<(usize, usize)>,
    tree: Vec<Vec<usize>>,
    leaves: usize,
}

impl Index {
    fn new(moments: usize) -> Self {
        let leaves = moments.max(1).next_power_of_two();
        Index { starts: BTreeSet::new(), tree: vec![Vec::new(); 2 * leaves], leaves }
    }

    fn insert(&mut self, id: usize, buffer: &Lifetime) {
        self.starts.insert((buffer.first, id));
        let (mut low, mut high) = (buffer.first + self.leaves, buffer.last + 1 + self.leaves);
        while low < high {
            if low % 2 == 1 {
                self.tree[low].push(id);
                low += 1;
            }
            if high % 2 == 1 {
                high -= 1;
                self.tree[high].push(id);
            }
            low /= 2;
            high /= 2;
        }
    }

    fn for_each_meeting(&self, buffer: &Lifetime, mut each: impl FnMut(usize)) {
        let mut node = buffer.first + self.leaves;
        while node > 0 {
            self.tree[node].iter().for_each(|&id| each(id));
            node /= 2;
        }
        for &(_, id) in self.starts.range((buffer.first + 1, 0)..(buffer.last + 1, 0)) {
            each(id);
        }
    }
}
