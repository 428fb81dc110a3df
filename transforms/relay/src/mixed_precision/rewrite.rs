//! Gives narrow operators their types, and casts what passes between them and the rest: each value once each way, where it is made.

use super::colours::{Colour, Colours, is_wide};
use crate::fuse_ops::blocks_under;
use fusion_dialects::relay::{Builder, Op as Relay};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Build, Op, OpExt, OperationLike, PassError, Value, ValueLike, arguments, defining_op, dtype_to_mlir,
    function_parts, function_type, key, kind_of, name_of_location, nested_ops, op_key, ops_in, parent_of,
    replace_uses, set_type, tensor_type, tensor_type_to_mlir, type_attr, type_of_attr, unused, users,
};
use fusion_operators::operator::OUT_DTYPE;
use fusion_operators::ops::elementwise::CAST;
use fusion_operators::{Attrs, DType, Operator};
use std::collections::{HashMap, HashSet};

/// Rewrites a function; says how many casts were made.
pub fn rewrite<'c>(
    function: Op<'c>,
    narrow: DType,
    colours: &Colours,
    signature: bool,
) -> Result<u64, PassError<'c>> {
    let blocks = blocks_under(function);
    let starts = blocks.iter().filter_map(|block| Some((*block, *ops_in(*block).first()?)));
    let starts = starts.flat_map(|(block, first)| arguments(block).into_iter().map(move |v| (key(v), first)));
    let ops = nested_ops(function);
    let mut rewriter = Rewriter {
        function,
        narrow,
        colours,
        signature,
        starts: starts.collect(),
        narrowed: HashSet::new(),
        other: HashMap::new(),
        spared: Vec::new(),
        identities: Vec::new(),
        casts: 0,
    };
    if signature {
        rewriter.arguments();
    }
    for op in ops {
        match kind_of(op) {
            Some(Kind::Operator(row)) if colours.is_narrow(op) => rewriter.operator(op, row)?,
            _ => rewriter.rest(op)?,
        }
    }
    for op in &rewriter.identities {
        replace_uses(op.result_values()[0], op.operand_values()[0]);
        op.erase();
    }
    rewriter.spared.iter().filter(|op| op.result_values().into_iter().all(unused)).for_each(|op| op.erase());
    if signature {
        write_type(function);
    }
    Ok(rewriter.casts)
}

struct Rewriter<'a, 'c> {
    function: Op<'c>,
    narrow: DType,
    colours: &'a Colours,
    signature: bool,
    /// The first operation behind each block argument.
    starts: HashMap<usize, Op<'c>>,
    /// Values of f32 that are of the narrow type now.
    narrowed: HashSet<usize>,
    /// Each value in the type that it has not.
    other: HashMap<usize, Value<'c>>,
    /// Constants and casts that something narrow took the place of, at least once.
    spared: Vec<Op<'c>>,
    /// Casts of the source to the type that their operand has now. They stay until the end, as what uses them asked for that type.
    identities: Vec<Op<'c>>,
    casts: u64,
}

impl<'c> Rewriter<'_, 'c> {
    /// Makes arguments narrow that narrow operators alone take.
    fn arguments(&mut self) {
        for argument in self.function.body(0).map(arguments).unwrap_or_default() {
            let takers = users(argument);
            let all = takers.iter().all(|op| self.colours.is_narrow(*op));
            if is_wide(argument) && !takers.is_empty() && all {
                self.make_narrow(argument);
            }
        }
    }

    fn make_narrow(&mut self, value: Value<'c>) {
        let Some(ty) = tensor_type(value) else { return };
        set_type(value, tensor_type_to_mlir(self.function.context_ref(), &ty.with_dtype(self.narrow)));
        self.narrowed.insert(key(value));
    }

    fn operator(&mut self, op: Op<'c>, row: &'static Operator) -> Result<(), PassError<'c>> {
        for (index, value) in op.operand_values().into_iter().enumerate() {
            if is_wide(value) {
                op.set_operand_value(index, self.in_narrow(value)?);
            }
        }
        let results = op.result_values();
        if row.is(&CAST) && results[0].r#type() == op.operand_values()[0].r#type() {
            self.identities.push(op);
            return Ok(());
        }
        let asked = results.iter().any(|value| self.is_asked_for(*value));
        if !asked && row.names_sums() && op.attr(OUT_DTYPE).is_none() {
            op.set_attr(OUT_DTYPE, type_attr(dtype_to_mlir(op.context_ref(), DType::F32)));
            return Ok(());
        }
        let types = self.colours.narrow.get(&op_key(op)).into_iter().flatten();
        for (value, dtype) in results.into_iter().zip(types) {
            if is_wide(value) && *dtype == self.narrow {
                self.make_narrow(value);
            }
        }
        Ok(())
    }

    /// True when something takes a value in the narrow type.
    fn is_asked_for(&self, value: Value<'c>) -> bool {
        users(value).into_iter().any(|op| self.colours.is_narrow(op) || self.signature && self.is_end(op))
    }

    /// True for the operation that gives the function's results.
    fn is_end(&self, op: Op) -> bool {
        matches!(op.kind(), Some(Kind::Upstream(Upstream::Return)))
            && parent_of(op).is_some_and(|parent| op_key(parent) == op_key(self.function))
    }

    /// What is no narrow operator takes f32.
    fn rest(&mut self, op: Op<'c>) -> Result<(), PassError<'c>> {
        let may_stay = self.signature && self.is_end(op);
        for (index, value) in op.operand_values().into_iter().enumerate() {
            if self.narrowed.contains(&key(value)) && !may_stay {
                op.set_operand_value(index, self.cast(value, DType::F32)?);
            } else if may_stay && is_wide(value) && self.colours.colour(value) == Colour::Narrow {
                op.set_operand_value(index, self.in_narrow(value)?);
            }
        }
        Ok(())
    }

    /// A value of f32 in the narrow type.
    fn in_narrow(&mut self, value: Value<'c>) -> Result<Value<'c>, PassError<'c>> {
        let known = self.other.get(&key(value)).copied();
        let op = defining_op(value).filter(|_| known.is_none());
        match op.map(|op| (op, op.kind())) {
            Some((op, Some(Kind::Relay(Relay::Constant)))) => {
                let Some(tensor) = self.colours.constants.get(&key(value)) else {
                    return self.cast(value, self.narrow);
                };
                let name = name_of_location(op.location());
                let form = Builder::new(Build::before(op)).named_constant(tensor, &name);
                self.spared.push(op);
                self.other.insert(key(value), form);
                Ok(form)
            }
            // What was cast to f32 is cast to the narrow type instead.
            Some((op, Some(Kind::Operator(row)))) if row.is(&CAST) => {
                let from = op.operand_values()[0];
                let dtype = tensor_type(from).map(|ty| ty.dtype);
                self.spared.push(op);
                let form = if dtype == Some(self.narrow) {
                    from
                } else {
                    self.casts += 1;
                    cast(&Builder::new(Build::before(op)), op, from, self.narrow)?
                };
                self.other.insert(key(value), form);
                Ok(form)
            }
            _ => self.cast(value, self.narrow),
        }
    }

    /// A value in its other type, behind where it is made.
    fn cast(&mut self, value: Value<'c>, to: DType) -> Result<Value<'c>, PassError<'c>> {
        if let Some(known) = self.other.get(&key(value)) {
            return Ok(*known);
        }
        let made = defining_op(value);
        let (build, at) = match (made, self.starts.get(&key(value))) {
            (Some(op), _) => (Build::after(op), op),
            (None, Some(first)) => (Build::before(*first).at(self.function.location()), self.function),
            (None, None) => return Ok(value),
        };
        self.casts += 1;
        let form = cast(&Builder::new(build), at, value, to)?;
        self.other.insert(key(value), form);
        Ok(form)
    }
}

fn cast<'c>(
    builder: &Builder<'c>,
    at: Op<'c>,
    value: Value<'c>,
    to: DType,
) -> Result<Value<'c>, PassError<'c>> {
    let made = builder.op(&CAST, &[value], &Attrs::new().with("dtype", to));
    let made =
        made.map_err(|why| PassError::at(at, format!("has a value that cannot be cast to {to}: {why}")))?;
    Ok(made[0])
}

/// The function's type follows from what it takes and gives.
fn write_type<'c>(function: Op<'c>) {
    let Some(body) = function.body(0) else { return };
    let types = |values: Vec<Value<'c>>| values.into_iter().map(|v| v.r#type()).collect::<Vec<_>>();
    let results = ops_in(body).last().map(|end| end.operand_values()).unwrap_or_default();
    let declared = function.attr("function_type").and_then(type_of_attr).and_then(function_parts);
    if declared.is_some_and(|(_, declared)| declared.len() == results.len()) {
        let ty = function_type(function.context_ref(), &types(arguments(body)), &types(results));
        function.set_attr("function_type", type_attr(ty));
    }
}
