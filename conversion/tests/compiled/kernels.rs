//! Extents at which kernels are tiled, packed and transposed: odd ones, primes, several vectors and a rest.

use super::*;
use fusion_operators::ops::{
    attention::ATTENTION, contraction::*, convolution::*, elementwise::*, layout::LAYOUT_TRANSFORM,
    normalization::SOFTMAX, pooling::*, shape::*, winograd::WINOGRAD_CONV2D,
};

const F32: DType = DType::F32;

#[test]
fn products_with_constant_operands() {
    let (mut random, mut checker) = (Random::new(31), Checker::default());
    for (m, k, n) in [(1, 37, 131), (7, 64, 96), (29, 33, 100), (50, 19, 17), (64, 64, 64), (3, 130, 5)] {
        let (x, w) = (random.tensor(F32, &[m, k]), random.tensor(F32, &[k, n]));
        checker.call_on_constants(&MATMUL, Attrs::new(), &[x.clone(), w.clone()]);
        checker.call(&MATMUL, Attrs::new(), &[x.clone(), w]);
        checker.call_on_constants(&DENSE, Attrs::new(), &[x, random.tensor(F32, &[n, k])]);
    }
    let (x, w) = (random.tensor(F32, &[2, 3, 33, 20]), random.tensor(F32, &[2, 3, 20, 47]));
    checker.call(&MATMUL, Attrs::new(), &[x, w]);
    checker.finish();
}

/// Large enough that seven products of quarters take less than eight.
#[test]
fn products_by_strassen() {
    let (mut random, mut checker) = (Random::new(48), Checker::default());
    let (x, bias) = (random.tensor(F32, &[352, 352]), random.tensor(F32, &[352]));
    let (w, v) = (random.tensor(F32, &[352, 352]), random.tensor(F32, &[352, 352]));
    checker.call(&MATMUL, Attrs::new(), &[x.clone(), w.clone()]);
    for (op, weight) in [(&MATMUL, w), (&DENSE, v)] {
        let steps = [Step(op, Attrs::new(), vec![0, 1]), Step(&ADD, Attrs::new(), vec![3, 2])];
        checker.check(&steps, &[x.clone(), weight, bias.clone()], 1);
    }
    checker.finish();
}

#[test]
fn rows_that_fall_on_few_sets_of_the_cache() {
    let (mut random, mut checker) = (Random::new(32), Checker::default());
    let (x, w) = (random.tensor(F32, &[37, 1024]), random.tensor(F32, &[1024, 64]));
    checker.call(&MATMUL, Attrs::new(), &[x, w]);
    checker.finish();
}

#[test]
fn constants_that_do_not_stay_near() {
    let (mut random, mut checker) = (Random::new(47), Checker::default());
    let (x, w) = (random.tensor(F32, &[9, 13, 131]), random.tensor(F32, &[9, 131, 450]));
    checker.call_on_constants(&MATMUL, Attrs::new(), &[x, w]);
    let (x, w) = (random.tensor(F32, &[19, 517]), random.tensor(F32, &[1031, 517]));
    checker.call_on_constants(&DENSE, Attrs::new(), &[x, w]);
    let (x, w) = (random.tensor(F32, &[1, 200, 5, 5]), random.tensor(F32, &[330, 200, 3, 3]));
    checker.call_on_constants(
        &CONV2D,
        Attrs::new().with("padding", [1, 1, 1, 1]).with("strides", [2, 2]),
        &[x, w],
    );
    checker.finish();
}

#[test]
fn panels_packed_several_at_a_time() {
    let (mut random, mut checker) = (Random::new(43), Checker::default());
    for (m, k, n) in [(29, 601, 333), (50, 1031, 97)] {
        let (x, w) = (random.tensor(F32, &[m, k]), random.tensor(F32, &[k, n]));
        checker.call(&MATMUL, Attrs::new(), &[x.clone(), w]);
        checker.call(&DENSE, Attrs::new(), &[x, random.tensor(F32, &[n, k])]);
    }
    let (x, w) = (random.tensor(F32, &[2, 33, 601]), random.tensor(F32, &[2, 601, 333]));
    checker.call(&MATMUL, Attrs::new(), &[x, w]);
    checker.finish();
}

#[test]
fn convolutions_with_constant_weights() {
    let (mut random, mut checker) = (Random::new(33), Checker::default());
    for (channels, filters, kernel, stride, pad, dilation, size) in [
        (3, 20, 7, 2, 3, 1, [21, 30]),
        (5, 33, 3, 2, 1, 1, [15, 17]),
        (8, 16, 3, 1, 2, 2, [13, 19]),
        (17, 40, 1, 1, 0, 1, [9, 23]),
        (17, 40, 1, 2, 0, 1, [9, 23]),
        (4, 6, 5, 1, 2, 1, [7, 70]),
    ] {
        let (x, w) = (
            random.tensor(F32, &[2, channels, size[0], size[1]]),
            random.tensor(F32, &[filters, channels, kernel, kernel]),
        );
        let attrs = Attrs::new()
            .with("strides", [stride, stride])
            .with("padding", [pad; 4])
            .with("dilation", [dilation, dilation]);
        checker.call_on_constants(&CONV2D, attrs, &[x, w]);
    }
    checker.finish();
}

#[test]
fn convolutions_of_groups_with_constant_weights() {
    let (mut random, mut checker) = (Random::new(48), Checker::default());
    for round in 0..12 {
        let (groups, inputs) = (random.of(&[2, 3, 5]), random.of(&[1, 4, 9]));
        let (filters, kernel, stride) =
            (random.of(&[4, 8, 16, 24, 40]), random.of(&[1, 3, 5]), random.within(1, 3));
        let size = [random.within(5, 17) as usize, random.within(5, 33) as usize];
        let dilation = if round % 4 == 3 { 2 } else { 1 };
        let attrs = Attrs::new()
            .with("groups", groups as i64)
            .with("strides", [stride, stride])
            .with("padding", [dilation * (kernel as i64 / 2); 4])
            .with("dilation", [dilation, dilation]);
        let images = random.of(&[1, 2]);
        let x = random.tensor(F32, &[images, groups * inputs, size[0], size[1]]);
        let w = random.tensor(F32, &[groups * filters, inputs, kernel, kernel]);
        checker.call_on_constants(&CONV2D, attrs, &[x, w]);
    }
    checker.finish();
}

#[test]
fn winograd() {
    let (mut random, mut checker) = (Random::new(34), Checker::default());
    for (channels, filters, size, pad) in
        [(16, 16, [8, 8], [1, 1, 1, 1]), (19, 37, [9, 14], [1, 0, 1, 2]), (33, 18, [28, 27], [1, 1, 1, 1])]
    {
        let x = random.tensor(F32, &[2, channels, size[0], size[1]]);
        let w = random.tensor(F32, &[filters, channels, 3, 3]);
        checker.call_on_constants(&CONV2D, Attrs::new().with("padding", pad), &[x, w]);
    }
    for (tile, points) in [(2, 16), (4, 36)] {
        let (x, u) = (random.tensor(F32, &[1, 5, 7, 10]), random.tensor(F32, &[points, 5, 21]));
        let attrs = Attrs::new().with("tile", tile).with("padding", [1, 1, 1, 1]);
        checker.call_on_constants(&WINOGRAD_CONV2D, attrs, &[x, u]);
    }
    checker.finish();
}

#[test]
fn large_images_in_winograd_form() {
    let (mut random, mut checker) = (Random::new(37), Checker::default());
    for (images, [height, width], tile, points) in
        [(1, [210, 214], 4, 36), (2, [150, 155], 4, 36), (1, [161, 158], 2, 16)]
    {
        let x = random.tensor(F32, &[images, 16, height, width]);
        let u = random.tensor(F32, &[points, 16, 16]);
        let attrs = Attrs::new().with("tile", tile).with("padding", [1, 1, 1, 0]);
        checker.call_on_constants(&WINOGRAD_CONV2D, attrs, &[x, u]);
    }
    checker.finish();
}

#[test]
fn transposed_convolutions_with_constant_weights() {
    let (mut random, mut checker) = (Random::new(35), Checker::default());
    for (channels, filters, kernel, stride, pad) in
        [(6, 20, 4, 2, 1), (5, 33, 3, 2, 1), (3, 7, 3, 3, 0), (4, 16, 2, 3, 0), (4, 16, 5, 2, 2)]
    {
        let x = random.tensor(F32, &[2, channels, 5, 7]);
        let w = random.tensor(F32, &[channels, filters, kernel, kernel]);
        let attrs = Attrs::new().with("strides", [stride, stride]).with("padding", [pad; 4]);
        checker.call_on_constants(&CONV2D_TRANSPOSE, attrs, &[x, w]);
    }
    for (groups, filters, kernel, stride, pad, more) in
        [(1, 20, 4, 1, 0, 0), (2, 3, 4, 2, 1, 1), (1, 16, 3, 3, 0, 2)]
    {
        let x = random.tensor(F32, &[2, 6, 1, 1]);
        let w = random.tensor(F32, &[6, filters, kernel, kernel]);
        let attrs = Attrs::new()
            .with("strides", [stride, stride])
            .with("padding", [pad; 4])
            .with("output_padding", [more, more])
            .with("groups", groups);
        checker.call_on_constants(&CONV2D_TRANSPOSE, attrs, &[x, w]);
    }
    checker.finish();
}

#[test]
fn transposed_convolutions_by_tiles_of_pixels() {
    let (mut random, mut checker) = (Random::new(47), Checker::default());
    for round in 0..14 {
        let (kernel, stride) = (random.within(1, 5), random.within(1, 3));
        let groups = random.of(&[1, 1, 1, 2]);
        let (channels, filters) = (groups * random.of(&[1, 5, 12]), random.of(&[3, 16, 17, 40]));
        let size = [random.within(2, 17) as usize, random.within(2, 17) as usize];
        let dilation = if round % 5 == 4 { 2 } else { 1 };
        let attrs = Attrs::new()
            .with("strides", [stride, stride])
            .with("padding", [random.within(0, (kernel - 1) / 2); 4])
            .with("output_padding", [random.within(0, stride - 1), random.within(0, stride - 1)])
            .with("dilation", [dilation, dilation])
            .with("groups", groups as i64);
        let images = random.of(&[1, 1, 2]);
        let x = random.tensor(F32, &[images, channels, size[0], size[1]]);
        let w = random.tensor(F32, &[channels, filters, kernel as usize, kernel as usize]);
        let bias = random.tensor(F32, &[groups * filters, 1, 1]);
        let steps = [
            Step(&CONV2D_TRANSPOSE, attrs, vec![0, 1]),
            Step(&ADD, Attrs::new(), vec![3, 2]),
            Step(&RELU, Attrs::new(), vec![4]),
        ];
        checker.check(&steps, &[x, w, bias], 1);
    }
    checker.finish();
}

#[test]
fn attention() {
    let (mut random, mut checker) = (Random::new(36), Checker::default());
    for (queries, keys, width, depth) in [(33, 47, 20, 36), (64, 64, 16, 16), (5, 130, 8, 70)] {
        let lead = [2, 3];
        let mut tensor = |n, d| random.tensor(F32, &[&lead[..], &[n, d]].concat());
        let (q, k, v) = (tensor(queries, width), tensor(keys, width), tensor(keys, depth));
        let bias = tensor(queries, keys);
        let attrs = Attrs::new().with("scale", 0.3);
        checker.call(&ATTENTION, attrs.clone(), &[q.clone(), k.clone(), v.clone()]);
        checker.call(&ATTENTION, attrs, &[q.clone(), k.clone(), v.clone(), bias]);
        let transposed = Attrs::new().with("axes", [0, 1, 3, 2]);
        let plain = Attrs::new;
        let steps = [
            Step(&TRANSPOSE, transposed, vec![1]),
            Step(&MATMUL, plain(), vec![0, 3]),
            Step(&SOFTMAX, plain(), vec![4]),
            Step(&MATMUL, plain(), vec![5, 2]),
        ];
        checker.chain(&steps, &[q, k, v]);
    }
    checker.finish();
}

#[test]
fn blocks_of_channels() {
    let (mut random, mut checker) = (Random::new(53), Checker::default());
    let changing = |from: &str, to: &str| Attrs::new().with("src_layout", from).with("dst_layout", to);
    // Blocks that vectors fill and that they do not, and pixels of both kinds.
    for (block, blocks, height, width) in [
        (32, 2, 7, 7),
        (32, 1, 28, 28),
        (16, 3, 5, 64),
        (8, 3, 9, 14),
        (3, 2, 6, 5),
        (32, 2, 1, 33),
        (24, 2, 17, 1),
    ] {
        let (order, channels) = (format!("NCHW{block}c"), block * blocks);
        let plain = random.tensor(F32, &[2, channels, height, width]);
        let blocked = random.tensor(F32, &[2, blocks, height, width, block]);
        let bias = random.tensor(F32, &[channels, 1, 1]);
        checker.call(&LAYOUT_TRANSFORM, changing("NCHW", &order), std::slice::from_ref(&plain));
        checker.call(&LAYOUT_TRANSFORM, changing(&order, "NCHW"), std::slice::from_ref(&blocked));
        checker.call(&LAYOUT_TRANSFORM, changing(&order, "NHWC"), std::slice::from_ref(&blocked));
        let steps = [
            Step(&LAYOUT_TRANSFORM, changing(&order, "NCHW"), vec![0]),
            Step(&ADD, Attrs::new(), vec![3, 1]),
            Step(&MUL, Attrs::new(), vec![4, 2]),
        ];
        checker.chain(&steps, &[blocked, bias, plain]);
    }
    checker.finish();
}

#[test]
fn transposes() {
    let (mut random, mut checker) = (Random::new(37), Checker::default());
    for (shape, axes) in [
        (vec![37, 53], vec![1, 0]),
        (vec![3, 200, 150], vec![0, 2, 1]),
        (vec![2, 19, 7, 33], vec![0, 2, 3, 1]),
        (vec![2, 19, 7, 33], vec![0, 3, 1, 2]),
        (vec![16, 16], vec![1, 0]),
        (vec![5, 17, 3], vec![2, 1, 0]),
    ] {
        for dtype in [F32, DType::F64, DType::U8, DType::F16] {
            let attrs = Attrs::new().with("axes", axes.clone());
            checker.call(&TRANSPOSE, attrs, &[random.tensor(dtype, &shape)]);
        }
    }
    checker.finish();
}

/// Small images and long rows, in which windows lie in the padding on each side or beyond it.
#[test]
fn windows_that_read_under_masks() {
    let (mut random, mut checker) = (Random::new(44), Checker::default());
    for (size, kernel, strides, padding, dilation) in [
        ([7, 7], [3, 3], [1, 1], [1, 1, 1, 1], 1),
        ([14, 14], [3, 3], [2, 2], [1, 1, 1, 1], 1),
        ([14, 15], [3, 3], [1, 2], [0, 1, 1, 0], 1),
        ([29, 28], [3, 3], [1, 1], [1, 1, 1, 1], 1),
        ([9, 70], [3, 3], [2, 2], [2, 3, 1, 2], 1),
        ([9, 70], [2, 3], [1, 3], [1, 2, 0, 1], 1),
        ([8, 61], [1, 3], [1, 4], [0, 2, 0, 3], 1),
        ([16, 14], [3, 3], [1, 1], [2, 2, 2, 2], 2),
        ([5, 6], [3, 3], [1, 1], [4, 5, 3, 6], 1),
    ] {
        let attrs = Attrs::new().with("strides", strides).with("padding", padding);
        let x = random.tensor(F32, &[2, 5, size[0], size[1]]);
        let w = random.tensor(F32, &[5, 1, kernel[0] as usize, kernel[1] as usize]);
        if dilation == 1 && (0..4).all(|side| padding[side] < kernel[side % 2]) {
            for op in [&MAX_POOL2D, &AVG_POOL2D] {
                checker.call(op, attrs.clone().with("kernel", kernel), std::slice::from_ref(&x));
            }
        }
        let attrs = attrs.with("dilation", [dilation, dilation]).with("groups", 5);
        checker.call_on_constants(&CONV2D, attrs.clone(), &[x.clone(), w.clone()]);
        let steps = [
            Step(&CONV2D, attrs, vec![0, 1]),
            Step(&ADD, Attrs::new(), vec![3, 2]),
            Step(&CLIP, Attrs::new().with("min", 0.0).with("max", 6.0), vec![4]),
        ];
        checker.check(&steps, &[x, w, random.tensor(F32, &[5, 1, 1])], 1);
    }
    checker.finish();
}

#[test]
fn epilogues_of_convolutions() {
    let (mut random, mut checker) = (Random::new(38), Checker::default());
    for kernel in [1, 3] {
        let attrs = Attrs::new().with("padding", [kernel as i64 / 2; 4]);
        let inputs = [
            random.tensor(F32, &[1, 18, 15, 13]),
            random.tensor(F32, &[24, 18, kernel, kernel]),
            random.tensor(F32, &[24, 1, 1]),
            random.tensor(F32, &[1, 24, 15, 13]),
        ];
        let steps = [
            Step(&CONV2D, attrs, vec![0, 1]),
            Step(&ADD, Attrs::new(), vec![4, 2]),
            Step(&ADD, Attrs::new(), vec![5, 3]),
            Step(&RELU, Attrs::new(), vec![6]),
        ];
        checker.chain(&steps, &inputs);
        checker.check(&steps, &inputs, 1);
    }
    checker.finish();
}
