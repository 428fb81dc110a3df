//! Convolutions, `y[n, f, o] = sum_{c, k} x[n, g C + c, o s + k d - p] * w[f, c, k]` with `g = f / F`, and their
//! transposes, `y[n, g F + f, i s + k d - p] += x[n, g C + c, i] * w[g C + c, f, k]`.
//!
//! Both are sums over data padded beforehand, without conditions. A transpose gathers: its data is spread by the
//! stride, with zeros between, and a kernel that runs backwards slides over it by 1.

use super::padding::{Place, pad, pad_for_windows, window_indices};
use super::{Table, TeCall};
use fusion_dialects::Value;
use fusion_dialects::te::{Combine, Kernel, Scalars};
use fusion_operators::ops::convolution::*;
use fusion_operators::ops::window::{Axis, Window};

pub const TABLE: Table = &[
    (&CONV1D, convolution),
    (&CONV2D, convolution),
    (&CONV3D, convolution),
    (&CONV1D_TRANSPOSE, transpose),
    (&CONV2D_TRANSPOSE, transpose),
    (&CONV3D_TRANSPOSE, transpose),
];

/// Channels of a group of the data and of the result.
struct Groups {
    count: u64,
    data: u64,
    result: u64,
}

impl Groups {
    /// Channel `c` of the group of the result's channel `f`, counted over all groups.
    fn channel<'c>(&self, s: &Scalars<'c>, f: Value<'c>, c: Value<'c>) -> Value<'c> {
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
    let (weight, result) = (call.shape(1), call.result_shape(0));
    let groups = Groups { count: window.groups, data: weight[1], result: weight[0] / window.groups };
    let data =
        pad_for_windows(kernel, (call.operands[0], &call.types[0]), &window, &result[2..], Combine::Sum)?;
    let y = kernel.reduce(call.op.name, &call.results[0], &weight[1..], Combine::Sum, |s, axes, over| {
        let (n, f, c) = (axes[0], axes[1], over[0]);
        let mut at = vec![n, groups.channel(s, f, c)];
        at.extend(window_indices(s, &window, &axes[2..], &over[1..]));
        s.mul(s.load(data, &at), s.load(call.operands[1], &[&[f], over].concat()))
    });
    Ok(vec![y])
}

fn transpose<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Result<Vec<Value<'c>>, String> {
    let mut window = Window::of_transpose(&call.attrs, &call.types[1]).map_err(|v| v.to_string())?;
    let (shape, weight, result) = (call.shape(0), call.shape(1), call.result_shape(0));
    let groups = Groups { count: window.groups, data: shape[1] / window.groups, result: weight[1] };
    let mut places: Vec<Place> = shape.iter().map(|&n| Place::kept(n)).collect();
    for ((place, axis), &extent) in places.iter_mut().skip(2).zip(&window.axes).zip(&result[2..]) {
        *place = spread(axis, extent)?;
    }
    let data = pad(kernel, (call.operands[0], &call.types[0]), &places, Combine::Sum)?;
    window.axes.iter_mut().for_each(|axis| axis.stride = 1);
    let reduce = [&[groups.data], &weight[2..]].concat();
    let y = kernel.reduce(call.op.name, &call.results[0], &reduce, Combine::Sum, |s, axes, over| {
        let (n, f) = (axes[0], axes[1]);
        let channel = groups.channel(s, f, over[0]);
        let mut at = vec![n, channel];
        at.extend(window_indices(s, &window, &axes[2..], &over[1..]));
        let filter = if groups.count == 1 { f } else { s.index_mod(f, groups.result.max(1) as i64) };
        let mut of_weight = vec![channel, filter];
        of_weight
            .extend(over[1..].iter().zip(&weight[2..]).map(|(&k, &n)| s.index_affine(k, -1, n as i64 - 1)));
        s.mul(s.load(data, &at), s.load(call.operands[1], &of_weight))
    });
    Ok(vec![y])
}

/// Element `i` adds to `i s + k d - p`, which reads it at `i s + span - 1 - p` in the copy.
fn spread(axis: &Axis, result: u64) -> Result<Place, String> {
    let gaps = axis.span().map_or(0, |span| span - 1);
    let extent = result.checked_add(gaps).filter(|&n| i64::try_from(n).is_ok());
    let extent = extent.ok_or_else(|| {
        format!(
            "has a kernel that reaches {gaps} over an extent of {result}, which is more than can be addressed"
        )
    })?;
    Ok(Place { begin: gaps as i64 - axis.begin as i64, step: axis.stride, extent })
}
