//! Random bits from counters, as functions of integers (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", 2011).
//!
//! ```text
//!   THREE_FRY   state [key, counter]         two words of 32 bits for each counter, 20 rounds of add, rotate, xor
//!   PHILOX      state [key, counter, high]   the words of relay.philox; without high it is the key
//! ```
//! Which counter gives which element is as in XLA, so that the same state gives the same numbers there.

use super::bits::unsigned_of;
use crate::sources::Outcome;
use crate::stablehlo::emit::{Emitter, Held, Results};
use crate::stablehlo::graph::Operation;
use crate::stablehlo::ops::{Row, row};
use fusion_dialects::Value;
use fusion_operators::ops::elementwise as ew;
use fusion_operators::ops::philox::{PHILOX, WORDS};
use fusion_operators::{Attrs, DType};

pub const ROWS: &[Row] = &[
    row("stablehlo.rng_bit_generator", generate),
    row("stablehlo.rng", |_, op, _| {
        op.fault("random numbers without a state differ from run to run; use stablehlo.rng_bit_generator, or jax.random with a key")
    }),
];

const ROTATIONS: [u32; 8] = [13, 15, 26, 6, 17, 29, 16, 24];
const PARITY: i128 = 0x1BD1_1BDA;

type Words<'c, const N: usize> = [Value<'c>; N];

fn number<'c>(e: &mut Emitter<'c, '_>, dtype: DType, n: i128) -> Outcome<Value<'c>> {
    e.int(dtype, n)
}

fn xor<'c>(e: &mut Emitter<'c, '_>, a: Value<'c>, b: Value<'c>) -> Outcome<Value<'c>> {
    e.bin(&ew::BITWISE_XOR, a, b)
}

fn rotated<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>, by: u32) -> Outcome<Value<'c>> {
    let (left, right) = (number(e, DType::U32, by.into())?, number(e, DType::U32, (32 - by).into())?);
    let (high, low) = (e.bin(&ew::SHIFT_LEFT, x, left)?, e.bin(&ew::SHIFT_RIGHT, x, right)?);
    e.bin(&ew::BITWISE_OR, high, low)
}

/// The lower and the upper half of numbers of 64 bits.
fn halves<'c>(e: &mut Emitter<'c, '_>, x: Value<'c>) -> Outcome<Words<'c, 2>> {
    let places = number(e, DType::U64, 32)?;
    let high = e.bin(&ew::SHIFT_RIGHT, x, places)?;
    Ok([e.cast(x, DType::U32)?, e.cast(high, DType::U32)?])
}

fn joined<'c>(e: &mut Emitter<'c, '_>, [low, high]: Words<'c, 2>) -> Outcome<Value<'c>> {
    let (low, high, places) =
        (e.cast(low, DType::U64)?, e.cast(high, DType::U64)?, number(e, DType::U64, 32)?);
    let high = e.bin(&ew::SHIFT_LEFT, high, places)?;
    e.bin(&ew::BITWISE_OR, low, high)
}

fn three_fry<'c>(e: &mut Emitter<'c, '_>, counter: Words<'c, 2>, key: Words<'c, 2>) -> Outcome<Words<'c, 2>> {
    let parity = number(e, DType::U32, PARITY)?;
    let last = xor(e, parity, key[0])?;
    let keys = [key[0], key[1], xor(e, last, key[1])?];
    let mut x = [e.add(counter[0], keys[0])?, e.add(counter[1], keys[1])?];
    for group in 0..5usize {
        for step in 0..4 {
            x[0] = e.add(x[0], x[1])?;
            let turned = rotated(e, x[1], ROTATIONS[4 * (group % 2) + step])?;
            x[1] = xor(e, x[0], turned)?;
        }
        let count = number(e, DType::U32, group as i128 + 1)?;
        x[0] = e.add(x[0], keys[(group + 1) % 3])?;
        x[1] = e.add(x[1], keys[(group + 2) % 3])?;
        x[1] = e.add(x[1], count)?;
    }
    Ok(x)
}

/// Counters from a number on, one for each element of a shape; the last axis counts first.
fn counters<'c>(e: &mut Emitter<'c, '_>, first: Value<'c>, shape: &[usize]) -> Outcome<Value<'c>> {
    let numbers = e.iota_along(DType::U64, shape.iter().product(), 0, 1)?;
    let numbers = e.reshape(numbers, shape)?;
    e.add(numbers, first)
}

fn generate<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let state = e.tensor(op, x, 0)?;
    let ty = e.result_type(op, 1)?;
    let (Some(kept), Some(shape)) = (ty.kept(), ty.shape()) else {
        return op.fault("the shape and the element type of the result must be known");
    };
    let shape: Vec<usize> = shape.into_iter().map(|n| n as usize).collect();
    let words = e.shape(state)?;
    if e.dtype(state)? != DType::U64 || !matches!(words[..], [2 | 3]) {
        return op
            .fault(format!("the state must be tensor<2xui64> or tensor<3xui64>, found {}", e.ty(state)?));
    }
    let mut word = |i: usize| {
        let piece = e.slice(state, 0, [i, i + 1, 1])?;
        e.reshape(piece, &[])
    };
    let (key, counter) = (word(0)?, word(1)?);
    let high = if words == [3] { Some(word(2)?) } else { None };
    let width = kept.dtype.size();
    let (bits, used) = match op.word("rng_algorithm") {
        Some("THREE_FRY") => by_three_fry(e, key, counter, &shape, width)?,
        Some("PHILOX" | "DEFAULT") => by_philox(e, key, (counter, high), &shape, width)?,
        other => {
            return op
                .fault(format!("the algorithm {other:?} is not known; write THREE_FRY, PHILOX or DEFAULT"));
        }
    };
    let bits = e.cast(bits, unsigned_of(kept.dtype))?;
    let bits = e.bitcast(bits, kept.dtype)?;
    let used = number(e, DType::U64, used as i128)?;
    let next = e.add(counter, used)?;
    let mut parts = vec![e.reshape(key, &[1])?, e.reshape(next, &[1])?];
    if let Some(high) = high {
        // What the lower counter carries over.
        let wrapped = e.less(next, counter)?;
        let carry = e.cast(wrapped, DType::U64)?;
        let high = e.add(high, carry)?;
        parts.push(e.reshape(high, &[1])?);
    }
    Ok(vec![Held::Tensor(e.concat(&parts, 0)?), Held::Tensor(bits)])
}

/// Bits, and how many counters they took.
fn by_three_fry<'c>(
    e: &mut Emitter<'c, '_>,
    key: Value<'c>,
    counter: Value<'c>,
    shape: &[usize],
    width: usize,
) -> Outcome<(Value<'c>, usize)> {
    let key = halves(e, key)?;
    if width == 8 {
        let inputs = counters(e, counter, shape)?;
        let inputs = halves(e, inputs)?;
        let made = three_fry(e, inputs, key)?;
        return Ok((joined(e, made)?, shape.iter().product()));
    }
    // Both words of a counter are neighbours along the first axis of an even extent, or else along the longest.
    let longest = (0..shape.len()).rev().max_by_key(|&a| shape[a]);
    let Some(axis) = (0..shape.len()).find(|&a| shape[a].is_multiple_of(2)).or(longest) else {
        let inputs = counters(e, counter, &[1])?;
        let inputs = halves(e, inputs)?;
        let made = three_fry(e, inputs, key)?;
        return Ok((e.reshape(made[0], &[])?, 1));
    };
    let mut half = shape.to_vec();
    half[axis] = shape[axis].div_ceil(2);
    let inputs = counters(e, counter, &half)?;
    let inputs = halves(e, inputs)?;
    let made = three_fry(e, inputs, key)?;
    let mut apart = half.clone();
    apart.insert(axis + 1, 1);
    let (first, second) = (e.reshape(made[0], &apart)?, e.reshape(made[1], &apart)?);
    let both = e.concat(&[first, second], axis + 1)?;
    let mut whole = half.clone();
    whole[axis] *= 2;
    let whole = e.reshape(both, &whole)?;
    Ok((e.slice(whole, axis, [0, shape[axis], 1])?, half.iter().product()))
}

fn by_philox<'c>(
    e: &mut Emitter<'c, '_>,
    key: Value<'c>,
    (counter, high): (Value<'c>, Option<Value<'c>>),
    shape: &[usize],
    width: usize,
) -> Outcome<(Value<'c>, usize)> {
    // Of two words the key is the upper half of the counter as well.
    let parts = [e.reshape(counter, &[1])?, e.reshape(high.unwrap_or(key), &[1])?];
    let counter = e.concat(&parts, 0)?;
    let count: usize = shape.iter().product();
    let each: usize = if width == 8 { 2 } else { 1 };
    let numbers = e.iota_along(DType::U64, count, 0, 1)?;
    let numbers = e.reshape(numbers, shape)?;
    let mut words = Vec::new();
    for word in 0..each {
        let (each, word) = (number(e, DType::U64, each as i128)?, number(e, DType::U64, word as i128)?);
        let first = e.mul(numbers, each)?;
        let places = e.add(first, word)?;
        words.push(e.op(&PHILOX, &[key, counter, places], Attrs::new())?);
    }
    let bits = match words[..] {
        [low, high] => joined(e, [low, high])?,
        _ => words[0],
    };
    Ok((bits, (count * each).div_ceil(WORDS as usize)))
}
