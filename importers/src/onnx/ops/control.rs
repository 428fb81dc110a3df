//! Structured control flow.
//!
//! What is known at import is resolved: an If of a constant condition is its branch, a short Loop of
//! known length is its bodies one after the other. The rest stays relay.if and relay.while.

use fusion_operators::{DType, TensorType};

use super::elementwise::scalar;
use super::{Conversion, row};
use crate::onnx::build::{Converted, Made, axis_in};
use crate::onnx::emit::{Id, Region};
use crate::onnx::error::{Fault, ImportError};
use crate::onnx::graph::Importer;
use crate::onnx::known::Def;
use crate::onnx::node::{Node, Value};
use crate::onnx::proto::GraphProto;

pub const ROWS: &[Conversion] = &[
    row("If", |im, node| im.import_if(node)),
    row("Loop", |im, node| im.import_loop(node)),
    row("Scan", |im, node| im.import_scan(node)),
];

/// Loops up to this length are unrolled without being asked to.
const SHORT: i64 = 16;
/// Bodies that are unrolled at most, where nothing else is possible.
const LONGEST: i64 = 4096;

/// The values a loop carries, and what it collects.
struct Unrolled {
    carried: Vec<Value>,
    scans: Vec<Vec<Value>>,
}

impl<'m> Importer<'m> {
    fn opaque(&mut self, id: Id) -> Value {
        let ty = self.emit.tensor_type(id);
        self.push(Def::Opaque, id, ty)
    }

    fn ids(&self, values: &[Value]) -> Result<Vec<Id>, Fault> {
        values.iter().map(|&v| self.ty(v).map(|_| self.entries[v.0 as usize].id)).collect()
    }

    fn is_sequence(&self, v: Value) -> bool {
        self.ty(v).is_err()
    }

    fn import_if(&mut self, node: &Node<'m>) -> Converted {
        let condition = scalar(self, node.input(0)?)?;
        let (then, otherwise) = (node.graph("then_branch")?, node.graph("else_branch")?);
        let branch = |holds: bool| if holds { then } else { otherwise };
        if let Some(known) = self.constant_of(condition) {
            let taken = branch(known.to_ints().iter().any(|&c| c != 0));
            return Ok(self.subgraph(taken, &[]).map_err(Box::new)?);
        }
        let emit = self.emit;
        let id = self.entries[condition.0 as usize].id;
        let (mut first, mut differ): (Option<Vec<TensorType>>, Option<String>) = (None, None);
        let ids = emit.if_(id, &mut |region, _| {
            let values = self.subgraph(branch(region == Region::Then), &[])?;
            let types = values.iter().map(|&v| self.ty(v).cloned()).collect::<Result<Vec<_>, _>>();
            let text = match (types, self.ids(&values), &first) {
                (Ok(types), Ok(_), Some(first)) if *first != types => {
                    let text = |types: &[TensorType]| {
                        types.iter().map(TensorType::to_string).collect::<Vec<_>>().join(", ")
                    };
                    format!("a condition that is not known and gives {} or {}", text(first), text(&types))
                }
                (Ok(types), Ok(ids), _) => {
                    first = Some(types);
                    return Ok(ids);
                }
                _ => "a sequence as the result of a condition that is not known".into(),
            };
            differ = Some(text.clone());
            let fault = Box::new(Fault::unsupported(text));
            Err(ImportError::Node { place: node.place.clone(), fault })
        });
        // Branches that differ cannot be one operation; a condition that is given still decides.
        if let Some(text) = differ {
            let known = self.value_of(condition, "the condition").map_err(|_| Fault::unsupported(text))?;
            let taken = branch(known.to_ints().iter().any(|&c| c != 0));
            return Ok(self.subgraph(taken, &[]).map_err(Box::new)?);
        }
        Ok(ids.map_err(Box::new)?.into_iter().map(|id| self.opaque(id)).collect())
    }

    fn import_loop(&mut self, node: &Node<'m>) -> Converted {
        let body = node.graph("body")?;
        let initial: Vec<Value> = (2..node.inputs.len()).map(|i| node.input(i)).collect::<Result<_, _>>()?;
        let carried = initial.len();
        let collected = body.output.len().checked_sub(carried + 1);
        let scans =
            collected.ok_or_else(|| Fault::value("the body gives fewer values than the loop carries"))?;
        let known_count = match node.opt(0) {
            Some(count) => self.constant_of(count).map(|t| t.to_ints().first().copied().unwrap_or(0)),
            None => None,
        };
        let known_start = match node.opt(1) {
            Some(start) => self.constant_of(start).map(|t| t.to_ints().iter().any(|&c| c != 0)),
            None => Some(true),
        };
        let short = known_count.is_some_and(|n| n <= SHORT.into()) && known_start.is_some();
        let must = scans > 0 || initial.iter().any(|&v| self.is_sequence(v));
        if short || must {
            match self.unroll(node, body, &initial, scans, must) {
                Ok(unrolled) => return self.gathered(unrolled),
                Err(fault) if must => return Err(fault),
                // A condition that is not known: the loop stays.
                Err(Fault::NeedsValue(_) | Fault::NeedsInput { .. }) => {}
                Err(fault) => return Err(fault),
            }
        }
        self.while_loop(node, body, &initial)
    }

    /// The bodies one after the other, as long as the condition, which must be known, holds.
    fn unroll(
        &mut self,
        node: &Node<'m>,
        body: &'m GraphProto,
        initial: &[Value],
        scans: usize,
        specialize: bool,
    ) -> Result<Unrolled, Fault> {
        let known = |im: &mut Self, v: Value, what: &str| match specialize {
            true => im.value_of(v, what).map(|t| t.to_ints().first().copied().unwrap_or(0)),
            false => im
                .constant_of(v)
                .map(|t| t.to_ints().first().copied().unwrap_or(0))
                .ok_or_else(|| Fault::NeedsValue(what.to_owned())),
        };
        let count = match node.opt(0) {
            Some(v) => known(self, v, "the trip count of a Loop that collects values")?,
            None => i128::MAX,
        };
        let mut goes_on = match node.opt(1) {
            Some(v) => known(self, v, "the condition of a Loop that collects values")? != 0,
            None => true,
        };
        let mut state = Unrolled { carried: initial.to_vec(), scans: vec![Vec::new(); scans] };
        let mut iteration = 0i64;
        while goes_on && i128::from(iteration) < count {
            if iteration >= LONGEST {
                return Err(Fault::unsupported(format!("unrolling a loop more than {LONGEST} times")));
            }
            let mut arguments = vec![self.ints(&[], &[iteration])?, self.floats(DType::Bool, &[], &[1.0])?];
            arguments.extend(&state.carried);
            let results = self.subgraph(body, &arguments).map_err(Box::new)?;
            goes_on = known(self, results[0], "the condition of a Loop that collects values")? != 0;
            state.carried = results[1..=initial.len()].to_vec();
            for (list, &value) in state.scans.iter_mut().zip(&results[1 + initial.len()..]) {
                list.push(value);
            }
            iteration += 1;
        }
        Ok(state)
    }

    fn gathered(&mut self, unrolled: Unrolled) -> Converted {
        let mut results = unrolled.carried;
        for list in unrolled.scans {
            results.push(self.stacked(&list, 0)?);
        }
        Ok(results)
    }

    /// Values joined along a new axis.
    fn stacked(&mut self, list: &[Value], axis: i64) -> Made {
        let Some(&first) = list.first() else {
            return Err(Fault::unsupported("collecting values of a loop that never runs"));
        };
        let axis = axis_in(axis, self.rank(first)? + 1)?;
        let rows =
            list.iter().map(|&v| self.expand_dims(v, &[axis as i64])).collect::<Result<Vec<_>, _>>()?;
        self.concat(&rows, axis)
    }

    /// relay.while over the iteration number, the condition, and what the loop carries.
    fn while_loop(&mut self, node: &Node<'m>, body: &'m GraphProto, initial: &[Value]) -> Converted {
        let limit = match node.opt(0) {
            Some(count) => Some(scalar(self, count)?),
            None => None,
        };
        let start = match node.opt(1) {
            Some(start) => scalar(self, start)?,
            None => self.floats(DType::Bool, &[], &[1.0])?,
        };
        let mut state = vec![self.ints(&[], &[0])?, start];
        state.extend(initial);
        let types = state.iter().map(|&v| self.ty(v).cloned()).collect::<Result<Vec<_>, _>>()?;
        let ids = self.ids(&state)?;
        let emit = self.emit;
        let fail = |fault: Fault| ImportError::Node { place: node.place.clone(), fault: Box::new(fault) };
        let ids = emit
            .while_(&ids, &mut |region, arguments| {
                let values: Vec<Value> = arguments.iter().map(|&id| self.opaque(id)).collect();
                let next = match (region, limit) {
                    (Region::Condition, None) => vec![values[1]],
                    (Region::Condition, Some(limit)) => {
                        let below = self.less(values[0], limit).map_err(fail)?;
                        vec![self.and(below, values[1]).map_err(fail)?]
                    }
                    _ => {
                        let mut results = self.subgraph(body, &values)?;
                        results[0] = scalar(self, results[0]).map_err(fail)?;
                        let one = self.ints(&[], &[1]).map_err(fail)?;
                        results.insert(0, self.add(values[0], one).map_err(fail)?);
                        for (i, &v) in results.iter().enumerate() {
                            let ty = self.ty(v).map_err(fail)?;
                            if *ty != types[i] {
                                let text = format!(
                                    "a loop that carries {} and then {ty}; shapes must stay the same",
                                    types[i]
                                );
                                return Err(fail(Fault::unsupported(text)));
                            }
                        }
                        results
                    }
                };
                self.ids(&next).map_err(fail)
            })
            .map_err(Box::new)?;
        Ok(ids.into_iter().skip(2).map(|id| self.opaque(id)).collect())
    }

    /// One body a slice of the scanned operands.
    fn import_scan(&mut self, node: &Node<'m>) -> Converted {
        let body = node.graph("body")?;
        let skip = usize::from(node.version < 9);
        if node.version < 9 && node.opt(0).is_some() {
            return Err(Fault::unsupported("Scan with lengths for each member of the batch"));
        }
        let operands: Vec<Value> =
            (skip..node.inputs.len()).map(|i| node.input(i)).collect::<Result<_, _>>()?;
        let scanned = usize::try_from(node.required_int("num_scan_inputs")?).unwrap_or(0);
        let states = operands.len().checked_sub(scanned).filter(|_| scanned > 0);
        let states =
            states.ok_or_else(|| Fault::value("num_scan_inputs exceeds the operands, or is not positive"))?;
        if body.output.len() < states {
            return Err(Fault::value("the body gives fewer values than the scan carries"));
        }
        if node.version >= 9 {
            return self.scan(node, body, &operands, states);
        }
        // The first version scans each member of a batch on its own.
        let batch = self.extent(operands[0], 0, "the operand")?;
        let mut results: Vec<Vec<Value>> = vec![Vec::new(); body.output.len()];
        for member in 0..batch.min(LONGEST) {
            let own =
                operands.iter().map(|&v| self.select_at(v, 0, member)).collect::<Result<Vec<_>, _>>()?;
            let outputs = self.scan(node, body, &own, states)?;
            for (list, value) in results.iter_mut().zip(outputs) {
                list.push(value);
            }
        }
        results.iter().map(|list| self.stacked(list, 0)).collect()
    }

    fn scan(
        &mut self,
        node: &Node<'m>,
        body: &'m GraphProto,
        operands: &[Value],
        states: usize,
    ) -> Converted {
        let (mut carried, scanned) = (operands[..states].to_vec(), &operands[states..]);
        let collected = body.output.len() - states;
        let (in_name, out_name) = if node.version < 9 {
            ("directions", "")
        } else {
            ("scan_input_directions", "scan_output_directions")
        };
        let list = |name: &str, len: usize| -> Result<Vec<i64>, Fault> {
            match node.ints(name)? {
                None => Ok(vec![0; len]),
                Some(list) if list.len() == len => Ok(list.to_vec()),
                Some(list) => {
                    Err(Fault::value(format!("attribute {name} must have {len} numbers, found {list:?}")))
                }
            }
        };
        let (axes, backward) = (list("scan_input_axes", scanned.len())?, list(in_name, scanned.len())?);
        let (out_axes, out_backward) = (list("scan_output_axes", collected)?, list(out_name, collected)?);
        let mut steps = None;
        let mut places = Vec::new();
        for (&v, &axis) in scanned.iter().zip(&axes) {
            let axis = self.axis(v, axis)?;
            let extent = self.extent(v, axis, "the scanned operand")?;
            if *steps.get_or_insert(extent) != extent {
                return Err(Fault::value("the scanned operands have different lengths"));
            }
            places.push(axis);
        }
        let steps = steps.unwrap_or(0);
        if steps > LONGEST {
            return Err(Fault::unsupported(format!("a scan of {steps} steps")));
        }
        let mut scans = vec![Vec::new(); collected];
        for step in 0..steps {
            let mut arguments = carried.clone();
            for (i, &v) in scanned.iter().enumerate() {
                let at = if backward[i] != 0 { steps - 1 - step } else { step };
                arguments.push(self.select_at(v, places[i], at)?);
            }
            let results = self.subgraph(body, &arguments).map_err(Box::new)?;
            carried = results[..states].to_vec();
            for (list, &value) in scans.iter_mut().zip(&results[states..]) {
                list.push(value);
            }
        }
        let mut results = carried;
        for (i, mut list) in scans.into_iter().enumerate() {
            if out_backward[i] != 0 {
                list.reverse();
            }
            results.push(self.stacked(&list, out_axes[i])?);
        }
        Ok(results)
    }
}
