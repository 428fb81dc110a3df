//! `loop-signs`: a number or its negative, chosen by the sign of an integer, is the number with that sign.
//!
//!     %c = arith.cmpi slt, %i, 0                           %x = arith.bitcast %i : i32 to f32
//!     %f = arith.select %c, -10.0, 10.0        =>          %f = math.copysign 10.0, %x
//!
//! One operation on bits takes the place of a comparison, which units that multiply do, and a choice. Where the number itself is chosen for
//! integers below 0, the sign is turned over. (H. S. Warren, "Hacker's Delight", 2nd ed., section 2-8, has more of this kind.)

use super::ranges::constant;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Build, Op, OpExt, Pass, PassError, RunContext, StatisticSpec, Value, ValueLike, defining_op, dtype_of,
    int_of, kind_of, nested_ops, vector_parts,
};

/// The pass.
pub struct LoopSigns;

impl Pass for LoopSigns {
    const NAME: &'static str = "loop-signs";
    const DESCRIPTION: &'static str =
        "Copy the sign of an integer where it chooses between a number and its negative";
    const ANCHOR: Option<&'static str> = Some("func.func");
    const STATISTICS: &'static [StatisticSpec] =
        &[StatisticSpec { name: "copied", description: "Choices that became copied signs" }];
    const DIALECTS: &'static [&'static str] = &["arith", "math"];

    fn run<'c>(function: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        for op in nested_ops(function) {
            if matches!(kind_of(op), Some(Kind::Upstream(Upstream::Select))) && copied(op).is_some() {
                cx.count(0, 1);
            }
        }
        Ok(())
    }
}

/// Replaces a choice by a number with the sign of an integer, if it is that.
fn copied(op: Op) -> Option<()> {
    let [condition, if_true, if_false] = op.operand_values()[..] else { return None };
    let (integer, if_below) = sign_of(condition)?;
    let (a, b) = (constant(if_true)?, constant(if_false)?);
    let ty = if_true.r#type();
    let is_choice = a == -b && a != 0.0 && a.is_finite();
    if !is_choice || form(integer)? != form(if_true)? {
        return None;
    }
    let (below, above, value) = if if_below { (a, b, if_false) } else { (b, a, if_true) };
    let build = Build::before(op);
    let sign = build.value("arith.bitcast", &[integer], ty, &[]);
    let copied = build.value("math.copysign", &[value, sign], ty, &[]);
    let result = if below <= above { copied } else { build.value("arith.negf", &[copied], ty, &[]) };
    op.replace_all_uses(&[result]);
    op.erase();
    Some(())
}

/// The integer whose sign a condition is, and whether the condition holds where it is below 0.
fn sign_of(condition: Value) -> Option<(Value, bool)> {
    let compared =
        defining_op(condition).filter(|op| matches!(kind_of(*op), Some(Kind::Upstream(Upstream::CmpI))))?;
    let [integer, with] = compared.operand_values()[..] else { return None };
    let with = int_of(defining_op(with)?.attr("value")?)?;
    // slt 0, sle -1; sge 0, sgt -1.
    match (compared.int("predicate")?, with) {
        (2, 0) | (3, -1) => Some((integer, true)),
        (5, 0) | (4, -1) => Some((integer, false)),
        _ => None,
    }
}

/// Bytes of an element, and how many there are where it is a vector.
fn form(value: Value) -> Option<(usize, Option<u64>)> {
    let ty = value.r#type();
    let (element, lanes) = vector_parts(ty).map_or((ty, None), |(element, lanes)| (element, Some(lanes)));
    Some((dtype_of(element)?.size(), lanes))
}
