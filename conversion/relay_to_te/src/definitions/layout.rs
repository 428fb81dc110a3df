//! Images in other orders than NCHW: the definitions of the plain operators, with each index put where its layout has it.
//!
//!     NCHW16c:   y[n, fo, i, j, fi] = sum_{co, k, l, ci} x[n, co, i s + k, j s + l, ci] * w[fo, co, k, l, ci, fi]
//!
//! An index of a split axis goes through as two, the number of the part and the place in it, so that tensors which are split alike are
//! read without quotients. Steps of a sum go in the order in which the data lies.

use super::padding::{pad_windows_at, window_indices};
use super::{Built, Table, TeCall};
use fusion_dialects::Value;
use fusion_dialects::te::{Combine, Kernel, Scalars};
use fusion_operators::Layout;
use fusion_operators::layout::Part;
use fusion_operators::ops::layout::{LAYOUT_CONV2D, LAYOUT_TRANSFORM, Layouts, orders};
use fusion_operators::ops::window::Window;

pub const TABLE: Table = &[(&LAYOUT_CONV2D, convolution), (&LAYOUT_TRANSFORM, transform)];

/// An index of an axis of a value: as one, or as the number of a part of so many elements and the place in it.
#[derive(Clone, Copy)]
pub enum At<'c> {
    /// As one.
    One(Value<'c>),
    /// The part, the place in it, and the elements of a part.
    Two(Value<'c>, Value<'c>, u64),
}

impl<'c> At<'c> {
    /// The index as one.
    pub fn one(self, s: &Scalars<'c>) -> Value<'c> {
        match self {
            At::One(index) => index,
            At::Two(part, place, elements) => s.index_add(s.index_affine(part, elements as i64, 0), place),
        }
    }

    /// The index as that of a part of so many elements.
    fn part(self, s: &Scalars<'c>, of: u64) -> Value<'c> {
        match self {
            At::Two(part, _, elements) if elements == of => part,
            other => s.index_div(other.one(s), of as i64),
        }
    }

    fn place(self, s: &Scalars<'c>, of: u64) -> Value<'c> {
        match self {
            At::Two(_, place, elements) if elements == of => place,
            other => s.index_mod(other.one(s), of as i64),
        }
    }
}

/// The indices of a value's axes, of the indices in memory.
pub fn of_stored<'c>(layout: &Layout, axes: &[Value<'c>]) -> Vec<At<'c>> {
    let find = |axis: usize, is_inner: bool| {
        let at = layout.parts().iter().position(|p| p.axis == axis && p.inner.is_some() == is_inner);
        at.and_then(|at| axes.get(at).copied())
    };
    let rank = layout.plain_one().parts().len();
    let one = |axis: usize| match (find(axis, false), layout.inner(axis)) {
        (Some(part), Some(elements)) => find(axis, true).map(|place| At::Two(part, place, elements)),
        (whole, _) => whole.map(At::One),
    };
    (0..rank).filter_map(one).collect()
}

/// The indices in memory, of those of a value's axes.
pub fn to_stored<'c>(s: &Scalars<'c>, layout: &Layout, at: &[At<'c>]) -> Vec<Value<'c>> {
    let one = |part: &Part| match (part.inner, layout.inner(part.axis)) {
        (Some(of), _) => at[part.axis].place(s, of),
        (None, Some(of)) => at[part.axis].part(s, of),
        (None, None) => at[part.axis].one(s),
    };
    layout.parts().iter().map(one).collect()
}

/// Where the axes of windows lie in memory; images that are split along them have no kernels.
pub fn spatial(layout: &Layout) -> Result<Vec<usize>, String> {
    let rank = layout.plain_one().parts().len();
    if (2..rank).any(|axis| layout.inner(axis).is_some()) {
        return Err(format!(
            "goes over images laid out as {layout}, whose rows or columns are split: only channels may be"
        ));
    }
    let place = |axis: usize| layout.parts().iter().position(|p| p.axis == axis);
    Ok((2..rank).filter_map(place).collect())
}

/// `y[to(i)] = x[from(i)]`.
fn transform<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let (from, to) = orders(&call.attrs).map_err(|v| v.to_string())?;
    Ok(vec![kernel.compute(call.op.name, &call.results[0], |s, axes| {
        s.load(call.operands[0], &to_stored(s, &from, &of_stored(&to, axes)))
    })])
}

/// Extents that must be known: kernels of images of dynamic extents are made in the plain order.
fn known(call: &TeCall) -> Result<(), String> {
    let dynamic = call.types.iter().chain(&call.results).find(|ty| ty.shape().is_none());
    dynamic.map_or(Ok(()), |ty| {
        Err(format!("needs extents that are known when compiling, found {ty}; write it in NCHW"))
    })
}

fn convolution<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    known(call)?;
    let said = |v: fusion_operators::Violation| v.to_string();
    let layouts = Layouts::of(&call.facts()).map_err(said)?;
    let values = layouts.values(&call.types).map_err(said)?;
    let result =
        layouts.result.value(&call.results[0]).ok_or("has a result of other extents than its layout")?;
    let window = Window::of_convolution(&call.attrs, &values[1]).map_err(said)?;
    let (data_layout, weight_layout) = (&layouts.operands[0], &layouts.operands[1]);
    let (shape, weight) = (result.shape().unwrap_or_default(), values[1].shape().unwrap_or_default());
    let where_windows_are = spatial(data_layout)?;
    let data = (call.operands[0], &call.types[0]);
    let data = pad_windows_at(kernel, data, &where_windows_are, (&window, &shape[2..]), Combine::Sum)?;

    // Steps of the sum: channels of a group, and positions of the kernel.
    let split = data_layout.inner(1).filter(|of| window.groups == 1 && weight[1].is_multiple_of(*of));
    let steps: Vec<Part> = data_layout.parts().iter().copied().filter(|p| p.axis > 0).collect();
    let steps: Vec<Part> =
        steps.into_iter().filter(|p| p.axis > 1 || p.inner.is_none() || split.is_some()).collect();
    let extent = |part: &Part| match (part.inner, part.axis) {
        (Some(of), _) => of,
        (None, 1) => weight[1] / split.unwrap_or(1),
        (None, axis) => weight[axis],
    };
    let extents: Vec<u64> = steps.iter().map(extent).collect();
    let (groups, filters) = (window.groups, weight[0]);
    let (of_data, of_result) = (weight[1] as i64, (filters / groups).max(1) as i64);
    let y = kernel.reduce(call.op.name, &call.results[0], &extents, Combine::Sum, |s, axes, over| {
        let at = of_stored(&layouts.result, axes);
        let step = |axis: usize, is_inner: bool| {
            steps.iter().position(|p| p.axis == axis && p.inner.is_some() == is_inner).map(|i| over[i])
        };
        let one = |axis: usize| step(axis, false).unwrap_or_else(|| s.index(0));
        let channel = match (split, step(1, true)) {
            (Some(of), Some(place)) => At::Two(one(1), place, of),
            _ => At::One(one(1)),
        };
        let of_all = match groups {
            1 => channel,
            // Each channel by itself.
            n if n == filters && of_data == 1 => at[1],
            _ => {
                let group = s.index_div(at[1].one(s), of_result);
                At::One(s.index_add(s.index_affine(group, of_data, 0), channel.one(s)))
            }
        };
        let (o, k) = ([at[2].one(s), at[3].one(s)], [one(2), one(3)]);
        let places = window_indices(s, &window, &o, &k);
        let in_data = to_stored(s, data_layout, &[at[0], of_all, At::One(places[0]), At::One(places[1])]);
        let in_weight = to_stored(s, weight_layout, &[at[1], channel, At::One(k[0]), At::One(k[1])]);
        s.product(s.load(data, &in_data), s.load(call.operands[1], &in_weight), call.results[0].dtype)
    });
    Ok(vec![y])
}
