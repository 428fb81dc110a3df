//! Scatters: updates that are combined into computed places.
//!
//! As in gathers, axes are picked by an index, by an index plus the place in a window, or moved as whole rows; then
//! relay.scatter_nd writes.
//! Updates out of bounds are left out: those that are added (multiplied, ...) become the number that changes nothing; those that replace
//! go to a row behind the operand's, which is cut off. A region that relay has no operator for runs once for each index, in a loop.

use crate::sources::{Fault, Outcome};
use crate::stablehlo::emit::{Emitter, Held, Results};
use crate::stablehlo::graph::{Block, Operation};
use crate::stablehlo::ops::combining::bodies::{combiner, gives_second};
use crate::stablehlo::ops::combining::reduction::identity;
use crate::stablehlo::ops::control::{counted, lifted};
use crate::stablehlo::ops::moving::gather::{component, vectors_last};
use crate::stablehlo::ops::{Row, row};
use fusion_dialects::Value;
use fusion_operators::ops::{elementwise as ew, indexing};
use fusion_operators::{Attrs, DType};

pub const ROWS: &[Row] = &[row("stablehlo.scatter", scatter)];

/// Where updates go.
struct Places<'c> {
    /// [batch, windows, axes]: an index for each indexed axis.
    indices: Value<'c>,
    /// Which of them are in bounds; none where all are.
    inside: Option<Value<'c>>,
    /// The order of the operand's axes: those that are indexed, then whole ones.
    order: Vec<usize>,
    /// The order of the updates' axes: the batch, the windows, whole axes.
    update_order: Vec<usize>,
    /// How many axes the batch has.
    batch: usize,
    /// The extents of updates, batch and windows, and whole axes.
    extents: (Vec<usize>, Vec<usize>),
}

fn scatter<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    if x.len() < 3 || x.len() % 2 != 1 {
        return op.fault("it takes operands, indices, and as many updates as operands");
    }
    let count = x.len() / 2;
    let (data, updates) = (&x[..count], &x[count + 1..]);
    let indices = e.tensor(op, x, count)?;
    let shape = e.shape(e.parts(op, data, 0)?[0])?;
    let update_shape = e.shape(e.parts(op, updates, 0)?[0])?;
    let region = op.region(0)?;
    if update_shape.contains(&0) || shape.contains(&0) {
        return Ok(data.to_vec());
    }
    let places = places(e, op, indices, &shape, &update_shape)?;
    let dtype = e.dtype(e.parts(op, data, 0)?[0])?;
    let mode = match combiner(region) {
        _ if count > 1 => None,
        _ if gives_second(region) => Some("none"),
        Some("add") if dtype != DType::Bool => Some("add"),
        Some("multiply") if dtype != DType::Bool => Some("mul"),
        Some("maximum") if dtype != DType::Bool => Some("max"),
        Some("minimum") if dtype != DType::Bool => Some("min"),
        _ => None,
    };
    match (mode, &data[0], &updates[0]) {
        (Some(mode), Held::Tensor(data), Held::Tensor(updates)) => {
            Ok(vec![Held::Tensor(at_once(e, region, &places, mode, *data, *updates)?)])
        }
        (Some(mode @ ("none" | "add")), Held::Complex(re, im), Held::Complex(new_re, new_im)) => {
            let re = at_once(e, region, &places, mode, *re, *new_re)?;
            Ok(vec![Held::Complex(re, at_once(e, region, &places, mode, *im, *new_im)?)])
        }
        _ => one_by_one(e, op, region, &places, data, updates),
    }
}

fn places<'c>(
    e: &mut Emitter<'c, '_>,
    op: &Operation,
    indices: Value<'c>,
    extents: &[usize],
    update_extents: &[usize],
) -> Outcome<Places<'c>> {
    let (rank, update_rank, index_rank) = (extents.len(), update_extents.len(), e.rank(indices)?);
    let window_dims = op.axes("update_window_dims", update_rank)?;
    let (inserted, batching) =
        (op.axes("inserted_window_dims", rank)?, op.axes("input_batching_dims", rank)?);
    let map = op.axes("scatter_dims_to_operand_dims", rank)?;
    let vector_axis = op.int_or("index_vector_dim", 0)?;
    let lower = |a: usize| if (a as i64) > vector_axis { a - 1 } else { a };
    let batch_axes: Vec<usize> =
        op.axes("scatter_indices_batching_dims", index_rank)?.into_iter().map(lower).collect();
    let vectors = vectors_last(e, op, indices)?;
    let (dtype, vector_shape) = (e.dtype(vectors)?, e.shape(vectors)?);
    let batch = vector_shape[..vector_shape.len() - 1].to_vec();
    let kept: Vec<usize> = (0..rank).filter(|a| !inserted.contains(a) && !batching.contains(a)).collect();
    let fits = kept.len() == window_dims.len()
        && update_rank == batch.len() + kept.len()
        && vector_shape.last() == Some(&map.len())
        && batch_axes.len() == batching.len();
    if !fits {
        return op.fault("the dimension numbers do not fit the operand, the indices and the updates");
    }
    // How much of each axis an update has.
    let mut sizes = vec![1; rank];
    kept.iter().zip(&window_dims).for_each(|(&axis, &window)| sizes[axis] = update_extents[window]);
    let is_whole = |a: usize| kept.contains(&a) && !map.contains(&a) && sizes[a] == extents[a];
    let indexed: Vec<usize> = (0..rank).filter(|&a| !is_whole(a)).collect();
    let whole: Vec<usize> = (0..rank).filter(|&a| is_whole(a)).collect();
    let windows: Vec<usize> = indexed.iter().copied().filter(|a| kept.contains(a)).collect();
    let window_sizes: Vec<usize> = windows.iter().map(|&a| sizes[a]).collect();
    let grid = [&batch[..], &window_sizes].concat();
    let (mut columns, mut inside) = (Vec::new(), None);
    for &axis in &indexed {
        let mut column = match (map.iter().position(|&a| a == axis), batching.iter().position(|&a| a == axis))
        {
            (Some(j), _) => component(e, vectors, j, windows.len())?,
            (None, Some(i)) => {
                let place = batch_axes[i];
                e.iota_along(dtype, batch.get(place).copied().unwrap_or(1), place, grid.len())?
            }
            (None, None) => e.int(dtype, 0)?,
        };
        if let Some(w) = windows.iter().position(|&a| a == axis) {
            let numbers = e.iota_along(dtype, sizes[axis], batch.len() + w, grid.len())?;
            column = e.add(column, numbers)?;
        }
        let fits = |n: i128| (0..extents[axis] as i128).contains(&n);
        let known = e.known(column).is_some_and(|t| t.to_ints().into_iter().all(fits));
        if map.contains(&axis) && !known {
            let (zero, end) = (e.int(dtype, 0)?, e.int(dtype, extents[axis] as i128)?);
            let (below, above) = (e.bin(&ew::GREATER_EQUAL, column, zero)?, e.less(column, end)?);
            let own = e.and(below, above)?;
            inside = Some(match inside {
                None => own,
                Some(inside) => e.and(inside, own)?,
            });
        }
        columns.push(column);
    }
    let inside = inside.map(|inside| e.broadcast(inside, &grid)).transpose()?;
    let mut spread = Vec::new();
    for &column in &columns {
        let all = e.broadcast(column, &grid)?;
        spread.push(e.reshape(all, &[&grid[..], &[1]].concat())?);
    }
    if spread.is_empty() {
        return op.fault("a scatter that replaces the whole operand has no indices; use its update instead");
    }
    let indices = e.concat(&spread, grid.len())?;
    let window_of = |axis: &usize| kept.iter().position(|a| a == axis).map_or(0, |i| window_dims[i]);
    let batch_dims = (0..update_rank).filter(|a| !window_dims.contains(a));
    let update_order =
        batch_dims.chain(windows.iter().map(window_of)).chain(whole.iter().map(window_of)).collect();
    let whole_sizes = whole.iter().map(|&a| sizes[a]).collect();
    let order = [&indexed[..], &whole].concat();
    Ok(Places { indices, inside, order, update_order, batch: batch.len(), extents: (grid, whole_sizes) })
}

fn back(order: &[usize]) -> Vec<usize> {
    let mut back = vec![0; order.len()];
    order.iter().enumerate().for_each(|(place, &axis)| back[axis] = place);
    back
}

/// Whether each update is in bounds, in a shape that broadcasts to updates or to indices.
fn spread_inside<'c>(
    e: &mut Emitter<'c, '_>,
    places: &Places<'c>,
    axes: usize,
) -> Outcome<Option<Value<'c>>> {
    let Some(inside) = places.inside else { return Ok(None) };
    e.reshape(inside, &[&places.extents.0[..], &vec![1; axes]].concat()).map(Some)
}

/// With one operator of relay.
fn at_once<'c>(
    e: &mut Emitter<'c, '_>,
    region: &Block,
    places: &Places<'c>,
    mode: &str,
    data: Value<'c>,
    updates: Value<'c>,
) -> Outcome<Value<'c>> {
    let dtype = e.dtype(data)?;
    let mut data = e.transpose(data, &places.order)?;
    let mut updates = e.transpose(updates, &places.update_order)?;
    let (mut indices, mut cut) = (places.indices, None);
    let (of_indices, of_updates) =
        (spread_inside(e, places, 1)?, spread_inside(e, places, places.extents.1.len())?);
    if let (Some(of_indices), Some(of_updates)) = (of_indices, of_updates) {
        let index_type = e.dtype(indices)?;
        let zero = e.int(index_type, 0)?;
        match combiner(region).and_then(|name| identity(name, dtype)).filter(|_| mode != "none") {
            Some(neutral) => {
                indices = e.select(of_indices, indices, zero)?;
                let neutral = e.scalar(dtype, neutral)?;
                updates = e.select(of_updates, updates, neutral)?;
            }
            None => {
                // Out of bounds is the first place of a row behind all others.
                let shape = e.shape(data)?;
                let axes = *e.shape(indices)?.last().unwrap_or(&1);
                let mut outside = vec![0; axes];
                outside[0] = shape[0] as i64;
                let outside = e.ints(index_type, &[axes], &outside)?;
                indices = e.select(of_indices, indices, outside)?;
                let (mut row, zero) = (shape.clone(), e.scalar(dtype, 0.0)?);
                row[0] = 1;
                let row = e.broadcast(zero, &row)?;
                data = e.concat(&[data, row], 0)?;
                cut = Some(shape[0]);
            }
        }
    }
    let mut written =
        e.op(&indexing::SCATTER_ND, &[data, indices, updates], Attrs::new().with("reduction", mode))?;
    if let Some(extent) = cut {
        written = e.slice(written, 0, [0, extent, 1])?;
    }
    e.transpose(written, &back(&places.order))
}

/// A loop over the batch: what is there, combined with the updates of one index, takes its place.
fn one_by_one<'c, 'p>(
    e: &mut Emitter<'c, 'p>,
    op: &'p Operation,
    region: &'p Block,
    places: &Places<'c>,
    data: &[Held<'c>],
    updates: &[Held<'c>],
) -> Results<'c> {
    let (grid, whole) = &places.extents;
    let count: usize = grid[..places.batch].iter().product();
    let windows = &grid[places.batch..];
    let axes = *e.shape(places.indices)?.last().unwrap_or(&1);
    let rows = |list: &[usize]| [&[count], windows, list].concat();
    let indices = e.reshape(places.indices, &rows(&[axes]))?;
    let of_updates = spread_inside(e, places, whole.len())?;
    let inside = of_updates.map(|inside| e.reshape(inside, &rows(&vec![1; whole.len()]))).transpose()?;
    let of_indices = spread_inside(e, places, 1)?;
    let indices = match of_indices {
        None => indices,
        Some(of_indices) => {
            let (flat, dtype) = (e.reshape(of_indices, &rows(&[1]))?, e.dtype(indices)?);
            let zero = e.int(dtype, 0)?;
            e.select(flat, indices, zero)?
        }
    };
    let (mut state, mut new) = (Vec::new(), Vec::new());
    for i in 0..data.len() {
        let (x, update) = (e.tensor(op, data, i)?, e.tensor(op, updates, i)?);
        state.push(e.transpose(x, &places.order)?);
        let turned = e.transpose(update, &places.update_order)?;
        new.push(e.reshape(turned, &rows(whole))?);
    }
    let made = counted(e, count, &state, |e, counter, state| {
        turn(e, op, region, (counter, state), (indices, inside), &new)
    })?;
    let mut results = Vec::new();
    for value in made {
        results.push(Held::Tensor(e.transpose(value, &back(&places.order))?));
    }
    Ok(results)
}

fn turn<'c, 'p>(
    e: &mut Emitter<'c, 'p>,
    op: &'p Operation,
    region: &'p Block,
    (counter, state): (Value<'c>, &[Value<'c>]),
    (indices, inside): (Value<'c>, Option<Value<'c>>),
    updates: &[Value<'c>],
) -> Result<Vec<Value<'c>>, Box<Fault>> {
    let own = e.gather(indices, counter, 0)?;
    let valid = inside.map(|inside| e.gather(inside, counter, 0)).transpose()?;
    let (mut there, mut new) = (Vec::new(), Vec::new());
    for (&x, &update) in state.iter().zip(updates) {
        there.push(e.op(&indexing::GATHER_ND, &[x, own], Attrs::new())?);
        new.push(e.gather(update, counter, 0)?);
    }
    let pairs = there.iter().chain(&new).map(|&x| Held::Tensor(x)).collect();
    let results = lifted(e, region, pairs)?;
    let mut values = Vec::new();
    for (i, (&x, &old)) in state.iter().zip(&there).enumerate() {
        let mut combined = e.tensor(op, &results, i)?;
        if let Some(valid) = valid {
            combined = e.select(valid, combined, old)?;
        }
        let dims = e.dims(old)?;
        let combined = e.broadcast_dims(combined, dims)?;
        values.push(e.op(&indexing::SCATTER_ND, &[x, own, combined], Attrs::new())?);
    }
    Ok(values)
}
