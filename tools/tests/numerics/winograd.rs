//! Convolutions in Winograd's form: their error is bounded by the largest result near, for any number of channels.

use super::{hard, level, run, ty};
use fusion_dialects::module::{Level, STANDARD_ERROR};
use fusion_operators::ops::convolution::CONV2D;
use fusion_operators::random::Random;
use fusion_operators::reference::evaluate;
use fusion_operators::{Attrs, DType, Tensor};

const SIDE: usize = 12;
const FILTERS: usize = 32;

/// A program with its weight as a constant, which alone has such a form.
fn program(channels: usize, weight: &Tensor) -> String {
    let [x, w, y] = [&[1, channels, SIDE, SIDE][..], &[FILTERS, channels, 3, 3], &[1, FILTERS, SIDE, SIDE]]
        .map(|shape| ty(DType::F32, shape));
    let bytes: String = weight.bytes().iter().map(|b| format!("{b:02X}")).collect();
    format!(
        "func.func @main(%x: {x}) -> {y} {{\n  %w = relay.constant dense<\"0x{bytes}\"> : {w}\n  \
         %y = relay.conv2d %x, %w {{padding = array<i64: 1, 1, 1, 1>}} : ({x}, {w}) -> {y}\n  return %y : {y}\n}}\n"
    )
}

/// The largest error, as a part of the largest result of any filter within a tile.
fn error(channels: usize, change: impl Fn(&mut [f64])) -> f64 {
    let mut random = Random::new(channels as u64);
    let mut of = |n: usize| -> Vec<f64> { (0..n).map(|_| hard::normal(&mut random)).collect() };
    let (mut x, w) = (of(channels * SIDE * SIDE), of(FILTERS * channels * 9));
    change(&mut x);
    let x = Tensor::from_f64s(DType::F32, &[1, channels, SIDE, SIDE], &x).unwrap();
    let w = Tensor::from_f64s(DType::F32, &[FILTERS, channels, 3, 3], &w).unwrap();
    let found =
        run("cpu", level(Level::Standard), &program(channels, &w), std::slice::from_ref(&x)).to_f64s();
    let exact: Vec<Tensor> =
        [&x, &w].map(|t| Tensor::from_f64s(DType::F64, t.shape(), &t.to_f64s()).unwrap()).to_vec();
    let exact = evaluate(&CONV2D, &Attrs::new().with("padding", [1, 1, 1, 1]), &exact).unwrap()[0].to_f64s();
    let at = |f: usize, i: usize, j: usize| (f * SIDE + i) * SIDE + j;
    let mut worst = 0f64;
    for (i, j) in (0..SIDE).flat_map(|i| (0..SIDE).map(move |j| (i, j))) {
        let near = |n: usize| n.saturating_sub(3)..(n + 4).min(SIDE);
        let places = near(i).flat_map(|i| near(j).map(move |j| (i, j)));
        let places = places.flat_map(|(i, j)| (0..FILTERS).map(move |f| at(f, i, j)));
        let largest = places.map(|at| exact[at].abs()).fold(0.0, f64::max);
        let off =
            (0..FILTERS).map(|f| at(f, i, j)).map(|at| (found[at] - exact[at]).abs()).fold(0.0, f64::max);
        worst = worst.max(off / largest);
    }
    println!("{channels} channels: {worst:.1e}");
    worst
}

#[test]
fn errors_stay_below_the_bound_for_any_number_of_channels() {
    for channels in [16, 64, 256, 1024, 4096] {
        let error = error(channels, |_| ());
        assert!(error < STANDARD_ERROR, "{channels} channels: {error:e}");
    }
}

#[test]
fn a_pixel_that_is_much_larger() {
    for channels in [64, 256, 1024] {
        let error = error(channels, |x| x[5 * SIDE + 5] = 1000.0);
        assert!(error < STANDARD_ERROR, "{channels} channels: {error:e}");
    }
}

#[test]
fn numbers_of_one_sign() {
    let error = error(512, |x| x.iter_mut().for_each(|v| *v = v.abs()));
    assert!(error < STANDARD_ERROR, "{error:e}");
}
