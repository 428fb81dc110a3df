//! Normalisations, `gamma * (x - mean) / sqrt(variance + epsilon) + beta`; softmax, `exp(x - max) / sum exp(x - max)`;
//! local response normalisation, `x / (bias + alpha / size * sum of x^2 over neighbouring channels)^beta`.
//!
//! How means and variances are summed up is told in `moments`. What stands between the stages of half types is f32.

use super::elementwise::broadcast_indices;
use super::moments::moments;
use super::padding::{Place, pad};
use super::{Table, TeCall};
use fusion_dialects::Value;
use fusion_dialects::te::{Combine, Kernel, Scalar, Scalars};
use fusion_operators::ops::normalization::*;
use fusion_operators::relation::normalize_axis;
use fusion_operators::{DType, Dim, TensorType};

pub const TABLE: Table = &[
    (&BATCH_NORM, batch_norm),
    (&INSTANCE_NORM, instance_norm),
    (&GROUP_NORM, group_norm),
    (&LAYER_NORM, layer_norm),
    (&LRN, lrn),
    (&SOFTMAX, softmax),
    (&LOG_SOFTMAX, log_softmax),
];

type Built<'c> = Result<Vec<Value<'c>>, String>;

/// The type that intermediate stages compute in.
fn wide(call: &TeCall) -> DType {
    call.compute_type(call.results[0].dtype)
}

fn axis(call: &TeCall) -> Result<usize, String> {
    let axis = call.attrs.int_or("axis", -1);
    normalize_axis(axis, call.types[0].rank())
        .ok_or_else(|| format!("has the axis {axis}, which is out of range for {}", call.types[0]))
}

/// `1 / sqrt(variance + epsilon)`
fn inverse_deviation<'c>(s: &Scalars<'c>, call: &TeCall<'c>, variance: Scalar<'c>) -> Scalar<'c> {
    let epsilon = s.float(call.attrs.float_or("epsilon", 1e-5), variance.dtype);
    s.div(s.float(1.0, variance.dtype), s.math("sqrt", &[s.add(variance, epsilon)]))
}

/// An element of an operand in the type of intermediate stages.
fn load<'c>(s: &Scalars<'c>, call: &TeCall<'c>, operand: usize, indices: &[Value<'c>]) -> Scalar<'c> {
    s.cast(s.load(call.operands[operand], indices), wide(call))
}

fn batch_norm<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let y = kernel.compute(call.op.name, &call.results[0], |s, axes| {
        let of_channel = |operand| load(s, call, operand, &axes[1..2]);
        let factor = s.mul(of_channel(1), inverse_deviation(s, call, of_channel(4)));
        let centred = s.sub(load(s, call, 0, axes), of_channel(3));
        s.add(s.mul(centred, factor), of_channel(2))
    });
    Ok(vec![y])
}

/// Gives each set of elements the mean 0 and the variance 1, then scales and shifts. The sets are numbered by the
/// indices of `sets`; `member` gives the element of a set at reduction indices, `set_of` the set of an element, and
/// `scale_at` the indices of operand 1 or 2 for an element.
fn standardize<'c>(
    kernel: &Kernel<'c>,
    call: &TeCall<'c>,
    sets: &[Dim],
    reduce: &[Dim],
    member: impl Fn(&Scalars<'c>, &[Value<'c>], &[Value<'c>]) -> Vec<Value<'c>>,
    set_of: impl Fn(&Scalars<'c>, &[Value<'c>]) -> Vec<Value<'c>>,
    scale_at: impl Fn(&Scalars<'c>, usize, &[Value<'c>]) -> Vec<Value<'c>>,
) -> Value<'c> {
    let ty = TensorType::new(sets.to_vec(), wide(call));
    let (average, variance) =
        moments(kernel, call, &ty, reduce, |s, set, over| load(s, call, 0, &member(s, set, over)));
    let inverse =
        kernel.compute("inverse_deviation", &ty, |s, set| inverse_deviation(s, call, s.load(variance, set)));
    kernel.compute(call.op.name, &call.results[0], |s, axes| {
        let set = set_of(s, axes);
        let centred = s.sub(load(s, call, 0, axes), s.load(average, &set));
        let standard = s.mul(centred, s.load(inverse, &set));
        let scaled = s.mul(standard, load(s, call, 1, &scale_at(s, 1, axes)));
        s.add(scaled, load(s, call, 2, &scale_at(s, 2, axes)))
    })
}

/// The number of channels, which must be known.
fn channels(call: &TeCall) -> Result<u64, String> {
    let channels = call.dims(0).get(1).and_then(Dim::known);
    channels.ok_or_else(|| format!("needs a {} whose channels are known when compiling", call.types[0]))
}

/// Over `in_group` channels, which follow each other, and the spatial axes.
fn by_group<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>, groups: u64, in_group: u64) -> Built<'c> {
    let dims = call.dims(0);
    // A channel of its own needs no axis over the group's channels, unless there is no other.
    let alone = in_group == 1 && dims.len() > 2;
    let reduce = if alone { dims[2..].to_vec() } else { [&[Dim::Static(in_group)], &dims[2..]].concat() };
    let y = standardize(
        kernel,
        call,
        &[dims[0].clone(), Dim::Static(groups)],
        &reduce,
        |s, set, over| {
            if alone {
                return [set, over].concat();
            }
            let channel = s.index_add(s.index_affine(set[1], in_group as i64, 0), over[0]);
            [&[set[0], channel], &over[1..]].concat()
        },
        // Without channels nothing is computed, but dividing by 0 would not fold.
        |s, axes| vec![axes[0], s.index_div(axes[1], in_group.max(1) as i64)],
        |_, _, axes| axes[1..2].to_vec(),
    );
    Ok(vec![y])
}

fn instance_norm<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    by_group(kernel, call, channels(call)?, 1)
}

fn group_norm<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let groups = call.attrs.int_or("num_groups", 1);
    let count = u64::try_from(groups).ok().filter(|&n| n > 0);
    let count = count.ok_or_else(|| format!("has {groups} groups, where 1 is the least"))?;
    by_group(kernel, call, count, channels(call)? / count)
}

/// Over the axes from `axis` on.
fn layer_norm<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let (shape, axis) = (call.dims(0), axis(call)?);
    let (outer, inner) = shape.split_at(axis);
    let y = standardize(
        kernel,
        call,
        outer,
        inner,
        |_, set, over| [set, over].concat(),
        |_, axes| axes[..axis].to_vec(),
        |s, operand, axes| broadcast_indices(s, axes, call.dims(operand), shape),
    );
    Ok(vec![y])
}

fn lrn<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let attr = |name: &str, default: f64| call.attrs.float_or(name, default);
    let (alpha, beta, bias) = (attr("alpha", 1e-4), attr("beta", 0.75), attr("bias", 1.0));
    let size = u64::try_from(call.attrs.int_or("size", 1)).unwrap_or(1).max(1);
    let (channels, dtype) = (channels(call)?, wide(call));
    // Further than to the other end there are no channels.
    let furthest = channels.saturating_sub(1);
    let (back, on) = (((size - 1) / 2).min(furthest), (size / 2).min(furthest));
    let mut places: Vec<Place> = call.dims(0).iter().cloned().map(Place::kept).collect();
    let extent = Dim::Static(channels.saturating_add(back + on));
    places[1] = Place { begin: back as i64, extent, step: 1 };
    let data = pad(kernel, (call.operands[0], &call.types[0]), &places, Combine::Sum)?;
    let ty = call.types[0].with_dtype(dtype);
    let squares = kernel.reduce("squares", &ty, &[back + 1 + on], Combine::Sum, |s, axes, over| {
        let x = s.load(data, &[&axes[..1], &[s.index_add(axes[1], over[0])], &axes[2..]].concat());
        s.mul(x, x)
    });
    let y = kernel.compute(call.op.name, &call.results[0], |s, axes| {
        let number = |v| s.float(v, dtype);
        let base = s.add(number(bias), s.mul(number(alpha / size as f64), s.load(squares, axes)));
        s.div(s.load(call.operands[0], axes), power(s, base, beta))
    });
    Ok(vec![y])
}

/// `base^exponent`, of roots where the exponent is one half or three quarters, which nearly all networks have.
fn power<'c>(s: &Scalars<'c>, base: Scalar<'c>, exponent: f64) -> Scalar<'c> {
    let root = |x| s.math("sqrt", &[x]);
    match exponent {
        0.5 => root(base),
        0.75 => s.mul(root(base), root(root(base))),
        _ => s.math("powf", &[base, s.float(exponent, base.dtype)]),
    }
}

/// The indices with one more at a place.
fn with<'c>(axes: &[Value<'c>], at: usize, index: Value<'c>) -> Vec<Value<'c>> {
    let (before, after) = axes.split_at(at);
    [before, &[index], after].concat()
}

/// The indices without the one at a place.
fn without<'c>(axes: &[Value<'c>], at: usize) -> Vec<Value<'c>> {
    [&axes[..at], &axes[at + 1..]].concat()
}

/// The type of what is one number for each run along the axis.
fn of_runs(call: &TeCall, axis: usize) -> TensorType {
    let mut dims = call.dims(0).to_vec();
    dims.remove(axis);
    TensorType::new(dims, wide(call))
}

/// The greatest number of each run along the axis. It may pass over what is none: the sum of the run's exponentials is none then.
fn greatest<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>, axis: usize) -> Value<'c> {
    let extent = &call.dims(0)[axis];
    kernel.reduce(
        "max",
        &of_runs(call, axis),
        std::slice::from_ref(extent),
        Combine::MaxNumber,
        |s, axes, over| s.load(call.operands[0], &with(axes, axis, over[0])),
    )
}

fn softmax<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let (axis, extent) = (axis(call)?, call.dims(0)[axis(call)?].clone());
    let max = greatest(kernel, call, axis);
    let exp = kernel.compute("exp", &call.types[0].with_dtype(wide(call)), |s, axes| {
        let shifted = s.sub(s.load(call.operands[0], axes), s.load(max, &without(axes, axis)));
        s.math("exp", &[shifted])
    });
    let sum = kernel.reduce("sum", &of_runs(call, axis), &[extent], Combine::Sum, |s, axes, over| {
        s.load(exp, &with(axes, axis, over[0]))
    });
    // One division a run: they are slow, and a product is no further off than half a unit in the last place.
    let y = kernel.compute(call.op.name, &call.results[0], |s, axes| {
        let total = s.load(sum, &without(axes, axis));
        s.mul(s.load(exp, axes), s.div(s.float(1.0, total.dtype), total))
    });
    Ok(vec![y])
}

fn log_softmax<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let (axis, extent) = (axis(call)?, call.dims(0)[axis(call)?].clone());
    let max = greatest(kernel, call, axis);
    let sum = kernel.reduce("sum", &of_runs(call, axis), &[extent], Combine::Sum, |s, axes, over| {
        let x = s.load(call.operands[0], &with(axes, axis, over[0]));
        s.math("exp", &[s.sub(x, s.load(max, axes))])
    });
    let y = kernel.compute(call.op.name, &call.results[0], |s, axes| {
        let run = without(axes, axis);
        let shifted = s.sub(s.load(call.operands[0], axes), s.load(max, &run));
        s.sub(shifted, s.math("log", &[s.load(sum, &run)]))
    });
    Ok(vec![y])
}
