//! Kernels that read one tensor at several places: each read has a copy of its own, or is as any other.

use super::program::{Program, Value};
use super::{Kind, check_on};
use crate::common::{GPUS, Numbers};

/// Differences that are allowed where operands are f16.
const NARROW: f64 = 2e-3;

fn turned(p: &mut Program, x: &Value) -> Value {
    let shape = [x.shape[1], x.shape[0]];
    p.op("transpose", &[x], "axes = array<i64: 1, 0>", &shape)
}

fn narrow(p: &mut Program, shape: &[u64]) -> Value {
    p.most_off = NARROW;
    p.narrow_input(shape)
}

fn attention(p: &mut Program, x: &Value) -> Value {
    let shape = x.shape.clone();
    p.op("attention", &[x, x, x], "scale = 0.2 : f64", &shape)
}

const KERNELS: &[Kind] = &[
    ("dense(x, x)", |p| {
        let x = p.input(&[64, 48]);
        p.op("dense", &[&x, &x], "", &[64, 64])
    }),
    ("dense(x, x) of f16", |p| {
        let x = narrow(p, &[64, 48]);
        p.op("dense", &[&x, &x], "", &[64, 64])
    }),
    ("dense(x, x) of f16, by TMA", |p| {
        let x = narrow(p, &[256, 192]);
        p.op("dense", &[&x, &x], "", &[256, 256])
    }),
    ("dense(x, x) of a long sum", |p| {
        let x = narrow(p, &[64, 2048]);
        p.op("dense", &[&x, &x], "", &[64, 64])
    }),
    ("matmul(x, x)", |p| {
        let x = p.input(&[80, 80]);
        p.op("matmul", &[&x, &x], "", &[80, 80])
    }),
    ("matmul(x, x) of f16", |p| {
        let x = narrow(p, &[128, 128]);
        p.op("matmul", &[&x, &x], "", &[128, 128])
    }),
    ("batch_matmul(x, x') of f16", |p| {
        let x = narrow(p, &[3, 64, 32]);
        p.op("batch_matmul", &[&x, &x], "transpose_b = true", &[3, 64, 64])
    }),
    ("batch_matmul(x, x')", |p| {
        let x = p.input(&[3, 70, 40]);
        p.op("batch_matmul", &[&x, &x], "transpose_b = true", &[3, 70, 70])
    }),
    ("matmul(x', x)", |p| {
        let x = p.input(&[100, 64]);
        let first = turned(p, &x);
        p.op("matmul", &[&first, &x], "", &[64, 64])
    }),
    ("matmul(x', x) of f16", |p| {
        let x = narrow(p, &[128, 64]);
        let first = turned(p, &x);
        let product = p.op("matmul", &[&first, &x], "", &[64, 64]);
        p.like("relu", &[&product])
    }),
    ("dense(|x|, |x|)", |p| {
        let x = p.input(&[64, 48]);
        let size = p.like("abs", &[&x]);
        p.op("dense", &[&size, &size], "", &[64, 64])
    }),
    ("dense(|x|, |x|) of f16", |p| {
        let x = narrow(p, &[64, 64]);
        let size = p.like("abs", &[&x]);
        p.op("dense", &[&size, &size], "", &[64, 64])
    }),
    ("attention(x, x, x)", |p| {
        let x = p.input(&[2, 64, 32]);
        attention(p, &x)
    }),
    ("attention(x, x, x) of f16", |p| {
        let x = narrow(p, &[2, 128, 64]);
        attention(p, &x)
    }),
    ("x + x'", |p| {
        let x = p.input(&[96, 96]);
        let other = turned(p, &x);
        p.like("add", &[&x, &other])
    }),
    ("|x| + |x|'", |p| {
        let x = p.input(&[96, 96]);
        let size = p.like("abs", &[&x]);
        let other = turned(p, &size);
        p.like("sub", &[&other, &size])
    }),
    ("conv2d(x, x)", |p| {
        let x = p.input(&[16, 16, 3, 3]);
        p.op("conv2d", &[&x, &x], "padding = array<i64: 1, 1, 1, 1>", &[16, 16, 3, 3])
    }),
    ("conv2d(x, x) of f16", |p| {
        let x = narrow(p, &[32, 32, 3, 3]);
        p.op("conv2d", &[&x, &x], "padding = array<i64: 1, 1, 1, 1>", &[32, 32, 3, 3])
    }),
    ("softmax(x) x", |p| {
        let x = p.input(&[8, 700]);
        let weights = p.op("softmax", &[&x], "axis = -1 : i64", &[8, 700]);
        p.like("mul", &[&weights, &x])
    }),
    ("vector by its matrix", |p| {
        let x = p.input(&[96, 96]);
        let row = p.op(
            "slice",
            &[&x],
            "begin = array<i64: 0>, end = array<i64: 1>, axes = array<i64: 0>",
            &[1, 96],
        );
        p.op("matmul", &[&row, &x], "", &[1, 96])
    }),
];

#[test]
fn kernels_that_read_a_tensor_twice_compute_what_the_processor_does() {
    let mut wrong = Vec::new();
    for (number, (name, build)) in KERNELS.iter().enumerate() {
        for gpu in GPUS.iter().copied() {
            let numbers = Numbers(number as u64 + 1);
            wrong.extend(check_on(gpu, numbers, *build).err().map(|why| format!("{name}: {why}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
