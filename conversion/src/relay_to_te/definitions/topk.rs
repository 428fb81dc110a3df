//! The k greatest (or least) elements along an axis, in order, and where they are.
//!
//! Each line keeps a sorted list of k pairs in the results. An element that is ahead of the last pair is carried through
//! the list: where it is ahead of a pair it takes its place, and that pair is carried on.
//!
//!     list  9 7 4 2   element 5   ->   9 7 5 4   (2 falls out)

use super::indices::{Lines, each_index};
use super::reduction::more_extreme;
use super::{Built, Table, TeCall};
use fusion_dialects::Value;
use fusion_dialects::loops::LoopKind;
use fusion_dialects::loops::{Buffer, Loops};
use fusion_dialects::te::scalar::compute_type;
use fusion_dialects::te::{Compare, Kernel, Scalar, Scalars};
use fusion_operators::DType;
use fusion_operators::ops::reduction::{TOPK, topk_axis};

pub const TABLE: Table = &[(&TOPK, topk)];

/// An element as it is stored, and its place on the axis; an empty place of the list has -1.
#[derive(Clone, Copy)]
struct Pair<'c> {
    value: Scalar<'c>,
    at: Scalar<'c>,
}

/// The sorted lists, one for each line.
struct Lists<'c> {
    values: Buffer<'c>,
    places: Buffer<'c>,
}

impl<'c> Lists<'c> {
    fn get(&self, l: &Loops<'c>, i: Value<'c>) -> Pair<'c> {
        Pair { value: l.load_raw(self.values, i), at: l.load_raw(self.places, i) }
    }

    fn set(&self, l: &Loops<'c>, pair: Pair<'c>, i: Value<'c>) {
        l.store(pair.value, self.values, i);
        l.store(pair.at, self.places, i);
    }
}

fn topk<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let axis = topk_axis(&call.facts()).map_err(|violation| violation.to_string())?;
    let how = if call.attrs.flag("smallest") { Compare::Less } else { Compare::Greater };
    let k = call.results[0].dims[axis].known().ok_or("gives a number of elements that is not known")?;
    Ok(kernel.nest(call.op.name, &call.operands, &call.results, |loops, ins, outs| {
        if k == 0 {
            return;
        }
        let (from, to) = {
            let s = loops.scalars();
            (Lines::along(&s, call.dims(0), axis), Lines::along(&s, &call.results[0].dims, axis))
        };
        let lists = Lists { values: outs[0], places: outs[1] };
        each_index(loops, &[from.outer, from.inner], &|_| true, &mut |line, at| {
            let s = line.scalars();
            let (first, list) = (from.first(&s, at[0], at[1]), to.first(&s, at[0], at[1]));
            let empty = Pair { value: line.load_raw(ins[0], first), at: s.int(-1, DType::I64) };
            line.each(k, |l, p| lists.set(l, empty, to.element(&l.scalars(), list, p)));
            let last = to.element(&s, list, s.index(k as i64 - 1));
            from.extent.each(line, |l, i| {
                let s = l.scalars();
                let value = l.load_raw(ins[0], from.element(&s, first, i));
                let element = Pair { value, at: s.from_index(i, DType::I64) };
                let enters = ahead(&s, how, element, lists.get(l, last));
                l.guard(enters, |l| insert(l, &lists, how, element, |s, p| to.element(s, list, p), k));
            });
        });
    }))
}

/// Carries a pair through a list of k.
fn insert<'c>(
    l: &Loops<'c>,
    lists: &Lists<'c>,
    how: Compare,
    pair: Pair<'c>,
    place: impl FnOnce(&Scalars<'c>, Value<'c>) -> Value<'c>,
    k: u64,
) {
    l.for_(k, LoopKind::Serial, &[pair.value.value, pair.at.value], |l, p, carried| {
        let s = l.scalars();
        let place = place(&s, p);
        let carried = Pair {
            value: Scalar { value: carried[0], dtype: pair.value.dtype },
            at: Scalar { value: carried[1], dtype: DType::I64 },
        };
        let there = lists.get(l, place);
        let takes = ahead(&s, how, carried, there);
        let choose = |a: Pair<'c>, b: Pair<'c>| Pair {
            value: s.select(takes, a.value, b.value),
            at: s.select(takes, a.at, b.at),
        };
        lists.set(l, choose(carried, there), place);
        let next = choose(there, carried);
        vec![next.value.value, next.at.value]
    });
}

/// Whether a pair stands before one of the list: by value, then by place; before an empty place in any case.
fn ahead<'c>(s: &Scalars<'c>, how: Compare, a: Pair<'c>, b: Pair<'c>) -> Scalar<'c> {
    let wide = compute_type(a.value.dtype);
    let (x, y) = (s.cast(a.value, wide), s.cast(b.value, wide));
    // NaN is above all numbers, also where the least are wanted.
    let greater = |a, b| more_extreme(s, Compare::Greater, a, b);
    let (before, after) = match how {
        Compare::Less => (greater(y, x), greater(x, y)),
        _ => (greater(x, y), greater(y, x)),
    };
    let tied = s.and(s.not(after), s.compare(Compare::Less, a.at, b.at));
    let is_empty = s.compare(Compare::Less, b.at, s.int(0, DType::I64));
    s.or(is_empty, s.or(before, tied))
}
