//! Sequences and optional values whose construction is known at import: they are lists of values then,
//! and leave no trace in the program.

use fusion_operators::DType;

use super::{Conversion, row};
use crate::onnx::build::{Converted, axis_in};
use crate::onnx::error::Fault;
use crate::onnx::graph::Importer;
use crate::onnx::known::Def;
use crate::onnx::node::{Node, Value};

pub const ROWS: &[Conversion] = &[
    row("SequenceEmpty", |im, _| Ok(vec![im.sequence(Vec::new())])),
    row("SequenceConstruct", |im, node| {
        let values = node.all_inputs()?;
        Ok(vec![im.sequence(values)])
    }),
    row("SequenceInsert", |im, node| {
        let mut values = list(im, node.input(0)?)?;
        let place = match node.opt(2) {
            // Behind the last element, or before the one that is named.
            Some(_) if im.int_of(node, 2)? == values.len() as i64 => values.len(),
            Some(_) => position(im, node, 2, values.len())?,
            None => values.len(),
        };
        values.insert(place, node.input(1)?);
        Ok(vec![im.sequence(values)])
    }),
    row("SequenceErase", |im, node| {
        let mut values = list(im, node.input(0)?)?;
        let place = match node.opt(1) {
            Some(_) => position(im, node, 1, values.len())?,
            None => values.len().saturating_sub(1),
        };
        if place < values.len() {
            values.remove(place);
        }
        Ok(vec![im.sequence(values)])
    }),
    row("SequenceAt", |im, node| {
        let values = list(im, node.input(0)?)?;
        let place = position(im, node, 1, values.len())?;
        values.get(place).map(|&v| vec![v]).ok_or_else(|| Fault::value("the sequence is empty"))
    }),
    row("SequenceLength", |im, node| {
        let count = list(im, node.input(0)?)?.len() as i64;
        Ok(vec![im.ints(&[], &[count])?])
    }),
    row("ConcatFromSequence", concat_from_sequence),
    row("SplitToSequence", split_to_sequence),
    row("SequenceMap", sequence_map),
    row("Optional", |im, node| {
        Ok(vec![match node.opt(0) {
            Some(value) => value,
            None => im.absent(),
        }])
    }),
    row("OptionalHasElement", |im, node| {
        let there = node.opt(0).is_some_and(|v| !matches!(im.entries[v.0 as usize].def, Def::Absent));
        Ok(vec![im.floats(DType::Bool, &[], &[f64::from(u8::from(there))])?])
    }),
    row("OptionalGetElement", |im, node| {
        let value = node.input(0)?;
        match im.entries[value.0 as usize].def {
            Def::Absent => Err(Fault::value("the optional value is not there")),
            _ => Ok(vec![value]),
        }
    }),
];

/// The elements of a sequence.
pub fn list(im: &Importer, v: Value) -> Result<Vec<Value>, Fault> {
    match &im.entries[v.0 as usize].def {
        Def::Sequence(values) => Ok(values.clone()),
        _ => Err(Fault::unsupported("a sequence whose construction is not known at import")),
    }
}

fn position(im: &mut Importer, node: &Node, index: usize, len: usize) -> Result<usize, Fault> {
    axis_in(im.int_of(node, index)?, len)
        .map_err(|_| Fault::value(format!("the position is out of range for a sequence of {len}")))
}

fn concat_from_sequence(im: &mut Importer, node: &Node) -> Converted {
    let mut values = list(im, node.input(0)?)?;
    let first = *values.first().ok_or_else(|| Fault::value("the sequence is empty"))?;
    let new = node.flag("new_axis")?;
    let axis = axis_in(node.required_int("axis")?, im.rank(first)? + usize::from(new))?;
    if new {
        for value in &mut values {
            *value = im.expand_dims(*value, &[axis as i64])?;
        }
    }
    Ok(vec![im.concat(&values, axis)?])
}

fn split_to_sequence(im: &mut Importer, node: &Node) -> Converted {
    let x = node.input(0)?;
    let axis = im.axis(x, node.int("axis", 0)?)?;
    let extent = im.extent(x, axis, "the operand")?;
    if extent > 1 << 16 {
        return Err(Fault::unsupported(format!("a sequence cut from an axis of {extent}")));
    }
    let (sections, single) = match node.opt(1) {
        None => (vec![1; usize::try_from(extent).unwrap_or(0)], true),
        Some(split) => match (im.rank(split)?, &im.ints_of(node, 1)?[..]) {
            // A scalar is the size of each piece but the last.
            (0, &[size]) if size > 0 => {
                let whole = (0..extent / size).map(|_| size);
                let rest = Some(extent % size).filter(|&rest| rest > 0);
                (whole.chain(rest).collect(), false)
            }
            (1, list) => (list.to_vec(), false),
            _ => return Err(Fault::value("split must be a positive number or a list")),
        },
    };
    let mut pieces = im.split(x, &sections, axis)?;
    if single && node.int("keepdims", 1)? == 0 {
        for piece in &mut pieces {
            *piece = im.squeeze(*piece, &[axis as i64])?;
        }
    }
    Ok(vec![im.sequence(pieces)])
}

/// Applies a graph to the elements of sequences, with tensors beside them.
fn sequence_map<'m>(im: &mut Importer<'m>, node: &Node<'m>) -> Converted {
    let inputs = node.all_inputs()?;
    let body = node.graph("body")?;
    let count = list(im, node.input(0)?)?.len();
    let mut results: Vec<Vec<Value>> = vec![Vec::new(); body.output.len()];
    for i in 0..count {
        let mut arguments = Vec::new();
        for &input in &inputs {
            let element = match list(im, input) {
                Ok(values) => {
                    *values.get(i).ok_or_else(|| Fault::value("the sequences have different lengths"))?
                }
                Err(_) => input,
            };
            arguments.push(element);
        }
        let outputs = im.subgraph(body, &arguments).map_err(Box::new)?;
        for (list, value) in results.iter_mut().zip(outputs) {
            list.push(value);
        }
    }
    Ok(results.into_iter().map(|values| im.sequence(values)).collect())
}
