//! What a case computes, by kind: in f32, and with indices.

use super::program::{Program, Value};

pub fn elements(p: &mut Program) -> Value {
    let shape = [p.extent(), p.extent()];
    let (a, b) = (p.input(&shape), p.input(&shape));
    let product = p.op("mul", &[&a, &b], "", &shape);
    let shifted = p.op("tanh", &[&product], "", &shape);
    let sum = p.op("add", &[&shifted, &a], "", &shape);
    p.op("exp", &[&sum], "", &shape)
}

pub fn broadcast(p: &mut Program) -> Value {
    let shape = [p.small(1, 5), p.extent(), p.extent()];
    let (a, column, row) = (p.input(&shape), p.input(&[shape[1], 1]), p.input(&shape[2..]));
    let sum = p.op("add", &[&a, &column], "", &shape);
    let product = p.op("mul", &[&sum, &row], "", &shape);
    p.op("sigmoid", &[&product], "", &shape)
}

pub fn rows(p: &mut Program) -> Value {
    let shape = [p.extent(), p.extent() * p.small(1, 9)];
    let a = p.input(&shape);
    let square = p.op("mul", &[&a, &a], "", &shape);
    let sum = p.op("reduce_sum", &[&square], "axes = array<i64: 1>", &shape[..1]);
    p.op("sqrt", &[&sum], "", &shape[..1])
}

pub fn columns(p: &mut Program) -> Value {
    let shape = [p.extent() * p.small(1, 9), p.extent()];
    let a = p.input(&shape);
    p.op("reduce_max", &[&a], "axes = array<i64: 0>", &shape[1..])
}

pub fn whole(p: &mut Program) -> Value {
    let shape = [p.extent(), p.extent() * p.small(1, 9)];
    let a = p.input(&shape);
    let square = p.op("mul", &[&a, &a], "", &shape);
    p.op("reduce_mean", &[&square], "axes = array<i64: 0, 1>", &[])
}

pub fn softmax(p: &mut Program) -> Value {
    let shape = [p.small(1, 4), p.extent(), p.extent()];
    let axis = p.small(0, 2);
    let a = p.input(&shape);
    p.op("softmax", &[&a], &format!("axis = {axis} : i64"), &shape)
}

pub fn layer_norm(p: &mut Program) -> Value {
    let shape = [p.extent(), p.extent() * p.small(1, 5)];
    let (a, scale, shift) = (p.input(&shape), p.input(&shape[1..]), p.input(&shape[1..]));
    let doubled = p.op("add", &[&a, &a], "", &shape);
    p.op("layer_norm", &[&doubled, &scale, &shift], "axis = -1 : i64", &shape)
}

pub fn matmul(p: &mut Program) -> Value {
    let (m, n, k) = (p.extent(), p.extent(), p.extent());
    let (a, b) = (p.input(&[m, k]), p.input(&[k, n]));
    p.op("matmul", &[&a, &b], "", &[m, n])
}

pub fn batch_matmul(p: &mut Program) -> Value {
    let (b, m, n, k) = (p.small(1, 4), p.extent(), p.extent(), p.extent());
    let (x, y) = (p.input(&[b, m, k]), p.input(&[b, k, n]));
    p.op("batch_matmul", &[&x, &y], "", &[b, m, n])
}

pub fn dense_bias_gelu(p: &mut Program) -> Value {
    let (m, n, k) = (p.extent(), p.extent(), p.extent());
    let (x, w, bias) = (p.input(&[m, k]), p.input(&[n, k]), p.input(&[n]));
    let dense = p.op("dense", &[&x, &w], "", &[m, n]);
    let sum = p.op("add", &[&dense, &bias], "", &[m, n]);
    let erf = p.op("erf", &[&sum], "", &[m, n]);
    let sum_of_erf = p.op("mul", &[&sum, &erf], "", &[m, n]);
    p.op("add", &[&sum, &sum_of_erf], "", &[m, n])
}

/// The extent of a window's result.
pub fn windows(extent: u64, kernel: u64, stride: u64, dilation: u64, padding: [u64; 2]) -> u64 {
    (extent + padding[0] + padding[1] - (kernel - 1) * dilation - 1) / stride + 1
}

pub fn conv2d(p: &mut Program) -> Value {
    let groups = p.small(1, 3);
    let (n, c, o) = (p.small(1, 2), groups * p.small(1, 17), groups * p.small(1, 17));
    let (kernel, stride, dilation) = (p.small(1, 4), p.small(1, 3), p.small(1, 2));
    let padding = [p.small(0, 2), p.small(0, 2), p.small(0, 2), p.small(0, 2)];
    let (h, w) = (p.small(7, 21), p.small(7, 21));
    let (data, filter) = (p.input(&[n, c, h, w]), p.input(&[o, c / groups, kernel, kernel]));
    let along =
        |extent, axis: usize| windows(extent, kernel, stride, dilation, [padding[axis], padding[axis + 2]]);
    let attributes = format!(
        "strides = array<i64: {stride}, {stride}>, dilation = array<i64: {dilation}, {dilation}>, groups = {groups} : i64, \
         padding = array<i64: {}, {}, {}, {}>",
        padding[0], padding[1], padding[2], padding[3]
    );
    let shape = [n, o, along(h, 0), along(w, 1)];
    let convolved = p.op("conv2d", &[&data, &filter], &attributes, &shape);
    p.op("relu", &[&convolved], "", &shape)
}

pub fn depthwise(p: &mut Program) -> Value {
    let (n, c, h, w) = (p.small(1, 2), p.extent().min(40), p.small(5, 19), p.small(5, 19));
    let stride = p.small(1, 2);
    let (data, filter) = (p.input(&[n, c, h, w]), p.input(&[c, 1, 3, 3]));
    let attributes = format!(
        "groups = {c} : i64, padding = array<i64: 1, 1, 1, 1>, strides = array<i64: {stride}, {stride}>"
    );
    let along = |extent| windows(extent, 3, stride, 1, [1, 1]);
    p.op("conv2d", &[&data, &filter], &attributes, &[n, c, along(h), along(w)])
}

fn pool(p: &mut Program, name: &str) -> Value {
    let (n, c, h, w) = (p.small(1, 3), p.small(1, 9), p.small(5, 23), p.small(5, 23));
    let (kernel, stride) = (p.small(2, 4), p.small(1, 3));
    let data = p.input(&[n, c, h, w]);
    let attributes = format!(
        "kernel = array<i64: {kernel}, {kernel}>, strides = array<i64: {stride}, {stride}>, padding = array<i64: 1, 0, 1, 1>"
    );
    let shape = [n, c, windows(h, kernel, stride, 1, [1, 1]), windows(w, kernel, stride, 1, [0, 1])];
    p.op(name, &[&data], &attributes, &shape)
}

pub fn max_pool2d(p: &mut Program) -> Value {
    pool(p, "max_pool2d")
}

pub fn avg_pool2d(p: &mut Program) -> Value {
    pool(p, "avg_pool2d")
}

pub fn transpose(p: &mut Program) -> Value {
    let shape = [p.small(1, 5), p.extent(), p.extent()];
    let axes = [[2, 1, 0], [0, 2, 1], [1, 0, 2], [2, 0, 1], [1, 2, 0]][p.below(5) as usize];
    let a = p.input(&shape);
    let attributes = format!("axes = array<i64: {}, {}, {}>", axes[0], axes[1], axes[2]);
    p.op("transpose", &[&a], &attributes, &axes.map(|axis: usize| shape[axis]))
}

pub fn gather(p: &mut Program) -> Value {
    let (n, m, k) = (p.extent(), p.extent(), p.extent());
    let table = p.input(&[n, m]);
    let at = p.indices(&[k], n);
    let rows = p.op("gather", &[&table, &at], "axis = 0 : i64", &[k, m]);
    p.op("relu", &[&rows], "", &[k, m])
}

pub fn scatter(p: &mut Program) -> Value {
    let (n, m) = (p.extent(), p.extent());
    let k = p.small(1, n);
    let (data, at, updates) = (p.input(&[n, m]), p.indices(&[k, m], n), p.input(&[k, m]));
    p.op("scatter_elements", &[&data, &at, &updates], "reduction = \"add\"", &[n, m])
}

pub fn scatter_nd(p: &mut Program) -> Value {
    let (n, m) = (p.extent(), p.extent());
    let k = p.small(1, 2 * n);
    let (data, at, updates) = (p.input(&[n, m]), p.indices(&[k, 1], n), p.input(&[k, m]));
    let reduction = ["none", "add", "max"][p.below(3) as usize];
    p.op("scatter_nd", &[&data, &at, &updates], &format!("reduction = \"{reduction}\""), &[n, m])
}

pub fn gather_nd(p: &mut Program) -> Value {
    let (n, m, k) = (p.extent(), p.extent(), p.extent());
    let table = p.input(&[n, m]);
    let at = p.indices(&[k, 1], n);
    p.op("gather_nd", &[&table, &at], "", &[k, m])
}

pub fn gather_elements(p: &mut Program) -> Value {
    let (n, m, k) = (p.extent(), p.extent(), p.extent());
    let (table, at) = (p.input(&[n, m]), p.indices(&[n, k], m));
    p.op("gather_elements", &[&table, &at], "axis = 1 : i64", &[n, k])
}

/// Updates along the only axis, of which many meet in one element.
pub fn scatter_line(p: &mut Program) -> Value {
    let (n, k) = (p.extent(), p.extent());
    let (data, at, updates) = (p.input(&[n]), p.indices(&[k], n), p.input(&[k]));
    let reduction = ["none", "add", "mul", "min"][p.below(4) as usize];
    p.op("scatter_elements", &[&data, &at, &updates], &format!("reduction = \"{reduction}\""), &[n])
}

pub fn cumsum(p: &mut Program) -> Value {
    let shape = [p.small(1, 7), p.extent(), p.small(1, 40)];
    let axis = p.below(3);
    let a = p.input(&shape);
    p.op("cumsum", &[&a], &format!("axis = {axis} : i64, reverse = true"), &shape)
}

pub fn winograd(p: &mut Program) -> Value {
    let (n, c, f) = (p.small(1, 2), [3, 16, 21, 32][p.below(4) as usize], p.small(1, 33));
    let (h, w, tile) = (p.small(4, 17), p.small(4, 17), [2, 4][p.below(2) as usize]);
    let (data, filter) = (p.input(&[n, c, h, w]), p.input(&[(tile + 2) * (tile + 2), c, f]));
    let attributes = format!("tile = {tile} : i64, padding = array<i64: 1, 1, 1, 1>");
    p.op("winograd_conv2d", &[&data, &filter], &attributes, &[n, f, h, w])
}

/// So many results that a thread has several: a depthwise convolution or a pool.
pub fn large_windows(p: &mut Program) -> Value {
    let (c, h, w) = (p.small(64, 96), p.small(90, 130), p.small(90, 130));
    let data = p.input(&[1, c, h, w]);
    if p.small(0, 1) == 0 {
        let filter = p.input(&[c, 1, 3, 3]);
        let attributes =
            format!("groups = {c} : i64, padding = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>");
        let sums = p.op("conv2d", &[&data, &filter], &attributes, &[1, c, h, w]);
        return p.op("relu", &[&sums], "", &[1, c, h, w]);
    }
    let attributes =
        "kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>";
    p.op("max_pool2d", &[&data], attributes, &[1, c, h, w])
}

pub fn attention(p: &mut Program) -> Value {
    let (b, queries, keys, width) = (p.small(1, 3), p.extent(), p.extent(), p.small(3, 40));
    let columns = p.small(5, 70);
    let (q, k, v) = (p.input(&[b, queries, width]), p.input(&[b, keys, width]), p.input(&[b, keys, columns]));
    let bias = p.input(&[queries, keys]);
    p.op("attention", &[&q, &k, &v, &bias], "scale = 0.4 : f64", &[b, queries, columns])
}
