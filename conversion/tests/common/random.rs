//! Numbers that repeat.

pub use fusion_interpreter::random_graphs::attribute;
use fusion_operators::{DType, Tensor};

/// A linear congruential generator (Knuth's MMIX constants).
pub struct Random(pub u64);

impl Random {
    /// From a seed, and the number in `FUSION_SEED` for others than the usual.
    pub fn new(seed: u64) -> Self {
        Random(fusion_operators::random::seed(seed))
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }

    pub fn within(&mut self, least: i64, most: i64) -> i64 {
        least + self.below((most - least + 1) as u64) as i64
    }

    pub fn flag(&mut self) -> bool {
        self.below(2) == 1
    }

    pub fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// Floats with NaN and infinities among them.
    pub fn wild(&mut self, dtype: DType, shape: &[usize]) -> Tensor {
        let special = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, 1.5, -2.0];
        let values: Vec<f64> = (0..shape.iter().product()).map(|_| self.of(&special)).collect();
        Tensor::from_f64s(dtype, shape, &values).unwrap()
    }
}
