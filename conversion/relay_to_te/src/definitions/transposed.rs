//! Transposed convolutions, `y[n, g F + f, i s + k - p] += x[n, g C + c, i] * w[g C + c, f, k]`, as sums.
//!
//! A stride is a number of phases, each a convolution of its own with every s-th element of the kernel:
//!
//!     o = q s + t        z[n, q, t, f] = sum_{c, j} x[n, c, q + (t + p) div s - j] * w[c, f, (t + p) mod s + s j]
//!                        y[n, f, o] = z[n, o div s, o mod s, f]
//!
//! so that nothing is multiplied with the zeros between spread data (Dumoulin and Visin, 2016, draw them). With dilation, the
//! data is spread, and a kernel that runs backwards slides over it by 1. Data of a single element in space is a product
//! of matrices: `y[n, f, o] = sum_c x[n, c] * w[c, f, o + p]`. Where the extents of images are known at run time only, `y` is
//! summed up as it is, with conditions (`transposed_dynamic`).

use super::convolution::Groups;
use super::padding::{Place, is_dynamic, pad, window_indices};
use super::transposed_dynamic;
use super::{Table, TeCall};
use fusion_dialects::Value;
use fusion_dialects::te::{Combine, Compare, Kernel, Scalars};
use fusion_operators::ops::convolution::{CONV1D_TRANSPOSE, CONV2D_TRANSPOSE, CONV3D_TRANSPOSE};
use fusion_operators::ops::window::{Axis, Window};
use fusion_operators::{Dim, TensorType};

pub const TABLE: Table =
    &[(&CONV1D_TRANSPOSE, transpose), (&CONV2D_TRANSPOSE, transpose), (&CONV3D_TRANSPOSE, transpose)];

/// A spatial axis.
struct Phase {
    stride: u64,
    kernel: u64,
    /// Elements of the kernel in a phase, rounded up.
    taps: u64,
    begin: u64,
    /// Number of results in a phase, rounded up.
    count: u64,
}

impl Phase {
    /// How many elements of the data further on the last phases read than the first.
    fn carry(&self) -> u64 {
        u64::from(!self.begin.is_multiple_of(self.stride))
    }
}

/// A transposed convolution by the phases of its strides.
struct Phases {
    axes: Vec<Phase>,
    groups: Groups,
}

impl Phases {
    /// Those of a call without dilation, some stride of which is above 1.
    fn of(call: &TeCall, window: &Window) -> Option<Phases> {
        let weight = call.shape(1);
        let result = call.result_extents(0, 2).ok()?;
        let phase = |((axis, &kernel), &extent): ((&Axis, &u64), &u64)| {
            let (stride, begin) = (axis.stride, axis.begin);
            i64::try_from(begin.checked_add(extent)?).ok()?;
            let (taps, count) = (kernel.div_ceil(stride), extent.div_ceil(stride));
            (kernel > 0).then_some(Phase { stride, kernel, taps, begin, count })
        };
        let axes: Vec<Phase> =
            window.axes.iter().zip(&weight[2..]).zip(&result).map(phase).collect::<Option<_>>()?;
        let plain = window.axes.iter().all(|a| a.dilation == 1) && axes.iter().any(|a| a.stride > 1);
        let groups = Groups { count: window.groups, data: weight[0] / window.groups, result: weight[1] };
        plain.then_some(Phases { axes, groups })
    }

    fn build<'c>(&self, kernel: &Kernel<'c>, call: &TeCall<'c>) -> Result<Vec<Value<'c>>, String> {
        let result = &call.results[0].dims;
        let mut places: Vec<Place> = call.dims(0).iter().cloned().map(Place::kept).collect();
        for (place, axis) in places.iter_mut().skip(2).zip(&self.axes) {
            let reach = axis.taps - 1 + axis.carry();
            let extent = axis.count.checked_add(reach).filter(|&n| i64::try_from(n).is_ok());
            let extent = extent.ok_or("reads further than can be addressed")?;
            let first = axis.begin / axis.stride;
            *place =
                Place { begin: axis.taps as i64 - 1 - first as i64, step: 1, extent: Dim::Static(extent) };
        }
        let data = pad(kernel, (call.operands[0], &call.types[0]), &places, Combine::Sum)?;
        let rank = self.axes.len();
        let mut extents = vec![result[0].clone()];
        extents.extend(self.axes.iter().map(|a| Dim::Static(a.count)));
        extents.extend(self.axes.iter().map(|a| Dim::Static(a.stride)));
        extents.push(result[1].clone());
        let mut reduce = vec![self.groups.data];
        reduce.extend(self.axes.iter().map(|a| a.taps));
        let phases = TensorType::new(extents, call.results[0].dtype);
        let least: Vec<u64> = phases.dims.iter().map(|dim| dim.known().unwrap_or(1)).collect();
        if TensorType::fixed(&least, phases.dtype).bytes().is_none_or(|n| i64::try_from(n).is_err()) {
            return Err(format!("has phases of type {phases}, which is more than can be addressed"));
        }
        let z = kernel.reduce(call.op.name, &phases, &reduce, Combine::Sum, |s, at, over| {
            let (q, t, f) = (&at[1..=rank], &at[rank + 1..at.len() - 1], at[at.len() - 1]);
            let channel = self.groups.channel(s, f, over[0]);
            let mut of_data = vec![at[0], channel];
            let filter =
                if self.groups.count == 1 { f } else { s.index_mod(f, self.groups.result.max(1) as i64) };
            let mut of_weight = vec![channel, filter];
            let mut conditions = Vec::new();
            for (i, axis) in self.axes.iter().enumerate() {
                let (tap, stride) = (over[1 + i], axis.stride as i64);
                let shifted = s.index_affine(t[i], 1, (axis.begin % axis.stride) as i64);
                let from = s.index_add(q[i], s.index_div(shifted, stride));
                of_data.push(s.index_add(from, s.index_affine(tap, -1, axis.taps as i64 - 1)));
                let k = s.index_add(s.index_mod(shifted, stride), s.index_affine(tap, stride, 0));
                if !axis.kernel.is_multiple_of(axis.stride) {
                    conditions.push(s.index_compare(Compare::Less, k, s.index(axis.kernel as i64)));
                }
                of_weight.push(k);
            }
            let weight = match conditions.into_iter().reduce(|a, b| s.and(a, b)) {
                None => s.load(call.operands[1], &of_weight),
                Some(inside) => {
                    let zero = s.int(0, call.types[1].dtype);
                    s.load_if(inside, call.operands[1], &of_weight, zero)
                }
            };
            s.mul(s.load(data, &of_data), weight)
        });
        let y = kernel.compute("phases", &call.results[0], |s, at| s.load(z, &self.place(s, at)));
        Ok(vec![y])
    }

    /// Where an element of the result is among the phases.
    fn place<'c>(&self, s: &Scalars<'c>, at: &[Value<'c>]) -> Vec<Value<'c>> {
        let mut place = vec![at[0]];
        let axes = || at[2..].iter().zip(&self.axes);
        place.extend(axes().map(|(&o, a)| s.index_div(o, a.stride as i64)));
        place.extend(axes().map(|(&o, a)| s.index_mod(o, a.stride as i64)));
        place.push(at[1]);
        place
    }
}

fn transpose<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Result<Vec<Value<'c>>, String> {
    let mut window = Window::of_transpose(&call.attrs, &call.types[1]).map_err(|v| v.to_string())?;
    if is_dynamic(&call.types[0]) {
        return Ok(vec![transposed_dynamic::build(kernel, call, &window)]);
    }
    if call.least(0)[2..].iter().all(|&n| n == 1) && window.axes.iter().all(|a| a.dilation == 1) {
        return Ok(vec![single(kernel, call, &window)]);
    }
    if let Some(phases) = Phases::of(call, &window) {
        return phases.build(kernel, call);
    }
    let (weight, result) = (call.shape(1), call.result_extents(0, 2)?);
    let groups = Groups { count: window.groups, data: weight[0] / window.groups, result: weight[1] };
    let mut places: Vec<Place> = call.dims(0).iter().cloned().map(Place::kept).collect();
    for ((place, axis), &extent) in places.iter_mut().skip(2).zip(&window.axes).zip(&result) {
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

/// The product with the only element of the data in space.
fn single<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>, window: &Window) -> Value<'c> {
    let weight = call.shape(1);
    let result: Vec<u64> = call.results[0].dims.iter().map(|dim| dim.known().unwrap_or(1)).collect();
    let groups = Groups { count: window.groups, data: weight[0] / window.groups, result: weight[1] };
    let whole =
        window.axes.iter().zip(&result[2..]).zip(&weight[2..]).all(|((a, r), w)| a.begin == 0 && r == w);
    if groups.count == 1 && whole {
        return matrix(kernel, call);
    }
    kernel.reduce(call.op.name, &call.results[0], &[groups.data], Combine::Sum, |s, at, over| {
        let channel = groups.channel(s, at[1], over[0]);
        let filter = if groups.count == 1 { at[1] } else { s.index_mod(at[1], groups.result.max(1) as i64) };
        let (mut of_data, mut of_weight) = (vec![at[0], channel], vec![channel, filter]);
        let mut conditions = Vec::new();
        for (i, axis) in window.axes.iter().enumerate() {
            let k = s.index_affine(at[2 + i], 1, axis.begin as i64);
            if axis.begin + result[2 + i] > weight[2 + i] {
                conditions.push(s.index_compare(Compare::Less, k, s.index(weight[2 + i] as i64)));
            }
            of_data.push(s.index(0));
            of_weight.push(k);
        }
        let weight = match conditions.into_iter().reduce(|a, b| s.and(a, b)) {
            None => s.load(call.operands[1], &of_weight),
            Some(inside) => s.load_if(inside, call.operands[1], &of_weight, s.int(0, call.types[1].dtype)),
        };
        s.mul(s.load(call.operands[0], &of_data), weight)
    })
}

/// That product when each filter gives a whole kernel: filters and places are the columns of one matrix.
fn matrix<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Value<'c> {
    let (shape, weight) = (call.least(0), call.shape(1));
    let columns = [call.dims(0)[0].clone(), Dim::Static(weight[1..].iter().product())];
    let columns = TensorType::new(columns.to_vec(), call.results[0].dtype);
    let z = kernel.reduce(call.op.name, &columns, &[weight[0]], Combine::Sum, |s, at, over| {
        let (mut rest, mut places) = (at[1], Vec::new());
        for &extent in weight[1..].iter().rev() {
            places.push(s.index_mod(rest, extent.max(1) as i64));
            rest = s.index_div(rest, extent.max(1) as i64);
        }
        places.push(over[0]);
        places.reverse();
        let mut of_data = vec![at[0], over[0]];
        of_data.extend(shape[2..].iter().map(|_| s.index(0)));
        s.mul(s.load(call.operands[0], &of_data), s.load(call.operands[1], &places))
    });
    kernel.compute("space", &call.results[0], |s, at| {
        let place = |sum: Value<'c>, (&i, &extent): (&Value<'c>, &u64)| {
            s.index_add(s.index_affine(sum, extent as i64, 0), i)
        };
        let column = at[2..].iter().zip(&weight[2..]).fold(at[1], place);
        s.load(z, &[at[0], column])
    })
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
    Ok(Place { begin: gaps as i64 - axis.begin as i64, step: axis.stride, extent: Dim::Static(extent) })
}
