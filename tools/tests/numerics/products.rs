//! Products: at most eight times the error of a sum of f32 one after the other, element by element, whatever the sizes of rows and columns.

use super::hard::{ALL, Hard};
use super::{Element, PLACES, level, rounding, run, ty};
use fusion_dialects::module::Level;
use fusion_operators::{DType, Tensor};

/// More than the error of a sequential sum of f32.
const MOST: f64 = 8.0;

/// Sums of products in double precision, the sizes of their terms, and summed in f32 one after the other.
#[derive(Default)]
pub struct Reference {
    exact: Vec<f64>,
    size: Vec<f64>,
    sequential: Vec<f64>,
}

impl Reference {
    fn of([x, y]: &[Tensor; 2]) -> Reference {
        let (depth, columns) = (x.shape()[1], y.shape()[1]);
        let (x, y) = (x.to_f64s(), y.to_f64s());
        let mut reference = Reference::default();
        for row in x.chunks(depth) {
            for j in 0..columns {
                reference.push(row.iter().enumerate().map(|(k, a)| (*a, y[k * columns + j])));
            }
        }
        reference
    }

    /// The sum of products of pairs as the next element.
    pub fn push(&mut self, pairs: impl Iterator<Item = (f64, f64)>) {
        let (mut exact, mut size, mut sequential) = (0.0, 0.0, 0f32);
        for (a, b) in pairs {
            exact += a * b;
            size += (a * b).abs();
            sequential = (a as f32).mul_add(b as f32, sequential);
        }
        self.exact.push(exact);
        self.size.push(size);
        self.sequential.push(f64::from(sequential));
    }

    /// Compares values with a sum one after the other.
    pub fn judge(&self, found: &[f64], dtype: DType, what: &str) {
        let (ours, sequential) = (self.error(found, dtype), self.error(&self.sequential, DType::F32));
        println!("{what}: {ours:.1e}, one after the other {sequential:.1e}");
        let most = MOST * sequential.max(rounding(DType::F32));
        assert!(
            ours <= most,
            "{what} is off by {ours:e} of its terms; a sum one after the other is off by {sequential:e}"
        );
    }

    /// The largest error of values, beyond what rounding them to a type takes.
    fn error(&self, found: &[f64], dtype: DType) -> f64 {
        let elements = found.iter().zip(&self.exact).zip(&self.size);
        let error = |((&found, &exact), &size): ((&f64, &f64), &f64)| {
            let exact = match dtype {
                _ if !exact.is_finite() || dtype == DType::F32 => exact,
                // What is beyond the largest number is infinite.
                _ => Tensor::from_f64s(dtype, &[1], &[exact]).unwrap().f64_at(0),
            };
            let own = if dtype == DType::F32 { 0.0 } else { 2.0 * rounding(dtype) * exact.abs() };
            // Below the smallest normal number a result is rounded to a multiple of the smallest one.
            let element = Element { found, exact, size: size.max(smallest(dtype) / 1e-7) };
            (element.error() - own / element.size).max(0.0)
        };
        elements.map(error).fold(0.0, f64::max)
    }
}

fn smallest(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 2f64.powi(-24),
        DType::BF16 => 2f64.powi(-133),
        _ => 2f64.powi(-149),
    }
}

fn program(dtype: DType, [m, k, n]: [usize; 3]) -> String {
    let [x, y, z] = [[m, k], [k, n], [m, n]].map(|shape| ty(dtype, &shape));
    format!(
        "func.func @main(%x: {x}, %y: {y}) -> {z} {{\n  %z = relay.matmul %x, %y : ({x}, {y}) -> {z}\n  return %z : {z}\n}}\n"
    )
}

fn check(place: &str, kind: Hard, dtype: DType, extents: [usize; 3]) {
    let operands = kind.operands(dtype, extents, 7);
    let reference = Reference::of(&operands);
    let found = run(place, level(Level::Standard), &program(dtype, extents), &operands).to_f64s();
    reference.judge(&found, dtype, &format!("{place}: a product of {kind:?} numbers of {dtype} {extents:?}"));
}

#[test]
fn large_products_of_hard_numbers() {
    for kind in ALL {
        check("cpu", kind, DType::F32, [256, 512, 256]);
    }
}

#[test]
fn products_of_all_types_everywhere() {
    for place in PLACES {
        for dtype in [DType::F32, DType::F16, DType::BF16] {
            for kind in ALL {
                check(place, kind, dtype, [40, 96, 64]);
            }
        }
    }
}

/// One row of many numbers: a reduction that has lanes, or threads, of its own.
#[test]
fn few_rows_of_many_numbers() {
    for place in PLACES {
        for kind in ALL {
            check(place, kind, DType::F32, [2, 3000, 5]);
        }
    }
}

/// What the others do not see: each row of a product with an infinity, or a number near the largest, is as it is alone.
#[test]
fn a_row_does_not_change_others() {
    let extents = [64, 256, 128];
    let [plain, y] = Hard::Normal.operands(DType::F32, extents, 7);
    for kind in [Hard::Infinity, Hard::Largest] {
        let [x, _] = kind.operands(DType::F32, extents, 7);
        let of = |x: &Tensor| {
            run("cpu", level(Level::Standard), &program(DType::F32, extents), &[x.clone(), y.clone()])
                .to_f64s()
        };
        let (hard, plain) = (of(&x), of(&plain));
        let differ = (0..64).filter(|i| hard[i * 128..][..128] != plain[i * 128..][..128]);
        assert_eq!(differ.collect::<Vec<_>>(), [32], "{kind:?}");
    }
}
