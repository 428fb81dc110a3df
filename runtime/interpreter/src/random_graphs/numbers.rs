//! The numbers of random graphs: constants, which come again and again, and inputs with zeros, ties and extremes among them.

use fusion_operators::random::Random;
use fusion_operators::rounding::{greatest, least_positive};
use fusion_operators::{DType, Tensor, TensorType};

/// Constants that programs have.
const CONSTANTS: &[f64] = &[0.0, 1.0, -1.0, 2.0, 0.5, 0.1, 0.02, 3.0, 1e-3, 0.25, -0.5, 255.0, 1e-5];

/// Constants that underflow or overflow soon, of a type that has them.
const EXTREMES: &[f64] =
    &[1e-8, 1e-12, 1e12, 1e30, 1e-30, 1e-40, 1e-300, 1e200, 65504.0, -30000.0, 6e-5, 6e-8, 3e38];

/// Exponents.
pub(super) const POWERS: &[f64] = &[2.0, 3.0, 0.5, -0.5, 0.25, 0.75, 1.5, -1.0, 4.0];

/// The number of a type that is nearest to a number.
pub fn representable(dtype: DType, number: f64) -> f64 {
    Tensor::from_f64s(dtype, &[], &[number]).map_or(number, |tensor| tensor.f64_at(0))
}

pub(super) fn below(random: &mut Random, n: usize) -> usize {
    (random.next_u64() % n.max(1) as u64) as usize
}

pub(super) fn one_of<T: Copy>(random: &mut Random, choices: &[T]) -> T {
    choices[below(random, choices.len())]
}

/// Two or three constants of a type; in two graphs of five there are extremes among them.
pub(super) fn pool(random: &mut Random, dtype: DType) -> Vec<f64> {
    let extreme = below(random, 5) < 2;
    let mut pool: Vec<f64> = Vec::new();
    while pool.len() < 2 + below(random, 2) {
        let number = match extreme && below(random, 2) == 0 {
            false => one_of(random, CONSTANTS),
            true => match below(random, 4) {
                0 => 3.0 * least_positive(dtype),
                1 => greatest(dtype) / 4.0,
                _ => one_of(random, EXTREMES),
            },
        };
        let number = representable(dtype, number);
        if number.is_finite() {
            pool.push(number);
        }
    }
    pool
}

/// Some constants of a type for a seed.
pub fn constants(dtype: DType, seed: u64) -> Vec<f64> {
    pool(&mut Random::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)), dtype)
}

/// Inputs of types for a seed: numbers around 0, positive ones, or any with zeros, ties, large and tiny ones among them.
pub fn inputs(types: &[TensorType], seed: u64) -> Option<Vec<Tensor>> {
    let mut random = Random::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bd1_e995);
    types.iter().map(|ty| input(&mut random, ty)).collect()
}

fn input(random: &mut Random, ty: &TensorType) -> Option<Tensor> {
    let shape: Vec<usize> = ty.shape()?.iter().map(|&n| n as usize).collect();
    let kind = below(random, 5);
    let tie = random.next_f64() * 4.0 - 2.0;
    let any = |random: &mut Random| match below(random, 10) {
        0 => 0.0,
        1 => -0.0,
        2 => one_of(random, &[1.0, -1.0, 0.5, 2.0]),
        3 | 4 => tie,
        5 => greatest(ty.dtype) / one_of(random, &[1.0, 3.0, 64.0]),
        6 => least_positive(ty.dtype) * one_of(random, &[1.0, 5.0, 3000.0]),
        7 => 200.0 * (random.next_f64() - 0.5),
        _ => 4.0 * random.next_f64() - 2.0,
    };
    let numbers: Vec<f64> = (0..ty.elements()?)
        .map(|_| match kind {
            0 | 1 => 4.0 * random.next_f64() - 2.0,
            2 => 0.1 + 3.0 * random.next_f64(),
            3 => (8.0 * random.next_f64()).floor() / 2.0 - 2.0,
            _ => any(random),
        })
        .collect();
    Tensor::from_f64s(ty.dtype, &shape, &numbers).ok()
}
