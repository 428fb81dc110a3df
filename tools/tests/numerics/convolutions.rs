//! Convolutions that have no form of Winograd's: bounded as products are, element by element.

use super::hard::{ALL, Hard};
use super::products::Reference;
use super::{PLACES, level, run, ty};
use fusion_dialects::module::Level;
use fusion_operators::{DType, Tensor};

const SIDE: usize = 9;
const CHANNELS: usize = 24;
const FILTERS: usize = 20;

/// The numbers of a matrix, column by column.
fn turned(matrix: &Tensor) -> Vec<f64> {
    let (v, columns) = (matrix.to_f64s(), matrix.shape()[1]);
    (0..columns).flat_map(|j| v.iter().skip(j).step_by(columns).copied().collect::<Vec<_>>()).collect()
}

/// Kernels of `kernel` x `kernel` at every `stride`-th place, without padding.
fn check(place: &str, kind: Hard, dtype: DType, (kernel, stride): (usize, usize)) {
    let taps = kernel * kernel;
    let [x, _] = kind.operands(dtype, [SIDE * SIDE, CHANNELS, 1], 5);
    let [_, w] = kind.operands(dtype, [1, CHANNELS * taps, FILTERS], 6);
    let (x, w) = (turned(&x), turned(&w));
    let side = (SIDE - kernel) / stride + 1;
    let places = || (0..side).flat_map(|i| (0..side).map(move |j| (i, j)));
    let mut reference = Reference::default();
    for (f, (i, j)) in (0..FILTERS).flat_map(|f| places().map(move |at| (f, at))) {
        reference.push((0..CHANNELS * taps).map(|k| {
            let (c, a, b) = (k / taps, k % taps / kernel, k % kernel);
            let at = (c * SIDE + i * stride + a) * SIDE + j * stride + b;
            (x[at], w[f * CHANNELS * taps + k])
        }));
    }
    let shapes = [[1, CHANNELS, SIDE, SIDE], [FILTERS, CHANNELS, kernel, kernel], [1, FILTERS, side, side]];
    let [tx, tw, ty] = shapes.map(|shape| ty(dtype, &shape));
    let text = format!(
        "func.func @main(%x: {tx}, %w: {tw}) -> {ty} {{\n  \
         %y = relay.conv2d %x, %w {{strides = array<i64: {stride}, {stride}>}} : ({tx}, {tw}) -> {ty}\n  \
         return %y : {ty}\n}}\n"
    );
    let tensor = |v: &[f64], at: usize| Tensor::from_f64s(dtype, &shapes[at], v).unwrap();
    let found = run(place, level(Level::Standard), &text, &[tensor(&x, 0), tensor(&w, 1)]).to_f64s();
    let what = format!("{place}: a convolution by {kernel} x {kernel} of {kind:?} numbers of {dtype}");
    reference.judge(&found, dtype, &what);
}

#[test]
fn of_one_place() {
    for place in PLACES {
        for dtype in [DType::F32, DType::F16, DType::BF16] {
            ALL.iter().for_each(|kind| check(place, *kind, dtype, (1, 1)));
        }
    }
}

#[test]
fn of_several_places() {
    for dtype in [DType::F32, DType::F16, DType::BF16] {
        ALL.iter().for_each(|kind| check("cpu", *kind, dtype, (3, 2)));
    }
    for place in PLACES {
        ALL.iter().for_each(|kind| check(place, *kind, DType::F32, (3, 1)));
    }
}
