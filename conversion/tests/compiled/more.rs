//! Operators that the families leave out, half types among them, and operands that are constants.

use super::*;
use fusion_operators::ops::{contraction::*, elementwise::*, indexing::*, reduction::*, shape::*};

const FLOATS: &[DType] = &[DType::F32, DType::F64, DType::F16, DType::BF16];
const INTS: &[DType] =
    &[DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16, DType::U32, DType::U64];

#[test]
fn functions() {
    let (mut random, mut checker) = (Random::new(11), Checker::default());
    let positive = [&LOG, &LOG1P, &RSQRT, &SQRT, &ACOSH, &COS, &TAN, &SINH, &COSH, &CEIL];
    for op in positive {
        for dtype in FLOATS {
            let shape = [random.extent(), random.extent()];
            checker.call(op, Attrs::new(), &[random.between(*dtype, &shape, 1, 6)]);
        }
    }
    for op in [&ASIN, &ACOS, &ATAN, &ASINH, &ATANH] {
        for dtype in FLOATS {
            let shape = [random.extent()];
            checker.call(op, Attrs::new(), &[random.between(*dtype, &shape, -1, 1)]);
        }
    }
    checker.finish();
}

/// Products whose panels are computed several at a time, of which the last is narrower; with a bias behind them and without.
#[test]
fn wide_products() {
    let (mut random, mut checker) = (Random::new(13), Checker::default());
    for [rows, depth, columns] in [[128, 384, 1000], [65, 500, 2001], [130, 257, 999]] {
        let x = random.tensor(DType::F32, &[rows, depth]);
        let (w, bias) = (random.tensor(DType::F32, &[depth, columns]), random.tensor(DType::F32, &[columns]));
        checker.call_on_constants(&MATMUL, Attrs::new(), &[x.clone(), w.clone()]);
        let behind = [Step(&MATMUL, Attrs::new(), vec![0, 1]), Step(&ADD, Attrs::new(), vec![3, 2])];
        checker.check(&behind, &[x, w, bias], 1);
    }
    checker.finish();
}

#[test]
fn remainders_and_powers() {
    let (mut random, mut checker) = (Random::new(12), Checker::default());
    for dtype in INTS.iter().chain(FLOATS) {
        let shape = [random.extent(), random.extent()];
        let signed = dtype.is_float() || dtype.class() == DType::I8.class();
        let x = random.between(*dtype, &shape, if signed { -20 } else { 0 }, 20);
        // Nothing is divided by 0.
        let least = if signed { -5 } else { 1 };
        let divisors: Vec<f64> = (0..shape[1]).map(|_| random.of(&[least, 1, 3, 4]) as f64).collect();
        let y = Tensor::from_f64s(*dtype, &[shape[1]], &divisors).unwrap();
        for op in [&MOD, &FMOD, &DIV] {
            checker.call(op, Attrs::new(), &[x.clone(), y.clone()]);
            checker.call_on_constants(op, Attrs::new(), &[x.clone(), y.clone()]);
        }
        let base = random.between(*dtype, &shape, if signed { -2 } else { 0 }, 3);
        let exponents: Vec<f64> = (0..shape[1]).map(|_| random.within(0, 3) as f64).collect();
        let exponents = Tensor::from_f64s(*dtype, &[shape[1]], &exponents).unwrap();
        checker.call(&POW, Attrs::new(), &[base.clone(), exponents.clone()]);
        checker.call_on_constants(&POW, Attrs::new(), &[base, exponents]);
    }
    checker.finish();
}

/// The least and the greatest number of a type are among bases and exponents.
#[test]
fn powers_of_extreme_integers() {
    let mut checker = Checker::default();
    for dtype in INTS {
        let bits = 8 * dtype.size();
        let (least, most) = match dtype.class() == DType::I8.class() {
            true => (-(1i128 << (bits - 1)), (1 << (bits - 1)) - 1),
            false => (0, (1 << bits) - 1),
        };
        let numbers = [least, least + 1, -3, -2, -1, 0, 1, 2, 3, 5, most / 2 + 1, most - 1, most];
        let numbers: Vec<i128> = numbers.into_iter().filter(|n| (least..=most).contains(n)).collect();
        let bases = Tensor::from_ints(*dtype, &[numbers.len(), 1], &numbers).unwrap();
        let exponents = Tensor::from_ints(*dtype, &[numbers.len()], &numbers).unwrap();
        checker.call(&POW, Attrs::new(), &[bases.clone(), exponents.clone()]);
        checker.call_on_constants(&POW, Attrs::new(), &[bases, exponents]);
    }
    checker.finish();
}

#[test]
fn bounds_outside_of_a_type() {
    let (mut random, mut checker) = (Random::new(19), Checker::default());
    for dtype in INTS.iter().chain(&[DType::Bool]) {
        for (low, high) in [(-1.5, 2.0), (-1e30, 1e30), (0.0, 0.5), (-3.0, -1.0), (1.0, 300.0), (1e30, 2e30)]
        {
            let attrs = Attrs::new().with("min", low).with("max", high);
            let x = random.between(*dtype, &[19], 0, if *dtype == DType::Bool { 1 } else { 100 });
            checker.call(&CLIP, attrs, &[x]);
        }
    }
    checker.finish();
}

#[test]
fn signs() {
    let (mut random, mut checker) = (Random::new(18), Checker::default());
    for dtype in INTS {
        let least = if dtype.class() == DType::I8.class() { -100 } else { 0 };
        for op in [&ABS, &NEG, &SIGN, &RELU] {
            checker.call(op, Attrs::new(), &[random.between(*dtype, &[37], least, 100)]);
        }
    }
    checker.finish();
}

#[test]
fn bits() {
    let (mut random, mut checker) = (Random::new(13), Checker::default());
    for dtype in INTS {
        let shape = [random.extent(), random.extent()];
        let signed = dtype.class() == DType::I8.class();
        let least = if signed { -100 } else { 0 };
        let (x, y) =
            (random.between(*dtype, &shape, least, 100), random.between(*dtype, &[shape[1]], least, 100));
        for op in [&BITWISE_AND, &BITWISE_OR, &BITWISE_XOR] {
            checker.call(op, Attrs::new(), &[x.clone(), y.clone()]);
        }
        checker.call(&BITWISE_NOT, Attrs::new(), std::slice::from_ref(&x));
        // As many bits as there are and more.
        let count = random.between(*dtype, &[shape[1]], 0, 70);
        for op in [&SHIFT_LEFT, &SHIFT_RIGHT] {
            checker.call(op, Attrs::new(), &[x.clone(), count.clone()]);
            checker.call_on_constants(op, Attrs::new(), &[x.clone(), count.clone()]);
        }
    }
    checker.finish();
}

#[test]
fn choices() {
    let (mut random, mut checker) = (Random::new(14), Checker::default());
    for dtype in INTS.iter().chain(FLOATS) {
        let (n, m) = (random.extent(), random.extent());
        let (x, y) = (random.tensor(*dtype, &[n, m]), random.tensor(*dtype, &[1, m]));
        let condition = random.between(DType::Bool, &[n, 1], 0, 1);
        checker.call(&WHERE, Attrs::new(), &[condition.clone(), x.clone(), y.clone()]);
        checker.call_on_constants(&WHERE, Attrs::new(), &[condition, x.clone(), y]);
        let least = random.of(&[-1.0, 0.0, 1.0]);
        checker.call(&CLIP, Attrs::new().with("min", least).with("max", 1.0), std::slice::from_ref(&x));
        checker.call(&CLIP, Attrs::new().with("max", 1.0), &[x]);
    }
    checker.finish();
}

#[test]
fn pieces() {
    let (mut random, mut checker) = (Random::new(15), Checker::default());
    for dtype in [DType::F32, DType::F64, DType::BF16, DType::I8, DType::I64, DType::Bool] {
        let x = random.between(dtype, &[5, 17, 6], 0, 1);
        let along = random.within(0, 2);
        let sections = [&[2, 0, 3][..], &[16, 1], &[1, 2, 3]][along as usize];
        checker.call(
            &SPLIT,
            Attrs::new().with("sections", sections).with("axis", along),
            std::slice::from_ref(&x),
        );
        let attrs = Attrs::new()
            .with("begin", [random.within(0, 4), random.within(8, 16)])
            .with("end", [random.within(0, 5), random.within(-17, 6)])
            .with("axes", [0, 1])
            .with("strides", [random.within(1, 2), random.within(-3, -1)]);
        checker.call(&SLICE, attrs, std::slice::from_ref(&x));
        let reps = [random.within(1, 3), random.within(1, 2), random.within(1, 4)];
        checker.call(&TILE, Attrs::new().with("reps", reps), std::slice::from_ref(&x));
        checker.call(&REVERSE, Attrs::new().with("axes", [along]), &[x]);
    }
    checker.finish();
}

#[test]
fn indices() {
    let (mut random, mut checker) = (Random::new(16), Checker::default());
    for dtype in [DType::F32, DType::BF16, DType::I64, DType::U8] {
        let x = random.tensor(dtype, &[5, 17]);
        for (along, extent) in [(0, 5), (1, 17)] {
            let index = random.of(&[DType::I32, DType::I64]);
            let places = random.between(index, &[4, 3], -extent, extent - 1);
            let attrs = Attrs::new().with("axis", along);
            checker.call(&GATHER_ELEMENTS, attrs.clone(), &[x.clone(), places.clone()]);
            checker.call_on_constants(&GATHER_ELEMENTS, attrs.clone(), &[x.clone(), places.clone()]);
            checker.call_on_constants(&GATHER, attrs, &[x.clone(), places]);
        }
        let (on, off) = (random.tensor(dtype, &[]), random.tensor(dtype, &[]));
        let attrs = Attrs::new().with("depth", 5).with("axis", random.within(-1, 1));
        let places = random.between(DType::I32, &[17], -7, 6);
        checker.call(&ONE_HOT, attrs.clone(), &[places.clone(), on.clone(), off.clone()]);
        checker.call_on_constants(&ONE_HOT, attrs, &[places, on, off]);
    }
    checker.finish();
}

#[test]
fn brain_floats() {
    let (mut random, mut checker) = (Random::new(17), Checker::default());
    let dtype = DType::BF16;
    for _ in 0..4 {
        let (m, k, n) = (random.extent(), random.extent(), random.extent());
        let (x, y) = (random.tensor(dtype, &[m, k]), random.tensor(dtype, &[k, n]));
        checker.call(&MATMUL, Attrs::new(), &[x.clone(), y.clone()]);
        checker.call_on_constants(&MATMUL, Attrs::new(), &[x.clone(), y]);
        let y = random.between(dtype, &[k], 1, 3);
        for op in [&ADD, &SUB, &MUL, &DIV, &MINIMUM, &MAXIMUM, &LESS, &EQUAL] {
            checker.call(op, Attrs::new(), &[x.clone(), y.clone()]);
        }
        for op in [&EXP, &TANH, &SIGMOID, &RELU, &ROUND] {
            checker.call(op, Attrs::new(), std::slice::from_ref(&x));
        }
        for op in [&REDUCE_SUM, &REDUCE_MEAN, &REDUCE_MAX, &ARGMAX, &CUMSUM] {
            let attrs = match op.is(&ARGMAX) || op.is(&CUMSUM) {
                true => Attrs::new().with("axis", random.within(0, 1)),
                false => Attrs::new().with("axes", [random.within(0, 1)]),
            };
            checker.call(op, attrs, std::slice::from_ref(&x));
        }
    }
    checker.finish();
}
