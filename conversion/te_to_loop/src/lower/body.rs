//! The scalar expressions of a stage at a point, with inlined stages written in place.

use super::{Lowering, Part, Place};
use crate::roundings::Contracted;
use fusion_dialects::indices::expr::Expr;
use fusion_dialects::indices::{comparison, index_op, load_of};
use fusion_dialects::loops::{FIRST_IS_NUMBER, LoopKind, Loops};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::{Compare, Op as Te, Scalar};
use fusion_dialects::{
    Attribute, Block, Op, OpExt, PassError, Value, ValueLike, ValueMap, arguments, key, kind_of, nested_ops,
    ops_in, unit_attr,
};
use fusion_operators::DType;
use fusion_schedule::schedule::{Attach, StageId};
use std::collections::HashMap;

impl<'c> Lowering<'c, '_> {
    /// The elements of a stage's results at the point `axes` (parallel, then reduction axes), before combining.
    pub(super) fn elements(&mut self, loops: &Loops<'c>, stage: StageId, axes: &[Expr]) -> Vec<Value<'c>> {
        let stage = self.tree.stages[stage].op;
        let Some(body) = stage.body(0) else { return Vec::new() };
        let contracted = Contracted::of(stage, self.roundings);
        let mut known: HashMap<usize, Expr> = HashMap::new();
        for (axis, e) in arguments(body).into_iter().zip(axes) {
            known.insert(key(axis), e.clone());
        }
        let mut map = self.outside.clone();
        let mut truth: HashMap<usize, bool> = HashMap::new();
        for op in ops_in(body) {
            match kind_of(op) {
                Some(Kind::Te(Te::Yield)) => {
                    write_decided(loops, &op.operand_values(), &truth, &mut map);
                    return op.operand_values().into_iter().map(|v| map.lookup(v)).collect();
                }
                Some(Kind::Te(Te::Load | Te::LoadIf)) => {
                    let Some((tensor, indices)) = load_of(op) else { continue };
                    let indices: Vec<Expr> =
                        indices.iter().map(|v| self.index_of(*v, &mut known, &map)).collect();
                    let element = match op.operand_values()[1 + indices.len()..] {
                        [condition, otherwise] => {
                            write_decided(loops, &[otherwise], &truth, &mut map);
                            let otherwise = map.lookup(otherwise);
                            match truth.get(&key(condition)) {
                                Some(true) => self.load(loops, op, tensor, &indices),
                                Some(false) => otherwise,
                                None => {
                                    let load =
                                        |inner: &Loops<'c>| vec![self.load(inner, op, tensor, &indices)];
                                    loops.guard_else(map.lookup(condition), &[otherwise], load)[0]
                                }
                            }
                        }
                        _ => self.load(loops, op, tensor, &indices),
                    };
                    map.insert(op.result_values()[0], element);
                }
                kind => {
                    if let Some(e) = index_op(op, &mut |v| Some(self.index_of(v, &mut known, &map))) {
                        known.insert(key(op.result_values()[0]), e);
                        continue;
                    }
                    if let Some(chosen) = chosen(op, kind, &truth) {
                        let (result, index) = (op.result_values()[0], known.get(&key(chosen)).cloned());
                        match index {
                            Some(index) => drop(known.insert(key(result), index)),
                            None => {
                                write_decided(loops, &[chosen], &truth, &mut map);
                                map.insert(result, map.lookup(chosen));
                            }
                        }
                        continue;
                    }
                    if let Some(outcome) = self.decide(op, kind, &truth, &mut known, &map) {
                        truth.insert(key(op.result_values()[0]), outcome);
                    } else {
                        for op in nested_ops(op).into_iter().chain([op]) {
                            write_decided(loops, &op.operand_values(), &truth, &mut map);
                        }
                        self.clone_scalar(loops, (op, &contracted), &mut known, &mut map);
                    }
                }
            }
        }
        Vec::new()
    }

    /// The outcome of a comparison of indices, or of several, that the ranges of the loops leave only one for.
    fn decide(
        &mut self,
        op: Op<'c>,
        kind: Option<Kind>,
        truth: &HashMap<usize, bool>,
        known: &mut HashMap<usize, Expr>,
        map: &ValueMap<'c>,
    ) -> Option<bool> {
        if let Some(Kind::Upstream(Upstream::AndI)) = kind {
            let known: Vec<_> = op.operand_values().iter().map(|v| truth.get(&key(*v)).copied()).collect();
            return match known[..] {
                [Some(false), _] | [_, Some(false)] => Some(false),
                [Some(true), Some(true)] => Some(true),
                _ => None,
            };
        }
        comparison(op, &mut |v| Some(self.index_of(v, known, map)))?.decided()
    }

    /// The expression of an index value; one that nothing is known of becomes opaque.
    fn index_of(&mut self, value: Value<'c>, known: &mut HashMap<usize, Expr>, map: &ValueMap<'c>) -> Expr {
        if let Some(e) = known.get(&key(value)) {
            return e.clone();
        }
        let constant = fusion_dialects::defining_op(value)
            .filter(|op| matches!(kind_of(*op), Some(Kind::Upstream(Upstream::ArithConstant))))
            .and_then(|op| op.int("value"));
        let e = match constant {
            Some(number) => Expr::constant(number),
            None => self.indices.opaque(map.lookup(value)),
        };
        known.insert(key(value), e.clone());
        e
    }

    fn clone_scalar(
        &mut self,
        loops: &Loops<'c>,
        (op, contracted): (Op<'c>, &Contracted),
        known: &mut HashMap<usize, Expr>,
        map: &mut ValueMap<'c>,
    ) {
        for operand in op.operand_values() {
            if map.get(operand).is_none() && known.contains_key(&key(operand)) {
                let value = self.indices.value(&loops.build, &known[&key(operand)]);
                map.insert(operand, value);
            }
        }
        let copy = map.clone_op(&loops.build, op);
        // One rounding in place of two is as right where no rounding to integers follows, and twice as fast.
        let context = loops.build.context();
        contracted.mark(context, op, copy);
        nested_ops(copy)
            .into_iter()
            .zip(nested_ops(op))
            .for_each(|(made, of)| contracted.mark(context, of, made));
    }

    /// An element of a tensor.
    fn load(&mut self, loops: &Loops<'c>, op: Op<'c>, tensor: Value<'c>, indices: &[Expr]) -> Value<'c> {
        if let Some((stage, result)) = self.stage_of.get(&key(tensor)).copied()
            && self.tree.stages[stage].attach == Attach::Inline
        {
            return self.elements(loops, stage, indices)[result];
        }
        match self.places.get(&key(tensor)).cloned() {
            Some(Place::Value(value)) => value,
            Some(Place::Memory(part)) => self.padded_load(loops, &part, indices),
            None => {
                self.fail(PassError::at(op, "reads a tensor that has not been computed at this place"));
                // Something of the right type, so that the rest can be built before the error is reported.
                let ty = op.result_values()[0].r#type();
                loops.build.value("ub.poison", &[], ty, &[])
            }
        }
    }

    /// An element in memory; 0 where a stage that is padded asks for one beyond the end.
    fn padded_load(&mut self, loops: &Loops<'c>, part: &Part<'c>, indices: &[Expr]) -> Value<'c> {
        let raw = |this: &mut Self, loops: &Loops<'c>| {
            let index = this.indices.value(&loops.build, &part.offset(indices));
            loops.load_raw(part.buffer, index).value
        };
        if !self.pads {
            return raw(self, loops);
        }
        let s = loops.scalars();
        let mut inside: Option<Scalar> = None;
        for ((index, origin), &n) in indices.iter().zip(&part.origin).zip(&part.shape) {
            let local = index.minus(origin);
            let Some((low, high)) = local.range() else { continue };
            let end = n as i64;
            // Where the elements of a vector are inside or not together, the lane is not asked for.
            let decides = local.that_decides(end);
            let mut ask = |how, bound| {
                let value = self.indices.value(&loops.build, &decides);
                let holds = s.index_compare(how, value, s.index(bound));
                inside = Some(inside.map_or(holds, |all| s.and(all, holds)));
            };
            if high >= end {
                ask(Compare::Less, end);
            }
            if low < 0 {
                ask(Compare::GreaterEqual, 0);
            }
        }
        let Some(inside) = inside else { return raw(self, loops) };
        let dtype = part.buffer.dtype;
        let zero = if dtype.is_float() { s.float(0.0, dtype) } else { s.int(0, dtype) };
        loops.guard_else(inside.value, &[zero.value], |inner| vec![raw(self, inner)])[0]
    }

    /// The combiner of a reduction, applied to the values so far and the new ones. Unless all roundings are kept, floats may be
    /// added in any order: the result of a reduction has no order of its own.
    pub(super) fn combine(
        &mut self,
        loops: &Loops<'c>,
        stage: StageId,
        so_far: &[Value<'c>],
        new: &[Value<'c>],
    ) -> Vec<Value<'c>> {
        let flags = self.roundings.of_reduction(self.is_vectorized(stage));
        combine(loops, self.tree.stages[stage].op, &self.outside, (so_far, new), flags)
    }

    /// True when a stage is computed in vectors, by its own loops or by those it is attached to.
    fn is_vectorized(&self, stage: StageId) -> bool {
        let s = &self.tree.stages[stage];
        s.leaves.iter().any(|&l| s.axes[l].kind == LoopKind::Vectorized)
            || matches!(s.attach, Attach::At(consumer, _) if self.is_vectorized(consumer))
    }

    /// The neutral elements of a reduction.
    pub(super) fn neutral(&self, loops: &Loops<'c>, stage: StageId) -> Vec<Value<'c>> {
        let op = self.tree.stages[stage].op;
        let attrs = op.attr("init").map(fusion_dialects::array_elements).unwrap_or_default();
        let types = op.result_values();
        attrs
            .iter()
            .zip(types)
            .map(|(attr, tensor)| {
                let dtype =
                    fusion_dialects::tensor_type(tensor).map_or(fusion_operators::DType::F32, |t| t.dtype);
                let ty = fusion_dialects::scalar_type(loops.build.context(), dtype);
                loops.build.value("arith.constant", &[], ty, &[("value", *attr)])
            })
            .collect()
    }
}

/// Makes constants of those of some values that are conditions with one outcome. Most are asked for by nothing that is written.
fn write_decided<'c>(
    loops: &Loops<'c>,
    values: &[Value<'c>],
    truth: &HashMap<usize, bool>,
    map: &mut ValueMap<'c>,
) {
    for &value in values {
        if let Some(outcome) = truth.get(&key(value)).filter(|_| map.get(value).is_none()) {
            map.insert(value, loops.scalars().int((*outcome).into(), DType::Bool).value);
        }
    }
}

/// The scalar that a choice by a condition with one outcome takes.
fn chosen<'c>(op: Op<'c>, kind: Option<Kind>, truth: &HashMap<usize, bool>) -> Option<Value<'c>> {
    let operands = op.operand_values();
    let (Some(Kind::Upstream(Upstream::Select)), &[condition, a, b]) = (kind, &operands[..]) else {
        return None;
    };
    truth.get(&key(condition)).map(|outcome| if *outcome { a } else { b })
}

/// The combiner of a reduction, applied to the values so far and the new ones; `flags` say what may be done with sums and
/// products of floats.
pub fn combine<'c>(
    loops: &Loops<'c>,
    reduction: Op<'c>,
    outside: &ValueMap<'c>,
    (so_far, new): (&[Value<'c>], &[Value<'c>]),
    flags: &str,
) -> Vec<Value<'c>> {
    let Some(combiner) = reduction.body(1) else { return new.to_vec() };
    let mut map = outside.clone();
    for (argument, value) in arguments(combiner).into_iter().zip(so_far.iter().chain(new)) {
        map.insert(argument, *value);
    }
    let flags = Attribute::parse(loops.build.context(), &format!("#arith.fastmath<{flags}>"));
    for op in ops_in(combiner) {
        match kind_of(op) {
            Some(Kind::Te(Te::Yield)) => {
                return op.operand_values().into_iter().map(|v| map.lookup(v)).collect();
            }
            kind => {
                let copy = map.clone_op(&loops.build, op);
                let adds = matches!(kind, Some(Kind::Upstream(Upstream::AddF | Upstream::MulF)));
                if let Some(flags) = flags.filter(|_| adds) {
                    copy.set_attr("fastmath", flags);
                }
                let is_greatest = matches!(kind, Some(Kind::Upstream(Upstream::MaxNumF)));
                if is_greatest && goes_on_from_number(reduction, combiner, op) {
                    copy.set_attr(FIRST_IS_NUMBER, unit_attr(loops.build.context()));
                }
            }
        }
    }
    Vec::new()
}

/// True for an operation of a combiner whose first operand is the value so far, of a reduction that begins with a number: where the greater
/// number of this and another is the next value so far, it stays one.
fn goes_on_from_number(reduction: Op, combiner: Block, op: Op) -> bool {
    let (Some(first), Some(result)) =
        (op.operand_values().first().copied(), op.result_values().first().copied())
    else {
        return false;
    };
    let goes_on = ops_in(combiner).last().map(|end| end.operand_values()).unwrap_or_default();
    let begins = reduction.attr("init").map(fusion_dialects::array_elements).unwrap_or_default();
    let places = arguments(combiner).into_iter().zip(goes_on).zip(begins);
    let is_number = |attr: &Attribute| fusion_dialects::float_of(*attr).is_some_and(|n| !n.is_nan());
    let same = |a: Value, b: Value| key(a) == key(b);
    places
        .into_iter()
        .any(|((so_far, next), begins)| same(so_far, first) && same(next, result) && is_number(&begins))
}
