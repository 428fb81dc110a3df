//! Elements a few places apart, as vectors that are loaded whole.
//!
//!     x[0], x[2], ..., x[30]      =>      a = x[0 .. 16],  b = x[15 .. 31]      a and b end where the elements do
//!                                         a0 a2 ... a14 b1 b3 ... b15           one shuffle of two registers
//!
//! A gather takes a cycle or two an element, a load half of one for all of them. With `s` places between elements it takes `s` loads
//! and `s - 1` shuffles, so that this is for small strides.

use fusion_dialects::te::Scalars;
use fusion_dialects::{Build, Op, OpExt, Value, ValueLike, ints_attr, vector_parts};

/// The longest stride: beyond it shuffles cost what they save.
const MOST: i64 = 4;
/// Shorter vectors are no longer than what they are made of.
const FEWEST_LANES: i64 = 4;

/// Replaces a strided load; false when its stride is too long, and then nothing changed.
pub fn load(op: Op) -> bool {
    let [buffer, index] = op.operand_values()[..] else { return false };
    let Some(result) = op.result_values().first().copied() else { return false };
    let stride = op.int("stride").unwrap_or(0);
    let lanes = vector_parts(result.r#type()).map_or(0, |(_, n)| n as i64);
    if !(2..=MOST).contains(&stride) || lanes < FEWEST_LANES {
        return false;
    }
    let build = Build::before(op);
    let from = |part: i64| first_of(part, stride, lanes);
    let loads: Vec<Value> = (0..stride)
        .map(|part| {
            let at = Scalars { build }.index_affine(index, 1, from(part));
            build.value("vector.load", &[buffer, at], result.r#type(), &[])
        })
        .collect();
    let mut whole = loads[0];
    for (part, load) in (1..).zip(&loads[1..]) {
        // Elements of the first part stand where they were loaded, those that were put in place since stay there.
        let place = |l: i64| match l * stride < from(part - 1) + lanes {
            true if part == 1 => l * stride,
            true => l,
            false => (lanes + l * stride - from(part)).min(2 * lanes - 1),
        };
        let mask = ints_attr(build.context(), &(0..lanes).map(place).collect::<Vec<_>>());
        whole = build.value("vector.shuffle", &[whole, *load], result.r#type(), &[("mask", mask)]);
    }
    op.replace_all_uses(&[whole]);
    op.erase();
    true
}

/// Where a part begins, so that the last one ends with the last element.
fn first_of(part: i64, stride: i64, lanes: i64) -> i64 {
    (part * lanes).min(stride * (lanes - 1) + 1 - lanes)
}
