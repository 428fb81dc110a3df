//! `bitcast`: the bits of an element as another type of its size.
//!
//!     y[i] = bits of x[i]
//!
//! Half types are computed in f32, which holds each of their numbers, so that they are what they were once narrowed.

use super::{Built, Table, TeCall};
use fusion_dialects::te::Kernel;
use fusion_operators::ops::elementwise::BITCAST;

pub const TABLE: Table = &[(&BITCAST, bitcast)];

fn bitcast<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let (from, to) = (call.types[0].dtype, call.results[0].dtype);
    let result = kernel.compute(call.op.name, &call.results[0], |s, axes| {
        s.bitcast(s.cast(s.load(call.operands[0], axes), from), to)
    });
    Ok(vec![result])
}
