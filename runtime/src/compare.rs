//! Comparing a tensor with the one expected, within tolerances.

use fusion_operators::{DType, Format, Tensor};

/// How far elements may be apart: `|actual - expected| <= absolute * scale + relative * |expected|`.
///
/// The scale is the largest magnitude expected, and at least 1: elements that cancel to almost nothing carry the
/// rounding errors of their large terms, in the expected tensor as in the actual one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Relative to the expected element.
    pub relative: f64,
    /// Absolute.
    pub absolute: f64,
    /// Units in the last place that elements of half types may be off by, whatever the rest says: two sums in another
    /// order may round to neighbours, which are further apart than the other two allow.
    pub half_units: f64,
}

impl Tolerance {
    /// How far an element of that type may be from the one expected.
    fn allowed(&self, dtype: DType, expected: f64, scale: f64) -> f64 {
        let near = self.absolute * scale + self.relative * expected.abs();
        match (dtype, Format::of(dtype)) {
            (DType::F16 | DType::BF16, Some(format)) => near.max(self.half_units * format.unit_at(expected)),
            _ => near,
        }
    }
}

impl Default for Tolerance {
    /// What the ONNX backend tests ask for, and two units of half types.
    fn default() -> Self {
        Tolerance { relative: 1e-3, absolute: 1e-7, half_units: 2.0 }
    }
}

/// What comparing found. NaN equals NaN, and an infinity equals itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Elements compared.
    pub elements: usize,
    /// Elements that differ by more than the tolerance.
    pub mismatches: usize,
    /// The largest difference.
    pub max_absolute: f64,
    /// The largest difference relative to the expected element.
    pub max_relative: f64,
    /// The first element that differs by more than the tolerance.
    pub first: Option<Element>,
}

/// An element that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    /// Where, one index a dimension.
    pub index: Vec<usize>,
    /// What is there.
    pub actual: f64,
    /// What should be there.
    pub expected: f64,
}

/// Why a tensor is not the one expected.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Mismatch {
    /// Other elements altogether.
    #[error("the element type is {actual}, but {expected} was expected")]
    DType {
        /// What it is.
        actual: DType,
        /// What it should be.
        expected: DType,
    },
    /// Other extents.
    #[error("the shape is {actual:?}, but {expected:?} was expected")]
    Shape {
        /// What it is.
        actual: Vec<usize>,
        /// What it should be.
        expected: Vec<usize>,
    },
    /// Other strings.
    #[error("element {index:?} is {actual:?} where {expected:?} was expected")]
    Strings {
        /// Where the first is.
        index: Vec<usize>,
        /// What is there.
        actual: String,
        /// What should be there.
        expected: String,
    },
    /// Other values.
    #[error(
        "{mismatches} of {elements} elements differ, the first at {index:?}: {actual} where {expected} was \
         expected (largest absolute error {max_absolute:.3e}, relative {max_relative:.3e})"
    )]
    Values {
        /// Elements compared.
        elements: usize,
        /// Elements that differ.
        mismatches: usize,
        /// Where the first is.
        index: Vec<usize>,
        /// What is there.
        actual: f64,
        /// What should be there.
        expected: f64,
        /// The largest difference.
        max_absolute: f64,
        /// The largest relative difference.
        max_relative: f64,
    },
}

/// Compares all elements; the error says how the tensors differ.
pub fn check(actual: &Tensor, expected: &Tensor, tolerance: Tolerance) -> Result<Comparison, Mismatch> {
    let comparison = compare(actual, expected, tolerance)?;
    let Comparison { elements, mismatches, max_absolute, max_relative, first } = &comparison;
    match first {
        None => Ok(comparison),
        Some(Element { index, actual, expected }) => Err(Mismatch::Values {
            elements: *elements,
            mismatches: *mismatches,
            index: index.clone(),
            actual: *actual,
            expected: *expected,
            max_absolute: *max_absolute,
            max_relative: *max_relative,
        }),
    }
}

/// Compares all elements of tensors of one type; the error is about the type alone, or strings.
pub fn compare(actual: &Tensor, expected: &Tensor, tolerance: Tolerance) -> Result<Comparison, Mismatch> {
    if actual.dtype() != expected.dtype() {
        return Err(Mismatch::DType { actual: actual.dtype(), expected: expected.dtype() });
    }
    if actual.shape() != expected.shape() {
        let (actual, expected) = (actual.shape().to_vec(), expected.shape().to_vec());
        return Err(Mismatch::Shape { actual, expected });
    }
    let (elements, shape) = (expected.len(), expected.shape());
    let other = |(i, (actual, expected)): (usize, (&str, &str))| {
        let index = || unflatten(i, shape);
        (actual != expected).then(|| Mismatch::Strings {
            index: index(),
            actual: actual.into(),
            expected: expected.into(),
        })
    };
    let none = Comparison { elements, mismatches: 0, max_absolute: 0.0, max_relative: 0.0, first: None };
    if expected.dtype() == DType::String {
        return match actual.strings().zip(expected.strings()).enumerate().find_map(other) {
            Some(mismatch) => Err(mismatch),
            None => Ok(none),
        };
    }
    let mut found = none;
    let floats = expected.dtype().is_float();
    let finite = (0..elements).map(|i| expected.f64_at(i).abs()).filter(|m| m.is_finite());
    let scale = if floats { finite.fold(1.0, f64::max) } else { 1.0 };
    for i in 0..elements {
        let (a, e) = (actual.f64_at(i), expected.f64_at(i));
        // Integers of 64 bits are subtracted as such: as floats, near ones would be the same.
        let difference = match floats {
            true if a == e || (a.is_nan() && e.is_nan()) => continue,
            true => (a - e).abs(),
            false => match actual.int_at(i).abs_diff(expected.int_at(i)) {
                0 => continue,
                n => n as f64,
            },
        };
        // Not a number only where an infinity or a NaN meets something else: then all is lost.
        let difference = if difference.is_nan() { f64::INFINITY } else { difference };
        let relative = if e == 0.0 || !e.is_finite() { f64::INFINITY } else { difference / e.abs() };
        found.max_absolute = found.max_absolute.max(difference);
        found.max_relative = found.max_relative.max(relative);
        let allowed = tolerance.allowed(expected.dtype(), e, scale);
        if difference > allowed || difference.is_infinite() {
            found.mismatches += 1;
            if found.first.is_none() {
                let index = unflatten(i, expected.shape());
                found.first = Some(Element { index, actual: a, expected: e });
            }
        }
    }
    Ok(found)
}

fn unflatten(mut flat: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (i, &extent) in shape.iter().enumerate().rev() {
        index[i] = flat % extent;
        flat /= extent;
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f32s(shape: &[usize], values: &[f32]) -> Tensor {
        Tensor::from_slice(shape, values).unwrap()
    }

    #[test]
    fn within_tolerance_is_equal() {
        let expected = f32s(&[2, 2], &[1.0, f32::NAN, f32::INFINITY, 0.0]);
        let actual = f32s(&[2, 2], &[1.0005, f32::NAN, f32::INFINITY, 1e-8]);
        let comparison = check(&actual, &expected, Tolerance::default()).unwrap();
        assert_eq!(comparison.mismatches, 0);
        assert!((comparison.max_absolute - 5e-4).abs() < 1e-6);
    }

    #[test]
    fn the_first_mismatch_is_reported() {
        let expected = f32s(&[2, 2], &[1.0, 2.0, 3.0, 4.0]);
        let actual = f32s(&[2, 2], &[1.0, 2.0, 4.0, f32::NAN]);
        let report = compare(&actual, &expected, Tolerance::default()).unwrap();
        assert_eq!(report.mismatches, 2);
        assert_eq!(report.first, Some(Element { index: vec![1, 0], actual: 4.0, expected: 3.0 }));
        let error = check(&actual, &expected, Tolerance::default()).unwrap_err().to_string();
        assert!(
            error.starts_with("2 of 4 elements differ, the first at [1, 0]: 4 where 3 was expected"),
            "{error}"
        );
    }

    #[test]
    fn an_infinity_never_equals_a_number() {
        let infinite = f32s(&[1], &[f32::INFINITY]);
        let one = f32s(&[1], &[1.0]);
        let generous = Tolerance { relative: 1.0, absolute: 1e9, half_units: 0.0 };
        assert!(check(&one, &infinite, generous).is_err());
        assert!(check(&infinite, &one, generous).is_err());
    }

    #[test]
    fn half_types_may_be_two_units_off() {
        let one = |dtype, x| Tensor::from_f64s(dtype, &[1], &[x]).unwrap();
        for (dtype, unit) in [(DType::BF16, 2f64.powi(-8)), (DType::F16, 2f64.powi(-11))] {
            let is_near =
                |n: f64| check(&one(dtype, 0.5 + n * unit), &one(dtype, 0.5), Tolerance::default()).is_ok();
            assert!(is_near(2.0) && !is_near(3.0));
        }
    }

    #[test]
    fn wide_integers_are_compared_exactly() {
        let exact = Tolerance { relative: 0.0, absolute: 0.0, half_units: 0.0 };
        let a = Tensor::from_slice(&[1], &[i64::MAX]).unwrap();
        let b = Tensor::from_slice(&[1], &[i64::MAX - 1]).unwrap();
        assert_eq!(compare(&a, &b, exact).unwrap().mismatches, 1);
        assert_eq!(compare(&a, &a, exact).unwrap().mismatches, 0);
    }

    #[test]
    fn other_types_are_not_compared() {
        let a = f32s(&[2], &[0.0, 0.0]);
        let b = f32s(&[2, 1], &[0.0, 0.0]);
        let error = check(&a, &b, Tolerance::default()).unwrap_err().to_string();
        assert_eq!(error, "the shape is [2], but [2, 1] was expected");
    }
}
