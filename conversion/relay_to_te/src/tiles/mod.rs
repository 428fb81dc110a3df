//! Tiles: parts of a program of dynamic extents that are computed a tile of known extents at a time.
//!
//! ```text
//!   %y = relay.dense %x, %w : tensor<n x 384>             for each 64 rows (then 16, 4, 1) of x and y:
//!   %z = relay.gelu %y                              =>      call @tile(64 rows of x, 64 rows of z)
//!                                                         @tile: dense and gelu of tensor<64x384>, compiled as any model is
//! ```
//!
//! A tile's code knows all extents, so it goes the whole way of a model: e-graph, kinds of schedules, packed weights. What runs over the
//! tiles is a nest of loops ([`nest`]). There are two kinds of tiles:
//!
//! - **rows** ([`rows`]): operators whose results have the leading extents of what they take, and compute each row from the same row: dense
//!   layers of sequences, whole networks of a dynamic batch;
//! - **windows** ([`windows`]): a convolution of images of dynamic extents with the elementwise operators behind it; a tile of its result
//!   needs a larger one of its data, with zeros beyond the border. Small images are computed by [`patches`] of any places instead, and a
//!   pointwise convolution needs the same places alone.
//!
//! The same idea for one GEMM at a time: Zheng et al., "DietCode: Automatic Optimization for Dynamic Tensor Programs" (MLSys 2022).

mod convolution;
mod copies;
pub mod geometry;
pub mod helpers;
pub mod instance;
pub mod nest;
mod order;
mod patches;
mod rows;
mod tensor;
pub mod versions;
pub mod weights;
mod windows;

use crate::definitions::is_elementwise;
use fusion_dialects::rows::Kind;
use fusion_dialects::{
    Op, OpExt, Value, defining_op, int_attr, key, kind_of, op_key, relay, tensor_type, users,
};
use fusion_operators::{FusionKind, Operator, TensorType};
use geometry::Geometry;
use patches::Patches;
use std::collections::{BTreeMap, HashSet};

/// The attribute of operations that are computed in tiles together: their tile's number.
pub const TILE: &str = "relay.tile";

/// Operations that are computed in tiles together.
pub struct Tile<'c> {
    /// The operations, in order.
    pub members: Vec<Op<'c>>,
    /// What they take, but for constants.
    pub inputs: Vec<Value<'c>>,
    /// Constants that they take.
    pub constants: Vec<Op<'c>>,
    /// What others take of their results.
    pub outputs: Vec<Value<'c>>,
    /// Which parts of these a tile has.
    pub geometry: Geometry,
    /// The patches of its convolution, where there are such.
    patches: Option<Patches>,
}

impl<'c> Tile<'c> {
    /// The tile of operations that are marked as one.
    pub fn of(members: Vec<Op<'c>>) -> Option<Tile<'c>> {
        let inside: HashSet<usize> = members.iter().map(|op| op_key(*op)).collect();
        let (mut inputs, mut constants, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
        for value in members.iter().flat_map(|op| op.operand_values()) {
            let maker = defining_op(value);
            if maker.is_some_and(|op| inside.contains(&op_key(op))) || !seen.insert(key(value)) {
                continue;
            }
            match maker.filter(|op| matches!(kind_of(*op), Some(Kind::Relay(relay::Op::Constant)))) {
                Some(constant) => constants.push(constant),
                None => inputs.push(value),
            }
        }
        let leaves = |v: &Value<'c>| users(*v).iter().any(|user| !inside.contains(&op_key(*user)));
        let outputs = members.iter().flat_map(|op| op.result_values()).filter(leaves).collect();
        let geometry = match convolution::convolution_of(&members) {
            Some(convolution) => convolution::geometry(convolution)?,
            None => Geometry::rows(),
        };
        let patches = convolution::convolution_of(&members).filter(|_| !geometry.pointwise);
        let patches = patches.and_then(Patches::of);
        Some(Tile { members, inputs, constants, outputs, geometry, patches })
    }
}

/// The tiles that are marked among operations, in order.
pub fn marked<'c>(ops: &[Op<'c>]) -> Vec<Tile<'c>> {
    let mut by_number: BTreeMap<i64, Vec<Op<'c>>> = BTreeMap::new();
    for op in ops {
        if let Some(number) = op.int(TILE) {
            by_number.entry(number).or_default().push(*op);
        }
    }
    by_number.into_values().filter_map(Tile::of).collect()
}

/// Marks what is computed in tiles, and gives the operations in an order in which each tile's stand together.
pub fn mark<'c>(ops: &[Op<'c>]) -> Vec<Op<'c>> {
    let products = weights::of_products(ops);
    let is_of_weight = |op: &Op<'c>| products.contains_key(&op_key(*op));
    let others: Vec<Op<'c>> = ops.iter().copied().filter(|op| !is_of_weight(op)).collect();
    let mut tiles: Vec<Vec<Op<'c>>> = rows::tiles(&others);
    for members in &mut tiles {
        let own: HashSet<usize> = members.iter().map(|op| op_key(*op)).collect();
        let is_own = |op: &&Op<'c>| products.get(&op_key(**op)).is_some_and(|p| own.contains(&op_key(*p)));
        members.splice(..0, ops.iter().filter(is_own).copied());
    }
    let taken: HashSet<usize> = tiles.iter().flatten().map(|op| op_key(*op)).collect();
    tiles.extend(windows::tiles(ops, &taken));
    for (number, members) in tiles.iter().enumerate() {
        members.iter().for_each(|op| op.set_attr(TILE, int_attr(op.context_ref(), number as i64)));
    }
    order::together(ops, &tiles)
}

/// The operator of an operation.
fn operator_of(op: Op) -> Option<&'static Operator> {
    match kind_of(op) {
        Some(Kind::Operator(operator)) => Some(operator),
        _ => None,
    }
}

/// True for operators that are worth a tile: sums of products, which take most of the time.
fn is_product(op: Op) -> bool {
    operator_of(op).is_some_and(|operator| operator.fusion == FusionKind::Contraction)
}

impl Tile<'_> {
    /// The names of its operators, in order.
    pub fn operators(&self) -> impl Iterator<Item = &'static str> {
        self.members.iter().filter_map(|op| operator_of(*op)).map(|operator| operator.name)
    }

    /// What its convolution takes windows of.
    fn data(&self) -> Option<usize> {
        let convolution = convolution::convolution_of(&self.members)?;
        convolution.operand_values().first().map(|v| key(*v))
    }

    /// The patches that a tile of these sizes is of; none where it is of rows or windows.
    fn patches_of(&self, sizes: &[u64]) -> Option<(&Patches, u64)> {
        match sizes {
            [places] => self.patches.as_ref().map(|patches| (patches, *places)),
            _ => None,
        }
    }

    /// The type of what a tile of these sizes has of a tensor; `is_data` for what a convolution takes windows of.
    fn tile_type(&self, ty: &TensorType, is_data: bool, sizes: &[u64]) -> Option<TensorType> {
        match self.patches_of(sizes) {
            Some((patches, places)) if geometry::prefix(ty) > 0 => patches.tile_type(ty, is_data, places),
            _ => self.geometry.tile_type(ty, is_data, sizes),
        }
    }

    /// True where a tile may be computed with zeros for what is not there: division of integers is not done with any numbers.
    pub fn may_be_padded(&self) -> bool {
        let divides = |op: &Op| {
            let whole = |v: &Value| tensor_type(*v).is_some_and(|ty| !ty.dtype.is_float());
            op.result_values().iter().any(whole)
                && op.operand_values().len() > 1
                && operator_of(*op).is_some_and(is_elementwise)
        };
        !self.members.iter().any(divides)
    }
}
