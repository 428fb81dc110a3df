//! Orders of a tensor's axes in memory, by the names that Relay has for them.
//!
//!     NCHW      [N, C, H, W]            the axes themselves, in an order: NHWC has channels last
//!     NCHW16c   [N, C/16, H, W, 16]     a small letter is a part of its axis, of so many elements; the capital is the number of parts
//!
//! A layout is read beside the axes of the value that it lays out, in the value's own order: "NCHW" for images, "OIHW" for weights
//! (filters, channels, kernel).

use crate::{Dim, TensorType};
use std::fmt;

/// One axis in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The axis of the value.
    pub axis: usize,
    /// Elements of the inner part of a split axis; `None` for the outer part, and for an axis that is whole.
    pub inner: Option<u64>,
}

/// An order of axes in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    axes: String,
    parts: Vec<Part>,
}

/// Why a name is no layout.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} is no order of the axes {axes}: {why}")]
pub struct NoLayout {
    name: String,
    axes: String,
    why: String,
}

impl Layout {
    /// The layout that is the value's own order.
    pub fn plain(axes: &str) -> Self {
        let parts = (0..axes.len()).map(|axis| Part { axis, inner: None }).collect();
        Layout { axes: axes.to_owned(), parts }
    }

    /// Reads a name; `axes` are the letters of the value's axes, capitals, in its order.
    pub fn parse(name: &str, axes: &str) -> Result<Self, NoLayout> {
        let wrong = |why: String| NoLayout { name: name.to_owned(), axes: axes.to_owned(), why };
        let (mut parts, mut digits) = (Vec::<Part>::new(), String::new());
        for letter in name.chars() {
            if letter.is_ascii_digit() {
                digits.push(letter);
                continue;
            }
            let Some(axis) = axes.find(letter.to_ascii_uppercase()) else {
                return Err(wrong(format!("it has {letter:?}")));
            };
            let is_inner = letter.is_ascii_lowercase();
            let inner = match (is_inner, digits.parse::<u32>()) {
                (true, Ok(n)) if n > 0 => Some(u64::from(n)),
                (false, _) if digits.is_empty() => None,
                _ => {
                    return Err(wrong(format!(
                        "{digits}{letter} must be a number above 0 and a small letter"
                    )));
                }
            };
            if parts.iter().any(|p| p.axis == axis && p.inner.is_some() == is_inner) {
                return Err(wrong(format!("it has {letter} twice")));
            }
            digits.clear();
            parts.push(Part { axis, inner });
        }
        if !digits.is_empty() {
            return Err(wrong(format!("{digits} stands before no letter")));
        }
        match axes
            .char_indices()
            .find(|(axis, _)| !parts.iter().any(|p| p.axis == *axis && p.inner.is_none()))
        {
            Some((_, letter)) => Err(wrong(format!("it has no {letter}"))),
            None => Ok(Layout { axes: axes.to_owned(), parts }),
        }
    }

    /// The value's own order, of the same axes.
    pub fn plain_one(&self) -> Self {
        Layout::plain(&self.axes)
    }

    /// The order that a transpose by those axes makes of it.
    pub fn transposed(&self, axes: &[usize]) -> Self {
        Layout {
            axes: self.axes.clone(),
            parts: axes.iter().filter_map(|&a| self.parts.get(a).copied()).collect(),
        }
    }

    /// The axes in memory, outermost first.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Elements of the inner part of an axis, when it is split.
    pub fn inner(&self, axis: usize) -> Option<u64> {
        self.parts.iter().find(|p| p.axis == axis && p.inner.is_some()).and_then(|p| p.inner)
    }

    /// The extents in memory of a value; `None` where one is no multiple of the part that it is split by.
    pub fn stored(&self, value: &TensorType) -> Option<TensorType> {
        let one = |part: &Part| match (part.inner, self.inner(part.axis)) {
            (Some(inner), _) => Some(Dim::Static(inner)),
            (None, None) => value.dims.get(part.axis).cloned(),
            (None, Some(inner)) => match value.dims.get(part.axis)? {
                Dim::Static(n) if n % inner == 0 => Some(Dim::Static(n / inner)),
                Dim::Static(_) => None,
                _ => Some(Dim::Any),
            },
        };
        (value.rank() == self.axes.len()).then_some(())?;
        let dims = self.parts.iter().map(one).collect::<Option<Vec<_>>>()?;
        Some(TensorType::new(dims, value.dtype))
    }

    /// The value of what has those extents in memory; `None` where they are not of this layout.
    pub fn value(&self, stored: &TensorType) -> Option<TensorType> {
        (stored.rank() == self.parts.len()).then_some(())?;
        let mut dims = vec![Dim::Static(1); self.axes.len()];
        for (part, dim) in self.parts.iter().zip(&stored.dims) {
            match part.inner {
                Some(inner) if !dim.compatible(&Dim::Static(inner)) => return None,
                Some(_) => {}
                None => {
                    dims[part.axis] = match (dim, self.inner(part.axis)) {
                        (whole, None) => whole.clone(),
                        (Dim::Static(n), Some(inner)) => {
                            Dim::Static(n.checked_mul(inner).filter(|&n| n <= i64::MAX as u64)?)
                        }
                        _ => Dim::Any,
                    }
                }
            }
        }
        Some(TensorType::new(dims, stored.dtype))
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.parts {
            let letter = self.axes.as_bytes().get(part.axis).map_or('?', |b| *b as char);
            match part.inner {
                Some(inner) => write!(f, "{inner}{}", letter.to_ascii_lowercase())?,
                None => write!(f, "{letter}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;

    fn fixed(shape: &[u64]) -> TensorType {
        TensorType::fixed(shape, DType::F32)
    }

    #[test]
    fn orders_and_splits_axes() {
        let last = Layout::parse("NHWC", "NCHW").unwrap();
        assert_eq!(last.stored(&fixed(&[1, 3, 5, 7])), Some(fixed(&[1, 5, 7, 3])));
        let blocked = Layout::parse("NCHW16c", "NCHW").unwrap();
        assert_eq!(blocked.stored(&fixed(&[1, 32, 5, 7])), Some(fixed(&[1, 2, 5, 7, 16])));
        assert_eq!(blocked.value(&fixed(&[1, 2, 5, 7, 16])), Some(fixed(&[1, 32, 5, 7])));
        assert_eq!(blocked.to_string(), "NCHW16c");
    }

    #[test]
    fn refuses_extents_that_do_not_fit() {
        let blocked = Layout::parse("NCHW16c", "NCHW").unwrap();
        assert_eq!(blocked.stored(&fixed(&[1, 24, 5, 7])), None);
        assert_eq!(blocked.value(&fixed(&[1, 2, 5, 7, 8])), None);
        assert_eq!(blocked.value(&fixed(&[1, 32, 5, 7])), None);
    }

    #[test]
    fn says_why_a_name_is_no_layout() {
        let why = |name: &str| Layout::parse(name, "NCHW").unwrap_err().to_string();
        assert_eq!(why("NCH"), "\"NCH\" is no order of the axes NCHW: it has no W");
        assert_eq!(why("NCHWX"), "\"NCHWX\" is no order of the axes NCHW: it has 'X'");
        assert_eq!(why("NCHWC"), "\"NCHWC\" is no order of the axes NCHW: it has C twice");
        assert_eq!(
            why("NCHW0c"),
            "\"NCHW0c\" is no order of the axes NCHW: 0c must be a number above 0 and a small letter"
        );
        assert_eq!(
            why("NCHWc"),
            "\"NCHWc\" is no order of the axes NCHW: c must be a number above 0 and a small letter"
        );
        assert_eq!(why("NCHW8"), "\"NCHW8\" is no order of the axes NCHW: 8 stands before no letter");
    }
}
