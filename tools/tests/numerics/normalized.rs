//! Softmax, normalizations and attention of hard numbers: at most eight times the error of f32 one after the other.

use super::{PLACES, hard, level, rounding, run, ty};
use fusion_dialects::module::Level;
use fusion_operators::random::Random;
use fusion_operators::{DType, Tensor};

const MOST: f64 = 8.0;
const ROWS: usize = 6;
const COLUMNS: usize = 200;

/// Rows that are hard for what goes over them: of one size, far from 0, with one that is much larger, and of many sizes.
fn rows(columns: usize) -> Tensor {
    let mut random = Random::new(11);
    let mut row = |of: &dyn Fn(usize, f64) -> f64| -> Vec<f64> {
        (0..columns).map(|i| of(i, hard::normal(&mut random))).collect()
    };
    let all = [
        row(&|_, v| v),
        row(&|_, v| 1000.0 + v),
        row(&|i, v| if i == 17 { 80.0 } else { v }),
        row(&|_, v| 30.0 * v),
        row(&|_, v| 1e-3 * v - 500.0),
        row(&|_, v| v.exp()),
    ];
    Tensor::from_f64s(DType::F32, &[ROWS, columns], &all.concat()).unwrap()
}

/// A function of rows in some precision, all steps in that.
type Rows<T> = fn(&[T]) -> Vec<T>;

macro_rules! in_precision {
    ($name:ident, $ty:ty) => {
        mod $name {
            pub fn softmax(x: &[$ty]) -> Vec<$ty> {
                let most = x.iter().fold(<$ty>::NEG_INFINITY, |m, v| m.max(*v));
                let e: Vec<$ty> = x.iter().map(|v| (v - most).exp()).collect();
                let sum = e.iter().fold(0.0, |s, v| s + v);
                e.iter().map(|v| v / sum).collect()
            }
            pub fn layer_norm(x: &[$ty]) -> Vec<$ty> {
                let n = x.len() as $ty;
                let mean = x.iter().fold(0.0, |s, v| s + v) / n;
                let variance = x.iter().fold(0.0, |s, v| s + (v - mean) * (v - mean)) / n;
                x.iter().map(|v| (v - mean) / (variance + 1e-5).sqrt()).collect()
            }
            pub fn mean(x: &[$ty]) -> Vec<$ty> {
                vec![x.iter().fold(0.0, |s, v| s + v) / x.len() as $ty]
            }
        }
    };
}
in_precision!(single, f32);
in_precision!(double, f64);

fn check(place: &str, name: &str, text: &str, (single, double): (Rows<f32>, Rows<f64>)) {
    let x = rows(COLUMNS);
    let found = run(place, level(Level::Standard), text, std::slice::from_ref(&x)).to_f64s();
    let width = found.len() / ROWS;
    for (row, found) in x.to_f64s().chunks(COLUMNS).zip(found.chunks(width)) {
        let exact = double(row);
        let sequential = single(&row.iter().map(|v| *v as f32).collect::<Vec<_>>());
        let largest = exact.iter().fold(0f64, |m, v| m.max(v.abs()));
        let off = |of: &dyn Fn(usize) -> f64| {
            (0..width).map(|i| (of(i) - exact[i]).abs() / largest).fold(0.0, f64::max)
        };
        let (ours, theirs) = (off(&|i| found[i]), off(&|i| f64::from(sequential[i])));
        println!("{place} {name}: {ours:.1e}, one after the other {theirs:.1e}");
        let most = MOST * theirs.max(rounding(DType::F32));
        assert!(ours <= most, "{place}: {name} is off by {ours:e}, one after the other by {theirs:e}");
    }
}

fn of_rows(operator: &str, attributes: &str, result: &[usize]) -> String {
    let [x, y] = [&[ROWS, COLUMNS][..], result].map(|shape| ty(DType::F32, shape));
    format!(
        "func.func @main(%x: {x}) -> {y} {{\n  %y = relay.{operator} %x {{{attributes}}} : ({x}) -> {y}\n  return %y : {y}\n}}\n"
    )
}

#[test]
fn softmax() {
    for place in PLACES {
        let text = of_rows("softmax", "axis = 1 : i64", &[ROWS, COLUMNS]);
        check(place, "softmax", &text, (single::softmax, double::softmax));
    }
}

#[test]
fn means() {
    for place in PLACES {
        let text = of_rows("reduce_mean", "axes = array<i64: 1>", &[ROWS]);
        check(place, "mean", &text, (single::mean, double::mean));
    }
}

#[test]
fn layer_normalization() {
    let [x, w] = [&[ROWS, COLUMNS][..], &[COLUMNS]].map(|shape| ty(DType::F32, shape));
    let text = format!(
        "func.func @main(%x: {x}) -> {x} {{\n  %g = relay.constant dense<1.0> : {w}\n  %b = relay.constant dense<0.0> : {w}\n  \
         %y = relay.layer_norm %x, %g, %b {{axis = -1 : i64, epsilon = 1.0e-5}} : ({x}, {w}, {w}) -> {x}\n  return %y : {x}\n}}\n"
    );
    for place in PLACES {
        check(place, "layer_norm", &text, (single::layer_norm, double::layer_norm));
    }
}

/// Attention of queries one of which is much larger, so that its weights are those of few keys.
#[test]
fn attention() {
    for dtype in [DType::F32, DType::F16, DType::BF16] {
        attention_of(dtype);
    }
}

fn attention_of(dtype: DType) {
    let [queries, keys, width] = [24, 150, 32];
    let mut random = Random::new(5);
    let mut of = |n: usize, by: &dyn Fn(usize) -> f64| {
        let v: Vec<f64> = (0..n * width).map(|i| by(i / width) * hard::normal(&mut random)).collect();
        Tensor::from_f64s(dtype, &[1, n, width], &v).unwrap()
    };
    let q = of(queries, &|i| if i == 3 { 20.0 } else { 1.0 });
    let (k, v) = (of(keys, &|_| 1.0), of(keys, &|i| if i == 9 { 1000.0 } else { 1.0 }));
    let [a, b] = [queries, keys].map(|n| ty(dtype, &[1, n, width]));
    let text = format!(
        "func.func @main(%q: {a}, %k: {b}, %v: {b}) -> {a} {{\n  \
         %y = relay.attention %q, %k, %v {{scale = 0.25}} : ({a}, {b}, {b}) -> {a}\n  return %y : {a}\n}}\n"
    );
    let inputs = [q, k, v];
    let of_all = |single: bool| -> (Vec<f64>, Vec<f64>) {
        let round = |v: f64| if single { f64::from(v as f32) } else { v };
        let [q, k, v] = [0, 1, 2].map(|i| inputs[i].to_f64s());
        let (mut result, mut sizes) = (Vec::new(), Vec::new());
        for q in q.chunks(width) {
            let dot = |k: &[f64]| round(0.25 * q.iter().zip(k).fold(0.0, |s, (a, b)| round(s + a * b)));
            let scores: Vec<f64> = k.chunks(width).map(dot).collect();
            let most = scores.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
            let e: Vec<f64> = scores.iter().map(|s| round(round(s - most).exp())).collect();
            let sum = e.iter().fold(0.0, |s, v| round(s + v));
            for j in 0..width {
                let terms = || e.iter().zip(v.chunks(width)).map(|(e, v)| e * v[j]);
                result.push(round(terms().fold(0.0, |s, v| round(s + v)) / sum));
                sizes.push(terms().map(f64::abs).sum::<f64>() / sum);
            }
        }
        (result, sizes)
    };
    let ((exact, sizes), (sequential, _)) = (of_all(false), of_all(true));
    let error =
        |y: &[f64]| y.iter().zip(&exact).zip(&sizes).map(|((y, e), s)| (y - e).abs() / s).fold(0.0, f64::max);
    for place in PLACES {
        let found = run(place, level(Level::Standard), &text, &inputs).to_f64s();
        let (ours, theirs) = (error(&found), error(&sequential));
        println!("{place} attention of {dtype}: {ours:.1e}, one after the other {theirs:.1e}");
        // Scores and weights are rounded to a half type on their way to matrix instructions.
        let own = if dtype == DType::F32 { 0.0 } else { 8.0 * rounding(dtype) };
        let most = MOST * theirs + own;
        assert!(ours <= most, "{place}, {dtype}: off by {ours:e}, one after the other by {theirs:e}");
    }
}
