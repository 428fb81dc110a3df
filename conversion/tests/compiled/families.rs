//! The families of operators, and chains of them.

use super::*;
use fusion_operators::Layout;
use fusion_operators::ops::{
    columns::COL2IM, contraction::*, convolution::*, elementwise::*, indexing::*, layout::*,
    non_max_suppression::NON_MAX_SUPPRESSION, normalization::*, pooling::*, reduction::*, shape::*,
};

const FLOATS: &[DType] = &[DType::F32, DType::F32, DType::F64, DType::F16];
const MANY: &[DType] = &[DType::F32, DType::F64, DType::F16, DType::I32, DType::I64, DType::U8];

#[test]
fn products() {
    let (mut random, mut checker) = (Random::new(1), Checker::default());
    for round in 0..14 {
        let dtype = random.of(&[DType::F32, DType::F32, DType::F64, DType::F16, DType::I32]);
        let (m, k, n) = (random.extent(), random.extent(), random.extent());
        let (a, b) = (random.flag(), random.flag());
        let mut x = if a { vec![k, m] } else { vec![m, k] };
        let mut y = if b { vec![n, k] } else { vec![k, n] };
        let attrs = Attrs::new().with("transpose_a", a).with("transpose_b", b);
        match round % 3 {
            0 => {
                let (x, y) = (random.tensor(dtype, &[m, k]), random.tensor(dtype, &[n, k]));
                checker.call(&DENSE, Attrs::new(), &[x, y]);
            }
            1 => {
                x.insert(0, 3);
                y.insert(0, random.of(&[1, 3]));
                let (x, y) = (random.tensor(dtype, &x), random.tensor(dtype, &y));
                checker.call(&BATCH_MATMUL, attrs, &[x, y]);
            }
            _ => {
                x.splice(0..0, [2, 1]);
                let (x, y) = (random.tensor(dtype, &x), random.tensor(dtype, &y));
                checker.call(&MATMUL, attrs, &[x, y]);
            }
        }
    }
    checker.call(
        &MATMUL,
        Attrs::new(),
        &[random.tensor(DType::F32, &[3, 0]), random.tensor(DType::F32, &[0, 5])],
    );
    checker.finish();
}

#[test]
fn columns() {
    let (mut random, mut checker) = (Random::new(15), Checker::default());
    for round in 0..24 {
        let axes = round % 3 + 1;
        let mut numbers =
            |least, most, count| (0..count).map(|_| random.within(least, most)).collect::<Vec<i64>>();
        let kernel = numbers(1, 4, axes);
        let attrs = Attrs::new()
            .with("kernel", kernel.clone())
            .with("strides", numbers(1, 3, axes))
            .with("dilation", numbers(1, if round % 2 == 0 { 1 } else { 2 }, axes))
            .with("padding", numbers(0, 1, 2 * axes))
            .with("output_padding", numbers(0, 1, axes));
        let positions = kernel.iter().product::<i64>() as usize;
        let mut x = vec![2, 3 * positions];
        x.extend((0..axes).map(|_| random.of(if axes == 3 { &[3, 4] } else { &[4, 9, 17] })));
        let dtype = random.of(MANY);
        checker.call(&COL2IM, attrs, &[random.tensor(dtype, &x)]);
    }
    // As a network that makes images has them.
    let doubled = Attrs::new().with("kernel", [4, 4]).with("strides", [2, 2]).with("padding", [1, 1, 1, 1]);
    for extent in [4, 16, 20] {
        let x = random.tensor(DType::F32, &[1, 3 * 16, extent, extent]);
        checker.call(&COL2IM, doubled.clone(), &[x]);
    }
    checker.finish();
}

/// Data, weight and result in every order that kernels are made in.
#[test]
fn images_in_other_orders() {
    let (mut random, mut checker) = (Random::new(12), Checker::default());
    const ORDERS: [(&str, &str); 3] = [("NCHW", "OIHW"), ("NHWC", "HWIO"), ("NCHW4c", "OIHW4i4o")];
    let stored = |value: &[usize], name: &str, axes: &str| {
        let value: Vec<u64> = value.iter().map(|&n| n as u64).collect();
        let layout = Layout::parse(name, axes).expect("a layout");
        let shape = layout.stored(&TensorType::fixed(&value, DType::F32)).and_then(|ty| ty.shape());
        shape.expect("multiples of four").into_iter().map(|n| n as usize).collect::<Vec<usize>>()
    };
    for round in 0..12 {
        let ((data, _), (result, weight)) = (ORDERS[round % 3], random.of(&ORDERS));
        let (channels, filters) = (4 * random.within(1, 3) as usize, 4 * random.within(1, 9) as usize);
        let (h, w) = (random.within(3, 18) as usize, random.within(3, 18) as usize);
        let x = random.tensor(DType::F32, &stored(&[1, channels, h, w], data, "NCHW"));
        let attrs = Attrs::new().with("data_layout", data).with("out_layout", result);
        let weights = random.tensor(DType::F32, &stored(&[filters, channels, 3, 3], weight, "OIHW"));
        let of_conv = attrs.clone().with("kernel_layout", weight).with("strides", [1 + round as i64 % 2, 1]);
        checker.call_on_constants(
            &LAYOUT_CONV2D,
            of_conv.with("padding", [1, 0, 1, 2]),
            &[x.clone(), weights],
        );
        let pool = attrs.with("kernel", [2, 3]).with("padding", [0, 1, 1, 1]);
        checker.call(random.of(&[&LAYOUT_MAX_POOL2D, &LAYOUT_AVG_POOL2D]), pool, std::slice::from_ref(&x));
        let moved = Attrs::new().with("src_layout", data).with("dst_layout", result);
        checker.call(&LAYOUT_TRANSFORM, moved, &[x]);
    }
    for (layout, weight) in [("NHWC", "HWIO"), ("NCHW4c", "OIHW4o"), ("NHWC", "OIHW")] {
        let x = random.tensor(DType::F32, &stored(&[2, 20, 9, 7], layout, "NCHW"));
        let w = random.tensor(DType::F32, &stored(&[20, 1, 3, 3], weight, "OIHW"));
        let attrs = Attrs::new().with("groups", 20).with("data_layout", layout).with("kernel_layout", weight);
        checker.call_on_constants(&LAYOUT_CONV2D, attrs, &[x, w]);
    }
    checker.finish();
}

#[test]
fn convolutions() {
    let (mut random, mut checker) = (Random::new(2), Checker::default());
    let forward = [&CONV1D, &CONV2D, &CONV3D];
    let backward = [&CONV1D_TRANSPOSE, &CONV2D_TRANSPOSE, &CONV3D_TRANSPOSE];
    for round in 0..18 {
        let (axes, transposed) = (round % 3 + 1, round % 2 == 1);
        let groups = random.of(&[1, 1, 2, 4]);
        let (channels, filters) = (groups * random.of(&[1, 3]), groups * random.of(&[1, 2, 5]));
        let mut numbers =
            |least, most, count| (0..count).map(|_| random.within(least, most)).collect::<Vec<_>>();
        let attrs = Attrs::new()
            .with("strides", numbers(1, 2, axes))
            .with("dilation", numbers(1, 2, axes))
            .with("padding", numbers(0, 1, 2 * axes))
            .with("groups", groups as i64);
        let (mut x, mut w) = (vec![2, channels], vec![filters, channels / groups]);
        if transposed {
            w = vec![channels, filters / groups];
        }
        let extents = if axes == 3 { [6, 7] } else { [9, 17] };
        x.extend((0..axes).map(|_| random.of(&extents)));
        w.extend((0..axes).map(|_| random.of(&[1, 2, 3])));
        let dtype = random.of(FLOATS);
        let (x, w) = (random.tensor(dtype, &x), random.tensor(dtype, &w));
        let op = if transposed { backward[axes - 1] } else { forward[axes - 1] };
        checker.call(op, attrs, &[x, w]);
    }
    checker.finish();
}

#[test]
fn pools() {
    let (mut random, mut checker) = (Random::new(3), Checker::default());
    let ops = [&MAX_POOL1D, &MAX_POOL2D, &MAX_POOL3D, &AVG_POOL1D, &AVG_POOL2D, &AVG_POOL3D];
    for (i, op) in ops.into_iter().chain(ops).enumerate() {
        let axes = i % 3 + 1;
        let attrs = Attrs::new()
            .with("kernel", (0..axes).map(|_| random.within(2, 3)).collect::<Vec<_>>())
            .with("strides", (0..axes).map(|_| random.within(1, 2)).collect::<Vec<_>>())
            .with("padding", (0..2 * axes).map(|_| random.within(0, 1)).collect::<Vec<_>>())
            .with("ceil_mode", random.flag())
            .with("count_include_pad", i < 6);
        let mut shape = vec![2, 3];
        shape.extend((0..axes).map(|_| random.within(5, 9) as usize));
        let dtype = random.of(FLOATS);
        checker.call(op, attrs, &[random.tensor(dtype, &shape)]);
    }
    for op in [&MAX_POOL2D, &AVG_POOL2D] {
        let attrs = Attrs::new().with("kernel", [3, 4]).with("strides", [2, 2]).with("ceil_mode", true);
        checker.call(op, attrs.clone(), &[random.tensor(DType::F32, &[2, 3, 2, 3])]);
        checker.call(op, attrs.with("count_include_pad", true), &[random.tensor(DType::F32, &[2, 3, 2, 7])]);
    }
    checker.call(&GLOBAL_MAX_POOL, Attrs::new(), &[random.tensor(DType::F32, &[2, 3, 37])]);
    checker.call(&GLOBAL_AVG_POOL, Attrs::new(), &[random.tensor(DType::F32, &[2, 3, 7, 17])]);
    checker.finish();
}

#[test]
fn norms() {
    let (mut random, mut checker) = (Random::new(4), Checker::default());
    for dtype in [DType::F32, DType::F64, DType::F16] {
        let x = random.tensor(dtype, &[2, 6, 17]);
        let [a, b, mean] = [(); 3].map(|()| random.tensor(dtype, &[6]));
        let variance = random.between(dtype, &[6], 1, 3);
        checker.call(&BATCH_NORM, Attrs::new(), &[x.clone(), a.clone(), b.clone(), mean, variance]);
        checker.call(&INSTANCE_NORM, Attrs::new(), &[x.clone(), a.clone(), b.clone()]);
        checker.call(&GROUP_NORM, Attrs::new().with("num_groups", 2), &[x.clone(), a, b]);
        let [a, b] = [(); 2].map(|()| random.tensor(dtype, &[17]));
        checker.call(&LAYER_NORM, Attrs::new(), &[x.clone(), a, b]);
        checker.call(&LRN, Attrs::new().with("size", 3), std::slice::from_ref(&x));
        checker.call(&SOFTMAX, Attrs::new().with("axis", random.within(-1, 2)), std::slice::from_ref(&x));
        checker.call(&LOG_SOFTMAX, Attrs::new().with("axis", random.within(-1, 2)), &[x]);
    }
    checker.finish();
}

#[test]
fn elementwise() {
    let (mut random, mut checker) = (Random::new(5), Checker::default());
    for op in [&EXP, &SQRT, &SIN, &ATAN, &TANH, &ERF, &SIGMOID, &FLOOR, &ROUND, &RECIPROCAL] {
        let (dtype, shape) = (random.of(FLOATS), [random.extent(), random.extent()]);
        checker.call(op, Attrs::new(), &[random.between(dtype, &shape, 1, 3)]);
    }
    for op in [&ABS, &NEG, &SIGN, &RELU, &ADD, &SUB, &MUL, &DIV, &MINIMUM, &MAXIMUM, &LESS, &EQUAL] {
        let (dtype, n, m) = (random.of(MANY), random.extent(), random.extent());
        let x = random.tensor(dtype, &[2, n, m]);
        let shape = random.of(&[[n, m], [1, m], [n, 1], [1, 1]]);
        let y = random.between(dtype, &shape, 1, 3);
        checker.call(op, Attrs::new(), &[x, y][..op.arity().1]);
    }
    for op in [&LOGICAL_AND, &LOGICAL_XOR, &EQUAL] {
        let [x, y] = [[17, 1], [1, 37]].map(|shape| random.between(DType::Bool, &shape, 0, 1));
        checker.call(op, Attrs::new(), &[x, y]);
    }
    checker.call(&ADD, Attrs::new(), &[random.tensor(DType::F32, &[0, 3]), random.tensor(DType::F32, &[3])]);
    checker.finish();
}

#[test]
fn casts() {
    let (mut random, mut checker) = (Random::new(6), Checker::default());
    for from in DType::NUMBERS {
        let signed = from.is_float() || from.class() == DType::I8.class();
        let most = if from == DType::Bool { 1 } else { 100 };
        let x = random.between(from, &[37], if signed { -100 } else { 0 }, most);
        // A negative float is no unsigned integer.
        let positive = random.between(from, &[37], 0, most);
        for to in DType::NUMBERS {
            let unsigned = from.is_float() && to.class() == DType::U8.class();
            let x = if unsigned { &positive } else { &x };
            checker.call(&CAST, Attrs::new().with("dtype", to), std::slice::from_ref(x));
        }
    }
    checker.finish();
}

#[test]
fn reductions() {
    let (mut random, mut checker) = (Random::new(7), Checker::default());
    for op in [&REDUCE_SUM, &REDUCE_MEAN, &REDUCE_PROD, &REDUCE_MAX, &REDUCE_MIN, &REDUCE_SUM, &REDUCE_MAX] {
        let dtype = random.of(if op.is(&REDUCE_MEAN) { FLOATS } else { MANY });
        let axes = random.of(&[&[0][..], &[1], &[-1], &[0, 2], &[0, 1, 2]]);
        let attrs = Attrs::new().with("axes", axes).with("keepdims", random.flag());
        checker.call(op, attrs, &[random.tensor(dtype, &[3, 17, 5])]);
    }
    for op in [&ARGMAX, &ARGMIN, &CUMSUM, &CUMSUM] {
        let (dtype, shape) = (random.of(MANY), [random.extent(), random.extent()]);
        checker.call(op, Attrs::new().with("axis", random.within(-2, 1)), &[random.tensor(dtype, &shape)]);
    }
    checker.call(&TOPK, Attrs::new().with("k", 3), &[random.tensor(DType::F32, &[5, 17])]);
    for (shape, along, k) in
        [([3, 200], 1, 7), ([48, 5], 0, 20), ([2, 33], 1, 33), ([3, 200], 1, 200), ([150, 4], 0, 65)]
    {
        for smallest in [false, true] {
            let attrs = Attrs::new().with("k", k).with("axis", along).with("smallest", smallest);
            // Of few values, so that many are equal.
            checker.call(&TOPK, attrs.clone(), &[random.between(DType::F32, &shape, -9, 9)]);
            checker.call(&TOPK, attrs.clone(), &[random.between(DType::I32, &shape, -9, 9)]);
            checker.call(&TOPK, attrs, &[random.wild(DType::F32, &shape)]);
        }
    }
    for dtype in [DType::F32, DType::BF16, DType::I64] {
        let attrs = Attrs::new().with("axis", 1).with("reverse", dtype == DType::F32);
        checker.call(&CUMSUM, attrs, &[random.tensor(dtype, &[2, 5, 37])]);
    }
    checker.call(&REDUCE_SUM, Attrs::new().with("axes", [0]), &[random.tensor(DType::F32, &[0, 3])]);
    checker.finish();
}

#[test]
fn movements() {
    let (mut random, mut checker) = (Random::new(8), Checker::default());
    let x = random.tensor(DType::F32, &[5, 17, 3]);
    for along in 0..3 {
        let indices = random.between(DType::I64, &[2, 3], -3, 2);
        checker.call(&GATHER, Attrs::new().with("axis", along), &[x.clone(), indices]);
        let y = random.tensor(DType::F32, &[5, 17, 3]);
        checker.call(&CONCAT, Attrs::new().with("axis", along), &[x.clone(), y]);
        let axes = [[1, 0, 2], [2, 1, 0], [0, 2, 1]][along as usize];
        checker.call(&TRANSPOSE, Attrs::new().with("axes", axes), std::slice::from_ref(&x));
        let mode = ["constant", "edge", "reflect"][along as usize];
        let attrs = Attrs::new().with("padding", [1, 0, 2, 1, 0, 2]).with("mode", mode);
        checker.call(&PAD, attrs, std::slice::from_ref(&x));
        let places = Tensor::from_ints(DType::I64, &[2, 1, 1], &[1, -1]).unwrap();
        let attrs = Attrs::new().with("axis", 0).with("reduction", ["none", "add", "max"][along as usize]);
        checker.call(&SCATTER_ELEMENTS, attrs, &[x.clone(), places, random.tensor(DType::F32, &[2, 1, 1])]);
    }
    let places = Tensor::from_ints(DType::I32, &[2, 2], &[0, 16, 4, 3]).unwrap();
    checker.call(&GATHER_ND, Attrs::new(), &[x.clone(), places.clone()]);
    checker.call(&SCATTER_ND, Attrs::new(), &[x.clone(), places, random.tensor(DType::F32, &[2, 3])]);
    let none = random.tensor(DType::F32, &[5, 0, 3]);
    checker.call(&CONCAT, Attrs::new().with("axis", 1), &[none, x]);
    for method in ["nearest", "linear"] {
        let attrs = Attrs::new()
            .with("size", [2, 3, 9, 5])
            .with("scales", vec![1.0, 1.0, 9.0 / 7.0, 1.25])
            .with("method", method);
        checker.call(&RESIZE, attrs, &[random.tensor(DType::F32, &[2, 3, 7, 4])]);
    }
    checker.finish();
}

#[test]
fn suppression() {
    let (mut random, mut checker) = (Random::new(16), Checker::default());
    for round in 0..12 {
        let (batch, classes, count) = (random.within(1, 2), random.within(1, 3), random.of(&[1, 7, 40, 200]));
        let [batch, classes] = [batch, classes].map(|n| n as usize);
        let mut boxes = Vec::new();
        for _ in 0..batch * count {
            let mut number = |least: i64, most: i64| random.within(least, most) as f64 / 4.0;
            let (y, x) = (number(0, 40), number(0, 40));
            boxes.extend([y, x, y + number(1, 20), x + number(1, 20)]);
        }
        let scalar = |dtype, value: f64| Tensor::from_f64s(dtype, &[], &[value]).unwrap();
        let mut operands = vec![
            Tensor::from_f64s(DType::F32, &[batch, count, 4], &boxes).unwrap(),
            // Of few values, so that many are equal.
            random.between(DType::F32, &[batch, classes, count], 0, if round % 2 == 0 { 1 } else { 9 }),
            scalar(DType::I64, random.of(&[0.0, 3.0, 30.0, 1000.0])),
            scalar(DType::F32, random.of(&[0.0, 0.25, 0.5, 1.0])),
            scalar(DType::F32, random.of(&[f64::NEG_INFINITY, 0.25, 0.5])),
        ];
        let mut attrs = Attrs::new().with("inclusive", random.flag()).with("top_k", random.of(&[-1, 5, 50]));
        if round % 3 > 0 {
            operands.push(random.between(DType::I32, &[batch, count], 0, 2));
            attrs.set("room", random.of(&[1, 20]));
        }
        checker.call(&NON_MAX_SUPPRESSION, attrs, &operands);
    }
    checker.finish();
}

#[test]
fn chains() {
    let (mut random, mut checker) = (Random::new(9), Checker::default());
    for _ in 0..20 {
        let (m, n) = (random.extent(), random.extent());
        let inputs = [[m, n], [1, n], [m, 1], [n, n]].map(|shape| random.tensor(DType::F32, &shape));
        let (mut steps, mut at): (Vec<Step>, usize) = (Vec::new(), 0);
        for _ in 0..random.within(3, 6) {
            let axes = Attrs::new().with("axes", [random.within(0, 1)]).with("keepdims", true);
            let next = inputs.len() + steps.len();
            let step = match random.below(5) {
                0 => Step(random.of(&[&RELU, &TANH, &ABS, &SIGMOID]), Attrs::new(), vec![at]),
                1 | 2 => {
                    let other = random.of(&[0, 1, 2]);
                    Step(random.of(&[&ADD, &SUB, &MUL, &MAXIMUM]), Attrs::new(), vec![at, other])
                }
                3 => Step(random.of(&[&REDUCE_SUM, &REDUCE_MAX, &REDUCE_MEAN]), axes, vec![at]),
                _ => {
                    // A row or a column grows back before it is multiplied.
                    steps.push(Step(&ADD, Attrs::new(), vec![at, 0]));
                    Step(&MATMUL, Attrs::new(), vec![next, 3])
                }
            };
            steps.push(step);
            at = inputs.len() + steps.len() - 1;
        }
        checker.chain(&steps, &inputs);
    }
    checker.finish();
}

#[test]
fn a_wrong_result_is_found() {
    register();
    let mut random = Random::new(10);
    let inputs = [(); 2].map(|()| random.between(DType::F32, &[17], 1, 2));
    let steps = |op| [Step(op, Attrs::new(), vec![0, 1])];
    let (source, right, scale) = program(&steps(&ADD), &inputs, 2);
    let (_, wrong, _) = program(&steps(&SUB), &inputs, 2);
    let found = run(&source, &inputs, &[right[0].tensor_type()], 0).unwrap();
    assert_eq!(difference(&found[0], &right[0], scale), None);
    assert!(difference(&found[0], &wrong[0], scale).is_some());
}
