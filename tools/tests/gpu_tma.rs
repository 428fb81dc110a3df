//! Products of f16 and bf16, emulated, whose operands come by TMA, or in copies of the threads
//! where they lie otherwise.

use crate::common::{GPUS, Numbers, gpus_with};
use crate::gpu_matrix::{compare, compare_of};
use fusion_operators::DType;
use fusion_operators::random::seed;

/// `y = x w + b`, or `y + y erf(y)` of it, of a batch of operands of that type; the weights as `matmul` has them, or as `dense` does.
/// Files of inputs have no bf16: its operands are what another kernel gives, rows whose sum is 1.
fn narrow_product(narrow: &str, batch: usize, [m, k, n]: [usize; 3], (dense, gelu): (bool, bool)) -> String {
    let lead = if dense { String::new() } else { format!("{batch}x") };
    let ty = |shape: String, dtype: &str| format!("tensor<{lead}{shape}x{dtype}>");
    let (x_shape, w_shape) =
        (format!("{m}x{k}"), if dense { format!("{n}x{k}") } else { format!("{k}x{n}") });
    let given = if narrow == "bf16" { "f32" } else { narrow };
    let operand = |name: &str, shape: &str| {
        let (from, to) = (ty(shape.to_owned(), given), ty(shape.to_owned(), narrow));
        let rows = match narrow {
            "bf16" => format!(
                "%{name}s = relay.softmax %{name} : ({from}) -> {from}
           %{name}n = relay.cast %{name}s {{dtype = {narrow}}} : ({from}) -> {to}"
            ),
            _ => String::new(),
        };
        (from, to, rows)
    };
    let (x_given, x, x_rows) = operand("x", &x_shape);
    let (w_given, w, w_rows) = operand("w", &w_shape);
    let end = if narrow == "bf16" { "n" } else { "" };
    let (y, yn) = (ty(format!("{m}x{n}"), "f32"), ty(format!("{m}x{n}"), narrow));
    let last = if gelu {
        format!(
            "%e = relay.erf %s : ({y}) -> {y}
           %t = relay.mul %s, %e : ({y}, {y}) -> {y}
           %g = relay.add %s, %t : ({y}, {y}) -> {y}
           return %g : {y}"
        )
    } else {
        format!("return %s : {y}")
    };
    let product = if dense { "dense" } else { "batch_matmul" };
    format!(
        "func.func @main(%x: {x_given}, %w: {w_given}, %b: tensor<{n}xf32>) -> {y} {{
           {x_rows}
           {w_rows}
           %p = relay.{product} %x{end}, %w{end} : ({x}, {w}) -> {yn}
           %wide = relay.cast %p {{dtype = f32}} : ({yn}) -> {y}
           %s = relay.add %wide, %b : ({y}, tensor<{n}xf32>) -> {y}
           {last}
         }}"
    )
}

/// Compares such a product on GPUs that copy its operands in boxes.
fn compare_narrow(batch: usize, extents: [usize; 3], dense: bool, gelu: bool) {
    compare_narrow_of("f16", batch, extents, (dense, gelu), 2e-3);
}

/// The same of elements of that type.
fn compare_narrow_of(
    narrow: &str,
    batch: usize,
    extents: [usize; 3],
    (dense, gelu): (bool, bool),
    allowed: f64,
) {
    let [m, k, n] = extents;
    let dtype = if narrow == "bf16" { DType::F32 } else { narrow.parse().unwrap() };
    let (x, w) = match dense {
        true => (vec![m, k], vec![n, k]),
        false => (vec![batch, m, k], vec![batch, k, n]),
    };
    let inputs: &[(&[usize], DType)] = &[(&x, dtype), (&w, dtype), (&[n], DType::F32)];
    let text = narrow_product(narrow, batch, extents, (dense, gelu));
    for gpu in gpus_with(|gpu| gpu.bulk_bytes > 0) {
        compare_of(&text, inputs, gpu, &[], allowed);
    }
}

#[test]
fn tma_fills_the_last_boxes_up_with_zeros() {
    // Whole tiles; tails in all extents; lines that begin at no multiple of 16 bytes; fewer rows than a tile; a batch; either order of
    // weights, with and without a function behind.
    let all = [
        (1, [256, 256, 256], false, false),
        (2, [131, 264, 136], false, true),
        (1, [129, 333, 200], false, false),
        (3, [128, 1000, 72], false, false),
        (1, [140, 520, 333], true, true),
        (1, [257, 264, 137], true, false),
        (1, [512, 320, 128], true, false),
    ];
    for (batch, extents, dense, gelu) in all {
        compare_narrow(batch, extents, dense, gelu);
    }
}

#[test]
fn random_products_of_operands_copied_by_tma_are_those_of_the_processor() {
    let mut numbers = Numbers(seed(11));
    let mut extent = |least: u64, step: u64, count: u64| (least + step * (numbers.next() % count)) as usize;
    for case in 0..6 {
        let extents = [extent(128, 1, 150), extent(256, 8, 60), extent(64, if case < 3 { 8 } else { 1 }, 30)];
        let (batch, dense) = (extent(1, 1, 3), case >= 3);
        compare_narrow(batch, extents, dense, case % 2 == 1);
    }
}

#[test]
fn bf16_is_copied_by_tma_as_well() {
    // Whole tiles; tails of all extents; weights as `dense` has them.
    for (batch, extents, dense) in
        [(1, [256, 256, 256], false), (2, [131, 264, 136], false), (1, [140, 520, 333], true)]
    {
        compare_narrow_of("bf16", batch, extents, (dense, false), 8e-3);
    }
}

#[test]
fn weights_that_lie_the_other_way_are_read_as_they_lie() {
    for (dtype, [m, k, n], allowed) in [("f16", [61, 50, 35], 2e-3), ("bf16", [140, 136, 150], 8e-3)] {
        let text = format!(
            "func.func @main(%x: tensor<{m}x{k}xf32>, %w: tensor<{n}x{k}xf32>) -> tensor<{m}x{n}xf32> {{
               %a = relay.cast %x {{dtype = {dtype}}} : (tensor<{m}x{k}xf32>) -> tensor<{m}x{k}x{dtype}>
               %b = relay.cast %w {{dtype = {dtype}}} : (tensor<{n}x{k}xf32>) -> tensor<{n}x{k}x{dtype}>
               %p = relay.dense %a, %b : (tensor<{m}x{k}x{dtype}>, tensor<{n}x{k}x{dtype}>) -> tensor<{m}x{n}x{dtype}>
               %y = relay.cast %p {{dtype = f32}} : (tensor<{m}x{n}x{dtype}>) -> tensor<{m}x{n}xf32>
               return %y : tensor<{m}x{n}xf32>
             }}"
        );
        for gpu in GPUS.iter() {
            compare(&text, &[&[m, k], &[n, k]], gpu, &[], allowed);
        }
    }
}
