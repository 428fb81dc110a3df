//! Operators that cut, join, repeat, extend and mask.

use fusion_operators::ops::{elementwise as ew, indexing, shape as sh};
use fusion_operators::{Attrs, DType, Dim};

use crate::onnx::build::{Converted, Made, axis_in};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::known::Extent;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::moving::shape::{axes_in, extents_of};
use crate::onnx::ops::{Conversion, row};

pub const ROWS: &[Conversion] = &[
    row("Concat", |im, node| {
        let inputs = node.all_inputs()?;
        let first = node.input(0)?;
        let axis = im.axis(first, node.int("axis", 1)?)?;
        Ok(vec![im.concat(&inputs, axis)?])
    }),
    row("Split", split),
    row("Slice", slice),
    row("Pad", pad),
    row("Tile", |im, node| {
        let reps = match node.version >= 6 {
            true => im.ints_of(node, 1)?,
            // How often along which axis.
            false => {
                let (times, axis) = (im.int_of(node, 1)?, im.int_of(node, 2)?);
                let mut reps = vec![1; im.rank(node.input(0)?)?];
                let axis = axis_in(axis, reps.len())?;
                reps[axis] = times;
                reps
            }
        };
        Ok(vec![im.op(&sh::TILE, &[node.input(0)?], Attrs::new().with("reps", reps))?])
    }),
    row("Trilu", trilu),
    row("ReverseSequence", reverse_sequence),
];

/// Sections are an attribute before version 13 (or an operand in the first), then an operand; without, the pieces are alike.
fn split(im: &mut Importer, node: &Node) -> Converted {
    let x = node.input(0)?;
    let axis = im.axis(x, node.int("axis", 0)?)?;
    let given = match node.version >= 13 || node.opt(1).is_some() {
        true => im.opt_ints_of(node, 1)?,
        false => node.ints("split")?.map(<[i64]>::to_vec),
    };
    let sections = match given {
        Some(sections) => sections,
        None => {
            let count = node.int("num_outputs", node.outputs.len() as i64)?;
            if count < 1 || count != node.outputs.len() as i64 {
                return Err(Fault::value(format!(
                    "attribute num_outputs is {count}, but the node has {} results",
                    node.outputs.len()
                )));
            }
            let extent = im.extent(x, axis, "the operand")?;
            // The last piece is smaller when the extent does not divide.
            let size = (extent + count - 1) / count;
            (0..count).map(|i| size.min(extent - i * size).max(0)).collect()
        }
    };
    im.split(x, &sections, axis)
}

/// Attributes before version 10, then operands. An end that is the operand's own unknown extent is no bound.
fn slice(im: &mut Importer, node: &Node) -> Converted {
    let mut x = node.input(0)?;
    let rank = im.rank(x)?;
    let known = |list: Vec<i64>| list.into_iter().map(Extent::Known).collect::<Vec<_>>();
    let (begins, ends, axes, mut strides) = if node.version < 10 {
        let ends = known(node.ints("ends")?.unwrap_or_default().to_vec());
        let begins = known(node.ints("starts")?.unwrap_or_default().to_vec());
        (begins, ends, node.ints("axes")?.map(<[i64]>::to_vec), None)
    } else {
        let (axes, strides) = (im.opt_ints_of(node, 3)?, im.opt_ints_of(node, 4)?);
        let bounds = extents_of(im, node, 1).and_then(|begins| Ok((begins, extents_of(im, node, 2)?)));
        match bounds {
            Ok((begins, ends)) => (begins, ends, axes, strides),
            Err(fault) if fault.needs_more() => return slice_by_values(im, node, axes, strides),
            Err(fault) => return Err(fault),
        }
    };
    let axes = match axes {
        Some(axes) => axes_in(&axes, rank)?,
        None => (0..begins.len()).collect(),
    };
    let dims = im.dims(x)?;
    let (mut begin, mut end) = (Vec::new(), Vec::new());
    let mut dynamic = Vec::new();
    let lengths = [begins.len(), ends.len(), strides.as_ref().map_or(axes.len(), Vec::len)];
    if lengths != [axes.len(); 3] {
        return Err(Fault::value(format!(
            "starts, ends, axes and steps must have one length, found {lengths:?}"
        )));
    }
    for (i, (from, to)) in begins.into_iter().zip(ends).enumerate() {
        let own =
            |extent: &Extent| matches!(extent, Extent::Dim(dim) if *dim != Dim::Any && dims[axes[i]] == *dim);
        let (first, last) = match (&from, &to) {
            (Extent::Known(from), Extent::Known(to)) => (*from, *to),
            (Extent::Known(from), _) if own(&to) => (*from, i64::MAX),
            _ => {
                let stride = strides.as_mut().map_or(1, |strides| std::mem::replace(&mut strides[i], 1));
                dynamic.push((i, from, to, stride));
                (0, i64::MAX)
            }
        };
        begin.push(first);
        end.push(last);
    }
    for (i, from, to, stride) in dynamic {
        x = slice_of(im, node, (x, axes[i], i), (from, to), stride)?;
    }
    let axes: Vec<i64> = axes.iter().map(|&a| a as i64).collect();
    let mut attrs = Attrs::new().with("begin", begin).with("end", end).with("axes", axes);
    if let Some(strides) = strides {
        attrs.set("strides", strides);
    }
    Ok(vec![im.op(&sh::SLICE, &[x], attrs)?])
}

/// A slice whose limits are computed: elements at `begin + i * step`, of which there are as many as lie before the end.
fn slice_by_values(
    im: &mut Importer,
    node: &Node,
    axes: Option<Vec<i64>>,
    strides: Option<Vec<i64>>,
) -> Converted {
    let mut x = node.input(0)?;
    let (begins, ends) = (im.cast(node.input(1)?, DType::I64)?, im.cast(node.input(2)?, DType::I64)?);
    let count = im.extent(begins, 0, "the beginnings")?;
    let axes = match axes {
        Some(axes) => axes_in(&axes, im.rank(x)?)?,
        None => (0..count.max(0) as usize).collect(),
    };
    let strides = strides.unwrap_or_else(|| vec![1; axes.len()]);
    if [im.extent(ends, 0, "the ends")?, axes.len() as i64, strides.len() as i64] != [count; 3] {
        return Err(Fault::value("starts, ends, axes and steps must have one length"));
    }
    for (i, (&axis, &step)) in axes.iter().zip(&strides).enumerate() {
        if step == 0 {
            return Err(Fault::value("a slice goes in steps that are not 0"));
        }
        // From back to front, the end is the place before the first element.
        let is_back = step < 0;
        let (extent, zero) = (im.extent_of(x, axis)?, im.scalar(DType::I64, 0.0)?);
        let last = if is_back { im.add_f(extent, -1.0)? } else { extent };
        let place = |im: &mut Importer, list: Value, least: f64| {
            let at = im.select_at(list, 0, i as i64)?;
            let (negative, from_end) = (im.less(at, zero)?, im.add(at, extent)?);
            let at = im.select(negative, from_end, at)?;
            let at = im.max_f(at, least)?;
            im.minimum(at, last)
        };
        let (begin, end) = (place(im, begins, 0.0)?, place(im, ends, if is_back { -1.0 } else { 0.0 })?);
        let span = if is_back { im.sub(begin, end)? } else { im.sub(end, begin)? };
        let size = step.saturating_abs();
        let up = im.add_f(span, (size - 1) as f64)?;
        let steps = im.scalar(DType::I64, size as f64)?;
        let count = im.div(up, steps)?;
        let count = im.maximum(count, zero)?;
        x = im.stepped(x, axis, begin, (count, step))?;
    }
    Ok(vec![x])
}

/// A slice along one axis whose limits follow from extents: elements at `begin + i * stride`.
fn slice_of(
    im: &mut Importer,
    node: &Node,
    (x, axis, number): (Value, usize, usize),
    (from, to): (Extent, Extent),
    stride: i64,
) -> Made {
    let extent = im.dims(x)?[axis].clone();
    let place = |at: Extent| match at {
        Extent::Known(n) if n < 0 => Some(extent.minus(&Dim::Static(n.unsigned_abs()))),
        Extent::Known(n) => Some(extent.least(&Dim::Static(n as u64))),
        Extent::Dim(dim) if dim.expression().is_some_and(|e| e.is_never_negative()) => {
            Some(extent.least(&dim))
        }
        Extent::Dim(_) => None,
    };
    let (Some(begin), Some(end), Ok(step @ 1..)) = (place(from), place(to), u64::try_from(stride)) else {
        return Err(Fault::NeedsValue(format!(
            "inputs 1 and 2 ('{}' and '{}') must be known when the model is imported, or be extents that are not negative",
            node.name(1),
            node.name(2)
        )));
    };
    let size = end.minus(&begin).over_up(step);
    if size == Dim::Any {
        return Err(Fault::NeedsShape { input: "the operand".into(), ty: im.ty(x)?.to_string() });
    }
    let mut places = im.arange_dim(DType::I64, &size, 0.0, stride as f64)?;
    if begin != Dim::Static(0) {
        // Where it lies behind the end, there is no place.
        let begins = im.cast(node.input(1)?, DType::I64)?;
        let first = im.select_at(begins, 0, number as i64)?;
        let negative = im.less_f(first, 0.0)?;
        let length = im.extent_of(x, axis)?;
        let from_end = im.add(first, length)?;
        let first = im.select(negative, from_end, first)?;
        places = im.add(places, first)?;
    }
    im.gather(x, places, axis)
}

/// Attributes before version 11 (`pads`; `paddings` before 2), then operands; since 18 of chosen axes.
fn pad(im: &mut Importer, node: &Node) -> Converted {
    let x = node.input(0)?;
    let rank = im.rank(x)?;
    let mode = node.string("mode", "constant")?;
    let (given, value) = if node.version < 11 {
        (
            node.ints(if node.version < 2 { "paddings" } else { "pads" })?.unwrap_or_default().to_vec(),
            node.float("value", 0.0)?,
        )
    } else {
        let given = im.ints_of(node, 1)?;
        let value = match node.opt(2) {
            Some(_) if mode == "constant" => im.floats_of(node, 2)?.first().copied().unwrap_or(0.0),
            _ => 0.0,
        };
        (given, value)
    };
    let axes = match im.opt_ints_of(node, 3)? {
        Some(axes) => axes_in(&axes, rank)?,
        None => (0..rank).collect(),
    };
    if given.len() != 2 * axes.len() {
        return Err(Fault::value(format!(
            "{} axes need {} numbers, found {given:?}",
            axes.len(),
            2 * axes.len()
        )));
    }
    let mut padding = vec![0; 2 * rank];
    for (i, &axis) in axes.iter().enumerate() {
        padding[axis] = given[i];
        padding[rank + axis] = given[axes.len() + i];
    }
    if padding.iter().all(|&p| p == 0) {
        return Ok(vec![x]);
    }
    let mut attrs = Attrs::new().with("padding", padding).with("mode", mode);
    if mode == "constant" {
        attrs.set("value", value);
    }
    Ok(vec![im.op(&sh::PAD, &[x], attrs)?])
}

/// The upper (j - i >= k) or lower (j - i <= k) triangle of the last two axes; zeros elsewhere.
fn trilu(im: &mut Importer, node: &Node) -> Converted {
    let x = node.input(0)?;
    let rank = im.rank(x)?;
    let k = match node.opt(1) {
        Some(_) => im.int_of(node, 1)?,
        None => 0,
    };
    if rank < 2 {
        return Err(Fault::value(format!("the operand must have rank 2 or more, found {}", im.ty(x)?)));
    }
    let rows = im.extent(x, rank - 2, "the operand")?;
    let columns = im.extent(x, rank - 1, "the operand")?;
    let i = im.arange(DType::I64, rows, 0.0, 1.0)?;
    let i = im.expand_dims(i, &[1])?;
    let j = im.arange(DType::I64, columns, 0.0, 1.0)?;
    let distance = im.sub(j, i)?;
    // A diagonal out of the matrix is like one just beside it.
    let k = im.like(distance, k.clamp(-rows - 1, columns + 1) as f64)?;
    let op = if node.int("upper", 1)? != 0 { &ew::GREATER_EQUAL } else { &ew::LESS_EQUAL };
    let keep = im.bin(op, distance, k)?;
    let zero = im.like(x, 0.0)?;
    Ok(vec![im.select(keep, x, zero)?])
}

/// Reverses the first `lengths[b]` elements along the time axis of each member of the batch.
fn reverse_sequence(im: &mut Importer, node: &Node) -> Converted {
    let (x, lengths) = (node.input(0)?, node.input(1)?);
    let rank = im.rank(x)?;
    let (batch, time) =
        (axis_in(node.int("batch_axis", 1)?, rank)?, axis_in(node.int("time_axis", 0)?, rank)?);
    if batch == time {
        return Err(Fault::value("batch_axis and time_axis must differ"));
    }
    let dims = im.dims(x)?;
    let all_but = |axis: usize| (0..rank as i64).filter(|&a| a != axis as i64).collect::<Vec<_>>();
    let lengths = im.cast(lengths, DType::I64)?;
    let lengths = im.expand_dims(lengths, &all_but(batch))?;
    let steps = im.counting_along(x, time)?;
    let steps = im.expand_dims(steps, &all_but(time))?;
    let within = im.less(steps, lengths)?;
    let last = im.add_f(lengths, -1.0)?;
    let back = im.sub(last, steps)?;
    let from = im.select(within, back, steps)?;
    let from = match dims.contains(&Dim::Any) {
        false => im.broadcast_dims(from, &dims)?,
        true => {
            // Zeros of the operand's shape, whatever it is.
            let same = im.equal(x, x)?;
            let same = im.cast(same, DType::I64)?;
            let zeros = im.mul_f(same, 0.0)?;
            im.add(from, zeros)?
        }
    };
    let attrs = Attrs::new().with("axis", time as i64);
    Ok(vec![im.op(&indexing::GATHER_ELEMENTS, &[x, from], attrs)?])
}
