//! The loops of a product: blocks, warps and lanes of the stage that goes on with the sums, and the loops of the sums.

use super::super::contraction::Contraction;
use super::Tile;
use crate::auto_schedule::gpu::grid;
use crate::auto_schedule::writer::Writer;
use crate::intrinsics::Facts;
use crate::layout::{Digit, Layout};
use crate::schedule::{AxisId, Schedule, StageId};
use fusion_dialects::loops::LoopKind;

/// Rows of tiles whose blocks are numbered one after another, where there are more than twice as many columns of tiles.
const NEAR: u64 = 8;

/// Splits the loop over an instruction's rows or columns into the axes it has for them.
fn cut(
    writer: &mut Writer,
    stage: StageId,
    loop_: AxisId,
    facts: &Facts,
    axes: &[usize],
    made: &mut [AxisId],
) -> Result<(), String> {
    let mut rest = loop_;
    for (i, &axis) in axes.iter().enumerate() {
        if i + 1 == axes.len() {
            made[axis] = rest;
        } else {
            (made[axis], rest) = writer.split(stage, rest, facts.unit(axis))?;
        }
    }
    Ok(())
}

/// Blocks, warps and lanes of the stage that goes on with the sums; gives the loop inside of which they are computed.
pub fn arrange(
    writer: &mut Writer,
    host: StageId,
    facts: &Facts,
    [row, column]: [AxisId; 2],
    tile: Tile,
) -> Result<AxisId, String> {
    let leaves = writer.tree.stages[host].leaves.clone();
    let others: Vec<AxisId> = leaves.into_iter().filter(|a| *a != row && *a != column).collect();
    let (mut exact, mut blocks, mut inner) = (true, Vec::new(), Vec::new());
    for (axis, size, is_column) in [(row, tile.rows, false), (column, tile.columns, true)] {
        let whole = writer.tree.stages[host].axes[axis].extent.is_multiple_of(size);
        exact &= whole || !is_column;
        let (block, inside) = match whole {
            true => writer.split(host, axis, size)?,
            false => writer.split_guarded(host, axis, size)?,
        };
        blocks.push(block);
        inner.push(inside);
    }
    let extent = |axis: AxisId| writer.tree.stages[host].axes[axis].extent;
    let near = extent(blocks[0]).is_multiple_of(NEAR) && extent(blocks[1]) > 2 * NEAR;
    let fits = |axes: &[AxisId]| grid::fits(&writer.tree, host, axes);
    let fits = fits(&others) && (near || fits(&blocks[..1]));
    let blocks = match near {
        _ if !fits => blocks,
        true => vec![near_each_other(writer, host, (&others, [blocks[0], blocks[1]]))?],
        false => {
            writer.bind(host, blocks[0], LoopKind::BlockY)?;
            writer.bind(host, blocks[1], LoopKind::BlockX)?;
            blocks
        }
    };
    let around = [others.as_slice(), &blocks].concat();
    let at = within_block(writer, host, facts, (&around, [inner[0], inner[1]]), (tile, exact))?;
    if !fits {
        grid::along_x(writer, host, &around)?;
    } else if let Some(other) = writer.fuse_all(host, &others)? {
        writer.bind(host, other, LoopKind::BlockZ)?;
    }
    Ok(at)
}

/// Has blocks that run at the same time read the same rows and columns, which the cache of all cores holds then: those of a few rows of
/// tiles come one column after another.
fn near_each_other(
    writer: &mut Writer,
    host: StageId,
    (others, [rows, columns]): (&[AxisId], [AxisId; 2]),
) -> Result<AxisId, String> {
    let (far, near) = writer.split(host, rows, NEAR)?;
    let first = [others, &[far, columns, near]].concat();
    let rest = writer.tree.stages[host].leaves.iter().copied().filter(|axis| !first.contains(axis));
    let order: Vec<AxisId> = first.iter().copied().chain(rest).collect();
    writer.reorder(host, &order)?;
    let outer = writer.fuse(host, far, columns)?;
    let all = writer.fuse(host, outer, near)?;
    writer.bind(host, all, LoopKind::BlockX)?;
    Ok(all)
}

/// Warps and lanes of a stage's rows and columns in a block, inside of other loops; gives the loop inside of which its sums are computed.
/// Where columns end with a tile, neighbours are stored together.
pub fn within_block(
    writer: &mut Writer,
    host: StageId,
    facts: &Facts,
    (around, rows_and_columns): (&[AxisId], [AxisId; 2]),
    (tile, exact): (Tile, bool),
) -> Result<AxisId, String> {
    let [rows, columns, _] = facts.extents();
    let mut made = vec![0; facts.axes.len()];
    let mut outer = Vec::new();
    let sizes = [(tile.rows, rows, &facts.rows), (tile.columns, columns, &facts.columns)];
    for (n, (size, unit, axes)) in sizes.into_iter().enumerate() {
        let (warp, inside) = writer.split(host, rows_and_columns[n], size / tile.warps[n])?;
        let (at, inside) = writer.split(host, inside, unit)?;
        cut(writer, host, inside, facts, axes, &mut made)?;
        outer.push([warp, at]);
    }
    let lanes: Vec<AxisId> = facts.lanes.iter().map(|a| made[*a]).collect();
    let elements: Vec<AxisId> = facts.elements().iter().map(|a| made[*a]).collect();
    let ([iw, it], [jw, jt]) = (outer[0], outer[1]);
    writer.reorder(host, &[around, &[iw, jw], &lanes, &[it, jt], &elements].concat())?;
    let mut lane = lanes[0];
    for next in &lanes[1..] {
        lane = writer.fuse(host, lane, *next)?;
    }
    let bound = [LoopKind::ThreadZ, LoopKind::ThreadY, LoopKind::ThreadX];
    for (axis, kind) in [iw, jw, lane].into_iter().zip(bound) {
        writer.bind(host, axis, kind)?;
    }
    writer.unroll(host, it)?;
    writer.unroll(host, jt)?;
    // Neighbours along the last axis lie together in the result, where it is one of the columns.
    let last = facts.elements().last().copied().filter(|a| exact && facts.columns.last() == Some(a));
    for axis in facts.elements() {
        if Some(axis) == last {
            writer.vectorize(host, made[axis])?;
        } else {
            writer.unroll(host, made[axis])?;
        }
    }
    Ok(jw)
}

/// The layout of the sums: whole tiles, in them the threads, in them their elements.
pub fn fragment(
    tree: &Schedule,
    sums: StageId,
    (found, facts): (&Contraction, &Facts),
) -> Result<Layout, String> {
    let rank = tree.stages[sums].rank();
    let [rows, columns, _] = facts.extents();
    let whole = |axis, unit| Digit { axis, unit, base: None };
    let others = (0..rank).filter(|a| *a != found.row && *a != found.column).map(|a| whole(a, 1));
    let inside = facts.lanes.iter().copied().chain(facts.elements()).filter(|a| facts.axes[*a] > 1);
    let inside = inside.map(|a| Digit {
        axis: if facts.rows.contains(&a) { found.row } else { found.column },
        unit: facts.unit(a),
        base: Some(facts.axes[a]),
    });
    let tiles = [whole(found.row, rows), whole(found.column, columns)];
    Layout::new(rank, others.chain(tiles).chain(inside).collect())
}

/// The loops of the sums; gives the one at which operands are copied, and the first that is the instruction.
pub fn sum_up(
    writer: &mut Writer,
    sums: StageId,
    (found, facts): (&Contraction, &Facts),
    (tile, step): (Tile, u64),
) -> Result<(AxisId, AxisId), String> {
    let s = &writer.tree.stages[sums];
    let (rank, own, depth) = (s.rank(), s.op_axes(), s.axes[found.depth].extent);
    let others: Vec<AxisId> = (0..rank).filter(|a| *a != found.row && *a != found.column).collect();
    let rest: Vec<AxisId> = (rank..own).filter(|k| *k != found.depth).collect();
    let [rows, columns, _] = facts.extents();
    let mut made = vec![0; facts.axes.len()];
    // One tile of each: what a warp computes of the sums are its own rows and columns.
    let (ro, own_rows) = writer.split(sums, found.row, tile.rows / tile.warps[0])?;
    let (co, own_columns) = writer.split(sums, found.column, tile.columns / tile.warps[1])?;
    let (it, inside) = writer.split(sums, own_rows, rows)?;
    cut(writer, sums, inside, facts, &facts.rows, &mut made)?;
    let (jt, inside) = writer.split(sums, own_columns, columns)?;
    cut(writer, sums, inside, facts, &facts.columns, &mut made)?;
    let (ko, ki) = match depth.is_multiple_of(step) {
        true => writer.split(sums, found.depth, step)?,
        false => writer.split_padded(sums, found.depth, step)?,
    };
    let (ks, kk) = writer.split(sums, ki, facts.depth)?;
    let order = [others.as_slice(), &[ro, co, ko], &rest, &[ks, it, jt], &made, &[kk]].concat();
    writer.reorder(sums, &order)?;
    writer.unroll(sums, ks)?;
    writer.unroll(sums, it)?;
    writer.unroll(sums, jt)?;
    Ok((rest.last().copied().unwrap_or(ko), made[0]))
}
