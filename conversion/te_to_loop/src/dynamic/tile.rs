//! Stages with vectors and tiles of registers, where what they read allows it.
//!
//! ```text
//!   across: along the last parallel axis elements are neighbours        dot: along the last reduction axis they are
//!     upto i / 4, upto j / 32                                             upto i / 4, upto j / 4
//!       for 4 unrolled, for 2 unrolled, for 16 vectorized                   for 4 unrolled, for 4 unrolled
//!         k: s += a[i, k] b[k, j]                                             k: s += x[i, k] w[j, k]       vectors by LLVM
//! ```
//!
//! What is left of an axis runs in smaller steps, at last one by one. Stages without a reduction have no tiles, only vectors.

use super::reads::Reads;
use super::{Lowering, Range};
use fusion_dialects::loops::{LoopKind, Loops};
use fusion_dialects::{Op, OpExt, Value, tensor_type};
use fusion_operators::Dim;

/// Bytes of a vector. Processors with shorter ones take several.
const VECTOR_BYTES: u64 = 64;
/// Rows and vectors, or rows and columns, of a tile: its sums fit into the registers of any processor with vectors.
const ROWS: u64 = 4;
const VECTORS: u64 = 2;
const COLUMNS: u64 = 4;
/// Rows of a block of a product at least: what its columns read is read once a block.
const BLOCK_ROWS: i64 = 32;

/// A step along an axis: so many iterations at once, how they run, and how many of these.
#[derive(Clone, Copy)]
struct Step {
    unrolled: u64,
    lanes: u64,
}

impl Step {
    const ONE: Step = Step { unrolled: 1, lanes: 1 };

    fn points(self) -> u64 {
        self.unrolled * self.lanes
    }
}

/// A number of iterations.
#[derive(Clone, Copy)]
enum Count<'c> {
    Known(u64),
    Dynamic(Value<'c>, Range),
}

/// The iterations of an axis that are left to be run, and where they begin.
#[derive(Clone, Copy)]
struct Left<'c> {
    first: Value<'c>,
    count: Count<'c>,
}

/// Steps for what whole vectors leave of an axis: shorter vectors where it is known that they are filled.
fn shorter(axis: &Dim, lanes: u64) -> Vec<Step> {
    let halves =
        std::iter::successors(Some(lanes / 2), |lanes| Some(lanes / 2)).take_while(|lanes| *lanes > 1);
    let filled = |lanes: &u64| axis.known().is_some_and(|extent| extent & lanes != 0);
    halves.filter(filled).map(|lanes| Step { unrolled: 1, lanes }).chain([Step::ONE]).collect()
}

impl<'c> Lowering<'c> {
    /// Computes a stage in tiles; false when it has none, and then nothing was made.
    pub(super) fn tiled(&mut self, loops: &Loops<'c>, op: Op<'c>, parallel: &[Dim], reduced: &[Dim]) -> bool {
        let Some((last, outer)) = parallel.split_last() else { return false };
        let reads: Reads = self.reads(op);
        let across = *last != Dim::Static(1) && reads.are_contiguous_along(parallel.len() - 1);
        let dot = !reduced.is_empty() && reads.are_contiguous_along(parallel.len() + reduced.len() - 1);
        let several = op.result_values().len() > 1;
        let lanes = op.result_values().into_iter().filter_map(tensor_type).map(|ty| ty.dtype.size() as u64);
        let lanes = VECTOR_BYTES / lanes.max().unwrap_or(1).clamp(4, VECTOR_BYTES);
        let (rows, columns) = match (across, dot, reduced.is_empty()) {
            (true, _, true) => {
                (vec![Step::ONE], [&[Step { unrolled: 1, lanes }], &shorter(last, lanes)[..]].concat())
            }
            (true, _, false) if !several => (
                vec![Step { unrolled: ROWS, lanes: 1 }, Step::ONE],
                [
                    &[Step { unrolled: VECTORS, lanes }, Step { unrolled: 1, lanes }],
                    &shorter(last, lanes)[..],
                ]
                .concat(),
            ),
            (_, true, false) if !several && !outer.is_empty() => (
                vec![Step { unrolled: ROWS, lanes: 1 }, Step::ONE],
                vec![Step { unrolled: COLUMNS, lanes: 1 }, Step::ONE],
            ),
            _ => return false,
        };
        let zero = loops.scalars().index(0);
        // Blocks of rows over the first axis that has several, or over the only one.
        let first = outer.iter().position(|dim| *dim != Dim::Static(1)).unwrap_or(outer.len());
        let rest = [parallel.get(first + 1..).unwrap_or_default(), reduced].concat();
        let all = [rows, columns];
        let (before, behind) = (vec![zero; first], parallel.len() - first - 1);
        let least = if behind == 1 && !reduced.is_empty() { BLOCK_ROWS } else { 1 };
        self.row_blocks(loops, &parallel[first], (&rest, least), |this, inner, begin, count| {
            let own = Left { first: begin, count: Count::Dynamic(count, Range::ANY) };
            let mut axes = before;
            match behind {
                0 => {
                    let none = [Step::ONE].to_vec();
                    this.columns(inner, op, &axes, None, own, [&none, &all[1]], reduced);
                }
                1 => {
                    let columns = this.whole(inner, last);
                    this.columns(inner, op, &axes, Some(own), columns, [&all[0], &all[1]], reduced);
                }
                _ => {
                    inner.upto(count, LoopKind::Serial, &[], |inner, i, _| {
                        axes.push(inner.scalars().index_add(begin, i));
                        this.outer(inner, op, &mut axes, &parallel[first + 1..], &all, reduced);
                        Vec::new()
                    });
                }
            }
        });
        true
    }

    fn whole(&mut self, loops: &Loops<'c>, dim: &Dim) -> Left<'c> {
        let count = match dim {
            Dim::Static(known) => Count::Known(*known),
            Dim::Symbol(name) => {
                let range = self.ranges.get(name).copied().unwrap_or(Range::ANY);
                Count::Dynamic(self.extent(loops, dim), range)
            }
            _ => Count::Dynamic(self.extent(loops, dim), Range::ANY),
        };
        Left { first: loops.scalars().index(0), count }
    }

    /// Loops over the axes before the last two.
    fn outer(
        &mut self,
        loops: &Loops<'c>,
        op: Op<'c>,
        axes: &mut Vec<Value<'c>>,
        left: &[Dim],
        steps: &[Vec<Step>; 2],
        reduced: &[Dim],
    ) {
        let [dim, rest @ ..] = left else { return };
        if let [last] = rest {
            let (rows, columns) = (self.whole(loops, dim), self.whole(loops, last));
            let axes = axes.clone();
            self.columns(loops, op, &axes, Some(rows), columns, [&steps[0], &steps[1]], reduced);
            return;
        }
        self.each(loops, dim, &[], |this, inner, i, _| {
            axes.push(i);
            this.outer(inner, op, axes, rest, steps, reduced);
            axes.pop();
            Vec::new()
        });
    }

    /// Tiles over rows, if there are any, and columns.
    #[allow(clippy::too_many_arguments)]
    fn columns(
        &mut self,
        loops: &Loops<'c>,
        op: Op<'c>,
        axes: &[Value<'c>],
        rows: Option<Left<'c>>,
        columns: Left<'c>,
        [row_steps, column_steps]: [&[Step]; 2],
        reduced: &[Dim],
    ) {
        let Some(rows) = rows else {
            self.steps(loops, columns, column_steps, &mut |this, inner, j, step| {
                this.tile(inner, op, axes, None, (j, step), reduced);
            });
            return;
        };
        if reduced.is_empty() {
            self.steps(loops, rows, row_steps, &mut |this, inner, i, of_rows| {
                this.steps(inner, columns, column_steps, &mut |this, inner, j, step| {
                    this.tile(inner, op, axes, Some((i, of_rows)), (j, step), reduced);
                });
            });
            return;
        }
        // What columns read is read again for each tile of rows, and stays near meanwhile.
        self.steps(loops, columns, column_steps, &mut |this, inner, j, step| {
            this.steps(inner, rows, row_steps, &mut |this, inner, i, of_rows| {
                this.tile(inner, op, axes, Some((i, of_rows)), (j, step), reduced);
            });
        });
    }

    /// Runs an axis in steps: the largest as often as it fits, then the next.
    fn steps(
        &mut self,
        loops: &Loops<'c>,
        mut left: Left<'c>,
        steps: &[Step],
        body: &mut dyn FnMut(&mut Self, &Loops<'c>, Value<'c>, Step),
    ) {
        let s = loops.scalars();
        for &step in steps {
            let points = step.points();
            let first = left.first;
            let place = |inner: &Loops<'c>, i: Value<'c>| {
                let s = inner.scalars();
                s.index_add(first, s.index_affine(i, points as i64, 0))
            };
            match left.count {
                Count::Known(count) => {
                    let times = count / points;
                    if times > 0 {
                        loops.for_(times, LoopKind::Serial, &[], |inner, i, _| {
                            let at = place(inner, i);
                            body(self, inner, at, step);
                            Vec::new()
                        });
                    }
                    let begin = s.index_affine(first, 1, (times * points) as i64);
                    left = Left { first: begin, count: Count::Known(count % points) };
                }
                Count::Dynamic(_, range) if range.most < points => {}
                Count::Dynamic(count, range) => {
                    let times = s.index_div(count, points as i64);
                    loops.upto(times, LoopKind::Serial, &[], |inner, i, _| {
                        let at = place(inner, i);
                        body(self, inner, at, step);
                        Vec::new()
                    });
                    if range.multiple.is_multiple_of(points) {
                        return;
                    }
                    let done = s.index_affine(times, points as i64, 0);
                    left = Left {
                        first: s.index_add(first, done),
                        count: Count::Dynamic(
                            s.index_sub(count, done),
                            Range { most: range.most.min(points - 1), ..range },
                        ),
                    };
                }
            }
        }
    }

    /// The points of a tile.
    fn tile(
        &mut self,
        loops: &Loops<'c>,
        op: Op<'c>,
        axes: &[Value<'c>],
        rows: Option<(Value<'c>, Step)>,
        (column, step): (Value<'c>, Step),
        reduced: &[Dim],
    ) {
        let along = |loops: &Loops<'c>, first: Value<'c>, scale: u64, i: Value<'c>| {
            let s = loops.scalars();
            s.index_add(first, s.index_affine(i, scale as i64, 0))
        };
        let row = rows.map_or(Step::ONE, |(_, step)| step);
        repeat(loops, row.unrolled, LoopKind::Unrolled, |loops, i| {
            let mut axes = axes.to_vec();
            if let Some((first, _)) = rows {
                axes.push(along(loops, first, 1, i));
            }
            repeat(loops, step.unrolled, LoopKind::Unrolled, |loops, u| {
                let first = along(loops, column, step.lanes, u);
                repeat(loops, step.lanes, LoopKind::Vectorized, |loops, v| {
                    axes.push(along(loops, first, 1, v));
                    let flags = self.roundings.of_reduction(step.lanes > 1);
                    self.point_with(loops, op, &axes, reduced, flags);
                });
            });
        });
    }
}

/// A loop, unless it has one iteration.
fn repeat<'c>(loops: &Loops<'c>, count: u64, kind: LoopKind, body: impl FnOnce(&Loops<'c>, Value<'c>)) {
    if count == 1 {
        return body(loops, loops.scalars().index(0));
    }
    loops.for_(count, kind, &[], |inner, i, _| {
        body(inner, i);
        Vec::new()
    });
}
