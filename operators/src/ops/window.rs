//! Sliding windows: the geometry that convolutions, their transposes and pools share.
//!
//! Position `k` of the kernel in window `o` reads the data at `o * stride + k * dilation - begin`
//! (Dumoulin and Visin, "A guide to convolution arithmetic for deep learning", 2016, section 5.1).

use crate::{Attr, Attrs, Dim, TensorType, Violation};

/// A window along one spatial axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Extent of the kernel before dilation; known for every pool.
    pub kernel: Dim,
    /// Distance of two windows.
    pub stride: u64,
    /// Distance of two positions of the kernel.
    pub dilation: u64,
    /// Padding before the data.
    pub begin: u64,
    /// Padding after the data.
    pub end: u64,
    /// Extent added to a transposed convolution's result; 0 elsewhere.
    pub output_padding: u64,
}

/// The window of a convolution or pool, with its attributes checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// The spatial axes, outermost first.
    pub axes: Vec<Axis>,
    /// Groups of channels; 1 for pools.
    pub groups: u64,
    /// The last window may hang over the end; for pools only.
    pub ceil_mode: bool,
}

impl Window {
    /// The window of a convolution with a weight `[F, C / groups, kernel...]`. Violates C3.
    pub fn of_convolution(attrs: &Attrs, weight: &TensorType) -> Result<Window, Violation> {
        Window::parse(attrs, weight.dims.get(2..).unwrap_or(&[]), 3)
    }

    /// The window of a transposed convolution with a weight `[C, F / groups, kernel...]`. Violates C3.
    pub fn of_transpose(attrs: &Attrs, weight: &TensorType) -> Result<Window, Violation> {
        Window::of_convolution(attrs, weight)?.with_output_padding(attrs, 3)
    }

    /// The window of a pool over `rank` spatial axes. Violates C2.
    pub fn of_pool(attrs: &Attrs, rank: usize) -> Result<Window, Violation> {
        if attrs.get("kernel").is_none() {
            return Err(Violation::new(
                2,
                format!("attribute kernel is missing, expected one number for each of {rank} axes"),
            ));
        }
        let kernel: Vec<Dim> =
            numbers(attrs, "kernel", rank, 1, 1, 2)?.into_iter().map(Dim::Static).collect();
        Ok(Window { ceil_mode: attrs.flag("ceil_mode"), ..Window::parse(attrs, &kernel, 2)? })
    }

    /// The window of columns that are added into an image, over `rank` spatial axes. Violates C2.
    pub fn of_columns(attrs: &Attrs, rank: usize) -> Result<Window, Violation> {
        Window::of_pool(attrs, rank)?.with_output_padding(attrs, 2)
    }

    fn with_output_padding(mut self, attrs: &Attrs, number: u32) -> Result<Window, Violation> {
        let extra = numbers(attrs, "output_padding", self.axes.len(), 0, 0, number)?;
        for (axis, output_padding) in self.axes.iter_mut().zip(extra) {
            axis.output_padding = output_padding;
        }
        Ok(self)
    }

    fn parse(attrs: &Attrs, kernel: &[Dim], number: u32) -> Result<Window, Violation> {
        let rank = kernel.len();
        let strides = numbers(attrs, "strides", rank, 1, 1, number)?;
        let dilation = numbers(attrs, "dilation", rank, 1, 1, number)?;
        let padding = numbers(attrs, "padding", 2 * rank, 0, 0, number)?;
        let groups = match attrs.get("groups") {
            None => 1,
            Some(Attr::Int(n)) if *n > 0 => *n as u64,
            Some(other) => {
                return Err(Violation::new(
                    number,
                    format!("groups must be an integer above 0, found {other:?}"),
                ));
            }
        };
        let axes: Vec<Axis> = (0..rank)
            .map(|i| Axis {
                kernel: kernel[i].clone(),
                stride: strides[i],
                dilation: dilation[i],
                begin: padding[i],
                end: padding[rank + i],
                output_padding: 0,
            })
            .collect();
        for (i, axis) in axes.iter().enumerate() {
            if axis.kernel.known().is_some() && axis.span().is_none() {
                return Err(Violation::new(
                    number,
                    format!(
                        "the kernel's extent on spatial axis {i} must be above 0 and its dilated extent fit 63 bits, found extent {} with dilation {}",
                        axis.kernel, axis.dilation
                    ),
                ));
            }
        }
        Ok(Window { axes, groups, ceil_mode: false })
    }

    /// The kernel's extents when all are known.
    pub fn kernel(&self) -> Option<Vec<u64>> {
        self.axes.iter().map(|a| a.kernel.known()).collect()
    }

    /// Spatial extents of a convolution or pool over data of these spatial extents. Violates `number`
    /// where the dilated kernel does not fit the padded data.
    pub fn output(&self, data: &[Dim], number: u32) -> Result<Vec<Dim>, Violation> {
        let dynamic = |axis: &Axis, dim: &Dim| axis.windows_of(dim, self.ceil_mode);
        self.extents(data, |axis, extent| axis.windows(extent, self.ceil_mode), dynamic).map_err(|i| {
            let a = &self.axes[i];
            Violation::new(
                number,
                format!(
                    "the dilated kernel must fit the padded data on spatial axis {i}, found kernel {} with dilation {} over extent {} with padding {} and {}",
                    a.kernel, a.dilation, data[i], a.begin, a.end
                ),
            )
        })
    }

    /// Spatial extents of a transposed convolution over data of these spatial extents. Violates
    /// `number` where an extent is not above 0.
    pub fn transposed_output(&self, data: &[Dim], number: u32) -> Result<Vec<Dim>, Violation> {
        self.extents(data, Axis::transposed, Axis::transposed_of).map_err(|i| {
            let a = &self.axes[i];
            Violation::new(
                number,
                format!(
                    "the result's extent on spatial axis {i} must be above 0 and fit 63 bits, found extent {}, stride {}, kernel {}, dilation {}, output padding {}, padding {} and {}",
                    data[i], a.stride, a.kernel, a.dilation, a.output_padding, a.begin, a.end
                ),
            )
        })
    }

    /// Applies `extent` on each axis; the error is the first axis without one.
    fn extents(
        &self,
        data: &[Dim],
        extent: impl Fn(&Axis, u64) -> Option<u64>,
        dynamic: impl Fn(&Axis, &Dim) -> Dim,
    ) -> Result<Vec<Dim>, usize> {
        let one = |(i, (axis, dim)): (usize, (&Axis, &Dim))| match (dim, axis.span()) {
            (Dim::Static(n), Some(_)) => extent(axis, *n).map(Dim::Static).ok_or(i),
            (unknown, _) => Ok(dynamic(axis, unknown)),
        };
        self.axes.iter().zip(data).enumerate().map(one).collect()
    }
}

impl Axis {
    /// Extent of the dilated kernel, `(kernel - 1) * dilation + 1`. `None` when it is unknown.
    pub fn span(&self) -> Option<u64> {
        let gaps = self.kernel.known()?.checked_sub(1)?;
        gaps.checked_mul(self.dilation)?.checked_add(1).filter(|&n| n <= i64::MAX as u64)
    }

    /// Number of windows over data of an extent: `(data + padding - span) / stride + 1`, rounded down,
    /// or up with `ceil_mode`, which leaves out windows that start in the padding at the end
    /// (PyTorch, `MaxPool2d`). `None` when the dilated kernel does not fit the padded data; with `ceil_mode`
    /// the only window may hang over its end by less than a stride.
    pub fn windows(&self, data: u64, ceil_mode: bool) -> Option<u64> {
        let (span, stride) = (i128::from(self.span()?), i128::from(self.stride));
        let before_end = i128::from(data) + i128::from(self.begin);
        let room = before_end + i128::from(self.end) - span;
        let count = if ceil_mode {
            let starts_before_end = (before_end + stride - 1) / stride;
            ((room + stride - 1) / stride + 1).min(starts_before_end)
        } else {
            room / stride + 1
        };
        let hangs_over = ceil_mode && room > -stride && before_end > 0;
        if room < 0 && !hangs_over { None } else { extent(count) }
    }

    /// Extent of the result of a transposed convolution over data of an extent:
    /// `(data - 1) * stride + span + output_padding - padding`. `None` when it is not above 0.
    pub fn transposed(&self, data: u64) -> Option<u64> {
        let grown = (i128::from(data) - 1).checked_mul(i128::from(self.stride))?;
        let rest = i128::from(self.span()?) + i128::from(self.output_padding)
            - i128::from(self.begin)
            - i128::from(self.end);
        grown.checked_add(rest).filter(|&n| n > 0).and_then(extent)
    }

    /// As [`Axis::windows`], of an extent that is an expression.
    fn windows_of(&self, data: &Dim, ceil_mode: bool) -> Dim {
        let Some(span) = self.span() else { return Dim::Any };
        let stride = Dim::Static(self.stride);
        let padded = data.plus(&Dim::Static(self.begin.saturating_add(self.end)));
        // (padded - span) / stride + 1, without a number below 0 between.
        let plus = |dim: &Dim, n: u64| dim.plus(&Dim::Static(n));
        let minus = |dim: &Dim, n: u64| {
            let difference = dim.expression().and_then(|d| d.minus(&Dim::Static(n).expression()?));
            difference.map_or(Dim::Any, Dim::of)
        };
        if !ceil_mode {
            return plus(&minus(&padded, span).over(&stride), 1);
        }
        let hanging = plus(&minus(&plus(&padded, self.stride - 1), span).over(&stride), 1);
        let before_end = plus(data, self.begin);
        hanging.least(&plus(&before_end, self.stride - 1).over(&stride))
    }

    /// As [`Axis::transposed`], of an extent that is an expression.
    fn transposed_of(&self, data: &Dim) -> Dim {
        let Some(span) = self.span() else { return Dim::Any };
        let grown = data.times(&Dim::Static(self.stride));
        let added = Dim::Static(span.saturating_add(self.output_padding)).expression();
        let removed =
            Dim::Static(self.begin.saturating_add(self.end).saturating_add(self.stride)).expression();
        let sum = grown.expression().zip(added).and_then(|(a, b)| a.plus(&b)).zip(removed);
        sum.and_then(|(a, b)| a.minus(&b)).map_or(Dim::Any, Dim::of)
    }
}

/// An extent that MLIR's signed 64-bit extents can hold.
fn extent(value: i128) -> Option<u64> {
    i64::try_from(value).ok().and_then(|n| u64::try_from(n).ok())
}

/// A list of `count` numbers, each `least` or more, from an attribute; `default` when it is absent.
fn numbers(
    attrs: &Attrs,
    name: &str,
    count: usize,
    least: u64,
    default: u64,
    number: u32,
) -> Result<Vec<u64>, Violation> {
    let fail =
        |found: String| Violation::new(number, format!("{name} must be {count} integers, found {found}"));
    let values = match attrs.get(name) {
        None => return Ok(vec![default; count]),
        Some(Attr::Ints(values)) => values,
        Some(other) => return Err(fail(format!("{other:?}"))),
    };
    if values.len() != count {
        return Err(fail(format!("{values:?}")));
    }
    let checked = values.iter().map(|&v| u64::try_from(v).ok().filter(|&v| v >= least));
    checked.collect::<Option<_>>().ok_or_else(|| {
        Violation::new(number, format!("{name} must be {least} or more on every axis, found {values:?}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(kernel: u64, stride: u64, dilation: u64, begin: u64, end: u64) -> Axis {
        Axis { kernel: Dim::Static(kernel), stride, dilation, begin, end, output_padding: 0 }
    }

    #[test]
    fn windows_round_down() {
        assert_eq!(axis(7, 2, 1, 3, 3).windows(224, false), Some(112));
    }

    #[test]
    fn ceil_mode_lets_the_last_window_hang_over() {
        assert_eq!(axis(3, 2, 1, 0, 0).windows(4, false), Some(1));
        assert_eq!(axis(3, 2, 1, 0, 0).windows(4, true), Some(2));
    }

    #[test]
    fn ceil_mode_drops_a_window_that_starts_in_the_end_padding() {
        assert_eq!(axis(1, 2, 1, 0, 0).windows(2, true), Some(1));
        assert_eq!(axis(3, 3, 1, 1, 1).windows(2, true), Some(1));
    }

    #[test]
    fn dilation_widens_the_kernel() {
        assert_eq!(axis(3, 1, 4, 0, 0).span(), Some(9));
        assert_eq!(axis(3, 1, 4, 0, 0).windows(8, false), None);
    }

    #[test]
    fn transposing_inverts_a_strided_extent() {
        let a = Axis { output_padding: 1, ..axis(3, 2, 1, 1, 1) };
        assert_eq!(a.windows(8, false), Some(4));
        assert_eq!(a.transposed(4), Some(8));
    }

    #[test]
    fn extreme_numbers_are_refused_not_wrapped() {
        let most = i64::MAX as u64;
        assert_eq!(axis(most, 1, most, 0, 0).span(), None);
        assert_eq!(axis(1, 1, 1, most, most).windows(most, false), None);
        assert_eq!(axis(1, most, 1, 0, 0).transposed(most), None);
        let a = Axis { output_padding: most, ..axis(1, 1, 1, most, most) };
        assert_eq!(a.transposed(1), None);
    }

    #[test]
    fn same_padding_keeps_a_symbol() {
        let w = Window { axes: vec![axis(3, 1, 1, 1, 1)], groups: 1, ceil_mode: false };
        assert_eq!(w.output(&[Dim::Symbol("h".into())], 5), Ok(vec![Dim::Symbol("h".into())]));
    }

    #[test]
    fn another_stride_gives_an_expression() {
        let w = Window { axes: vec![axis(3, 2, 1, 1, 1)], groups: 1, ceil_mode: false };
        assert_eq!(w.output(&[Dim::Symbol("h".into())], 5), Ok(vec![Dim::of_text("(h-1) floordiv 2 + 1")]));
    }
}
