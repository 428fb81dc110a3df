//! Operators that name elements by tuples of places.
//!
//!     argwhere   the running sum of what holds is where each is written; then as many as hold are taken
//!     unique     in order, an element that differs from the one before it begins a group

use super::shape::fixed;
use super::sorting::ascending;
use super::{Built, Call, built};
use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use fusion_dialects::Value;
use fusion_operators::ops::{creation, elementwise as ew, indexing, reduction, shape};
use fusion_operators::{Attrs, DType};

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    Built { name: "gather_nd", operands: (2, 2), attributes: &["batch_dims"], ignored: &["index_rank"], build: gather_nd },
    built("argwhere", 1, &[], argwhere),
    built("unique", 1, &["sorted", "return_counts"], unique),
    built("scatter_elements", 3, &["axis", "reduction"], scatter_elements),
    built("scatter", 3, &["axis"], |call| scattered(call, Attrs::new())),
    built("scatter_add", 3, &["axis"], |call| scattered(call, Attrs::new().with("reduction", "add"))),
    built("scatter_nd", 3, &["mode"], scatter_nd),
];

/// TVM has the parts of a place along the first axis, ours along the last.
fn places_last<'c>(call: &mut Call<'_, 'c, '_>, places: Value<'c>) -> Outcome<Value<'c>> {
    let rank = call.rank(places)?;
    if rank < 2 {
        return Ok(places);
    }
    let axes: Vec<i64> = (1..rank as i64).chain([0]).collect();
    call.row(&shape::TRANSPOSE, &[places], Attrs::new().with("axes", axes))
}

fn gather_nd<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    if call.int("batch_dims", 0)? != 0 {
        return call.fault("only batch_dims=0 is supported");
    }
    let (x, places) = (call.operand(0), call.operand(1));
    let places = places_last(call, places)?;
    call.plain(&indexing::GATHER_ND, &[x, places]).map(Made::Value)
}

/// TVM calls plain writing "update", ours calls it "none".
fn reduction(call: &Call, name: &str) -> Outcome<Attrs> {
    Ok(match call.text(name, "update")? {
        "update" => Attrs::new(),
        other => Attrs::new().with("reduction", other),
    })
}

fn scatter_elements<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let attrs = reduction(call, "reduction")?;
    scattered(call, attrs)
}

fn scattered<'c>(call: &mut Call<'_, 'c, '_>, attrs: Attrs) -> Outcome<Made<'c>> {
    let (operands, axis) = (call.operands(), call.int("axis", 0)?);
    call.row(&indexing::SCATTER_ELEMENTS, &operands, attrs.with("axis", axis)).map(Made::Value)
}

fn scatter_nd<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let mut operands = call.operands();
    operands[1] = places_last(call, operands[1])?;
    let attrs = reduction(call, "mode")?;
    call.row(&indexing::SCATTER_ND, &operands, attrs).map(Made::Value)
}

/// 0, 1, 2, ... below `count`, as i64.
fn counted<'c>(call: &mut Call<'_, 'c, '_>, count: i64) -> Outcome<Value<'c>> {
    call.row(&creation::ARANGE, &[], Attrs::new().with("size", count).with("dtype", DType::I64))
}

/// The sum of the first elements, each with its own.
fn running<'c>(call: &mut Call<'_, 'c, '_>, x: Value<'c>) -> Outcome<Value<'c>> {
    call.row(&reduction::CUMSUM, &[x], Attrs::new().with("axis", 0))
}

/// The places of the elements of a vector that hold, in order, in a vector of extent `count + 1`; and 0, 1, ... below as many as hold.
fn packed<'c>(call: &mut Call<'_, 'c, '_>, mask: Value<'c>, count: i64) -> Outcome<[Value<'c>; 2]> {
    let ones = call.cast(mask, DType::I64)?;
    let sums = running(call, ones)?;
    let behind = call.plus(sums, -1.0)?;
    // What does not hold is written behind the end.
    let end = call.scalar(DType::I64, count as f64)?;
    let to = call.select(mask, behind, end)?;
    let own = counted(call, count)?;
    let zero = call.scalar(DType::I64, 0.0)?;
    let room = call.broadcast(zero, &[count + 1])?;
    let all = call.row(&indexing::SCATTER_ELEMENTS, &[room, to, own], Attrs::new().with("axis", 0))?;
    let kept = call.summed(ones, &[0])?;
    Ok([all, call.plain(&creation::DYNAMIC_IOTA, &[kept])?])
}

/// The places of the elements of a vector that hold.
pub fn places_where<'c>(call: &mut Call<'_, 'c, '_>, mask: Value<'c>, count: i64) -> Outcome<Value<'c>> {
    let [all, kept] = packed(call, mask, count)?;
    call.gathered(all, kept, 0)
}

/// A row of places for each element that is not 0.
fn argwhere<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let x = call.operand(0);
    let dims = fixed(call, x)?;
    let count = call.countable(&dims)?;
    let flat = call.reshaped(x, &[count])?;
    let mask = call.cast(flat, DType::Bool)?;
    let mut rest = places_where(call, mask, count)?;
    let mut columns = Vec::new();
    for &extent in dims.iter().rev() {
        let extent = call.scalar(DType::I64, extent as f64)?;
        let place = call.plain(&ew::MOD, &[rest, extent])?;
        rest = call.div(rest, extent)?;
        columns.push(call.expanded(place, &[1])?);
    }
    if columns.is_empty() {
        return call.fault("argwhere of a tensor without axes is not supported; give it one axis");
    }
    columns.reverse();
    let rows = call.joined(&columns, 1)?;
    call.cast(rows, DType::I32).map(Made::Value)
}

/// Different elements of a vector; where each stands first; which one each element is; how many there are; how often each stands.
fn unique<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let x = call.operand(0);
    let count = match fixed(call, x)?[..] {
        [count] if count > 0 => count,
        _ => return call.fault("takes a vector that is not empty"),
    };
    call.countable(&[count])?;
    let order = ascending(call, x, count)?;
    let sorted = call.gathered(x, order, 0)?;
    let own = counted(call, count)?;
    let before = call.plus(own, -1.0)?;
    let before = call.clipped(before, 0.0, count as f64)?;
    let before = call.gathered(sorted, before, 0)?;
    let differs = call.plain(&ew::NOT_EQUAL, &[sorted, before])?;
    let zero = call.scalar(DType::I64, 0.0)?;
    let is_first = call.plain(&ew::EQUAL, &[own, zero])?;
    let begins = call.plain(&ew::LOGICAL_OR, &[is_first, differs])?;
    let [places, groups] = packed(call, begins, count)?;
    let steps = call.cast(begins, DType::I64)?;
    let sums = running(call, steps)?;
    let group_of_sorted = call.plus(sums, -1.0)?;
    let zeros = call.broadcast(zero, &[count])?;
    let along = Attrs::new().with("axis", 0);
    let mut group = call.row(&indexing::SCATTER_ELEMENTS, &[zeros, order, group_of_sorted], along.clone())?;
    let ones = call.plus(zeros, 1.0)?;
    let adding = along.clone().with("reduction", "add");
    let mut counts = call.row(&indexing::SCATTER_ELEMENTS, &[zeros, group_of_sorted, ones], adding)?;
    let places = call.sliced(places, &[0], &[0], &[count])?;
    let mut firsts = call.gathered(order, places, 0)?;
    let number = call.summed(steps, &[0])?;
    if !call.flag("sorted", true)? {
        // As they appear: what is no group stands behind the end.
        let is_group = call.plain(&ew::LESS, &[own, number])?;
        let end = call.scalar(DType::I64, count as f64)?;
        let appears = call.select(is_group, firsts, end)?;
        let shown = ascending(call, appears, count)?;
        let place_of_group = call.row(&indexing::SCATTER_ELEMENTS, &[zeros, shown, own], along)?;
        group = call.gathered(place_of_group, group, 0)?;
        firsts = call.gathered(firsts, shown, 0)?;
        counts = call.gathered(counts, shown, 0)?;
    }
    let firsts = call.gathered(firsts, groups, 0)?;
    let number = call.expanded(number, &[0])?;
    let mut made = vec![call.gathered(x, firsts, 0)?];
    for value in [firsts, group, number] {
        made.push(call.cast(value, DType::I32)?);
    }
    if call.flag("return_counts", false)? {
        let counts = call.gathered(counts, groups, 0)?;
        made.push(call.cast(counts, DType::I32)?);
    }
    Ok(Made::several(made))
}
