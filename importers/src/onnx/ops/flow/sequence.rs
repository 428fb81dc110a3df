//! Sequences and optional values. A sequence whose construction is known at import leaves no trace in the program: it is a list of
//! values here. Where its length or a position is known at run time only it is a list of the language (`held`).

use fusion_operators::DType;

use crate::onnx::build::{Converted, Made, axis_in};
use crate::onnx::definitions::Def;
use crate::onnx::emit::{Held, ListOp};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::arithmetic::elementwise::scalar;
use crate::onnx::ops::flow::repeat::{Ends, Turn};
use crate::onnx::ops::{Conversion, row};
use crate::onnx::proto::GraphProto;

pub const ROWS: &[Conversion] = &[
    row("SequenceEmpty", |im, _| Ok(vec![im.sequence(Vec::new())])),
    row("SequenceConstruct", |im, node| {
        let values = node.all_inputs()?;
        Ok(vec![im.sequence(values)])
    }),
    row("SequenceInsert", sequence_insert),
    row("SequenceErase", sequence_erase),
    row("SequenceAt", |im, node| {
        let sequence = node.input(0)?;
        if let (Some(values), Some(at)) = (list(im, sequence), known_position(im, node, 1)?) {
            let place = position(at, values.len())?;
            return values.get(place).map(|&v| vec![v]).ok_or_else(|| Fault::value("the sequence is empty"));
        }
        let (sequence, element) = im.as_list(sequence, None)?;
        let at = computed_position(im, node, 1)?;
        Ok(vec![im.on_list(ListOp::At, &element, &[sequence, at])?])
    }),
    row("SequenceLength", |im, node| {
        let sequence = node.input(0)?;
        Ok(vec![match list(im, sequence) {
            Some(values) => im.ints(&[], &[values.len() as i64])?,
            None => length(im, sequence)?,
        }])
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

/// The elements of a sequence whose construction is known.
fn list(im: &Importer, v: Value) -> Option<Vec<Value>> {
    match &im.entries[v.0 as usize].def {
        Def::Sequence(values) => Some(values.clone()),
        _ => None,
    }
}

fn length(im: &mut Importer, sequence: Value) -> Made {
    let (sequence, element) = im.as_list(sequence, None)?;
    im.on_list(ListOp::Length, &element, &[sequence])
}

/// The position an operand is, where it is known.
fn known_position(im: &mut Importer, node: &Node, index: usize) -> Result<Option<i64>, Fault> {
    match im.int_of(node, index) {
        Ok(position) => Ok(Some(position)),
        Err(fault) if fault.needs_more() => Ok(None),
        Err(fault) => Err(fault),
    }
}

/// The position an operand is, as operations on lists take it.
fn computed_position(im: &mut Importer, node: &Node, index: usize) -> Made {
    let at = scalar(im, node.input(index)?)?;
    im.cast(at, DType::I64)
}

fn position(at: i64, len: usize) -> Result<usize, Fault> {
    axis_in(at, len)
        .map_err(|_| Fault::value(format!("the position is out of range for a sequence of {len}")))
}

/// Behind the last element, or before the one that is named.
fn sequence_insert(im: &mut Importer, node: &Node) -> Converted {
    let (sequence, x) = (node.input(0)?, node.input(1)?);
    if let Some(mut values) = list(im, sequence) {
        let at = match node.opt(2) {
            Some(_) => known_position(im, node, 2)?,
            None => Some(values.len() as i64),
        };
        if let Some(at) = at {
            let place = if at == values.len() as i64 { values.len() } else { position(at, values.len())? };
            values.insert(place, x);
            return Ok(vec![im.sequence(values)]);
        }
    }
    let ty = im.ty(x)?.clone();
    let (sequence, element) = im.as_list(sequence, Some(&ty))?;
    let x = im.hold(x, &Held::Tensor(element.clone()))?;
    Ok(vec![match node.opt(2) {
        None => im.on_list(ListOp::Push, &element, &[sequence, x])?,
        Some(_) => {
            let at = computed_position(im, node, 2)?;
            im.on_list(ListOp::Insert, &element, &[sequence, at, x])?
        }
    }])
}

/// Without the element that is named, or the last.
fn sequence_erase(im: &mut Importer, node: &Node) -> Converted {
    let sequence = node.input(0)?;
    if let Some(mut values) = list(im, sequence) {
        let at = match node.opt(1) {
            Some(_) => known_position(im, node, 1)?,
            None => Some(-1),
        };
        if let Some(at) = at {
            values.remove(position(at, values.len())?);
            return Ok(vec![im.sequence(values)]);
        }
    }
    let (sequence, element) = im.as_list(sequence, None)?;
    let at = match node.opt(1) {
        Some(_) => computed_position(im, node, 1)?,
        None => im.ints(&[], &[-1])?,
    };
    Ok(vec![im.on_list(ListOp::Erase, &element, &[sequence, at])?])
}

fn concat_from_sequence(im: &mut Importer, node: &Node) -> Converted {
    let (sequence, new) = (node.input(0)?, node.flag("new_axis")?);
    let Some(mut values) = list(im, sequence) else {
        let (sequence, element) = im.as_list(sequence, None)?;
        let axis = axis_in(node.required_int("axis")?, element.rank() + usize::from(new))?;
        let how = if new { ListOp::Stack(axis) } else { ListOp::Concat(axis) };
        return Ok(vec![im.on_list(how, &element, &[sequence])?]);
    };
    let first = *values.first().ok_or_else(|| Fault::value("the sequence is empty"))?;
    let axis = axis_in(node.required_int("axis")?, im.rank(first)? + usize::from(new))?;
    if new {
        for value in &mut values {
            *value = im.expand_dims(*value, &[axis as i64])?;
        }
    }
    Ok(vec![im.concat(&values, axis)?])
}

fn split_to_sequence<'m>(im: &mut Importer<'m>, node: &Node<'m>) -> Converted {
    let x = node.input(0)?;
    let axis = im.axis(x, node.int("axis", 0)?)?;
    let squeezed = node.opt(1).is_none() && node.int("keepdims", 1)? == 0;
    let sizes = match node.opt(1) {
        None => vec![1],
        Some(_) => im.ints_of(node, 1)?,
    };
    let alike = match node.opt(1) {
        None => true,
        // A scalar is the size of each piece but the last.
        Some(split) => im.rank(split)? == 0,
    };
    if alike && im.dims(x)?[axis].known().is_none() {
        return dynamic_split(im, node, x, (axis, sizes[0]), squeezed);
    }
    let extent = im.extent(x, axis, "the operand")?;
    if extent > 1 << 16 {
        return Err(Fault::unsupported(format!("a sequence cut from an axis of {extent}")));
    }
    let sections = match (alike, &sizes[..]) {
        (true, &[size]) if size > 0 => {
            let whole = (0..extent / size).map(|_| size);
            whole.chain(Some(extent % size).filter(|&rest| rest > 0)).collect()
        }
        (false, list) => list.to_vec(),
        _ => return Err(Fault::value("split must be a positive number or a list")),
    };
    let mut pieces = im.split(x, &sections, axis)?;
    if squeezed {
        for piece in &mut pieces {
            *piece = im.squeeze(*piece, &[axis as i64])?;
        }
    }
    Ok(vec![im.sequence(pieces)])
}

/// Takes pieces of a size from an axis of unknown extent for as long as something is left.
fn dynamic_split<'m>(
    im: &mut Importer<'m>,
    node: &Node<'m>,
    x: Value,
    (axis, size): (usize, i64),
    squeezed: bool,
) -> Converted {
    if size < 1 {
        return Err(Fault::value("split must be a positive number or a list"));
    }
    let whole = im.extent_of(x, axis)?;
    let zero = im.ints(&[], &[0])?;
    let start = im.less(zero, whole)?;
    let ends = Ends { limit: None, start: Some(start) };
    let mut results = im.repeat(node, ends, (&[x], 1), true, |im, _, _, state| {
        let piece = im.slice(state[0], axis, 0, size)?;
        let rest = im.slice(state[0], axis, size, i64::MAX)?;
        let piece = if squeezed { im.squeeze(piece, &[axis as i64])? } else { piece };
        let left = im.extent_of(rest, axis)?;
        let zero = im.ints(&[], &[0])?;
        Ok(Turn { goes_on: im.less(zero, left)?, values: vec![rest, piece] })
    })?;
    Ok(vec![results.remove(1)])
}

/// Applies a graph to the elements of sequences, with tensors beside them.
fn sequence_map<'m>(im: &mut Importer<'m>, node: &Node<'m>) -> Converted {
    let inputs = node.all_inputs()?;
    let body = node.graph("body")?;
    let first = node.input(0)?;
    let Some(values) = list(im, first) else { return dynamic_map(im, node, &inputs, body) };
    let mut results: Vec<Vec<Value>> = vec![Vec::new(); body.output.len()];
    for i in 0..values.len() {
        let mut arguments = Vec::new();
        for &input in &inputs {
            let element = match (list(im, input), im.held(input)) {
                (Some(values), _) => {
                    *values.get(i).ok_or_else(|| Fault::value("the sequences have different lengths"))?
                }
                (None, Ok(Some(Held::List(element)))) => {
                    let at = im.ints(&[], &[i as i64])?;
                    im.on_list(ListOp::At, &element, &[input, at])?
                }
                _ => input,
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

/// The same for a sequence whose length is known at run time only.
fn dynamic_map<'m>(
    im: &mut Importer<'m>,
    node: &Node<'m>,
    inputs: &[Value],
    body: &'m GraphProto,
) -> Converted {
    let mut lists = Vec::with_capacity(inputs.len());
    for &input in inputs {
        let is_list = !matches!(im.held(input)?, Some(Held::Tensor(_)));
        lists.push(if is_list { Some(im.as_list(input, None)?) } else { None });
    }
    let ends = Ends { limit: Some(length(im, inputs[0])?), start: None };
    im.repeat(node, ends, (&[], body.output.len()), true, |im, counter, going, _| {
        let mut arguments = Vec::with_capacity(inputs.len());
        for (&input, list) in inputs.iter().zip(&lists) {
            arguments.push(match list {
                Some((list, element)) => im.on_list(ListOp::At, element, &[*list, counter])?,
                None => input,
            });
        }
        Ok(Turn { goes_on: going, values: im.subgraph(body, &arguments).map_err(Box::new)? })
    })
}
