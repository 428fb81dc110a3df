//! `relay-annotate-target`: operators that a code generator can compile get its name.
//!
//! ```text
//!   relay-annotate-target{target=npu ops=conv2d,relu}      conv2d        =>      conv2d {relay.compiler = "npu"}
//! ```
//! What has a name already keeps it, so the first of several generators wins. A generator that decides by more than names calls
//! [`annotate`]. TVM has the pass as `AnnotateTarget`.

use super::COMPILER;
use crate::fuse_ops::PRIMITIVE;
use fusion_dialects::rows::Kind;
use fusion_dialects::{
    Op, OpExt, OperationLike, OptionKind, OptionSpec, Pass, PassError, RunContext, StatisticSpec, kind_of,
    nested_ops, str_attr,
};
use fusion_operators::{Operator, ops};

/// The pass.
pub struct AnnotateTarget;

impl Pass for AnnotateTarget {
    const NAME: &'static str = "relay-annotate-target";
    const DESCRIPTION: &'static str = "Name the code generator of operators that it can compile";
    const ANCHOR: Option<&'static str> = Some("func.func");
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "target",
            description: "The name of the code generator, an identifier of C",
            kind: OptionKind::Text,
            initial: "",
        },
        OptionSpec {
            name: "ops",
            description: "The operators that it can compile, without the dialect's prefix, with commas between",
            kind: OptionKind::Text,
            initial: "",
        },
    ];
    const STATISTICS: &'static [StatisticSpec] =
        &[StatisticSpec { name: "annotated", description: "Operators that got a name" }];

    fn run<'c>(function: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let fail = |message: String| Err(PassError::new(function.location(), message));
        let target = cx.options.text("target").to_owned();
        if !is_identifier(&target) {
            return fail(format!(
                "the option target of {} must be an identifier of C, found {target:?}",
                Self::NAME
            ));
        }
        let mut rows: Vec<&'static Operator> = Vec::new();
        for name in cx.options.text("ops").split(',').map(str::trim).filter(|name| !name.is_empty()) {
            match ops::named(name) {
                Some(row) => rows.push(row),
                None => {
                    return fail(format!(
                        "the option ops of {} must have names of operators such as conv2d, found {name:?}",
                        Self::NAME
                    ));
                }
            }
        }
        if function.attr(PRIMITIVE).is_none() {
            cx.count(0, annotate(function, &target, &|_, row| rows.iter().any(|r| r.is(row))));
        }
        Ok(())
    }
}

/// Gives the name to each operator of a function that has none and that `can` holds for; says how many there were.
pub fn annotate<'c>(function: Op<'c>, target: &str, can: &dyn Fn(Op<'c>, &'static Operator) -> bool) -> u64 {
    let mut count = 0;
    for op in nested_ops(function) {
        if let Some(Kind::Operator(row)) = kind_of(op)
            && op.attr(COMPILER).is_none()
            && can(op, row)
        {
            op.set_attr(COMPILER, str_attr(op.context_ref(), target));
            count += 1;
        }
    }
    count
}

/// True for what may be a part of a symbol in C.
fn is_identifier(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(letter) && name.chars().all(|c| letter(c) || c.is_ascii_digit())
}
