//! Convolutions in Winograd's form, `y = A' [ sum_c u * (B' x B) ] A`, in five stages:
//!
//!     pad       p[n, i, j, c]     the data with its channels last, and with zeros around
//!     data      v[k, t, c]        B' p B of each tile t; k counts the points of a tile
//!     multiply  s[k, t, f]        sum_c v[k, t, c] u[k, c, f]: a product of matrices for each point
//!     result    r[i, j, f]        A' s A, the rows of all images one behind the other
//!     winograd  y[n, f, i, j]     channels back in their place; what tiles reach beyond the result is left out
//!
//! Channels are the vectors: the transforms are sums of them (Lavin and Gray, 2016, section 4). Both compute in parts, a row of tiles
//! each, so that a schedule can go through all stages row by row.

use super::indices::side_by_side;
use super::sparse::apply;
use super::{Table, TeCall};
use fusion_dialects::Value;
use fusion_dialects::loops::Loops;
use fusion_dialects::te::{Combine, Compare, Kernel, Scalar, Scalars, Slice, View};
use fusion_operators::ops::winograd::{Matrix, Transform, WINOGRAD_CONV2D, padding, transform};
use fusion_operators::{DType, TensorType};

pub const TABLE: Table = &[(&WINOGRAD_CONV2D, winograd)];

/// The extents of the tiles.
struct Tiles {
    images: u64,
    rows: u64,
    columns: u64,
    by: &'static Transform,
}

impl Tiles {
    fn count(&self) -> u64 {
        self.images * self.rows * self.columns
    }

    /// Points of a tile.
    fn points(&self) -> u64 {
        (self.by.reads() * self.by.reads()) as u64
    }
}

fn winograd<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Result<Vec<Value<'c>>, String> {
    let by = transform(call.attrs.int_or("tile", 0)).ok_or("has a tile that is not 2 or 4")?;
    let padding = padding(&call.facts()).ok_or("has padding that is not four numbers")?;
    let (shape, result) = (call.shape(0), call.result_shape(0));
    let (channels, filters, size) = (shape[1], result[1], by.size as u64);
    let tiles =
        Tiles { images: result[0], rows: result[2].div_ceil(size), columns: result[3].div_ceil(size), by };
    let of = |extents: &[u64]| TensorType::fixed(extents, DType::F32);

    let padded = of(&[shape[0], tiles.rows * size + 2, tiles.columns * size + 2, channels]);
    let p = kernel.compute("pad", &padded, |s, at| {
        let zero = s.float(0.0, DType::F32);
        let axis = |at: Value<'c>, before: i64, extent: u64| {
            let index = s.index_affine(at, 1, -before);
            let from = s.index_compare(Compare::GreaterEqual, index, s.index(0));
            let until = s.index_compare(Compare::Less, index, s.index(extent as i64));
            (index, s.and(from, until))
        };
        let (i, in_rows) = axis(at[1], padding[0], shape[2]);
        let (j, in_columns) = axis(at[2], padding[1], shape[3]);
        s.load_if(s.and(in_rows, in_columns), call.operands[0], &[at[0], at[3], i, j], zero)
    });

    // A part is a row of tiles.
    let parts = tiles.images * tiles.rows;
    let rows = |step: u64, length: u64| Slice { dim: 1, step, length };
    let of_pad = (tiles.images == 1).then(|| rows(size, size + 2));
    let row_of_tiles = rows(tiles.columns, tiles.columns);
    let transformed = of(&[tiles.points(), tiles.count(), channels]);
    let v = kernel.nest_by_parts(
        "data",
        parts,
        &[(p, of_pad)],
        (&transformed, row_of_tiles),
        |loops, part, ins, out| {
            let reads = by.reads();
            let from = match of_pad {
                Some(_) => ins[0].first,
                None => {
                    let s = loops.scalars();
                    let image = s.index_mul(s.index_div(part, tiles.rows as i64), ins[0].strides[0]);
                    let row = s.index_affine(s.index_mod(part, tiles.rows as i64), size as i64, 0);
                    let of_image = s.index_add(ins[0].first, image);
                    s.index_add(of_image, s.index_mul(row, ins[0].strides[1]))
                }
            };
            each_tile(loops, &tiles, channels, &mut |l, column, c| {
                let s = l.scalars();
                let first = s.index_add(from, s.index_affine(column, (size * channels) as i64, 0));
                let first = s.index_add(first, c);
                let element = |i: usize, j: usize| {
                    let below = s.index_mul(s.index(i as i64), ins[0].strides[1]);
                    let at = s.index_add(s.index_affine(first, 1, (j as u64 * channels) as i64), below);
                    l.load(ins[0].buffer, at)
                };
                let points = both_sides(&s, by.data, reads, &element);
                let to = s.index_add(out.first, s.index_affine(column, channels as i64, 0));
                store_points(l, out, &points, s.index_add(to, c));
            });
        },
    );

    let products = of(&[tiles.points(), tiles.count(), filters]);
    let u = call.operands[1];
    let m = kernel.reduce("multiply", &products, &[channels], Combine::Sum, |s, at, over| {
        s.mul(s.load(v, &[at[0], at[1], over[0]]), s.load(u, &[at[0], over[0], at[2]]))
    });

    let whole = of(&[tiles.images * tiles.rows * size, tiles.columns * size, filters]);
    let of_whole = Slice { dim: 0, step: size, length: size };
    let r = kernel.nest_by_parts(
        "result",
        parts,
        &[(m, Some(row_of_tiles))],
        (&whole, of_whole),
        |loops, _, ins, out| {
            let reads = by.reads();
            each_tile(loops, &tiles, filters, &mut |l, column, f| {
                let s = l.scalars();
                let first = s.index_add(ins[0].first, s.index_affine(column, filters as i64, 0));
                let first = s.index_add(first, f);
                let element = |i: usize, j: usize| {
                    let point = s.index_mul(s.index((i * reads + j) as i64), ins[0].strides[0]);
                    l.load(ins[0].buffer, s.index_add(first, point))
                };
                let values = both_sides(&s, by.result, reads, &element);
                let to = s.index_add(out.first, s.index_affine(column, (size * filters) as i64, 0));
                let to = s.index_add(to, f);
                for (i, line) in values.iter().enumerate() {
                    let start = s.index_add(to, s.index_mul(s.index(i as i64), out.strides[0]));
                    for (j, value) in line.iter().enumerate() {
                        let at = s.index_affine(start, 1, (j as u64 * filters) as i64);
                        l.store(*value, out.buffer, at);
                    }
                }
            });
        },
    );
    let y = kernel.compute(call.op.name, &call.results[0], |s, at| {
        let row = s.index_add(s.index_affine(at[0], (tiles.rows * size) as i64, 0), at[2]);
        s.load(r, &[row, at[3], at[1]])
    });
    Ok(vec![y])
}

/// Runs `body` for each tile of a row and each channel, the channels side by side.
fn each_tile<'c>(
    loops: &Loops<'c>,
    tiles: &Tiles,
    channels: u64,
    body: &mut dyn FnMut(&Loops<'c>, Value<'c>, Value<'c>),
) {
    loops.each_independent(tiles.columns, |l, column| {
        side_by_side(l, channels, &mut |l, channel| body(l, column, channel));
    });
}

fn store_points<'c>(loops: &Loops<'c>, to: &View<'c>, points: &[Vec<Scalar<'c>>], first: Value<'c>) {
    let s = loops.scalars();
    for (k, value) in points.iter().flatten().enumerate() {
        let behind = s.index_mul(s.index(k as i64), to.strides[0]);
        loops.store(*value, to.buffer, s.index_add(first, behind));
    }
}

/// `m x m'` for the product m of the second and the first matrix; column by column, then row by row.
fn both_sides<'c>(
    s: &Scalars<'c>,
    m: [Matrix; 2],
    reads: usize,
    element: &dyn Fn(usize, usize) -> Scalar<'c>,
) -> Vec<Vec<Scalar<'c>>> {
    let columns: Vec<Vec<Scalar>> =
        (0..reads).map(|j| apply(s, m, &(0..reads).map(|i| element(i, j)).collect::<Vec<_>>())).collect();
    (0..m[1].len()).map(|i| apply(s, m, &columns.iter().map(|c| c[i]).collect::<Vec<_>>())).collect()
}
