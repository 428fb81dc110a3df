//! `non_max_suppression`: a heap of the scores of each image and class, from which boxes are taken until enough are chosen.
//!
//! ```text
//!   keys    of candidates: the score's bits in the order of numbers, then the place, the first the greatest
//!   next    the root of the heap; the last key sinks from there
//!   chosen  if it overlaps none of the chosen boxes, whose ends and areas lie side by side
//! ```
//! One comparison of integers orders two candidates. Sorting all would take longer: few boxes are looked at before enough are chosen.

use super::indices::{Size, each_index, number};
use super::topk_heap::levels;
use super::{Built, Table, TeCall};
use fusion_dialects::Value;
use fusion_dialects::loops::{Buffer, LoopKind, Loops};
use fusion_dialects::te::{Compare, Kernel, Scalar, Scalars};
use fusion_operators::ops::non_max_suppression::NON_MAX_SUPPRESSION;
use fusion_operators::{DType, Dim, TensorType};

pub const TABLE: Table = &[(&NON_MAX_SUPPRESSION, non_max_suppression)];

/// Chosen boxes that are asked at once.
const BLOCK: u64 = 8;

/// What is kept of a chosen box: its four ends and its area.
const KEPT: usize = 5;

/// The places of boxes in keys count down from here.
const LAST_PLACE: i64 = i32::MAX as i64;

/// A box: its ends `(y0, x0, y1, x1)`, area and group.
struct Rectangle<'c> {
    ends: [Scalar<'c>; 4],
    area: Scalar<'c>,
    group: Option<Scalar<'c>>,
}

/// The boxes of an image, the scores of a class, and what is found.
struct Line<'c> {
    boxes: Buffer<'c>,
    groups: Option<Buffer<'c>>,
    places: Buffer<'c>,
    keys: Buffer<'c>,
    kept: Buffer<'c>,
    /// Where the line begins in boxes, places, keys, and in what is kept of boxes.
    first: [Value<'c>; 4],
    room: Size<'c>,
    overlap: Scalar<'c>,
    how: Compare,
}

fn non_max_suppression<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let [batch, classes, boxes] = [0, 1, 2].map(|axis| call.dims(1)[axis].clone());
    let room = call.results[0].dims[2].clone();
    let keys = TensorType::new(vec![batch.clone(), classes.clone(), boxes.clone()], DType::I64);
    let kept = vec![batch.clone(), classes.clone(), Dim::Static(KEPT as u64), room.clone()];
    let types = [call.results[0].clone(), keys, TensorType::new(kept, DType::F32)];
    let looked_at = u64::try_from(call.attrs.int_or("top_k", -1)).ok();
    let how = if call.attrs.flag("inclusive") { Compare::GreaterEqual } else { Compare::Greater };
    let made = kernel.nest(call.op.name, &call.operands, &types, |loops, ins, outs| {
        if room.known() == Some(0) {
            return;
        }
        let s = loops.scalars();
        let [most, overlap, least] = [2, 3, 4].map(|operand| loops.load_raw(ins[operand], s.index(0)));
        let sizes = [&batch, &classes].map(|dim| Size::of(&s, std::slice::from_ref(dim)));
        let [n, room_size] = [&boxes, &room].map(|dim| Size::of(&s, std::slice::from_ref(dim)));
        let zero = s.index(0);
        let most = s.index_max(s.index_min(s.to_index(most), room_size.value(&s)), zero);
        each_index(loops, &sizes, &|_| true, &mut |l, at| {
            let s = l.scalars();
            let of_line = number(&s, at, &call.dims(1)[..2]);
            let first = [
                n.times(&s, at[0]),
                room_size.times(&s, of_line),
                n.times(&s, of_line),
                room_size.times(&s, s.index_affine(of_line, KEPT as i64, 0)),
            ];
            let (boxes, groups) = (ins[0], ins.get(5).copied());
            let [places, keys, kept] = [outs[0], outs[1], outs[2]];
            let line = Line { boxes, groups, places, keys, kept, first, room: room_size, overlap, how };
            room_size.each(l, |l, i| line.choose(l, i, l.scalars().int(-1, DType::I64)));
            let count = line.gather(l, ins[1], n, least);
            let looked_at = match looked_at {
                Some(k) => s.index_min(count, s.index(i64::try_from(k).unwrap_or(i64::MAX))),
                None => count,
            };
            line.take(l, count, looked_at, most);
        });
    });
    Ok(made[..1].to_vec())
}

impl<'c> Line<'c> {
    /// Writes the place of the i-th box that is chosen.
    fn choose(&self, l: &Loops<'c>, i: Value<'c>, place: Scalar<'c>) {
        l.store(place, self.places, l.scalars().index_add(self.first[1], i));
    }

    fn key(&self, l: &Loops<'c>, i: Value<'c>) -> Scalar<'c> {
        l.load_raw(self.keys, l.scalars().index_add(self.first[2], i))
    }

    fn set_key(&self, l: &Loops<'c>, i: Value<'c>, key: Scalar<'c>) {
        l.store(key, self.keys, l.scalars().index_add(self.first[2], i));
    }

    /// Lists the keys of candidates, and gives how many there are. Each key is written, and the next over it where it is none's.
    fn gather(&self, l: &Loops<'c>, scores: Buffer<'c>, n: Size<'c>, least: Scalar<'c>) -> Value<'c> {
        let found = n.for_(l, &[l.scalars().index(0)], |l, i, found| {
            let s = l.scalars();
            let score = l.load_raw(scores, s.index_add(self.first[2], i));
            let is_one = s.compare(Compare::Greater, score, least);
            self.set_key(l, found[0], key(&s, score, i));
            vec![s.index_select(is_one, s.index_affine(found[0], 1, 1), found[0])]
        });
        found[0]
    }

    /// Looks at so many of the candidates, the best first, until enough are chosen.
    fn take(&self, l: &Loops<'c>, count: Value<'c>, looked_at: Value<'c>, most: Value<'c>) {
        let (s, levels) = (l.scalars(), levels(l, Size::Dynamic(count)));
        let parents = s.index_div(count, 2);
        l.upto(parents, LoopKind::Serial, &[], |l, i, _| {
            let s = l.scalars();
            let parent = s.index_sub(s.index_affine(parents, 1, -1), i);
            self.sink(l, self.key(l, parent), parent, (count, levels));
            Vec::new()
        });
        l.upto(looked_at, LoopKind::Serial, &[s.index(0)], |l, i, chosen| {
            let s = l.scalars();
            let open = s.index_compare(Compare::Less, chosen[0], most);
            l.guard_else(open.value, chosen, |l| {
                let (s, root) = (l.scalars(), l.scalars().index(0));
                let key = self.key(l, root);
                let left = s.index_sub(s.index_affine(count, 1, -1), i);
                self.sink(l, self.key(l, left), root, (left, levels));
                let low = s.and(key, s.int(LAST_PLACE, DType::I64));
                let place = s.sub(s.int(LAST_PLACE, DType::I64), low);
                let own = self.rectangle(l, s.to_index(place));
                let hit = self.hits(l, &own, chosen[0]);
                let free = s.compare(Compare::Equal, hit, s.int(0, DType::I32));
                l.guard_else(free.value, chosen, |l| {
                    self.choose(l, chosen[0], place);
                    own.ends.iter().chain([&own.area]).enumerate().for_each(|(part, value)| {
                        l.store(*value, self.kept, self.place_kept(&l.scalars(), part, chosen[0]));
                    });
                    vec![l.scalars().index_affine(chosen[0], 1, 1)]
                })
            })
        });
    }

    /// Puts a key where a parent was, and moves greater ones of the first `size` up. Where it comes to rest it is written again and again.
    fn sink(&self, l: &Loops<'c>, key: Scalar<'c>, from: Value<'c>, (size, levels): (Value<'c>, Size<'c>)) {
        let last = l.scalars().index_max(l.scalars().index_affine(size, 1, -1), l.scalars().index(0));
        levels.for_(l, &[from], |l, _, carried| {
            let (s, p) = (l.scalars(), carried[0]);
            let (left, right) = (s.index_affine(p, 2, 1), s.index_affine(p, 2, 2));
            let there = s.index_compare(Compare::Less, left, size);
            // Both are read, where they lie within the list.
            let (a, b) = (s.index_min(left, last), s.index_min(right, last));
            let (of_a, of_b) = (self.key(l, a), self.key(l, b));
            let takes_right = s.compare(Compare::Greater, of_b, of_a);
            let child = s.index_select(takes_right, b, a);
            let of_child = s.select(takes_right, of_b, of_a);
            let sinks = s.and(there, s.compare(Compare::Greater, of_child, key));
            self.set_key(l, p, s.select(sinks, of_child, key));
            vec![s.index_select(sinks, child, p)]
        });
    }

    fn rectangle(&self, l: &Loops<'c>, place: Value<'c>) -> Rectangle<'c> {
        let s = l.scalars();
        let at = s.index_add(self.first[0], place);
        let ends = [0, 1, 2, 3].map(|part| l.load_raw(self.boxes, s.index_affine(at, 4, part)));
        let group = self.groups.map(|groups| l.load_raw(groups, at));
        Rectangle { ends, area: area(&s, ends), group }
    }

    /// The place of a part of a box that is chosen.
    fn place_kept(&self, s: &Scalars<'c>, part: usize, i: Value<'c>) -> Value<'c> {
        s.index_add(s.index_add(self.first[3], self.room.times(s, s.index(part as i64))), i)
    }

    /// Whether a box overlaps one of the first that are chosen, as a number: 0 if not.
    fn hits(&self, l: &Loops<'c>, own: &Rectangle<'c>, chosen: Value<'c>) -> Scalar<'c> {
        let (s, as_hit) = (l.scalars(), |value| Scalar { value, dtype: DType::I32 });
        let none = s.int(0, DType::I32).value;
        let one = |l: &Loops<'c>, i: Value<'c>, so_far: Value<'c>| {
            let s = l.scalars();
            // As numbers, or each of them becomes a branch.
            vec![s.or(as_hit(so_far), s.cast(self.overlaps(l, own, i), DType::I32)).value]
        };
        let blocks = s.index_div(chosen, BLOCK as i64);
        let hit = l.upto(blocks, LoopKind::Serial, &[none], |l, block, hit| {
            let s = l.scalars();
            let open = s.compare(Compare::Equal, as_hit(hit[0]), s.int(0, DType::I32));
            l.guard_else(open.value, hit, |l| {
                l.for_(BLOCK, LoopKind::Unrolled, &[none], |l, i, hit| {
                    let place = l.scalars().index_add(l.scalars().index_affine(block, BLOCK as i64, 0), i);
                    one(l, place, hit[0])
                })
            })
        });
        let (done, rest) = (s.index_affine(blocks, BLOCK as i64, 0), s.index_mod(chosen, BLOCK as i64));
        let hit =
            l.upto(rest, LoopKind::Serial, &hit, |l, i, hit| one(l, l.scalars().index_add(done, i), hit[0]));
        as_hit(hit[0])
    }

    /// Whether a box overlaps the i-th that is chosen.
    fn overlaps(&self, l: &Loops<'c>, own: &Rectangle<'c>, i: Value<'c>) -> Scalar<'c> {
        let s = l.scalars();
        let kept = |part| l.load_raw(self.kept, self.place_kept(&s, part, i));
        let [a, b] = [[0, 1, 2, 3].map(kept), own.ends];
        let (y0, x0) = (greater(&s, a[0], b[0]), greater(&s, a[1], b[1]));
        let (y1, x1) = (less(&s, a[2], b[2]), less(&s, a[3], b[3]));
        let shared = area(&s, [y0, x0, greater(&s, y1, y0), greater(&s, x1, x0)]);
        let covered = s.sub(s.add(kept(4), own.area), shared);
        let far = s.compare(self.how, shared, s.mul(covered, self.overlap));
        let hits = s.and(s.compare(Compare::Greater, covered, s.float(0.0, DType::F32)), far);
        let (Some(group), Some(groups)) = (own.group, self.groups) else { return hits };
        let place = s.to_index(l.load_raw(self.places, s.index_add(self.first[1], i)));
        let other = l.load_raw(groups, s.index_add(self.first[0], place));
        s.and(hits, s.compare(Compare::Equal, group, other))
    }
}

/// A score and its place in one integer: the greater comes first.
fn key<'c>(s: &Scalars<'c>, score: Scalar<'c>, place: Value<'c>) -> Scalar<'c> {
    let zero = s.float(0.0, DType::F32);
    // Zero of either sign is one number.
    let score = s.select(s.compare(Compare::Equal, score, zero), zero, score);
    let bits = s.bitcast(score, DType::I32);
    let negative = s.compare(Compare::Less, bits, s.int(0, DType::I32));
    let order = s.select(negative, s.xor(bits, s.int(i32::MAX.into(), DType::I32)), bits);
    let high = s.shift_left(s.cast(order, DType::I64), s.int(32, DType::I64));
    s.or(high, s.sub(s.int(LAST_PLACE, DType::I64), s.from_index(place, DType::I64)))
}

fn area<'c>(s: &Scalars<'c>, [y0, x0, y1, x1]: [Scalar<'c>; 4]) -> Scalar<'c> {
    s.mul(s.sub(y1, y0), s.sub(x1, x0))
}

fn greater<'c>(s: &Scalars<'c>, a: Scalar<'c>, b: Scalar<'c>) -> Scalar<'c> {
    s.select(s.compare(Compare::Greater, a, b), a, b)
}

fn less<'c>(s: &Scalars<'c>, a: Scalar<'c>, b: Scalar<'c>) -> Scalar<'c> {
    s.select(s.compare(Compare::Less, a, b), a, b)
}
