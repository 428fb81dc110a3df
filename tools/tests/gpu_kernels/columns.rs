//! What a case computes, by kind: reductions whose threads share columns or read several elements at once, and vectors by matrices.

use super::program::{Program, Value};

/// Long enough that threads, and on a GPU of four cores blocks as well, share it; primes and multiples of vectors among them.
fn long(p: &mut Program) -> u64 {
    p.few_cores = p.below(2) == 0;
    p.numbers.among(&[9, 64, 211, 256, 509, 1000, 1024, 1536, 2048])
}

fn wide(p: &mut Program) -> u64 {
    p.numbers.among(&[1, 3, 4, 5, 8, 12, 31, 40, 64, 68, 131, 260, 516])
}

/// A sum along the first axis, or along one between two others, with what goes on with it.
pub fn long_columns(p: &mut Program) -> Value {
    let (rows, columns, others) = (long(p), wide(p), p.small(1, 3));
    let name = ["reduce_sum", "reduce_max", "reduce_mean"][p.below(3) as usize];
    let a = match p.below(2) {
        0 => p.input(&[others, rows, columns]),
        _ => p.narrow_input(&[others, rows, columns]),
    };
    if a.element == "f16" {
        p.most_off = 4e-3;
    }
    let combined = p.op(name, &[&a], "axes = array<i64: 1>", &[others, columns]);
    match p.below(2) {
        0 => combined,
        _ => {
            // Around 0 a sum is as far off as its terms make it, and tanh tells that of 1.
            p.most_off = p.most_off.max(rows as f64 * f64::from(f32::EPSILON) / 2.0);
            p.op("tanh", &[&combined], "", &[others, columns])
        }
    }
}

/// The mean of each channel of images whose channels lie together.
pub fn channels_last(p: &mut Program) -> Value {
    let shape = [p.small(1, 3), p.small(3, 17), p.small(3, 17), wide(p)];
    p.few_cores = p.below(2) == 0;
    let a = p.input(&shape);
    p.op("reduce_mean", &[&a], "axes = array<i64: 0, 1, 2>", &shape[3..])
}

/// A vector or a few of them by a matrix of weights, with a bias.
pub fn vector_by_matrix(p: &mut Program) -> Value {
    let (rows, columns, n) = (long(p), wide(p), p.numbers.among(&[1, 1, 2, 3, 5, 15]));
    let (x, w, bias) = (p.input(&[n, rows]), p.input(&[rows, columns]), p.input(&[columns]));
    let product = p.op("matmul", &[&x, &w], "", &[n, columns]);
    let sum = p.op("add", &[&product, &bias], "", &[n, columns]);
    p.op("relu", &[&sum], "", &[n, columns])
}

/// The same of f16.
pub fn vector_by_matrix_f16(p: &mut Program) -> Value {
    let (rows, columns, n) = (long(p), wide(p), p.numbers.among(&[1, 2, 4, 7]));
    let (x, w) = (p.narrow_input(&[n, rows]), p.narrow_input(&[rows, columns]));
    p.most_off = 4e-3;
    p.op("matmul", &[&x, &w], "", &[n, columns])
}

/// A softmax along another axis than the last.
pub fn softmax_of_columns(p: &mut Program) -> Value {
    let (rows, columns, others) = (long(p), wide(p), p.small(1, 2));
    let a = p.input(&[others, rows, columns]);
    let doubled = p.op("add", &[&a, &a], "", &[others, rows, columns]);
    p.op("softmax", &[&doubled], "axis = 1 : i64", &[others, rows, columns])
}

/// A normalization of rows of f16, whose elements are read 16 bytes at a time where these are whole.
pub fn layer_norm_f16(p: &mut Program) -> Value {
    let shape = [p.extent(), p.numbers.among(&[24, 33, 40, 64, 100, 250, 256, 514, 768])];
    let (a, scale, shift) =
        (p.narrow_input(&shape), p.narrow_input(&shape[1..]), p.narrow_input(&shape[1..]));
    p.most_off = 4e-3;
    p.op("layer_norm", &[&a, &scale, &shift], "axis = -1 : i64", &shape)
}

/// A scan of lines that are cut into chunks, but for those of a prime number of elements.
pub fn long_scan(p: &mut Program) -> Value {
    let extent = p.numbers.among(&[512, 600, 1024, 1009, 1210]);
    let shape = [p.small(1, 3), extent, p.numbers.among(&[1, 1, 5, 33])];
    let attributes =
        format!("axis = 1 : i64, exclusive = {}, reverse = {}", p.below(2) == 0, p.below(2) == 0);
    let a = p.input(&shape);
    p.op("cumsum", &[&a], &attributes, &shape)
}

/// Rows that are read several elements at once, of which the last ones are for some of the threads only.
pub fn long_rows(p: &mut Program) -> Value {
    let shape = [p.small(1, 9), 4 * long(p) + p.numbers.among(&[0, 0, 1, 2])];
    let a = p.input(&shape);
    match p.below(3) {
        0 => p.op("softmax", &[&a], "axis = 1 : i64", &shape),
        1 => p.op("reduce_max", &[&a], "axes = array<i64: 1>", &shape[..1]),
        _ => p.op("log_softmax", &[&a], "axis = 1 : i64", &shape),
    }
}

/// Whether any, or all, of the elements along an axis are above a number, and the place of the greatest.
pub fn truths(p: &mut Program) -> Value {
    let shape = [p.extent(), long(p)];
    let axis = p.below(2) as usize;
    let kept = [shape[1 - axis]];
    let (a, bound) = (p.input(&shape), p.number("2.0", "f32"));
    if p.below(3) == 0 {
        let name = ["argmax", "argmin"][p.below(2) as usize];
        let places = p.op_of(name, &[&a], &format!("axis = {axis} : i64"), &kept, "i64");
        return p.cast(&places, "f32");
    }
    let above = p.op_of("greater", &[&a, &bound], "", &shape, "i1");
    let name = ["reduce_any", "reduce_all"][p.below(2) as usize];
    let found = p.op_of(name, &[&above], &format!("axes = array<i64: {axis}>"), &kept, "i1");
    p.cast(&found, "f32")
}
