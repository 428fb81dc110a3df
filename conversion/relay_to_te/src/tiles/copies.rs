//! Copies between a tensor and a tile's part of it, along all axes.
//!
//! ```text
//!   tensor   . . . . |1 2 3 4 5|              a tile from 2 before the tensor on:   0 0 1 2
//!   tile         |0 0 1 2|                    one at its end:                       4 5 0 0
//! ```

use super::geometry::Part;
use super::helpers::Helpers;
use super::tensor::{Local, Tensor, known, number};
use fusion_dialects::Value;
use fusion_dialects::loops::{Buffer, LoopKind, Loops};
use fusion_dialects::te::Scalar;

/// A copy between a tensor and a tile's part of it.
pub struct Copy<'t, 'c> {
    /// The tensor.
    pub tensor: &'t Tensor,
    /// Its parts.
    pub parts: &'t [Part],
    /// Where it is.
    pub whole: Buffer<'c>,
    /// Where the tile's part is.
    pub local: Local<'c>,
    /// The sizes of the tile.
    pub sizes: &'t [u64],
    /// Where it begins.
    pub origins: &'t [Value<'c>],
}

/// A part of both: places that begin at `first` in the tensor, which has `extent` of them, and are `local` in the tile.
#[derive(Clone, Copy)]
struct Line<'c> {
    first: Value<'c>,
    extent: Value<'c>,
    local: Value<'c>,
}

impl<'c> Copy<'_, 'c> {
    /// Fills the tile, with zeros where there is nothing.
    pub fn fill(&self, loops: &Loops<'c>, helpers: &Helpers<'c>) {
        self.call(loops, helpers, "fill", |l, [whole, local], lines, start| {
            let zero = l.scalars().index(0);
            fill(l, (whole, local, start), lines, zero, zero);
        });
    }

    /// Gives back what the tensor has of the tile.
    pub fn give(&self, loops: &Loops<'c>, helpers: &Helpers<'c>) {
        self.call(loops, helpers, "give", |l, [whole, local], lines, start| {
            let zero = l.scalars().index(0);
            give(l, (whole, local, start), lines, zero, zero);
        });
    }

    fn call(
        &self,
        loops: &Loops<'c>,
        helpers: &Helpers<'c>,
        what: &str,
        body: impl FnOnce(&Loops<'c>, [Buffer<'c>; 2], &[Line<'c>], Value<'c>),
    ) {
        let s = loops.scalars();
        let (to, start) = self.local;
        let mut numbers = vec![start];
        for part in self.parts {
            let extent = number(loops, &self.tensor.ty, part);
            let (first, local) = match part.along {
                None => (s.index(0), known(&self.tensor.ty, part)),
                Some(along) => {
                    let origin = self.origins[along.axis];
                    let first = s.index_affine(origin, along.stride as i64, -(along.begin as i64));
                    (first, along.extent(self.sizes[along.axis]))
                }
            };
            numbers.extend([first, extent, s.index(local as i64)]);
        }
        let name = format!("tile_{what}_{}_{}", self.parts.len(), to.dtype);
        helpers.call(loops, &name, &[self.whole, to], &numbers, |l, buffers, numbers| {
            let line = |n: &[Value<'c>]| Line { first: n[0], extent: n[1], local: n[2] };
            let lines: Vec<Line> = numbers[1..].chunks(3).map(line).collect();
            body(l, [buffers[0], buffers[1]], &lines, numbers[0]);
        });
    }
}

/// `from` is the place in the tensor so far, `to` that in the tile, whose elements begin at a place of their buffer.
fn fill<'c>(
    loops: &Loops<'c>,
    buffers: (Buffer<'c>, Buffer<'c>, Value<'c>),
    lines: &[Line<'c>],
    from: Value<'c>,
    to: Value<'c>,
) {
    let s = loops.scalars();
    let Some((line, inner)) = lines.split_first() else {
        return loops.store(loops.load_raw(buffers.0, from), buffers.1, s.index_add(buffers.2, to));
    };
    let (from, to) = (s.index_mul(from, line.extent), s.index_mul(to, line.local));
    // Places before and behind those that there are.
    let zero = s.index(0);
    let within = |n: Value<'c>| s.index_min(s.index_max(n, zero), line.local);
    let before = within(s.index_sub(zero, line.first));
    let end = s.index_max(within(s.index_sub(line.extent, line.first)), before);
    let size = inner.iter().map(|line| line.local).reduce(|a, b| s.index_mul(a, b));
    let zeros = |begin: Value<'c>, end: Value<'c>| {
        let (begin, count) = (s.index_add(to, begin), s.index_sub(end, begin));
        let times = |n: Value<'c>| size.map_or(n, |size| s.index_mul(n, size));
        let begin = s.index_add(buffers.2, times(begin));
        loops.upto(times(count), LoopKind::Serial, &[], |l, i, _| {
            let s = l.scalars();
            let dtype = buffers.1.dtype;
            let zero: Scalar = if dtype.is_float() { s.float(0.0, dtype) } else { s.int(0, dtype) };
            l.store(zero, buffers.1, s.index_add(begin, i));
            Vec::new()
        });
    };
    zeros(zero, before);
    zeros(end, line.local);
    loops.upto(s.index_sub(end, before), LoopKind::Serial, &[], |l, i, _| {
        let s = l.scalars();
        let at = s.index_add(before, i);
        let from = s.index_add(from, s.index_add(line.first, at));
        fill(l, buffers, inner, from, s.index_add(to, at));
        Vec::new()
    });
}

/// `to` is the place in the tensor so far, `from` that in the tile.
fn give<'c>(
    loops: &Loops<'c>,
    buffers: (Buffer<'c>, Buffer<'c>, Value<'c>),
    lines: &[Line<'c>],
    to: Value<'c>,
    from: Value<'c>,
) {
    let s = loops.scalars();
    let Some((line, inner)) = lines.split_first() else {
        return loops.store(loops.load_raw(buffers.1, s.index_add(buffers.2, from)), buffers.0, to);
    };
    let (to, from) = (s.index_mul(to, line.extent), s.index_mul(from, line.local));
    let there = s.index_min(s.index_sub(line.extent, line.first), line.local);
    loops.upto(there, LoopKind::Serial, &[], |l, i, _| {
        let s = l.scalars();
        let place = s.index_add(to, s.index_add(line.first, i));
        give(l, buffers, inner, place, s.index_add(from, i));
        Vec::new()
    });
}
