//! Sums of more than 2^16 numbers of f32: of one size and sign, where one after the other each step rounds the same way.

use super::{level, run, ty};
use fusion_dialects::module::Level;
use fusion_operators::{DType, Tensor};

/// Blocks of 1024 numbers, one after the other, and as many blocks.
const MOST: f64 = 2e-5;

fn check(text: &str, shapes: &[&[usize]], count: usize) {
    let number = 0.1f32;
    let inputs: Vec<Tensor> = shapes
        .iter()
        .enumerate()
        .map(|(i, shape)| {
            let value = if i == 0 { number } else { 1.0 };
            Tensor::from_slice(shape, &vec![value; shape.iter().product()]).unwrap()
        })
        .collect();
    let exact = f64::from(number) * count as f64;
    let found = run("cpu", level(Level::Standard), text, &inputs).to_f64s();
    let worst = found.iter().map(|v| (v - exact).abs() / exact).fold(0.0, f64::max);
    println!("{shapes:?}: {worst:.1e}");
    assert!(worst < MOST, "{shapes:?} is off by {worst:e}");
}

fn sum(shape: &[usize], axes: &[usize]) {
    let left: Vec<usize> = (0..shape.len()).filter(|a| !axes.contains(a)).map(|a| shape[a]).collect();
    let [x, y] = [shape, &left].map(|shape| ty(DType::F32, shape));
    let listed = axes.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let text = format!(
        "func.func @main(%x: {x}) -> {y} {{\n  \
         %y = relay.reduce_sum %x {{axes = array<i64: {listed}>}} : ({x}) -> {y}\n  return %y : {y}\n}}\n"
    );
    check(&text, &[shape], axes.iter().map(|&a| shape[a]).product());
}

#[test]
fn along_memory() {
    sum(&[1 << 20], &[0]);
    sum(&[2, 300_000], &[1]);
}

#[test]
fn across_memory() {
    sum(&[200_000, 16], &[0]);
    sum(&[2, 70_000, 5], &[1]);
}

#[test]
fn over_several_axes() {
    sum(&[512, 600], &[0, 1]);
    sum(&[300, 7, 50, 20], &[0, 2, 3]);
}

/// Extents that no block divides.
#[test]
fn what_blocks_leave_over() {
    sum(&[100_003], &[0]);
    sum(&[3, 40_009, 2], &[0, 1]);
}

#[test]
fn products_of_many_numbers() {
    let [x, w, y] = [[4, 300_000], [300_000, 8], [4, 8]].map(|shape| ty(DType::F32, &shape));
    let text = format!(
        "func.func @main(%x: {x}, %w: {w}) -> {y} {{\n  %y = relay.matmul %x, %w : ({x}, {w}) -> {y}\n  return %y : {y}\n}}\n"
    );
    check(&text, &[&[4, 300_000], &[300_000, 8]], 300_000);
}
