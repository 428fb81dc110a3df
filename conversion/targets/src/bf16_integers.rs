//! `bf16-of-integers`: integers become bf16 by way of f32.
//!
//!     arith.sitofp %i : i32 to bf16      =>      %x = arith.sitofp %i : i32 to f32    arith.truncf %x : f32 to bf16
//!
//! Kernels say so, but upstream's folders make one conversion of both, for which LLVM calls a function of the compiler's run-time library that GCC's
//! has since version 13 only (`__truncsfbf2`). Of conversions from f32 `arith-expand` makes integers.

use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Build, Op, OpExt, Pass, PassError, RunContext, Type, ValueLike, dtype_of, nested_ops, scalar_type,
    vector_parts, vector_type,
};
use fusion_operators::DType;

/// The pass.
pub struct Bf16OfIntegers;

impl Pass for Bf16OfIntegers {
    const NAME: &'static str = "bf16-of-integers";
    const DESCRIPTION: &'static str = "Convert integers to bf16 by way of f32";
    const ANCHOR: Option<&'static str> = Some("func.func");
    const DIALECTS: &'static [&'static str] = &["arith"];

    fn run<'c>(function: Op<'c>, _: &mut RunContext) -> Result<(), PassError<'c>> {
        for op in nested_ops(function) {
            if let Some(Kind::Upstream(kind @ (Upstream::SIToFP | Upstream::UIToFP))) = op.kind() {
                by_single(op, kind);
            }
        }
        Ok(())
    }
}

fn by_single(op: Op, kind: Upstream) {
    let narrow: Type = op.result_values()[0].r#type();
    let (element, lanes) = match vector_parts(narrow) {
        Some((element, lanes)) => (element, Some(lanes)),
        None => (narrow, None),
    };
    if dtype_of(element) != Some(DType::BF16) {
        return;
    }
    let single = scalar_type(op.context_ref(), DType::F32);
    let wide = lanes.map_or(single, |lanes| vector_type(single, lanes));
    let build = Build::before(op);
    let number = build.value(kind.name(), &op.operand_values(), wide, &[]);
    op.replace_all_uses(&[build.value(Upstream::TruncF.name(), &[number], narrow, &[])]);
    op.erase();
}
