//! Sine and cosine.
//!
//!     x = n pi/2 + r,   |r| <= pi/4          n mod 4     0        1        2        3
//!     sin r = r + r^3 s(r^2)                 sin x     sin r    cos r   -sin r   -cos r
//!     cos r = 1 + r^2 (-1/2 + r^2 c(r^2))
//!
//! `s` and `c` are the polynomials of degrees 3 and 2 nearest to `(sin r - r) / r^3` relative to `sin r` and to
//! `(cos r - 1 + r^2/2) / r^4` relative to `cos r` (found as that of `exp`): off by 1.6e-10 and 1.2e-10. `pi/2` is subtracted in three parts
//! of 24 bits (Cody and Waite). Where a lane is so large that this is not enough, all lanes call the C library, which
//! multiplies by as much of `2/pi` as it takes. Error: below 1.5 units in the last place.

use super::floats::{Floats, Is};
use fusion_dialects::rows::Upstream;
use fusion_dialects::te::Scalars;
use fusion_dialects::{Attribute, OpExt, Value, ValueLike, scalar_type};
use fusion_operators::DType;
use std::f32::consts::{FRAC_2_PI, FRAC_PI_2};

/// `pi/2` minus its nearest f32, and what is left then.
const FRAC_PI_2_LOW: [f32; 2] = [-4.371_139e-8, -1.715_124_5e-15];
const S: [f32; 4] = [-0.166_666_67, 0.008_333_379, -0.000_198_530_75, 2.832_73e-6];
const C: [f32; 3] = [0.041_666_646, -0.001_388_731, 2.443_233_8e-5];
/// Up to here three parts are enough.
const MOST: f32 = 48_000.0;

/// `sin x`.
pub fn sin<'c>(m: &Floats<'c>, x: Value<'c>) -> Value<'c> {
    large_by_library(m, x, Upstream::Sin, by_quarter(m, x, 0))
}

/// `cos x`, which is `sin(x + pi/2)`.
pub fn cos<'c>(m: &Floats<'c>, x: Value<'c>) -> Value<'c> {
    large_by_library(m, x, Upstream::Cos, by_quarter(m, x, 1))
}

fn by_quarter<'c>(m: &Floats<'c>, x: Value<'c>, further: i32) -> Value<'c> {
    let (bits, n) = m.round(x, FRAC_2_PI);
    let r = m.fma(n, m.float(-FRAC_PI_2), x);
    let r = FRAC_PI_2_LOW.iter().fold(r, |r, low| m.fma(n, m.float(-low), r));
    let square = m.mul(r, r);
    let sine = m.fma(m.mul(m.polynomial(square, &S), square), r, r);
    let cosine = m.fma(m.fma(m.polynomial(square, &C), square, m.float(-0.5)), square, m.float(1.0));
    let quarter = if further == 0 { bits } else { m.int_add(bits, m.int(further)) };
    let value = m.select(m.is_not_zero(m.int_and(quarter, 1)), cosine, sine);
    // Bit 1 of the quarter goes to the place of the sign.
    let sign = m.shift_left(m.int_and(quarter, 2), 30);
    m.of_bits(m.int_xor(m.bits(value), sign))
}

/// The result, or where some lane is large that of the C library.
fn large_by_library<'c>(m: &Floats<'c>, x: Value<'c>, function: Upstream, result: Value<'c>) -> Value<'c> {
    let (build, context) = (m.build, m.build.context());
    let bit = scalar_type(context, DType::Bool);
    // Infinity is large as well; the library gives NaN.
    let mut any = m.is(Is::Above, m.abs(x), m.float(MOST));
    if m.lanes.is_some() {
        let kind = Attribute::parse(context, "#vector.kind<or>");
        any = build.value(
            "vector.reduction",
            &[any],
            bit,
            &kind.map(|k| ("kind", k)).into_iter().collect::<Vec<_>>(),
        );
    }
    let (ty, single) = (m.ty(DType::F32), scalar_type(context, DType::F32));
    let called = build.region(&[], |inner, _| {
        let Some(lanes) = m.lanes else {
            let value = inner.value(function.name(), &[x], single, &[]);
            inner.op("scf.yield", &[value], &[], &[]);
            return;
        };
        let scalars = Scalars { build: inner };
        let (zero, one, count) = (scalars.index(0), scalars.index(1), scalars.index(lanes as i64));
        let body = inner.region(&[zero.r#type(), ty], |lane, given| {
            let dynamic = fusion_dialects::ints_attr(context, &[i64::MIN]);
            let position = [("static_position", dynamic)];
            let element = lane.value("vector.extract", &[x, given[0]], single, &position);
            let value = lane.value(function.name(), &[element], single, &[]);
            let next = lane.value("vector.insert", &[value, given[1], given[0]], ty, &position);
            lane.op("scf.yield", &[next], &[], &[]);
        });
        let all = inner.op_with_regions("scf.for", &[zero, count, one, x], &[ty], &[], vec![body]);
        inner.op("scf.yield", &all.result_values(), &[], &[]);
    });
    let otherwise = build.region(&[], |inner, _| {
        inner.op("scf.yield", &[result], &[], &[]);
    });
    let chosen = build.op_with_regions("scf.if", &[any], &[ty], &[], vec![called, otherwise]);
    chosen.result_values()[0]
}
