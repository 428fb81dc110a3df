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

use crate::auto_schedule::kind::{About, Kernel, Kind, Match, Seconds, all};
use crate::auto_schedule::operands::{Operand, operands};
use crate::auto_schedule::placement::Nest;
use crate::auto_schedule::traffic;
use crate::auto_schedule::writer::Writer;
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

/// The kind.
pub struct ByInnerProducts;

impl Kind for ByInnerProducts {
    fn about(&self) -> About {
        About {
            name: "inner-product-trick",
            matches: "a product by the inner-product trick, and an attention of two of them",
            knobs: &[],
            formula: "steps of six x tiles x (the most of multiply-adds and loads), and vectors of what is beside x operations",
            keeps_order: false,
        }
    }

    fn matches(&self, tree: &Schedule, kernel: &Kernel) -> Vec<Box<dyn Match>> {
        if let Some(group) = attention::find(tree, kernel.nests) {
            return vec![Box::new(group)];
        }
        let found = InnerProductTrick::of(tree, kernel.nests);
        all(found)
    }
}

/// Cycles of all tiles of products of a stage whose last two axes are rows and columns, and that goes over so many steps of `PARTS` numbers.
fn cycles(extents: &[u64], [rows, columns]: [u64; 2], steps: u64, machine: &Machine) -> f64 {
    let each = Tile::of([rows, columns], machine).cycles([rows, columns], machine);
    let others: u64 = extents[..extents.len() - 2].iter().product();
    each * (others * steps) as f64
}

/// Steps of six numbers that a stage of products goes over: its first axis that is summed over.
fn steps(tree: &Schedule, products: StageId) -> u64 {
    let s = &tree.stages[products];
    s.axes.get(s.rank()).map_or(1, |axis| axis.extent)
}

impl Match for InnerProductTrick {
    fn nests(&self) -> Vec<StageId> {
        vec![self.power, self.left, self.own, self.host]
    }

    fn estimate(&self, tree: &Schedule, kernel: &Kernel, _config: &[i64]) -> Option<Seconds> {
        let extents = tree.stages[self.host].extents();
        let (&rows, &columns) = (extents.get(extents.len().checked_sub(2)?)?, extents.last()?);
        let beside =
            self.nests().into_iter().map(|stage| traffic::in_vectors(tree, stage, kernel)).sum::<f64>();
        let products = cycles(&extents, [rows, columns], steps(tree, self.products), kernel.machine);
        Some(traffic::seconds(tree, kernel, &self.nests(), products + beside))
    }

    fn apply(&self, writer: &mut Writer, kernel: &Kernel, _config: &[i64]) -> Result<(), String> {
        match self.is_by_rows(&writer.tree) {
            true => rows::schedule(writer, self, kernel.machine, kernel.constant),
            false => places::schedule(writer, self, kernel.machine, kernel.constant),
        }
    }
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
