//! Reductions of whole axes.
//!
//! A region that is one operator of relay becomes its reduction. Any other combines neighbours, for whole tensors at once, until one
//! element is left: x[0::2] with x[1::2], log n times. StableHLO leaves the order of evaluation open in the same way.

use crate::sources::Outcome;
use crate::stablehlo::emit::{Emitter, Held, Results};
use crate::stablehlo::graph::{Block, Operation};
use crate::stablehlo::ops::combining::bodies::{combiner, finds_place};
use crate::stablehlo::ops::control::{flat, lifted, unflat};
use crate::stablehlo::ops::{Row, row};
use fusion_dialects::{OpExt, Value, defining_op, kind_of, rows::Kind};
use fusion_operators::dtype::Class;
use fusion_operators::ops::{creation, reduction as red};
use fusion_operators::{Attrs, DType, Operator};

pub const ROWS: &[Row] = &[row("stablehlo.reduce", reduce)];

/// The reduction of relay that an operator makes of an element type.
fn reducer(name: &str, dtype: DType) -> Option<&'static Operator> {
    Some(match (name, dtype) {
        ("add" | "maximum" | "or", DType::Bool) => &red::REDUCE_ANY,
        ("multiply" | "minimum" | "and", DType::Bool) => &red::REDUCE_ALL,
        ("add", _) => &red::REDUCE_SUM,
        ("multiply", _) => &red::REDUCE_PROD,
        ("maximum", _) => &red::REDUCE_MAX,
        ("minimum", _) => &red::REDUCE_MIN,
        _ => return None,
    })
}

/// The number that an operator leaves every other as it is with.
pub fn identity(name: &str, dtype: DType) -> Option<f64> {
    let bits = 8 * dtype.size() as i32;
    let (least, most) = match dtype.class() {
        Class::Float => (f64::NEG_INFINITY, f64::INFINITY),
        Class::Signed => (-(2f64.powi(bits - 1)), 2f64.powi(bits - 1) - 1.0),
        Class::Unsigned => (0.0, 2f64.powi(bits) - 1.0),
        Class::Bool => (0.0, 1.0),
        Class::String => return None,
    };
    match (name, dtype) {
        ("and", DType::Bool) | ("multiply", _) => Some(1.0),
        ("add" | "or" | "xor", _) => Some(0.0),
        ("maximum", _) => Some(least),
        ("minimum", _) => Some(most),
        _ => None,
    }
}

/// Whether an initial value changes nothing.
pub fn is_neutral<'c>(e: &Emitter<'c, '_>, region: &Block, initial: Value<'c>) -> bool {
    let Ok(dtype) = e.dtype(initial) else { return false };
    let neutral = combiner(region).and_then(|name| identity(name, dtype));
    neutral.is_some() && e.known_number(initial) == neutral
}

fn reduce<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let region = op.region(0)?;
    if x.is_empty() || !x.len().is_multiple_of(2) {
        return op.fault("it takes as many initial values as operands");
    }
    let (data, initial) = x.split_at(x.len() / 2);
    let first = e.parts(op, data, 0)?[0];
    let rank = e.rank(first)?;
    let axes = op.axes("dimensions", rank)?;
    if e.lifted {
        // Of scalars, over no axes.
        return lifted(e, region, [initial, data].concat());
    }
    if let ([Held::Tensor(data)], [Held::Tensor(initial)]) = (data, initial)
        && let Some(operator) = combiner(region)
            .and_then(|name| Some((name, e.dtype(*data).ok()?)))
            .and_then(|(n, d)| reducer(n, d))
    {
        let reduced = e.reduce(operator, *data, &axes)?;
        if is_neutral(e, region, *initial) {
            return Ok(vec![Held::Tensor(reduced)]);
        }
        return lifted(e, region, vec![Held::Tensor(*initial), Held::Tensor(reduced)]);
    }
    if let ([Held::Complex(re, im)], [initial @ Held::Complex(..)]) = (data, initial)
        && combiner(region) == Some("add")
    {
        let (re, im) = (e.reduce(&red::REDUCE_SUM, *re, &axes)?, e.reduce(&red::REDUCE_SUM, *im, &axes)?);
        return lifted(e, region, vec![initial.clone(), Held::Complex(re, im)]);
    }
    if let ([Held::Tensor(values), Held::Tensor(places)], [axis]) = (data, &axes[..])
        && let Some(greatest) = finds_place(region)
        && is_iota(e, *places, *axis)?
    {
        return place(e, *values, *places, *axis, greatest);
    }
    combined(e, op, region, data, initial, &axes)
}

/// Whether a value is 0, 1, 2, ... along an axis.
fn is_iota<'c>(e: &Emitter<'c, '_>, x: Value<'c>, axis: usize) -> Outcome<bool> {
    let shape = e.shape(x)?;
    let (mut x, mut along) = (x, None);
    loop {
        if let Some(tensor) = e.builder.constant_value(x) {
            if along == Some(false) || tensor.len() > 1 << 20 {
                return Ok(false);
            }
            // A vector counts along the axis that it was brought to; a whole tensor along its own.
            let own = tensor.shape();
            let behind: usize = if own.len() == shape.len() { own[axis + 1..].iter().product() } else { 1 };
            let extent = shape[axis].max(1);
            let counts = (0..tensor.len()).all(|i| tensor.int_at(i) == (i / behind.max(1) % extent) as i128);
            let fits = if own.len() == shape.len() {
                own[axis] == shape[axis]
            } else {
                own == [shape[axis]] && along.is_some()
            };
            return Ok(counts && fits);
        }
        let Some(op) = defining_op(x) else { return Ok(false) };
        let Some(Kind::Operator(operator)) = kind_of(op) else { return Ok(false) };
        if operator.is(&creation::ARANGE) {
            let own = e.shape(x)?;
            return Ok(own == [shape[axis]] && along.unwrap_or(shape.len() == 1));
        }
        // The axis that counts is the one that a reshape or a broadcast keeps.
        let own = e.shape(x)?;
        if own.len() == shape.len() && along.is_none() && own != shape {
            along =
                Some(own.iter().enumerate().all(|(a, &n)| if a == axis { n == shape[axis] } else { n == 1 }));
        }
        match op.operand_values().first() {
            Some(&operand) if ["reshape", "broadcast_to", "cast"].contains(&operator.name) => x = operand,
            _ => return Ok(false),
        }
    }
}

fn place<'c>(
    e: &mut Emitter<'c, '_>,
    values: Value<'c>,
    places: Value<'c>,
    axis: usize,
    greatest: bool,
) -> Results<'c> {
    let (extreme, arg) = match greatest {
        true => (&red::REDUCE_MAX, &red::ARGMAX),
        false => (&red::REDUCE_MIN, &red::ARGMIN),
    };
    let values = if e.dtype(values)? == DType::Bool { e.cast(values, DType::U8)? } else { values };
    let value = e.reduce(extreme, values, &[axis])?;
    let index = e.op(arg, &[values], Attrs::new().with("axis", axis as i64))?;
    let dtype = e.dtype(places)?;
    Ok(vec![Held::Tensor(value), Held::Tensor(e.cast(index, dtype)?)])
}

/// Neighbours are combined until one element is left; then the initial values with it.
fn combined<'c, 'p>(
    e: &mut Emitter<'c, 'p>,
    op: &'p Operation,
    region: &'p Block,
    data: &[Held<'c>],
    initial: &[Held<'c>],
    axes: &[usize],
) -> Results<'c> {
    let tensors = flat(data);
    let Some(&first) = tensors.first() else { return op.fault("it has no operands") };
    let shape = e.shape(first)?;
    let kept: Vec<usize> = (0..shape.len()).filter(|a| !axes.contains(a)).collect();
    // The axes that are reduced come last, in their order.
    let mut sorted = axes.to_vec();
    sorted.sort_unstable();
    let order = [&kept[..], &sorted].concat();
    let rest: Vec<usize> = kept.iter().map(|&a| shape[a]).collect();
    let mut count: usize = axes.iter().map(|&a| shape[a]).product();
    let mut values = Vec::new();
    for tensor in tensors {
        let turned = e.transpose(tensor, &order)?;
        values.push(e.reshape(turned, &[&rest[..], &[count]].concat())?);
    }
    if count == 0 {
        let spread = flat(initial).into_iter().map(|x| e.broadcast(x, &rest)).collect::<Outcome<Vec<_>>>()?;
        return Ok(unflat(initial, &mut spread.into_iter()));
    }
    let axis = rest.len();
    while count > 1 {
        let half = count / 2;
        let pick = |e: &mut Emitter<'c, 'p>, from: usize| {
            values
                .iter()
                .map(|&x| e.slice(x, axis, [from, from + 2 * half - 1, 2]))
                .collect::<Outcome<Vec<_>>>()
        };
        let (left, right) = (pick(e, 0)?, pick(e, 1)?);
        let pair = [unflat(data, &mut left.into_iter()), unflat(data, &mut right.into_iter())].concat();
        let results = lifted(e, region, pair)?;
        let mut next = Vec::new();
        for (x, &old) in flat(&results).into_iter().zip(&values) {
            let made = e.broadcast(x, &[&rest[..], &[half]].concat())?;
            next.push(match count % 2 {
                0 => made,
                _ => {
                    let last = e.slice(old, axis, [count - 1, count, 1])?;
                    e.concat(&[made, last], axis)?
                }
            });
        }
        values = next;
        count = half + count % 2;
    }
    let mut left = Vec::new();
    for x in values {
        left.push(e.reshape(x, &rest)?);
    }
    let reduced = unflat(data, &mut left.into_iter());
    let results = lifted(e, region, [initial, &reduced[..]].concat())?;
    let mut spread = Vec::new();
    for x in flat(&results) {
        spread.push(e.broadcast(x, &rest)?);
    }
    Ok(unflat(data, &mut spread.into_iter()))
}
