//! How many threads read columns side by side, how many share each, and in how many parts a column is cut: those of the least time, where
//! cores read their blocks one after another, as fast as memory gives or what they have under way lets them.
//!
//! ```text
//!   time = max(all bytes / bandwidth of memory, waves * bytes of a block / rate) + waves * a begin      waves = blocks / cores, rounded up
//!   rate = min(what a core can get, bytes under way / latency)
//! ```
//!
//! The second line is Little's law ("A Proof for the Queuing Formula L = lambda W", 1961). A launch that adds up parts takes its own time.

use crate::auto_schedule::accesses::LANE_BYTES;
use crate::auto_schedule::gpu::launch::{LATENCY, OF_NEAR, UNDER_WAY};
use crate::auto_schedule::parts::MOST_PARTS;
use fusion_machine::Target;

/// Seconds that a warp's values take to be combined with another's.
const COMBINING: f64 = 2e-8;
/// Seconds between the begins of a core's blocks.
const BEGINNING: f64 = 1e-7;
/// Blocks that a core has at a time, at most.
const MOST_BLOCKS: u64 = 16;
/// Threads of a block, at most.
const MOST_THREADS: u64 = 512;
/// The share of a line that memory gives at least, two sectors of NVIDIA's four ("CUDA C++ Best Practices Guide", coalesced access).
const SECTORS: u64 = 2;

/// Columns that are to be combined.
#[derive(Clone, Debug)]
pub struct Work {
    /// Columns that lie together.
    pub columns: u64,
    /// Elements of each.
    pub rows: u64,
    /// Those along the axis that may be cut.
    pub axis: u64,
    /// How many times there are so many columns.
    pub others: u64,
    /// Columns that a thread reads at once.
    pub lanes: u64,
    /// Bytes of an element.
    pub size: u64,
}

/// How they are shared out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Threads side by side.
    pub along: u64,
    /// Threads that share a column.
    pub sharing: u64,
    /// Parts of a column, each in a block of its own.
    pub parts: u64,
}

impl Sizes {
    /// As the values of knobs.
    pub fn config(&self) -> Vec<i64> {
        [self.along, self.sharing, self.parts].map(|n| n as i64).to_vec()
    }

    /// Those of a config.
    pub fn of(config: &[i64]) -> Option<Sizes> {
        let &[along, sharing, parts] = config else { return None };
        let [along, sharing, parts] = [along, sharing, parts].map(|n| n.max(1) as u64);
        Some(Sizes { along, sharing, parts })
    }
}

impl Work {
    /// The sizes of the least time.
    pub fn sizes(&self, may_be_cut: bool, target: &Target) -> Sizes {
        let all = self.possible(may_be_cut, target).into_iter();
        let least = all.min_by(|a, b| self.time(a, target).total_cmp(&self.time(b, target)));
        least.unwrap_or(Sizes { along: self.vectors().min(target.gpu.warp), sharing: 1, parts: 1 })
    }

    /// The sizes of a config, where its threads fit into a block.
    pub fn fitting(&self, config: &[i64], target: &Target) -> Option<Sizes> {
        Sizes::of(config)
            .filter(|sizes| sizes.along * sizes.sharing <= MOST_THREADS.min(target.gpu.block_threads))
    }

    /// Columns that threads have, each as many as are read at once.
    fn vectors(&self) -> u64 {
        self.columns.div_ceil(self.lanes.max(1))
    }

    /// All sizes.
    pub fn possible(&self, may_be_cut: bool, target: &Target) -> Vec<Sizes> {
        let vectors = self.vectors();
        let most = MOST_THREADS.min(target.gpu.block_threads);
        let powers = || std::iter::successors(Some(most), |n| Some(n / 2).filter(|n| *n > 0));
        let along =
            powers().filter(|n| *n < vectors.next_power_of_two()).chain((vectors <= most).then_some(vectors));
        let most_parts = if may_be_cut { MOST_PARTS } else { 1 };
        let parts: Vec<u64> =
            (1..=most_parts.min(self.axis)).filter(|n| self.axis.is_multiple_of(*n)).collect();
        let parts = &parts;
        let all = along.flat_map(|along| {
            // Less than two warps leave a core idle, where there is more to do.
            let least = (2 * target.gpu.warp).min(vectors * self.rows / 2).min(most);
            let fits =
                move |n: &u64| (least..=most).contains(&(n * along)) && *n <= self.rows.next_power_of_two();
            let sharing = powers().filter(fits);
            sharing.flat_map(move |sharing| parts.iter().map(move |&parts| Sizes { along, sharing, parts }))
        });
        all.collect()
    }

    /// Seconds that all of it takes.
    pub fn time(&self, sizes: &Sizes, target: &Target) -> f64 {
        let Sizes { along, sharing, parts } = *sizes;
        let of_block = along * self.lanes;
        let tiles = self.columns.div_ceil(of_block) * self.others;
        let blocks = tiles * parts;
        let rows = self.rows.div_ceil(parts).next_multiple_of(sharing);
        // What is less than a sector of a row is read with the rest of it.
        let width = (of_block * self.size).max(target.line_bytes / SECTORS);
        let threads = (along * sharing).next_multiple_of(target.gpu.warp);
        let waves = blocks.div_ceil(target.cores.max(1));
        let together = waves.min(target.gpu.core_threads / threads.max(1)).clamp(1, MOST_BLOCKS);
        let all = self.columns * self.rows * self.others * self.size;
        let memory = if 2 * all <= target.l3.bytes { &target.l3 } else { &target.memory };
        let steps = (rows / sharing).clamp(1, UNDER_WAY);
        let under_way = (together * along * sharing * self.lanes * self.size * steps) as f64;
        let rate = (OF_NEAR * target.l1.bandwidth).min(under_way / LATENCY).max(1.0);
        let of_memory = (blocks * rows * width) as f64 / memory.bandwidth_all.max(1.0);
        let reading = of_memory.max((waves * rows * width) as f64 / rate);
        // Those of a warp combine what they have by shuffles, warps through memory.
        let rounds = sharing.ilog2() as f64 + (threads / target.gpu.warp.max(1)) as f64;
        let combining = if sharing > 1 { COMBINING * rounds * waves.div_ceil(together) as f64 } else { 0.0 };
        let written = 2.0 * LANE_BYTES as f64 * (self.columns * self.others * parts) as f64;
        let adding_up = target.kernel_call + LATENCY + written / target.l3.bandwidth_all.max(1.0);
        let beginning = BEGINNING * waves as f64;
        LATENCY + reading + beginning + combining + if parts > 1 { adding_up } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fusion_machine::Gpu;

    fn target() -> Target {
        let mut target = Target { cores: 132, kernel_call: 2.2e-6, line_bytes: 128, ..Target::default() };
        target.gpu = Gpu { warp: 32, block_threads: 1024, core_threads: 2048, ..target.gpu };
        (target.l3.bytes, target.l3.bandwidth, target.l3.bandwidth_all) = (52_428_800, 4.17e10, 5.5e12);
        (target.l1.bandwidth, target.memory.bandwidth_all) = (2.5e11, 4.8e12);
        target
    }

    fn sizes(columns: u64, rows: u64, lanes: u64) -> Sizes {
        Work { columns, rows, axis: rows, others: 1, lanes, size: 4 }.sizes(true, &target())
    }

    #[test]
    fn cores_get_work_each_where_that_takes_less_than_another_launch() {
        let blocks = |columns: u64, lanes: u64, s: &Sizes| columns.div_ceil(s.along * lanes) * s.parts;
        // As many columns as cores can take, a few of long ones, and a few short ones.
        let many = sizes(1 << 20, 64, 4);
        assert_eq!((many.parts, many.sharing <= 8), (1, true), "{many:?}");
        let long = sizes(128, 65_536, 4);
        assert!(long.parts > 1 && blocks(128, 4, &long) >= 64, "{long:?}");
        let short = sizes(64, 64, 4);
        assert!(short.parts == 1 && short.sharing > 1, "{short:?}");
    }

    #[test]
    fn few_columns_are_shared_by_many_threads() {
        let few = sizes(3, 100_003, 1);
        assert!(few.parts == 1 && few.sharing >= 128, "100003 is prime: {few:?}");
    }
}
