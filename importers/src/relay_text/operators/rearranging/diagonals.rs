//! Parts of matrices by their diagonals: those on one side of one, and bands that are put in.

use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use crate::relay_text::operators::shape::fixed;
use crate::relay_text::operators::{Built, Call, built};
use fusion_operators::DType;
use fusion_operators::ops::elementwise as ew;

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    built("trilu", 2, &["upper"], trilu),
    built("matrix_set_diag", 2, &["k1", "k2", "super_diag_right_align", "sub_diag_right_align"], set_diagonals),
];

/// The elements on or above (below) the diagonal that the second operand says; the others become 0.
fn trilu<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, k, upper) = (call.operand(0), call.operand(1), call.flag("upper", true)?);
    let shape = fixed(call, x)?;
    let [.., rows, columns] = shape[..] else { return call.fault("takes matrices") };
    call.countable(&[rows, columns])?;
    let numbers: Vec<i64> = (0..rows).flat_map(|i| (0..columns).map(move |j| j - i)).collect();
    let diagonal = call.ints_in(DType::I64, &[rows, columns], &numbers)?;
    let mut k = call.cast(k, DType::I64)?;
    if call.rank(k)? > 0 {
        k = call.reshaped(k, &[])?;
    }
    let row = if upper { &ew::GREATER_EQUAL } else { &ew::LESS_EQUAL };
    let kept = call.plain(row, &[diagonal, k])?;
    let zero = call.like(x, 0.0)?;
    call.select(kept, x, zero).map(Made::Value)
}

/// Diagonals k1 to k2, the highest first; shorter ones begin at the left of their row or end at its right.
fn set_diagonals<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (x, diagonals) = (call.operand(0), call.operand(1));
    let (k1, k2) = (call.int("k1", 0)?, call.int("k2", 0)?);
    let (shape, given) = (fixed(call, x)?, fixed(call, diagonals)?);
    let [ref batch @ .., rows, columns] = shape[..] else { return call.fault("takes matrices") };
    call.moderate(&[k1, k2])?;
    let count = k2 - k1 + 1;
    let single = k1 == k2 && given.len() + 1 == shape.len();
    let Some(&length) = given.last().filter(|_| count > 0 && (single || given.len() == shape.len())) else {
        return call.fault("takes the diagonals k1 to k2, one row each");
    };
    call.countable(&[count, length])?;
    let right = [call.flag("sub_diag_right_align", false)?, call.flag("super_diag_right_align", true)?];
    call.countable(&[rows, columns])?;
    let (mut places, mut within) = (Vec::new(), Vec::new());
    for i in 0..rows {
        for j in 0..columns {
            let k = j - i;
            let inside = (k1..=k2).contains(&k);
            let long = if k >= 0 { (columns - k).min(rows) } else { columns.min(rows + k) };
            let aligned = !single && right[usize::from(k >= 0)];
            let offset = if aligned { length - long } else { 0 };
            let place = (k2 - k) * length + i.min(j) + offset;
            within.push(i64::from(inside));
            places.push(if inside { place } else { 0 });
        }
    }
    if places.iter().any(|place| !(0..count * length).contains(place)) {
        return call.fault(format!("rows of {length} elements are too short for these diagonals"));
    }
    let mut flat = batch.to_vec();
    flat.push(count * length);
    let flat = call.reshaped(diagonals, &flat)?;
    let places = call.ints_in(DType::I64, &[rows, columns], &places)?;
    let values = call.gathered(flat, places, batch.len() as i64)?;
    let within = call.ints_in(DType::Bool, &[rows, columns], &within)?;
    call.select(within, values, x).map(Made::Value)
}
