//! The k greatest (or least) elements along an axis, in order, and where they are.
//!
//! Each line keeps a sorted list of k pairs in the results. An element that is ahead of the last pair is put where those that stay ahead of
//! it end, and the others move on.
//!
//!     list  9 7 4 2   element 5   ->   9 7 5 4   (2 stay ahead, 2 falls out)
//!
//! Of n elements in any order some k ln(n / k) are ahead of the last pair. So a block of them is asked at once whether one is, and left out where
//! none is.

use super::indices::{Lines, Size, each_index};
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

/// Elements that are asked at once.
const BLOCK: u64 = 16;

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
            let element = |l: &Loops<'c>, i| {
                let s = l.scalars();
                let value = l.load_raw(ins[0], from.element(&s, first, i));
                Pair { value, at: s.from_index(i, DType::I64) }
            };
            let look_at = |l: &Loops<'c>, i| {
                let element = element(l, i);
                let enters = ahead(&l.scalars(), how, element, lists.get(l, last));
                l.guard(enters, |l| insert(l, &lists, how, element, |s, p| to.element(s, list, p), k));
            };
            match from.extent {
                Size::Known(n) if !call.on_gpu && n >= BLOCK => {
                    let may_enter = |l: &Loops<'c>, i, there| {
                        let element = element(l, i);
                        may_be_before(&l.scalars(), how, element, there)
                    };
                    in_blocks(line, n, &|l| lists.get(l, last), &may_enter, &look_at);
                }
                extent => extent.each(line, look_at),
            }
        });
    }))
}

/// Looks at the elements of a line in their order, but for blocks of which none may enter the list, whose last pair is given.
fn in_blocks<'c>(
    line: &Loops<'c>,
    n: u64,
    last: &dyn Fn(&Loops<'c>) -> Pair<'c>,
    may_enter: &dyn Fn(&Loops<'c>, Value<'c>, Pair<'c>) -> Scalar<'c>,
    look_at: &dyn Fn(&Loops<'c>, Value<'c>),
) {
    let (blocks, rest) = (n / BLOCK, n % BLOCK);
    if rest > 0 {
        line.each(rest, look_at);
    }
    line.each(blocks, |l, block| {
        let (s, there) = (l.scalars(), last(l));
        let first = s.index_affine(block, BLOCK as i64, rest as i64);
        // As numbers, or each of them becomes a branch.
        let is_empty = s.cast(is_empty(&s, there), DType::I32).value;
        let some = l.for_(BLOCK, LoopKind::Unrolled, &[is_empty], |l, i, some| {
            let s = l.scalars();
            let may = s.cast(may_enter(l, s.index_add(first, i), there), DType::I32);
            vec![s.or(Scalar { value: some[0], dtype: DType::I32 }, may).value]
        });
        let some = Scalar { value: some[0], dtype: DType::I32 };
        l.guard(s.cast(some, DType::Bool), |l| {
            l.each(BLOCK, |l, i| look_at(l, l.scalars().index_add(first, i)));
        });
    });
}

/// Puts a pair where so many pairs of a list of k stay ahead of it; the others move on.
fn insert<'c>(
    l: &Loops<'c>,
    lists: &Lists<'c>,
    how: Compare,
    pair: Pair<'c>,
    place: impl Fn(&Scalars<'c>, Value<'c>) -> Value<'c>,
    k: u64,
) {
    let s = l.scalars();
    let none = s.int(0, DType::I64).value;
    let staying = l.for_(k, LoopKind::Serial, &[none], |l, p, staying| {
        let s = l.scalars();
        let stays = s.not(ahead(&s, how, pair, lists.get(l, place(&s, p))));
        vec![s.add(Scalar { value: staying[0], dtype: DType::I64 }, s.cast(stays, DType::I64)).value]
    });
    let staying = s.to_index(Scalar { value: staying[0], dtype: DType::I64 });
    let moving = s.index_sub(s.index(k as i64 - 1), staying);
    l.upto(moving, LoopKind::Serial, &[], |l, i, _| {
        let s = l.scalars();
        let to = s.index_affine(i, -1, k as i64 - 1);
        lists.set(l, lists.get(l, place(&s, s.index_affine(to, 1, -1))), place(&s, to));
        Vec::new()
    });
    lists.set(l, pair, place(&s, staying));
}

/// Whether a pair stands before one of the list, which are of earlier places and stay where they are equal; before an empty place in any case.
fn ahead<'c>(s: &Scalars<'c>, how: Compare, a: Pair<'c>, b: Pair<'c>) -> Scalar<'c> {
    s.or(is_empty(s, b), before(s, how, a, b))
}

fn is_empty<'c>(s: &Scalars<'c>, place: Pair<'c>) -> Scalar<'c> {
    s.compare(Compare::Less, place.at, s.int(0, DType::I64))
}

/// True where a pair stands before another by its value, or one of them is no number: in one comparison.
fn may_be_before<'c>(s: &Scalars<'c>, how: Compare, a: Pair<'c>, b: Pair<'c>) -> Scalar<'c> {
    let (x, y) = (wide(s, a), wide(s, b));
    match how {
        Compare::Less => s.not(s.compare(Compare::GreaterEqual, x, y)),
        _ => s.not(s.compare(Compare::LessEqual, x, y)),
    }
}

/// The value of a pair as it is computed with.
fn wide<'c>(s: &Scalars<'c>, pair: Pair<'c>) -> Scalar<'c> {
    s.cast(pair.value, compute_type(pair.value.dtype))
}

/// Whether a pair stands before another by its value. NaN is above all numbers, also where the least are wanted.
fn before<'c>(s: &Scalars<'c>, how: Compare, a: Pair<'c>, b: Pair<'c>) -> Scalar<'c> {
    let (x, y) = (wide(s, a), wide(s, b));
    match how {
        Compare::Less => more_extreme(s, Compare::Greater, y, x),
        _ => more_extreme(s, Compare::Greater, x, y),
    }
}
