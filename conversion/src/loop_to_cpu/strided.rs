//! Elements a few places apart, as vectors that are loaded whole and shuffled.

use fusion_dialects::te::Scalars;
use fusion_dialects::{Build, Op, OpExt, Value, ValueLike, ints_attr, vector_parts};
use fusion_loops::strided::{MOST, begin, places};

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
    let loads: Vec<Value> = (0..stride)
        .map(|part| {
            let at = Scalars { build }.index_affine(index, 1, begin(part, stride, lanes));
            build.value("vector.load", &[buffer, at], result.r#type(), &[])
        })
        .collect();
    let mut whole = loads[0];
    for (part, load) in (1..).zip(&loads[1..]) {
        let mask = ints_attr(build.context(), &places(part, stride, lanes));
        whole = build.value("vector.shuffle", &[whole, *load], result.r#type(), &[("mask", mask)]);
    }
    op.replace_all_uses(&[whole]);
    op.erase();
    true
}
