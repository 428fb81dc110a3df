//! NaN and the infinities: what is computed from them, and who passes them on.

use super::*;
use fusion_operators::ops::{
    attention::ATTENTION, elementwise::*, normalization::*, pooling::*, reduction::*,
};

const FLOATS: &[DType] = &[DType::F32, DType::F64, DType::F16, DType::BF16];

#[test]
fn functions() {
    let (mut random, mut checker) = (Random::new(21), Checker::default());
    let all = [
        &ABS,
        &NEG,
        &SIGN,
        &RELU,
        &EXP,
        &LOG,
        &LOG1P,
        &SQRT,
        &RSQRT,
        &RECIPROCAL,
        &SIN,
        &COS,
        &TAN,
        &ASIN,
        &ACOS,
        &ATAN,
        &SINH,
        &COSH,
        &TANH,
        &ASINH,
        &ACOSH,
        &ATANH,
        &ERF,
        &SIGMOID,
        &FLOOR,
        &CEIL,
        &ROUND,
        &IS_NAN,
        &IS_INF,
    ];
    for op in all {
        for dtype in FLOATS {
            // A whole vector and a rest.
            checker.call(op, Attrs::new(), &[random.wild(*dtype, &[37])]);
        }
    }
    checker.finish();
}

/// Sine and cosine of one angle share what they compute: neither may be the other, nor take its sign.
#[test]
fn sine_and_cosine_of_one_angle() {
    let (mut random, mut checker) = (Random::new(24), Checker::default());
    for dtype in FLOATS {
        for steps in [[&SIN, &COS], [&COS, &SIN]] {
            let [first, second] = steps.map(|op| Step(op, Attrs::new(), vec![0]));
            let difference = Step(&SUB, Attrs::new(), vec![1, 2]);
            let far = random.between(*dtype, &[37], -100_000, 100_000);
            let (near, wild) = (random.between(*dtype, &[37], -4, 4), random.wild(*dtype, &[37]));
            for angles in [near, far, wild] {
                let copy = |s: &Step| Step(s.0, s.1.clone(), s.2.clone());
                checker.chain(&[copy(&first), copy(&second), copy(&difference)], &[angles]);
            }
        }
    }
    checker.finish();
}

#[test]
fn pairs() {
    let (mut random, mut checker) = (Random::new(22), Checker::default());
    let all = [
        &ADD,
        &SUB,
        &MUL,
        &DIV,
        &MOD,
        &FMOD,
        &POW,
        &MINIMUM,
        &MAXIMUM,
        &EQUAL,
        &NOT_EQUAL,
        &LESS,
        &LESS_EQUAL,
        &GREATER,
        &GREATER_EQUAL,
    ];
    for op in all {
        for dtype in FLOATS {
            let (x, y) = (random.wild(*dtype, &[17, 8]), random.wild(*dtype, &[17, 8]));
            checker.call(op, Attrs::new(), &[x.clone(), y]);
            checker.call_on_constants(op, Attrs::new(), &[x, random.wild(*dtype, &[1])]);
        }
    }
    checker.finish();
}

#[test]
fn choices() {
    let (mut random, mut checker) = (Random::new(23), Checker::default());
    for dtype in FLOATS {
        let x = random.wild(*dtype, &[37]);
        checker.call(&CLIP, Attrs::new().with("min", -1.0).with("max", 1.0), std::slice::from_ref(&x));
        checker.call(&CLIP, Attrs::new().with("min", 0.5), std::slice::from_ref(&x));
        let condition = random.between(DType::Bool, &[37], 0, 1);
        checker.call(&WHERE, Attrs::new(), &[condition, x.clone(), random.wild(*dtype, &[37])]);
        checker.call(&CAST, Attrs::new().with("dtype", DType::Bool), std::slice::from_ref(&x));
        for to in FLOATS {
            checker.call(&CAST, Attrs::new().with("dtype", *to), std::slice::from_ref(&x));
        }
    }
    checker.finish();
}

#[test]
fn reductions() {
    let (mut random, mut checker) = (Random::new(24), Checker::default());
    for dtype in FLOATS {
        for op in [&REDUCE_SUM, &REDUCE_MEAN, &REDUCE_PROD, &REDUCE_MAX, &REDUCE_MIN] {
            for axes in [&[0][..], &[1], &[0, 1]] {
                checker.call(op, Attrs::new().with("axes", axes), &[random.wild(*dtype, &[5, 17])]);
            }
        }
        for op in [&CUMSUM, &CUMPROD, &ARGMAX, &ARGMIN] {
            for axis in [0, 1] {
                checker.call(op, Attrs::new().with("axis", axis), &[random.wild(*dtype, &[5, 17])]);
            }
        }
        for op in [&SOFTMAX, &LOG_SOFTMAX] {
            checker.call(op, Attrs::new().with("axis", -1), &[random.wild(*dtype, &[17, 3])]);
        }
    }
    checker.finish();
}

#[test]
fn pools() {
    let (mut random, mut checker) = (Random::new(25), Checker::default());
    for dtype in FLOATS {
        for op in [&MAX_POOL2D, &AVG_POOL2D] {
            for padding in [[0; 4], [1; 4]] {
                let attrs =
                    Attrs::new().with("kernel", [2, 3]).with("strides", [1, 2]).with("padding", padding);
                checker.call(op, attrs, &[random.wild(*dtype, &[1, 2, 8, 9])]);
            }
        }
        checker.call(&GLOBAL_MAX_POOL, Attrs::new(), &[random.wild(*dtype, &[2, 3, 17])]);
        checker.call(&GLOBAL_AVG_POOL, Attrs::new(), &[random.wild(*dtype, &[2, 3, 17])]);
    }
    checker.finish();
}

/// The greatest number of a row passes over what is none; the row is none all the same, and no other is.
#[test]
fn rows_with_something_that_is_no_number() {
    let mut checker = Checker::default();
    let rows = |rows: usize, columns: usize, special: &[(usize, f64)]| {
        let mut values: Vec<f64> =
            (0..rows * columns).map(|i| ((i * 37) % 101) as f64 / 50.0 - 1.0).collect();
        special.iter().for_each(|&(at, value)| values[at] = value);
        Tensor::from_f64s(DType::F32, &[rows, columns], &values).unwrap()
    };
    let least = f64::NEG_INFINITY;
    for columns in [3, 17, 300] {
        let x = rows(6, columns, &[(1, f64::NAN), (columns + 2, least), (3 * columns, f64::INFINITY)]);
        for (op, axis) in [(&SOFTMAX, -1), (&LOG_SOFTMAX, -1), (&SOFTMAX, 0)] {
            checker.call(op, Attrs::new().with("axis", axis), std::slice::from_ref(&x));
        }
    }
    let (q, k, v) = (rows(40, 16, &[(5, f64::NAN)]), rows(130, 16, &[]), rows(130, 24, &[]));
    checker.call(&ATTENTION, Attrs::new().with("scale", 0.25), &[q, k, v]);
    checker.finish();
}

/// Rows that are too short to fill registers are taken several at once, with a rest.
#[test]
fn columns_of_short_rows() {
    let (mut random, mut checker) = (Random::new(53), Checker::default());
    let along = |axis: i64| Attrs::new().with("axes", [axis]);
    for (rows, columns) in [(1003, 3), (1024, 5), (517, 24), (803, 16), (257, 8)] {
        for op in [&REDUCE_MAX, &REDUCE_MIN] {
            checker.call(op, along(0), &[random.wild(DType::F32, &[rows, columns])]);
            checker.call(op, along(1), &[random.wild(DType::F16, &[3, rows, columns])]);
        }
        for op in [&ARGMAX, &ARGMIN] {
            let axis = Attrs::new().with("axis", 0);
            checker.call(op, axis.clone(), &[random.wild(DType::F32, &[rows, columns])]);
            checker.call(op, axis, &[random.tensor(DType::I32, &[rows, columns])]);
        }
        for dtype in [DType::F32, DType::F64, DType::I32, DType::U8] {
            checker.call(&REDUCE_SUM, along(0), &[random.tensor(dtype, &[rows, columns])]);
        }
        checker.call(&REDUCE_MEAN, along(1), &[random.tensor(DType::F32, &[2, rows, columns])]);
        let signs = Tensor::from_f64s(
            DType::F32,
            &[rows, columns],
            &(0..rows * columns).map(|i| [1.0, -1.0, 1.0, 1.0, -1.0][i % 5]).collect::<Vec<_>>(),
        );
        checker.call(&REDUCE_PROD, along(0), &[signs.unwrap()]);
    }
    checker.finish();
}
