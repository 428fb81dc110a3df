//! Operators that say where, when or how something is computed, and nothing of what: their value is their operand.
//!
//!     on_device(%x, virtual_device=meta[VirtualDevice][0])   =>   %x
//!
//! TVM's passes put them in and take them out again; the texts that TVM printed in between have them.

use super::{Built, Call};
use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;

const fn hint(name: &'static str, ignored: &'static [&'static str]) -> Built {
    Built { name, operands: (1, 1), attributes: &[], ignored, build: value }
}

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    hint("on_device", &["virtual_device", "device_type", "constrain_result", "constrain_body", "is_fixed"]),
    hint("device_copy", &["src_virtual_device", "dst_virtual_device", "src_dev_type", "dst_dev_type"]),
    hint("annotation.stop_fusion", &[]), hint("annotation.cast_hint", &["dtype"]),
    hint("annotation.bitpack_start", &[]), hint("annotation.bitpack_end", &[]),
    hint("annotation.checkpoint", &[]), hint("annotation.with_funcid", &["fid"]),
    hint("annotation.compiler_begin", &["compiler"]), hint("annotation.compiler_end", &["compiler"]),
    hint("debug", &["debug_func"]),
];

fn value<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    Ok(call.arguments[0].clone())
}
