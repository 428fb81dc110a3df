//! Scan: a body for each slice of the scanned operands, whose results are collected.
//!
//! The slices are counted, so this is a loop of known length (`collect`), unless the extent is known at run time only (`repeat`). Until version 9 each member
//! of a batch was scanned on its own, which is such a loop around the other.

use crate::onnx::build::Converted;
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::flow::collect::{Place, Step};
use crate::onnx::ops::flow::repeat::{Ends, Turn};
use crate::onnx::ops::{Conversion, row};
use crate::onnx::proto::GraphProto;

pub const ROWS: &[Conversion] = &[row("Scan", |im, node| im.import_scan(node))];

/// How the operands are scanned.
struct Scan<'m> {
    body: &'m GraphProto,
    /// Number of operands that are carried; the others are scanned.
    states: usize,
    /// Of the scanned operands.
    sources: Vec<Place>,
    /// Of the results that are collected.
    places: Vec<Place>,
}

impl<'m> Importer<'m> {
    fn import_scan(&mut self, node: &Node<'m>) -> Converted {
        let skip = usize::from(node.version < 9);
        if node.version < 9 && node.opt(0).is_some() {
            return Err(Fault::unsupported("Scan with lengths for each member of the batch"));
        }
        let operands: Vec<Value> =
            (skip..node.inputs.len()).map(|i| node.input(i)).collect::<Result<_, _>>()?;
        let scan = read(node, operands.len())?;
        if node.version >= 9 {
            return self.scan(node, &scan, &operands);
        }
        let batch = self.extent(operands[0], 0, "the operand")?;
        let members = vec![Place::default(); scan.body.output.len()];
        self.collect(node, batch, &[], &members, |im, member, _| {
            let own = operands.iter().map(|&v| im.picked(v, 0, member)).collect::<Result<Vec<_>, _>>()?;
            Ok(Step { values: im.scan(node, &scan, &own)?, goes_on: true })
        })
    }

    fn scan(&mut self, node: &Node<'m>, scan: &Scan<'m>, operands: &[Value]) -> Converted {
        let (carried, scanned) = operands.split_at(scan.states);
        for (&v, source) in scanned.iter().zip(&scan.sources) {
            let axis = self.axis(v, source.axis)?;
            if self.dims(v)?[axis].known().is_none() {
                return self.dynamic_scan(node, scan, (carried, scanned));
            }
        }
        let mut steps = None;
        let mut axes = Vec::new();
        for (&v, source) in scanned.iter().zip(&scan.sources) {
            let axis = self.axis(v, source.axis)?;
            let extent = self.extent(v, axis, "the scanned operand")?;
            if *steps.get_or_insert(extent) != extent {
                return Err(Fault::value("the scanned operands have different lengths"));
            }
            axes.push(axis);
        }
        let steps = steps.unwrap_or(0);
        self.collect(node, steps, carried, &scan.places, |im, at, state| {
            let mut arguments = state.to_vec();
            for ((&v, source), &axis) in scanned.iter().zip(&scan.sources).zip(&axes) {
                let at = if source.backward { im.mirrored(at, steps)? } else { at };
                arguments.push(im.picked(v, axis, at)?);
            }
            Ok(Step { values: im.subgraph(scan.body, &arguments).map_err(Box::new)?, goes_on: true })
        })
    }

    /// As many slices as there turn out to be along the first scanned operand.
    fn dynamic_scan(
        &mut self,
        node: &Node<'m>,
        scan: &Scan<'m>,
        (carried, scanned): (&[Value], &[Value]),
    ) -> Converted {
        let axes: Vec<usize> = scanned
            .iter()
            .zip(&scan.sources)
            .map(|(&v, source)| self.axis(v, source.axis))
            .collect::<Result<_, _>>()?;
        let steps = self.extent_of(scanned[0], axes[0])?;
        let ends = Ends { limit: Some(steps), start: None };
        let mut results =
            self.repeat(node, ends, (carried, scan.places.len()), true, |im, counter, going, state| {
                let mut arguments = state.to_vec();
                for ((&v, source), &axis) in scanned.iter().zip(&scan.sources).zip(&axes) {
                    let mut at = counter;
                    if source.backward {
                        let last = im.add_f(steps, -1.0)?;
                        at = im.sub(last, counter)?;
                    }
                    arguments.push(im.gather(v, at, axis)?);
                }
                Ok(Turn { goes_on: going, values: im.subgraph(scan.body, &arguments).map_err(Box::new)? })
            })?;
        for (list, place) in results[carried.len()..].iter_mut().zip(&scan.places) {
            *list = self.stack_of(*list, place)?;
        }
        Ok(results)
    }
}

fn read<'m>(node: &Node<'m>, operands: usize) -> Result<Scan<'m>, Fault> {
    let body = node.graph("body")?;
    let scanned = usize::try_from(node.required_int("num_scan_inputs")?).unwrap_or(0);
    let states = operands.checked_sub(scanned).filter(|_| scanned > 0);
    let states =
        states.ok_or_else(|| Fault::value("num_scan_inputs exceeds the operands, or is not positive"))?;
    let collected = body.output.len().checked_sub(states);
    let collected =
        collected.ok_or_else(|| Fault::value("the body gives fewer values than the scan carries"))?;
    let list = |name: &str, len: usize| match node.ints(name)? {
        None => Ok(vec![0; len]),
        Some(list) if list.len() == len => Ok(list.to_vec()),
        Some(list) => Err(Fault::value(format!("attribute {name} must have {len} numbers, found {list:?}"))),
    };
    let places = |axes: &str, directions: &str, len: usize| {
        let (axes, directions) = (list(axes, len)?, list(directions, len)?);
        let place = |(axis, direction)| Place { axis, backward: direction != 0 };
        Ok::<_, Fault>(axes.into_iter().zip(directions).map(place).collect::<Vec<_>>())
    };
    let directions = if node.version < 9 { "directions" } else { "scan_input_directions" };
    let sources = places("scan_input_axes", directions, scanned)?;
    let places = places("scan_output_axes", "scan_output_directions", collected)?;
    Ok(Scan { body, states, sources, places })
}
