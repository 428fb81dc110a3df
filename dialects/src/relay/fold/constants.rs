//! Calls of constants.

use super::FoldResult;
use crate::{Attribute, Op, OpExt, Value, read_tensor, tensor_type, write_tensor};
use fusion_operators::{Operator, reference};

/// Results above this many elements are not folded: a constant must not outgrow what it was made from by much.
pub const MOST_ELEMENTS: u64 = 1 << 16;

/// The results of a call whose operands are all known.
pub fn fold<'c>(
    operator: &'static Operator,
    op: Op<'c>,
    known: &[Option<Attribute<'c>>],
) -> Option<Vec<FoldResult<'c>>> {
    let small = |v: &Value| tensor_type(*v)?.elements().filter(|&n| n <= MOST_ELEMENTS);
    op.result_values().iter().map(small).collect::<Option<Vec<_>>>()?;
    op.operand_values().iter().map(small).collect::<Option<Vec<_>>>()?;
    let operands: Vec<_> = known.iter().map(|a| a.and_then(read_tensor)).collect::<Option<_>>()?;
    let results = reference::evaluate(operator, &op.attrs(), &operands).ok()?;
    let context = op.context_ref();
    let name = format!("folded_{}", operator.name);
    Some(results.iter().map(|t| FoldResult::Constant(write_tensor(context, t, &name))).collect())
}
