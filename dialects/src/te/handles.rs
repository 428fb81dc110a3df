//! What a value of a schedule names, in words: read off the operations that made it, so that messages can say it of schedules
//! that were never applied.
//!
//! ```text
//!   %j of  %i, %j = te.axes %dense           loop 1 of stage "dense"
//!   %b of  %a, %b = te.split %j by 16        the inner loop of loop 1 of stage "dense"
//! ```
//!
//! Values have no names of their own once a file is read; the number of a loop is its place in `te.axes`, the outermost first.

use super::Op as Te;
use crate::rows::Kind;
use crate::{Op, OpExt, Value, defining_op, key};

/// Loops made of loops are told of this far back.
const MOST_STEPS: usize = 4;

/// What a handle names.
pub fn named(value: Value) -> String {
    let Some((op, kind, place)) = origin(value) else { return "what this schedule did not define".into() };
    match kind {
        Te::Axes | Te::Split | Te::Tile | Te::Fuse => match stage_of(value) {
            Some(stage) => format!("{} of {stage}", loop_named(value, MOST_STEPS)),
            None => loop_named(value, MOST_STEPS),
        },
        Te::Input => format!("argument {}", op.int("index").unwrap_or(-1)),
        Te::Reindex => stage(op.text(if place == 0 { "first" } else { "second" })),
        _ => stage(op.text("name")),
    }
}

/// What the operands of a primitive name, and the kernel it is for; to be put behind what is wrong with it.
pub fn context_of(primitive: Op) -> String {
    use crate::OperationLike;
    let schedule = primitive.parent_operation();
    let kernel = schedule.and_then(|s| s.text("kernel")).unwrap_or_default();
    context(primitive.operand_values().into_iter().map(named), kernel)
}

/// `(loop 1 of stage "dense"; in the schedule for @k)`.
pub fn context(operands: impl Iterator<Item = String>, kernel: &str) -> String {
    let mut parts: Vec<String> = operands.collect();
    parts.push(format!("in the schedule for @{kernel}"));
    format!("({})", parts.join("; "))
}

fn stage(name: Option<&str>) -> String {
    format!("stage \"{}\"", name.unwrap_or_default())
}

/// The operation that made a handle, what it is, and which of its results the handle is.
fn origin(value: Value<'_>) -> Option<(Op<'_>, Te, usize)> {
    let op = defining_op(value)?;
    let Some(Kind::Te(kind)) = op.kind() else { return None };
    let place = op.result_values().into_iter().position(|result| key(result) == key(value))?;
    Some((op, kind, place))
}

fn loop_named(value: Value, steps: usize) -> String {
    let Some((op, kind, place)) = origin(value).filter(|_| steps > 0) else { return "a loop".into() };
    let operands = op.operand_values();
    let of = |at: usize| operands.get(at).map_or("a loop".into(), |v| loop_named(*v, steps - 1));
    let side = |inner: bool| if inner { "inner" } else { "outer" };
    match kind {
        Te::Axes => format!("loop {place}"),
        Te::Split => format!("the {} loop of {}", side(place == 1), of(0)),
        Te::Tile => format!("the {} loop of {}", side(place >= 2), of(place % 2)),
        Te::Fuse => format!("the loop over {} and {}", of(0), of(1)),
        _ => "a loop".into(),
    }
}

/// The stage that a loop is one of.
fn stage_of(value: Value) -> Option<String> {
    let mut value = value;
    loop {
        let (op, kind, _) = origin(value)?;
        value = *op.operand_values().first()?;
        if matches!(kind, Te::Axes) {
            return Some(named(value));
        }
    }
}
