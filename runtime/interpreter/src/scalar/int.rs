//! Integers.

use super::{Name, Scalar, Step};

/// Wraps to a width, in signed form; of one bit, 0 or 1.
pub fn wrap(value: i128, width: u32) -> i128 {
    match width {
        1 => value & 1,
        2..128 => value << (128 - width) >> (128 - width),
        _ => value,
    }
}

/// The same bits without a sign.
pub fn unsigned(value: i128, width: u32) -> i128 {
    if width < 127 { value & ((1 << width) - 1) } else { value }
}

/// The same bits with a sign: of one bit, 0 or -1.
fn signed(value: i128, width: u32) -> i128 {
    if width == 1 { -(value & 1) } else { value }
}

/// An operation whose first operand is an integer.
pub fn run(step: &Step, at: impl Fn(usize) -> Result<Scalar, String>) -> Result<Scalar, String> {
    use Name::*;
    let width = step.from;
    let a = at(0)?.int();
    let s = || Ok::<_, String>((signed(a, width), signed(at(1)?.int(), width)));
    let u = || Ok::<_, String>((unsigned(a, width), unsigned(at(1)?.int(), width)));
    let value = match step.name {
        SIToFP => return Ok(Scalar::Float(signed(a, width) as f64)),
        UIToFP => return Ok(Scalar::Float(unsigned(a, width) as f64)),
        AddI => a + at(1)?.int(),
        SubI => a - at(1)?.int(),
        MulI => a.wrapping_mul(at(1)?.int()),
        DivSI | RemSI | FloorDivSI | CeilDivSI => divide(step.name, s()?)?,
        DivUI | RemUI | CeilDivUI => divide(step.name, u()?)?,
        AndI => a & at(1)?.int(),
        OrI => a | at(1)?.int(),
        XOrI => a ^ at(1)?.int(),
        ShLI => shift(u()?, width, |a, n| a << n)?,
        ShRUI => shift(u()?, width, |a, n| a >> n)?,
        ShRSI => shift((signed(a, width), u()?.1), width, |a, n| a >> n)?,
        MaxSI => s()?.0.max(s()?.1),
        MinSI => s()?.0.min(s()?.1),
        MaxUI => u()?.0.max(u()?.1),
        MinUI => u()?.0.min(u()?.1),
        CmpI => compare(step.predicate, s()?, u()?)?,
        AbsI => signed(a, width).abs(),
        IPowI => power(s()?, step.to),
        ExtSI | IndexCast => signed(a, width),
        ExtUI | IndexCastUI => unsigned(a, width),
        TruncI => a,
        _ => return Err("does not take an integer first".into()),
    };
    Ok(Scalar::wrapped(value, step.to))
}

fn divide(name: Name, (a, b): (i128, i128)) -> Result<i128, String> {
    if b == 0 {
        return Err("divides by zero".into());
    }
    let floor = a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0);
    Ok(match name {
        Name::RemSI | Name::RemUI => a % b,
        Name::FloorDivSI => floor,
        Name::CeilDivSI | Name::CeilDivUI => floor + i128::from(floor * b != a),
        _ => a / b,
    })
}

fn shift((a, n): (i128, i128), width: u32, f: fn(i128, u32) -> i128) -> Result<i128, String> {
    match u32::try_from(n) {
        Ok(n) if n < width => Ok(f(a, n)),
        _ => Err(format!("shifts {width} bits by {n}")),
    }
}

fn compare(predicate: i64, s: (i128, i128), u: (i128, i128)) -> Result<i128, String> {
    Ok(i128::from(match predicate {
        0 => s.0 == s.1,
        1 => s.0 != s.1,
        2 => s.0 < s.1,
        3 => s.0 <= s.1,
        4 => s.0 > s.1,
        5 => s.0 >= s.1,
        6 => u.0 < u.1,
        7 => u.0 <= u.1,
        8 => u.0 > u.1,
        9 => u.0 >= u.1,
        _ => return Err(format!("has no predicate {predicate}")),
    }))
}

/// By squaring, wrapped; of negative exponents, truncated toward zero.
fn power((mut base, mut exponent): (i128, i128), width: u32) -> i128 {
    if exponent < 0 {
        return match base {
            1 => 1,
            -1 => 1 - 2 * (exponent & 1),
            _ => 0,
        };
    }
    let mut product = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            product = wrap(product * base, width);
        }
        base = wrap(base.wrapping_mul(base), width);
        exponent >>= 1;
    }
    product
}
