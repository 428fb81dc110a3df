//! The k greatest (or least) elements along an axis, in order, and where they are.
//!
//! Each line keeps a sorted list of pairs in the results. Its first k elements fill the list; of the others, one that is ahead of the last
//! pair is put where those that stay ahead of it end, and the others move on.
//!
//!     list  9 7 4 2   element 5   ->   9 7 5 4   (2 stay ahead, 2 falls out)
//!
//! Longer lists are heaps (`topk_heap`). Of n elements in any order some k ln(n / k) are ahead of the last pair. So a block of them is asked at once whether one is, and left out where
//! none is.

use super::indices::{Lines, Size, each_index};
use super::reduction::more_extreme;
use super::{Built, Table, TeCall};
use fusion_dialects::Value;
use fusion_dialects::loops::LoopKind;
use fusion_dialects::loops::{Buffer, Loops};
use fusion_dialects::te::{Compare, Kernel, Scalar, Scalars};
use fusion_operators::DType;
use fusion_operators::ops::reduction::{TOPK, topk_axis};
use std::ops::Range;

pub const TABLE: Table = &[(&TOPK, topk)];

/// Longest lists that are kept sorted: each element that enters moves half of one, and a heap of so many has as many steps.
const MOST_LISTED: u64 = 64;

/// Elements that are asked at once.
const BLOCK: u64 = 16;

/// An element as it is stored, and its place on the axis; a place of the list that stays empty has -1.
#[derive(Clone, Copy)]
pub(super) struct Pair<'c> {
    pub value: Scalar<'c>,
    pub at: Scalar<'c>,
}

/// A line of the data, and the list of its k pairs in the results.
pub(super) struct Line<'c> {
    data: Buffer<'c>,
    pub values: Buffer<'c>,
    pub places: Buffer<'c>,
    /// The axis in the data and in the results, and where the line begins there.
    from: (Lines<'c>, Value<'c>),
    to: (Lines<'c>, Value<'c>),
    pub how: Compare,
    pub k: Size<'c>,
}

fn topk<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let axis = topk_axis(&call.facts()).map_err(|violation| violation.to_string())?;
    let how = if call.attrs.flag("smallest") { Compare::Less } else { Compare::Greater };
    let wanted = call.results[0].dims[axis].clone();
    Ok(kernel.nest(call.op.name, &call.operands, &call.results, |loops, ins, outs| {
        if wanted.known() == Some(0) {
            return;
        }
        let k = Size::of(&loops.scalars(), std::slice::from_ref(&wanted));
        let (from, to) = {
            let s = loops.scalars();
            (Lines::along(&s, call.dims(0), axis), Lines::along(&s, &call.results[0].dims, axis))
        };
        each_index(loops, &[from.outer, from.inner], &|_| true, &mut |loops, at| {
            let s = loops.scalars();
            let from = (from, from.first(&s, at[0], at[1]));
            let to = (to, to.first(&s, at[0], at[1]));
            let line = Line { data: ins[0], values: outs[0], places: outs[1], from, to, how, k };
            match (line.from.0.extent, k) {
                (n @ Size::Known(_), Size::Known(k)) if k > MOST_LISTED => line.by_heap(loops, n),
                (n, Size::Dynamic(_)) => line.by_heap(loops, n),
                (Size::Known(n), Size::Known(k)) => {
                    loops.each(k, |l, i| line.insert(l, i, Size::Dynamic(i)));
                    let blocks = if call.on_gpu() { 0 } else { (n - k) / BLOCK };
                    let behind = n - blocks * BLOCK;
                    line.look_at_all(loops, k..behind);
                    line.look_at_blocks(loops, behind, blocks);
                }
                (n, k) => {
                    // There may be fewer.
                    let (n, full) = (n.value(&s), k.value(&s));
                    k.each(loops, |l, p| {
                        let at = l.scalars().int(-1, DType::I64);
                        line.set(l, p, Pair { value: l.load_raw(ins[0], from.1), at });
                    });
                    let filled = Size::Dynamic(s.index_min(n, full));
                    filled.each(loops, |l, i| line.insert(l, i, Size::Dynamic(i)));
                    Size::Dynamic(s.index_sub(n, full)).each(loops, |l, i| {
                        line.look_at(l, l.scalars().index_add(full, i));
                    });
                }
            }
        });
    }))
}

impl<'c> Line<'c> {
    pub fn element(&self, l: &Loops<'c>, i: Value<'c>) -> Pair<'c> {
        let s = l.scalars();
        let value = l.load_raw(self.data, self.from.0.element(&s, self.from.1, i));
        Pair { value, at: s.from_index(i, DType::I64) }
    }

    pub fn place(&self, s: &Scalars<'c>, p: Value<'c>) -> Value<'c> {
        self.to.0.element(s, self.to.1, p)
    }

    fn value(&self, l: &Loops<'c>, p: Value<'c>) -> Scalar<'c> {
        l.load_raw(self.values, self.place(&l.scalars(), p))
    }

    /// The value of the last pair of the full list.
    fn last(&self, l: &Loops<'c>) -> Scalar<'c> {
        let s = l.scalars();
        self.value(l, s.index_affine(self.k.value(&s), 1, -1))
    }

    pub fn set(&self, l: &Loops<'c>, p: Value<'c>, pair: Pair<'c>) {
        let place = self.place(&l.scalars(), p);
        l.store(pair.value, self.values, place);
        l.store(pair.at, self.places, place);
    }

    /// Looks at all elements in a range.
    fn look_at_all(&self, l: &Loops<'c>, range: Range<u64>) {
        if !range.is_empty() {
            let from = range.start as i64;
            l.each(range.end - range.start, |l, i| self.look_at(l, l.scalars().index_affine(i, 1, from)));
        }
    }

    /// Looks at the elements of so many blocks from one on, but for blocks none of whose elements is ahead of the last pair.
    fn look_at_blocks(&self, l: &Loops<'c>, from: u64, blocks: u64) {
        if blocks == 0 {
            return;
        }
        l.each(blocks, |l, block| {
            let s = l.scalars();
            let (first, last) = (s.index_affine(block, BLOCK as i64, from as i64), self.last(l));
            let none = s.int(0, DType::I32).value;
            // As numbers, or each of them becomes a branch.
            let some = l.for_(BLOCK, LoopKind::Unrolled, &[none], |l, i, some| {
                let s = l.scalars();
                let element = self.element(l, s.index_add(first, i)).value;
                let may = s.cast(may_be_before(&s, self.how, element, last), DType::I32);
                vec![s.or(Scalar { value: some[0], dtype: DType::I32 }, may).value]
            });
            let some = Scalar { value: some[0], dtype: DType::I32 };
            l.guard(s.cast(some, DType::Bool), |l| {
                l.each(BLOCK, |l, i| self.look_at(l, l.scalars().index_add(first, i)));
            });
        });
    }

    /// Puts an element into the full list if it is ahead of its last pair.
    fn look_at(&self, l: &Loops<'c>, i: Value<'c>) {
        let last = self.last(l);
        let enters = before(&l.scalars(), self.how, self.element(l, i).value, last);
        l.guard(enters, |l| self.insert(l, i, self.k));
    }

    /// Puts an element where so many pairs of a list of that length stay ahead of it; the others move on, and out of a full list the last.
    fn insert(&self, l: &Loops<'c>, i: Value<'c>, length: Size<'c>) {
        let (s, pair) = (l.scalars(), self.element(l, i));
        let none = s.int(0, DType::I32).value;
        let staying = length.for_(l, &[none], |l, p, staying| {
            let s = l.scalars();
            let stays = s.not(before(&s, self.how, pair.value, self.value(l, p)));
            vec![s.add(Scalar { value: staying[0], dtype: DType::I32 }, s.cast(stays, DType::I32)).value]
        });
        let staying = s.to_index(Scalar { value: staying[0], dtype: DType::I32 });
        let end = match length {
            Size::Known(n) => s.index(n as i64 - 1),
            Size::Dynamic(n) => n,
        };
        l.upto(s.index_sub(end, staying), LoopKind::Serial, &[], |l, i, _| {
            let s = l.scalars();
            let to = s.index_sub(end, i);
            let from = self.place(&s, s.index_affine(to, 1, -1));
            let moved = Pair { value: l.load_raw(self.values, from), at: l.load_raw(self.places, from) };
            self.set(l, to, moved);
            Vec::new()
        });
        self.set(l, staying, pair);
    }
}

/// True where a value stands before another, or one of them is no number: in one comparison.
fn may_be_before<'c>(s: &Scalars<'c>, how: Compare, a: Scalar<'c>, b: Scalar<'c>) -> Scalar<'c> {
    let (x, y) = (wide(s, a), wide(s, b));
    match how {
        Compare::Less => s.not(s.compare(Compare::GreaterEqual, x, y)),
        _ => s.not(s.compare(Compare::LessEqual, x, y)),
    }
}

/// A value as it is computed with.
fn wide<'c>(s: &Scalars<'c>, value: Scalar<'c>) -> Scalar<'c> {
    s.cast(value, s.compute_type(value.dtype))
}

/// Whether a value stands before another; of equal ones the earlier does. NaN is above all numbers, also where the least are wanted.
pub(super) fn before<'c>(s: &Scalars<'c>, how: Compare, a: Scalar<'c>, b: Scalar<'c>) -> Scalar<'c> {
    let (x, y) = (wide(s, a), wide(s, b));
    match how {
        Compare::Less => more_extreme(s, Compare::Greater, y, x),
        _ => more_extreme(s, Compare::Greater, x, y),
    }
}
