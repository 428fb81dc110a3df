//! Floats.

use super::{Name, Scalar, Step};
use fusion_operators::DType;
use fusion_operators::narrow;
use fusion_operators::reference::elementwise::erf;
use half::{bf16, f16};

/// Rounds to the values of a type.
fn round(value: f64, dtype: Option<DType>) -> f64 {
    match dtype {
        Some(DType::F32) => (value as f32).into(),
        Some(DType::F16) => narrow::to_f16(value).into(),
        Some(DType::BF16) => narrow::to_bf16(value).into(),
        _ => value,
    }
}

/// An operation whose first operand is a float.
pub fn run(step: &Step, at: impl Fn(usize) -> Result<Scalar, String>) -> Result<Scalar, String> {
    use Name::*;
    let a = at(0)?.float();
    let b = || Ok::<f64, String>(at(1)?.float());
    let value = match step.name {
        CmpF => return Ok(Scalar::Int(compare(step.predicate, a, b()?)?.into())),
        IsNan => return Ok(Scalar::Int(a.is_nan().into())),
        IsInf => return Ok(Scalar::Int(a.is_infinite().into())),
        IsFinite => return Ok(Scalar::Int(a.is_finite().into())),
        FPToSI => return Ok(Scalar::Int(saturate(a, step.to, true))),
        FPToUI => return Ok(Scalar::wrapped(saturate(a, step.to, false), step.to)),
        TruncF => round(a, step.float),
        ExtF => a,
        AddF => a + b()?,
        SubF => a - b()?,
        MulF => a * b()?,
        DivF => a / b()?,
        RemF => a % b()?,
        NegF => -a,
        MaximumF => maximum(a, b()?),
        MinimumF => -maximum(-a, -b()?),
        MaxNumF => a.max(b()?),
        MinNumF => a.min(b()?),
        AbsF => a.abs(),
        Ceil => a.ceil(),
        Floor => a.floor(),
        Round => a.round(),
        RoundEven => a.round_ties_even(),
        Trunc => a.trunc(),
        Exp => a.exp(),
        Exp2 => a.exp2(),
        ExpM1 => a.exp_m1(),
        Log => a.ln(),
        Log2 => a.log2(),
        Log10 => a.log10(),
        Log1p => a.ln_1p(),
        Sqrt => a.sqrt(),
        Rsqrt => 1.0 / a.sqrt(),
        Cbrt => a.cbrt(),
        Sin => a.sin(),
        Cos => a.cos(),
        Tan => a.tan(),
        Asin => a.asin(),
        Acos => a.acos(),
        Atan => a.atan(),
        Sinh => a.sinh(),
        Cosh => a.cosh(),
        Tanh => a.tanh(),
        Asinh => a.asinh(),
        Acosh => a.acosh(),
        Atanh => a.atanh(),
        Erf => erf(a),
        Erfc => 1.0 - erf(a),
        PowF => a.powf(b()?),
        FPowI => a.powf(b()?),
        Atan2 => a.atan2(b()?),
        CopySign => a.copysign(b()?),
        Fma => a.mul_add(b()?, at(2)?.float()),
        _ => return Err("does not take a float first".into()),
    };
    Ok(Scalar::Float(value))
}

/// NaN when either is; 0.0 is above -0.0.
fn maximum(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else if a == b {
        if a.is_sign_positive() { a } else { b }
    } else {
        a.max(b)
    }
}

/// Toward zero, to the nearest there is; of NaN, 0.
fn saturate(value: f64, width: u32, signed: bool) -> i128 {
    let (least, most) = match signed {
        true if width > 1 => (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1),
        _ => (0, (1i128 << width.min(64)) - 1),
    };
    (value as i128).clamp(least, most)
}

/// LLVM's predicates: bit 0 is equal, 1 greater, 2 less, 3 unordered.
fn compare(predicate: i64, a: f64, b: f64) -> Result<bool, String> {
    // In arith's order: false, oeq, ogt, oge, olt, ole, one, ord, ueq, ugt, uge, ult, ule, une, uno, true.
    const BITS: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 8, 15];
    let bits = usize::try_from(predicate).ok().and_then(|p| BITS.get(p));
    let bits = bits.ok_or_else(|| format!("has no predicate {predicate}"))?;
    let holds = match a.partial_cmp(&b) {
        Some(std::cmp::Ordering::Equal) => 1,
        Some(std::cmp::Ordering::Greater) => 2,
        Some(std::cmp::Ordering::Less) => 4,
        None => 8,
    };
    Ok(bits & holds != 0)
}

/// The same bits as another type.
pub fn bitcast(value: Scalar, from: u32, float: Option<DType>, to: u32) -> Result<Scalar, String> {
    let bits = match (value, from) {
        (Scalar::Int(v), _) => super::int::unsigned(v, from),
        (Scalar::Float(v), 64) => v.to_bits().into(),
        (Scalar::Float(v), 32) => (v as f32).to_bits().into(),
        (Scalar::Float(_), _) => return Err("is interpreted of floats of 32 and 64 bits".into()),
    };
    Ok(match float {
        None => Scalar::wrapped(bits, to),
        Some(DType::F64) => Scalar::Float(f64::from_bits(bits as u64)),
        Some(DType::F32) => Scalar::Float(f32::from_bits(bits as u32).into()),
        Some(DType::F16) => Scalar::Float(f16::from_bits(bits as u16).into()),
        Some(_) => Scalar::Float(bf16::from_bits(bits as u16).into()),
    })
}
