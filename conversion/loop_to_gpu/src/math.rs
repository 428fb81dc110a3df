//! `gpu-math`: functions of numbers become what every GPU has instructions for, or code of such.
//!
//!     math.floor %x : f32          =>      llvm.call_intrinsic "llvm.floor"(%x)
//!     math.sqrt %x : f16           =>      extended, the same with "llvm.sqrt" of f32, truncated
//!     math.rsqrt %x                =>      1 / sqrt x
//!     arith.remf %x, %y            =>      x - trunc(x / y) y, for y 2^252, y 2^224, ..., y one after another; f64: remainders of integers
//!     math.ipowi %x, %n            =>      squares of x, multiplied where n has a bit
//!
//! Upstream's conversions to GPUs make calls of a vendor's library of all of these, and none is linked unless that is asked for. What
//! `math-approximate` makes straight code of is gone when this runs; with `library` it is left to the vendor's. Intrinsics are called by their names, as those conversions take the operations that stand for them (`llvm.intr.floor`) for calls as well.

use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::Scalars;
use fusion_dialects::{
    Build, Op, OpExt, OptionKind, OptionSpec, Pass, PassError, RunContext, Value, ValueLike, dtype_of,
    int_attr, nested_ops, vector_parts,
};
use fusion_loop_to_cpu::math::floats::{Floats, Is};
use fusion_operators::DType;

/// The pass.
pub struct GpuMath;

impl Pass for GpuMath {
    const NAME: &'static str = "gpu-math";
    const DESCRIPTION: &'static str = "Compute functions of numbers by what GPUs have instructions for";
    const ANCHOR: Option<&'static str> = Some("func.func");
    const DIALECTS: &'static [&'static str] = &["arith", "vector", "scf", "llvm"];
    const OPTIONS: &'static [OptionSpec] = &[OptionSpec {
        name: "library",
        description: "Leave functions to a vendor's library that have no instruction",
        kind: OptionKind::Flag,
        initial: "false",
    }];

    fn run<'c>(function: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let library = cx.options.flag("library");
        for op in nested_ops(function) {
            if let Some(Kind::Upstream(kind)) = op.kind()
                && !(library && kind.is_transcendental())
            {
                replace(op, kind)?;
            }
        }
        Ok(())
    }
}

/// The intrinsic of LLVM that is an instruction, or a few, on every GPU.
fn intrinsic(kind: Upstream) -> Option<&'static str> {
    Some(match kind {
        Upstream::Sqrt => "llvm.sqrt",
        Upstream::AbsF => "llvm.fabs",
        Upstream::Ceil => "llvm.ceil",
        Upstream::CopySign => "llvm.copysign",
        Upstream::Floor => "llvm.floor",
        Upstream::Fma => "llvm.fma",
        Upstream::MaxNumF => "llvm.maxnum",
        Upstream::Round => "llvm.round",
        Upstream::RoundEven => "llvm.roundeven",
        Upstream::Trunc => "llvm.trunc",
        _ => return None,
    })
}

fn replace<'c>(op: Op<'c>, kind: Upstream) -> Result<(), PassError<'c>> {
    let Some(ty) = op.result_values().first().map(|v| v.r#type()) else { return Ok(()) };
    let (element, lanes) = vector_parts(ty).map_or((ty, None), |(element, lanes)| (element, Some(lanes)));
    let Some(dtype) = dtype_of(element) else { return Ok(()) };
    let build = Build::before(op);
    let at = Floats {
        build,
        lanes,
        dtype: DType::F64,
        within: f64::INFINITY,
        first_is_number: false,
        avx512: false,
        unfused: false,
        exp2: false,
    };
    let operands = op.operand_values();
    let computed = match kind {
        Upstream::IPowI => power(&at, dtype, operands[0], operands[1]),
        Upstream::RemF if dtype == DType::F64 => remainder_of_doubles(&at, operands[0], operands[1]),
        Upstream::RemF => {
            let wide: Vec<Value> =
                operands.iter().map(|v| at.make("arith.extf", &[*v], DType::F64)).collect();
            at.make("arith.truncf", &[remainder(&at, wide[0], wide[1])], dtype)
        }
        _ if kind.is_transcendental() => return Err(missing(op, element)),
        _ => {
            let Some(name) = intrinsic(kind).or_else(|| (kind == Upstream::Rsqrt).then_some("llvm.sqrt"))
            else {
                return Ok(());
            };
            let inside = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
            let extend = |v: &Value<'c>| match dtype == inside {
                true => *v,
                false => at.make("arith.extf", &[*v], inside),
            };
            let extended: Vec<Value> = operands.iter().map(extend).collect();
            let mut value = at.intrinsic(name, &extended, inside);
            if kind == Upstream::Rsqrt {
                let one = Floats { dtype: inside, ..at }.float(1.0);
                value = at.make("arith.divf", &[one, value], inside);
            }
            if dtype == inside { value } else { at.make("arith.truncf", &[value], dtype) }
        }
    };
    op.replace_all_uses(&[computed]);
    op.erase();
    Ok(())
}

fn missing<'c>(op: Op<'c>, element: fusion_dialects::Type<'c>) -> PassError<'c> {
    PassError::at(
        op,
        format_args!(
            "is a function of {element}, for which GPUs have no instructions; `math-approximate{{doubles=true}}` \
             before this pass makes code of it"
        ),
    )
}

/// Runs a body that many times on values that it takes and gives.
fn repeat<'c>(
    at: &Floats<'c>,
    times: i64,
    initial: &[Value<'c>],
    body: impl FnOnce(&Floats<'c>, &[Value<'c>]) -> Vec<Value<'c>>,
) -> Vec<Value<'c>> {
    let scalars = Scalars { build: at.build };
    let (zero, one, count) = (scalars.index(0), scalars.index(1), scalars.index(times));
    let types: Vec<_> = initial.iter().map(|v| v.r#type()).collect();
    let arguments = [&[zero.r#type()], types.as_slice()].concat();
    let region = at.build.region(&arguments, |inner, given| {
        let inside = Floats { build: inner, ..*at };
        inner.op("scf.yield", &body(&inside, &given[1..]), &[], &[]);
    });
    let operands = [&[zero, count, one], initial].concat();
    at.build.op_with_regions("scf.for", &operands, &types, &[], vec![region]).result_values()
}

/// The remainder of a division of f64 that were f32: one step is exact where the quotient is below `2^28`, and quotients of f32 are
/// below `2^277`.
fn remainder<'c>(at: &Floats<'c>, x: Value<'c>, y: Value<'c>) -> Value<'c> {
    let size = |a: Value<'c>| at.intrinsic("llvm.fabs", &[a], DType::F64);
    let first = at.float((252f64).exp2());
    let steps = repeat(at, 10, &[x, first], |m, given| {
        let divisor = m.make("arith.mulf", &[y, given[1]], DType::F64);
        let quotient = m.make("arith.divf", &[given[0], divisor], DType::F64);
        let whole = m.intrinsic("llvm.trunc", &[quotient], DType::F64);
        let minus = m.make("arith.negf", &[whole], DType::F64);
        let rest = m.intrinsic("llvm.fma", &[minus, divisor, given[0]], DType::F64);
        vec![rest, m.make("arith.mulf", &[given[1], m.float((-28f64).exp2())], DType::F64)]
    });
    // What is divided by infinity stays; a remainder of 0 has the sign as well.
    let below = |a: Value<'c>, b: Value<'c>| {
        let predicate = [("predicate", int_attr(at.build.context(), 4))];
        at.build.value("arith.cmpf", &[a, b], at.ty(DType::Bool), &predicate)
    };
    let infinite = at.float(f64::INFINITY);
    let (finite, equal) = (below(size(x), infinite), int_attr(at.build.context(), 1));
    let by_infinity =
        at.build.value("arith.cmpf", &[size(y), infinite], at.ty(DType::Bool), &[("predicate", equal)]);
    let stays = at.both(finite, by_infinity);
    let rest = at.make("arith.select", &[stays, x, steps[0]], DType::F64);
    at.intrinsic("llvm.copysign", &[rest, x], DType::F64)
}

/// The remainder of a division of f64: that of `mx 2^ex` by `my 2^ey` in integers, eleven bits of `2^(ex - ey)` at a time, so that what is
/// divided has 64 bits. Every step is exact, and so is the result.
fn remainder_of_doubles<'c>(at: &Floats<'c>, x: Value<'c>, y: Value<'c>) -> Value<'c> {
    const STEP: i64 = 11;
    let long = |m: &Floats<'c>, name: &str, a: Value<'c>, b: Value<'c>| m.make(name, &[a, b], DType::I64);
    // The integer and the exponent of its last bit; that of a subnormal number is the least one as well.
    let parts = |a: Value<'c>| {
        let size = at.bits(at.intrinsic("llvm.fabs", &[a], DType::F64));
        let exponent = at.shift_right(size, 52);
        let fraction = at.int_and(size, (1 << 52) - 1);
        let is_normal = at.is_not_zero(exponent);
        let whole = long(at, "arith.ori", fraction, at.int(1 << 52));
        let mantissa = at.make("arith.select", &[is_normal, whole, fraction], DType::I64);
        (mantissa, at.make("arith.select", &[is_normal, exponent, at.int(1)], DType::I64))
    };
    let ((mx, ex), (my, ey)) = (parts(x), parts(y));
    // What is divided by 0 gives nothing, but not in integers.
    let my = long(at, "arith.maxui", my, at.int(1));
    let left = at.int_sub(ex, ey);
    let first = long(at, "arith.remui", mx, my);
    let steps = repeat(at, 2098 / STEP + 1, &[first, left], |m, given| {
        let none = m.int(0);
        let by = long(m, "arith.maxsi", long(m, "arith.minsi", given[1], m.int(STEP)), none);
        let rest = long(m, "arith.remui", long(m, "arith.shli", given[0], by), my);
        vec![rest, m.int_sub(given[1], by)]
    });
    // The exponent of the result may be that of no normal number: half of it is applied first.
    let exponent = at.int_sub(ey, at.int(1075));
    let half = long(at, "arith.shrsi", exponent, at.int(1));
    let power = |n: Value<'c>| at.of_bits(at.shift_left(at.int_add(n, at.int(1023)), 52));
    let rest = at.mul(at.as_float(steps[0]), power(half));
    let rest = at.mul(rest, power(at.int_sub(exponent, half)));
    let [size, divisor] = [x, y].map(|a| at.intrinsic("llvm.fabs", &[a], DType::F64));
    let rest = at.select(at.is(Is::Below, size, divisor), size, rest);
    let infinite = at.float(f64::INFINITY);
    let defined = at.both(at.is(Is::Below, size, infinite), at.is(Is::Above, divisor, at.float(0.0)));
    at.intrinsic("llvm.copysign", &[at.select(defined, rest, at.float(f64::NAN)), x], DType::F64)
}

/// A power of integers, in their own type; with a negative exponent what is left of the fraction.
fn power<'c>(at: &Floats<'c>, dtype: DType, base: Value<'c>, exponent: Value<'c>) -> Value<'c> {
    let number = |m: &Floats<'c>, n: i64| m.literal(&n.to_string(), dtype);
    let is = |m: &Floats<'c>, how: i64, a: Value<'c>, b: Value<'c>| {
        let predicate = [("predicate", int_attr(m.build.context(), how))];
        m.build.value("arith.cmpi", &[a, b], m.ty(DType::Bool), &predicate)
    };
    const EQUAL: i64 = 0;
    const BELOW: i64 = 2;
    let odd = |m: &Floats<'c>, n: Value<'c>| {
        let bit = m.make("arith.andi", &[n, number(m, 1)], dtype);
        is(m, EQUAL, bit, number(m, 1))
    };
    let bits = dtype.size() as i64 * 8;
    let powers = repeat(at, bits, &[number(at, 1), base, exponent], |m, given| {
        let [result, square, left] = given[..] else { return given.to_vec() };
        let more = m.make("arith.muli", &[result, square], dtype);
        let result = m.make("arith.select", &[odd(m, left), more, result], dtype);
        let square = m.make("arith.muli", &[square, square], dtype);
        vec![result, square, m.make("arith.shrui", &[left, number(m, 1)], dtype)]
    });
    let (one, minus, zero) = (number(at, 1), number(at, -1), number(at, 0));
    let alternating = at.make("arith.select", &[odd(at, exponent), minus, one], dtype);
    let fraction = at.make("arith.select", &[is(at, EQUAL, base, minus), alternating, zero], dtype);
    let fraction = at.make("arith.select", &[is(at, EQUAL, base, one), one, fraction], dtype);
    at.make("arith.select", &[is(at, BELOW, exponent, zero), fraction, powers[0]], dtype)
}
