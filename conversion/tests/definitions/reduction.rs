//! Many elements to one.

use super::*;
use fusion_operators::ops::reduction::*;

#[test]
fn reductions() {
    let mut random = Random::new(10);
    for seed in 0..60 {
        let shape = random.shape(0, if seed % 6 == 0 { 0 } else { 1 });
        let attrs = Attrs::new().with("keepdims", random.flag());
        let attrs = if random.below(4) == 0 { attrs } else { attrs.with("axes", random.axes(shape.len())) };
        let x = random.small_of(&DType::NUMBERS, &shape);
        for op in [&REDUCE_SUM, &REDUCE_PROD, &REDUCE_MAX, &REDUCE_MIN] {
            check(op, attrs.clone(), std::slice::from_ref(&x));
        }
        let x = random.small_of(&[DType::F32, DType::F16, DType::BF16, DType::F64], &shape);
        check(&REDUCE_MEAN, attrs.clone(), &[x]);
        let x = random.wild(DType::F32, &shape);
        for op in [&REDUCE_MAX, &REDUCE_MIN, &REDUCE_MEAN] {
            check(op, attrs.clone(), std::slice::from_ref(&x));
        }
        let x = random.small(DType::Bool, &shape);
        check(&REDUCE_ALL, attrs.clone(), std::slice::from_ref(&x));
        check(&REDUCE_ANY, attrs, &[x]);
    }
}

#[test]
fn places_of_extremes() {
    let mut random = Random::new(11);
    for _ in 0..60 {
        let shape = random.shape(1, 1);
        let attrs = Attrs::new()
            .with("axis", random.axis(shape.len()))
            .with("keepdims", random.flag())
            .with("select_last", random.flag());
        let any = random.small_of(&DType::NUMBERS, &shape);
        let same = Tensor::from_f64s(DType::F32, &shape, &vec![f64::NEG_INFINITY; any.len()]).unwrap();
        for x in [any, random.wild(DType::F16, &shape), same] {
            check(&ARGMAX, attrs.clone(), std::slice::from_ref(&x));
            check(&ARGMIN, attrs.clone(), &[x]);
        }
    }
}
