//! Which parts of tensors a tile has.
//!
//! ```text
//!   rows      x[b, s, 384]       (b s) along axis 0                      (384) whole
//!   windows   x[n, 64, h, w]     (n) along axis 0    (64) whole    (h) along axis 1: from 2 o - 3, 2 (T - 1) + 7 of them    (w) ...
//!   pointwise x[n, 64, h, w]     (n) along axis 0    (64) whole    (h w) along axis 1
//! ```
//!
//! Extents of a tensor that lie one after another are taken together, as their elements do in memory.

use fusion_operators::{Dim, TensorType};
use std::ops::Range;

/// How a part of a tensor follows an axis of the tiles: of a tile that begins at `o` and has `T` places, from `o * stride - begin` on
/// `(T - 1) * stride + span` places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Along {
    /// The axis of the tiles.
    pub axis: usize,
    /// Places that a step along the axis goes on.
    pub stride: u64,
    /// Places that one place of the result needs.
    pub span: u64,
    /// Padding before the first place.
    pub begin: u64,
}

impl Along {
    /// One place for each.
    pub fn same(axis: usize) -> Along {
        Along { axis, stride: 1, span: 1, begin: 0 }
    }

    /// The places that a tile of so many has.
    pub fn extent(&self, size: u64) -> u64 {
        (size - 1) * self.stride + self.span
    }
}

/// Extents of a tensor that lie one after another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Which.
    pub dims: Range<usize>,
    /// How they follow the tiles; whole where they do not.
    pub along: Option<Along>,
}

/// What the tiles are of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// The windows of a convolution's data along its spatial axes, those of known extents without one; none for rows.
    pub windows: Option<Vec<Option<Along>>>,
    /// True where all spatial axes are one: of a pointwise convolution, which needs the same place alone.
    pub pointwise: bool,
}

impl Geometry {
    /// Of rows.
    pub fn rows() -> Geometry {
        Geometry { windows: None, pointwise: false }
    }

    /// How many axes the tiles have.
    pub fn axes(&self) -> usize {
        let spatial =
            |axes: &Vec<Option<Along>>| if self.pointwise { 1 } else { axes.iter().flatten().count() };
        self.windows.as_ref().map_or(1, |axes| 1 + spatial(axes))
    }

    /// The parts of a tensor; `is_data` for what a convolution takes windows of.
    pub fn parts(&self, ty: &TensorType, is_data: bool) -> Vec<Part> {
        let rank = ty.rank();
        let whole = |dims: Range<usize>| Part { dims, along: None };
        if prefix(ty) == 0 {
            return vec![whole(0..rank)];
        }
        let Some(windows) = &self.windows else {
            let rows = prefix(ty);
            return vec![Part { dims: 0..rows, along: Some(Along::same(0)) }, whole(rows..rank)];
        };
        let mut parts = vec![Part { dims: 0..1, along: Some(Along::same(0)) }, whole(1..2)];
        if self.pointwise {
            parts.push(Part { dims: 2..rank, along: Some(Along::same(1)) });
            return parts;
        }
        parts.extend(windows.iter().enumerate().map(|(i, window)| Part {
            dims: 2 + i..3 + i,
            along: window.map(|window| if is_data { window } else { Along::same(window.axis) }),
        }));
        parts
    }

    /// The type of what a tile of these sizes has of a tensor.
    pub fn tile_type(&self, ty: &TensorType, is_data: bool, sizes: &[u64]) -> Option<TensorType> {
        let mut dims = Vec::with_capacity(ty.rank());
        for part in self.parts(ty, is_data) {
            match part.along {
                Some(along) => {
                    // The last of several has all.
                    dims.extend(part.dims.clone().skip(1).map(|_| 1));
                    dims.push(along.extent(sizes[along.axis]));
                }
                None => {
                    let known = ty.dims[part.dims].iter().map(Dim::known).collect::<Option<Vec<u64>>>()?;
                    dims.extend(known);
                }
            }
        }
        Some(TensorType::fixed(&dims, ty.dtype))
    }
}

/// How many leading extents a tensor has up to the last one that is not known.
pub fn prefix(ty: &TensorType) -> usize {
    ty.dims.iter().rposition(|dim| dim.known().is_none()).map_or(0, |last| last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fusion_operators::DType;

    fn ty(dims: &[&str]) -> TensorType {
        TensorType::new(dims.iter().map(|text| Dim::of_text(text)).collect(), DType::F32)
    }

    #[test]
    fn rows_are_all_extents_up_to_the_last_that_is_not_known() {
        let rows = Geometry::rows();
        let tile = rows.tile_type(&ty(&["b", "8", "s", "64"]), false, &[16]);
        assert_eq!(tile, Some(TensorType::fixed(&[1, 1, 16, 64], DType::F32)));
        assert_eq!(rows.tile_type(&ty(&["64"]), false, &[16]), Some(TensorType::fixed(&[64], DType::F32)));
    }

    #[test]
    fn places_of_a_pointwise_convolution_are_one_axis() {
        let pointwise = Geometry { windows: Some(vec![None, None]), pointwise: true };
        let tile = pointwise.tile_type(&ty(&["n", "64", "h", "w"]), true, &[1, 256]);
        assert_eq!(tile, Some(TensorType::fixed(&[1, 64, 1, 256], DType::F32)));
    }

    #[test]
    fn data_of_windows_has_what_a_tile_of_the_result_needs() {
        let window = |axis| Some(Along { axis, stride: 2, span: 7, begin: 3 });
        let windows = Geometry { windows: Some(vec![window(1), None]), pointwise: false };
        let image = ty(&["n", "3", "h", "64"]);
        assert_eq!(windows.axes(), 2);
        assert_eq!(
            windows.tile_type(&image, true, &[1, 8]),
            Some(TensorType::fixed(&[1, 3, 21, 64], DType::F32))
        );
        assert_eq!(
            windows.tile_type(&image, false, &[1, 8]),
            Some(TensorType::fixed(&[1, 3, 8, 64], DType::F32))
        );
    }
}
