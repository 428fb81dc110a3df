//! Several reductions of the same columns and what goes on with them, as one launch: softmax along the first axis.
//!
//! ```text
//!   for j  for k  m[j] max= x[k, j]                     for j / 32 (block_x)  for 8 (thread_x)
//!   for j  for k  s[j] += exp(x[k, j] - m[j])     =>      m = of 4 columns, combined by 32 threads (thread_y)
//!   for k  for j  y[k, j] = exp(..) / s[j]                s = the same
//!                                                         for k / 32  for 32 (thread_y)  for 4 (vectorized)  y[k, j] = exp(..) / s
//! ```
//!
//! What is an element of a column is computed where it is read, as `own_rows` does. Where columns are few and long, a launch for each stage
//! lets more cores read: the one that takes less time by `sizes` is taken.

use super::super::own_rows::{self, Kinds};
use super::sizes::{Sizes, Work};
use super::{bytes, is_columns, lanes_of, share, together};
use crate::auto_schedule::gpu::grid;
use crate::auto_schedule::kind::{About, Config, Kernel, Kind, Knob, Match, Seconds, all};
use crate::auto_schedule::placement::Nest;
use crate::auto_schedule::reductions::reads_once;
use crate::auto_schedule::row_groups::{self, Rows, length};
use crate::auto_schedule::writer::Writer;
use crate::schedule::{AxisId, Schedule, StageId};
use fusion_dialects::loops::LoopKind;
use fusion_machine::Target;
use std::ops::Range;

/// What is found of a group.
struct Group {
    /// Of each reduction and the host, which comes last, the axes along which columns lie together.
    along: Vec<(StageId, Range<usize>)>,
    lanes: u64,
    work: Work,
}

/// The kind.
pub struct ColumnsTogether;

impl Kind for ColumnsTogether {
    fn about(&self) -> About {
        About {
            name: "columns-together",
            matches: "reductions of the same columns and what goes on with them: softmax along the first axis",
            knobs: super::SIZES,
            formula: "that of `columns` for each reduction and for what is stored",
            keeps_order: false,
        }
    }

    fn matches(&self, tree: &Schedule, kernel: &Kernel) -> Vec<Box<dyn Match>> {
        let found = |rows: Rows| {
            // A reduction with what goes on with its results is of kind `columns`.
            let is_nest = |nest: &Nest| nest.stage == rows.host && nest.reduction.is_some();
            if rows.members.len() == 1 && kernel.nests.iter().any(is_nest) {
                return None;
            }
            let kinds = own_rows::kinds(tree, &rows)?;
            let group = recognize(tree, &rows, &kinds)?;
            Some(Together { rows, kinds, group })
        };
        all(row_groups::apart(tree, kernel.nests).into_iter().filter_map(found))
    }
}

struct Together {
    rows: Rows,
    kinds: Kinds,
    group: Group,
}

impl Match for Together {
    fn nests(&self) -> Vec<StageId> {
        self.rows.stages()
    }

    fn space(&self, _tree: &Schedule, kernel: &Kernel) -> Vec<Knob> {
        super::knobs(&self.group.work, false, kernel.target)
    }

    fn estimate(&self, _tree: &Schedule, kernel: &Kernel, config: &[i64]) -> Option<Seconds> {
        let sizes = self.group.work.fitting(config, kernel.target)?;
        Some(self.seconds(&sizes, kernel.target))
    }

    fn best(&self, _tree: &Schedule, kernel: &Kernel) -> Option<(Config, Seconds)> {
        let sizes = self.group.work.sizes(false, kernel.target);
        Some((sizes.config(), self.seconds(&sizes, kernel.target)))
    }

    fn apply(&self, writer: &mut Writer, _kernel: &Kernel, config: &[i64]) -> Result<(), String> {
        for stage in self.kinds.elements.iter().rev() {
            writer.inline(*stage)?;
        }
        let sizes = Sizes::of(config).ok_or("has columns without sizes")?;
        write(writer, &self.rows, &self.group, &sizes)
    }
}

impl Together {
    fn seconds(&self, sizes: &Sizes, target: &Target) -> Seconds {
        let times = self.kinds.reductions.len() as f64 + 1.0;
        target.kernel_call + times * self.group.work.time(sizes, target)
    }
}

fn recognize(tree: &Schedule, rows: &Rows, kinds: &Kinds) -> Option<Group> {
    if tree.stages[rows.host].is_reduction()
        || !kinds.reductions.iter().all(|s| is_columns(tree, *s) && reads_once(tree, *s))
    {
        return None;
    }
    let reductions = rows.members.iter().filter(|(stage, _)| kinds.reductions.contains(stage));
    let stages: Vec<_> =
        reductions.map(|(s, fixed)| (*s, fixed)).chain([(rows.host, &rows.shared)]).collect();
    let found: Option<Vec<(StageId, Range<usize>)>> =
        stages.into_iter().map(|(s, fixed)| Some((s, together(tree, s, fixed)?))).collect();
    let found = found?;
    let extent = |stage: StageId, axis: usize| tree.stages[stage].axes[axis].extent;
    let host = found.last()?.1.clone();
    // The axes that all have, from the last one on.
    let is_common = |n: &usize| {
        let same = |(s, along): &(StageId, Range<usize>)| {
            along.len() > *n && extent(*s, along.end - 1 - n) == extent(rows.host, host.end - 1 - n)
        };
        found.iter().all(same)
    };
    let count = (0..host.len()).take_while(is_common).count();
    if count == 0 {
        return None;
    }
    let along: Vec<_> = found.into_iter().map(|(s, along)| (s, along.end - count..along.end)).collect();
    let columns = (host.end - count..host.end).map(|a| extent(rows.host, a)).product();
    let lanes = along.iter().map(|(stage, along)| lanes_of(tree, *stage, along)).min()?;
    let all: u64 = rows.shared.iter().map(|a| extent(rows.host, *a)).product();
    let rows_of_column = rows.members.iter().map(|(s, fixed)| length(tree, *s, fixed)).max()?;
    let size = kinds.reductions.iter().map(|s| bytes(tree, *s)).max()?;
    let work =
        Work { columns, rows: rows_of_column, axis: rows_of_column, others: all / columns, lanes, size };
    Some(Group { along, lanes, work })
}

fn write(writer: &mut Writer, rows: &Rows, group: &Group, sizes: &Sizes) -> Result<(), String> {
    let host = rows.host;
    let Some((_, along)) = group.along.last() else { return Ok(()) };
    let leaves = writer.tree.stages[host].leaves.clone();
    let of_columns: Vec<AxisId> = along.clone().collect();
    let others: Vec<AxisId> =
        leaves.iter().copied().filter(|a| rows.shared.contains(a) && !along.contains(a)).collect();
    let inner: Vec<AxisId> =
        leaves.iter().copied().filter(|a| !others.contains(a) && !along.contains(a)).collect();
    let order = [others.as_slice(), &of_columns, &inner].concat();
    if order != leaves {
        writer.reorder(host, &order)?;
    }
    let Some(column) = writer.fuse_all(host, &of_columns)? else { return Ok(()) };
    let (block, mut thread) = writer.split_guarded(host, column, sizes.along * group.lanes)?;
    let mut lane = None;
    if group.lanes > 1 {
        let (outer, inner) = writer.split(host, thread, group.lanes)?;
        (thread, lane) = (outer, Some(inner));
    }
    let (mut own, mut below) = (Vec::new(), None);
    if let Some(row) = writer.fuse_all(host, &inner)? {
        own.push(row);
        if sizes.sharing > 1 {
            let (outer, inner) = writer.split_guarded(host, row, sizes.sharing)?;
            (own, below) = (vec![outer, inner], Some(inner));
        }
    }
    let order = [others.as_slice(), &[block, thread], &own].concat();
    let order: Vec<AxisId> = order.into_iter().chain(lane).collect();
    if order != writer.tree.stages[host].leaves {
        writer.reorder(host, &order)?;
    }
    if let Some(lane) = lane {
        writer.vectorize(host, lane)?;
    }
    grid::along_x(writer, host, &[others.as_slice(), &[block]].concat())?;
    writer.bind(host, thread, LoopKind::ThreadX)?;
    if let Some(below) = below {
        writer.bind(host, below, LoopKind::ThreadY)?;
    }
    let reductions = &group.along[..group.along.len() - 1];
    for (stage, _) in reductions.iter().rev() {
        writer.compute_at(*stage, host, thread)?;
    }
    for (stage, along) in reductions {
        share(writer, *stage, (along.end - 1, group.lanes), sizes.sharing)?;
    }
    Ok(())
}
