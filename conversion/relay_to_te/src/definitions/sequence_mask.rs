//! `sequence_mask`: an element, or the mask behind the end of its sequence.
//!
//!     y[i, b, ...] = i < length[b] ? x[i, b, ...] : mask_value

use super::{Built, Table, TeCall};
use fusion_dialects::te::{Compare, Kernel};
use fusion_operators::DType;
use fusion_operators::ops::sequence_mask::{SEQUENCE_MASK, axes};

pub const TABLE: Table = &[(&SEQUENCE_MASK, sequence_mask)];

fn sequence_mask<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let [sequence, batch] = axes(&call.facts()).map_err(|violation| violation.to_string())?;
    let mask = call.attrs.float_or("mask_value", 0.0);
    let result = kernel.compute(call.op.name, &call.results[0], |s, at| {
        let x = s.load(call.operands[0], at);
        let length = s.cast(s.load(call.operands[1], &[at[batch]]), DType::I64);
        let is_inside = s.compare(Compare::Less, s.from_index(at[sequence], DType::I64), length);
        let mask = s.cast(s.float(mask, DType::F64), x.dtype);
        s.select(is_inside, x, mask)
    });
    Ok(vec![result])
}
