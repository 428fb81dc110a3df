//! Conversions that change nothing, and conversions of conversions.

use super::{Folded, Rules, Site};
use crate::OpExt;
use fusion_operators::dtype::Class;
use fusion_operators::ops::elementwise::CAST;
use fusion_operators::{Attrs, DType};

pub const RULES: Rules = &[(&CAST, |site| site.gives_operand(0)), (&CAST, past_lossless)];

/// `B -> C` of `A -> B` is `A -> C` when B has all values of A.
fn past_lossless<'c>(site: &Site<'_, 'c>) -> Option<Folded<'c>> {
    let inner = site.under(&CAST)?;
    let (from, through) = (crate::tensor_type(inner)?.dtype, site.operand_type(0)?.dtype);
    let to = site.op.attrs().dtype("dtype")?;
    // Floats saturate where integers wrap.
    let saturates = through.is_float() && from.is_int() && to.is_int();
    if !lossless(from, through) {
        None
    } else if from == to {
        site.gives(inner)
    } else if saturates {
        None
    } else {
        site.reads(inner, Attrs::new())
    }
}

/// True when each value of one element type is a value of the other.
fn lossless(from: DType, to: DType) -> bool {
    // Bits of a float's significand; 16-bit floats have ranges of their own.
    let significand = |ty| match ty {
        DType::F64 => 53,
        DType::F32 => 24,
        DType::F16 => 11,
        _ => 8,
    };
    let bits = |ty: DType| 8 * ty.size();
    match (from.class(), to.class()) {
        _ if from == to => true,
        (Class::Bool, _) => true,
        (Class::Float, Class::Float) => to.size() > from.size(),
        (Class::Signed, Class::Signed) | (Class::Unsigned, Class::Unsigned) => bits(from) < bits(to),
        (Class::Unsigned, Class::Signed) => bits(from) < bits(to),
        (Class::Signed, Class::Float) => bits(from) - 1 <= significand(to),
        (Class::Unsigned, Class::Float) => bits(from) <= significand(to),
        _ => false,
    }
}
