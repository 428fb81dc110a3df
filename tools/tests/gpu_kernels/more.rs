//! What a case computes, by kind: chains, products of narrow operands and of long sums, attention under a mask, loops.

use super::kinds::windows;
use super::program::{Program, Value};
use crate::common::facts;

/// Differences that are allowed where operands are f16, or rounded to tf32.
const NARROW: f64 = 2e-3;
/// The same where results are rounded to bf16, whose neighbours are twice as far apart.
const ROUNDED_TO_BF16: f64 = 8e-3;

/// Elementwise operators behind each other, some with a row that is broadcast.
pub fn chain(p: &mut Program) -> Value {
    let shape = [p.extent(), p.extent()];
    let (mut last, row) = (p.input(&shape), p.input(&shape[1..]));
    let first = last.clone();
    for _ in 0..p.small(3, 12) {
        last = match p.below(9) {
            0 => p.like("tanh", &[&last]),
            1 => p.like("sigmoid", &[&last]),
            2 => p.like("erf", &[&last]),
            3 => p.like("sin", &[&last]),
            4 => p.like("abs", &[&last]),
            5 => p.like("add", &[&last, &row]),
            6 => p.like("maximum", &[&last, &first]),
            7 => p.like("sub", &[&first, &last]),
            _ => p.like("mul", &[&last, &first]),
        };
    }
    last
}

/// Three reductions along one axis, each of which needs the one before.
pub fn normalized(p: &mut Program) -> Value {
    let shape = [p.small(1, 5), p.extent(), p.extent()];
    let axis = p.small(0, 2) as usize;
    let mut one = shape;
    one[axis] = 1;
    let a = p.input(&shape);
    let along = format!("axes = array<i64: {axis}>, keepdims = true");
    let mean = p.op("reduce_mean", &[&a], &along, &one);
    let centred = p.like("sub", &[&a, &mean]);
    let square = p.like("mul", &[&centred, &centred]);
    let variance = p.op("reduce_mean", &[&square], &along, &one);
    let least = p.number("1.0e-3", "f32");
    let above = p.like("add", &[&variance, &least]);
    let deviation = p.like("sqrt", &[&above]);
    let scaled = p.like("div", &[&centred, &deviation]);
    let most = p.op("reduce_max", &[&scaled], &along, &one);
    p.like("sub", &[&scaled, &most])
}

/// Reads a part of a tensor, turned around, and puts it beside another one.
pub fn pieces(p: &mut Program) -> Value {
    let (rows, columns) = (p.extent() + 2, p.extent());
    let more = p.small(1, 5);
    let (a, b) = (p.input(&[columns, rows]), p.input(&[more, columns]));
    let turned = p.op("transpose", &[&a], "axes = array<i64: 1, 0>", &[rows, columns]);
    let begin = p.small(0, 1);
    let taken = rows - 1 - begin;
    let attributes =
        format!("begin = array<i64: {begin}>, end = array<i64: {}>, axes = array<i64: 0>", rows - 1);
    let part = p.op("slice", &[&turned], &attributes, &[taken, columns]);
    p.op("concat", &[&part, &b], "axis = 0 : i64", &[taken + b.shape[0], columns])
}

/// A product of what is computed of its operands.
pub fn prologue(p: &mut Program) -> Value {
    let (m, n, k) = (p.extent(), p.extent(), p.extent());
    let (x, scale, w) = (p.input(&[m, k]), p.input(&[k]), p.input(&[n, k]));
    let scaled = p.like("mul", &[&x, &scale]);
    let cut = p.like("relu", &[&scaled]);
    let sums = p.op("dense", &[&cut, &w], "", &[m, n]);
    p.like("tanh", &[&sums])
}

/// An operand of a product: given as f16, or made of f32 by what comes before the product.
fn operand(p: &mut Program, shape: &[u64], element: &'static str) -> Value {
    if element == "f16" && p.below(2) == 0 {
        return p.narrow_input(shape);
    }
    let wide = p.input(shape);
    p.cast(&wide, element)
}

/// `s sigmoid(s)` of `s = x w + b`, of a batch or of weights as `dense` has them.
fn narrow_product(p: &mut Program, element: &'static str, [m, n, k]: [u64; 3]) -> Value {
    let product = if p.below(2) == 0 {
        let (x, w) = (operand(p, &[m, k], element), operand(p, &[n, k], element));
        p.op("dense", &[&x, &w], "", &[m, n])
    } else {
        let batch = p.small(1, 3);
        let (x, w) = (operand(p, &[batch, m, k], element), operand(p, &[batch, k, n], element));
        p.op("batch_matmul", &[&x, &w], "", &[batch, m, n])
    };
    let (wide, bias) = (p.cast(&product, "f32"), p.input(&[n]));
    let sum = p.like("add", &[&wide, &bias]);
    let gate = p.like("sigmoid", &[&sum]);
    p.most_off = if element == "bf16" { ROUNDED_TO_BF16 } else { NARROW };
    p.like("mul", &[&sum, &gate])
}

pub fn product_f16(p: &mut Program) -> Value {
    let extents = [p.extent(), p.extent(), p.extent()];
    narrow_product(p, "f16", extents)
}

pub fn product_bf16(p: &mut Program) -> Value {
    let extents = [p.extent(), p.extent(), p.extent()];
    narrow_product(p, "bf16", extents)
}

/// Of f16, with tiles of the largest size, some of which end beyond the tensor.
pub fn large_product(p: &mut Program) -> Value {
    let extents = [p.small(120, 270), p.small(120, 270), p.small(60, 330)];
    narrow_product(p, "f16", extents)
}

/// Of f32, which NVIDIA's matrix instructions round.
pub fn product_tf32(p: &mut Program) -> Value {
    if p.gpu.starts_with("nvidia") {
        p.options.push("--fp-math=fast");
        p.most_off = NARROW;
    }
    let (m, n, k) = (p.small(1, 150), p.small(1, 150), p.small(1, 270));
    let (x, w) = (p.input(&[m, k]), p.input(&[n, k]));
    p.op("dense", &[&x, &w], "", &[m, n])
}

/// A sum that is so long that several blocks share it.
pub fn split_k(p: &mut Program) -> Value {
    let (m, n) = (p.small(1, 65), p.small(1, 65));
    let k = p.numbers.among(&[1024, 1031, 1536, 2048]);
    if p.below(2) == 0 {
        return narrow_product(p, "f16", [m, n, k]);
    }
    let (x, w) = (p.input(&[m, k]), p.input(&[k, n]));
    let sums = p.op("matmul", &[&x, &w], "", &[m, n]);
    p.like("relu", &[&sums])
}

/// Tiles that fill no whole number of waves, of which some are cut up.
pub fn waves(p: &mut Program) -> Value {
    p.few_cores = true;
    // Tiles of instructions that read shared memory have twice the rows.
    let long = if facts(p.gpu).bulk_bytes > 0 { p.small(1100, 1280) } else { p.small(560, 640) };
    let (short, k) = (p.small(100, 128), p.numbers.among(&[512, 523]));
    let extents = if p.below(2) == 0 { [long, short, k] } else { [short, long, k] };
    narrow_product(p, "f16", extents)
}

/// A convolution whose sums are those of matrix instructions.
pub fn conv2d_f16(p: &mut Program) -> Value {
    let (c, f, kernel) = (p.small(3, 40), p.small(5, 70), [1, 3, 5][p.below(3) as usize]);
    let (h, w, stride) = (p.small(6, 24), p.small(6, 24), p.small(1, 2));
    let (x, filter) = (operand(p, &[1, c, h, w], "f16"), operand(p, &[f, c, kernel, kernel], "f16"));
    let pad = kernel / 2;
    let along = |extent| windows(extent, kernel, stride, 1, [pad, pad]);
    let attributes =
        format!("strides = array<i64: {stride}, {stride}>, padding = array<i64: {pad}, {pad}, {pad}, {pad}>");
    let sums = p.op("conv2d", &[&x, &filter], &attributes, &[1, f, along(h), along(w)]);
    p.most_off = NARROW;
    p.cast(&sums, "f32")
}

/// Some keys are not for some queries: their scores are far below the others.
fn masked(p: &mut Program, queries: u64, keys: u64, low: &str) -> Value {
    let (bias, chance) = (p.input(&[queries, keys]), p.input(&[queries, keys]));
    let (zero, low) = (p.number("0.3", "f32"), p.number(low, "f32"));
    let out = p.op_of("greater", &[&chance, &zero], "", &[queries, keys], "i1");
    p.op_of("where", &[&out, &low, &bias], "", &[queries, keys], "f32")
}

pub fn attention_masked(p: &mut Program) -> Value {
    let (b, queries, keys, width, columns) =
        (p.small(1, 3), p.extent(), p.extent(), p.small(3, 64), p.small(5, 70));
    let (q, k, v) = (p.input(&[b, queries, width]), p.input(&[b, keys, width]), p.input(&[b, keys, columns]));
    let bias = masked(p, queries, keys, "-1.0e9");
    p.op("attention", &[&q, &k, &v, &bias], "scale = 0.25 : f64", &[b, queries, columns])
}

pub fn attention_f16(p: &mut Program) -> Value {
    let (b, queries, keys) = (p.small(1, 3), p.extent(), p.extent());
    let (width, columns) = (p.numbers.among(&[20, 32, 64, 128]), p.numbers.among(&[40, 64, 128]));
    let q = operand(p, &[b, queries, width], "f16");
    let k = operand(p, &[b, keys, width], "f16");
    let v = operand(p, &[b, keys, columns], "f16");
    let wide = masked(p, queries, keys, "-3.0e4");
    let bias = p.cast(&wide, "f16");
    let shape = [b, queries, columns];
    let attended = p.op("attention", &[&q, &k, &v, &bias], "scale = 0.25 : f64", &shape);
    p.most_off = NARROW;
    p.cast(&attended, "f32")
}

/// A loop whose state each thread keeps in registers.
pub fn state_in_registers(p: &mut Program) -> Value {
    let shape = [p.extent() * p.small(1, 40)];
    let (trips, a, b) = (p.small(1, 60), p.input(&shape), p.input(&shape));
    let (start, end) = (p.number("0", "i64"), p.number(&trips.to_string(), "i64"));
    let (one, step) = (p.number("1", "i64"), p.number("0.1", "f32"));
    let ty = a.ty();
    let result = p.value(&shape, "f32");
    p.line(format!(
        "{r}:3 = relay.while({start}, {a}, {b}) {{
         ^bb0(%i: tensor<i64>, %x: {ty}, %v: {ty}):
           %less = relay.less %i, {end} : (tensor<i64>, tensor<i64>) -> tensor<i1>
           relay.yield %less : tensor<i1>
         }} do {{
         ^bb0(%i: tensor<i64>, %x: {ty}, %v: {ty}):
           %force = relay.sin %x : ({ty}) -> {ty}
           %change = relay.mul %force, {step} : ({ty}, tensor<f32>) -> {ty}
           %slower = relay.sub %v, %change : ({ty}, {ty}) -> {ty}
           %way = relay.mul %slower, {step} : ({ty}, tensor<f32>) -> {ty}
           %there = relay.add %x, %way : ({ty}, {ty}) -> {ty}
           %next = relay.add %i, {one} : (tensor<i64>, tensor<i64>) -> tensor<i64>
           relay.yield %next, %there, %slower : tensor<i64>, {ty}, {ty}
         }} : (tensor<i64>, {ty}, {ty}) -> (tensor<i64>, {ty}, {ty})",
        r = result.name,
        start = start.name,
        end = end.name,
        one = one.name,
        step = step.name,
        a = a.name,
        b = b.name,
    ));
    let [place, speed] = [1, 2].map(|at| Value { name: format!("{}#{at}", result.name), ..result.clone() });
    p.like("add", &[&place, &speed])
}
