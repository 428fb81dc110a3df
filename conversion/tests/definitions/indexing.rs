//! Reading at computed indices.

use super::*;
use fusion_operators::ops::indexing::*;

const INDEX: &[DType] = &[DType::I32, DType::I64];

#[test]
fn gathers() {
    let mut random = Random::new(7);
    for _ in 0..40 {
        let shape = random.shape(1, 1);
        let axis = random.axis(shape.len());
        let at = axis.rem_euclid(shape.len() as i64) as usize;
        let x = random.small_of(&[DType::F32, DType::BF16, DType::I8, DType::Bool], &shape);
        let of = random.shape(0, 0);
        let dtype = random.of(INDEX);
        let indices = random.indices(dtype, &of[..of.len().min(2)], shape[at]);
        check(&GATHER, Attrs::new().with("axis", axis), &[x.clone(), indices]);
        let region: Vec<usize> = shape
            .iter()
            .enumerate()
            .map(|(a, &n)| random.within(0, if a == at { 6 } else { n as i64 }) as usize)
            .collect();
        let indices = random.indices(dtype, &region, shape[at]);
        check(&GATHER_ELEMENTS, Attrs::new().with("axis", axis), &[x, indices]);
    }
}

#[test]
fn gathers_of_several_axes() {
    let mut random = Random::new(8);
    for _ in 0..40 {
        let shape = random.shape(1, 1);
        let batch = random.below(shape.len() as u64 + 1) as usize;
        let k = random.below((shape.len() - batch) as u64 + 1) as usize;
        let mut of = shape[..batch].to_vec();
        of.extend((0..random.below(2)).map(|_| 3));
        of.push(k);
        let least = shape[batch..batch + k].iter().copied().min().unwrap_or(1);
        let dtype = random.of(INDEX);
        let indices = random.indices(dtype, &of, least);
        let x = random.small(DType::F32, &shape);
        check(&GATHER_ND, Attrs::new().with("batch_dims", batch as i64), &[x, indices]);
    }
}

#[test]
fn one_of_many() {
    let mut random = Random::new(9);
    for seed in 0..40 {
        let shape = random.shape(0, 1);
        let axis = random.axis(shape.len() + 1);
        let dtype = random.of(&[DType::I64, DType::I8, DType::U8, DType::U64]);
        let indices = random.small(dtype, &shape);
        let number = |v| Tensor::from_f64s(DType::F16, &[], &[v]).unwrap();
        let depth = if seed % 4 == 0 { 300 } else { random.within(0, 8) };
        let attrs = Attrs::new().with("depth", depth).with("axis", axis);
        check(&ONE_HOT, attrs, &[indices, number(1.5), number(-0.5)]);
    }
}
