//! Bounds of rounding hold for what operators compute in each element type, and say when they know nothing.

use fusion_operators::ops::{self, elementwise as e};
use fusion_operators::random::{Random, cases, seed};
use fusion_operators::rounding::{Bounded, Outside, is_bounded};
use fusion_operators::{Attrs, DType, Operator, Tensor};

const FLOATS: [DType; 4] = [DType::F64, DType::F32, DType::F16, DType::BF16];

fn exact(dtype: DType, numbers: &[f64]) -> Bounded {
    Bounded::exact(Tensor::from_f64s(dtype, &[numbers.len()], numbers).unwrap()).unwrap()
}

fn call(op: &'static Operator, operands: &[&Bounded]) -> Bounded {
    Bounded::call(op, &Attrs::new(), operands).unwrap().unwrap()
}

/// Random numbers with an error: the square root of random numbers.
fn random(random: &mut Random, dtype: DType, shape: &[usize]) -> Bounded {
    let count = shape.iter().product();
    let numbers: Vec<f64> = (0..count).map(|_| random.next_f64() * 9.0).collect();
    call(&e::SQRT, &[&Bounded::exact(Tensor::from_f64s(dtype, shape, &numbers).unwrap()).unwrap()])
}

#[test]
fn each_operator_is_within_its_bound_in_each_element_type() {
    let mut numbers = Random::new(seed(1));
    let mut tried = 0;
    for op in ops::all().filter(|op| is_bounded(op)) {
        for dtype in FLOATS {
            for _ in 0..cases(10) {
                let count = op.arity().0.max(1);
                let shapes: [&[usize]; 3] = [&[1, 3, 4, 4], &[3, 3], &[4]];
                for shape in shapes {
                    let operands: Vec<Bounded> =
                        (0..count).map(|_| random(&mut numbers, dtype, shape)).collect();
                    let attrs = Attrs::new().with("axes", [-1]).with("axis", -1).with("kernel", [2, 2]);
                    let operands: Vec<&Bounded> = operands.iter().collect();
                    let Ok(Some(result)) = Bounded::call(op, &attrs, &operands) else { continue };
                    // By itself, and of what other roundings would have made of it.
                    assert_eq!(result.outside(&result.own, 1.0), None, "{op:?} {dtype} {shape:?}");
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 100 * cases(10), "{tried} calls");
}

#[test]
fn digits_that_cancel_are_not_counted_on() {
    let third = call(&e::DIV, &[&exact(DType::F32, &[1.0]), &exact(DType::F32, &[3.0])]);
    let sum = call(&e::ADD, &[&third, &exact(DType::F32, &[1000.0])]);
    let back = call(&e::SUB, &[&sum, &exact(DType::F32, &[1000.0])]);
    let error = back.error.f64_at(0);
    assert!((1e-5..1e-3).contains(&error), "{error:e}");
    assert_eq!(back.outside(&Tensor::from_f64s(DType::F32, &[1], &[0.33334]).unwrap(), 1.0), None);
    assert!(third.outside(&Tensor::from_f64s(DType::F32, &[1], &[0.33334]).unwrap(), 8.0).is_some());
}

#[test]
fn of_what_overflows_nothing_is_said_but_functions_may_bound_it() {
    let large = exact(DType::F16, &[60000.0]);
    let infinite = call(&e::MUL, &[&large, &large]);
    assert!(infinite.error.f64_at(0).is_infinite());
    assert_eq!(infinite.outside(&Tensor::from_f64s(DType::F16, &[1], &[1.0]).unwrap(), 1.0), None);
    let tanh = call(&e::TANH, &[&infinite]);
    assert!(tanh.error.f64_at(0) < 3.0);
}

#[test]
fn a_divisor_that_may_be_zero_leaves_no_bound() {
    let tiny = call(&e::MUL, &[&exact(DType::F32, &[1e-30]), &exact(DType::F32, &[1e-30])]);
    assert!(call(&e::DIV, &[&exact(DType::F32, &[1.0]), &tiny]).error.f64_at(0).is_infinite());
    assert!(call(&e::RECIPROCAL, &[&tiny]).error.f64_at(0).is_infinite());
}

#[test]
fn a_comparison_of_what_may_be_equal_is_uncertain() {
    let third = call(&e::DIV, &[&exact(DType::F32, &[1.0, 1.0]), &exact(DType::F32, &[3.0, 1.5])]);
    let nearly = exact(DType::F32, &[1.0 / 3.0, 0.5]);
    let less = call(&e::LESS, &[&third, &nearly]);
    assert_eq!(less.error.to_f64s(), [1.0, 0.0]);
}

#[test]
fn other_types_and_shapes_are_outside() {
    let x = exact(DType::F32, &[1.0]);
    let other = Tensor::from_f64s(DType::F16, &[1], &[1.0]).unwrap();
    assert!(matches!(x.outside(&other, 1.0), Some(Outside::Type { .. })));
}

#[test]
fn operators_without_a_row_have_no_bound() {
    let x = exact(DType::F32, &[1.0]);
    assert!(Bounded::call(&e::TAN, &Attrs::new(), &[&x]).unwrap().is_none());
}
