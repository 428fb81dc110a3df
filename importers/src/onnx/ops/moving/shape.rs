//! Operators that change the shape and leave the elements in place.

use fusion_operators::ops::{creation, elementwise as ew, reduction, shape as sh};
use fusion_operators::{Attrs, DType, Dim};

use crate::onnx::build::{Converted, Made, axis_in};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::known::Extent;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::{Conversion, row};

pub const ROWS: &[Conversion] = &[
    row("Reshape", reshape),
    row("Flatten", flatten),
    row("Squeeze", squeeze),
    row("Unsqueeze", |im, node| {
        let axes = match node.version >= 13 {
            true => im.ints_of(node, 1)?,
            false => node.ints("axes")?.unwrap_or_default().to_vec(),
        };
        Ok(vec![im.expand_dims(node.input(0)?, &axes)?])
    }),
    row("Transpose", |im, node| {
        let x = node.input(0)?;
        let attrs = match node.ints("perm")? {
            Some(perm) => Attrs::new().with("axes", perm),
            None => Attrs::new(),
        };
        Ok(vec![im.op(&sh::TRANSPOSE, &[x], attrs)?])
    }),
    row("Expand", expand),
    row("Shape", shape_of),
    row("Size", |im, node| {
        let x = node.input(0)?;
        if let Some(count) = im.ty(x)?.elements() {
            return Ok(vec![im.ints(&[], &[count as i64])?]);
        }
        let extents = im.un(&creation::SHAPE_OF, x)?;
        Ok(vec![im.reduce(&reduction::REDUCE_PROD, extents, &[0], false)?])
    }),
];

/// The extents an operand gives; those that follow from an unknown extent stay expressions.
pub fn extents_of(im: &mut Importer, node: &Node, index: usize) -> Result<Vec<Extent>, Fault> {
    if let Some(extents) = im.extents(node.input(index)?) {
        return Ok(extents);
    }
    Ok(im.ints_of(node, index)?.into_iter().map(Extent::Known).collect())
}

fn reshape(im: &mut Importer, node: &Node) -> Converted {
    match reshape_by_extents(im, node) {
        Err(Fault::NeedsShape { .. } | Fault::NeedsValue(_) | Fault::NeedsInput { .. })
            if node.version >= 5 =>
        {
            reshape_by_values(im, node)
        }
        made => made,
    }
}

fn reshape_by_extents(im: &mut Importer, node: &Node) -> Converted {
    let x = node.input(0)?;
    let wanted = match node.version >= 5 {
        true => extents_of(im, node, 1)?,
        false => node.ints("shape")?.unwrap_or_default().iter().map(|&n| Extent::Known(n)).collect(),
    };
    let keeps_zero = node.flag("allowzero")?;
    let from = im.dims(x)?;
    let mut to = Vec::with_capacity(wanted.len());
    let mut inferred = None;
    for (i, extent) in wanted.into_iter().enumerate() {
        to.push(match extent {
            Extent::Known(-1) if inferred.is_none() => {
                inferred = Some(i);
                Dim::Any
            }
            Extent::Known(0) if !keeps_zero => {
                let same = from.get(i).ok_or_else(|| {
                    Fault::value(format!(
                        "extent {i} of the shape is 0, but the operand has {} axes",
                        from.len()
                    ))
                })?;
                same.clone()
            }
            Extent::Known(n) => Dim::Static(u64::try_from(n).map_err(|_| {
                Fault::value(format!("the shape may have one -1 and no other negative extent, found {n}"))
            })?),
            Extent::Dim(dim) => dim,
        });
    }
    Ok(vec![im.reshape_dims(x, &to)?])
}

/// The same to numbers that are computed: places of the result count through the operand. A number of elements that differs is an
/// error when the program runs, as an extent below 0 is.
fn reshape_by_values(im: &mut Importer, node: &Node) -> Converted {
    let (x, shape) = (node.input(0)?, node.input(1)?);
    let shape = im.cast(shape, DType::I64)?;
    let (rank, keeps_zero) = (im.extent(shape, 0, "the shape")?, node.flag("allowzero")?);
    let known = im.extents(shape);
    let (zero, one) = (im.scalar(DType::I64, 0.0)?, im.scalar(DType::I64, 1.0)?);
    let mut total = one;
    for axis in 0..im.rank(x)? {
        let extent = im.extent_of(x, axis)?;
        total = im.mul(total, extent)?;
    }
    // What is asked for, with 1 in the place of what is left over.
    let (mut wanted, mut rests, mut product) = (Vec::new(), Vec::new(), one);
    for axis in 0..rank {
        let number = match known.as_ref().and_then(|known| known.get(axis as usize)) {
            Some(Extent::Known(number)) => im.scalar(DType::I64, *number as f64)?,
            _ => im.select_at(shape, 0, axis)?,
        };
        let number = match (axis as usize) < im.rank(x)? && !keeps_zero {
            true => {
                let (is_zero, own) = (im.equal(number, zero)?, im.extent_of(x, axis as usize)?);
                im.select(is_zero, own, number)?
            }
            false => number,
        };
        let is_rest = im.less(number, zero)?;
        let number = im.select(is_rest, one, number)?;
        product = im.mul(product, number)?;
        wanted.push(number);
        rests.push(is_rest);
    }
    let some = im.maximum(product, one)?;
    let rest = im.div(total, some)?;
    for (number, is_rest) in wanted.iter_mut().zip(rests) {
        let left = im.mul(rest, *number)?;
        *number = im.select(is_rest, left, *number)?;
    }
    let all = wanted.iter().try_fold(one, |all, &number| im.mul(all, number))?;
    let (fits, wrong) = (im.equal(all, total)?, im.scalar(DType::I64, -1.0)?);
    if let Some(first) = wanted.first_mut() {
        *first = im.select(fits, *first, wrong)?;
    }
    let (mut places, mut step) = (zero, one);
    for (axis, &number) in wanted.iter().enumerate().rev() {
        let own = im.counting(number)?;
        let own = im.mul(own, step)?;
        let own = im.expand_dims(own, &(1..(wanted.len() - axis) as i64).collect::<Vec<_>>())?;
        places = im.add(places, own)?;
        step = im.mul(step, number)?;
    }
    let flat = im.flat(x)?;
    Ok(vec![im.gather(flat, places, 0)?])
}

/// A matrix: the axes before `axis`, and the others.
fn flatten(im: &mut Importer, node: &Node) -> Converted {
    let x = node.input(0)?;
    let (dims, axis) = (im.dims(x)?, node.int("axis", 1)?);
    let axis = if axis == dims.len() as i64 { dims.len() } else { im.axis(x, axis)? };
    let (before, behind) = dims.split_at(axis);
    Ok(vec![im.reshape_dims(x, &[Dim::product(before), Dim::product(behind)])?])
}

fn squeeze(im: &mut Importer, node: &Node) -> Converted {
    let x = node.input(0)?;
    let axes = match node.version >= 13 {
        true => im.opt_ints_of(node, 1)?,
        false => node.ints("axes")?.map(<[i64]>::to_vec),
    };
    let ones =
        |dims: Vec<Dim>| (0..dims.len() as i64).filter(|&i| dims[i as usize] == Dim::Static(1)).collect();
    let axes = match axes {
        Some(axes) => axes,
        None => ones(im.dims(x)?),
    };
    Ok(vec![im.squeeze(x, &axes)?])
}

/// Broadcasting in both directions between the operand and a shape.
fn expand(im: &mut Importer, node: &Node) -> Converted {
    let x = node.input(0)?;
    let wanted = match extents_of(im, node, 1) {
        Ok(wanted) => wanted,
        Err(fault) if fault.needs_more() => return expand_by_values(im, node),
        Err(fault) => return Err(fault),
    };
    let dims = im.dims(x)?;
    let rank = dims.len().max(wanted.len());
    let (mut to, mut ones, mut known) = (Vec::with_capacity(rank), Vec::with_capacity(rank), true);
    for i in 0..rank {
        let own = (i + dims.len()).checked_sub(rank).map_or(Dim::Static(1), |k| dims[k].clone());
        let asked = (i + wanted.len()).checked_sub(rank).map(|k| wanted[k].clone());
        let asked = match asked {
            None => Dim::Static(1),
            Some(Extent::Dim(dim)) => dim,
            Some(Extent::Known(n)) => Dim::Static(
                u64::try_from(n).map_err(|_| Fault::value(format!("the shape has the extent {n}")))?,
            ),
        };
        let both = fusion_operators::relation::broadcast_dim(&own, &asked);
        let both = both.ok_or_else(|| {
            Fault::value(format!("the operand's extent {own} does not broadcast to {asked} in axis {i}"))
        })?;
        known &= both != Dim::Any && (both == own || both == asked);
        // Where the operand's extent stays, ones need not have it.
        ones.push(if both == own { Dim::Static(1) } else { asked });
        to.push(both);
    }
    if known {
        return Ok(vec![im.broadcast_dims(x, &to)?]);
    }
    // Which of two extents broadcasts shows at run time: ones of the shape do that.
    if ones.contains(&Dim::Any) {
        return expand_by_values(im, node);
    }
    let dtype = im.dtype(x)?;
    let ones = im.full_dims(dtype, &ones, 1.0)?;
    let op = if dtype == DType::Bool { &ew::LOGICAL_AND } else { &ew::MUL };
    Ok(vec![im.bin(op, x, ones)?])
}

/// The same to a shape that is computed.
fn expand_by_values(im: &mut Importer, node: &Node) -> Converted {
    let (x, shape) = (node.input(0)?, node.input(1)?);
    let rank = im.extent(shape, 0, "the shape")?;
    let falses = im.falses(shape, usize::try_from(rank).unwrap_or(0))?;
    Ok(vec![im.select(falses, x, x)?])
}

/// Since version 15 of a range of axes.
fn shape_of(im: &mut Importer, node: &Node) -> Converted {
    let x = node.input(0)?;
    let rank = im.rank(x)? as i64;
    let bound = |n: i64| if n < 0 { n.saturating_add(rank) } else { n }.clamp(0, rank);
    let begin = bound(node.int("start", 0)?);
    let end = bound(node.int("end", rank)?).max(begin);
    Ok(vec![extents(im, x, begin, end)?])
}

/// The extents of axes as a tensor, a constant when they are known.
fn extents(im: &mut Importer, x: Value, begin: i64, end: i64) -> Made {
    let dims = &im.ty(x)?.dims[begin as usize..end as usize];
    if let Some(known) = dims.iter().map(Dim::known).collect::<Option<Vec<u64>>>() {
        let known: Vec<i64> = known.into_iter().map(|n| n as i64).collect();
        return im.ints(&[known.len()], &known);
    }
    let all = im.un(&creation::SHAPE_OF, x)?;
    if (begin, end) == (0, im.rank(x)? as i64) { Ok(all) } else { im.slice(all, 0, begin, end) }
}

/// Axes that may count from the back.
pub fn axes_in(axes: &[i64], rank: usize) -> Result<Vec<usize>, Fault> {
    axes.iter().map(|&a| axis_in(a, rank)).collect()
}
