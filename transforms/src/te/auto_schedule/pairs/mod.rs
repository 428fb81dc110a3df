//! Products by pairs: tiles of one vector, that keep adders and multipliers busy at the same time.
//!
//!     s = max, a = x / s, o += a a             what the products read of the one side, a block at a time that the second cache holds
//!     p[i, j] += one of four, by t       =>    acc[r] += a x, acc[r] += (a + u) (a + u), ..                  t written out inside
//!     y[i, j] = f(p, o, u)                     where the sums are still in registers
//!
//! `rows` has the order for matrices, `places` those for images, `attention` that for both of its products. What is used in all lanes is used once in a tile of one vector, so that
//! additions take it from memory: no instruction is spent on it, where that of a wider tile would take an adder's place. (On Zen 4, where an
//! addition of 64 bytes begins in each cycle beside a multiply-add, tiles of 14 rows reach 1.45 times the peak of multiply-adds.)

mod attention;
mod places;
mod rows;

use super::machine::Machine;
use super::operands::{Operand, operands};
use super::placement::Nest;
use super::writer::Writer;
use crate::te::schedule::{AxisId, Schedule, StageId};

/// The share of the second cache that a block has.
const SHARE: u64 = 4;
/// Registers beside the accumulators: three vectors of the panel, and sums.
const BESIDE: u64 = 18;
/// Cycles of a step that are not those of its rows.
const TILE: u64 = 2;
const BYTES: u64 = 4;

/// The stages of such a kernel.
struct Pairs {
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
    let Some(pairs) = Pairs::of(&writer.tree, nests) else { return Ok(false) };
    match pairs.is_by_rows(&writer.tree) {
        true => rows::schedule(writer, &pairs, machine, constant)?,
        false => places::schedule(writer, &pairs, machine, constant)?,
    }
    Ok(true)
}

/// The rows of a tile, of so many, with which all tiles take least.
fn height(rows: u64, machine: &Machine) -> u64 {
    let most = machine.registers.saturating_sub(BESIDE).max(1);
    let cycles = |height: u64| 2 * rows + rows.div_ceil(height) * TILE;
    (1..=most.min(rows.max(1))).rev().min_by_key(|&height| cycles(height)).unwrap_or(1)
}

impl Pairs {
    /// The product by pairs that a kernel is.
    fn of(tree: &Schedule, nests: &[Nest]) -> Option<Pairs> {
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
            .then_some(Pairs { power, left, own, products, host, right })
    }

    /// True where the right side is of columns, and not of the rows: what is in all lanes is of the left side.
    fn is_by_rows(&self, tree: &Schedule) -> bool {
        !self.right.mentions(tree.stages[self.products].rank() - 2)
    }

    /// Has the products be made in a vector of the host, all four of a step.
    fn attach_products(&self, writer: &mut Writer, vector: AxisId) -> Result<(), String> {
        attach(writer, self.products, (self.host, vector))
    }
}

/// Has products be made in a vector of a stage, all four of a step.
fn attach(writer: &mut Writer, products: StageId, (stage, vector): (StageId, AxisId)) -> Result<(), String> {
    if let Some(which) = writer.tree.stages[products].leaves.last().copied() {
        writer.unroll(products, which)?;
    }
    writer.compute_at(products, stage, vector)
}
