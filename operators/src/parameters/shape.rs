//! Permutations, slices and padding of the operators that move elements by their position.

use crate::relation::{ints_attr, normalize_axes};
use crate::{Call, Dim, Violation, require};

/// The normalised axes of a transposition. C1: they are a permutation.
pub fn permutation(call: &Call) -> Result<Vec<usize>, Violation> {
    let rank = call.operands[0].rank();
    let Some(axes) = call.attrs.ints("axes") else { return Ok((0..rank).rev().collect()) };
    require!(axes.len() == rank, C 1, "axes {axes:?} must be a permutation of the {rank} axes of {}", call.operands[0]);
    normalize_axes(axes, rank, 1)
}

/// What a slice asks of one axis.
pub struct Sliced {
    /// The axis.
    pub axis: usize,
    /// The first element, from the back where it is negative.
    pub begin: i64,
    /// The first element that is not kept.
    pub end: i64,
    /// Distance of the elements kept.
    pub stride: i64,
}

impl Sliced {
    /// The first element kept and how many there are (Python, `slice.indices`).
    pub fn of(&self, extent: u64) -> (i128, u64) {
        let (extent, stride) = (i128::from(extent), i128::from(self.stride));
        let (least, most) = if stride > 0 { (0, extent) } else { (-1, extent - 1) };
        let place = |at: i64| {
            let at = i128::from(at);
            (if at < 0 { at + extent } else { at }).clamp(least, most)
        };
        let (begin, end) = (place(self.begin), place(self.end));
        let length = if stride > 0 { end - begin } else { begin - end };
        let step = stride.abs().max(1);
        (begin, u64::try_from((length + step - 1) / step).unwrap_or(0))
    }

    /// How many elements of an extent that is an expression are kept; `?` of those taken from back to front.
    pub fn of_dynamic(&self, extent: &Dim) -> Dim {
        let Ok(stride @ 1..) = u64::try_from(self.stride) else { return Dim::Any };
        let place = |at: i64| {
            let far = Dim::Static(at.unsigned_abs());
            if at < 0 { extent.minus(&far) } else { extent.least(&far) }
        };
        let far = Dim::Static(self.begin.unsigned_abs());
        let kept = match self.end {
            i64::MAX if self.begin < 0 => extent.least(&far),
            i64::MAX => extent.minus(&far),
            end => place(end).minus(&place(self.begin)),
        };
        kept.over_up(stride)
    }

    /// True when the whole axis is kept, whatever its extent.
    pub fn keeps_all(&self) -> bool {
        match self.stride {
            1 => self.begin == 0 && self.end == i64::MAX,
            -1 => (self.begin == -1 || self.begin == i64::MAX) && self.end <= -i64::MAX,
            _ => false,
        }
    }
}

/// The slices of a call. C1: one length. C2: axes are in range and named once. C3: no stride is 0.
pub fn slices(call: &Call) -> Result<Vec<Sliced>, Violation> {
    let (begin, end) = (ints_attr(call, "begin", 1)?, ints_attr(call, "end", 1)?);
    let first: Vec<i64> = (0..begin.len() as i64).collect();
    let ones = vec![1; begin.len()];
    let axes = call.attrs.ints("axes").unwrap_or(&first);
    let strides = call.attrs.ints("strides").unwrap_or(&ones);
    let lengths = [begin.len(), end.len(), axes.len(), strides.len()];
    require!(lengths == [begin.len(); 4], C 1, "begin, end, axes and strides must have one length, found {lengths:?}");
    let axes = normalize_axes(axes, call.operands[0].rank(), 2)?;
    require!(!strides.contains(&0), C 3, "strides {strides:?} must not have a 0");
    let sliced = |(i, axis)| Sliced { axis, begin: begin[i], end: end[i], stride: strides[i] };
    Ok(axes.into_iter().enumerate().map(sliced).collect())
}

/// Elements added (or removed, when negative) before and after each axis. C1: two numbers an axis.
pub fn padding(call: &Call) -> Result<Vec<(i128, i128)>, Violation> {
    let (padding, rank) = (ints_attr(call, "padding", 1)?, call.operands[0].rank());
    let fits = padding.len() == 2 * rank;
    require!(fits, C 1, "padding {padding:?} must have two numbers for each of {rank} axes");
    Ok((0..rank).map(|a| (padding[a].into(), padding[a + rank].into())).collect())
}
