//! Convolutions, and whatever else sums products over several axes: which axes are one of a product of matrices.
//!
//!     y[n, o, h, w] += x[n, c, h + r, w + s] * f[o, c, r, s]       columns (h, w), depth (c, r, s); rows o, a product for each n
//!
//! The columns are the last axes of the result, along which one operand goes and the other does not; the depth is all that is summed up.

use super::FEWEST;
use super::sizes::Extents;
use crate::schedule::{AxisId, Schedule, StageId};
use fusion_dialects::indices::accesses;
use fusion_dialects::indices::expr::Expr;
use std::ops::Range;

/// The axes of a product of matrices that those of a reduction become.
#[derive(Clone)]
pub struct Windows {
    /// For each axis of the reduction the number of the one that it becomes a part of.
    pub groups: Vec<usize>,
    /// The axes that become the columns.
    pub columns: Range<usize>,
    /// Which of the two operands goes along the columns.
    pub operand: usize,
    /// The axes of the copies of both operands, in order.
    pub orders: [Vec<usize>; 2],
    /// The extents of the product: rows, columns, depth, and how many there are beside each other.
    pub extents: Extents,
    /// The axes of the result that are its rows.
    pub rows: Vec<AxisId>,
    /// The longest axis that is summed up.
    pub longest: AxisId,
}

/// Those of a reduction that is no plain product of matrices, whose last `parts` axes of the result are parts of what is summed up.
pub fn of(tree: &Schedule, reduction: StageId, parts: usize) -> Option<Windows> {
    let s = &tree.stages[reduction];
    let (all, own) = (s.rank(), s.op_axes());
    let rank = all.checked_sub(parts)?;
    let read = accesses(s.op);
    let mut operands: Vec<Vec<Expr>> = Vec::new();
    for access in read {
        operands.push(access.indices.into_iter().collect::<Option<_>>()?);
    }
    let [first, second] = &operands[..] else { return None };
    let goes = |operand: &[Expr], axis: usize| operand.iter().any(|e| e.mentions(axis));
    let extent = |range: Range<usize>| s.axes[range].iter().map(|a| a.extent).product::<u64>();
    let last = rank.checked_sub(1)?;
    let operand = [first, second].into_iter().position(|o| goes(o, last))?;
    let (along, across) = if operand == 0 { (first, second) } else { (second, first) };
    let alone = |axis: usize| goes(along, axis) && !goes(across, axis);
    let begin = (0..rank).rev().take_while(|a| alone(*a)).last()?;
    let rows = (0..begin).any(|a| goes(across, a) && !goes(along, a) && s.axes[a].extent >= FEWEST);
    let summed = (all..own).filter(|a| s.axes[*a].extent > 1).count();
    let plain = begin == last && summed == 1;
    if plain || !rows || extent(begin..rank) < FEWEST || extent(all..own) < FEWEST {
        return None;
    }
    let (column, depth) = (begin, begin + 1 + parts);
    let groups = (0..own)
        .map(|a| {
            if a < begin {
                a
            } else if a < rank {
                column
            } else if a < all {
                column + 1 + a - rank
            } else {
                depth
            }
        })
        .collect();
    let order = |indices: &[Expr]| {
        let outer = (0..begin).filter(|a| goes(indices, *a));
        let columns = Some(column).filter(|_| (begin..rank).any(|a| goes(indices, a)));
        outer.chain(column + 1..depth).chain([depth]).chain(columns).collect::<Vec<usize>>()
    };
    let is_row = |a: &usize| goes(across, *a) && !goes(along, *a);
    let own_rows: Vec<AxisId> = (0..begin).filter(is_row).collect();
    let rows: u64 = own_rows.iter().map(|a| s.axes[*a].extent).product();
    let extents = Extents {
        rows,
        columns: extent(begin..rank),
        depth: extent(all..own),
        others: extent(0..begin) / rows.max(1) * extent(rank..all),
    };
    let longest = (all..own).max_by_key(|a| (s.axes[*a].extent, own - a))?;
    let orders = [order(first), order(second)];
    Some(Windows { groups, columns: begin..rank, operand, orders, extents, rows: own_rows, longest })
}
