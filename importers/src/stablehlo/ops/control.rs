//! Control flow: branches, loops, calls, and regions that are applied to every element.
//!
//! A complex value, or a tuple, is several tensors of a loop's state.

use super::{Row, row};
use crate::sources::{Fault, Outcome};
use crate::stablehlo::emit::{Emitter, Held, Results};
use crate::stablehlo::graph::{Block, Operation};
use fusion_dialects::relay::Builder;
use fusion_dialects::{OpExt, Value};
use fusion_operators::DType;

pub const ROWS: &[Row] = &[
    row("func.call", call),
    row("stablehlo.composite", |e, op, x| {
        let Some(name) = op.word("decomposition") else {
            return op.fault("decomposition = @FUNCTION is missing");
        };
        e.call(name, x.to_vec())
    }),
    row("stablehlo.if", branch),
    row("stablehlo.case", case),
    row("stablehlo.while", repeat),
    row("stablehlo.map", map),
];

fn call<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let Some(name) = op.word("callee") else { return op.fault("the function that is called is missing") };
    e.call(name, x.to_vec())
}

/// The tensors that values are.
pub fn flat<'c>(held: &[Held<'c>]) -> Vec<Value<'c>> {
    let mut all = Vec::new();
    for one in held {
        match one {
            Held::Tensor(x) => all.push(*x),
            Held::Complex(re, im) => all.extend([*re, *im]),
            Held::Tuple(parts) => all.extend(flat(parts)),
            Held::Token => {}
        }
    }
    all
}

/// Values of the same form, made of other tensors.
pub fn unflat<'c>(like: &[Held<'c>], values: &mut impl Iterator<Item = Value<'c>>) -> Vec<Held<'c>> {
    let mut all = Vec::new();
    for one in like {
        all.push(match one {
            Held::Tensor(_) => values.next().map_or(Held::Token, Held::Tensor),
            Held::Complex(..) => match (values.next(), values.next()) {
                (Some(re), Some(im)) => Held::Complex(re, im),
                _ => Held::Token,
            },
            Held::Tuple(parts) => Held::Tuple(unflat(parts, values)),
            Held::Token => Held::Token,
        });
    }
    all
}

/// Emits into a region that is being built, whose tensors must have these types.
fn inside<'c, 'p, T>(
    e: &mut Emitter<'c, 'p>,
    builder: Builder<'c>,
    f: impl FnOnce(&mut Emitter<'c, 'p>) -> Outcome<T>,
) -> Outcome<T> {
    let outer = std::mem::replace(&mut e.builder, builder);
    let made = f(e);
    e.builder = outer;
    made
}

/// Both branches of a condition; they give values of one form.
fn either<'c, 'p>(
    e: &mut Emitter<'c, 'p>,
    condition: Value<'c>,
    then: impl FnOnce(&mut Emitter<'c, 'p>) -> Results<'c>,
    otherwise: impl FnOnce(&mut Emitter<'c, 'p>) -> Results<'c>,
) -> Results<'c> {
    if e.lifted {
        let (a, b) = (then(e)?, otherwise(e)?);
        let mut values = Vec::new();
        for (x, y) in flat(&a).into_iter().zip(flat(&b)) {
            values.push(e.select(condition, x, y)?);
        }
        return Ok(unflat(&a, &mut values.into_iter()));
    }
    let builder = e.builder;
    let mut form = Vec::new();
    let shared = std::cell::RefCell::new(&mut *e);
    let made = builder.if_(
        condition,
        |inner| {
            let e = &mut **shared.borrow_mut();
            let results = inside(e, inner, then)?;
            form = results.clone();
            Ok::<_, Box<Fault>>(flat(&results))
        },
        |inner| {
            let e = &mut **shared.borrow_mut();
            Ok(flat(&inside(e, inner, otherwise)?))
        },
    )?;
    Ok(unflat(&form, &mut made.result_values().into_iter()))
}

fn branch<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let condition = e.tensor(op, x, 0)?;
    let (then, otherwise) = (op.region(0)?, op.region(1)?);
    match e.known_number(condition) {
        Some(known) => e.block(if known != 0.0 { then } else { otherwise }, Vec::new()),
        None => either(e, condition, |e| e.block(then, Vec::new()), |e| e.block(otherwise, Vec::new())),
    }
}

/// The region of a number; of one that there is none for, the last.
fn case<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let index = e.tensor(op, x, 0)?;
    match &op.regions[..] {
        [] => op.fault("it has no regions"),
        regions => {
            let (zero, last) = (e.int(DType::I32, 0)?, e.int(DType::I32, regions.len() as i128 - 1)?);
            let below = e.less(index, zero)?;
            let index = e.select(below, last, index)?;
            choose(e, index, 0, regions)
        }
    }
}

fn choose<'c, 'p>(
    e: &mut Emitter<'c, 'p>,
    index: Value<'c>,
    first: usize,
    regions: &'p [Block],
) -> Results<'c> {
    match regions {
        [last] => e.block(last, Vec::new()),
        _ => {
            // In halves, so that many regions are not nested deeply.
            let half = regions.len().div_ceil(2);
            let (low, high) = regions.split_at(half);
            let bound = e.int(DType::I32, (first + half) as i128)?;
            let below = e.less(index, bound)?;
            either(e, below, |e| choose(e, index, first, low), |e| choose(e, index, first + half, high))
        }
    }
}

fn repeat<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let (test, body) = (op.region(0)?, op.region(1)?);
    if e.lifted {
        return op.fault("a loop inside of a region that combines elements is not supported");
    }
    let state = flat(x);
    let builder = e.builder;
    let types: Vec<_> = state.iter().map(|&v| e.ty(v)).collect::<Outcome<_>>()?;
    let shared = std::cell::RefCell::new(&mut *e);
    let made = builder.while_(
        &state,
        |inner, values| {
            let e = &mut **shared.borrow_mut();
            inside(e, inner, |e| {
                let held = unflat(x, &mut values.iter().copied());
                let results = e.block(test, held)?;
                e.tensor(op, &results, 0)
            })
        },
        |inner, values| {
            let e = &mut **shared.borrow_mut();
            inside(e, inner, |e| {
                let held = unflat(x, &mut values.iter().copied());
                let next = e.block(body, held)?;
                let next = flat(&next);
                for (&value, ty) in next.iter().zip(&types) {
                    let found = e.ty(value)?;
                    if found != *ty {
                        return op.fault(format!("the state has type {ty}, and the body gives {found}"));
                    }
                }
                match next.len() == types.len() {
                    true => Ok(next),
                    false => op.fault("the body must give a value for each of the state"),
                }
            })
        },
    )?;
    Ok(unflat(x, &mut made.result_values().into_iter()))
}

/// The results of a region of single elements, for whole tensors. What does not depend on its arguments is a scalar still.
pub fn lifted<'c, 'p>(e: &mut Emitter<'c, 'p>, region: &'p Block, arguments: Vec<Held<'c>>) -> Results<'c> {
    let outer = std::mem::replace(&mut e.lifted, true);
    let results = e.block(region, arguments);
    e.lifted = outer;
    results
}

fn map<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let to = e.result_type(op, 0)?.extents();
    let results = lifted(e, op.region(0)?, x.to_vec())?;
    let mut values = Vec::new();
    for value in flat(&results) {
        values.push(e.broadcast_dims(value, to.clone())?);
    }
    Ok(unflat(&results, &mut values.into_iter()))
}

/// Repeats for 0, 1, ... below a number.
pub fn counted<'c, 'p>(
    e: &mut Emitter<'c, 'p>,
    count: usize,
    state: &[Value<'c>],
    body: impl FnOnce(&mut Emitter<'c, 'p>, Value<'c>, &[Value<'c>]) -> Outcome<Vec<Value<'c>>>,
) -> Outcome<Vec<Value<'c>>> {
    let mut all = vec![e.int(DType::I32, 0)?];
    all.extend(state);
    let builder = e.builder;
    let shared = std::cell::RefCell::new(&mut *e);
    let made = builder.while_(
        &all,
        |inner, values| {
            let e = &mut **shared.borrow_mut();
            let outer = std::mem::replace(&mut e.builder, inner);
            let bound = e.int(DType::I32, count as i128);
            let test = bound.and_then(|bound| e.less(values[0], bound));
            e.builder = outer;
            test
        },
        |inner, values| {
            let e = &mut **shared.borrow_mut();
            let outer = std::mem::replace(&mut e.builder, inner);
            let next = e.add_f(values[0], 1.0).and_then(|next| {
                let mut all = vec![next];
                all.extend(body(e, values[0], &values[1..])?);
                Ok::<_, Box<Fault>>(all)
            });
            e.builder = outer;
            next
        },
    )?;
    Ok(made.result_values().into_iter().skip(1).collect())
}
