//! Random tensors, the same on every machine for the same seed, and the seeds of tests with random cases.
//!
//! `FUSION_SEED` gives such a test other cases than the usual ones, `FUSION_FUZZ_CASES` more or fewer (docs/reference/fuzzing.md).

use crate::tensor::{bytes_of, push_f64, push_int};
use crate::{DType, Tensor, TensorError, dtype::Class};

fn environment(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// How many random cases a test has: what `FUSION_FUZZ_CASES` says, else the usual number.
pub fn cases(usual: u64) -> u64 {
    environment("FUSION_FUZZ_CASES").unwrap_or(usual)
}

/// The seeds of a test's random cases, from `FUSION_SEED` on, which is 0 by default: one case is repeated by its seed and one case.
pub fn seeds(usual: u64) -> std::ops::Range<u64> {
    let first = environment("FUSION_SEED").unwrap_or(0);
    first..first.saturating_add(cases(usual))
}

/// The seed of a test that takes all its numbers from one generator: the usual one, and another for each `FUSION_SEED`.
pub fn seed(usual: u64) -> u64 {
    usual.wrapping_add(environment("FUSION_SEED").unwrap_or(0).wrapping_mul(1_000_003))
}

/// A generator of numbers: SplitMix64.
pub struct Random {
    state: u64,
}

/// Random strings: empty, alike, of letters beyond ASCII.
const WORDS: [&str; 6] = ["", "a", "b", "ab", "A b", "é"];

impl Random {
    /// A generator that gives the same numbers for the same seed.
    pub fn new(seed: u64) -> Self {
        Random { state: seed }
    }

    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in [0, 1).
    pub fn next_f64(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A tensor of floats from -1 to 1, or of integers that are 0 or 1: so they are also valid
    /// indices, class labels and token numbers. Strings are some short ones.
    pub fn tensor(&mut self, dtype: DType, shape: &[usize]) -> Result<Tensor, TensorError> {
        let bytes = bytes_of(dtype, shape)?;
        if dtype == DType::String {
            let words: Vec<&str> =
                (0..bytes / dtype.size()).map(|_| WORDS[self.next_u64() as usize % WORDS.len()]).collect();
            return Tensor::from_strings(shape, &words);
        }
        let mut data = Vec::new();
        data.try_reserve_exact(bytes).map_err(|_| TensorError::TooLarge { shape: shape.to_vec() })?;
        while data.len() < bytes {
            match dtype.class() {
                Class::Float => push_f64(&mut data, dtype, self.next_f64() * 2.0 - 1.0),
                _ => push_int(&mut data, dtype, (self.next_u64() & 1).into()),
            }
        }
        Tensor::from_bytes(dtype, shape, data)
    }
}
