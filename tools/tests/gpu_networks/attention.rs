//! Networks of attention: heads by themselves, and a block of an Evoformer (Jumper et al., "AlphaFold", 2021, algorithm 6) without
//! gates of attention.

use crate::gpu_kernels::program::{Program, Value};

const HEADS: u64 = 2;
const SEQUENCES: u64 = 5;
const RESIDUES: u64 = 11;
/// Channels of what is known of sequences, and of pairs of residues.
const WIDTHS: [u64; 2] = [16, 24];
/// Channels of an outer product's factors.
const OUTER: u64 = 8;

/// A layer without a bias over the last axis.
fn linear(p: &mut Program, x: &Value, outputs: u64) -> Value {
    let inputs = x.shape[x.shape.len() - 1];
    let w = p.weight(&[inputs, outputs], (3.0 / inputs as f32).sqrt());
    let shape = [&x.shape[..x.shape.len() - 1], &[outputs]].concat();
    p.op("matmul", &[x, &w], "", &shape)
}

fn norm(p: &mut Program, x: &Value) -> Value {
    let width = x.shape[x.shape.len() - 1];
    let (scale, shift) = (p.weight(&[width], 1.0), p.weight(&[width], 0.2));
    p.op("layer_norm", &[x, &scale, &shift], "axis = -1 : i64", &x.shape)
}

fn transpose(p: &mut Program, x: &Value, axes: &[usize]) -> Value {
    let shape: Vec<u64> = axes.iter().map(|&a| x.shape[a]).collect();
    let text: Vec<String> = axes.iter().map(usize::to_string).collect();
    p.op("transpose", &[x], &format!("axes = array<i64: {}>", text.join(", ")), &shape)
}

fn reshape(p: &mut Program, x: &Value, shape: &[u64]) -> Value {
    let text: Vec<String> = shape.iter().map(u64::to_string).collect();
    p.op("reshape", &[x], &format!("shape = array<i64: {}>", text.join(", ")), shape)
}

fn gated(p: &mut Program, gate: &Value, x: &Value) -> Value {
    let gate = p.like("sigmoid", &[gate]);
    p.like("mul", &[&gate, x])
}

fn product(p: &mut Program, a: &Value, b: &Value) -> Value {
    let rank = a.shape.len();
    let shape = [&a.shape[..rank - 1], &b.shape[rank - 1..]].concat();
    p.op("matmul", &[a, b], "", &shape)
}

/// Attention along the second axis of `[rows, places, channels]`, with a bias by pairs of places.
fn along(p: &mut Program, x: &Value, pair: Option<&Value>) -> Value {
    let [rows, places, width] = x.shape[..] else { panic!("{:?} is not of three axes", x.shape) };
    let x = norm(p, x);
    let [q, k, v] = [0; 3].map(|_| {
        let all = linear(p, &x, width);
        let heads = reshape(p, &all, &[rows, places, HEADS, width / HEADS]);
        transpose(p, &heads, &[0, 2, 1, 3])
    });
    let keys = transpose(p, &k, &[0, 1, 3, 2]);
    let scores = product(p, &q, &keys);
    let scale = p.number("0.35", "f32");
    let mut scores = p.like("mul", &[&scores, &scale]);
    if let Some(pair) = pair {
        let bias = linear(p, pair, HEADS);
        let bias = transpose(p, &bias, &[2, 0, 1]);
        scores = p.like("add", &[&scores, &bias]);
    }
    let weights = p.op("softmax", &[&scores], "axis = 3 : i64", &scores.shape);
    let sums = product(p, &weights, &v);
    let sums = transpose(p, &sums, &[0, 2, 1, 3]);
    let sums = reshape(p, &sums, &[rows, places, width]);
    linear(p, &sums, width)
}

fn transition(p: &mut Program, x: &Value) -> Value {
    let width = x.shape[x.shape.len() - 1];
    let x = norm(p, x);
    let wide = linear(p, &x, 4 * width);
    let wide = p.like("relu", &[&wide]);
    linear(p, &wide, width)
}

/// `z[i, j] = sum_k a[i, k] b[j, k]`, or with `k` first.
fn triangle(p: &mut Program, z: &Value, outgoing: bool) -> Value {
    let width = z.shape[2];
    let z = norm(p, z);
    let [a, b] = [0; 2].map(|_| {
        let (gate, side) = (linear(p, &z, width), linear(p, &z, width));
        let side = gated(p, &gate, &side);
        transpose(p, &side, &[2, 0, 1])
    });
    let turned = transpose(p, if outgoing { &b } else { &a }, &[0, 2, 1]);
    let sums = if outgoing { product(p, &a, &turned) } else { product(p, &turned, &b) };
    let sums = transpose(p, &sums, &[1, 2, 0]);
    let sums = norm(p, &sums);
    let (gate, sums) = (linear(p, &z, width), linear(p, &sums, width));
    gated(p, &gate, &sums)
}

/// The mean over sequences of the products of all channels of two residues.
fn outer_product_mean(p: &mut Program, m: &Value) -> Value {
    let x = norm(p, m);
    let x = linear(p, &x, OUTER);
    let x = reshape(p, &x, &[SEQUENCES, RESIDUES * OUTER]);
    let turned = transpose(p, &x, &[1, 0]);
    let sums = product(p, &turned, &x);
    let mean = p.number("0.2", "f32");
    let sums = p.like("mul", &[&sums, &mean]);
    let sums = reshape(p, &sums, &[RESIDUES, OUTER, RESIDUES, OUTER]);
    let sums = transpose(p, &sums, &[0, 2, 1, 3]);
    let sums = reshape(p, &sums, &[RESIDUES, RESIDUES, OUTER * OUTER]);
    linear(p, &sums, WIDTHS[1])
}

pub fn evoformer(p: &mut Program) -> Vec<Value> {
    let (mut m, mut z) =
        (p.input(&[SEQUENCES, RESIDUES, WIDTHS[0]]), p.input(&[RESIDUES, RESIDUES, WIDTHS[1]]));
    let add = |p: &mut Program, x: &Value, more: Value| p.like("add", &[x, &more]);
    let rows = along(p, &m, Some(&z));
    m = add(p, &m, rows);
    let turned = transpose(p, &m, &[1, 0, 2]);
    let columns = along(p, &turned, None);
    let columns = transpose(p, &columns, &[1, 0, 2]);
    m = add(p, &m, columns);
    let more = transition(p, &m);
    m = add(p, &m, more);
    let more = outer_product_mean(p, &m);
    z = add(p, &z, more);
    for outgoing in [true, false] {
        let more = triangle(p, &z, outgoing);
        z = add(p, &z, more);
    }
    let start = along(p, &z, Some(&z));
    z = add(p, &z, start);
    let turned = transpose(p, &z, &[1, 0, 2]);
    let end = along(p, &turned, Some(&turned));
    let end = transpose(p, &end, &[1, 0, 2]);
    z = add(p, &z, end);
    let more = transition(p, &z);
    z = add(p, &z, more);
    vec![m, z]
}

/// Heads as they are exported: two products and a softmax.
pub fn attention(p: &mut Program) -> Vec<Value> {
    let [q, k, v] = [0; 3].map(|_| p.input(&[1, HEADS, 37, 20]));
    let keys = transpose(p, &k, &[0, 1, 3, 2]);
    let (scores, scale) = (product(p, &q, &keys), p.number("0.125", "f32"));
    let scores = p.like("mul", &[&scores, &scale]);
    let weights = p.op("softmax", &[&scores], "axis = 3 : i64", &scores.shape);
    vec![product(p, &weights, &v)]
}
