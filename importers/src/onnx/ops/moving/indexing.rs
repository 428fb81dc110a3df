//! Operators that move elements by indices.

use fusion_operators::ops::{elementwise as ew, indexing};
use fusion_operators::{Attrs, DType, Operator};

use crate::onnx::build::{Converted, Made, axis_in};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::{Conversion, row};

pub const ROWS: &[Conversion] = &[
    row("Gather", |im, node| {
        let x = node.input(0)?;
        let axis = im.axis(x, node.int("axis", 0)?)?;
        let indices = indices(im, node.input(1)?)?;
        Ok(vec![im.gather(x, indices, axis)?])
    }),
    row("GatherElements", |im, node| {
        let x = node.input(0)?;
        let axis = im.axis(x, node.int("axis", 0)?)? as i64;
        let indices = indices(im, node.input(1)?)?;
        Ok(vec![im.op(&indexing::GATHER_ELEMENTS, &[x, indices], Attrs::new().with("axis", axis))?])
    }),
    row("GatherND", |im, node| {
        let attrs = Attrs::new().with("batch_dims", node.int("batch_dims", 0)?);
        let indices = indices(im, node.input(1)?)?;
        Ok(vec![im.op(&indexing::GATHER_ND, &[node.input(0)?, indices], attrs)?])
    }),
    row("Scatter", scatter_elements),
    row("ScatterElements", scatter_elements),
    row("ScatterND", |im, node| scatter(im, node, &indexing::SCATTER_ND, Attrs::new())),
    row("OneHot", one_hot),
    row("TensorScatter", tensor_scatter),
];

/// Indices as i32 or i64.
fn indices(im: &mut Importer, v: Value) -> Made {
    match im.dtype(v)? {
        DType::I32 | DType::I64 => Ok(v),
        _ => im.cast(v, DType::I64),
    }
}

fn scatter(im: &mut Importer, node: &Node, op: &'static Operator, attrs: Attrs) -> Converted {
    let reduction = node.string("reduction", "none")?;
    let indices = indices(im, node.input(1)?)?;
    let operands = [node.input(0)?, indices, node.input(2)?];
    Ok(vec![im.op(op, &operands, attrs.with("reduction", reduction))?])
}

fn scatter_elements(im: &mut Importer, node: &Node) -> Converted {
    let axis = im.axis(node.input(0)?, node.int("axis", 0)?)?;
    scatter(im, node, &indexing::SCATTER_ELEMENTS, Attrs::new().with("axis", axis as i64))
}

/// `values` holds what stands off and on.
fn one_hot(im: &mut Importer, node: &Node) -> Converted {
    let (mut at, values) = (node.input(0)?, node.input(2)?);
    let depth = im.floats_of(node, 1)?.first().map_or(-1, |&d| d as i64);
    if depth < 0 {
        return Err(Fault::value(format!("depth must not be negative, found {depth}")));
    }
    if im.dtype(at)?.is_float() {
        at = im.cast(at, DType::I64)?;
    }
    let axis = axis_in(node.int("axis", -1)?, im.rank(at)? + 1)?;
    let (off, on) = (im.select_at(values, 0, 0)?, im.select_at(values, 0, 1)?);
    let attrs = Attrs::new().with("depth", depth).with("axis", axis as i64);
    Ok(vec![im.op(&indexing::ONE_HOT, &[at, on, off], attrs)?])
}

/// Writes a sequence of updates into a cache, beginning at an index for each member of the batch.
fn tensor_scatter(im: &mut Importer, node: &Node) -> Converted {
    let (cache, update) = (node.input(0)?, node.input(1)?);
    let axis = im.axis(cache, node.int("axis", -2)?)?;
    if axis == 0 {
        return Err(Fault::value("axis must not be the batch"));
    }
    let circular = match node.string("mode", "linear")? {
        "linear" => false,
        "circular" => true,
        _ => return Err(Fault::Attribute { name: "mode".into(), expected: "linear or circular" }),
    };
    let shape = im.shape(update, "the update")?;
    let limit = im.extent(cache, axis, "the cache")?;
    let rank = shape.len();
    if rank != im.rank(cache)? {
        return Err(Fault::value(format!("{} does not update {}", im.ty(update)?, im.ty(cache)?)));
    }
    let steps = im.arange(DType::I64, shape[axis], 0.0, 1.0)?;
    let behind: Vec<i64> = (0..rank as i64).filter(|&a| a != axis as i64).collect();
    let mut places = im.expand_dims(steps, &behind)?;
    if let Some(begin) = node.opt(2) {
        let begin = im.cast(begin, DType::I64)?;
        let behind: Vec<i64> = (1..rank as i64).collect();
        let begin = im.expand_dims(begin, &behind)?;
        places = im.add(places, begin)?;
    }
    if circular {
        let limit = im.like(places, limit as f64)?;
        places = im.bin(&ew::MOD, places, limit)?;
    }
    let places = im.broadcast_to(places, &shape)?;
    let attrs = Attrs::new().with("axis", axis as i64);
    Ok(vec![im.op(&indexing::SCATTER_ELEMENTS, &[cache, places, update], attrs)?])
}
