//! Which data each position of a sliding window reads: `i = o * stride + k * dilation - begin`.

use super::{EvalError, for_each_index, strides};
use crate::ops::window::{Axis, Window};

/// Consecutive windows of which one kernel position reads data inside the bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// Flat index of the first window.
    pub window: usize,
    /// Flat index of the data it reads; that of the next is a stride of the last axis further.
    pub data: usize,
    /// Number of windows.
    pub count: usize,
}

/// The first window, and the one after the last, of which kernel position `k` is inside the data.
fn inside(axis: &Axis, k: usize, windows: usize, data: usize) -> (usize, usize) {
    let stride = i128::from(axis.stride);
    let before = i128::from(axis.begin) - k as i128 * i128::from(axis.dilation);
    // The first window whose position reads at or after `at`.
    let reaching = |at: i128| ((at + before + stride - 1) / stride).clamp(0, windows as i128) as usize;
    (reaching(0), reaching(data as i128))
}

/// Visits the kernel's positions in row-major order, with the runs of windows for which each reads
/// data. `windows` and `data` are spatial extents.
pub(super) fn for_each_position(
    window: &Window,
    windows: &[usize],
    data: &[usize],
    mut visit: impl FnMut(usize, &[Run]),
) -> Result<(), EvalError> {
    let kernel =
        window.kernel().ok_or_else(|| EvalError::Value("the kernel's extents are not known".into()))?;
    let kernel: Vec<usize> = kernel.into_iter().map(|k| k as usize).collect();
    if windows.contains(&0) || data.contains(&0) {
        return Ok(());
    }
    let last = windows.len() - 1;
    let (window_steps, data_steps) = (strides(windows), strides(data));
    let (mut runs, mut number) = (Vec::new(), 0);
    for_each_index(&kernel, |k| {
        let bounds: Vec<_> = (0..=last).map(|i| inside(&window.axes[i], k[i], windows[i], data[i])).collect();
        let mut extents: Vec<_> = bounds.iter().map(|(from, to)| to.saturating_sub(*from)).collect();
        let count = std::mem::replace(&mut extents[last], 1);
        runs.clear();
        for_each_index(if count == 0 { &[0] } else { &extents }, |index| {
            let (mut run, axes) = (Run { window: 0, data: 0, count }, window.axes.iter().enumerate());
            for (i, axis) in axes {
                let o = bounds[i].0 + index[i];
                let read = o as i128 * i128::from(axis.stride) + k[i] as i128 * i128::from(axis.dilation);
                run.window += o * window_steps[i];
                run.data += (read - i128::from(axis.begin)) as usize * data_steps[i];
            }
            runs.push(run);
        });
        visit(number, &runs);
        number += 1;
    });
    Ok(())
}

/// For each window along an axis, how many kernel positions read between `-before` and `data + after`.
pub(super) fn positions(axis: &Axis, windows: usize, data: usize, before: u64, after: u64) -> Vec<f64> {
    let (kernel, dilation) = (i128::from(axis.kernel.known().unwrap_or(0)), i128::from(axis.dilation));
    let count = |o: usize| {
        let start = o as i128 * i128::from(axis.stride) - i128::from(axis.begin);
        // Positions that read before a bound.
        let until = |bound: i128| ((bound - start + dilation - 1) / dilation).clamp(0, kernel);
        (until(data as i128 + i128::from(after)) - until(-i128::from(before))) as f64
    };
    (0..windows).map(count).collect()
}
