//! Matrix instructions, emulated: products of f16, bf16 and f32 of any extents are what the processor computes, and no two threads
//! race.

use crate::common::processor::{on_processor, results};
use crate::common::{GPUS, Numbers, gpus_with, succeed};
use crate::gpu_kernels::with_few_cores;
use fusion_operators::{DType, Tensor};
use fusion_runtime::npz;
use std::fs;

/// Runs a program of f32 inputs on the processor and on a GPU; fails where results are further apart than allowed, of the
/// largest one.
pub fn compare(text: &str, shapes: &[&[usize]], gpu: &str, more: &[&str], allowed: f64) {
    let inputs: Vec<(&[usize], DType)> = shapes.iter().map(|shape| (*shape, DType::F32)).collect();
    compare_of(text, &inputs, gpu, more, allowed);
}

/// The same of inputs of any type.
pub fn compare_of(text: &str, inputs: &[(&[usize], DType)], gpu: &str, more: &[&str], allowed: f64) {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    fs::write(here.join("m.mlir"), text).unwrap();
    let mut numbers = Numbers(7);
    let mut tensor = |(shape, dtype): &(&[usize], DType)| {
        let tensor = numbers.tensor(shape);
        if *dtype == DType::F32 {
            return tensor;
        }
        Tensor::from_f64s(*dtype, shape, &tensor.to_f64s()).unwrap()
    };
    let inputs: Vec<(String, Tensor)> =
        inputs.iter().enumerate().map(|(i, input)| (format!("input_{i}"), tensor(input))).collect();
    npz::write(&here.join("x.npz"), inputs.iter().map(|(name, tensor)| (name.as_str(), tensor))).unwrap();
    let wanted = on_processor(here, &[]).unwrap();
    let got = results(here, &[&["--target", gpu, "--emulate"], more].concat()).unwrap();
    for (name, wanted) in wanted.iter() {
        let got = &got[name];
        let most = wanted.iter().fold(1e-3, |most: f64, v| most.max(v.abs()));
        let off = got.iter().zip(wanted).map(|(a, b)| (a - b).abs() / most).fold(0.0, f64::max);
        // Not a number is not below.
        assert!(
            got.len() == wanted.len() && got.iter().all(|v| v.is_finite()) && off < allowed,
            "{name} on {gpu} is off by {off:e}\n{text}"
        );
    }
}

/// `y = s sigmoid(s)` with `s = x w + b` of that type, of a batch, with the weights as `matmul` has them.
fn product(batch: usize, [m, k, n]: [usize; 3], dtype: DType) -> String {
    let ty = |shape: &str, dtype: &str| format!("tensor<{batch}x{shape}x{dtype}>");
    let (x, w, y) = (format!("{m}x{k}"), format!("{k}x{n}"), format!("{m}x{n}"));
    let narrow = dtype.mlir_name();
    let cast = |name: &str, from: &str, shape: &str| {
        format!(
            "%{name} = relay.cast %{from} {{dtype = {narrow}}} : ({}) -> {}",
            ty(shape, "f32"),
            ty(shape, narrow)
        )
    };
    format!(
        "func.func @main(%x: {xt}, %w: {wt}, %b: tensor<{n}xf32>) -> {yt} {{
           {}
           {}
           %p = relay.batch_matmul %xn, %wn : ({}, {}) -> {yn}
           %wide = relay.cast %p {{dtype = f32}} : ({yn}) -> {yt}
           %s = relay.add %wide, %b : ({yt}, tensor<{n}xf32>) -> {yt}
           %h = relay.sigmoid %s : ({yt}) -> {yt}
           %g = relay.mul %s, %h : ({yt}, {yt}) -> {yt}
           return %g : {yt}
         }}",
        cast("xn", "x", &x),
        cast("wn", "w", &w),
        ty(&x, narrow),
        ty(&w, narrow),
        xt = ty(&x, "f32"),
        wt = ty(&w, "f32"),
        yt = ty(&y, "f32"),
        yn = ty(&y, narrow),
    )
}

#[test]
fn products_of_any_extents_are_those_of_the_processor() {
    // Whole tiles; prime extents; less than a tile; a batch; more tiles than loops are unrolled.
    let all = [
        (1, [128, 64, 128]),
        (1, [67, 41, 37]),
        (1, [16, 18, 24]),
        (3, [33, 96, 65]),
        (1, [16, 16, 2100]),
        // Many steps; instructions of four warps; their tails in all extents.
        (1, [256, 320, 256]),
        (2, [131, 199, 150]),
        (1, [128, 72, 520]),
    ];
    for (batch, extents) in all {
        let [m, k, n] = extents;
        let text = product(batch, extents, DType::F16);
        for gpu in GPUS.iter() {
            compare(&text, &[&[batch, m, k], &[batch, k, n], &[n]], gpu, &[], 2e-3);
        }
    }
}

#[test]
fn blocks_share_long_sums_in_the_same_order_in_every_run() {
    // Few tiles; a batch of them with tails.
    for (batch, extents) in [(1, [64, 2048, 64]), (2, [33, 1024, 40])] {
        let [m, k, n] = extents;
        let text = product(batch, extents, DType::F16);
        for gpu in GPUS.iter() {
            compare(&text, &[&[batch, m, k], &[batch, k, n], &[n]], gpu, &[], 2e-3);
        }
    }
}

#[test]
fn bf16_is_summed_up_in_f32() {
    let text = product(2, [48, 72, 40], DType::BF16);
    for gpu in GPUS.iter() {
        compare(&text, &[&[2, 48, 72], &[2, 72, 40], &[40]], gpu, &[], 8e-3);
    }
    // Long sums of few tiles, which blocks share.
    let text = product(1, [40, 2048, 64], DType::BF16);
    for gpu in GPUS.iter() {
        compare(&text, &[&[1, 40, 2048], &[1, 2048, 64], &[64]], gpu, &[], 8e-3);
    }
}

/// How many launches the kernel of a model takes that takes most.
fn launches(text: &str, gpu: &str) -> usize {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("m.mlir"), text).unwrap();
    let json = succeed(directory.path(), &["explain", "m.mlir", "--target", gpu, "--json"]);
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    let kernels = report["kernels"].as_array().unwrap().iter();
    kernels.map(|kernel| kernel["launches"].as_array().unwrap().len()).max().unwrap()
}

#[test]
fn tiles_that_fill_no_wave_are_cut_up_and_the_others_computed_whole() {
    // Five tiles, of which those of sm_90a have twice the rows: divided along rows, columns, and products beside each other; tiles that end
    // beyond the tensor.
    let all = [
        ("nvidia:sm_80", 1, [640, 512, 128]),
        ("nvidia:sm_90a", 1, [1280, 512, 128]),
        ("amd:gfx90a", 1, [128, 512, 640]),
        ("amd:gfx942", 5, [64, 256, 64]),
        ("amd:gfx1100", 1, [600, 512, 120]),
        ("nvidia:sm_80", 1, [120, 512, 599]),
    ];
    for (gpu, batch, extents) in all {
        let kept = tempfile::tempdir().unwrap();
        let few = with_few_cores(gpu, kept.path());
        let [m, k, n] = extents;
        let text = product(batch, extents, DType::F16);
        assert_eq!(launches(&text, &few), 3, "{gpu} {batch} {extents:?}");
        compare(&text, &[&[batch, m, k], &[batch, k, n], &[n]], &few, &[], 2e-3);
    }
}

#[test]
fn sums_that_are_results_are_cut_up_as_well() {
    let text = "func.func @main(%x: tensor<600x512xf32>, %w: tensor<512x128xf32>) -> tensor<600x128xf32> {
         %y = relay.matmul %x, %w : (tensor<600x512xf32>, tensor<512x128xf32>) -> tensor<600x128xf32>
         return %y : tensor<600x128xf32>
       }";
    for gpu in gpus_with(|gpu| gpu.matrix_flops_f32 > 0.0) {
        let kept = tempfile::tempdir().unwrap();
        let few = with_few_cores(gpu, kept.path());
        assert_eq!(launches(text, &few), 3, "{gpu}");
        compare(text, &[&[600, 512], &[512, 128]], &few, &[], 1e-5);
    }
}

/// Attention of operands of that type, with a bias, of results of f32.
fn attention([queries, keys, width, columns]: [usize; 4], dtype: &str) -> String {
    let ty = |shape: [usize; 2], dtype: &str| format!("tensor<2x{}x{}x{dtype}>", shape[0], shape[1]);
    let shapes = [[queries, width], [keys, width], [keys, columns], [queries, columns]];
    let [q, k, v, y] = shapes.map(|shape| ty(shape, "f32"));
    let [qn, kn, vn, yn] = shapes.map(|shape| ty(shape, dtype));
    let (b, bn) = (format!("tensor<{queries}x{keys}xf32>"), format!("tensor<{queries}x{keys}x{dtype}>"));
    format!(
        "func.func @main(%q: {q}, %k: {k}, %v: {v}, %b: {b}) -> {y} {{
           %qn = relay.cast %q {{dtype = {dtype}}} : ({q}) -> {qn}
           %kn = relay.cast %k {{dtype = {dtype}}} : ({k}) -> {kn}
           %vn = relay.cast %v {{dtype = {dtype}}} : ({v}) -> {vn}
           %bn = relay.cast %b {{dtype = {dtype}}} : ({b}) -> {bn}
           %a = relay.attention %qn, %kn, %vn, %bn {{scale = 0.25 : f64}} : ({qn}, {kn}, {vn}, {bn}) -> {yn}
           %y = relay.cast %a {{dtype = f32}} : ({yn}) -> {y}
           return %y : {y}
         }}"
    )
}

#[test]
fn attention_is_two_products() {
    // Whole tiles; tails of queries, keys and width; what is left to multiply-adds.
    let all = [
        ("f16", [64, 128, 64, 64], 2e-3),
        ("bf16", [70, 101, 36, 64], 1.5e-2),
        ("f16", [33, 50, 20, 40], 2e-3),
    ];
    for (dtype, extents, allowed) in all {
        let [queries, keys, width, columns] = extents;
        let text = attention(extents, dtype);
        let shapes: &[&[usize]] =
            &[&[2, queries, width], &[2, keys, width], &[2, keys, columns], &[queries, keys]];
        for gpu in GPUS.iter() {
            compare(&text, shapes, gpu, &[], allowed);
        }
    }
}

/// A convolution by windows of 3 x 3 of so many channels, of f16 operands.
fn convolution([channels, filters]: [usize; 2], extent: usize, stride: usize) -> String {
    let out = (extent - 1) / stride + 1;
    let ty = |shape: [usize; 4], dtype: &str| {
        format!("tensor<{}x{}x{}x{}x{dtype}>", shape[0], shape[1], shape[2], shape[3])
    };
    let shapes = [[1, channels, extent, extent], [filters, channels, 3, 3], [1, filters, out, out]];
    let [x, w, y] = shapes.map(|shape| ty(shape, "f32"));
    let [xn, wn, yn] = shapes.map(|shape| ty(shape, "f16"));
    format!(
        "func.func @main(%x: {x}, %w: {w}) -> {y} {{
           %a = relay.cast %x {{dtype = f16}} : ({x}) -> {xn}
           %b = relay.cast %w {{dtype = f16}} : ({w}) -> {wn}
           %c = relay.conv2d %a, %b {{padding = array<i64: 1, 1, 1, 1>, strides = array<i64: {stride}, {stride}>}}
               : ({xn}, {wn}) -> {yn}
           %y = relay.cast %c {{dtype = f32}} : ({yn}) -> {y}
           return %y : {y}
         }}"
    )
}

#[test]
fn convolutions_are_products_of_what_windows_cover() {
    // Whole; every other place; few places of many channels, whose sums blocks share.
    for (channels, extent, stride) in [([24, 33], 20, 1), ([24, 33], 37, 2), ([256, 40], 9, 1)] {
        let text = convolution(channels, extent, stride);
        for gpu in GPUS.iter() {
            let shapes: &[&[usize]] = &[&[1, channels[0], extent, extent], &[channels[1], channels[0], 3, 3]];
            compare(&text, shapes, gpu, &[], 2e-3);
        }
    }
}

#[test]
fn filters_that_fill_no_wave_are_cut_up() {
    let text = convolution([64, 600], 11, 1);
    for gpu in ["nvidia:sm_80", "amd:gfx942", "amd:gfx1100"] {
        let kept = tempfile::tempdir().unwrap();
        let few = with_few_cores(gpu, kept.path());
        compare(&text, &[&[1, 64, 11, 11], &[600, 64, 3, 3]], &few, &[], 2e-3);
    }
}

#[test]
fn f32_is_rounded_only_where_that_is_asked_for() {
    let text = "func.func @main(%x: tensor<50x41xf32>, %w: tensor<41x35xf32>) -> tensor<50x35xf32> {
         %y = relay.matmul %x, %w : (tensor<50x41xf32>, tensor<41x35xf32>) -> tensor<50x35xf32>
         return %y : tensor<50x35xf32>
       }";
    let shapes: &[&[usize]] = &[&[50, 41], &[41, 35]];
    for gpu in GPUS.iter() {
        compare(text, shapes, gpu, &[], 1e-5);
    }
    for gpu in gpus_with(|gpu| gpu.matrix_flops_tf32 > 0.0) {
        compare(text, shapes, gpu, &["--fp-math=fast"], 2e-3);
    }
    // Four warps, boxes of 32 columns, tails; weights as `dense` has them, and those that are turned around.
    for (dense, [m, k, n]) in [(true, [140, 260, 133]), (false, [128, 164, 136])] {
        let w = if dense { [n, k] } else { [k, n] };
        let large = format!(
            "func.func @main(%x: tensor<{m}x{k}xf32>, %w: tensor<{}x{}xf32>) -> tensor<{m}x{n}xf32> {{
               %y = relay.{} %x, %w : (tensor<{m}x{k}xf32>, tensor<{}x{}xf32>) -> tensor<{m}x{n}xf32>
               return %y : tensor<{m}x{n}xf32>
             }}",
            w[0],
            w[1],
            if dense { "dense" } else { "matmul" },
            w[0],
            w[1]
        );
        compare(&large, &[&[m, k], &w], "nvidia:sm_90a", &["--fp-math=fast"], 2e-3);
    }
    // Few tiles, whose sums blocks share.
    let long = "func.func @main(%x: tensor<50x2048xf32>, %w: tensor<2048x40xf32>) -> tensor<50x40xf32> {
         %y = relay.matmul %x, %w : (tensor<50x2048xf32>, tensor<2048x40xf32>) -> tensor<50x40xf32>
         return %y : tensor<50x40xf32>
       }";
    for gpu in gpus_with(|gpu| gpu.matrix_flops_tf32 > 0.0) {
        compare(long, &[&[50, 2048], &[2048, 40]], gpu, &["--fp-math=fast"], 2e-3);
    }
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("m.mlir"), text).unwrap();
    let matrices = |more: &[&str]| {
        let args = ["explain", "m.mlir", "--target", "nvidia:sm_80", "--json"];
        let json = succeed(directory.path(), &[&args, more].concat());
        json.contains("mma.sync")
    };
    assert!(matrices(&["--fp-math=fast"]) && !matrices(&[]));
}

#[test]
fn transposed_convolutions_multiply_by_instructions() {
    let text = |ty: &str| {
        let cast = |name: &str, from: &str, shape: &str| {
            format!(
                "%{name} = relay.cast %{from} {{dtype = {ty}}} : (tensor<{shape}xf32>) -> tensor<{shape}x{ty}>"
            )
        };
        format!(
            "func.func @main(%x: tensor<1x32x4x4xf32>, %w: tensor<32x32x4x4xf32>) -> tensor<1x32x8x8xf32> {{
               {}
               {}
               %y = relay.conv2d_transpose %xn, %wn {{strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>}}
                   : (tensor<1x32x4x4x{ty}>, tensor<32x32x4x4x{ty}>) -> tensor<1x32x8x8x{ty}>
               %z = relay.cast %y {{dtype = f32}} : (tensor<1x32x8x8x{ty}>) -> tensor<1x32x8x8xf32>
               return %z : tensor<1x32x8x8xf32>
             }}",
            cast("xn", "x", "1x32x4x4"),
            cast("wn", "w", "32x32x4x4"),
        )
    };
    for gpu in GPUS.iter() {
        for (ty, allowed) in [("f32", 1e-5), ("f16", 4e-3)] {
            compare(&text(ty), &[&[1, 32, 4, 4], &[32, 32, 4, 4]], gpu, &[], allowed);
        }
    }
}
