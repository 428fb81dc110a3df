//! Products of matrices by matrix instructions: a tile of the result for each block, a part of it for each warp, in registers.
//! How large these are is in `sizes`, and whether blocks share what is summed up in `waves`.
//!
//! ```text
//!   io (block_y)  jo (block_x)                            128 x 128 results a block
//!     iw (thread_z)  jw (thread_y)                        64 x 64 a warp, a fragment
//!       for ko                                            steps of 32
//!         rows[io, ko], columns[ko, jo]                   all threads copy, 16 bytes at a time where they lie together
//!         for ks  for it, jt (unrolled)                   c[it, jt] += rows[it, ks] * columns[ks, jt]: the instruction
//!       for lane (thread_x)  for it, jt, elements         each thread goes on with its elements of the fragment
//! ```
//!
//! What an instruction's rows, columns, depth and threads are is read off its declaration, so that this is for all of them (Feng
//! et al., "TensorIR", 2023). An elementwise stage in front is computed while it is copied, one behind where the sums are;
//! beyond the ends there are zeros, which are not stored. Rows in shared memory are 16 bytes longer than they have to be, so that
//! those below each other fall on different banks.

mod arrange;
pub mod attention;
mod copies;
mod kind;
mod sizes;
mod waves;
mod windows;
mod write;

use super::contraction::{self, Contraction};
use crate::auto_schedule::gpu::lanes::ACCESS_BYTES;
use crate::auto_schedule::kind::Kernel;
use crate::auto_schedule::placement;
use crate::intrinsics::{self, Facts};
use crate::schedule::zeros::sums_zeros;
use crate::schedule::{AxisId, Schedule, StageId};
use fusion_dialects::indices::accesses;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::Op as Te;
use fusion_dialects::{Op, OpExt, ValueLike, kind_of, ops_in, tensor_type};
use fusion_machine::Target;
use fusion_operators::DType;
pub use kind::ByMatrices;
use sizes::step_of;
use windows::Windows;

/// Threads that do an instruction together, from which on they are four warps.
const GROUP: u64 = 128;
/// Registers of a thread that hold sums, at most; where they are so many, one block fits into a core.
const MOST_SUMS: u64 = 128;
/// Sums of a thread from which on one block with four more warps, which copy, is all that fits into a core.
const SUMS_OF_A_BLOCK: u64 = 64;
/// Slots of tiles that are copied by tma, and what the mbarriers of them take.
const SLOTS_OF_TMA: u64 = 4;
const MBARRIER_BYTES: u64 = 256;
/// Extents below this are no rows, no columns and no depth.
const FEWEST: u64 = 16;

/// A sum of products that an instruction computes.
#[derive(Clone)]
pub struct Product {
    /// The stage that sums up.
    pub reduction: StageId,
    /// Elementwise stages that are computed while they are copied.
    pub sources: Vec<StageId>,
    /// How it becomes a product of matrices, where it is none.
    windows: Option<Windows>,
    /// The instructions for its elements.
    facts: Vec<Facts>,
}

impl Product {
    /// The same of another stage that sums up, which has only a part of its rows or columns.
    fn of(&self, tree: &Schedule, reduction: StageId, sources: Vec<StageId>) -> Product {
        let windows = self.windows.as_ref().and_then(|_| windows::of(tree, reduction, 0));
        Product { reduction, sources, windows, facts: self.facts.clone() }
    }
}

/// What a block computes.
#[derive(Clone, Copy)]
struct Tile {
    rows: u64,
    columns: u64,
    /// Warps, or groups of four, down and along.
    warps: [u64; 2],
}

impl Tile {
    /// Sums that a thread has.
    fn sums(&self, lanes: u64) -> u64 {
        (self.rows / self.warps[0]) * (self.columns / self.warps[1]) / lanes
    }

    /// Bytes of both operands at a time.
    fn bytes(&self, facts: &Facts, step: u64) -> u64 {
        let line = step * facts.dtype.size() as u64;
        (self.rows + self.columns) * if facts.panels.is_some() { line } else { line + ACCESS_BYTES }
    }
}

/// Warps of a block, or groups of four, down and along.
fn warps(facts: &Facts) -> [u64; 2] {
    if reads_shared(facts) { [2, 1] } else { [2, 2] }
}

/// True for instructions of four warps, which read shared memory themselves.
fn reads_shared(facts: &Facts) -> bool {
    facts.extents()[2] >= GROUP
}

/// Stages that products copy, where the target has instructions for these: they are kept as they are until it is known how a product is computed.
pub fn sources(tree: &Schedule, target: &Target) -> Result<Vec<StageId>, String> {
    Ok(of_target(tree, target)?.into_iter().flat_map(|product| product.sources).collect())
}

/// The products among the stages of a kernel for which the target has an instruction, and whose sources are kept.
fn find(tree: &Schedule, kernel: &Kernel) -> Result<Vec<Product>, String> {
    let mut all = of_target(tree, kernel.target)?;
    all.retain(|product| product.sources.iter().all(|source| kernel.kept.contains(source)));
    Ok(all)
}

fn of_target(tree: &Schedule, target: &Target) -> Result<Vec<Product>, String> {
    let mut all: Vec<Facts> = Vec::new();
    for name in target.gpu.matrix.split_whitespace() {
        all.push(intrinsics::facts(tree.kernel.context_ref(), name)?);
    }
    let reductions = (0..tree.stages.len()).filter(|s| tree.stages[*s].is_reduction());
    let product = |reduction: StageId| {
        let dtype = product_of(tree.stages[reduction].op)?;
        let facts: Vec<Facts> = all.iter().filter(|facts| facts.dtype == dtype).cloned().collect();
        let windows = windows::of(tree, reduction, 0).filter(|_| !facts.is_empty());
        if windows.is_none() {
            best(tree, reduction, &facts)?;
        }
        let read: Vec<StageId> =
            accesses(tree.stages[reduction].op).into_iter().filter_map(|a| tree.giving(a.tensor)).collect();
        // One that both operands are stays in memory: its tiles would differ.
        let own = |s: &StageId| {
            let once = read.iter().filter(|other| *other == s).count() == 1;
            once && placement::is_cheap(tree, *s)
                && tree.consumers(*s) == [reduction]
                && !tree.results.contains(s)
        };
        let sources: Vec<StageId> = read.iter().copied().filter(own).collect();
        Some(Product { reduction, sources, windows, facts })
    };
    Ok(reductions.filter_map(product).collect())
}

/// The product of matrices that a stage is, and the instructions for which fewest operands are turned around; of those the first, and
/// the others that are as it but for their extents.
fn best(tree: &Schedule, reduction: StageId, facts: &[Facts]) -> Option<(Contraction, Vec<Facts>)> {
    let found = contraction::recognize(tree, reduction, reduction)?;
    let extent = |axis: AxisId| tree.stages[reduction].axes[axis].extent;
    let depth = extent(found.depth);
    // Those of large tiles are for products that have some.
    let large = |facts: &Facts| {
        let [rows, columns, _] = facts.extents();
        let [down, along] = warps(facts);
        let least = |own: u64| own.max(facts.panels.unwrap_or(0));
        extent(found.row) >= least(rows * down)
            && extent(found.column) >= least(columns * along)
            && depth >= facts.depth
    };
    let zeros = sums_zeros(tree.stages[reduction].op, found.depth);
    let turned = |facts: &Facts| -> Option<usize> {
        let both = (0..2).map(|n| copies::turns(&found, facts, n)).collect::<Option<Vec<bool>>>()?;
        Some(both.into_iter().filter(|turns| *turns).count())
    };
    let fits = facts.iter().filter(|facts| zeros || depth.is_multiple_of(facts.depth));
    let fits = fits.filter(|facts| facts.panels.is_none() || large(facts));
    let turned: Vec<(usize, &Facts)> = fits.filter_map(|facts| Some((turned(facts)?, facts))).collect();
    let (fewest, first) = turned.iter().min_by_key(|(turns, _)| *turns)?;
    let like = |(turns, facts): &&(usize, &Facts)| {
        let kind = |facts: &Facts| (facts.panels, facts.together, reads_shared(facts));
        turns == fewest && kind(facts) == kind(first)
    };
    let facts = turned.iter().filter(like).map(|(_, facts)| (*facts).clone()).collect();
    Some((found, facts))
}

/// The type of the two elements whose product is summed up in f32, and nothing else.
fn product_of(op: Op) -> Option<DType> {
    let is = |op: &Op, kind: Upstream| matches!(kind_of(*op), Some(Kind::Upstream(k)) if k == kind);
    let combiner = op.body(1).map(ops_in)?;
    let sums = matches!(&combiner[..], [sum, _] if is(sum, Upstream::AddF));
    let on_scalars = |op: &Op| op.result_values().iter().any(|v| v.r#type().to_string() != "index");
    let body: Vec<Op> = op.body(0).map(ops_in)?.into_iter().filter(on_scalars).collect();
    let products = body.iter().filter(|op| is(op, Upstream::MulF)).count();
    let plain = body.iter().all(|op| {
        is(op, Upstream::MulF)
            || is(op, Upstream::ExtF)
            || is(op, Upstream::ArithConstant)
            || matches!(kind_of(*op), Some(Kind::Te(Te::Load)))
    });
    let read = accesses(op);
    let [a, b] = &read[..] else { return None };
    let (a, b) = (tensor_type(a.tensor)?.dtype, tensor_type(b.tensor)?.dtype);
    let sum = tensor_type(*op.result_values().first()?)?.dtype;
    (sums && products == 1 && plain && a == b && sum == DType::F32).then_some(a)
}
