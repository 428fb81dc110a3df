//! Attributes are untrusted: whatever they hold, a call gives results or an error, and never panics.

use fusion_operators::random::{cases, seed};
use fusion_operators::reference::evaluate;
use fusion_operators::{Attr, Attrs, DType, Operator, Tensor, ops};

const FAMILIES: [&str; 4] = ["shape", "indexing", "creation", "reduction"];
const LISTS: [&str; 9] = ["shape", "axes", "sections", "begin", "end", "strides", "padding", "reps", "size"];
const NUMBERS: [&str; 5] = ["axis", "batch_dims", "depth", "k", "size"];
const CHOICES: [(&str, &[&str]); 5] = [
    ("mode", &["edge", "reflect", "wrap"]),
    ("method", &["linear", "nearest"]),
    ("coordinates", &["align_corners", "asymmetric"]),
    ("rounding", &["ceil", "round_prefer_ceil"]),
    ("reduction", &["add", "mul", "none"]),
];

/// Numerical Recipes' linear congruential generator.
struct Random(u32);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as usize % n
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    fn int(&mut self) -> i64 {
        self.of(&[0, 0, 1, 1, 2, 3, -1, -1, -2, 1 << 40, i64::MAX, i64::MIN])
    }

    fn float(&mut self) -> f64 {
        self.of(&[1.0, 2.0, 0.5, 0.0, -1.0, 1e-320, f64::MAX, f64::INFINITY, f64::NAN])
    }

    fn attrs(&mut self) -> Attrs {
        let mut attrs = Attrs::new();
        let length = self.below(4);
        for name in NUMBERS {
            attrs.set(name, self.int());
        }
        for name in LISTS {
            if self.below(4) > 0 {
                attrs.set(name, (0..length).map(|_| self.int()).collect::<Vec<_>>());
            }
        }
        attrs.set("scales", (0..length).map(|_| self.float()).collect::<Vec<_>>());
        for name in ["start", "step", "value"] {
            attrs.set(name, self.float());
        }
        for name in ["keepdims", "select_last", "exclusive", "reverse", "smallest"] {
            attrs.set(name, Attr::Bool(self.below(2) == 0));
        }
        for (name, known) in CHOICES {
            attrs.set(name, self.of(known));
        }
        attrs.with("dtype", self.of(&DType::ALL))
    }

    fn shape(&mut self) -> Vec<usize> {
        (0..self.below(4)).map(|_| self.of(&[0, 1, 1, 2, 3])).collect()
    }

    fn tensor(&mut self, shape: &[usize], dtypes: &[DType]) -> Tensor {
        let values: Vec<i128> = (0..shape.iter().product()).map(|_| self.int().into()).collect();
        Tensor::from_ints(self.of(dtypes), shape, &values).unwrap()
    }

    /// Of one shape half of the time: operators of several operands want that.
    fn operands(&mut self, op: &Operator) -> Vec<Tensor> {
        let count = op.arity().0.max(self.below(3).min(op.arity().1));
        let shared = Some(self.shape()).filter(|_| self.below(2) == 0);
        let each = |random: &mut Random| {
            let shape = shared.clone().unwrap_or_else(|| random.shape());
            random.tensor(&shape, &[DType::F32, DType::I64, DType::I64, DType::Bool])
        };
        (0..count).map(|_| each(self)).collect()
    }
}

#[test]
fn no_attributes_make_an_operator_panic() {
    let mut random = Random(seed(1) as u32);
    for (_, rows) in ops::FAMILIES.iter().filter(|(name, _)| FAMILIES.contains(name)) {
        for op in rows.iter() {
            let mut computed = 0;
            for _ in 0..cases(4000) {
                let (operands, attrs) = (random.operands(op), random.attrs());
                computed += usize::from(evaluate(op, &attrs, &operands).is_ok());
            }
            assert!(computed > 0, "{op:?} was never computed");
        }
    }
}
