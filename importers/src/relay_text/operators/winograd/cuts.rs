//! How data is cut into the windows that become tiles.
//!
//! ```text
//!   transformed     windows of tile_size + kernel - 1, tile_size apart, for tile_size results each; the last may hang over
//!   not transformed windows of the kernel, a stride apart, for one result each
//! ```

use super::matrices::Matrices;
use crate::relay_text::error::Outcome;
use crate::relay_text::operators::Call;
use crate::relay_text::operators::contraction::{padding, per_axis};
use std::ops::Range;

/// Windows along one axis.
pub struct Cut {
    pub windows: i64,
    pub width: i64,
    pub step: i64,
    /// Results of a window, and of the axis.
    pub gives: i64,
    pub extent: i64,
}

/// Data [N, C, ...] in windows.
pub struct Cuts {
    pub batch: i64,
    pub channels: i64,
    pub axes: Vec<Cut>,
    /// Padding of each axis of the data in front and behind, with which all windows are inside.
    pub begin: Vec<i64>,
    pub end: Vec<i64>,
    is_cube: bool,
}

/// Whether the depth of a kernel is transformed, too.
pub fn is_cube(kernel: &[i64]) -> bool {
    matches!(*kernel, [depth, height, _] if (3..8).contains(&depth) && depth == height)
}

impl Cuts {
    pub fn of(call: &Call<'_, '_, '_>, data: &[i64], kernel: &[i64]) -> Outcome<Cuts> {
        let (count, tile) = (kernel.len(), call.required("tile_size")?);
        let strides = per_axis(call, "strides", count)?.unwrap_or(vec![1; count]);
        let dilation = per_axis(call, "dilation", count)?.unwrap_or(vec![1; count]);
        let padding = padding(call, count)?;
        call.moderate(&padding)?;
        call.moderate(&strides)?;
        call.moderate(data)?;
        if padding.iter().any(|&n| n < 0) || call.int("groups", 1)? != 1 || dilation.iter().any(|&n| n != 1) {
            return call.fault("takes one group, dilation of 1 and no padding below 0");
        }
        let mut cuts = Cuts {
            batch: data[0],
            channels: data[1],
            axes: Vec::new(),
            begin: vec![0, 0],
            end: vec![0, 0],
            is_cube: is_cube(kernel),
        };
        let transformed = if cuts.is_cube { 0..count } else { count - 2..count };
        for (axis, &kernel) in kernel.iter().enumerate() {
            let (is_transformed, stride) = (transformed.contains(&axis), strides[axis]);
            if stride < 1 || is_transformed && stride != 1 {
                return call
                    .fault(format!("takes strides of 1 along axes that are transformed, found {strides:?}"));
            }
            let padded = data[2 + axis] + padding[axis] + padding[count + axis];
            if padded < kernel {
                return call.fault(format!(
                    "a kernel of {kernel} is larger than the {padded} elements along axis {}",
                    2 + axis
                ));
            }
            let extent = (padded - kernel) / stride + 1;
            let (step, gives) = if is_transformed { (tile, tile) } else { (stride, 1) };
            let cut =
                Cut { windows: (extent + gives - 1) / gives, width: kernel + gives - 1, step, gives, extent };
            let reached = (cut.windows - 1) * step + cut.width;
            cuts.begin.push(padding[axis]);
            cuts.end.push(padding[count + axis] + (reached - padded).max(0));
            cuts.axes.push(cut);
        }
        Ok(cuts)
    }

    /// The axes, of those behind the channels, along which tiles are transformed.
    pub fn transformed(&self) -> Range<usize> {
        let first = if self.is_cube { 0 } else { self.axes.len() - 2 };
        first..self.axes.len()
    }

    /// The number of places of a transformed tile.
    pub fn places(&self, matrices: &Matrices) -> i64 {
        self.transformed().map(|_| matrices.extent() as i64).product()
    }

    /// The extent of a depth that is summed over.
    pub fn depth(&self) -> i64 {
        let first = self.transformed().start;
        self.axes[..first].iter().map(|cut| cut.width).product()
    }
}
