//! Kernels with several results, some of which others read: whatever shares loops with what.

use super::whole::compare_all;
use super::*;

/// A value of the kernel: its name and shape, `[m, n]`, `[m, 1]`, `[1, n]` or another.
type Named = (String, Vec<usize>);

struct Kernel<'r> {
    random: &'r mut Random,
    values: Vec<Named>,
    body: String,
}

fn ty(shape: &[usize]) -> String {
    TensorType::fixed(&shape.iter().map(|&n| n as u64).collect::<Vec<_>>(), DType::F32).to_string()
}

impl Kernel<'_> {
    fn pick(&mut self, wanted: impl Fn(&[usize]) -> bool) -> Named {
        let fitting: Vec<Named> = self.values.iter().filter(|(_, s)| wanted(s)).cloned().collect();
        fitting[self.random.below(fitting.len() as u64) as usize].clone()
    }

    fn call(&mut self, op: &str, operands: &[&Named], attrs: &str, shape: Vec<usize>) {
        let names: Vec<_> = operands.iter().map(|(name, _)| name.as_str()).collect();
        let types: Vec<_> = operands.iter().map(|(_, shape)| ty(shape)).collect();
        let name = format!("%t{}", self.values.len());
        let (names, types) = (names.join(", "), types.join(", "));
        writeln!(self.body, "  {name} = \"relay.{op}\"({names}) {{{attrs}}} : ({types}) -> {}", ty(&shape))
            .unwrap();
        self.values.push((name, shape));
    }

    fn step(&mut self, m: usize, n: usize) {
        let whole = [m, n];
        let x = self.pick(|s| s == whole);
        match self.random.below(10) {
            0..=2 => {
                let op = self.random.of(&["neg", "relu", "tanh", "abs", "sin"]);
                let x = self.pick(|s| s.len() == 2);
                let shape = x.1.clone();
                self.call(op, &[&x], "", shape);
            }
            3..=5 => {
                let op = self.random.of(&["add", "sub", "mul", "maximum"]);
                let y = self.pick(|s| s.len() == 2 && s.iter().zip(&whole).all(|(&a, &b)| a == b || a == 1));
                // Products of products would outgrow what floats tell apart.
                let bounded = (format!("%t{}", self.values.len()), x.1.clone());
                self.call("tanh", &[&x], "", whole.to_vec());
                self.call(op, &[&bounded, &y], "", whole.to_vec());
            }
            6 | 7 => {
                let (op, axis) = (
                    self.random.of(&["reduce_sum", "reduce_max", "reduce_min"]),
                    self.random.below(2) as usize,
                );
                let mut shape = whole.to_vec();
                shape[axis] = 1;
                self.call(op, &[&x], &format!("axes = array<i64: {axis}>, keepdims = true"), shape);
            }
            8 => {
                let axis = self.random.below(2) as usize;
                let y = self.pick(|s| s == whole);
                let mut shape = whole.to_vec();
                shape[axis] *= 2;
                self.call("concat", &[&x, &y], &format!("axis = {axis} : i64"), shape);
            }
            _ => {
                let op = self.random.of(&["reduce_sum", "reduce_max"]);
                self.call(op, &[&x], "axes = array<i64: 0, 1>", Vec::new());
            }
        }
    }
}

/// A program of one kernel with random results.
fn kernel(random: &mut Random, contraction: bool) -> (String, Vec<Tensor>) {
    let (m, n) = (random.of(&[1, 3, 16, 37]), random.of(&[5, 16, 33, 130]));
    let mut inputs = vec![vec![m, n], vec![m, n], vec![1, n]];
    if contraction {
        inputs.extend([vec![m, 24], vec![24, n]]);
    }
    let values: Vec<Named> = inputs.iter().enumerate().map(|(i, s)| (format!("%x{i}"), s.clone())).collect();
    let mut kernel = Kernel { random, values, body: String::new() };
    if contraction {
        let (a, b) = (kernel.values[3].clone(), kernel.values[4].clone());
        kernel.call("matmul", &[&a, &b], "", vec![m, n]);
        let product = (format!("%t{}", kernel.values.len() - 1), vec![m, n]);
        kernel.call("relu", &[&product], "", vec![m, n]);
    }
    let steps = kernel.random.within(3, 9);
    (0..steps).for_each(|_| kernel.step(m, n));
    let (values, body) = (kernel.values, kernel.body);
    let made = &values[inputs.len()..];
    let mut results: Vec<&Named> = made.iter().filter(|_| random.flag()).collect();
    results.extend(made.last().filter(|last| !results.contains(last)));
    let given: Vec<_> = values[..inputs.len()].iter().map(|(name, s)| format!("{name}: {}", ty(s))).collect();
    let names = |of: &[&Named]| of.iter().map(|(n, _)| n.as_str()).collect::<Vec<_>>().join(", ");
    let types = |of: &[&Named]| of.iter().map(|(_, s)| ty(s)).collect::<Vec<_>>().join(", ");
    let all: Vec<&Named> = values[..inputs.len()].iter().collect();
    let (given, returned, made) = (given.join(", "), names(&results), types(&results));
    let called: Vec<_> = (0..results.len()).map(|i| format!("%r#{i}")).collect();
    let source = format!(
        "func.func private @k({given}) -> ({made}) attributes {{relay.primitive}} {{\n{body}  return {returned} : {made}\n}}\n\
         func.func @main({given}) -> ({made}) {{\n  %r:{} = call @k({}) : ({}) -> ({made})\n  return {} : {made}\n}}\n",
        results.len(),
        names(&all),
        types(&all),
        called.join(", "),
    );
    let tensors = inputs.iter().map(|s| random.tensor(DType::F32, s)).collect();
    (source, tensors)
}

#[test]
fn elements_and_reductions() {
    let mut random = Random::new(41);
    compare_all((0..60).map(|_| kernel(&mut random, false)));
}

#[test]
fn contractions_with_results_on_the_way() {
    let mut random = Random::new(42);
    compare_all((0..25).map(|_| kernel(&mut random, true)));
}
