//! Operators that name elements by tuples of places.
//!
//!     argwhere   the running sum of what holds is where each is written; then as many as hold are taken

use super::shape::fixed;
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
    built("scatter_elements", 3, &["axis", "reduction"], scatter_elements),
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
    let operands = call.operands();
    let attrs = reduction(call, "reduction")?.with("axis", call.int("axis", 0)?);
    call.row(&indexing::SCATTER_ELEMENTS, &operands, attrs).map(Made::Value)
}

fn scatter_nd<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let mut operands = call.operands();
    operands[1] = places_last(call, operands[1])?;
    let attrs = reduction(call, "mode")?;
    call.row(&indexing::SCATTER_ND, &operands, attrs).map(Made::Value)
}

/// A row of places for each element that is not 0.
fn argwhere<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let x = call.operand(0);
    let dims = fixed(call, x)?;
    let count = call.countable(&dims)?;
    let flat = call.reshaped(x, &[count])?;
    let mask = call.cast(flat, DType::Bool)?;
    let ones = call.cast(mask, DType::I64)?;
    let sums = call.row(&reduction::CUMSUM, &[ones], Attrs::new().with("axis", 0))?;
    let behind = call.plus(sums, -1.0)?;
    // What does not hold is written behind the end.
    let end = call.scalar(DType::I64, count as f64)?;
    let to = call.select(mask, behind, end)?;
    let own: Vec<i64> = (0..count).collect();
    let own = call.ints_in(DType::I64, &[count], &own)?;
    let room = call.ints_in(DType::I64, &[count + 1], &vec![0; count as usize + 1])?;
    let all = call.row(&indexing::SCATTER_ELEMENTS, &[room, to, own], Attrs::new().with("axis", 0))?;
    let kept = call.summed(ones, &[0])?;
    let kept = call.plain(&creation::DYNAMIC_IOTA, &[kept])?;
    let mut rest = call.gathered(all, kept, 0)?;
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
