//! Means and variances of numbers that lie far from 0, or of which few lie far from the others: errors stay below 1e-5 of the largest result.

use super::*;
use fusion_operators::ops::normalization::{GROUP_NORM, LAYER_NORM};

const ROW: usize = 768;

/// Rows of numbers within 2, with what a function adds to each by its place in the row.
fn rows(random: &mut Random, shape: &[usize], added: impl Fn(usize) -> f64) -> Tensor {
    let plain = random.tensor(DType::F32, shape).to_f64s();
    let numbers: Vec<f64> = plain.iter().enumerate().map(|(at, v)| v + added(at % ROW)).collect();
    Tensor::from_f64s(DType::F32, shape, &numbers).unwrap()
}

/// Whether vectors have 64 bytes on this machine.
fn has_wide_vectors() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx512f");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// The greatest difference from the reference, as a share of the largest result.
fn error(op: &'static Operator, attrs: Attrs, operands: &[Tensor]) -> f64 {
    register();
    let (source, wanted, _) = program(&[Step(op, attrs, vec![0, 1, 2])], operands, operands.len());
    let found = run(&source, operands, &[wanted[0].tensor_type()], 0).unwrap();
    let (found, wanted) = (found[0].to_f64s(), wanted[0].to_f64s());
    let greatest = |values: &mut dyn Iterator<Item = f64>| values.map(f64::abs).fold(0.0, f64::max);
    let differences = &mut found.iter().zip(&wanted).map(|(f, w)| f - w);
    greatest(differences) / greatest(&mut wanted.iter().copied())
}

#[test]
fn rows_far_from_zero_and_rows_of_few_far_numbers() {
    let mut random = Random::new(71);
    let ones = Tensor::from_f64s(DType::F32, &[ROW], &[1.0; ROW]).unwrap();
    let zeros = Tensor::from_f64s(DType::F32, &[ROW], &[0.0; ROW]).unwrap();
    type Added = fn(usize) -> f64;
    let kinds: [(&str, Added); 5] = [
        ("all far", |_| 100.0),
        ("the first far", |at| if at == 0 { 1e4 } else { 0.0 }),
        ("all of the pivot far", |at| if at < 16 { 1e3 } else { 0.0 }),
        ("the last far", |at| if at == ROW - 1 { -1e4 } else { 0.0 }),
        ("two halves", |at| if at < ROW / 2 { 50.0 } else { -50.0 }),
    ];
    // Vectors half as wide have twice as many numbers far from a pivot in each lane.
    let most = if has_wide_vectors() { 1e-5 } else { 2e-5 };
    for (kind, added) in kinds {
        let x = rows(&mut random, &[5, ROW], added);
        let far = error(&LAYER_NORM, Attrs::new(), &[x, ones.clone(), zeros.clone()]);
        assert!(far < most, "{kind}: {far:e}");
    }
}

#[test]
fn groups_of_images() {
    let mut random = Random::new(72);
    let [scale, shift] = [1.0, 0.0].map(|v| Tensor::from_f64s(DType::F32, &[8], &[v; 8]).unwrap());
    let x = rows(&mut random, &[2, 8, 24, 16], |at| 30.0 + at as f64 / 8.0);
    let far = error(&GROUP_NORM, Attrs::new().with("num_groups", 2i64), &[x, scale, shift]);
    assert!(far < 1e-5, "{far:e}");
}

#[test]
fn numbers_that_are_all_alike_have_no_variance() {
    let alike = Tensor::from_f64s(DType::F32, &[3, ROW], &[0.1; 3 * ROW]).unwrap();
    let [ones, zeros] = [1.0, 0.0].map(|v| Tensor::from_f64s(DType::F32, &[ROW], &[v; ROW]).unwrap());
    register();
    let steps = [Step(&LAYER_NORM, Attrs::new(), vec![0, 1, 2])];
    let (source, wanted, _) = program(&steps, &[alike.clone(), ones.clone(), zeros.clone()], 3);
    let found = run(&source, &[alike, ones, zeros], &[wanted[0].tensor_type()], 0).unwrap();
    assert!(found[0].to_f64s().iter().all(|v| v.abs() < 1e-5));
}
