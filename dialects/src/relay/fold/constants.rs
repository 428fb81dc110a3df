//! Calls of constants.

use super::FoldResult;
use crate::{Attribute, Op, OpExt, Value, read_tensor, tensor_type, write_tensor};
use fusion_operators::ops::elementwise::CAST;
use fusion_operators::{Operator, TensorType, reference};

/// Results above this many elements are not folded: a constant must not outgrow what it was made from by much.
pub const MOST_ELEMENTS: u64 = 1 << 16;

/// Bytes that are widened stay as they are above this many: they are weights, which programs multiply in few bits.
const MOST_WIDENED: u64 = 1 << 8;

/// Whether the constants that a call gives are worth having in place of what they are made of.
pub fn is_worth(operator: &Operator, operands: &[TensorType], results: &[TensorType]) -> bool {
    let small = |ty: &TensorType, most: u64| ty.elements().is_some_and(|n| n <= most);
    let from_bytes = operands.first().is_some_and(|ty| ty.dtype.is_int() && ty.dtype.size() == 1);
    let most = match operator.is(&CAST) && from_bytes && results.iter().any(|ty| ty.dtype.size() > 1) {
        true => MOST_WIDENED,
        false => MOST_ELEMENTS,
    };
    results.iter().chain(operands).all(|ty| small(ty, most))
}

/// The results of a call whose operands are all known.
pub fn fold<'c>(
    operator: &'static Operator,
    op: Op<'c>,
    known: &[Option<Attribute<'c>>],
) -> Option<Vec<FoldResult<'c>>> {
    let types = |values: Vec<Value>| values.into_iter().map(tensor_type).collect::<Option<Vec<_>>>();
    is_worth(operator, &types(op.operand_values())?, &types(op.result_values())?).then_some(())?;
    let operands: Vec<_> = known.iter().map(|a| a.and_then(read_tensor)).collect::<Option<_>>()?;
    let results = reference::evaluate(operator, &op.attrs(), &operands).ok()?;
    let context = op.context_ref();
    let name = format!("folded_{}", operator.name);
    Some(results.iter().map(|t| FoldResult::Constant(write_tensor(context, t, &name))).collect())
}
