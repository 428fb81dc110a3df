//! Angles as quarters of a circle and a rest, for `sin`, `cos` and `tan`.
//!
//!     x = n pi/2 + r,   |r| <= pi/4
//!
//! Up to 48,000 `pi/2` is subtracted in three parts of 24 bits (Cody and Waite, "Software Manual for the Elementary Functions",
//! 1980). Where a lane is larger, `x / 2 pi` is made of the 96 bits of `1 / 2 pi` that its fraction depends on (Payne and Hanek,
//! "Radian Reduction for Trigonometric Functions", 1983), in integers, all lanes at once:
//!
//!     x = m 2^(s - 32)        m of 32 bits, s - 32 >= -16
//!     x / 2 pi mod 1  =  m (w0 + w1 2^-32 + w2 2^-64) 2^-32 mod 1,   w0 w1 w2: bits of 1 / 2 pi from s - 32 on
//!
//! The first two bits of that are n, and the others r, from the middle of a quarter on that of the next one. For f64 the three parts
//! do up to `2^26`, and beyond that `double_quarters` has more bits. Of numbers that are known to be smaller, nothing of that is made.

use super::double_quarters;
use super::floats::{Floats, Is};
use fusion_dialects::{Attribute, OpExt, Value, int_attr, scalar_type};
use fusion_operators::DType;
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

/// `pi/2` minus its nearest f32 (f64), and what is left then.
const FRAC_PI_2_LOW: [(f32, f64); 2] =
    [(-4.371_139e-8, 6.123_233_995_736_766e-17), (-1.715_124_5e-15, -1.497_384_904_859_169_8e-33)];
/// Up to here three parts are enough.
const MOST: (f32, f64) = (48_000.0, 67_108_864.0);
/// `1 / 2 pi` in pieces of 32 bits, behind one piece of zeros.
const FRAC_1_2_PI: [u32; 8] =
    [0x0000_0000, 0x28be_60db, 0x9391_054a, 0x7f09_d5f4, 0x7d4d_3770, 0x36d8_a566, 0x4f10_e410, 0x7f94_58ea];
/// `pi/2 2^-62`.
const UNIT: f64 = FRAC_PI_2 / (1u64 << 62) as f64;

/// `n mod 4` in the low bits of an integer, and `r`; of what is infinite or no number, none.
pub fn quarters<'c>(m: &Floats<'c>, x: Value<'c>) -> (Value<'c>, Value<'c>) {
    let (bits, n) = m.round(x, FRAC_2_PI);
    let r = m.fma(n, m.float(-FRAC_PI_2), x);
    let r = FRAC_PI_2_LOW.iter().fold(r, |r, low| m.fma(n, m.float(-m.in_precision(low.0, low.1)), r));
    if m.within <= m.in_precision(MOST.0, MOST.1) {
        return (bits, r);
    }
    let is_large = m.is(Is::Above, m.abs(x), m.float(m.in_precision(MOST.0, MOST.1)));
    let (build, context) = (m.build, m.build.context());
    let mut any = is_large;
    if m.lanes.is_some() {
        let kind = Attribute::parse(context, "#vector.kind<or>").map(|kind| ("kind", kind));
        let attrs: Vec<_> = kind.into_iter().collect();
        any = build.value("vector.reduction", &[any], scalar_type(context, DType::Bool), &attrs);
    }
    // Nearly no angle is: values that wait keep their registers where none is, and go to memory where one is.
    let never = Floats { lanes: None, ..*m }.literal("0", DType::Bool);
    let any = build.value("llvm.intr.expect", &[any, never], scalar_type(context, DType::Bool), &[]);
    let types = [m.ty(m.integer()), m.ty(m.dtype)];
    let slowly = build.region(&[], |inner, _| {
        let inside = Floats { build: inner, ..*m };
        let (far_bits, far) =
            if m.is_double() { double_quarters::of_large(&inside, x) } else { of_large(&inside, x) };
        let bits = inside.make("arith.select", &[is_large, far_bits, bits], m.integer());
        inner.op("scf.yield", &[bits, inside.select(is_large, far, r)], &[], &[]);
    });
    let quickly = build.region(&[], |inner, _| {
        inner.op("scf.yield", &[bits, r], &[], &[]);
    });
    let chosen = build.op_with_regions("scf.if", &[any], &types, &[], vec![slowly, quickly]).result_values();
    (chosen[0], chosen[1])
}

/// The same by as many bits as it takes.
fn of_large<'c>(m: &Floats<'c>, x: Value<'c>) -> (Value<'c>, Value<'c>) {
    let long = |name: &str, a: Value<'c>, b: Value<'c>| m.make(name, &[a, b], DType::I64);
    let number = |n: i64| m.long(n);
    let bits = m.bits(x);
    // The number is m 2^(s - 32).
    let mantissa = m.make(
        "arith.ori",
        &[m.shift_left(m.int_and(bits, 0x7f_ffff), 8), m.int(i64::from(i32::MIN))],
        DType::I32,
    );
    let mantissa = m.make("arith.extui", &[mantissa], DType::I64);
    let s = m.int_sub(m.int_and(m.shift_right(bits, 23), 0xff), m.int(126));
    let (word, shift) = (m.shift_right(s, 5), m.make("arith.extui", &[m.int_and(s, 31)], DType::I64));
    // 32 bits that begin `shift` bits behind the beginning of a piece.
    let piece = |further: usize| {
        let pair = |at: usize| {
            let [high, low] = [0, 1].map(|i| FRAC_1_2_PI.get(at + i).copied().unwrap_or(0));
            number((i64::from(high) << 32) | i64::from(low))
        };
        let chosen = (1..5).fold(pair(further), |chosen, at| {
            let equal = int_attr(m.build.context(), 0);
            let here =
                m.build.value("arith.cmpi", &[word, m.int(at)], m.ty(DType::Bool), &[("predicate", equal)]);
            m.make("arith.select", &[here, pair(at as usize + further), chosen], DType::I64)
        });
        long("arith.shrui", long("arith.shli", chosen, shift), number(32))
    };
    let [first, second, third] = [0, 1, 2].map(|further| long("arith.muli", mantissa, piece(further)));
    let fraction = long("arith.addi", long("arith.shli", first, number(32)), second);
    let fraction = long("arith.addi", fraction, long("arith.shrui", third, number(32)));
    let n = long("arith.shrui", long("arith.addi", fraction, number(1 << 61)), number(62));
    let rest = long("arith.subi", fraction, long("arith.shli", n, number(62)));
    let rest = m.make("arith.sitofp", &[rest], DType::F64);
    let rest = m.make("arith.mulf", &[rest, m.double(UNIT)], DType::F64);
    let rest = m.make("arith.truncf", &[rest], DType::F32);
    let n = m.make("arith.trunci", &[n], DType::I32);
    // Of -x both are those of x, negated.
    let is_negative = m.is(Is::Below, x, m.float(0.0));
    let n = m.make("arith.select", &[is_negative, m.int_sub(m.int(0), n), n], DType::I32);
    let rest = m.select(is_negative, m.neg(rest), rest);
    (n, m.select(m.is(Is::Below, m.abs(x), m.float(f64::INFINITY)), rest, m.float(f64::NAN)))
}
