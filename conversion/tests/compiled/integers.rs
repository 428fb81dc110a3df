//! Sums of products of integers of 8 bits: whatever instruction a processor has for them, all wrap around like the reference.

use super::*;
use fusion_operators::ops::{contraction::*, convolution::CONV2D, elementwise::*, layout::LAYOUT_CONV2D};

const PAIRS: [(DType, DType); 4] =
    [(DType::U8, DType::I8), (DType::I8, DType::I8), (DType::I8, DType::U8), (DType::U8, DType::U8)];

fn summing() -> Attrs {
    Attrs::new().with("out_dtype", DType::I32)
}

/// Any bytes, of which many are the least and the greatest.
fn bytes(random: &mut Random, dtype: DType, shape: &[usize]) -> Tensor {
    let (least, most) = if dtype == DType::I8 { (-128, 127) } else { (0, 255) };
    let each = |r: &mut Random| match r.within(0, 3) {
        0 => least as f64,
        1 => most as f64,
        _ => r.within(least, most) as f64,
    };
    let values: Vec<f64> = (0..shape.iter().product()).map(|_| each(random)).collect();
    Tensor::from_f64s(dtype, shape, &values).unwrap()
}

fn products(features: &'static str, seed: u64) {
    let (mut random, mut checker) = (Random::new(seed), Checker { features, ..Checker::default() });
    for (a, b) in PAIRS {
        for (m, k, n) in [(1, 64, 96), (33, 64, 80), (17, 36, 23), (50, 7, 17), (9, 130, 5), (40, 4, 16)] {
            let (x, w) = (bytes(&mut random, a, &[m, k]), bytes(&mut random, b, &[k, n]));
            checker.call_on_constants(&MATMUL, summing(), &[x.clone(), w.clone()]);
            checker.call(&MATMUL, summing(), &[x.clone(), w.clone()]);
            let dense = bytes(&mut random, b, &[n, k]);
            checker.call_on_constants(&DENSE, summing(), &[x.clone(), dense.clone()]);
            checker.call(&DENSE, summing(), &[x.clone(), dense]);
            // With what is taken off for zero points, in one kernel.
            let row = random.between(DType::I32, &[n], -1000, 1000);
            let behind = [Step(&MATMUL, summing(), vec![0, 1]), Step(&SUB, Attrs::new(), vec![3, 2])];
            checker.check(&behind, &[x, w, row], 1);
        }
    }
    checker.finish();
}

#[test]
fn products_by_the_best_instruction() {
    products("", 71);
}

/// Sums of two products of 16 bits each.
#[test]
fn products_without_dot_products() {
    products("-avx512vnni,-avxvnni", 72);
}

/// Each product by itself.
#[test]
fn products_without_instructions() {
    products("-avx512vnni,-avxvnni,-avx512bw", 73);
}

#[test]
fn stacks_and_transposes() {
    let (mut random, mut checker) = (Random::new(74), Checker::default());
    for (a, b) in PAIRS {
        let (x, y) = (bytes(&mut random, a, &[2, 3, 20, 36]), bytes(&mut random, b, &[3, 36, 24]));
        checker.call(&MATMUL, summing(), &[x.clone(), y]);
        let flags = summing().with("transpose_b", true);
        checker.call(&MATMUL, flags, &[x, bytes(&mut random, b, &[1, 3, 24, 36])]);
        let (x, y) = (bytes(&mut random, a, &[2, 36, 20]), bytes(&mut random, b, &[2, 36, 24]));
        checker.call(&BATCH_MATMUL, summing().with("transpose_a", true), &[x, y]);
    }
    checker.finish();
}

#[test]
fn convolutions() {
    let (mut random, mut checker) = (Random::new(75), Checker::default());
    for (a, b) in PAIRS {
        for (channels, filters, extent, kernel, groups) in
            [(3, 16, 11, 3, 1), (32, 24, 9, 1, 1), (16, 32, 12, 3, 1), (8, 8, 10, 3, 8), (16, 16, 7, 3, 2)]
        {
            let x = bytes(&mut random, a, &[2, channels, extent, extent]);
            let w = bytes(&mut random, b, &[filters, channels / groups, kernel, kernel]);
            let attrs = || summing().with("groups", groups as i64);
            let around = kernel as i64 / 2;
            checker.call_on_constants(&CONV2D, attrs().with("padding", [around; 4]), &[x.clone(), w.clone()]);
            checker.call(&CONV2D, attrs().with("strides", [2, 2]), &[x, w.clone()]);
            let x = bytes(&mut random, a, &[2, extent, extent, channels]);
            let last = attrs().with("data_layout", "NHWC").with("out_layout", "NHWC");
            checker.call_on_constants(&LAYOUT_CONV2D, last.clone(), &[x.clone(), w.clone()]);
            checker.call_on_constants(&LAYOUT_CONV2D, last.with("padding", [around; 4]), &[x, w]);
        }
    }
    checker.finish();
}
