//! What indices are surely multiples of.
//!
//!     16 * %i + 64        a multiple of 16
//!     %i mod 8            of what divides both %i and 8

use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{Affine, OpExt, Value, affine_map_of, defining_op};

/// The greatest common divisor, not negative; of 0 and a number that number.
pub fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

/// The largest power of two that divides a number.
fn power_of_two(n: i64) -> i64 {
    n & n.wrapping_neg()
}

/// A number that divides a value; 0 for the value 0.
pub fn divisor(value: Value) -> i64 {
    let Some(op) = defining_op(value) else { return 1 };
    let operands = op.operand_values();
    match op.kind() {
        Some(Kind::Upstream(Upstream::ArithConstant)) => op.int("value").unwrap_or(1).abs(),
        Some(Kind::Upstream(Upstream::AddI | Upstream::SubI)) => {
            gcd(divisor(operands[0]), divisor(operands[1]))
        }
        // Of numbers that both are multiples of a power of two, so is what their bits make.
        Some(Kind::Upstream(Upstream::XOrI)) => {
            gcd(power_of_two(divisor(operands[0])), power_of_two(divisor(operands[1])))
        }
        Some(Kind::Upstream(Upstream::AndI)) => {
            power_of_two(divisor(operands[0])).max(power_of_two(divisor(operands[1])))
        }
        Some(Kind::Upstream(Upstream::MulI)) => divisor(operands[0]).saturating_mul(divisor(operands[1])),
        Some(Kind::Upstream(Upstream::AffineApply)) => {
            let Some(map) = op.attr("map").and_then(affine_map_of) else { return 1 };
            of_map(&map, &operands)
        }
        _ => 1,
    }
}

fn of_map(e: &Affine, operands: &[Value]) -> i64 {
    match e {
        Affine::Input(i) => operands.get(*i).map_or(1, |v| divisor(*v)),
        Affine::Constant(c) => c.abs(),
        Affine::Add(a, b) => gcd(of_map(a, operands), of_map(b, operands)),
        Affine::Mul(a, b) => of_map(a, operands).saturating_mul(of_map(b, operands)),
        Affine::Mod(a, b) => gcd(of_map(a, operands), of_map(b, operands)),
        Affine::FloorDiv(a, b) | Affine::CeilDiv(a, b) => {
            let (a, b) = (of_map(a, operands), of_map(b, operands));
            if b != 0 && a % b == 0 { a / b } else { 1 }
        }
    }
}
