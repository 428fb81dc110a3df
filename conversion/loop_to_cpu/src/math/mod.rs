//! `math-approximate`: functions of floats become straight code.
//!
//!     math.exp %x : vector<16xf32>      =>      a polynomial: multiplications, additions, and some bits moved
//!
//! A call into the C library a lane costs ten times what the same function costs as straight vector code. Each function is a
//! file that states its error, which is at most 2 units in the last place for all numbers, 3 for those that are made of others, and
//! `conversion/tests/math` holds them to it. f16 and bf16 are computed in f32. Functions of f64 stay calls on processors, whose
//! C library is good at them, but for `log1p`, of which MLIR makes no call; with `doubles`, for GPUs, which have none, they become straight code as well. Where the module's
//! `fusion.fp_math` is fast, some are shorter and off by more (`fast/`); where it is strict, all are computed in f64 by straight code, which
//! is the same everywhere, and rounded once.

mod asin_acos;
mod atan;
mod double_quarters;
mod economized;
mod erf;
mod erf_by_table;
mod exp;
mod exp_by_table;
mod extremes;
mod fast;
pub mod floats;
mod inverse_hyperbolic;
mod log;
mod pow;
mod quarters;
mod sin_cos;
mod sinh_cosh;
mod tan;
mod tanh;
mod tanh_by_table;

use floats::Floats;
use fusion_dialects::loops::FIRST_IS_NUMBER;
use fusion_dialects::module::FpMath;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Build, Op, OpExt, OperationLike, OptionKind, OptionSpec, Pass, PassError, RunContext, Type, Value,
    ValueLike, dtype_of, float_of, nested_ops, op_key, users, vector_parts,
};
use fusion_loops::ranges::WITHIN;
use fusion_operators::DType;
use std::collections::BTreeSet;

/// The pass.
pub struct MathApproximate;

/// The value of a function of some operands.
type Function = for<'c> fn(&Floats<'c>, &[Value<'c>]) -> Value<'c>;

/// What is approximated.
const FUNCTIONS: &[(Upstream, Function)] = &[
    (Upstream::Exp, |m, x| exp::exp(m, x[0])),
    (Upstream::Log, |m, x| log::log(m, x[0])),
    (Upstream::Log1p, |m, x| log::log1p(m, x[0])),
    (Upstream::Tanh, |m, x| tanh::tanh(m, x[0])),
    (Upstream::Erf, |m, x| erf::erf(m, x[0])),
    (Upstream::Sin, |m, x| sin_cos::sin(m, x[0])),
    (Upstream::Cos, |m, x| sin_cos::cos(m, x[0])),
    (Upstream::Tan, |m, x| tan::tan(m, x[0])),
    (Upstream::Asin, |m, x| asin_acos::asin(m, x[0])),
    (Upstream::Acos, |m, x| asin_acos::acos(m, x[0])),
    (Upstream::Atan, |m, x| atan::atan(m, x[0])),
    (Upstream::Sinh, |m, x| sinh_cosh::sinh(m, x[0])),
    (Upstream::Cosh, |m, x| sinh_cosh::cosh(m, x[0])),
    (Upstream::Asinh, |m, x| inverse_hyperbolic::asinh(m, x[0])),
    (Upstream::Acosh, |m, x| inverse_hyperbolic::acosh(m, x[0])),
    (Upstream::Atanh, |m, x| inverse_hyperbolic::atanh(m, x[0])),
    (Upstream::PowF, |m, x| pow::pow(m, x[0], x[1])),
];

/// The values of two functions of one operand.
type Both = for<'c> fn(&Floats<'c>, Value<'c>) -> [Value<'c>; 2];

/// Two functions that share most of what they compute of one operand.
const PAIRS: &[([Upstream; 2], Both)] = &[([Upstream::Sin, Upstream::Cos], sin_cos::sin_cos)];

/// What has instructions on GPUs. Where the source is kept bit for bit, LLVM expands the two that put -0 below 0, since an
/// instruction of x86-64 gives either of two zeros.
const EXTREMES: &[(Upstream, Function)] = &[
    (Upstream::MaximumF, |m, x| extremes::maximum(m, x[0], x[1])),
    (Upstream::MinimumF, |m, x| extremes::minimum(m, x[0], x[1])),
    (Upstream::MaxNumF, |m, x| extremes::max_number(m, x[0], x[1])),
];

impl Pass for MathApproximate {
    const NAME: &'static str = "math-approximate";
    const DESCRIPTION: &'static str = "Replace calls of the C library by polynomials that are as good";
    const ANCHOR: Option<&'static str> = Some("func.func");
    const OPTIONS: &'static [OptionSpec] = &[
        flag("doubles", "Functions of f64 as well"),
        flag("extremes", "Maxima and minima as well, of all types"),
        flag(
            "avx512",
            "Use the instructions of AVX-512 that multiply by powers of two and look up in a register",
        ),
        flag("exp2", "Use the instruction for powers of two that GPUs have"),
        flag(
            "unfused",
            "Multiply and add f32 as f64, for processors without an instruction that does both and rounds once",
        ),
    ];
    const DIALECTS: &'static [&'static str] = &["math", "arith", "vector", "scf", "x86vector", "llvm"];

    fn run<'c>(function: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let flag = |name| cx.options.flag(name);
        let fp_math = FpMath::of(function)?;
        let strict = fp_math.is_strict();
        let options = Options {
            strict,
            doubles: flag("doubles") || strict,
            avx512: flag("avx512"),
            unfused: flag("unfused"),
            exp2: flag("exp2"),
        };
        let (extremes, fast) = (flag("extremes"), fp_math.is_fast());
        let mut replaced = BTreeSet::new();
        for op in nested_ops(function) {
            if replaced.contains(&op_key(op)) {
                continue;
            }
            let Some(Kind::Upstream(kind)) = op.kind() else { continue };
            let find = |list: &[(Upstream, Function)]| list.iter().find(|(k, _)| *k == kind).map(|(_, f)| *f);
            let shorter = find(fast::FUNCTIONS).filter(|_| fast && !is_of_doubles(op));
            let of_one = |build: Function| move |m: &Floats<'c>, x: &[Value<'c>]| vec![build(m, x)];
            if let Some((both, build)) = pair_of(op, kind).filter(|_| shorter.is_none()) {
                replaced.extend(both.map(op_key));
                replace(op, &both, &|m, x| build(m, x[0]).to_vec(), &options);
            } else if let Some(build) = shorter.or_else(|| find(FUNCTIONS)) {
                // MLIR makes log(1 + x) of it, which loses a small x.
                let doubles = options.doubles || kind == Upstream::Log1p;
                replace(op, &[op], &of_one(build), &Options { doubles, ..options });
            } else if let Some(build) =
                find(EXTREMES).filter(|_| extremes && (!strict || kind == Upstream::MaxNumF))
            {
                replace(op, &[op], &of_one(build), &Options { doubles: true, strict: false, ..options });
            }
        }
        Ok(())
    }
}

/// What was asked for of all functions.
#[derive(Clone, Copy)]
struct Options {
    strict: bool,
    doubles: bool,
    avx512: bool,
    unfused: bool,
    exp2: bool,
}

/// The calls of two functions that share much, in the order of these, when one is the call and the other is in its block.
fn pair_of<'c>(op: Op<'c>, kind: Upstream) -> Option<([Op<'c>; 2], Both)> {
    let (kinds, build) = PAIRS.iter().find(|(kinds, _)| kinds.contains(&kind))?;
    let of_operand = users(op.operand_values()[0]);
    let call = |wanted: Upstream| {
        let is_it = |other: &Op<'c>| {
            matches!(other.kind(), Some(Kind::Upstream(kind)) if kind == wanted)
                && other.block() == op.block()
        };
        if kind == wanted { Some(op) } else { of_operand.iter().copied().find(is_it) }
    };
    Some(([call(kinds[0])?, call(kinds[1])?], *build))
}

/// The type of what a function gives, its lanes where it is a vector, and the type of an element.
fn result_of<'c>(op: Op<'c>) -> Option<(Type<'c>, Option<u64>, Option<DType>)> {
    let ty = op.result_values().first()?.r#type();
    let (element, lanes) = vector_parts(ty).map_or((ty, None), |(element, lanes)| (element, Some(lanes)));
    Some((ty, lanes, dtype_of(element)))
}

fn is_of_doubles(op: Op) -> bool {
    result_of(op).is_some_and(|(_, _, dtype)| dtype == Some(DType::F64))
}

const fn flag(name: &'static str, description: &'static str) -> OptionSpec {
    OptionSpec { name, description, kind: OptionKind::Flag, initial: "false" }
}

/// Puts the values of a function, computed in front of the first call, in the place of calls of the same operands.
fn replace<'c>(
    first: Op<'c>,
    calls: &[Op<'c>],
    function: &dyn Fn(&Floats<'c>, &[Value<'c>]) -> Vec<Value<'c>>,
    options: &Options,
) {
    let Some((ty, lanes, dtype)) = result_of(first) else { return };
    let inside = if dtype == Some(DType::F64) || options.strict { DType::F64 } else { DType::F32 };
    let within = first.attr(WITHIN).and_then(float_of).unwrap_or(f64::INFINITY);
    let first_is_number = first.attr(FIRST_IS_NUMBER).is_some();
    let build = Build::before(first);
    let Options { avx512, unfused, exp2, .. } = *options;
    let floats = Floats { build, lanes, dtype: inside, within, first_is_number, avx512, unfused, exp2 };
    let computed = match dtype {
        Some(DType::F64) if options.doubles => function(&floats, &first.operand_values()),
        Some(DType::F32) if !options.strict => function(&floats, &first.operand_values()),
        Some(DType::F32 | DType::F16 | DType::BF16) => {
            let wider = floats.ty(inside);
            let operands = first.operand_values().into_iter();
            let wide: Vec<Value> = operands.map(|v| build.value("arith.extf", &[v], wider, &[])).collect();
            let narrow = |v: Value<'c>| build.value("arith.truncf", &[v], ty, &[]);
            function(&floats, &wide).into_iter().map(narrow).collect()
        }
        _ => return,
    };
    for (call, value) in calls.iter().zip(computed) {
        call.replace_all_uses(&[value]);
        call.erase();
    }
}
