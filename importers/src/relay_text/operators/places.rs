//! Operators that name elements by tuples of places.

use super::{Built, Call, built};
use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use fusion_dialects::Value;
use fusion_operators::Attrs;
use fusion_operators::ops::{indexing, shape};

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    Built { name: "gather_nd", operands: (2, 2), attributes: &["batch_dims"], ignored: &["index_rank"], build: gather_nd },
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
