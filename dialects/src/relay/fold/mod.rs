//! Folding: what a call is known to be without running it.
//!
//! A call of constants is computed by the operator's reference semantics ([`constants`]). Other calls give one
//! of their operands ([`arithmetic`], [`casts`], [`shape`]) or read past an operation whose work they undo; such
//! a rule holds for all values, NaN, infinities and both zeros included, and keeps the type.

mod arithmetic;
mod casts;
mod constants;
mod shape;

use crate::{
    Attribute, Op, OpExt, OperationLike, Value, ValueLike, defining_op, kind_of, rows::Kind, splat,
    tensor_type,
};
pub use constants::{MOST_ELEMENTS, is_worth};
use fusion_operators::{Attrs, Call, Operator, Tensor, TensorType};

/// What a folder found.
pub enum Folded<'c> {
    /// Nothing.
    No,
    /// The operation was changed where it stands.
    InPlace,
    /// What its results are.
    To(Vec<FoldResult<'c>>),
}

/// A result of folding.
pub enum FoldResult<'c> {
    /// A value that is there already.
    Value(Value<'c>),
    /// A constant.
    Constant(Attribute<'c>),
}

/// What a rule finds in a call; `None` when it does not apply.
type Rule = for<'a, 'c> fn(&Site<'a, 'c>) -> Option<Folded<'c>>;

/// The rules of a family: each with the operator whose calls it looks at.
type Rules = &'static [(&'static Operator, Rule)];

/// Folds a call whose operands are constants where `known` has an attribute.
pub fn fold<'c>(operator: &'static Operator, op: Op<'c>, known: &[Option<Attribute<'c>>]) -> Folded<'c> {
    if let Some(results) = constants::fold(operator, op, known) {
        return Folded::To(results);
    }
    let site = Site { operator, op, known };
    let rules = [arithmetic::RULES, casts::RULES, shape::RULES].into_iter().flatten();
    let mut found = rules.filter(|(of, _)| of.is(operator)).filter_map(|(_, rule)| rule(&site));
    found.next().unwrap_or(Folded::No)
}

/// A call that is looked at.
struct Site<'a, 'c> {
    operator: &'static Operator,
    op: Op<'c>,
    known: &'a [Option<Attribute<'c>>],
}

impl<'c> Site<'_, 'c> {
    fn operand(&self, index: usize) -> Option<Value<'c>> {
        self.op.operand(index).ok()
    }

    fn operand_type(&self, index: usize) -> Option<TensorType> {
        tensor_type(self.operand(index)?)
    }

    /// The number all elements of an operand are.
    fn splat(&self, index: usize) -> Option<Tensor> {
        splat((*self.known.get(index)?)?)
    }

    /// The value, when it has the type of the call's only result.
    fn gives(&self, value: Value<'c>) -> Option<Folded<'c>> {
        match self.op.result_values()[..] {
            [result] if result.r#type() == value.r#type() => Some(Folded::To(vec![FoldResult::Value(value)])),
            _ => None,
        }
    }

    /// As [`gives`](Self::gives), of an operand.
    fn gives_operand(&self, index: usize) -> Option<Folded<'c>> {
        self.gives(self.operand(index)?)
    }

    /// The operation that computes an operand, and its operator.
    fn computed_by(&self, index: usize) -> Option<(Op<'c>, &'static Operator)> {
        let op = defining_op(self.operand(index)?)?;
        match kind_of(op) {
            Some(Kind::Operator(operator)) => Some((op, operator)),
            _ => None,
        }
    }

    /// The first operand's own first operand, when the first operand comes from that operator.
    fn under(&self, operator: &Operator) -> Option<Value<'c>> {
        let (op, found) = self.computed_by(0)?;
        if found.is(operator) { op.operand(0).ok() } else { None }
    }

    /// Reads a question about the call's attributes and operand types.
    fn ask<T>(&self, question: impl FnOnce(&Call) -> T) -> Option<T> {
        ask(self.operator, self.op, question)
    }

    /// Makes the call read that value in place of its first operand, with other attributes, if its type stays.
    fn reads(&self, value: Value<'c>, changed: Attrs) -> Option<Folded<'c>> {
        let mut attrs = self.op.attrs();
        changed.iter().for_each(|(name, attr)| attrs.set(name, attr.clone()));
        let related = self.operator.infer(&[tensor_type(value)?], &attrs).ok()?;
        if related != [tensor_type(self.op.result(0).ok()?.into())?] {
            return None;
        }
        for (name, attr) in changed.iter() {
            self.op.set_attr(name, crate::attr_to_mlir(self.op.context_ref(), attr));
        }
        self.op.set_operand_value(0, value);
        Some(Folded::InPlace)
    }
}

fn ask<T>(operator: &'static Operator, op: Op, question: impl FnOnce(&Call) -> T) -> Option<T> {
    let operands: Option<Vec<TensorType>> = op.operand_values().into_iter().map(tensor_type).collect();
    Some(question(&Call { op: operator, operands: &operands?, attrs: &op.attrs() }))
}
