//! Convolutions, `y[n, f, o] = sum_{c, k} x[n, g C + c, o s + k d - p] * w[f, c, k]` with `g = f / F`: sums over data padded
//! beforehand, without conditions; where the extents of images are known at run time only, of data as it is, with conditions.

use super::padding::{is_dynamic, load_in_window, pad_for_windows, window_indices};
use super::{Table, TeCall};
use fusion_dialects::Value;
use fusion_dialects::te::{Combine, Kernel, Scalars};
use fusion_operators::ops::convolution::*;
use fusion_operators::ops::window::Window;

pub const TABLE: Table = &[(&CONV1D, convolution), (&CONV2D, convolution), (&CONV3D, convolution)];

/// Channels of a group of the data and of the result.
pub(super) struct Groups {
    pub(super) count: u64,
    pub(super) data: u64,
    pub(super) result: u64,
}

impl Groups {
    /// Channel `c` of the group of the result's channel `f`, counted over all groups.
    pub(super) fn channel<'c>(&self, s: &Scalars<'c>, f: Value<'c>, c: Value<'c>) -> Value<'c> {
        if self.count == 1 {
            return c;
        }
        // Without channels in the result nothing is computed, but dividing by 0 would not fold.
        let group = s.index_div(f, self.result.max(1) as i64);
        s.index_add(s.index_affine(group, self.data as i64, 0), c)
    }
}

fn convolution<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Result<Vec<Value<'c>>, String> {
    let window = Window::of_convolution(&call.attrs, &call.types[1]).map_err(|v| v.to_string())?;
    let weight = call.shape(1);
    let groups = Groups { count: window.groups, data: weight[1], result: weight[0] / window.groups };
    if is_dynamic(&call.types[0]) {
        let data = (call.operands[0], &call.types[0]);
        let y = kernel.reduce(call.op.name, &call.results[0], &weight[1..], Combine::Sum, |s, axes, over| {
            let lead = [axes[0], groups.channel(s, axes[1], over[0])];
            let x = load_in_window(s, data, &window, (&lead, &axes[2..], &over[1..]), Combine::Sum);
            s.product(x, s.load(call.operands[1], &[&axes[1..2], over].concat()), call.results[0].dtype)
        });
        return Ok(vec![y]);
    }
    let windows = call.result_extents(0, 2)?;
    let data = pad_for_windows(kernel, (call.operands[0], &call.types[0]), &window, &windows, Combine::Sum)?;
    let y = kernel.reduce(call.op.name, &call.results[0], &weight[1..], Combine::Sum, |s, axes, over| {
        let (n, f, c) = (axes[0], axes[1], over[0]);
        let mut at = vec![n, groups.channel(s, f, c)];
        at.extend(window_indices(s, &window, &axes[2..], &over[1..]));
        s.product(s.load(data, &at), s.load(call.operands[1], &[&[f], over].concat()), call.results[0].dtype)
    });
    Ok(vec![y])
}
