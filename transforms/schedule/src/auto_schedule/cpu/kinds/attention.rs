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

use crate::auto_schedule::accesses::LANE_BYTES;
use crate::auto_schedule::cpu::kinds::contraction::{self, RegisterTile};
use crate::auto_schedule::kind::{About, Config, Kernel, Kind, Knob, Match, Seconds, all};
use crate::auto_schedule::operands::{Operand, operands};
use crate::auto_schedule::placement::Nest;
use crate::auto_schedule::reductions;
use crate::auto_schedule::traffic;
use crate::auto_schedule::writer::Writer;
use crate::schedule::{AxisId, Handle, Schedule, StageId};
use fusion_machine::Machine;

/// What the scores and weights of a block of rows may take of the near cache.
const BLOCK_BYTES: u64 = 256 << 10;
/// Tiles of a block at most.
const TILES: u64 = 8;

/// The nests of an attention.
struct Attention {
    host: StageId,
    values: StageId,
    /// The stage of the scores, and the reduction in it.
    scores: StageId,
    product: StageId,
    /// The others in program order.
    rows: Vec<StageId>,
}

/// The attention that a kernel ends with, if it does.
fn find(tree: &Schedule, nests: &[Nest]) -> Option<Attention> {
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

/// The kind.
pub struct Attends;

impl Kind for Attends {
    fn about(&self) -> About {
        About {
            name: "attention",
            matches: "a product of matrices, what is computed of its rows, and a product with these rows",
            knobs: &[("rows", "rows of scores that are computed at a time")],
            formula: "tiles of both products, and vectors of what is between x operations",
            keeps_order: false,
        }
    }

    fn matches(&self, tree: &Schedule, kernel: &Kernel) -> Vec<Box<dyn Match>> {
        let found = find(tree, kernel.nests).and_then(|group| Blocks::of(tree, group, kernel));
        all(found)
    }
}

/// An attention, and the tile of its scores.
struct Blocks {
    group: Attention,
    inner: RegisterTile,
}

impl Blocks {
    fn of(tree: &Schedule, group: Attention, kernel: &Kernel) -> Option<Blocks> {
        let inner = tile_of(tree, kernel, &group, (group.scores, group.product), None)?;
        let blocks = Blocks { group, inner };
        blocks.outer(tree, kernel, blocks.rows(tree)).map(|_| ())?;
        Some(blocks)
    }

    /// The tile of the results, of so many rows at a time.
    fn outer(&self, tree: &Schedule, kernel: &Kernel, rows: u64) -> Option<RegisterTile> {
        tile_of(tree, kernel, &self.group, (self.group.host, self.group.values), Some(rows))
    }

    /// Rows that are computed at a time.
    fn rows(&self, tree: &Schedule) -> u64 {
        let scores = &tree.stages[self.group.scores];
        rows_of_a_block(&self.inner, scores.axes[scores.rank() - 1].extent)
    }
}

fn tile_of(
    tree: &Schedule,
    kernel: &Kernel,
    group: &Attention,
    product: (StageId, StageId),
    rows: Option<u64>,
) -> Option<RegisterTile> {
    let rank = tree.stages[group.host].rank();
    contraction::tile_of(tree, product, kernel.machine, kernel.constant, (rank - 1, rank - 2), rows)
}

impl Match for Blocks {
    fn nests(&self) -> Vec<StageId> {
        self.group.rows.iter().copied().chain([self.group.scores, self.group.host]).collect()
    }

    fn space(&self, tree: &Schedule, _kernel: &Kernel) -> Vec<Knob> {
        let host = &tree.stages[self.group.host];
        let tiles = host.axes[host.rank() - 2].extent.div_ceil(self.inner.height).min(TILES);
        vec![Knob { name: "rows", values: (1..=tiles).map(|n| (n * self.inner.height) as i64).collect() }]
    }

    fn estimate(&self, tree: &Schedule, kernel: &Kernel, config: &[i64]) -> Option<Seconds> {
        let rows = u64::try_from(*config.first()?).ok().filter(|rows| *rows > 0)?;
        let outer = self.outer(tree, kernel, rows)?;
        let host = &tree.stages[self.group.host];
        let blocks = host.axes[host.rank() - 2].extent.div_ceil(rows) as f64;
        let between: f64 =
            self.group.rows.iter().map(|&stage| traffic::in_vectors(tree, stage, kernel)).sum();
        let cycles = self.inner.cycles + blocks * outer.cycles + between;
        Some(traffic::seconds(tree, kernel, &self.nests(), cycles))
    }

    fn best(&self, tree: &Schedule, kernel: &Kernel) -> Option<(Config, Seconds)> {
        let config = vec![self.rows(tree) as i64];
        self.estimated(tree, kernel, config)
    }

    fn apply(&self, writer: &mut Writer, kernel: &Kernel, config: &[i64]) -> Result<(), String> {
        let rows = config.first().map_or(1, |rows| *rows as u64);
        let outer = self.outer(&writer.tree, kernel, rows).ok_or("has no tile for so many rows")?;
        schedule(writer, &self.group, (&self.inner, &outer), rows, kernel.machine)
    }
}

/// Writes the schedule.
fn schedule(
    writer: &mut Writer,
    group: &Attention,
    (inner, outer): (&RegisterTile, &RegisterTile),
    block: u64,
    machine: &Machine,
) -> Result<(), String> {
    let rank = writer.tree.stages[group.host].rank();
    let (row, last) = (rank - 2, rank - 1);
    let keys =
        operands(&writer.tree, group.product).and_then(|read| read.into_iter().find(|o| o.mentions(last)));

    let host_axes: Vec<AxisId> = writer.tree.stages[group.host].leaves[..rank].to_vec();
    let (blocks, rows) = writer.split(group.host, host_axes[row], block)?;
    let lead = &host_axes[..row];
    let at = tile(writer, group.host, &[lead, &[blocks]].concat(), (rows, host_axes[last]), outer)?;
    writer.compute_at(group.values, group.host, at)?;
    // What reads a stage is put inside before it.
    let is_of_queries = |stage: &&StageId| writer.tree.readers(**stage).contains(&group.product);
    let (queries, others): (Vec<&StageId>, Vec<&StageId>) = group.rows.iter().partition(is_of_queries);
    for stage in others.into_iter().rev() {
        writer.compute_at(*stage, group.host, blocks)?;
    }
    writer.compute_at(group.scores, group.host, blocks)?;

    let axes: Vec<AxisId> = writer.tree.stages[group.scores].leaves[..rank].to_vec();
    let at = tile(writer, group.scores, &axes[..row], (axes[row], axes[last]), inner)?;
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
        inner,
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
    Ok(())
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
    let is_far = |o: &Operand| o.shape.iter().product::<u64>() * LANE_BYTES > machine.second_cache / 2;
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
        if let (Some(input), Some(step)) = (input, contraction::serial_step(&writer.tree, product)) {
            writer.prefetch_over(Handle::Input(input), (group.host, at), 1, Some((product, step)))?;
        }
    }
    Ok(())
}

/// A multiple of the height of a tile of scores whose scores and weights fit. The tiles of results are chosen for so many rows.
fn rows_of_a_block(inner: &RegisterTile, keys: u64) -> u64 {
    let step = inner.height;
    let most = BLOCK_BYTES / (2 * LANE_BYTES * keys.max(1)) / step;
    step * most.clamp(1, TILES)
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
