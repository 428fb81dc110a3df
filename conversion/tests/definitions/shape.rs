//! Movements, padding, resizing and creation.

use super::*;
use fusion_operators::ops::creation::*;
use fusion_operators::ops::shape::*;

const TYPES: &[DType] = &[DType::F32, DType::F16, DType::I64, DType::U8, DType::Bool];

#[test]
fn reshapes() {
    let mut random = Random::new(1);
    for seed in 0..40 {
        let shape = random.shape(0, if seed % 8 == 0 { 0 } else { 1 });
        let x = random.small(random_type(seed), &shape);
        // Prime factors put together anew.
        let mut rest: usize = shape.iter().product();
        let mut to = Vec::new();
        while rest > 1 {
            let factor = (1..=rest).filter(|f| rest.is_multiple_of(*f)).collect::<Vec<_>>();
            let factor = random.of(&factor);
            to.push(factor as i64);
            rest /= factor;
            if to.len() > 5 {
                to.push(rest as i64);
                break;
            }
        }
        if rest == 0 {
            to = vec![3, 0];
        }
        check(&RESHAPE, Attrs::new().with("shape", to), &[x]);
    }
}

fn random_type(seed: u64) -> DType {
    TYPES[seed as usize % TYPES.len()]
}

#[test]
fn axes_that_move() {
    let mut random = Random::new(2);
    for seed in 0..30 {
        let shape = random.shape(1, 1);
        let x = random.small(random_type(seed), &shape);
        let rank = shape.len();
        check(&TRANSPOSE, Attrs::new().with("axes", random.permutation(rank)), std::slice::from_ref(&x));
        check(&TRANSPOSE, Attrs::new(), std::slice::from_ref(&x));
        check(&SQUEEZE, Attrs::new(), std::slice::from_ref(&x));
        check(&REVERSE, Attrs::new().with("axes", random.axes(rank)), std::slice::from_ref(&x));
        let new = vec![random.axis(rank + 1)];
        check(&EXPAND_DIMS, Attrs::new().with("axes", new), std::slice::from_ref(&x));
        let mut to: Vec<i64> =
            shape.iter().map(|&n| if n == 1 { random.within(0, 3) } else { n as i64 }).collect();
        to.insert(0, 2);
        check(&BROADCAST_TO, Attrs::new().with("shape", to), std::slice::from_ref(&x));
        let reps: Vec<i64> = (0..rank).map(|_| random.within(0, 3)).collect();
        check(&TILE, Attrs::new().with("reps", reps), std::slice::from_ref(&x));
        check(&SHAPE_OF, Attrs::new(), &[x]);
    }
}

#[test]
fn concatenations_and_splits() {
    let mut random = Random::new(3);
    for seed in 0..30 {
        let mut shape = random.shape(1, 1);
        let axis = random.axis(shape.len());
        let at = axis.rem_euclid(shape.len() as i64) as usize;
        let extents: Vec<usize> = (0..random.within(1, 4)).map(|_| random.within(0, 4) as usize).collect();
        let parts: Vec<Tensor> = extents
            .iter()
            .map(|&n| {
                shape[at] = n;
                random.small(random_type(seed), &shape)
            })
            .collect();
        check(&CONCAT, Attrs::new().with("axis", axis), &parts);
        shape[at] = extents.iter().sum();
        let sections: Vec<i64> = extents.iter().map(|&n| n as i64).collect();
        let attrs = Attrs::new().with("sections", sections).with("axis", axis);
        check(&SPLIT, attrs, &[random.small(random_type(seed), &shape)]);
    }
}

#[test]
fn slices() {
    let mut random = Random::new(4);
    for seed in 0..60 {
        let shape = random.shape(1, if seed % 8 == 0 { 0 } else { 1 });
        let axes = random.axes(shape.len());
        let far = [i64::MIN, i64::MAX, -1, 0, 1, 2, 3, -2, -3, -7];
        let mut any = |choices: &[i64]| axes.iter().map(|_| random.of(choices)).collect::<Vec<_>>();
        let attrs = Attrs::new()
            .with("begin", any(&far))
            .with("end", any(&far))
            .with("strides", any(&[1, 1, 2, 3, -1, -2, i64::MAX]))
            .with("axes", axes.clone());
        check(&SLICE, attrs, &[random.small(random_type(seed), &shape)]);
    }
}

#[test]
fn padding() {
    let mut random = Random::new(5);
    let mut checked = [0; 4];
    for seed in 0..600 {
        let mode = seed as usize % 4;
        let x = {
            let rank = random.within(1, 3);
            let shape: Vec<usize> = (0..rank).map(|_| random.within(1, 5) as usize).collect();
            random.small_of(TYPES, &shape)
        };
        let most = random.of(&[0, 4, 9]);
        let padding: Vec<i64> = (0..2 * x.shape().len()).map(|_| random.within(-2, most)).collect();
        let modes = ["constant", "edge", "reflect", "wrap"];
        let attrs = Attrs::new().with("padding", padding).with("mode", modes[mode]);
        let attrs = if random.flag() { attrs.with("value", 1.3) } else { attrs };
        // Not every mode can fill every padding.
        if PAD.infer(&[x.tensor_type()], &attrs).is_ok() {
            check(&PAD, attrs, &[x]);
            checked[mode] += 1;
        }
    }
    assert!(checked.iter().all(|&n| n > 20), "{checked:?}");
}

#[test]
fn other_resolutions() {
    let mut random = Random::new(6);
    for _ in 0..150 {
        let shape: Vec<usize> = (0..random.within(1, 3)).map(|_| random.within(1, 7) as usize).collect();
        let size: Vec<i64> = shape
            .iter()
            .map(|&n| if random.below(3) == 0 { n as i64 } else { random.within(1, 12) })
            .collect();
        let exact = random.below(3) != 0;
        let scales: Vec<f64> = size
            .iter()
            .zip(&shape)
            .map(|(&to, &from)| if exact { to as f64 / from as f64 } else { (to as f64 + 0.4) / from as f64 })
            .collect();
        let linear = random.flag();
        let attrs = Attrs::new()
            .with("size", size)
            .with("scales", scales)
            .with("method", if linear { "linear" } else { "nearest" })
            .with(
                "coordinates",
                random.of(&["half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"]),
            )
            .with("rounding", random.of(&["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]));
        let x = if linear && random.below(4) == 0 {
            random.wild(DType::F32, &shape)
        } else {
            let dtype = if linear { random.of(&[DType::F32, DType::F16, DType::F64]) } else { DType::I32 };
            random.small(dtype, &shape)
        };
        check(&RESIZE, attrs, &[x]);
    }
}

#[test]
fn ranges() {
    for dtype in DType::NUMBERS {
        for (start, step) in [(0.0, 1.0), (-3.0, 2.0), (0.5, 0.25), (250.0, 7.0), (-1.75, -0.5)] {
            let attrs = Attrs::new().with("size", 9).with("start", start).with("step", step);
            check(&ARANGE, attrs.with("dtype", dtype), &[]);
        }
    }
    check(&ARANGE, Attrs::new().with("size", 0).with("dtype", DType::F32), &[]);
    check(&SHAPE_OF, Attrs::new(), &[Tensor::zeros(DType::F32, &[]).unwrap()]);
}
