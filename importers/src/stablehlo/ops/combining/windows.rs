//! Reductions of windows, and what gradients of them need.
//!
//! Maxima and sums become pools, and windows that reach from each element to the first or the last become running sums. Any other region is
//! applied along one axis after the other: windows of 2, 4, 8, ... elements are combined from those half as long, and the window from
//! these, in log n steps.

use crate::sources::Outcome;
use crate::stablehlo::emit::{Emitter, Held, Results};
use crate::stablehlo::graph::{Block, Operation};
use crate::stablehlo::ops::combining::bodies::combiner;
use crate::stablehlo::ops::combining::reduction::is_neutral;
use crate::stablehlo::ops::control::{flat, lifted, unflat};
use crate::stablehlo::ops::moving::shape::padded;
use crate::stablehlo::ops::{Row, row};
use fusion_dialects::Value;
use fusion_operators::ops::{elementwise as ew, pooling, reduction as red};
use fusion_operators::{Attrs, DType, Operator};

pub const ROWS: &[Row] =
    &[row("stablehlo.reduce_window", reduce_window), row("stablehlo.select_and_scatter", select_and_scatter)];

/// Windows of more elements than this are not taken apart.
const MOST_PLACES: usize = 1024;

struct Windows {
    extents: Vec<usize>,
    strides: Vec<usize>,
    gaps: Vec<i64>,
    dilations: Vec<usize>,
    low: Vec<i64>,
    high: Vec<i64>,
}

impl Windows {
    fn read(op: &Operation, rank: usize) -> Outcome<Windows> {
        let ones = vec![1; rank];
        let extents = op.sizes("window_dimensions")?;
        let strides = op.sizes_or("window_strides", &ones)?;
        let base = op.sizes_or("base_dilations", &ones)?;
        let dilations = op.sizes_or("window_dilations", &ones)?;
        let padding = op.opt_ints("padding")?.unwrap_or_else(|| vec![0; 2 * rank]);
        let right = [&extents, &strides, &base, &dilations].iter().all(|list| list.len() == rank)
            && padding.len() == 2 * rank;
        if !right {
            return op
                .fault(format!("the window must have one number for each of {rank} axes, and padding two"));
        }
        if [&extents, &strides, &base, &dilations].iter().any(|list| list.contains(&0)) {
            return op.fault("extents, strides and dilations of a window must be above 0");
        }
        let gaps = base.iter().map(|&n| n as i64 - 1).collect();
        let (low, high) = padding.chunks(2).map(|pair| (pair[0], pair[1])).unzip();
        Ok(Windows { extents, strides, gaps, dilations, low, high })
    }

    fn span(&self, axis: usize) -> usize {
        (self.extents[axis] - 1).saturating_mul(self.dilations[axis]) + 1
    }
}

fn reduce_window<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let region = op.region(0)?;
    if x.is_empty() || !x.len().is_multiple_of(2) {
        return op.fault("it takes as many initial values as operands");
    }
    let (data, initial) = x.split_at(x.len() / 2);
    let rank = e.rank(e.parts(op, data, 0)?[0])?;
    let windows = Windows::read(op, rank)?;
    if let ([Held::Tensor(data)], [Held::Tensor(initial)]) = (data, initial)
        && let Some(name) = combiner(region)
        && is_neutral(e, region, *initial)
    {
        if let Some(scanned) = scan(e, name, *data, &windows)? {
            return Ok(vec![Held::Tensor(scanned)]);
        }
        if let Some(pooled) = pool(e, name, *data, &windows)? {
            return Ok(vec![Held::Tensor(pooled)]);
        }
    }
    let mut values = Vec::new();
    for (&x, &with) in flat(data).iter().zip(&flat(initial)) {
        values.push(padded(e, op, x, with, [&windows.low, &windows.high, &windows.gaps])?);
    }
    for axis in (0..rank).rev() {
        values = along(e, op, region, data, values, &windows, axis)?;
    }
    let reduced = unflat(data, &mut values.into_iter());
    if let [Held::Tensor(initial)] = initial
        && is_neutral(e, region, *initial)
    {
        return Ok(reduced);
    }
    lifted(e, region, [initial, &reduced[..]].concat())
}

/// A window as long as the axis, padded on one side by one less: the sum of all up to each element.
fn scan<'c>(e: &mut Emitter<'c, '_>, name: &str, x: Value<'c>, w: &Windows) -> Outcome<Option<Value<'c>>> {
    let operator: &'static Operator = match name {
        "add" => &red::CUMSUM,
        "multiply" => &red::CUMPROD,
        _ => return Ok(None),
    };
    let shape = e.shape(x)?;
    let plain = |a: usize| w.extents[a] == 1 && w.low[a] == 0 && w.high[a] == 0;
    let steps = w.strides.iter().chain(&w.dilations).all(|&n| n == 1) && w.gaps.iter().all(|&n| n == 0);
    let wide: Vec<usize> = (0..shape.len()).filter(|&a| !plain(a)).collect();
    let ([axis], true, false) = (&wide[..], steps, e.dtype(x)? == DType::Bool) else { return Ok(None) };
    let reach = shape[*axis] as i64 - 1;
    let reverse = match (w.low[*axis], w.high[*axis]) {
        (low, 0) if low == reach => false,
        (0, high) if high == reach => true,
        _ => return Ok(None),
    };
    if w.extents[*axis] != shape[*axis] {
        return Ok(None);
    }
    e.op(operator, &[x], Attrs::new().with("axis", *axis as i64).with("reverse", reverse)).map(Some)
}

/// Maxima, and sums and minima of floats, of windows over one to three axes.
fn pool<'c>(e: &mut Emitter<'c, '_>, name: &str, x: Value<'c>, w: &Windows) -> Outcome<Option<Value<'c>>> {
    let (shape, dtype) = (e.shape(x)?, e.dtype(x)?);
    let moves = |&a: &usize| w.extents[a] != 1 || w.strides[a] != 1 || w.low[a] != 0 || w.high[a] != 0;
    let spatial: Vec<usize> = (0..shape.len()).filter(moves).collect();
    let others: Vec<usize> = (0..shape.len()).filter(|a| !moves(a)).collect();
    let kinds: [&'static Operator; 3] = match name {
        "maximum" | "minimum" => [&pooling::MAX_POOL1D, &pooling::MAX_POOL2D, &pooling::MAX_POOL3D],
        "add" => [&pooling::AVG_POOL1D, &pooling::AVG_POOL2D, &pooling::AVG_POOL3D],
        _ => return Ok(None),
    };
    let numbers = dtype.is_float() || (name == "maximum" && dtype != DType::Bool);
    let paddings = w.low.iter().chain(&w.high).all(|&n| n >= 0) && w.gaps.iter().all(|&n| n == 0);
    let fits = spatial.iter().all(|&a| {
        let padded = shape[a] as i64 + w.low[a] + w.high[a];
        shape[a] > 0 && w.span(a) as i64 <= padded
    });
    let filled = others.iter().all(|&a| shape[a] > 0);
    if !numbers || !paddings || !fits || !filled || spatial.is_empty() || spatial.len() > 3 {
        return Ok(None);
    }
    // Every window of a maximum sees an element, so that what stands for padding does not matter.
    let of = |list: &[usize]| spatial.iter().map(|&a| list[a] as i64).collect::<Vec<_>>();
    let padding: Vec<i64> =
        spatial.iter().map(|&a| w.low[a]).chain(spatial.iter().map(|&a| w.high[a])).collect();
    let order = [&others[..], &spatial].concat();
    let turned = e.transpose(x, &order)?;
    let batch: Vec<usize> = others.iter().map(|&a| shape[a]).collect();
    let images: Vec<usize> = spatial.iter().map(|&a| shape[a]).collect();
    let flat_batch = [batch.first().copied().unwrap_or(1), batch.iter().skip(1).product()];
    let mut image = e.reshape(turned, &[&flat_batch[..], &images].concat())?;
    if name == "minimum" {
        image = e.un(&ew::NEG, image)?;
    }
    let mut attrs = Attrs::new().with("kernel", of(&w.extents)).with("strides", of(&w.strides));
    attrs = attrs.with("dilation", of(&w.dilations)).with("padding", padding);
    if name == "add" {
        attrs = attrs.with("count_include_pad", true);
    }
    let mut pooled = e.op(kinds[spatial.len() - 1], &[image], attrs)?;
    match name {
        "minimum" => pooled = e.un(&ew::NEG, pooled)?,
        "add" => pooled = e.mul_f(pooled, spatial.iter().map(|&a| w.extents[a] as f64).product())?,
        _ => {}
    }
    let extents: Vec<usize> = e.shape(pooled)?[2..].to_vec();
    let apart = e.reshape(pooled, &[&batch[..], &extents].concat())?;
    let mut back = vec![0; order.len()];
    order.iter().enumerate().for_each(|(place, &axis)| back[axis] = place);
    e.transpose(apart, &back).map(Some)
}

/// Windows along one axis of operands that are padded already.
fn along<'c, 'p>(
    e: &mut Emitter<'c, 'p>,
    op: &'p Operation,
    region: &'p Block,
    form: &[Held<'c>],
    values: Vec<Value<'c>>,
    w: &Windows,
    axis: usize,
) -> Outcome<Vec<Value<'c>>> {
    let (extent, stride, step) = (w.extents[axis], w.strides[axis], w.dilations[axis]);
    if extent == 1 && stride == 1 {
        return Ok(values);
    }
    let length = e.shape(values[0])?[axis];
    let span = w.span(axis);
    if span > length {
        // No window fits.
        return values.iter().map(|&x| e.slice(x, axis, [0, 0, 1])).collect();
    }
    let positions = length - span + 1;
    let combine =
        |e: &mut Emitter<'c, 'p>, a: Vec<Value<'c>>, b: Vec<Value<'c>>| -> Outcome<Vec<Value<'c>>> {
            let shape = e.shape(a[0])?;
            let pair = [unflat(form, &mut a.into_iter()), unflat(form, &mut b.into_iter())].concat();
            let results = lifted(e, region, pair)?;
            flat(&results).into_iter().map(|x| e.broadcast(x, &shape)).collect()
        };
    let from = |e: &mut Emitter<'c, 'p>,
                values: &[Value<'c>],
                begin: usize,
                count: usize|
     -> Outcome<Vec<Value<'c>>> {
        values.iter().map(|&x| e.slice(x, axis, [begin, begin + count, 1])).collect()
    };
    // Windows of 2^j elements at every place; those that the window is made of are put together from the first on.
    let (mut power, mut windows, mut length, mut powers) = (1, values, length, Vec::new());
    loop {
        powers.push((power, windows.clone()));
        if 2 * power > extent {
            break;
        }
        let left = length - power * step;
        let (a, b) = (from(e, &windows, 0, left)?, from(e, &windows, power * step, left)?);
        windows = combine(e, a, b)?;
        (length, power) = (left, 2 * power);
    }
    let (mut done, mut sum): (usize, Option<Vec<Value>>) = (0, None);
    for (power, windows) in powers.into_iter().rev() {
        if extent & power == 0 {
            continue;
        }
        let piece = from(e, &windows, done * step, positions)?;
        sum = Some(match sum {
            None => piece,
            Some(sum) => combine(e, sum, piece)?,
        });
        done += power;
    }
    let Some(sum) = sum else { return op.fault("a window has no elements") };
    sum.into_iter().map(|x| e.slice(x, axis, [0, positions, stride])).collect()
}

/// For each window the place that is selected, one place after the other; then the sources are combined into these places.
fn select_and_scatter<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &'p Operation, x: &[Held<'c>]) -> Results<'c> {
    let (data, source, initial) = (e.tensor(op, x, 0)?, e.tensor(op, x, 1)?, e.tensor(op, x, 2)?);
    let (select, scatter) = (op.region(0)?, op.region(1)?);
    let (shape, outer) = (e.shape(data)?, e.shape(source)?);
    let rank = shape.len();
    let mut windows = Windows::read(op, rank)?;
    windows.dilations = vec![1; rank];
    let places: usize =
        windows.extents.iter().try_fold(1usize, |n, &d| n.checked_mul(d)).unwrap_or(usize::MAX);
    if places > MOST_PLACES {
        return op.fault(format!("a window of more than {MOST_PLACES} elements is not supported"));
    }
    if windows.low.iter().chain(&windows.high).any(|&n| n < 0) {
        return op.fault("its padding must not be negative");
    }
    let is_padded = windows.low.iter().chain(&windows.high).any(|&n| n != 0);
    let none = vec![0; rank];
    let padded_data = padded(e, op, data, initial, [&windows.low, &windows.high, &none])?;
    let extents = e.shape(padded_data)?;
    let inside = match is_padded {
        false => None,
        true => {
            let (one, zero) = (e.int(DType::U8, 1)?, e.int(DType::U8, 0)?);
            let ones = e.broadcast(one, &shape)?;
            let inside = padded(e, op, ones, zero, [&windows.low, &windows.high, &none])?;
            Some(e.cast(inside, DType::Bool)?)
        }
    };
    let offsets: Vec<Vec<usize>> = (0..places).map(|place| unravel(place, &windows.extents)).collect();
    // The elements at one place of all windows.
    let at = |e: &mut Emitter<'c, 'p>, x: Value<'c>, offset: &[usize]| -> Outcome<Value<'c>> {
        let mut x = x;
        for axis in 0..rank {
            let end = offset[axis] + (outer[axis].max(1) - 1) * windows.strides[axis] + 1;
            if end > extents[axis] {
                return op
                    .fault("the windows do not fit the operand; the source has one element for each window");
            }
            x = e.slice(x, axis, [offset[axis], end, windows.strides[axis]])?;
        }
        Ok(x)
    };
    let mut best: Option<(Value<'c>, Value<'c>, Option<Value<'c>>)> = None;
    for (place, offset) in offsets.iter().enumerate() {
        let value = at(e, padded_data, offset)?;
        let valid = inside.map(|inside| at(e, inside, offset)).transpose()?;
        let number = e.int(DType::I32, place as i128)?;
        best = Some(match best {
            None => (value, e.broadcast(number, &outer)?, valid),
            Some((old, index, found)) => {
                let results = lifted(e, select, vec![Held::Tensor(old), Held::Tensor(value)])?;
                let keeps = e.tensor(op, &results, 0)?;
                let mut takes = e.not(keeps)?;
                let mut either = None;
                if let (Some(found), Some(valid)) = (found, valid) {
                    let nothing = e.not(found)?;
                    let wanted = e.or(nothing, takes)?;
                    takes = e.and(wanted, valid)?;
                    either = Some(e.or(found, valid)?);
                }
                (e.select(takes, value, old)?, e.select(takes, number, index)?, either)
            }
        });
    }
    let Some((_, index, _)) = best else { return op.fault("a window has no elements") };
    let mut result = e.broadcast(initial, &extents)?;
    let adds = combiner(scatter) == Some("add") && e.dtype(source)? != DType::Bool;
    let zero = e.like(source, 0.0)?;
    for (place, offset) in offsets.iter().enumerate() {
        let number = e.int(DType::I32, place as i128)?;
        let here = e.equal(index, number)?;
        let gaps: Vec<i64> = windows.strides.iter().map(|&n| n as i64 - 1).collect();
        let low: Vec<i64> = offset.iter().map(|&n| n as i64).collect();
        let covered = |axis: usize| (outer[axis].max(1) - 1) * windows.strides[axis] + 1 + offset[axis];
        let high: Vec<i64> = (0..rank).map(|axis| extents[axis] as i64 - covered(axis) as i64).collect();
        let chosen = e.select(here, source, zero)?;
        let spread = padded(e, op, chosen, zero, [&low, &high, &gaps])?;
        if adds {
            result = e.add(result, spread)?;
            continue;
        }
        let (mask, none) = (e.cast(here, DType::U8)?, e.int(DType::U8, 0)?);
        let mask = padded(e, op, mask, none, [&low, &high, &gaps])?;
        let mask = e.cast(mask, DType::Bool)?;
        let results = lifted(e, scatter, vec![Held::Tensor(result), Held::Tensor(spread)])?;
        let combined = e.tensor(op, &results, 0)?;
        result = e.select(mask, combined, result)?;
    }
    for (axis, &extent) in shape.iter().enumerate() {
        let begin = windows.low[axis].max(0) as usize;
        result = e.slice(result, axis, [begin, begin + extent, 1])?;
    }
    Ok(vec![Held::Tensor(result)])
}

/// The index along each axis of an element by its number.
fn unravel(mut place: usize, extents: &[usize]) -> Vec<usize> {
    let mut index = vec![0; extents.len()];
    for (axis, &extent) in extents.iter().enumerate().rev() {
        index[axis] = place % extent.max(1);
        place /= extent.max(1);
    }
    index
}
