//! `x + 0`, `1 * x`, `-(-x)`, `c ? x : x` and the like.

use super::{Folded, Rules, Site};
use crate::OpExt;
use fusion_operators::Tensor;
use fusion_operators::ops::elementwise::{ADD, BITWISE_NOT, CLIP, DIV, LOGICAL_NOT, MUL, NEG, SUB, WHERE};

pub const RULES: Rules = &[
    // x + 0 = 0 + x = x; of floats the neutral element is -0.0, since -0.0 + 0.0 = 0.0.
    (&ADD, |site| neutral(site, 1, |n| is(n, -0.0))),
    (&ADD, |site| neutral(site, 0, |n| is(n, -0.0))),
    // x - 0 = x
    (&SUB, |site| neutral(site, 1, |n| is(n, 0.0))),
    // x * 1 = 1 * x = x
    (&MUL, |site| neutral(site, 1, |n| is(n, 1.0))),
    (&MUL, |site| neutral(site, 0, |n| is(n, 1.0))),
    // x / 1 = x
    (&DIV, |site| neutral(site, 1, |n| is(n, 1.0))),
    // f(f(x)) = x
    (&NEG, |site| site.gives(site.under(&NEG)?)),
    (&LOGICAL_NOT, |site| site.gives(site.under(&LOGICAL_NOT)?)),
    (&BITWISE_NOT, |site| site.gives(site.under(&BITWISE_NOT)?)),
    // min(max(x, -inf), inf) = x
    (&CLIP, |site| {
        let attrs = site.op.attrs();
        let open = attrs.float_or("min", f64::NEG_INFINITY) == f64::NEG_INFINITY
            && attrs.float_or("max", f64::INFINITY) == f64::INFINITY;
        if open { site.gives_operand(0) } else { None }
    }),
    // c ? x : x = x
    (&WHERE, |site| if site.operand(1)? == site.operand(2)? { site.gives_operand(1) } else { None }),
    // true ? x : y = x, false ? x : y = y
    (&WHERE, |site| site.gives_operand(if site.splat(0)?.int_at(0) != 0 { 1 } else { 2 })),
];

/// The other operand, when the one at `index` is a number that changes nothing.
fn neutral<'c>(
    site: &Site<'_, 'c>,
    index: usize,
    changes_nothing: fn(&Tensor) -> bool,
) -> Option<Folded<'c>> {
    if changes_nothing(&site.splat(index)?) { site.gives_operand(1 - index) } else { None }
}

/// The same number; of floats, with the same sign.
fn is(number: &Tensor, expected: f64) -> bool {
    match number.dtype().is_float() {
        true => number.f64_at(0).to_bits() == expected.to_bits(),
        false => number.int_at(0) == expected as i128,
    }
}
