//! Results that are stored past the caches, wherever the caller's buffers begin.

use super::*;
use fusion_operators::ops::normalization::{LAYER_NORM, LOG_SOFTMAX, SOFTMAX};
use fusion_operators::ops::{elementwise::*, shape::TRANSPOSE};

/// Floats of which two tensors are as much as a last cache holds, in rows of no whole vectors.
const SHAPE: [usize; 2] = [3001, 1537];

#[test]
fn results_larger_than_the_last_cache() {
    let (mut random, mut checker) = (Random::new(61), Checker::default());
    let [x, y] = [(); 2].map(|()| random.tensor(DType::F32, &SHAPE));
    for offset in [0, 4, 20] {
        checker.offset = offset;
        checker.chain(&[Step(&ADD, Attrs::new(), vec![0, 1])], &[x.clone(), y.clone()]);
    }
    checker.offset = 0;
    let turned = Attrs::new().with("axes", vec![1i64, 0]);
    let x = random.tensor(DType::F32, &[2064, 2048]);
    checker.chain(&[Step(&TRANSPOSE, turned, vec![0]), Step(&NEG, Attrs::new(), vec![1])], &[x]);
    checker.finish();
}

/// Blocks of rows, each of which is stored beside the next, and some that are left over.
#[test]
fn rows_larger_than_the_last_cache() {
    let (mut random, mut checker) = (Random::new(62), Checker::default());
    let x = random.tensor(DType::F32, &[4165, 1024]);
    let [scale, bias] = [(); 2].map(|()| random.tensor(DType::F32, &[1024]));
    for offset in [0, 4] {
        checker.offset = offset;
        checker.call(&SOFTMAX, Attrs::new(), std::slice::from_ref(&x));
        checker.call(&LAYER_NORM, Attrs::new(), &[x.clone(), scale.clone(), bias.clone()]);
    }
    checker.offset = 0;
    checker.call(&LOG_SOFTMAX, Attrs::new(), std::slice::from_ref(&x));
    let x = random.tensor(DType::F32, &[530, 9, 1024]);
    checker.call(&SOFTMAX, Attrs::new(), &[x]);
    checker.finish();
}
