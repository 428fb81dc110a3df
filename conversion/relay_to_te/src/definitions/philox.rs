//! `philox`: a word of a block of random ones, each made whole by whoever wants one of its words.
//!
//!     y[i] = word (places[i] mod 4) of ten rounds of (counter + places[i] / 4)

use super::{Built, Table, TeCall};
use fusion_dialects::te::{Compare, Kernel, Scalar, Scalars};
use fusion_operators::DType;
use fusion_operators::ops::philox::{FACTORS, PHILOX, ROUNDS, STEPS, WORDS};

pub const TABLE: Table = &[(&PHILOX, philox)];

/// The lower and the upper half of a number of 64 bits.
fn halves<'c>(s: &Scalars<'c>, x: Scalar<'c>) -> [Scalar<'c>; 2] {
    [s.cast(x, DType::U32), s.cast(s.shift_right(x, s.int(32, DType::U64)), DType::U32)]
}

fn product<'c>(s: &Scalars<'c>, x: Scalar<'c>, factor: u32) -> [Scalar<'c>; 2] {
    halves(s, s.mul(s.cast(x, DType::U64), s.int(i64::from(factor), DType::U64)))
}

/// The words of the block of a counter of 128 bits, lower half first.
fn block<'c>(s: &Scalars<'c>, key: Scalar<'c>, [low, high]: [Scalar<'c>; 2]) -> [Scalar<'c>; 4] {
    let ([a, b], [c, d], mut key) = (halves(s, low), halves(s, high), halves(s, key));
    let mut x = [a, b, c, d];
    for _ in 0..ROUNDS {
        let [low0, high0] = product(s, x[0], FACTORS[0]);
        let [low1, high1] = product(s, x[2], FACTORS[1]);
        x = [s.xor(s.xor(high1, x[1]), key[0]), low1, s.xor(s.xor(high0, x[3]), key[1]), low0];
        for (word, step) in key.iter_mut().zip(STEPS) {
            *word = s.add(*word, s.int(i64::from(step as i32), DType::U32));
        }
    }
    x
}

fn philox<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let [key, counter, places] = [call.operands[0], call.operands[1], call.operands[2]];
    let result = kernel.compute(call.op.name, &call.results[0], |s, at| {
        let wide = |n: u64| s.int(n as i64, DType::U64);
        let place = s.load(places, at);
        let first = [0, 1].map(|i| s.load(counter, &[s.index(i)]));
        let low = s.add(first[0], s.shift_right(place, wide(WORDS.ilog2().into())));
        let carry = s.cast(s.compare(Compare::Less, low, first[0]), DType::U64);
        let words = block(s, s.load(key, &[]), [low, s.add(first[1], carry)]);
        let word = s.and(place, wide(WORDS - 1));
        (1..WORDS).fold(words[0], |chosen, i| {
            s.select(s.compare(Compare::Equal, word, wide(i)), words[i as usize], chosen)
        })
    });
    Ok(vec![result])
}
