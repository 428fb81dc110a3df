//! Random chains of operators on tensors of dynamic extents, run for random sizes.
//!
//! Every value has the shape (?, 6), so that any operator can follow any other.

use super::{Compiled, inputs};
use fusion_operators::random::seeds;

/// xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n
    }
}

/// An expression of the variables so far; they have as many rows as `%x`.
fn expression(random: &mut Random, known: &[String]) -> String {
    let mut one = || known[random.below(known.len())].clone();
    let (a, b) = (one(), one());
    match random.below(14) {
        0 => format!("add({a}, {b})"),
        1 => format!("multiply({a}, {b})"),
        2 => format!("tanh(subtract({a}, {b}))"),
        3 => format!("nn.softmax({a}, axis=-1)"),
        4 => format!("nn.softmax({a}, axis=0)"),
        5 => format!("nn.dense({a}, %w, units=6)"),
        6 => format!("add({a}, sum({b}, axis=[0], keepdims=True))"),
        7 => format!("subtract({a}, max({b}, axis=[1], keepdims=True))"),
        8 => format!("transpose(transpose({a}, axes=[1, 0]), axes=[1, 0])"),
        9 => format!("nn.relu(reshape(reshape({a}, newshape=[-1, 2, 3]), newshape=[-1, 6]))"),
        10 => format!(
            "concatenate((strided_slice({a}, begin=[0, 0], end=[2147483647, 2]), strided_slice({b}, begin=[0, 2], end=[2147483647, 6])), axis=1)"
        ),
        11 => format!("multiply(mean({a}, axis=[1], keepdims=True), {b})"),
        12 => format!("nn.matmul(nn.softmax(nn.matmul({a}, {b}, transpose_b=True), axis=-1), {a})"),
        _ => format!("nn.layer_norm({a}, %g, %g, axis=-1)"),
    }
}

#[test]
fn random_chains_give_what_the_interpreter_gives() {
    for seed in seeds(12).map(|seed| seed + 1) {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut known = vec!["%x".to_owned(), "%y".to_owned()];
        let mut lines = String::new();
        for step in 0..3 + random.below(6) {
            let line = expression(&mut random, &known);
            lines.push_str(&format!("  let %v{step} = {line};\n"));
            known.push(format!("%v{step}"));
        }
        let last = known.last().unwrap();
        let source = format!(
            "def @main(%x: Tensor[(?, 6), float32], %y: Tensor[(?, 6), float32], %w: Tensor[(6, 6), float32],
           %g: Tensor[(6), float32]) {{\n{lines}  ({last}, {})\n}}",
            known[known.len() - 2]
        );
        let program = Compiled::of(&source).without_references();
        for _ in 0..3 {
            let n = 1 + random.below(40);
            program.agree(&inputs(&[("x", &[n, 6]), ("y", &[n, 6]), ("w", &[6, 6]), ("g", &[6])]));
        }
    }
}
