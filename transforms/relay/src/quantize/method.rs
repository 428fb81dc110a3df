//! How a range is chosen from what was seen.
//!
//! ```text
//!   max              all of it
//!   power-of-two     the power of two above the largest element; for data above that of all edges together
//!   percentile       all but the outermost elements
//!   mse              the range whose numbers are nearest to the elements, in the mean of squares
//!   kl-divergence    the range whose numbers are distributed most like the elements (Migacz, "8-bit inference with TensorRT", 2017)
//!   entropy          the same, of elements counted in twice as many parts as there are numbers: less is left out (as ONNX Runtime's)
//! ```
//! The last three try ranges `[max(low, -t), min(high, t)]` for many `t`. One search, two scores. Elements that are 0 do not count for distributions: 0 has
//! a number of its own in any range, and behind a rectifier half of all elements are 0.

use super::distribution::Distribution;
use super::parameters::Numbers;
use fusion_operators::DType;
use std::collections::BTreeMap;

/// A way to choose ranges.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Method {
    Max,
    PowerOfTwo,
    Percentile(f64),
    Mse,
    KlDivergence,
    Entropy,
}

/// The percentile that is meant when none is said.
pub const PERCENTILE: f64 = 99.99;
/// Ranges that are tried: each is the one before by the 24th root of 2, down to a 64th of all that was seen.
const TRIED: u32 = 144;
const HALVED_IN: f64 = 24.0;

impl Method {
    /// All, with their names.
    pub const ALL: &'static [(Method, &'static str)] = &[
        (Method::Max, "max"),
        (Method::PowerOfTwo, "power-of-two"),
        (Method::Percentile(PERCENTILE), "percentile"),
        (Method::Mse, "mse"),
        (Method::KlDivergence, "kl-divergence"),
        (Method::Entropy, "entropy"),
    ];

    /// The one of a name.
    pub fn named(name: &str) -> Option<Method> {
        Method::ALL.iter().find(|(_, known)| *known == name).map(|(method, _)| *method)
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        let same = |other: &Method| std::mem::discriminant(self) == std::mem::discriminant(other);
        Method::ALL.iter().find(|(method, _)| same(method)).map_or("", |(_, name)| *name)
    }

    /// The method for constants, whose elements are all known and few: scores of distributions need many.
    pub fn for_constants(self) -> Method {
        match self {
            Method::PowerOfTwo | Method::Mse => self,
            _ => Method::Max,
        }
    }

    /// The scale and zero point. `largest` is the largest size of an element anywhere, which `power-of-two` takes.
    pub fn fit(&self, seen: &Distribution, numbers: &Numbers, dtype: DType, largest: f64) -> (f64, f64) {
        match self {
            Method::Max => numbers.fit(seen.range, dtype),
            Method::PowerOfTwo => power_of_two(seen, numbers, largest),
            Method::Percentile(percent) => numbers.fit(percentile(seen, *percent), dtype),
            Method::Mse => search(seen, numbers, dtype, squares),
            Method::KlDivergence => search(seen, numbers, dtype, divergence),
            Method::Entropy => search(&seen.in_parts(2 << numbers.bits()), numbers, dtype, divergence),
        }
    }
}

fn power_of_two(seen: &Distribution, numbers: &Numbers, largest: f64) -> (f64, f64) {
    let bound = if largest > 0.0 { largest.log2().ceil().exp2() } else { 1.0 };
    let levels = f64::from(numbers.bits()).exp2();
    match numbers.is_symmetric() {
        true => (2.0 * bound / levels, 0.0),
        // Half of the numbers are for elements below 0, if there are any.
        false if seen.range.0 < 0.0 => (2.0 * bound / levels, numbers.least + levels / 2.0),
        false => (bound / levels, numbers.least),
    }
}

/// The range of the elements from the smallest `percent` on and up to the largest, by size.
fn percentile(seen: &Distribution, percent: f64) -> (f64, f64) {
    let mut by_size: Vec<(f64, f64)> = seen.points.iter().map(|(x, n)| (x.abs(), *n)).collect();
    by_size.sort_by(|a, b| a.0.total_cmp(&b.0));
    let wanted = seen.count() * percent / 100.0;
    let mut so_far = 0.0;
    let bound = by_size.iter().find(|(_, n)| {
        so_far += n;
        so_far >= wanted
    });
    seen.clipped(bound.map_or(seen.size(), |(size, _)| *size))
}

/// The fit of least score of all ranges that are tried; of equal ones the widest.
fn search(
    seen: &Distribution,
    numbers: &Numbers,
    dtype: DType,
    score: impl Fn(&Distribution, &Numbers, (f64, f64)) -> f64,
) -> (f64, f64) {
    let size = seen.size();
    let fits = (0..=TRIED).map(|i| {
        let part = size * (-f64::from(i) / HALVED_IN).exp2();
        numbers.fit(seen.clipped(part), dtype)
    });
    let scored = fits.map(|fit| (score(seen, numbers, fit), fit));
    let best = scored.min_by(|a, b| a.0.total_cmp(&b.0));
    best.map_or_else(|| numbers.fit(seen.range, dtype), |(_, fit)| fit)
}

fn squares(seen: &Distribution, numbers: &Numbers, fit: (f64, f64)) -> f64 {
    let square = |(x, n): &(f64, f64)| n * (x - numbers.simulate(*x, fit)).powi(2);
    seen.points.iter().map(square).sum()
}

/// The number that stands for an element, whether or not it is in range.
fn level(x: f64, (scale, zero): (f64, f64)) -> f64 {
    (x / scale).round_ties_even() + zero
}

/// Of the elements, those out of range counted at its ends, from what the numbers say of them: equally many of each element of a number.
fn divergence(seen: &Distribution, numbers: &Numbers, fit: (f64, f64)) -> f64 {
    let mut below = 0.0;
    let mut above = 0.0;
    let mut inside: Vec<(i64, f64)> = Vec::with_capacity(seen.points.len());
    for (x, n) in seen.points.iter().filter(|(x, _)| *x != 0.0) {
        let q = level(*x, fit);
        if q < numbers.least {
            below += n;
        } else if q > numbers.most {
            above += n;
        } else {
            inside.push((q as i64, *n));
        }
    }
    let kept: f64 = inside.iter().map(|p| p.1).sum();
    let total = kept + below + above;
    let mut levels: BTreeMap<i64, (f64, f64)> = BTreeMap::new();
    for (q, n) in &inside {
        let of = levels.entry(*q).or_default();
        *of = (of.0 + n, of.1 + 1.0);
    }
    if kept == 0.0 {
        return f64::INFINITY;
    }
    let last = inside.len() - 1;
    let term = |(i, (q, n)): (usize, &(i64, f64))| {
        let extra = if i == 0 { below } else { 0.0 } + if i == last { above } else { 0.0 };
        let (sum, points) = levels.get(q).copied().unwrap_or((*n, 1.0));
        let (p, q) = ((n + extra) / total, sum / points / kept);
        p * (p / q).ln()
    };
    inside.iter().enumerate().map(term).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: Numbers = Numbers { least: 0.0, most: 255.0 };
    const SIGNED: Numbers = Numbers { least: -127.0, most: 127.0 };

    /// A bell of 2048 parts from -4 to 4, and one element at 100 in place of the last.
    fn bell_with_outlier() -> Distribution {
        let bell = |i: i32| {
            let x = f64::from(i - 1024) / 256.0;
            (x, (1e6 * (-x * x / 2.0).exp()).round())
        };
        let mut points: Vec<(f64, f64)> = (0..2047).map(bell).collect();
        points.push((100.0, 1.0));
        Distribution { points, range: (-4.0, 100.0) }
    }

    fn bound(method: Method, numbers: &Numbers) -> f64 {
        let seen = bell_with_outlier();
        let (scale, zero) = method.fit(&seen, numbers, DType::F32, seen.size());
        (numbers.most - zero) * scale
    }

    #[test]
    fn all_methods_but_two_leave_outliers_out() {
        for numbers in [BYTES, SIGNED] {
            assert!(bound(Method::Max, &numbers) > 99.0 && bound(Method::PowerOfTwo, &numbers) > 99.0);
            let most = [
                (Method::Percentile(99.99), 10.0),
                (Method::Mse, 10.0),
                (Method::KlDivergence, 10.0),
                (Method::Entropy, 60.0),
            ];
            for (method, most) in most {
                assert!(bound(method, &numbers) < most, "{method:?} {}", bound(method, &numbers));
            }
        }
    }

    #[test]
    fn mse_is_the_least_of_all() {
        let seen = bell_with_outlier();
        let error =
            |method: Method| squares(&seen, &BYTES, method.fit(&seen, &BYTES, DType::F32, seen.size()));
        let least = error(Method::Mse);
        assert!(Method::ALL.iter().all(|(method, _)| least <= error(*method) * 1.02));
    }

    #[test]
    fn a_scale_of_power_of_two_is_one() {
        for numbers in [BYTES, SIGNED] {
            for range in [(0.0, 5.0), (-3.0, 5.0)] {
                let seen = Distribution { points: vec![(range.0, 1.0), (range.1, 1.0)], range };
                let (scale, zero) = Method::PowerOfTwo.fit(&seen, &numbers, DType::F32, 5.0);
                assert_eq!(scale.log2().fract(), 0.0, "{scale}");
                assert!((numbers.least..=numbers.most).contains(&zero));
            }
        }
    }

    #[test]
    fn zeros_have_a_scale() {
        let zeros = Distribution::of([0.0, -0.0].into_iter());
        for (method, _) in Method::ALL {
            let (scale, zero) = method.fit(&zeros, &BYTES, DType::F32, 0.0);
            assert!(scale > 0.0 && BYTES.simulate(0.0, (scale, zero)) == 0.0, "{method:?}");
        }
    }

    #[test]
    fn zero_is_always_exact() {
        for range in [(0.1, 0.7), (-0.9, -0.2), (-1.7, 0.3), (-1e-30, 3e30)] {
            for numbers in [BYTES, SIGNED] {
                let fit = numbers.fit(range, DType::F32);
                assert_eq!(numbers.simulate(0.0, fit), 0.0, "{range:?}");
            }
        }
    }
}
