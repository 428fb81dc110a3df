//! Results that are stored past the caches, wherever the caller's buffers begin.

use super::*;
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
