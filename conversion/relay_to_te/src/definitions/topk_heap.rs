//! The k greatest (or least) elements where k is large: a heap whose root is the pair that falls out next.
//!
//!     pairs that lie in the results            root 0, children of p: 2 p + 1 and 2 p + 2
//!     an element that is ahead of the root     takes its place, and sinks below children that are behind it
//!     at the end                               the root changes places with the last pair, again and again: a heap sort
//!
//! n elements take n log2 k steps, where a sorted list takes up to n k. (Williams, "Algorithm 232: Heapsort", CACM, 1964.)

use super::indices::Size;
use super::topk::{Line, Pair, before};
use fusion_dialects::Value;
use fusion_dialects::loops::{LoopKind, Loops};
use fusion_dialects::te::{Compare, Scalar, Scalars};

/// Most levels of a heap, where its size is not known.
const MOST_LEVELS: u64 = 40;

impl<'c> Line<'c> {
    /// Fills the results of the line, of n elements, k of them at least.
    pub fn by_heap(&self, loops: &Loops<'c>, n: Size<'c>) {
        let s = loops.scalars();
        let (n, k) = (n.value(&s), self.k.value(&s));
        let levels = levels(loops, self.k);
        loops.upto(k, LoopKind::Serial, &[], |l, i, _| {
            self.set(l, i, self.element(l, i));
            Vec::new()
        });
        // Parents from the last to the first.
        let parents = s.index_div(k, 2);
        loops.upto(parents, LoopKind::Serial, &[], |l, i, _| {
            let s = l.scalars();
            let last = s.index_affine(parents, 1, -1);
            self.sink(l, s.index_sub(last, i), k, levels);
            Vec::new()
        });
        loops.upto(s.index_sub(n, k), LoopKind::Serial, &[], |l, i, _| {
            let s = l.scalars();
            let element = self.element(l, s.index_add(k, i));
            let root = self.pair(l, s.index(0));
            let enters = before(&s, self.how, element.value, root.value);
            l.guard(enters, |l| {
                let root = l.scalars().index(0);
                self.set(l, root, element);
                self.sink(l, root, k, levels);
            });
            Vec::new()
        });
        // What falls out next goes to the end of what is left.
        let moves = s.index_max(s.index_affine(k, 1, -1), s.index(0));
        loops.upto(moves, LoopKind::Serial, &[], |l, i, _| {
            let s = l.scalars();
            let (root, last) = (s.index(0), s.index_sub(s.index_affine(k, 1, -1), i));
            let (first, other) = (self.pair(l, root), self.pair(l, last));
            self.set(l, last, first);
            self.set(l, root, other);
            self.sink(l, root, last, levels);
            Vec::new()
        });
    }

    fn pair(&self, l: &Loops<'c>, p: Value<'c>) -> Pair<'c> {
        let place = self.place(&l.scalars(), p);
        Pair { value: l.load_raw(self.values, place), at: l.load_raw(self.places, place) }
    }

    /// Moves a pair down until no child, of the first `size` pairs, falls out before it.
    fn sink(&self, l: &Loops<'c>, from: Value<'c>, size: Value<'c>, levels: Size<'c>) {
        levels.for_(l, &[from], |l, _, carried| {
            let (s, p) = (l.scalars(), carried[0]);
            let last = s.index_max(s.index_affine(size, 1, -1), s.index(0));
            let (left, right) = (s.index_affine(p, 2, 1), s.index_affine(p, 2, 2));
            let there = s.index_compare(Compare::Less, left, size);
            // Both are read, where they lie within the list.
            let (a, b) = (s.index_min(left, last), s.index_min(right, last));
            let (of_a, of_b, own) = (self.pair(l, a), self.pair(l, b), self.pair(l, s.index_min(p, last)));
            let takes_right = behind(&s, self.how, of_b, of_a);
            let child = s.index_select(takes_right, b, a);
            let of_child = Pair {
                value: s.select(takes_right, of_b.value, of_a.value),
                at: s.select(takes_right, of_b.at, of_a.at),
            };
            let sinks = s.and(there, behind(&s, self.how, of_child, own));
            l.guard(sinks, |l| {
                self.set(l, p, of_child);
                self.set(l, child, own);
            });
            // Where it stays, it has come to the end.
            vec![s.index_select(sinks, child, size)]
        });
    }
}

/// Whether a pair falls out before another: its value is behind, or equal and of a later place.
fn behind<'c>(s: &Scalars<'c>, how: Compare, a: Pair<'c>, b: Pair<'c>) -> Scalar<'c> {
    let equal = s.not(s.or(before(s, how, a.value, b.value), before(s, how, b.value, a.value)));
    let later = s.compare(Compare::Greater, a.at, b.at);
    s.or(before(s, how, b.value, a.value), s.and(equal, later))
}

/// The levels of a heap of so many pairs.
pub(super) fn levels<'c>(loops: &Loops<'c>, size: Size<'c>) -> Size<'c> {
    match size {
        Size::Known(k) => Size::Known(u64::from(k.max(1).ilog2()) + 1),
        Size::Dynamic(k) => {
            let zero = loops.scalars().index(0);
            let found = loops.for_(MOST_LEVELS, LoopKind::Serial, &[zero, k], |l, _, carried| {
                let s = l.scalars();
                let more = s.index_compare(Compare::Greater, carried[1], s.index(0));
                let next = s.index_select(more, s.index_affine(carried[0], 1, 1), carried[0]);
                vec![next, s.index_div(carried[1], 2)]
            });
            Size::Dynamic(found[0])
        }
    }
}
