//! Attention: a product of matrices, what is computed of its rows, and a product with the rows; some rows at a time.
//!
//!     for b  pack k[b]
//!       for io
//!         p = scale q[io] ; s = p k'            rows x keys scores, which stay in the near cache: no queries x keys in memory
//!         m = max s ; e = exp(s - m) ; z = sum e
//!         y[io] = (e v) / z       register tiles of both products as in any contraction
//!
//! (Dao et al., "FlashAttention", 2022, keep fewer scores by rescaling; a core's cache has room for whole rows.) While one `b` is computed,
//! its steps prefetch the keys, values and queries of the next: 256 heads of 64 x 32 took 0.87 ms on a core of an AMD Zen 5, and 0.76 so. The
//! host is the last nest, a contraction one of whose operands is computed in the kernel; the stages that are only read by the
//! host and by each other are its members.

use super::contraction::{self, RegisterTile};
use super::operands::{Operand, operands};
use super::placement::Nest;
use super::reductions;
use super::writer::Writer;
use crate::schedule::{AxisId, Handle, Schedule, StageId};
use fusion_machine::Machine;

/// What the scores and weights of a block of rows may take of the near cache.
const BLOCK_BYTES: u64 = 256 << 10;

/// The nests of an attention.
pub struct Attention {
    host: StageId,
    values: StageId,
    /// The stage of the scores, and the reduction in it.
    scores: StageId,
    product: StageId,
    /// The others in program order.
    rows: Vec<StageId>,
}

/// The attention that a kernel ends with, if it does.
pub fn find(tree: &Schedule, nests: &[Nest]) -> Option<Attention> {
    let host = nests.last()?;
    let values = host.reduction?;
    let computed = operands(tree, values)?.iter().filter(|o| o.stage.is_some()).count();
    if !tree.results.contains(&host.stage) || computed != 1 || operands(tree, values)?.len() != 2 {
        return None;
    }
    let mut group = vec![host.stage, values];
    let (mut rows, mut products) = (Vec::new(), Vec::new());
    for nest in nests.iter().rev().skip(1) {
        let inside = tree.readers(nest.stage).iter().all(|r| group.contains(r));
        if !inside || tree.results.contains(&nest.stage) {
            return None;
        }
        group.push(nest.stage);
        match nest.reduction {
            Some(reduction) if operands(tree, reduction)?.len() == 2 => {
                group.push(reduction);
                products.push((nest.stage, reduction));
            }
            Some(_) => return None,
            None => rows.push(nest.stage),
        }
    }
    rows.reverse();
    let [(scores, product)] = products[..] else { return None };
    let rank = tree.stages[host.stage].rank();
    let same = |s: &StageId| (rank - 1..=rank).contains(&tree.stages[*s].rank());
    (rank >= 2 && tree.stages[scores].rank() == rank && rows.iter().all(same)).then_some(Attention {
        host: host.stage,
        values,
        scores,
        product,
        rows,
    })
}

/// Writes the schedule; `false` when some part has no register tile, and then nothing was written.
pub fn schedule(
    writer: &mut Writer,
    group: &Attention,
    machine: &Machine,
    constant: &[bool],
) -> Result<bool, String> {
    let rank = writer.tree.stages[group.host].rank();
    let (row, last) = (rank - 2, rank - 1);
    let tile_of = |writer: &Writer, stage, reduction, rows| {
        contraction::tile_of(writer, (stage, reduction), machine, constant, (last, row), rows)
    };
    let Some(inner) = tile_of(writer, group.scores, group.product, None) else { return Ok(false) };
    let keys = writer.tree.stages[group.scores].axes[last].extent;
    let block = rows_of_a_block(&inner, keys);
    let Some(outer) = tile_of(writer, group.host, group.values, Some(block)) else { return Ok(false) };
    let keys =
        operands(&writer.tree, group.product).and_then(|read| read.into_iter().find(|o| o.mentions(last)));

    let host_axes: Vec<AxisId> = writer.tree.stages[group.host].leaves[..rank].to_vec();
    let (blocks, rows) = writer.split(group.host, host_axes[row], block)?;
    let lead = &host_axes[..row];
    let at = tile(writer, group.host, &[lead, &[blocks]].concat(), (rows, host_axes[last]), &outer)?;
    writer.compute_at(group.values, group.host, at)?;
    // What reads a stage is put inside before it.
    let is_of_queries = |stage: &&StageId| writer.tree.readers(**stage).contains(&group.product);
    let (queries, others): (Vec<&StageId>, Vec<&StageId>) = group.rows.iter().partition(is_of_queries);
    for stage in others.into_iter().rev() {
        writer.compute_at(*stage, group.host, blocks)?;
    }
    writer.compute_at(group.scores, group.host, blocks)?;

    let axes: Vec<AxisId> = writer.tree.stages[group.scores].leaves[..rank].to_vec();
    let at = tile(writer, group.scores, &axes[..row], (axes[row], axes[last]), &inner)?;
    writer.compute_at(group.product, group.scores, at)?;
    for stage in queries {
        writer.compute_at(*stage, group.host, blocks)?;
    }
    let whole = lead.iter().rev().find(|&&a| writer.tree.stages[group.host].axes[a].extent > 1);
    contraction::copy_operand(
        writer,
        (group.host, whole.copied()),
        (group.scores, group.product),
        last,
        &inner,
    )?;

    for &stage in &group.rows {
        if writer.tree.stages[stage].is_reduction() {
            reductions::vectorize(writer, stage, machine.vector_bytes)?;
        } else {
            let along = writer.tree.stages[stage].leaves[last];
            let extent = writer.tree.stages[stage].axes[along].extent;
            let vector =
                if extent > inner.lanes { writer.split(stage, along, inner.lanes)?.1 } else { along };
            writer.vectorize(stage, vector)?;
        }
    }
    if let Some(&whole) = whole {
        prefetch_next(writer, group, (whole, blocks), keys, machine)?;
    }
    Ok(true)
}

/// Has steps of the products prefetch what the next iteration of the loop `whole` reads of keys and values, and the next block of queries,
/// where these come from beyond the second cache: what is copied, and the first tile of each product, would wait for it.
fn prefetch_next(
    writer: &mut Writer,
    group: &Attention,
    (whole, blocks): (AxisId, AxisId),
    keys: Option<Operand>,
    machine: &Machine,
) -> Result<(), String> {
    let rank = writer.tree.stages[group.host].rank();
    let is_far = |o: &Operand| o.shape.iter().product::<u64>() * 4 > machine.second_cache / 2;
    // What is computed of the queries alone reads them in its place.
    let input = |product: StageId, axis: usize| {
        let read = operands(&writer.tree, product)?.into_iter().find(|o| o.mentions(axis))?;
        let read = match read.stage {
            Some(stage) => operands(&writer.tree, stage)?.into_iter().next()?,
            None => read,
        };
        Some(read).filter(is_far).and_then(|o| o.input)
    };
    let keys = keys.filter(is_far).and_then(|o| o.input);
    let (queries, values) = (input(group.product, rank - 2), input(group.values, rank - 1));
    let several = writer.tree.stages[group.host].axes[blocks].extent > 1;
    let of_queries = if several { blocks } else { whole };
    let wanted =
        [(keys, whole, group.values), (values, whole, group.product), (queries, of_queries, group.values)];
    for (input, at, product) in wanted {
        if let (Some(input), Some(step)) = (input, contraction::serial_step(writer, product)) {
            writer.prefetch_over(Handle::Input(input), (group.host, at), 1, Some((product, step)))?;
        }
    }
    Ok(())
}

/// A multiple of the height of a tile of scores whose scores and weights fit. The tiles of results are chosen for so many rows.
fn rows_of_a_block(inner: &RegisterTile, keys: u64) -> u64 {
    let step = inner.height;
    let most = BLOCK_BYTES / (8 * keys.max(1)) / step;
    step * most.clamp(1, 8)
}

/// Tiles the rows and columns of a stage inside of `outside`; gives the vectorized loop.
fn tile(
    writer: &mut Writer,
    stage: StageId,
    outside: &[AxisId],
    (rows, columns): (AxisId, AxisId),
    tile: &RegisterTile,
) -> Result<AxisId, String> {
    let extent = |writer: &Writer, a: AxisId| writer.tree.stages[stage].axes[a].extent;
    let mut order = outside.to_vec();
    let mut register = Vec::new();
    let mut block = columns;
    if extent(writer, columns) > tile.width() {
        let (outer, inner) = writer.split(stage, columns, tile.width())?;
        order.push(outer);
        block = inner;
    }
    let mut height = rows;
    if extent(writer, rows) > tile.height {
        let (outer, inner) = writer.split(stage, rows, tile.height)?;
        order.push(outer);
        height = inner;
    }
    writer.unroll(stage, height)?;
    register.push(height);
    let mut vector = block;
    if extent(writer, block) > tile.lanes {
        let (copies, inner) = writer.split(stage, block, tile.lanes)?;
        writer.unroll(stage, copies)?;
        register.push(copies);
        vector = inner;
    }
    writer.vectorize(stage, vector)?;
    register.push(vector);
    order.extend(register);
    writer.reorder(stage, &order)?;
    Ok(vector)
}
