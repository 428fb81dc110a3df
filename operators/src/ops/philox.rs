//! Random words from counters: Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", 2011).
//!
//! ```text
//!   block b     = rounds of the counter `counter + b`, 128 bits, under `key`: four words of 32 bits
//!   one round   (x0, x1, x2, x3), (k0, k1)  ->  (hi(B x2) ^ x1 ^ k0,  lo(B x2),  hi(A x0) ^ x3 ^ k1,  lo(A x0))
//!   y[i]        = word `places[i] mod 4` of block `places[i] / 4`
//! ```
//! Every word follows from its place alone, so that they are the same on all targets, in any order.

use crate::form::{form, operand};
use crate::operator::{Related, cost};
use crate::reference::Evaluated;
use crate::{Call, DType, FusionKind, Operator, Tensor, TensorType, operators, require};

/// Rounds of a block.
pub const ROUNDS: usize = 10;
/// What words of a counter are multiplied by in a round.
pub const FACTORS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
/// What words of the key grow by from round to round.
pub const STEPS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
/// Words of a block.
pub const WORDS: u64 = 4;

/// A round has two products of 64 bits, four exclusive ors and two sums.
const OPERATIONS: f64 = 8.0 * ROUNDS as f64;

operators! {
    /// Random numbers of 32 bits by Philox4x32-10: y[i] is word `places[i] mod 4` of the block of `counter + places[i] / 4` under `key`
    ///
    /// The counter is one number of 128 bits, its lower half first. The same operands give the same numbers on every target.
    /// - C1: the key is a scalar of ui64. C2: the counter is tensor<2xui64>. C3: places are ui64.
    PHILOX = Operator::new("philox", FusionKind::Injective, relation, many_each, reference)
        .of(form(&[operand("key"), operand("counter"), operand("places")]));
}

fn many_each(_: &Call, results: &[TensorType]) -> f64 {
    OPERATIONS * cost::elements(results)
}

fn relation(call: &Call) -> Related {
    let [key, counter, places] = [&call.operands[0], &call.operands[1], &call.operands[2]];
    let wide = |ty: &TensorType| ty.dtype == DType::U64;
    require!(wide(key) && key.rank() == 0, C 1, "the key must be a scalar of ui64, found {key}");
    let is_pair = wide(counter) && matches!(counter.shape().as_deref(), Some([2]));
    require!(is_pair, C 2, "the counter must be tensor<2xui64>, found {counter}");
    require!(wide(places), C 3, "places must be ui64, found {places}");
    Ok(vec![places.with_dtype(DType::U32)])
}

/// The words of one block.
pub fn block(key: u64, counter: u128) -> [u32; 4] {
    let words = |x: u64| [x as u32, (x >> 32) as u32];
    let ([a, b], [c, d], mut key) = (words(counter as u64), words((counter >> 64) as u64), words(key));
    let mut x = [a, b, c, d];
    for _ in 0..ROUNDS {
        let [low0, high0] = words(u64::from(FACTORS[0]) * u64::from(x[0]));
        let [low1, high1] = words(u64::from(FACTORS[1]) * u64::from(x[2]));
        x = [high1 ^ x[1] ^ key[0], low1, high0 ^ x[3] ^ key[1], low0];
        key = [key[0].wrapping_add(STEPS[0]), key[1].wrapping_add(STEPS[1])];
    }
    x
}

fn reference(_: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let shape = crate::reference::static_shape(&results[0])?;
    let (key, low, high) = (x[0].int_at(0) as u64, x[1].int_at(0) as u64, x[1].int_at(1) as u64);
    let first = u128::from(high) << 64 | u128::from(low);
    let mut made: Option<(u64, [u32; 4])> = None;
    let mut data = Vec::with_capacity(4 * x[2].len());
    for i in 0..x[2].len() {
        let place = x[2].int_at(i) as u64;
        let (at, word) = (place / WORDS, (place % WORDS) as usize);
        let words = match made {
            Some((last, words)) if last == at => words,
            _ => block(key, first.wrapping_add(u128::from(at))),
        };
        made = Some((at, words));
        data.extend(words[word].to_le_bytes());
    }
    Ok(vec![Tensor::from_bytes(DType::U32, &shape, data)?])
}
