//! Sparse tensors: lists of places and values, and matrices by rows (CSR) or by rows of blocks (BSR).
//!
//! Where the places are constants, a sparse matrix becomes a dense one of zeros in which its values are put; products are dense.

use super::places::places_where;
use super::shape::fixed;
use super::sorting::ascending;
use super::{Built, Call, built};
use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use fusion_dialects::Value;
use fusion_operators::ops::{contraction, convolution, elementwise as ew, indexing};
use fusion_operators::{Attrs, DType};

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    built("sparse_to_dense", 3, &["output_shape"], |call| {
        let shape = call.maybe_ints("output_shape")?.unwrap_or_default();
        to_dense(call, &shape)
    }),
    built("nn.sparse_dense", 4, &["sparse_lhs"], sparse_dense),
    built("nn.internal.sparse_dense_padded", 4, &["sparse_lhs"], sparse_dense),
    built("nn.sparse_conv2d", 4, &["layout", "kernel_size"], sparse_conv2d),
    built("nn.sparse_add", 4, &[], sparse_add),
    built("nn.sparse_transpose", 3, &[], transpose),
    built("sparse_reshape", 3, &[], reshape),
    built("sparse_fill_empty_rows", 4, &[], fill_empty_rows),
];

/// The default everywhere but at the places.
pub fn to_dense<'c>(call: &mut Call<'_, 'c, '_>, shape: &[i64]) -> Outcome<Made<'c>> {
    let (places, mut values, default) = (call.operand(0), call.operand(1), call.operand(2));
    let dtype = call.dtype(values)?;
    let default = call.cast(default, dtype)?;
    let full = call.broadcast(default, shape)?;
    let given = fixed(call, places)?;
    let rank = shape.len() as i64;
    let count = match given[..] {
        [] => 1,
        [count] if rank == 1 => count,
        [count, parts] if parts == rank => count,
        _ => return call.fault(format!("the places {given:?} are none in a tensor of extents {shape:?}")),
    };
    let places = call.cast(places, DType::I64)?;
    let places = call.reshaped(places, &[count, rank])?;
    if call.rank(values)? == 0 {
        values = call.broadcast(values, &[count])?;
    }
    call.plain(&indexing::SCATTER_ND, &[full, places, values]).map(Made::Value)
}

/// The matrix that three operands are, whose rows are given by `indptr` and whose columns are of that number.
fn matrix<'c>(call: &mut Call<'_, 'c, '_>, first: usize, columns: i64) -> Outcome<Value<'c>> {
    let data = call.operand(first);
    let (indices, starts) = (call.known_ints(first + 1)?, call.known_ints(first + 2)?);
    let (height, width) = match fixed(call, data)?[..] {
        [_] => (1, 1),
        [_, height] => (height, 1),
        [_, height, width] => (height, width),
        _ => return call.fault("takes values of a sparse matrix, one or a block for each index"),
    };
    call.countable(&[indices.len() as i64, height, width])?;
    call.moderate(&[starts.len() as i64])?;
    if indices.iter().any(|column| *column < 0 || *column >= columns / width.max(1)) {
        return call.fault(format!("the indices of a matrix of {columns} columns are out of range"));
    }
    let rows = (starts.len() as i64 - 1) * height;
    let mut places = Vec::new();
    for (row, bounds) in starts.windows(2).enumerate() {
        let range = usize::try_from(bounds[0]).ok().zip(usize::try_from(bounds[1]).ok());
        let Some(inside) = range.and_then(|(begin, end)| indices.get(begin..end)) else {
            return call
                .fault(format!("row {row} is said to have the indices {} to {}", bounds[0], bounds[1]));
        };
        for column in inside {
            for i in 0..height {
                places.extend((0..width).flat_map(|j| [row as i64 * height + i, column * width + j]));
            }
        }
    }
    let count = places.len() as i64 / 2;
    call.countable(&[count, 2])?;
    if count != indices.len() as i64 * height * width || rows < 1 {
        return call.fault("the rows do not have all of the indices");
    }
    let dtype = call.dtype(data)?;
    let zero = call.scalar(dtype, 0.0)?;
    let zeros = call.broadcast(zero, &[rows, columns])?;
    let places = call.ints_in(DType::I64, &[count, 2], &places)?;
    let data = call.reshaped(data, &[count])?;
    // What stands at one place several times adds up.
    call.row(&indexing::SCATTER_ND, &[zeros, places, data], Attrs::new().with("reduction", "add"))
}

/// x W^T, or W x^T where the sparse one stands on the left.
fn sparse_dense<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let x = call.operand(0);
    let &[_, columns] = fixed(call, x)?.as_slice() else { return call.fault("takes a matrix") };
    let sparse = matrix(call, 1, columns)?;
    let operands = if call.flag("sparse_lhs", false)? { [sparse, x] } else { [x, sparse] };
    call.plain(&contraction::DENSE, &operands).map(Made::Value)
}

/// A convolution of kernels of 1, or of 3 with padding of 1. A row of W has its columns in the order of windows of the layout.
fn sparse_conv2d<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    call.require("layout", "NHWC", &["NHWC", "NCHW"])?;
    let channels_last = call.text("layout", "NHWC")? != "NCHW";
    let side = match call.maybe_ints("kernel_size")?.as_deref() {
        None | Some([1] | [1, 1]) => 1,
        Some([3] | [3, 3]) => 3,
        Some(other) => return call.fault(format!("takes a kernel_size of 1 or 3, found {other:?}")),
    };
    let x = call.operand(0);
    let x = if channels_last { call.transposed(x, &[0, 3, 1, 2])? } else { x };
    let &[_, channels, ..] = fixed(call, x)?.as_slice() else { return call.fault("takes an image") };
    let sparse = matrix(call, 1, channels * side * side)?;
    let rows = fixed(call, sparse)?[0];
    let weight = if channels_last {
        let weight = call.reshaped(sparse, &[rows, side, side, channels])?;
        call.transposed(weight, &[0, 3, 1, 2])?
    } else {
        call.reshaped(sparse, &[rows, channels, side, side])?
    };
    let attrs = Attrs::new().with("padding", vec![side / 2; 4]);
    let y = call.row(&convolution::CONV2D, &[x, weight], attrs)?;
    let y = if channels_last { call.transposed(y, &[0, 2, 3, 1])? } else { y };
    Ok(Made::Value(y))
}

fn sparse_add<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let x = call.operand(0);
    let &[_, columns] = fixed(call, x)?.as_slice() else { return call.fault("takes a matrix") };
    let sparse = matrix(call, 1, columns)?;
    call.add(x, sparse).map(Made::Value)
}

/// A square matrix by its columns: values, indices and where columns begin.
fn transpose<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let data = call.operand(0);
    let (indices, starts) = (call.known_ints(1)?, call.known_ints(2)?);
    let types = [call.operand(1), call.operand(2)];
    let types = [call.dtype(types[0])?, call.dtype(types[1])?];
    let columns = starts.len() as i64 - 1;
    let mut entries: Vec<(i64, i64, i64)> = Vec::new();
    for (row, bounds) in starts.windows(2).enumerate() {
        for at in bounds[0]..bounds[1] {
            match usize::try_from(at).ok().and_then(|at| indices.get(at)) {
                Some(&column) if (0..columns).contains(&column) => entries.push((column, row as i64, at)),
                _ => return call.fault("takes a square matrix, whose rows have all of the indices"),
            }
        }
    }
    entries.sort_unstable();
    let count = entries.len() as i64;
    call.countable(&[count])?;
    let order: Vec<i64> = entries.iter().map(|entry| entry.2).collect();
    let rows: Vec<i64> = entries.iter().map(|entry| entry.1).collect();
    let begins: Vec<i64> =
        (0..=columns).map(|column| entries.partition_point(|entry| entry.0 < column) as i64).collect();
    let order = call.ints_in(DType::I64, &[count], &order)?;
    let values = call.gathered(data, order, 0)?;
    let rows = call.ints_in(types[0], &[count], &rows)?;
    let begins = call.ints_in(types[1], &[columns + 1], &begins)?;
    Ok(Made::several(vec![values, rows, begins]))
}

/// The places in a tensor of another shape, and that shape.
fn reshape<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let places = call.operand(0);
    let (from, mut to) = (call.known_ints(1)?, call.known_ints(2)?);
    let dtype = call.dtype(places)?;
    let all = call.countable(&from).or_else(|_| call.fault("the shape has too many elements"))?;
    let given: Vec<i64> = to.iter().copied().filter(|&n| n != -1).collect();
    let fixed_part = call.countable(&given)?;
    if let Some(rest) = to.iter_mut().find(|n| **n == -1).filter(|_| fixed_part > 0) {
        *rest = all / fixed_part;
    }
    if call.countable(&to)? != all || from.is_empty() || to.is_empty() {
        return call.fault(format!("a tensor of extents {from:?} cannot have the extents {to:?}"));
    }
    let steps = |shape: &[i64]| -> Vec<i64> {
        (0..shape.len()).map(|axis| shape[axis + 1..].iter().product()).collect()
    };
    let weights = call.ints_in(dtype, &[from.len() as i64], &steps(&from))?;
    let weighted = call.mul(places, weights)?;
    let flat = call.summed(weighted, &[1])?;
    let flat = call.expanded(flat, &[1])?;
    let rank = to.len() as i64;
    let (sizes, extents) = (call.ints_in(dtype, &[rank], &steps(&to))?, call.ints_in(dtype, &[rank], &to)?);
    let whole = call.div(flat, sizes)?;
    let result = call.plain(&ew::MOD, &[whole, extents])?;
    Ok(Made::several(vec![result, extents]))
}

/// The places and values of a matrix with an entry in each row: an empty one gets the default in its first column. And which were empty.
fn fill_empty_rows<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (places, values, default) = (call.operand(0), call.operand(1), call.operand(3));
    let shape = call.known_ints(2)?;
    let given = fixed(call, places)?;
    let (&[count, rank], Some(&rows)) = (given.as_slice(), shape.first()) else {
        return call.fault("takes places [N, rank] of a tensor that has axes");
    };
    if rank != shape.len() as i64 || call.countable(&[count + rows.max(0), rank])? < 0 || rows < 0 {
        return call.fault(format!("the places {given:?} are none in a tensor of extents {shape:?}"));
    }
    let dtype = call.dtype(places)?;
    let row_of = call.sliced(places, &[1], &[0], &[1])?;
    let row_of = call.reshaped(row_of, &[count])?;
    let row_of = call.cast(row_of, DType::I64)?;
    let (zero, one) = (call.scalar(DType::I64, 0.0)?, call.scalar(DType::I64, 1.0)?);
    let (zeros, ones) = (call.broadcast(zero, &[rows])?, call.broadcast(one, &[count])?);
    let adding = Attrs::new().with("axis", 0).with("reduction", "add");
    let filled = call.row(&indexing::SCATTER_ELEMENTS, &[zeros, row_of, ones], adding)?;
    let is_empty = call.plain(&ew::EQUAL, &[filled, zero])?;
    // All entries and one for each row, by their rows; then those that are wanted.
    let own: Vec<i64> = (0..rows).collect();
    let own = call.ints_in(DType::I64, &[rows], &own)?;
    let all_rows = call.joined(&[row_of, own], 0)?;
    let always = call.cast(ones, DType::Bool)?;
    let is_wanted = call.joined(&[always, is_empty], 0)?;
    let order = ascending(call, all_rows, count + rows)?;
    let is_wanted = call.gathered(is_wanted, order, 0)?;
    let wanted = places_where(call, is_wanted, count + rows)?;
    let order = call.gathered(order, wanted, 0)?;
    let own = call.expanded(own, &[1])?;
    let own = call.cast(own, dtype)?;
    let own = call.padded(own, &[0, 0], &[0, rank - 1], 0.0)?;
    let places = call.joined(&[places, own], 0)?;
    let default = call.reshaped(default, &[1])?;
    let default = call.broadcast(default, &[rows])?;
    let values = call.joined(&[values, default], 0)?;
    let (places, values) = (call.gathered(places, order, 0)?, call.gathered(values, order, 0)?);
    Ok(Made::several(vec![places, values, is_empty]))
}
