//! Which elements of an axis each element of a resized one is made of, and with what weights.
//!
//! ```text
//!   y[i] = sum over t of weights[i, t] x[places[i, t]]
//! ```
//! Places beyond the ends are those at the ends. After TVM's resizing, whose names of methods and coordinates these are.

/// How coordinates are mapped and what is made of them.
pub struct How {
    pub method: String,
    pub coordinates: String,
    pub rounding: String,
    pub alpha: f64,
    pub exclude: bool,
}

/// What a resized axis is made of: the number of taps, then places and weights, row by row.
pub struct Taps {
    pub count: usize,
    pub places: Vec<i64>,
    pub weights: Vec<f64>,
}

/// The coordinate in an axis of extent `from` of place `i` among `to`.
fn coordinate(how: &str, i: i64, from: i64, to: i64) -> f64 {
    let (x, scale) = (i as f64, from as f64 / to as f64);
    match how {
        "align_corners" if to > 1 => x * (from - 1) as f64 / (to - 1) as f64,
        "align_corners" => 0.0,
        // In whole numbers: a quotient that is rounded could fall short of a whole one.
        "asymmetric" => (i128::from(i) * i128::from(from)) as f64 / to as f64,
        "pytorch_half_pixel" if to == 1 => 0.0,
        "tf_half_pixel_for_nn" => (x + 0.5) * scale,
        _ => (x + 0.5) * scale - 0.5,
    }
}

fn nearest(rounding: &str, x: f64) -> f64 {
    // TVM's way to keep rounding errors from changing a place.
    let slight = 1e-5;
    match rounding {
        "round_prefer_floor" => (x - 0.5).ceil(),
        "round_prefer_ceil" => (x + 0.5).floor(),
        "floor" => (x + slight).floor(),
        "ceil" => (x - slight).ceil(),
        _ => x.round(),
    }
}

fn cubic(t: f64, a: f64) -> [f64; 4] {
    let (t2, t3) = (t * t, t * t * t);
    [
        a * (t3 - 2.0 * t2 + t),
        (a + 2.0) * t3 - (3.0 + a) * t2 + 1.0,
        -(a + 2.0) * t3 + (3.0 + 2.0 * a) * t2 - a * t,
        -a * t3 + a * t2,
    ]
}

/// The taps of an axis.
pub fn taps(how: &How, from: i64, to: i64) -> Taps {
    let mut taps = Taps { count: 0, places: Vec::new(), weights: Vec::new() };
    for i in 0..to {
        let x = coordinate(&how.coordinates, i, from, to);
        let (first, mut weights) = match how.method.as_str() {
            "nearest_neighbor" => (nearest(&how.rounding, x), vec![1.0]),
            "cubic" => (x.floor() - 1.0, cubic(x - x.floor(), how.alpha).to_vec()),
            _ => (x.floor(), vec![1.0 - (x - x.floor()), x - x.floor()]),
        };
        let first = first as i64;
        if how.method == "cubic" && how.exclude {
            for (place, weight) in (first..).zip(&mut weights) {
                *weight = if (0..from).contains(&place) { *weight } else { 0.0 };
            }
            let sum: f64 = weights.iter().sum();
            weights.iter_mut().for_each(|weight| *weight /= sum);
        }
        taps.count = weights.len();
        taps.places.extend((first..).take(taps.count).map(|place| place.clamp(0, from - 1)));
        taps.weights.extend(weights);
    }
    taps
}
