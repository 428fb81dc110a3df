//! The inner-product trick: tiles that keep adders and multipliers busy at the same time.
//!
//!     s = max, a = x / s, o += a a             what the products read of the one side, a block at a time that the second cache holds
//!     p[i, j] += one of four, by t       =>    acc[r] += a x, acc[r] += (a + u) (a + u), ..                  t written out inside
//!     y[i, j] = f(p, o, u)                     where the sums are still in registers
//!
//! `tile` has their extents, `rows` the order for matrices, `places` those for images, `attention` that for both of its products; `prefetch` fetches
//! weights before they are multiplied.

mod attention;
mod places;
mod prefetch;
mod rows;
mod tile;

pub use tile::Tile;

use super::operands::{Operand, operands};
use super::placement::Nest;
use super::writer::Writer;
use crate::schedule::{AxisId, Schedule, StageId};
use fusion_machine::Machine;

/// The share of the second cache that a block has.
const SHARE: u64 = 4;
const BYTES: u64 = 4;

/// The stages of such a kernel.
struct InnerProductTrick {
    /// What the numbers of the one side are divided by.
    power: StageId,
    /// They so divided.
    left: StageId,
    /// The sums of their pairs.
    own: StageId,
    products: StageId,
    /// What is made of these.
    host: StageId,
    /// The other side.
    right: Operand,
}

/// Writes the schedule; `false` for other kernels, for which nothing was written.
pub fn schedule(
    writer: &mut Writer,
    nests: &[Nest],
    machine: &Machine,
    constant: &[bool],
) -> Result<bool, String> {
    if let Some(group) = attention::find(&writer.tree, nests) {
        return attention::schedule(writer, &group, machine).map(|()| true);
    }
    let Some(trick) = InnerProductTrick::of(&writer.tree, nests) else { return Ok(false) };
    match trick.is_by_rows(&writer.tree) {
        true => rows::schedule(writer, &trick, machine, constant)?,
        false => places::schedule(writer, &trick, machine, constant)?,
    }
    Ok(true)
}

impl InnerProductTrick {
    /// The product by the inner-product trick that a kernel is.
    fn of(tree: &Schedule, nests: &[Nest]) -> Option<InnerProductTrick> {
        let [power, left, own, host] = nests else { return None };
        let products = host.reduction?;
        if nests[..3].iter().any(|n| n.reduction.is_some()) || tree.results != [host.stage] {
            return None;
        }
        let (power, left, own, host) = (power.stage, left.stage, own.stage, host.stage);
        let read = operands(tree, products)?;
        let (of_left, of_right): (Vec<_>, Vec<_>) = read.iter().partition(|o| o.stage == Some(left));
        let right = (*of_right.first()?).clone();
        let of_one = of_right.iter().all(|o| o.handle() == right.handle());
        let reduced = [power, own, products].iter().all(|s| tree.stages[*s].is_reduction());
        let is_read = tree.readers(left) == [own, products] && tree.readers(power).contains(&left);
        let alike = tree.stages[products].rank() == tree.stages[host].rank();
        (alike && reduced && of_one && is_read && of_left.len() > 2 && right.handle().is_some())
            .then_some(InnerProductTrick { power, left, own, products, host, right })
    }

    /// True where the right side is of columns, and not of the rows: what is in all lanes is of the left side.
    fn is_by_rows(&self, tree: &Schedule) -> bool {
        !self.right.mentions(tree.stages[self.products].rank() - 2)
    }
}

/// The loops of a stage over tiles.
struct Tiled {
    /// Over its tiles, one behind the other.
    tiles: AxisId,
    /// Over panels, as wide as a tile.
    panels: AxisId,
    /// In a tile, from the outside in.
    inside: Vec<AxisId>,
}

/// Tiles two axes of a stage, that of rows and that of vectors.
fn split(
    writer: &mut Writer,
    stage: StageId,
    [row, column]: [AxisId; 2],
    (tile, machine): (Tile, &Machine),
) -> Result<Tiled, String> {
    let (tiles, row) = writer.split(stage, row, tile.rows)?;
    let (panels, mut lane) = writer.split(stage, column, tile.columns(machine))?;
    writer.unroll(stage, row)?;
    let mut inside = vec![row];
    if tile.vectors > 1 {
        let (vector, lanes) = writer.split(stage, lane, machine.lanes(BYTES))?;
        writer.unroll(stage, vector)?;
        inside.push(vector);
        lane = lanes;
    }
    writer.vectorize(stage, lane)?;
    inside.push(lane);
    Ok(Tiled { tiles, panels, inside })
}

/// Has products be made in the vectors of the tiles of a stage, all four of a step.
fn attach(writer: &mut Writer, products: StageId, (stage, tiled): (StageId, &Tiled)) -> Result<(), String> {
    if let Some(which) = writer.tree.stages[products].leaves.last().copied() {
        writer.unroll(products, which)?;
    }
    let lane = tiled.inside.last().ok_or("has no vectors")?;
    writer.compute_at(products, stage, *lane)
}
