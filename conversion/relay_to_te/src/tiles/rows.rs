//! Tiles of rows: operators that compute each row of their results from the same row of what they take.
//!
//! ```text
//!   x[b, s, 384]  dense  y[b, s, 1536]         rows are numbered by (b, s); row i of y needs row i of x
//! ```
//!
//! Whether an operator does is read off its definition in tensor expressions: the leading axes are used as the leading indices of what has
//! rows, each at its place, and nowhere else. Rows of different operators belong together where there are as many.

use super::geometry::prefix;
use super::{instance, is_product, operator_of};
use crate::host::is_view;
use crate::kernel;
use fusion_dialects::indices::load_of;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::Op as Te;
use fusion_dialects::{
    Op, OpExt, Value, arguments, defining_op, key, kind_of, module_op, nested_ops, op_key, ops_in,
    tensor_type, top_level, users,
};
use fusion_operators::{Dim, TensorType};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The tiles among operations: those of one number of rows between which nothing else is computed.
pub fn tiles<'c>(ops: &[Op<'c>]) -> Vec<Vec<Op<'c>>> {
    let mut levels = Levels::of(ops);
    // What is not needed yet waits for what it is needed with.
    for ((level, _), members) in levels.sets().into_iter().rev() {
        for part in connected(members) {
            if let Some(latest) = levels.latest(&part).filter(|latest| *latest > level) {
                part.iter().for_each(|op| levels.move_to(*op, latest));
            }
        }
    }
    let all = levels.sets().into_values().flat_map(connected);
    all.filter(|members| members.iter().any(|op| is_product(*op))).collect()
}

/// When operations are computed, and how many rows they compute each by itself: what has other rows is of another level.
struct Levels<'o, 'c> {
    ops: &'o [Op<'c>],
    of: HashMap<usize, (usize, Option<String>)>,
}

impl<'o, 'c> Levels<'o, 'c> {
    /// The first levels that are possible.
    fn of(ops: &'o [Op<'c>]) -> Self {
        let mut of: HashMap<usize, (usize, Option<String>)> = HashMap::new();
        for op in ops {
            let rows = rows_of(*op).map(|rows| rows.to_string());
            let before = op.operand_values().into_iter().filter_map(defining_op);
            let level = before
                .filter_map(|maker| of.get(&op_key(maker)))
                .map(|(level, other)| level + usize::from(*other != rows))
                .max()
                .unwrap_or(0);
            of.insert(op_key(*op), (level, rows));
        }
        Levels { ops, of }
    }

    /// The operations of each level that have rows, by the number of these.
    fn sets(&self) -> BTreeMap<(usize, String), Vec<Op<'c>>> {
        let mut sets: BTreeMap<(usize, String), Vec<Op<'c>>> = BTreeMap::new();
        for op in self.ops {
            if let Some((level, Some(rows))) = self.of.get(&op_key(*op)) {
                sets.entry((*level, rows.clone())).or_default().push(*op);
            }
        }
        sets
    }

    /// The last level at which operations may be computed; none where nothing here uses them.
    fn latest(&self, part: &[Op<'c>]) -> Option<usize> {
        let inside: HashSet<usize> = part.iter().map(|op| op_key(*op)).collect();
        let rows = part.first().and_then(|op| self.of.get(&op_key(*op))).map(|(_, rows)| rows)?;
        let results = part.iter().flat_map(|op| op.result_values());
        let outside = results.flat_map(users).filter(|user| !inside.contains(&op_key(*user)));
        let used = outside.filter_map(|user| self.of.get(&op_key(user)));
        used.map(|(level, other)| level.saturating_sub(usize::from(other != rows))).min()
    }

    fn move_to(&mut self, op: Op<'c>, level: usize) {
        if let Some((at, _)) = self.of.get_mut(&op_key(op)) {
            *at = level;
        }
    }
}

/// The operations that hang together, each set for itself.
fn connected<'c>(members: Vec<Op<'c>>) -> Vec<Vec<Op<'c>>> {
    let places: HashMap<usize, usize> = members.iter().enumerate().map(|(i, op)| (op_key(*op), i)).collect();
    let mut set: Vec<usize> = (0..members.len()).collect();
    for (i, op) in members.iter().enumerate() {
        for maker in op.operand_values().into_iter().filter_map(defining_op) {
            if let Some(&at) = places.get(&op_key(maker)) {
                let (from, to) = (set[i].max(set[at]), set[i].min(set[at]));
                set.iter_mut().filter(|s| **s == from).for_each(|s| *s = to);
            }
        }
    }
    let mut sets: BTreeMap<usize, Vec<Op<'c>>> = BTreeMap::new();
    members.into_iter().zip(set).for_each(|(op, set)| sets.entry(set).or_default().push(op));
    sets.into_values().collect()
}

/// How many rows an operator computes each by itself; none where it does not.
fn rows_of(op: Op) -> Option<Dim> {
    let operator = operator_of(op)?;
    let typed = |values: Vec<Value>| values.into_iter().map(tensor_type).collect::<Option<Vec<TensorType>>>();
    let (operands, results) = (typed(op.operand_values())?, typed(op.result_values())?);
    let with_rows: Vec<&TensorType> = operands.iter().chain(&results).filter(|ty| prefix(ty) > 0).collect();
    let rows = |ty: &TensorType| Dim::product(&ty.dims[..prefix(ty)]);
    let number = rows(results.first()?);
    let same = with_rows.iter().all(|ty| rows(ty) == number);
    if !same || number.expression().is_none() || !results.iter().all(|ty| prefix(ty) > 0) {
        return None;
    }
    if is_view(operator) {
        return Some(number);
    }
    let leading = &results[0].dims[..prefix(&results[0])];
    let aligned = with_rows.iter().all(|ty| ty.dims[..prefix(ty)] == *leading);
    (aligned && is_by_rows(op, leading.len())).then_some(number)
}

/// True when the definition of an operator computes each row from the same row, with so many axes of rows.
fn is_by_rows(op: Op, axes: usize) -> bool {
    // Extents that differ from each other, and that weights hardly have: what begins with them is taken to have rows.
    let sizes: Vec<u64> = [1009, 1013, 1019, 1021, 1031, 1033, 1039, 1049].into_iter().take(axes).collect();
    if sizes.len() != axes {
        return false;
    }
    let Some(module) = instance::of_rows(op, &sizes) else { return false };
    let functions = top_level(module_op(&module), |k| matches!(k, Kind::Upstream(Upstream::Func)));
    let Some(function) = functions.first() else { return false };
    if kernel::convert(*function).is_err() {
        return false;
    }
    let kernels = top_level(module_op(&module), |k| matches!(k, Kind::Te(Te::Kernel)));
    kernels.first().is_some_and(|kernel| keeps_rows(*kernel, &sizes))
}

/// True when a kernel's results have rows, and each needs the same row of what has rows.
fn keeps_rows(kernel: Op, sizes: &[u64]) -> bool {
    let Some(body) = kernel.body(0) else { return false };
    let has_rows =
        |v: &Value| tensor_type(*v).and_then(|ty| ty.shape()).is_some_and(|shape| shape.starts_with(sizes));
    let mut rows: HashSet<usize> = arguments(body).iter().filter(|v| has_rows(v)).map(|v| key(*v)).collect();
    for op in ops_in(body) {
        match kind_of(op) {
            Some(Kind::Te(Te::Compute)) => match stage_keeps_rows(op, sizes.len(), &rows) {
                Some(true) if op.result_values().iter().all(has_rows) => {
                    rows.extend(op.result_values().into_iter().map(key));
                }
                Some(false) => {}
                _ => return false,
            },
            Some(Kind::Te(Te::Return)) => {
                return op.operand_values().iter().all(|v| rows.contains(&key(*v)));
            }
            Some(Kind::Upstream(Upstream::ArithConstant)) => {}
            _ => return false,
        }
    }
    false
}

/// Whether a stage reads the same row alone; `Some(false)` where it reads nothing that has rows, and none where it reads another one.
fn stage_keeps_rows(stage: Op, axes: usize, rows: &HashSet<usize>) -> Option<bool> {
    let own = arguments(stage.body(0)?);
    let loads: Vec<(Value, Vec<Value>)> = nested_ops(stage).into_iter().filter_map(load_of).collect();
    let reads: Vec<&(Value, Vec<Value>)> = loads.iter().filter(|(t, _)| rows.contains(&key(*t))).collect();
    if reads.is_empty() {
        return Some(false);
    }
    let leading = own.get(..axes)?;
    let in_place = |(_, indices): &&(Value, Vec<Value>)| {
        indices.get(..axes).is_some_and(|indices| indices == leading)
            && !indices[axes..].iter().any(|index| leading.contains(index))
    };
    if !reads.iter().all(in_place) {
        return None;
    }
    // A row does not know its number.
    let as_index = |user: &Op| load_of(*user).is_some_and(|(tensor, _)| rows.contains(&key(tensor)));
    leading.iter().all(|axis| users(*axis).iter().all(as_index)).then_some(true)
}
