//! Scans: `y[i] = f over j <= i of x[j]` along an axis; exclusive, over j < i; reversed, over j >= i.
//!
//! A line is scanned by one thread, lines that lie side by side as vectors. On a GPU, where there are few long lines, each is cut into chunks:
//!
//! ```text
//!   p[c] = f over chunk c of x          a thread a chunk
//!   q[c] = f over b < c of p[b]         a thread a line
//!   y[i] = f(q[c], x of chunk c up to i)      a thread a chunk
//! ```
//!
//! These are the three passes of Blelloch, "Prefix Sums and Their Applications" (1990), with chunks so long that the passes take as few steps
//! as they can, about three times the root of twice the line's elements.

use super::indices::{Lines, Size, each_index, side_by_side};
use super::{Built, Table, TeCall};
use fusion_dialects::Value;
use fusion_dialects::loops::{LoopKind, Loops};
use fusion_dialects::te::{Kernel, Scalar, Scalars};
use fusion_operators::ops::reduction::{CUMPROD, CUMSUM, axis};
use fusion_operators::{DType, TensorType};

pub const TABLE: Table = &[
    (&CUMSUM, |kernel, call| scan(kernel, call, 0, Scalars::add)),
    (&CUMPROD, |kernel, call| scan(kernel, call, 1, Scalars::mul)),
];

/// Lines of fewer elements are not cut: two more launches take as long as these.
const FEWEST_ELEMENTS: u64 = 512;
/// So many lines keep a GPU busy by themselves.
const ENOUGH_LINES: u64 = 1 << 14;

/// What combines two values.
type Combine<'c> = fn(&Scalars<'c>, Scalar<'c>, Scalar<'c>) -> Scalar<'c>;

/// Half types are accumulated in f32.
fn scan<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>, neutral: i64, f: Combine<'c>) -> Built<'c> {
    let axis = axis(&call.facts()).map_err(|violation| violation.to_string())?;
    let (exclusive, reverse) = (call.attrs.flag("exclusive"), call.attrs.flag("reverse"));
    let wide = kernel.compute_type(call.types[0].dtype);
    if let Some(chunks) = Chunks::of(call, axis).filter(|_| !call.fp_math.is_strict()) {
        return Ok(chunks.scan(kernel, call, (neutral, f), wide));
    }
    Ok(kernel.nest(call.op.name, &call.operands, &call.results, |loops, ins, outs| {
        let lines = Lines::along(&loops.scalars(), call.dims(0), axis);
        let scan = |line: &Loops<'c>, outer, within| {
            let s = line.scalars();
            let first = lines.first(&s, outer, within);
            let start = s.int(neutral, wide).value;
            lines.extent.for_(line, &[start], |l, i, carried| {
                let s = l.scalars();
                let i = if reverse { lines.extent.mirrored(&s, i) } else { i };
                let place = lines.element(&s, first, i);
                let before = Scalar { value: carried[0], dtype: wide };
                let total = f(&s, before, l.load(ins[0], place));
                l.store(if exclusive { before } else { total }, outs[0], place);
                vec![total.value]
            });
        };
        match lines.inner {
            Size::Known(inner) if inner > 1 && !call.on_gpu() => {
                each_index(loops, &[lines.outer], &|_| true, &mut |l, at| {
                    side_by_side(l, inner, &mut |l, within| scan(l, at[0], within));
                });
            }
            inner => each_index(loops, &[lines.outer, inner], &|_| true, &mut |l, at| scan(l, at[0], at[1])),
        }
    }))
}

/// Lines that are cut.
struct Chunks {
    outer: u64,
    inner: u64,
    /// Chunks of a line.
    count: u64,
    /// Elements of a chunk.
    each: u64,
}

impl Chunks {
    /// The chunks of a scan's lines, where cutting them takes a few of the steps.
    fn of(call: &TeCall, axis: usize) -> Option<Chunks> {
        let shape = call.types[0].shape().filter(|_| call.on_gpu())?;
        let (outer, inner) = (shape[..axis].iter().product(), shape[axis + 1..].iter().product::<u64>());
        let (elements, lines) = (shape[axis], u64::saturating_mul(outer, inner));
        if elements < FEWEST_ELEMENTS || !(1..ENOUGH_LINES).contains(&lines) {
            return None;
        }
        let steps = |count: &u64| count + 2 * (elements / count);
        let largest = 2 * elements.isqrt();
        let divides = (2..=largest).filter(|count| elements.is_multiple_of(*count));
        let count = divides.min_by_key(steps).filter(|count| steps(count) <= elements / 2)?;
        Some(Chunks { outer, inner, count, each: elements / count })
    }

    fn scan<'c>(
        &self,
        kernel: &Kernel<'c>,
        call: &TeCall<'c>,
        (neutral, f): (i64, Combine<'c>),
        wide: DType,
    ) -> Vec<Value<'c>> {
        let (exclusive, reverse) = (call.attrs.flag("exclusive"), call.attrs.flag("reverse"));
        let of_chunks = [TensorType::fixed(&[self.outer, self.count, self.inner], wide)];
        let named = |what: &str| format!("{}_{what}", call.op.name);
        let totals = kernel.nest(&named("of_chunks"), &call.operands, &of_chunks, |loops, ins, outs| {
            self.each(loops, |l, chunk, first| {
                let start = l.scalars().int(neutral, wide).value;
                let total = l.for_(self.each, LoopKind::Serial, &[start], |l, i, carried| {
                    let s = l.scalars();
                    let so_far = Scalar { value: carried[0], dtype: wide };
                    vec![f(&s, so_far, l.load(ins[0], self.element(&s, first, i))).value]
                });
                l.store(Scalar { value: total[0], dtype: wide }, outs[0], chunk);
            });
        });
        let before = kernel.nest(&named("before_chunks"), &totals, &of_chunks, |loops, ins, outs| {
            let sizes = [self.outer, self.inner].map(Size::Known);
            each_index(loops, &sizes, &|_| true, &mut |line, at| {
                let s = line.scalars();
                let first = s.index_add(s.index_affine(at[0], (self.count * self.inner) as i64, 0), at[1]);
                let start = s.int(neutral, wide).value;
                line.for_(self.count, LoopKind::Serial, &[start], |l, c, carried| {
                    let s = l.scalars();
                    let c = if reverse { Size::Known(self.count).mirrored(&s, c) } else { c };
                    let place = self.element(&s, first, c);
                    let before = Scalar { value: carried[0], dtype: wide };
                    l.store(before, outs[0], place);
                    vec![f(&s, before, l.load(ins[0], place)).value]
                });
            });
        });
        let operands = [call.operands.as_slice(), &before].concat();
        kernel.nest(call.op.name, &operands, &call.results, |loops, ins, outs| {
            self.each(loops, |l, chunk, first| {
                let start = l.load(ins[1], chunk).value;
                l.for_(self.each, LoopKind::Serial, &[start], |l, i, carried| {
                    let s = l.scalars();
                    let i = if reverse { Size::Known(self.each).mirrored(&s, i) } else { i };
                    let place = self.element(&s, first, i);
                    let before = Scalar { value: carried[0], dtype: wide };
                    let total = f(&s, before, l.load(ins[0], place));
                    l.store(if exclusive { before } else { total }, outs[0], place);
                    vec![total.value]
                });
            });
        })
    }

    /// Independent loops over all chunks, with the number of each and the place of its first element.
    fn each<'c>(&self, loops: &Loops<'c>, mut body: impl FnMut(&Loops<'c>, Value<'c>, Value<'c>)) {
        let sizes = [self.outer, self.count, self.inner].map(Size::Known);
        each_index(loops, &sizes, &|_| true, &mut |l, at| {
            let s = l.scalars();
            let chunk = s.index_add(s.index_affine(at[0], self.count as i64, 0), at[1]);
            let place = |step: u64| s.index_add(s.index_affine(chunk, (step * self.inner) as i64, 0), at[2]);
            body(l, place(1), place(self.each));
        });
    }

    /// The place of an element, or chunk, of a line.
    fn element<'c>(&self, s: &Scalars<'c>, first: Value<'c>, i: Value<'c>) -> Value<'c> {
        s.index_add(first, s.index_affine(i, self.inner as i64, 0))
    }
}
