//! Sampling at another resolution: `y[i] = sum over neighbours j of w[i, j] x[j]`, with the weights a
//! product over the axes (ONNX operator Resize, opset 19).

use super::{Evaluated, for_each_index, pick, static_shape, strides};
use crate::{Call, Tensor, TensorType};

/// The attributes that name one of several ways, each with its default first.
pub const CHOICES: [(&str, &[&str]); 3] = [
    ("method", &["nearest", "linear"]),
    ("coordinates", &["half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"]),
    ("rounding", &["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]),
];

/// The place on an axis of extent `from` that place `i` of `to` samples, clamped to the axis.
fn coordinate(how: &str, i: usize, from: usize, to: usize, scale: f64) -> f64 {
    let last = from.saturating_sub(1) as f64;
    let x = i as f64;
    let place = match how {
        "asymmetric" => x / scale,
        "align_corners" => {
            // ONNX takes the length before it is cut to a whole number; models hold scales in f32.
            let (whole, length) = (to as f64, scale * from as f64);
            let length = if (length - whole).abs() <= 1e-6 * whole { whole } else { length };
            if to == 1 || length <= 1.0 { 0.0 } else { x * last / (length - 1.0) }
        }
        "pytorch_half_pixel" if to == 1 => 0.0,
        _ => (x + 0.5) / scale - 0.5,
    };
    place.max(0.0).min(last)
}

fn round(how: &str, x: f64) -> f64 {
    match how {
        "round_prefer_ceil" => (x + 0.5).floor(),
        "floor" => x.floor(),
        "ceil" => x.ceil(),
        _ => (x - 0.5).ceil(),
    }
}

/// Resizes all axes at once.
pub fn resize(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let (result, x) = (&results[0], &x[0]);
    let [method, coordinates, rounding] = CHOICES.map(|(name, known)| call.attrs.str_or(name, known[0]));
    let shape = static_shape(result)?;
    let sizes = || x.shape().iter().zip(&shape).map(|(&from, &to)| to as f64 / from as f64).collect();
    let scales: Vec<f64> = call.attrs.floats("scales").map_or_else(sizes, <[f64]>::to_vec);
    let axes = x.shape().iter().zip(&shape).zip(&scales);
    let places: Vec<Vec<f64>> = axes
        .map(|((&from, &to), &scale)| (0..to).map(|i| coordinate(coordinates, i, from, to, scale)).collect())
        .collect();
    let steps = strides(x.shape());
    if method == "nearest" {
        return pick(result, x, |index| {
            let axes = index.iter().zip(&places).zip(&steps);
            Ok(axes.map(|((&i, places), step)| round(rounding, places[i]) as usize * step).sum())
        });
    }
    let mut values = Vec::new();
    for_each_index(&shape, |index| {
        let mut corners = vec![(0, 1.0)];
        for ((&i, places), step) in index.iter().zip(&places).zip(&steps) {
            let (low, part) = (places[i].floor(), places[i].fract());
            let at = low as usize * step;
            // A neighbour of weight 0 is not read: it may lie beyond the border, or be infinite.
            if part == 0.0 {
                corners.iter_mut().for_each(|(flat, _)| *flat += at);
            } else {
                let both = |(flat, w)| [(flat + at, w * (1.0 - part)), (flat + at + step, w * part)];
                corners = corners.into_iter().flat_map(both).collect();
            }
        }
        values.push(corners.into_iter().map(|(flat, w)| w * x.f64_at(flat)).sum());
    });
    Ok(vec![Tensor::from_f64s(result.dtype, &shape, &values)?])
}
