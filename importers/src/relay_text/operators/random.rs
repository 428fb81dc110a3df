//! Random numbers that can be split (TVM `random.*`): Threefry4x64-20 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3",
//! 2011) over keys with a path of splits (Claessen and Pałka, "Splittable Pseudorandom Number Generators", 2013).
//!
//! ```text
//!   a key     k0 k1 k2 k3 | path, 2 words | counter, 2 words | where the path goes on: one bit of 2 words
//!   number i  the four words of threefry(k, (path, counter) + i), where i is added to each of the four
//!   split     the path goes on with a 0, or with a 1; once it is full, a new key is threefry(k, path and counter)
//! ```
//! The numbers are TVM's, bit for bit.

use super::shape::fixed;
use super::{Built, Call, built};
use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use fusion_dialects::Value;
use fusion_operators::ops::{creation, elementwise as ew, reduction};
use fusion_operators::{Attrs, DType, Tensor};
use std::f64::consts::TAU;

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    built("random.threefry_generate", 1, &["out_shape"], |call| {
        let shape = call.ints("out_shape")?;
        let (key, words) = generate(call, &shape)?;
        Ok(Made::several(vec![key, words]))
    }),
    built("random.threefry_split", 1, &[], split),
    built("random.uniform", 3, &["out_shape", "out_dtype"], uniform),
    built("random.normal", 3, &["out_shape", "out_dtype"], normal),
    built("random.multinomial", 2, &["num_samples"], multinomial),
];

const ROTATIONS: [[u64; 2]; 8] =
    [[14, 16], [52, 57], [23, 40], [5, 37], [25, 33], [46, 12], [58, 22], [32, 32]];
/// What the words of a key are added up with, exclusively, to a fifth.
const PARITY: u64 = 0x1BD1_1BDA_A9FC_1A22;
const GROUPS: usize = 5;
const HIGHEST: u64 = 1 << 63;

type Four<'c> = [Value<'c>; 4];

fn word<'c>(call: &mut Call<'_, 'c, '_>, number: u64) -> Outcome<Value<'c>> {
    call.table(Tensor::from_slice(&[], &[number]))
}

fn shifted<'c>(
    call: &mut Call<'_, 'c, '_>,
    by: &'static fusion_operators::Operator,
    x: Value<'c>,
    places: u64,
) -> Outcome<Value<'c>> {
    let places = word(call, places)?;
    call.plain(by, &[x, places])
}

/// Twenty rounds; the words of the counter may be tensors, those of the key are scalars.
fn threefry<'c>(call: &mut Call<'_, 'c, '_>, key: Four<'c>, counter: Four<'c>) -> Outcome<Four<'c>> {
    let mut fifth = word(call, PARITY)?;
    for part in key {
        fifth = call.plain(&ew::BITWISE_XOR, &[fifth, part])?;
    }
    let keys = [key[0], key[1], key[2], key[3], fifth];
    let mut x = counter;
    for group in 0..GROUPS {
        for (at, part) in x.iter_mut().enumerate() {
            *part = call.add(*part, keys[(group + at) % keys.len()])?;
        }
        let count = word(call, group as u64)?;
        x[3] = call.add(x[3], count)?;
        for round in 0..4 {
            let rotations = ROTATIONS[(4 * group + round) % ROTATIONS.len()];
            for (pair, places) in rotations.into_iter().enumerate() {
                let (a, b) = (x[2 * pair], x[2 * pair + 1]);
                x[2 * pair] = call.add(a, b)?;
                let left = shifted(call, &ew::SHIFT_LEFT, b, places)?;
                let right = shifted(call, &ew::SHIFT_RIGHT, b, u64::from(u64::BITS) - places)?;
                let turned = call.plain(&ew::BITWISE_OR, &[left, right])?;
                x[2 * pair + 1] = call.plain(&ew::BITWISE_XOR, &[x[2 * pair], turned])?;
            }
            x.swap(1, 3);
        }
    }
    Ok(x)
}

/// A key, word by word.
fn taken<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<[Value<'c>; 10]> {
    let key = call.operand(0);
    let ty = call.known(key, "the shape")?;
    if ty.dtype != DType::U64 || ty.shape().as_deref() != Some(&[10]) {
        return call.fault(format!("a key is Tensor[(10), uint64], found {ty}"));
    }
    let mut words = [key; 10];
    for (at, word) in words.iter_mut().enumerate() {
        *word = call.at(key, 0, at as i64)?;
    }
    Ok(words)
}

fn joined<'c>(call: &mut Call<'_, 'c, '_>, words: &[Value<'c>]) -> Outcome<Value<'c>> {
    let mut parts = Vec::new();
    for word in words {
        parts.push(call.reshaped(*word, &[1])?);
    }
    call.joined(&parts, 0)
}

/// Whether no bit is left for the path to go on with.
fn is_full<'c>(call: &mut Call<'_, 'c, '_>, key: &[Value<'c>; 10]) -> Outcome<Value<'c>> {
    let both = call.plain(&ew::BITWISE_OR, &[key[8], key[9]])?;
    let none = word(call, 0)?;
    call.plain(&ew::EQUAL, &[both, none])
}

/// The place behind a place of the path: a bit of two words, moved to the right.
fn next_place<'c>(call: &mut Call<'_, 'c, '_>, key: &[Value<'c>; 10]) -> Outcome<[Value<'c>; 2]> {
    let first = shifted(call, &ew::SHIFT_RIGHT, key[8], 1)?;
    let carried = shifted(call, &ew::SHIFT_LEFT, key[8], u64::from(u64::BITS) - 1)?;
    let second = shifted(call, &ew::SHIFT_RIGHT, key[9], 1)?;
    Ok([first, call.plain(&ew::BITWISE_OR, &[second, carried])?])
}

/// The path with a 1 behind it.
fn path_by_one<'c>(call: &mut Call<'_, 'c, '_>, key: &[Value<'c>; 10]) -> Outcome<[Value<'c>; 2]> {
    Ok([call.plain(&ew::BITWISE_OR, &[key[4], key[8]])?, call.plain(&ew::BITWISE_OR, &[key[5], key[9]])?])
}

fn chosen<'c>(
    call: &mut Call<'_, 'c, '_>,
    which: Value<'c>,
    a: [Value<'c>; 10],
    b: [Value<'c>; 10],
) -> Outcome<[Value<'c>; 10]> {
    let mut made = a;
    for (at, value) in made.iter_mut().enumerate() {
        *value = call.select(which, a[at], b[at])?;
    }
    Ok(made)
}

/// The key itself, where its counter has room for so many numbers, else one with a counter of 0.
fn with_room<'c>(call: &mut Call<'_, 'c, '_>, count: u64) -> Outcome<[Value<'c>; 10]> {
    let key = taken(call)?;
    let (none, highest, ones) = (word(call, 0)?, word(call, HIGHEST)?, word(call, u64::MAX)?);
    let fresh = threefry(call, [key[0], key[1], key[2], key[3]], [key[4], key[5], ones, ones])?;
    let [a, b, c, d] = fresh;
    let renewed = [a, b, c, d, none, none, none, none, highest, none];
    let ([path, rest], [at, after]) = (path_by_one(call, &key)?, next_place(call, &key)?);
    let longer = [key[0], key[1], key[2], key[3], path, rest, none, none, at, after];
    let full = is_full(call, &key)?;
    let other = chosen(call, full, renewed, longer)?;
    let most = word(call, u64::MAX - count)?;
    let fits = call.plain(&ew::LESS, &[key[7], most])?;
    chosen(call, fits, key, other)
}

/// The next key, and words of a shape.
fn generate<'c>(call: &mut Call<'_, 'c, '_>, shape: &[i64]) -> Outcome<(Value<'c>, Value<'c>)> {
    let count = call.countable(shape)?;
    if count % 4 != 0 {
        return call.fault(format!("{count} numbers are asked for; Threefry gives a multiple of 4"));
    }
    let key = with_room(call, count as u64)?;
    let attrs = Attrs::new().with("dtype", DType::U64).with("size", count / 4);
    let blocks = call.row(&creation::ARANGE, &[], attrs)?;
    let mut counters = [key[4], key[5], key[6], key[7]];
    for counter in &mut counters {
        *counter = call.add(blocks, *counter)?;
    }
    let mut columns = Vec::new();
    for words in threefry(call, [key[0], key[1], key[2], key[3]], counters)? {
        columns.push(call.expanded(words, &[1])?);
    }
    let rows = call.joined(&columns, 1)?;
    let words = call.reshaped(rows, shape)?;
    let mut next = key;
    let count = word(call, count as u64)?;
    (next[6], next[7]) = (word(call, 0)?, call.add(key[7], count)?);
    Ok((joined(call, &next)?, words))
}

fn split<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let key = taken(call)?;
    let (none, highest, second) = (word(call, 0)?, word(call, HIGHEST)?, word(call, HIGHEST >> 1)?);
    let [a, b, c, d] = threefry(call, [key[0], key[1], key[2], key[3]], [key[4], key[5], key[6], key[7]])?;
    let renewed = |path| [a, b, c, d, path, none, none, none, second, none];
    let ([path, rest], [at, after]) = (path_by_one(call, &key)?, next_place(call, &key)?);
    let longer = |path, rest| [key[0], key[1], key[2], key[3], path, rest, key[6], key[7], at, after];
    let full = is_full(call, &key)?;
    let left = chosen(call, full, renewed(none), longer(key[4], key[5]))?;
    let right = chosen(call, full, renewed(highest), longer(path, rest))?;
    Ok(Made::several(vec![joined(call, &left)?, joined(call, &right)?]))
}

/// The next key, and numbers of [0, 1).
fn fractions<'c>(
    call: &mut Call<'_, 'c, '_>,
    shape: &[i64],
    dtype: DType,
) -> Outcome<(Value<'c>, Value<'c>)> {
    let digits = match dtype {
        DType::F32 => f32::MANTISSA_DIGITS - 1,
        DType::F64 => f64::MANTISSA_DIGITS - 1,
        _ => return call.fault(format!("random numbers are float32 or float64, found {dtype}")),
    };
    let (key, words) = generate(call, shape)?;
    let upper = shifted(call, &ew::SHIFT_RIGHT, words, (u64::BITS - digits).into())?;
    let number = call.cast(upper, dtype)?;
    Ok((key, call.times(number, f64::exp2(-f64::from(digits)))?))
}

fn element(call: &Call) -> Outcome<DType> {
    Ok(call.maybe_element("out_dtype")?.unwrap_or(DType::F32))
}

fn uniform<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (shape, dtype) = (call.ints("out_shape")?, element(call)?);
    let (low, high) = (call.operand(1), call.operand(2));
    let (key, u) = fractions(call, &shape, dtype)?;
    let width = call.sub(high, low)?;
    let scaled = call.mul(u, width)?;
    Ok(Made::several(vec![key, call.add(scaled, low)?]))
}

/// sqrt(-2 ln(1 - u)) sin(2 pi v), of two tensors of fractions one behind the other.
fn normal<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (shape, dtype) = (call.ints("out_shape")?, element(call)?);
    let (mean, scale) = (call.operand(1), call.operand(2));
    let (key, both) = fractions(call, &[&[2], &shape[..]].concat(), dtype)?;
    let (u, v) = (call.at(both, 0, 0)?, call.at(both, 0, 1)?);
    let one = call.scalar(dtype, 1.0)?;
    let above = call.sub(one, u)?;
    let log = call.plain(&ew::LOG, &[above])?;
    let square = call.times(log, -2.0)?;
    let radius = call.plain(&ew::SQRT, &[square])?;
    let angle = call.times(v, TAU)?;
    let sine = call.plain(&ew::SIN, &[angle])?;
    let z = call.mul(radius, sine)?;
    let scaled = call.mul(z, scale)?;
    Ok(Made::several(vec![key, call.add(scaled, mean)?]))
}

/// The first class at which the sum of the probabilities so far exceeds a fraction.
fn multinomial<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let chances = call.operand(1);
    let samples = call.int("num_samples", 1)?;
    let extents = fixed(call, chances)?;
    let Some((&classes, lead)) = extents.split_last().filter(|(classes, _)| **classes > 0) else {
        return call.fault("takes an axis of probabilities that is not empty");
    };
    let axis = lead.len() as i64;
    let chances = call.cast(chances, DType::F32)?;
    let sums = call.row(&reduction::CUMSUM, &[chances], Attrs::new().with("axis", axis))?;
    let whole = call.reduced(&reduction::REDUCE_SUM, chances, &[axis], true)?;
    let sums = call.div(sums, whole)?;
    let (key, u) = fractions(call, &[lead, &[samples]].concat(), DType::F32)?;
    let (sums, u) = (call.expanded(sums, &[axis])?, call.expanded(u, &[axis + 1])?);
    let passed = call.plain(&ew::LESS_EQUAL, &[sums, u])?;
    let passed = call.cast(passed, DType::I32)?;
    let class = call.summed(passed, &[axis + 1])?;
    Ok(Made::several(vec![key, call.clipped(class, 0.0, (classes - 1) as f64)?]))
}
