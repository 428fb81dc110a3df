//! Convolutions of any dimension numbers.
//!
//! ```text
//!   data and kernel are turned to [N, C, spatial...] and [F, C / groups, kernel...]
//!   lhs_dilation, negative padding     zeros between elements; edges are cut off
//!   window_reversal                    the kernel backwards
//!   batch_group_count                  groups of the batch become groups of channels
//! ```

use crate::sources::Outcome;
use crate::stablehlo::emit::{Emitter, Held, Results};
use crate::stablehlo::graph::{Attr, Operation};
use crate::stablehlo::ops::moving::shape::padded;
use crate::stablehlo::ops::{Row, row};
use crate::stablehlo::types::Element;
use fusion_dialects::Value;
use fusion_operators::ops::{convolution as conv, shape};
use fusion_operators::{Attrs, DType, Operator};

pub const ROWS: &[Row] = &[
    row("stablehlo.convolution", |e, op, x| {
        let padding = op.opt_ints("padding")?;
        convolution(e, op, x, padding)
    }),
    row("stablehlo.dynamic_conv", |e, op, x| {
        let padding = e.tensor(op, x, 2)?;
        let padding = e.known_ints(op, padding, "the padding")?;
        convolution(e, op, &x[..2], Some(padding))
    }),
];

/// Where the axes of an operand are: the first two, then the spatial ones.
fn axes_of(op: &Operation, side: &str, first: &str, second: &str, rank: usize) -> Outcome<Vec<usize>> {
    let mut axes = vec![op.axis(&format!("{side}_{first}_dimension"), rank)?];
    axes.push(op.axis(&format!("{side}_{second}_dimension"), rank)?);
    axes.extend(op.axes(&format!("{side}_spatial_dimensions"), rank)?);
    let mut sorted = axes.clone();
    sorted.sort_unstable();
    match sorted.iter().enumerate().all(|(i, &a)| i == a) && axes.len() == rank {
        true => Ok(axes),
        false => op.fault(format!("the {side} dimensions {axes:?} must name each axis once")),
    }
}

fn convolution<'c, 'p>(
    e: &mut Emitter<'c, 'p>,
    op: &'p Operation,
    x: &[Held<'c>],
    padding: Option<Vec<i64>>,
) -> Results<'c> {
    let element = &e.result_type(op, 0)?.element;
    let dtype = match element {
        Element::Quantized(quantized) => Some(quantized.expressed),
        other => other.kept(),
    };
    let Some(dtype) = dtype else { return op.fault(format!("elements of type {element} are not supported")) };
    let (a, b) = (e.parts(op, x, 0)?, e.parts(op, x, 1)?);
    match (&a[..], &b[..]) {
        ([a], [b]) => Ok(vec![Held::Tensor(of_reals(e, op, *a, *b, padding.as_deref(), dtype)?)]),
        ([ar, ai], [br, bi]) => {
            let mut of = |a: &Value<'c>, b: &Value<'c>| of_reals(e, op, *a, *b, padding.as_deref(), dtype);
            let (rr, ii, ri, ir) = (of(ar, br)?, of(ai, bi)?, of(ar, bi)?, of(ai, br)?);
            Ok(vec![Held::Complex(e.sub(rr, ii)?, e.add(ri, ir)?)])
        }
        _ => op.fault("both operands must be real, or both complex"),
    }
}

fn of_reals<'c>(
    e: &mut Emitter<'c, '_>,
    op: &Operation,
    data: Value<'c>,
    kernel: Value<'c>,
    padding: Option<&[i64]>,
    dtype: DType,
) -> Outcome<Value<'c>> {
    let rank = e.rank(data)?;
    if rank < 2 || e.rank(kernel)? != rank {
        return op.fault("data and kernel must have one rank of 2 or more");
    }
    let spatial = rank - 2;
    let data_axes = axes_of(op, "input", "batch", "feature", rank)?;
    let kernel_axes = axes_of(op, "kernel", "output_feature", "input_feature", rank)?;
    let result_axes = axes_of(op, "output", "batch", "feature", rank)?;
    let ones = vec![1; spatial];
    let strides = op.sizes_or("window_strides", &ones)?;
    let (left, right) = (op.sizes_or("lhs_dilation", &ones)?, op.sizes_or("rhs_dilation", &ones)?);
    let padding = padding.map_or_else(|| vec![0; 2 * spatial], <[i64]>::to_vec);
    let groups = op.int_or("feature_group_count", 1)?;
    let batch_groups = op.int_or("batch_group_count", 1)?;
    let counts = [strides.len(), left.len(), right.len(), padding.len() / 2];
    if counts != [spatial; 4] || [&strides, &left, &right].iter().any(|list| list.contains(&0)) {
        return op.fault(format!(
            "the window must have one number above 0 for each of {spatial} axes, and padding two"
        ));
    }
    if groups < 1 || batch_groups < 1 || (groups > 1 && batch_groups > 1) {
        return op.fault("feature_group_count and batch_group_count must be 1 or more, and one of them 1");
    }
    let sums = sums_of(e, data, kernel, dtype)?;
    let (data, kernel) = (e.cast(data, sums)?, e.cast(kernel, sums)?);
    let mut data = e.transpose(data, &data_axes)?;
    let mut kernel = e.transpose(kernel, &kernel_axes)?;
    let reversal = op.attributes.get("window_reversal").and_then(Attr::integers).unwrap_or_default();
    let backwards: Vec<i64> =
        (0..spatial).filter(|&i| reversal.get(i).is_some_and(|&n| n != 0)).map(|i| i as i64 + 2).collect();
    if !backwards.is_empty() {
        kernel = e.op(&shape::REVERSE, &[kernel], Attrs::new().with("axes", backwards))?;
    }
    if batch_groups > 1 {
        // [g N, C, ...] as [N, g C, ...], whose groups of channels meet the groups of filters.
        let extents = e.shape(data)?;
        let g = batch_groups as usize;
        if extents[0] % g != 0 {
            return op.fault(format!("batch_group_count {g} must divide the batch of {}", extents[0]));
        }
        let apart = e.reshape(data, &[&[g, extents[0] / g][..], &extents[1..]].concat())?;
        let order: Vec<usize> = [1, 0].into_iter().chain(2..rank + 1).collect();
        let turned = e.transpose(apart, &order)?;
        data = e.reshape(turned, &[&[extents[0] / g, g * extents[1]][..], &extents[2..]].concat())?;
    }
    // What the convolution itself cannot say is done to the data before.
    let gaps: Vec<i64> = [0, 0].into_iter().chain(left.iter().map(|&n| n as i64 - 1)).collect();
    let (mut low, mut high): (Vec<i64>, Vec<i64>) = padding.chunks(2).map(|pair| (pair[0], pair[1])).unzip();
    if gaps.iter().any(|&n| n > 0) || padding.iter().any(|&n| n < 0) {
        let zero = e.like(data, 0.0)?;
        let (before, behind) = ([&[0, 0], &low[..]].concat(), [&[0, 0], &high[..]].concat());
        data = padded(e, op, data, zero, [&before, &behind, &gaps])?;
        (low, high) = (vec![0; spatial], vec![0; spatial]);
    }
    let made = convolved(e, op, data, kernel, [&strides, &right], [&low, &high], groups.max(batch_groups))?;
    let made = e.cast(made, dtype)?;
    let mut back = vec![0; rank];
    result_axes.iter().enumerate().for_each(|(place, &axis)| back[axis] = place);
    e.transpose(made, &back)
}

/// The type in which both operands are multiplied and summed.
fn sums_of<'c>(e: &Emitter<'c, '_>, data: Value<'c>, kernel: Value<'c>, result: DType) -> Outcome<DType> {
    let (a, b) = (e.dtype(data)?, e.dtype(kernel)?);
    Ok(if a == b && a == result && a != DType::Bool {
        a
    } else if result == DType::Bool {
        DType::I32
    } else {
        result
    })
}

fn convolved<'c>(
    e: &mut Emitter<'c, '_>,
    op: &Operation,
    data: Value<'c>,
    kernel: Value<'c>,
    [strides, dilation]: [&[usize]; 2],
    [low, high]: [&[i64]; 2],
    groups: i64,
) -> Outcome<Value<'c>> {
    let spatial = strides.len();
    // Without spatial axes it is one of extent 1.
    let (data_shape, kernel_shape) = (e.shape(data)?, e.shape(kernel)?);
    if spatial == 0 {
        let data = e.reshape(data, &[&data_shape[..], &[1]].concat())?;
        let kernel = e.reshape(kernel, &[&kernel_shape[..], &[1]].concat())?;
        let made = convolved(e, op, data, kernel, [&[1], &[1]], [&[0], &[0]], groups)?;
        let shape = e.shape(made)?;
        return e.reshape(made, &shape[..2]);
    }
    let kinds: [&'static Operator; 3] = [&conv::CONV1D, &conv::CONV2D, &conv::CONV3D];
    let Some(kind) = kinds.get(spatial - 1) else {
        return op
            .fault(format!("a convolution over {spatial} spatial axes is not supported; 3 are the most"));
    };
    // No window fits, or there is nothing to sum.
    let result: Vec<usize> = (0..spatial)
        .map(|i| {
            let room = data_shape[i + 2] as i64 + low[i] + high[i]
                - ((kernel_shape[i + 2] as i64 - 1) * dilation[i] as i64 + 1);
            if room < 0 { 0 } else { room as usize / strides[i] + 1 }
        })
        .collect();
    if result.contains(&0) || kernel_shape.contains(&0) || data_shape.contains(&0) {
        let zero = e.like(data, 0.0)?;
        return e.broadcast(zero, &[&[data_shape[0], kernel_shape[0]][..], &result].concat());
    }
    let list = |numbers: &[usize]| numbers.iter().map(|&n| n as i64).collect::<Vec<_>>();
    let attrs = Attrs::new()
        .with("strides", list(strides))
        .with("padding", [low, high].concat())
        .with("dilation", list(dilation))
        .with("groups", groups);
    e.op(kind, &[data, kernel], attrs)
}
