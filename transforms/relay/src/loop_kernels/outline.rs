//! Makes the function of a loop kernel.
//!
//!     func.func private @loop_0(%p0: [4, n], ...) attributes {relay.primitive} {
//!       the pieces of the state, by slices
//!       relay.while(counter, pieces) { counter < end } do { elementwise }
//!       the results, stacked again
//!     }

use super::passes;
use super::pieces::{Form, Moves, is_uniform, lead, moves, piece_at, places, taken};
use crate::fuse_ops::PRIMITIVE;
use fusion_dialects::relay::Builder;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Attribute, Build, Op, OpExt, OperationLike, PassError, Type, Value, ValueLike, arguments, function_type,
    int_attr, key, kind_of, str_attr, symbol_attr, tensor_type, top_level, type_attr, unit_attr,
};
use fusion_operators::ops::elementwise::{ADD, LESS};
use fusion_operators::ops::shape::{BROADCAST_TO, CONCAT, RESHAPE, SLICE};
use fusion_operators::{Attrs, DType, Dim, Tensor, TensorType, Violation};
use std::collections::HashMap;

/// The pieces of each value.
type Pieces<'c> = HashMap<usize, Vec<Value<'c>>>;

/// Puts a loop of that form into a primitive function of the module and calls it in its place; the operation is gone then.
/// `unroll` steps stand behind each other in the kernel; with 0 that is not said.
pub fn outline<'c>(module: Op<'c>, op: Op<'c>, form: &Form<'c>, unroll: u64) -> Result<(), PassError<'c>> {
    let Some(block) = module.body(0) else { return Ok(()) };
    let context = op.context_ref();
    let counter = form.counting.counter;
    let state: Vec<usize> = form.state.iter().copied().filter(|&k| k != counter).collect();
    let carried = op.operand_values();
    let mut outside: Vec<Value> = Vec::new();
    for value in state.iter().map(|&k| carried[k]).chain(taken(op, form)) {
        if !outside.contains(&value) && !is_uniform(value) {
            outside.push(value);
        }
    }
    let kept: Vec<usize> =
        state.iter().copied().filter(|&k| !fusion_dialects::unused(op.result_values()[k])).collect();
    let types = |values: &[Value<'c>]| -> Vec<Type<'c>> { values.iter().map(|v| v.r#type()).collect() };
    let inputs = types(&outside);
    let results: Vec<Type> = kept.iter().map(|&k| carried[k].r#type()).collect();
    let name = fresh_name(module);
    let build = Build::at_end(context, block, op.location());
    let mut outcome = Ok(());
    let region = build.region(&inputs, |inner, given| {
        let maker = Maker { form, builder: Builder::new(inner) };
        outcome = maker.function(op, (&state, &kept), (&outside, given), unroll);
    });
    let attributes: [(&str, Attribute); 4] = [
        ("sym_name", str_attr(context, &name)),
        ("sym_visibility", str_attr(context, "private")),
        ("function_type", type_attr(function_type(context, &inputs, &results))),
        (PRIMITIVE, unit_attr(context)),
    ];
    let function = build.op_with_regions(Upstream::Func.name(), &[], &[], &attributes, vec![region]);
    if let Err(why) = outcome {
        function.erase();
        return Err(PassError::at(op, format_args!("cannot become a kernel: {why}")));
    }
    let callee = symbol_attr(context, &name);
    let here = Build::before(op);
    let call = here.op(Upstream::Call.name(), &outside, &results, &[("callee", callee)]);
    let given = call.result_values();
    for (k, result) in op.result_values().into_iter().enumerate() {
        if fusion_dialects::unused(result) {
            continue;
        }
        let new = match kept.iter().position(|&kept| kept == k) {
            Some(at) => given[at],
            None if k == counter => scalar(&Builder::new(here), form.counting.last(), &carried[k]),
            // The loop does not change it.
            None => carried[k],
        };
        fusion_dialects::replace_uses(result, new);
    }
    op.erase();
    Ok(())
}

fn fresh_name(module: Op) -> String {
    let functions = top_level(module, |kind| matches!(kind, Kind::Upstream(Upstream::Func)));
    let taken: Vec<&str> = functions.iter().filter_map(|f| f.text("sym_name")).collect();
    let mut names = (0..).map(|n| format!("loop_{n}"));
    names.find(|name| !taken.contains(&name.as_str())).unwrap_or_default()
}

/// A scalar constant of the type of another value.
fn scalar<'c>(builder: &Builder<'c>, number: i64, like: &Value<'c>) -> Value<'c> {
    let dtype = tensor_type(*like).map_or(DType::I64, |t| t.dtype);
    match Tensor::from_ints(dtype, &[], &[number.into()]) {
        Ok(tensor) => builder.constant(&tensor),
        Err(_) => *like,
    }
}

struct Maker<'c, 'f> {
    form: &'f Form<'c>,
    builder: Builder<'c>,
}

impl<'c> Maker<'c, '_> {
    fn function(
        &self,
        op: Op<'c>,
        (state, kept): (&[usize], &[usize]),
        (outside, given): (&[Value<'c>], &[Value<'c>]),
        unroll: u64,
    ) -> Result<(), Violation> {
        let form = self.form;
        let counter = form.counting.counter;
        let carried = op.operand_values();
        let mut known: Pieces = HashMap::new();
        for value in state.iter().map(|&k| carried[k]).chain(taken(op, form)) {
            let here = outside.iter().position(|o| *o == value).map(|at| given[at]);
            if let Some(here) = here {
                known.insert(key(value), self.apart(here)?);
            }
        }
        let start = scalar(&self.builder, form.counting.first, &carried[counter]);
        let mut inits = vec![start];
        for &k in state {
            let pieces = match known.get(&key(carried[k])) {
                Some(pieces) => pieces.clone(),
                None => uniform(&self.builder, carried[k]).into_iter().collect(),
            };
            let wanted = self.count(carried[k]);
            for n in 0..wanted {
                let piece = pieces[n.min(pieces.len() - 1)];
                inits.push(self.fitted(&self.builder, piece, &self.piece_type(carried[k]))?);
            }
        }
        let end = form.counting.last();
        let looped = self.builder.while_(
            &inits,
            |b, own| Ok(b.op(&LESS, &[own[0], scalar(&b, end, &carried[counter])], &Attrs::new())?[0]),
            |b, own| self.step(&b, op, state, &known, own),
        )?;
        if unroll > 0 {
            looped.set_attr(super::UNROLL, int_attr(self.builder.build().context(), unroll as i64));
        }
        let mut results = looped.result_values().split_off(1);
        let mut last = Vec::new();
        for &k in state {
            let rest = results.split_off(self.count(carried[k]));
            if kept.contains(&k) {
                last.push(self.together(&results, carried[k])?);
            }
            results = rest;
        }
        self.builder.build().op(Upstream::Return.name(), &last, &[], &[]);
        Ok(())
    }

    /// The body, on pieces; `own` is the counter and then the pieces of the state.
    fn step(
        &self,
        b: &Builder<'c>,
        op: Op<'c>,
        state: &[usize],
        outside: &Pieces<'c>,
        own: &[Value<'c>],
    ) -> Result<Vec<Value<'c>>, Violation> {
        let mut known = outside.clone();
        let Some(block) = op.body(1) else { return Ok(Vec::new()) };
        let (taken, next) = (arguments(block), &self.form.next);
        let counter = self.form.counting.counter;
        for (k, value) in op.operand_values().into_iter().enumerate().filter(|(k, _)| passes(op, *k)) {
            let pieces = outside.get(&key(value)).cloned();
            known.extend(pieces.or_else(|| Some(vec![uniform(b, value)?])).map(|p| (key(taken[k]), p)));
        }
        known.insert(key(taken[counter]), vec![own[0]]);
        let mut at = 1;
        for &k in state {
            let count = self.count(taken[k]);
            known.insert(key(taken[k]), own[at..at + count].to_vec());
            at += count;
        }
        for op in &self.form.body {
            let b = Builder::new(b.build().at(op.location()));
            let operands: Vec<Vec<Value>> = op
                .operand_values()
                .into_iter()
                .map(|v| known.get(&key(v)).cloned().unwrap_or_else(|| uniform(&b, v).into_iter().collect()))
                .collect();
            let results = op.result_values();
            match moves(*op, &self.form.shape) {
                Some(Moves::Pieces(all)) => {
                    for (result, pieces) in results.into_iter().zip(all) {
                        // A constant is the same in all pieces.
                        let piece =
                            |&(k, n): &(usize, usize)| operands[k].get(n).or(operands[k].first()).copied();
                        known.insert(key(result), pieces.iter().filter_map(piece).collect());
                    }
                }
                _ => {
                    let Some(Kind::Operator(operator)) = kind_of(*op) else { continue };
                    let types: Vec<_> = op.operand_values().into_iter().map(|v| self.lead(v)).collect();
                    let mut pieces = Vec::new();
                    for place in places(&self.lead(results[0])) {
                        let of = |(values, lead): (&Vec<Value<'c>>, &Vec<u64>)| match values.len() {
                            1 => values[0],
                            _ => values[piece_at(lead, &place)],
                        };
                        let values: Vec<Value> = operands.iter().zip(&types).map(of).collect();
                        pieces.extend(b.op(operator, &values, &op.attrs())?);
                    }
                    known.insert(key(results[0]), pieces);
                }
            }
        }
        let one = scalar(b, self.form.counting.step, &taken[counter]);
        let mut yielded = b.op(&ADD, &[own[0], one], &Attrs::new())?;
        for &k in state {
            let pieces = known
                .get(&key(next[k]))
                .cloned()
                .unwrap_or_else(|| uniform(b, next[k]).into_iter().collect());
            let wanted = self.piece_type(taken[k]);
            for n in 0..self.count(taken[k]) {
                yielded.push(self.fitted(b, pieces[n.min(pieces.len() - 1)], &wanted)?);
            }
        }
        Ok(yielded)
    }

    fn lead(&self, value: Value<'c>) -> Vec<u64> {
        tensor_type(value).and_then(|t| lead(&t, &self.form.shape)).unwrap_or_default()
    }

    fn count(&self, value: Value<'c>) -> usize {
        self.lead(value).iter().product::<u64>() as usize
    }

    /// The type of a piece of a value.
    fn piece_type(&self, value: Value<'c>) -> TensorType {
        let ty = tensor_type(value).unwrap_or_else(|| TensorType::new(Vec::new(), DType::F32));
        let dims = ty.dims[self.lead(value).len()..].to_vec();
        TensorType::new(dims, ty.dtype)
    }

    /// A value in the shape that is wanted of it, to which it broadcasts.
    fn fitted(&self, b: &Builder<'c>, value: Value<'c>, wanted: &TensorType) -> Result<Value<'c>, Violation> {
        if tensor_type(value).as_ref() == Some(wanted) {
            return Ok(value);
        }
        let shape: Vec<i64> = wanted.shape().unwrap_or_default().iter().map(|&n| n as i64).collect();
        let fewer = tensor_type(value).is_some_and(|t| t.rank() > wanted.rank());
        let operator = if fewer { &RESHAPE } else { &BROADCAST_TO };
        Ok(b.op(operator, &[value], &Attrs::new().with("shape", shape))?[0])
    }

    /// The pieces of a value from outside.
    fn apart(&self, value: Value<'c>) -> Result<Vec<Value<'c>>, Violation> {
        let lead = self.lead(value);
        let wanted = self.piece_type(value);
        let shape: Vec<i64> = wanted.shape().unwrap_or_default().iter().map(|&n| n as i64).collect();
        if lead.is_empty() {
            return Ok(vec![value]);
        }
        let each = |place: Vec<u64>| {
            let begin: Vec<i64> = place.iter().map(|&i| i as i64).collect();
            let end: Vec<i64> = place.iter().map(|&i| i as i64 + 1).collect();
            let part =
                self.builder.op(&SLICE, &[value], &Attrs::new().with("begin", begin).with("end", end))?[0];
            Ok(self.builder.op(&RESHAPE, &[part], &Attrs::new().with("shape", shape.clone()))?[0])
        };
        places(&lead).into_iter().map(each).collect()
    }

    /// The tensor whose pieces these are.
    fn together(&self, pieces: &[Value<'c>], like: Value<'c>) -> Result<Value<'c>, Violation> {
        let lead = self.lead(like);
        if lead.is_empty() {
            return Ok(pieces[0]);
        }
        let dims = |front: &[Dim]| -> Vec<i64> {
            let own = self.piece_type(like).dims;
            front.iter().chain(&own).filter_map(|d| d.known()).map(|n| n as i64).collect()
        };
        let row = dims(&[Dim::Static(1)]);
        let rows: Result<Vec<Value>, Violation> = pieces
            .iter()
            .map(|p| Ok(self.builder.op(&RESHAPE, &[*p], &Attrs::new().with("shape", row.clone()))?[0]))
            .collect();
        let all = self.builder.op(&CONCAT, &rows?, &Attrs::new().with("axis", 0i64))?[0];
        if lead.len() == 1 {
            return Ok(all);
        }
        let front: Vec<Dim> = lead.iter().map(|&n| Dim::Static(n)).collect();
        Ok(self.builder.op(&RESHAPE, &[all], &Attrs::new().with("shape", dims(&front)))?[0])
    }
}

/// The number that a constant is everywhere, as a scalar.
fn uniform<'c>(b: &Builder<'c>, value: Value<'c>) -> Option<Value<'c>> {
    let op = fusion_dialects::defining_op(value)?;
    is_uniform(value)
        .then(|| op.attr("value").and_then(fusion_dialects::splat))?
        .map(|number| b.constant(&number))
}
