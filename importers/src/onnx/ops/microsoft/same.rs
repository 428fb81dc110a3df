//! Operators that ONNX took over, and some that differ from its own in what their operands may be.

use fusion_operators::ops::{elementwise as ew, reduction};

use super::{asked, asked_one, row};
use crate::onnx::build::Converted;
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::Node;
use crate::onnx::ops::Conversion;
use crate::onnx::ops::moving::selection::unique;

pub const ROWS: &[Conversion] = &[
    row("Trilu", |im, node| again(im, node, ("Trilu", 14))),
    row("GatherND", |im, node| again(im, node, ("GatherND", 13))),
    row("GridSample", |im, node| again(im, node, ("GridSample", 16))),
    row("Pad", |im, node| {
        // The number may come as a vector of one, and padding as a matrix of one row.
        let pads = im.reshape(node.input(1)?, &[-1])?;
        let value = node.opt(2).map(|value| im.reshape(value, &[])).transpose()?;
        Ok(vec![asked_one(im, node, ("Pad", 13), &[node.opt(0), Some(pads), value])?])
    }),
    row("Range", |im, node| {
        let start = node.input(0)?;
        let step = match node.opt(2) {
            Some(step) => step,
            None => im.like(start, 1.0)?,
        };
        let ends = [start, node.input(1)?, step].map(|end| im.reshape(end, &[]));
        let [start, limit, step] = ends;
        Ok(vec![asked_one(im, node, ("Range", 11), &[Some(start?), Some(limit?), Some(step?)])?])
    }),
    row("ExpandDims", |im, node| {
        let axis = im.reshape(node.input(1)?, &[1])?;
        Ok(vec![asked_one(im, node, ("Unsqueeze", 13), &[node.opt(0), Some(axis)])?])
    }),
    row("Unique", |im, node| {
        let found = unique(im, node, false)?;
        // Not where each stands first, but where each element is among them, and the counts.
        Ok(vec![found[0], found[2], found[3]])
    }),
    row("QuantizeLinear", |im, node| again(im, node, ("QuantizeLinear", 21))),
    row("DequantizeLinear", |im, node| again(im, node, ("DequantizeLinear", 21))),
    row("IsAllFinite", |im, node| {
        let mut all = None;
        for x in node.all_inputs()? {
            let (nan, infinite) = (im.un(&ew::IS_NAN, x)?, im.un(&ew::IS_INF, x)?);
            let either = im.bin(&ew::LOGICAL_OR, nan, infinite)?;
            let finite = im.un(&ew::LOGICAL_NOT, either)?;
            let axes: Vec<usize> = (0..im.rank(x)?).collect();
            let own = im.reduce(&reduction::REDUCE_ALL, finite, &axes, false)?;
            all = Some(match all {
                Some(all) => im.and(all, own)?,
                None => own,
            });
        }
        let all = all.ok_or(Fault::MissingInput { index: 0 })?;
        Ok(vec![im.reshape(all, &[1])?])
    }),
];

/// The operator of ONNX, for the same operands.
fn again<'m>(im: &mut Importer<'m>, node: &Node<'m>, operator: (&str, i64)) -> Converted {
    asked(im, node, operator, &node.inputs)
}
