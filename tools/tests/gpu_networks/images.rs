//! Networks of convolutions.

use crate::gpu_kernels::program::{Program, Value};

/// Numbers whose products with so many others keep their size.
fn weight(p: &mut Program, shape: &[u64]) -> Value {
    let sums: u64 = shape[1..].iter().product();
    p.weight(shape, (3.0 / sums as f32).sqrt() * 1.4)
}

fn bias(p: &mut Program, x: &Value) -> Value {
    let bias = p.weight(&[x.shape[1], 1, 1], 0.1);
    p.like("add", &[x, &bias])
}

/// A convolution with a bias, which normalization is part of; padded so that windows of a stride of 1 keep the extent.
fn conv(p: &mut Program, x: &Value, filters: u64, kernel: u64, stride: u64, groups: u64) -> Value {
    padded(p, x, [filters, kernel, stride, groups], kernel / 2)
}

fn padded(p: &mut Program, x: &Value, [filters, kernel, stride, groups]: [u64; 4], pad: u64) -> Value {
    let w = weight(p, &[filters, x.shape[1] / groups, kernel, kernel]);
    let along = |extent: u64| (extent + 2 * pad - kernel) / stride + 1;
    let attributes = format!(
        "strides = array<i64: {stride}, {stride}>, padding = array<i64: {pad}, {pad}, {pad}, {pad}>, groups = {groups} : i64"
    );
    let shape = [x.shape[0], filters, along(x.shape[2]), along(x.shape[3])];
    let sums = p.op("conv2d", &[x, &w], &attributes, &shape);
    bias(p, &sums)
}

fn relu(p: &mut Program, x: &Value) -> Value {
    p.like("relu", &[x])
}

fn relu6(p: &mut Program, x: &Value) -> Value {
    p.op("clip", &[x], "min = 0.0 : f64, max = 6.0 : f64", &x.shape)
}

fn dense(p: &mut Program, x: &Value, n: u64) -> Value {
    let (w, b) = (weight(p, &[n, x.shape[1]]), p.weight(&[n], 0.1));
    let sums = p.op("dense", &[x, &w], "", &[x.shape[0], n]);
    p.like("add", &[&sums, &b])
}

fn max_pool(p: &mut Program, x: &Value, kernel: u64, pad: u64) -> Value {
    let along = |extent: u64| (extent + 2 * pad - kernel) / 2 + 1;
    let attributes = format!(
        "kernel = array<i64: {kernel}, {kernel}>, strides = array<i64: 2, 2>, padding = array<i64: {pad}, {pad}, {pad}, {pad}>"
    );
    let shape = [x.shape[0], x.shape[1], along(x.shape[2]), along(x.shape[3])];
    p.op("max_pool2d", &[x], &attributes, &shape)
}

fn mean(p: &mut Program, x: &Value) -> Value {
    p.op("reduce_mean", &[x], "axes = array<i64: 2, 3>", &x.shape[..2])
}

fn flat(p: &mut Program, x: &Value) -> Value {
    let count: u64 = x.shape.iter().product();
    p.op("reshape", &[x], &format!("shape = array<i64: 1, {count}>"), &[1, count])
}

pub fn resnet18(p: &mut Program) -> Vec<Value> {
    let x = p.input(&[1, 3, 50, 50]);
    let first = conv(p, &x, 8, 7, 2, 1);
    let first = relu(p, &first);
    let mut x = max_pool(p, &first, 3, 1);
    for (filters, stride) in [(8, 1), (8, 1), (16, 2), (16, 1), (32, 2), (32, 1), (64, 2), (64, 1)] {
        let body = conv(p, &x, filters, 3, stride, 1);
        let body = relu(p, &body);
        let body = conv(p, &body, filters, 3, 1, 1);
        let skip = if stride == 1 && x.shape[1] == filters { x } else { conv(p, &x, filters, 1, stride, 1) };
        let sum = p.like("add", &[&body, &skip]);
        x = relu(p, &sum);
    }
    let features = mean(p, &x);
    vec![dense(p, &features, 50)]
}

pub fn vgg16(p: &mut Program) -> Vec<Value> {
    let mut x = p.input(&[1, 3, 32, 32]);
    for (filters, layers) in [(4, 2), (8, 2), (16, 3), (32, 3), (32, 3)] {
        for _ in 0..layers {
            let sums = conv(p, &x, filters, 3, 1, 1);
            x = relu(p, &sums);
        }
        x = max_pool(p, &x, 2, 0);
    }
    let x = flat(p, &x);
    let x = dense(p, &x, 64);
    let x = relu(p, &x);
    let x = dense(p, &x, 64);
    let x = relu(p, &x);
    vec![dense(p, &x, 50)]
}

pub fn mobilenet_v2(p: &mut Program) -> Vec<Value> {
    let x = p.input(&[1, 3, 48, 48]);
    let x = conv(p, &x, 8, 3, 2, 1);
    let mut x = relu6(p, &x);
    for (wider, filters, layers, stride) in
        [(1, 4, 1, 1), (6, 6, 2, 2), (6, 8, 3, 2), (6, 16, 4, 2), (6, 24, 3, 1), (6, 40, 3, 2), (6, 80, 1, 1)]
    {
        for layer in 0..layers {
            let stride = if layer == 0 { stride } else { 1 };
            let inner = x.shape[1] * wider;
            let mut body = x.clone();
            if wider > 1 {
                let sums = conv(p, &body, inner, 1, 1, 1);
                body = relu6(p, &sums);
            }
            let sums = conv(p, &body, inner, 3, stride, inner);
            let body = relu6(p, &sums);
            let sums = conv(p, &body, filters, 1, 1, 1);
            let same = stride == 1 && x.shape[1] == filters;
            x = if same { p.like("add", &[&sums, &x]) } else { sums };
        }
    }
    let x = conv(p, &x, 128, 1, 1, 1);
    let x = relu6(p, &x);
    let x = mean(p, &x);
    vec![dense(p, &x, 50)]
}

pub fn dqn(p: &mut Program) -> Vec<Value> {
    let mut x = p.input(&[1, 4, 52, 52]);
    for [filters, kernel, stride] in [[8, 8, 4], [16, 4, 2], [16, 3, 1]] {
        let sums = padded(p, &x, [filters, kernel, stride, 1], 0);
        x = relu(p, &sums);
    }
    let x = flat(p, &x);
    let x = dense(p, &x, 64);
    let x = relu(p, &x);
    vec![dense(p, &x, 18)]
}

pub fn dcgan(p: &mut Program) -> Vec<Value> {
    let mut x = p.input(&[1, 25, 1, 1]);
    for (layer, filters) in [32, 16, 8, 8, 3].into_iter().enumerate() {
        let (stride, pad) = if layer == 0 { (1, 0) } else { (2, 1) };
        let w = p.weight(&[x.shape[1], filters, 4, 4], (3.0 / (4 * x.shape[1]) as f32).sqrt());
        let along = |extent: u64| (extent - 1) * stride + 4 - 2 * pad;
        let attributes = format!(
            "strides = array<i64: {stride}, {stride}>, padding = array<i64: {pad}, {pad}, {pad}, {pad}>"
        );
        let shape = [1, filters, along(x.shape[2]), along(x.shape[3])];
        let sums = p.op("conv2d_transpose", &[&x, &w], &attributes, &shape);
        x = if layer == 4 {
            sums
        } else {
            let moved = bias(p, &sums);
            relu(p, &moved)
        };
    }
    vec![p.like("tanh", &[&x])]
}
