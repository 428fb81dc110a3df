//! Large angles of f64 as quarters of a circle and a rest: `quarters` with words of 64 bits.
//!
//!     x = m 2^(s - 64)        m of 64 bits, the first one set
//!     x / 2 pi mod 1  =  m (w0 + w1 2^-64 + w2 2^-128) 2^-64 mod 1      w0 w1 w2: bits of 1 / 2 pi from s - 64 on
//!
//!       m w0   |  lo      of which whole circles are left out
//!       m w1      hi | lo
//!       m w2         | hi                the fraction: 128 bits, f64 are never nearer to a multiple of pi/2 than 2^-61
//!
//! (Payne and Hanek, "Radian Reduction for Trigonometric Functions", 1983.) The first two bits are n, the others r.

use super::floats::{Floats, Is};
use fusion_dialects::{OpExt, Value, int_attr};
use fusion_operators::DType;

/// `1 / 2 pi` in pieces of 64 bits, behind one piece of zeros.
const FRAC_1_2_PI: [u64; 20] = [
    0,
    0x28be_60db_9391_054a,
    0x7f09_d5f4_7d4d_3770,
    0x36d8_a566_4f10_e410,
    0x7f94_58ea_f7ae_f158,
    0x6dc9_1b8e_9093_74b8,
    0x0192_4bba_8274_6487,
    0x3f87_7ac7_2c4a_69cf,
    0xba20_8d7d_4bae_d121,
    0x3a67_1c09_ad17_df90,
    0x4e64_758e_60d4_ce7d,
    0x2721_17e2_ef7e_4a0e,
    0xc7fe_25ff_f781_6603,
    0xfbcb_c462_d682_9b47,
    0xdb4d_9fb3_c9f2_c26d,
    0xd3d1_8fd9_a797_fa8b,
    0x5d49_eeb1_faf9_7c5e,
    0xcf41_ce7d_e294_a4ba,
    0x9afe_d7ec_47e3_5742,
    0x1580_cc11_bf1e_daea,
];
/// `pi/2 2^-62`.
const UNIT: f64 = std::f64::consts::FRAC_PI_2 / (1u64 << 62) as f64;

/// `n mod 4` in the low bits of an integer, and `r`, for x from 1 on; of what is infinite or no number, none.
pub fn of_large<'c>(m: &Floats<'c>, x: Value<'c>) -> (Value<'c>, Value<'c>) {
    let long = |name: &str, a: Value<'c>, b: Value<'c>| m.make(name, &[a, b], DType::I64);
    let compare = |how: i64, a: Value<'c>, b: Value<'c>| {
        let predicate = [("predicate", int_attr(m.build.context(), how))];
        m.build.value("arith.cmpi", &[a, b], m.ty(DType::Bool), &predicate)
    };
    let bits = m.bits(x);
    let mantissa = m.shift_left(m.int_and(bits, (1 << 52) - 1), 11);
    let mantissa = long("arith.ori", mantissa, m.int(i64::MIN));
    // Where the point of the mantissa is, counted in bits of 1 / 2 pi and the zeros before it.
    let s = m.int_sub(m.int_and(m.shift_right(bits, 52), 0x7ff), m.int(1022));
    let (word, shift) = (m.shift_right(s, 6), m.int_and(s, 63));
    const EQUAL: i64 = 0;
    const UNSIGNED_BELOW: i64 = 6;
    let chosen = |further: usize| {
        let at = |i: usize| m.int(FRAC_1_2_PI.get(i).copied().unwrap_or(0) as i64);
        (1..17).fold(at(further), |chosen, i| {
            let here = compare(EQUAL, word, m.int(i as i64));
            m.make("arith.select", &[here, at(i + further), chosen], DType::I64)
        })
    };
    let words: Vec<Value> = (0..4).map(chosen).collect();
    // 64 bits that begin `shift` bits behind the beginning of a piece; what is shifted in goes by one and the rest.
    let back = m.int_sub(m.int(63), shift);
    let piece = |i: usize| {
        let next = long("arith.shrui", m.shift_right(words[i + 1], 1), back);
        long("arith.ori", long("arith.shli", words[i], shift), next)
    };
    let product = |i: usize| {
        let types = [m.ty(DType::I64); 2];
        m.build.op("arith.mului_extended", &[mantissa, piece(i)], &types, &[]).result_values()
    };
    let (second, third) = (product(1), product(2));
    let low = m.int_add(second[0], third[1]);
    let carry = m.make("arith.extui", &[compare(UNSIGNED_BELOW, low, second[0])], DType::I64);
    let high = long("arith.muli", mantissa, piece(0));
    let high = m.int_add(m.int_add(high, second[1]), carry);
    let n = m.shift_right(m.int_add(high, m.int(1 << 61)), 62);
    let rest = m.int_sub(high, m.shift_left(n, 62));
    let rest_low = m.make("arith.uitofp", &[low], DType::F64);
    let rest = m.fma(rest_low, m.float((-64f64).exp2()), m.as_float(rest));
    let rest = m.mul(rest, m.float(UNIT));
    // Of -x both are those of x, negated.
    let is_negative = m.is(Is::Below, x, m.float(0.0));
    let n = m.make("arith.select", &[is_negative, m.int_sub(m.int(0), n), n], DType::I64);
    let rest = m.select(is_negative, m.neg(rest), rest);
    (n, m.select(m.is(Is::Below, m.abs(x), m.float(f64::INFINITY)), rest, m.float(f64::NAN)))
}
