//! The loops of a stage.
//!
//! ```text
//!   axes [n0, 64], reduce [n1]         blocks of rows, on threads        rows of a block = grain / work of a row
//!                                        rows of the block
//!                                          64
//!                                            n1, with the sum carried
//! ```

use super::Lowering;
use crate::lower::combine;
use fusion_dialects::loops::{Buffer, LoopKind, Loops};
use fusion_dialects::te::{Scalar, dims_of};
use fusion_dialects::{Op, OpExt, PassError, Value, key, tensor_type};
use fusion_operators::{DType, Dim};

/// Points of a stage that are worth a block of their own.
const GRAIN: i64 = 1 << 14;

impl<'c> Lowering<'c> {
    /// Computes a stage.
    pub(super) fn stage(&mut self, loops: &Loops<'c>, op: Op<'c>) {
        let Some(dims) = dims_of(op) else {
            self.fail(PassError::at(op, "has an axis whose extent is neither known nor named"));
            return;
        };
        let rank = tensor_type(op.result_values()[0]).map_or(0, |ty| ty.rank());
        let (parallel, reduced) = dims.split_at(rank.min(dims.len()));
        if self.tiled(loops, op, parallel, reduced) {
            return;
        }
        let Some(outer) = parallel.iter().position(|dim| *dim != Dim::Static(1)) else {
            let axes = vec![loops.scalars().index(0); rank];
            self.point(loops, op, &axes, reduced);
            return;
        };
        let rest = [&parallel[outer + 1..], reduced].concat();
        self.blocks(loops, &parallel[outer], &rest, |this, inner, row| {
            let mut axes = vec![inner.scalars().index(0); outer];
            axes.push(row);
            this.inside(inner, op, &mut axes, &parallel[outer + 1..], reduced);
        });
    }

    /// Runs a body for blocks of rows, which threads share: it takes the first row of a block and how many there are. `rest` are the
    /// extents that make the work of a row, and there are `least` rows in each block but the last.
    pub(super) fn row_blocks(
        &mut self,
        loops: &Loops<'c>,
        rows: &Dim,
        (rest, least): (&[Dim], i64),
        body: impl FnOnce(&mut Self, &Loops<'c>, Value<'c>, Value<'c>),
    ) {
        let s = loops.scalars();
        let (count, work) = (self.extent(loops, rows), self.product(loops, rest));
        let one = s.index(1);
        let in_block = s.index_max(s.index_quotient(s.index(GRAIN), s.index_max(work, one)), s.index(least));
        let blocks = s.index_quotient(s.index_add(count, s.index_affine(in_block, 1, -1)), in_block);
        loops.upto(blocks, LoopKind::Parallel, &[], |inner, block, _| {
            let s = inner.scalars();
            let first = s.index_mul(block, in_block);
            let left = s.index_min(in_block, s.index_sub(count, first));
            body(self, inner, first, left);
            Vec::new()
        });
    }

    /// Runs a body for each of some rows, in such blocks.
    fn blocks(
        &mut self,
        loops: &Loops<'c>,
        rows: &Dim,
        rest: &[Dim],
        body: impl FnOnce(&mut Self, &Loops<'c>, Value<'c>),
    ) {
        self.row_blocks(loops, rows, (rest, 1), |this, inner, first, left| {
            inner.upto(left, LoopKind::Serial, &[], |inner, i, _| {
                let row = inner.scalars().index_add(first, i);
                body(this, inner, row);
                Vec::new()
            });
        });
    }

    fn inside(
        &mut self,
        loops: &Loops<'c>,
        op: Op<'c>,
        axes: &mut Vec<Value<'c>>,
        left: &[Dim],
        reduced: &[Dim],
    ) {
        let Some((dim, rest)) = left.split_first() else { return self.point(loops, op, axes, reduced) };
        if *dim == Dim::Static(1) {
            axes.push(loops.scalars().index(0));
            self.inside(loops, op, axes, rest, reduced);
            axes.pop();
            return;
        }
        self.each(loops, dim, &[], |this, inner, index, _| {
            axes.push(index);
            this.inside(inner, op, axes, rest, reduced);
            axes.pop();
            Vec::new()
        });
    }

    /// A serial loop over an axis.
    pub(super) fn each(
        &mut self,
        loops: &Loops<'c>,
        dim: &Dim,
        inits: &[Value<'c>],
        body: impl FnOnce(&mut Self, &Loops<'c>, Value<'c>, &[Value<'c>]) -> Vec<Value<'c>>,
    ) -> Vec<Value<'c>> {
        if let Some(known) = dim.known() {
            return loops
                .for_(known, LoopKind::Serial, inits, |inner, i, carried| body(self, inner, i, carried));
        }
        let count = self.extent(loops, dim);
        loops.upto(count, LoopKind::Serial, inits, |inner, i, carried| body(self, inner, i, carried))
    }

    /// One element of each result.
    fn point(&mut self, loops: &Loops<'c>, op: Op<'c>, axes: &[Value<'c>], reduced: &[Dim]) {
        self.point_with(loops, op, axes, reduced, self.roundings.of_reduction(false));
    }

    /// One element of each result; `flags` say what may be done with sums of floats.
    pub(super) fn point_with(
        &mut self,
        loops: &Loops<'c>,
        op: Op<'c>,
        axes: &[Value<'c>],
        reduced: &[Dim],
        flags: &str,
    ) {
        let values = if reduced.is_empty() {
            self.elements(loops, op, axes)
        } else {
            let neutral = self.neutral(loops, op);
            self.sum(loops, op, &mut axes.to_vec(), reduced, neutral, flags)
        };
        self.keep(loops, op, axes, &values);
    }

    fn sum(
        &mut self,
        loops: &Loops<'c>,
        op: Op<'c>,
        axes: &mut Vec<Value<'c>>,
        left: &[Dim],
        so_far: Vec<Value<'c>>,
        flags: &str,
    ) -> Vec<Value<'c>> {
        let Some((dim, rest)) = left.split_first() else {
            let new = self.elements(loops, op, axes);
            return combine(loops, op, &self.outside, (&so_far, &new), flags);
        };
        self.each(loops, dim, &so_far, |this, inner, index, carried| {
            axes.push(index);
            let next = this.sum(inner, op, axes, rest, carried.to_vec(), flags);
            axes.pop();
            next
        })
    }

    /// Stores the results of a point.
    pub(super) fn keep(&mut self, loops: &Loops<'c>, op: Op<'c>, axes: &[Value<'c>], values: &[Value<'c>]) {
        for (tensor, value) in op.result_values().into_iter().zip(values) {
            let Some(to) = self.places.get(&key(tensor)).copied() else { continue };
            let place = self.offset(loops, tensor, axes);
            loops.store(scalar(*value, to), to, place);
        }
    }
}

/// A value of the type that a buffer holds.
fn scalar<'c>(value: Value<'c>, of: Buffer<'c>) -> Scalar<'c> {
    let dtype: DType = of.dtype;
    Scalar { value, dtype }
}
