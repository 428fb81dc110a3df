//! The kind of nests that go over the same rows: all stages of a row by the threads of a block, or of a warp.

use super::super::elements;
use super::{THREADS, bind_rows, lanes_of, rows_of_block, share_elements, share_reduction, threads};
use crate::auto_schedule::accesses::{LANE_BYTES, shape_of};
use crate::auto_schedule::gpu::launch::Launch;
use crate::auto_schedule::kind::{About, Config, Kernel, Kind, Knob, Match, Seconds, all};
use crate::auto_schedule::row_groups::{self, Rows, length};
use crate::auto_schedule::traffic;
use crate::auto_schedule::writer::Writer;
use crate::schedule::{AxisId, Schedule, StageId};
use fusion_dialects::loops::Scope;
use fusion_dialects::{OpExt, tensor_type};
use std::collections::BTreeSet;

/// So many elements take less than a launch, in whatever order they are read.
const MOST_OF_A_LAUNCH: u64 = 1 << 16;

/// The kind.
pub struct ByRows;

impl Kind for ByRows {
    fn about(&self) -> About {
        About {
            name: "rows",
            matches: "nests that go over the same rows: softmax, normalizations; a row that does not lie together where all are small",
            knobs: &[("threads", "threads of a row")],
            formula: "all stages x operations, by as many threads as share rows",
            keeps_order: false,
        }
    }

    fn matches(&self, tree: &Schedule, kernel: &Kernel) -> Vec<Box<dyn Match>> {
        let together = row_groups::find(tree, kernel.nests).into_iter();
        let is_small = |rows: &Rows| elements_of(tree, rows) <= MOST_OF_A_LAUNCH;
        let apart = row_groups::apart(tree, kernel.nests).into_iter().filter(is_small);
        let found = |(rows, is_apart): (Rows, bool)| {
            let kept = kept(tree, &rows);
            (kept <= kernel.target.gpu.shared_bytes / 2).then_some(Group { rows, kept, is_apart })
        };
        let both = together.map(|rows| (rows, false)).chain(apart.map(|rows| (rows, true)));
        all(both.filter_map(found))
    }
}

/// Elements of all rows, those of the longest stage.
fn elements_of(tree: &Schedule, rows: &Rows) -> u64 {
    let longest = rows.members.iter().map(|(stage, fixed)| length(tree, *stage, fixed)).max().unwrap_or(1);
    rows.count(tree).saturating_mul(longest)
}

/// Bytes of a row that threads share.
fn kept(tree: &Schedule, rows: &Rows) -> u64 {
    let elements = rows.members.iter().filter(|(stage, _)| !tree.stages[*stage].is_reduction());
    elements.map(|(stage, fixed)| row_bytes(tree, *stage, fixed)).sum()
}

struct Group {
    rows: Rows,
    /// Bytes of a row that threads share.
    kept: u64,
    /// Whether elements of a row lie apart.
    is_apart: bool,
}

impl Match for Group {
    fn nests(&self) -> Vec<StageId> {
        self.rows.stages()
    }

    fn space(&self, _tree: &Schedule, kernel: &Kernel) -> Vec<Knob> {
        vec![Knob { name: "threads", values: elements::threads(kernel.target) }]
    }

    fn estimate(&self, tree: &Schedule, kernel: &Kernel, config: &[i64]) -> Option<Seconds> {
        let threads = config.first().map(|n| (*n).max(1) as u64)?;
        let (length, lanes) = self.length_and_lanes(tree);
        let of_block = self.of_block(threads);
        let blocks = self.rows.count(tree).div_ceil(of_block);
        let busy = threads.min(length.div_ceil(lanes)) * of_block;
        let launch = Launch::of(tree, kernel, &self.nests(), (blocks, busy)).in_lanes(lanes);
        let launch = launch.in_steps((length * self.all().len() as u64) as f64 / threads as f64);
        let bytes = traffic::element_bytes(tree, self.rows.host) as f64;
        let launch = if self.is_apart { launch.apart(bytes, kernel.target) } else { launch };
        Some(launch.seconds(kernel.target))
    }

    fn best(&self, tree: &Schedule, kernel: &Kernel) -> Option<(Config, Seconds)> {
        let threads = threads(self.length_and_lanes(tree), self.kept == 0, kernel.target);
        let config = vec![threads as i64];
        self.estimated(tree, kernel, config)
    }

    fn apply(&self, writer: &mut Writer, kernel: &Kernel, config: &[i64]) -> Result<(), String> {
        let chosen = || threads(self.length_and_lanes(&writer.tree), self.kept == 0, kernel.target);
        let threads = config.first().map_or_else(chosen, |n| (*n).max(1) as u64);
        self.write(writer, threads)
    }
}

impl Group {
    /// All stages, each with its axes that are shared.
    fn all(&self) -> Vec<(StageId, BTreeSet<usize>)> {
        let stages = self.rows.members.iter().map(|(s, fixed)| (*s, fixed.clone()));
        stages.chain([(self.rows.host, self.rows.shared.clone())]).collect()
    }

    /// Elements of the longest stage, and how many of some are read at once.
    fn length_and_lanes(&self, tree: &Schedule) -> (u64, u64) {
        let all = self.all();
        let length = all.iter().map(|(s, fixed)| length(tree, *s, fixed)).max().unwrap_or(1);
        let lanes = all.iter().map(|(s, fixed)| lanes_of(tree, *s, fixed)).max().unwrap_or(1);
        (length, lanes)
    }

    /// Rows of a block: several where a warp does for each.
    fn of_block(&self, threads: u64) -> u64 {
        rows_of_block(if self.kept == 0 { threads } else { THREADS })
    }

    fn write(&self, writer: &mut Writer, threads: u64) -> Result<(), String> {
        let rows = &self.rows;
        let leaves = writer.tree.stages[rows.host].leaves.clone();
        let (outer, inner): (Vec<AxisId>, Vec<AxisId>) = leaves.iter().partition(|a| rows.shared.contains(a));
        let order = [outer.as_slice(), &inner].concat();
        if order != leaves {
            writer.reorder(rows.host, &order)?;
        }
        let at = bind_rows(writer, rows.host, &outer, self.of_block(threads))?;
        for (member, _) in rows.members.iter().rev() {
            writer.compute_at(*member, rows.host, at)?;
        }
        for (stage, fixed) in &self.all() {
            let reduction = writer.tree.stages[*stage].is_reduction();
            // A member of several elements a row is for all threads.
            if *stage != rows.host && row_elements(&writer.tree, *stage, fixed) > 1 {
                writer.set_scope(*stage, Scope::Shared)?;
            }
            if reduction {
                share_reduction(writer, *stage, threads)?;
            } else {
                share_elements(writer, *stage, fixed, threads)?;
            }
        }
        Ok(())
    }
}

fn row_elements(tree: &Schedule, stage: StageId, fixed: &BTreeSet<usize>) -> u64 {
    let shape = shape_of(tree, stage);
    (0..shape.len()).filter(|a| !fixed.contains(a)).map(|a| shape[a]).product()
}

fn row_bytes(tree: &Schedule, stage: StageId, fixed: &BTreeSet<usize>) -> u64 {
    let size = |t| tensor_type(t).map_or(LANE_BYTES, |t| t.dtype.size() as u64);
    let results = tree.stages[stage].op.result_values().into_iter().map(size).sum::<u64>();
    row_elements(tree, stage, fixed).saturating_mul(results)
}
