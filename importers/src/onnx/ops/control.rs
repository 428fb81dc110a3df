//! If and Loop.
//!
//! What is known at import is resolved: an If of a constant condition is its branch, a short Loop of
//! known length that collects nothing is its bodies one after the other. The rest stays relay.if and
//! relay.while. A Loop that collects values runs a known number of times (`collect`); any other goes
//! on for as long as its condition holds.

use fusion_operators::{DType, Tensor, TensorType};

use super::collect::{At, Place, Step};
use super::elementwise::scalar;
use super::{Conversion, row};
use crate::onnx::build::Converted;
use crate::onnx::emit::{Id, Region};
use crate::onnx::error::{Fault, ImportError};
use crate::onnx::graph::Importer;
use crate::onnx::known::Def;
use crate::onnx::node::{Node, Value};
use crate::onnx::proto::GraphProto;

pub const ROWS: &[Conversion] =
    &[row("If", |im, node| im.import_if(node)), row("Loop", |im, node| im.import_loop(node))];

/// Loops up to this length are unrolled without being asked to.
const SHORT: i64 = 16;
/// Unless they become more nodes than this, and can stay loops.
const MOST_NODES: usize = 1024;

impl<'m> Importer<'m> {
    pub(super) fn opaque(&mut self, id: Id) -> Value {
        let ty = self.emit.tensor_type(id);
        self.push(Def::Opaque, id, ty)
    }

    pub(super) fn ids(&self, values: &[Value]) -> Result<Vec<Id>, Fault> {
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
        if scans > 0 || initial.iter().any(|&v| self.is_sequence(v)) {
            return self.collecting_loop(node, body, &initial, scans);
        }
        if known_count.is_some_and(|n| n <= SHORT.into()) && known_start.is_some() {
            let most = known_count.map_or(0, |n| n.max(0) as i64);
            let steps = if known_start == Some(true) { most } else { 0 };
            if body.node.len().saturating_mul(steps as usize) > MOST_NODES
                && let Ok(values) = self.while_loop(node, body, &initial)
            {
                return Ok(values);
            }
            let step = |im: &mut Self, at: At, state: &[Value]| {
                im.loop_step(body, at, state, |im, going| match im.constant_of(going) {
                    Some(known) => Ok(is_true(&known)),
                    None => Err(Fault::NeedsValue("the condition of a Loop".into())),
                })
            };
            match self.one_by_one(steps, &initial, &[], step) {
                // A condition that is not known: the loop stays.
                Err(Fault::NeedsValue(_) | Fault::NeedsInput { .. }) => {}
                other => return other,
            }
        }
        self.while_loop(node, body, &initial)
    }

    /// A Loop that collects values or carries sequences: how often it runs must be known.
    fn collecting_loop(
        &mut self,
        node: &Node<'m>,
        body: &'m GraphProto,
        initial: &[Value],
        scans: usize,
    ) -> Converted {
        let count = match node.opt(0) {
            Some(v) => {
                let count = self.value_of(v, "the trip count of a Loop that collects values")?;
                count.to_ints().first().copied().unwrap_or(0).clamp(0, i64::MAX.into()) as i64
            }
            None => i64::MAX,
        };
        let condition = "the condition of a Loop that collects values";
        let starts = match node.opt(1) {
            Some(v) => is_true(&*self.value_of(v, condition)?),
            None => true,
        };
        let steps = if starts { count } else { 0 };
        self.collect(node, steps, initial, &vec![Place::default(); scans], |im, at, state| {
            im.loop_step(body, at, state, |im, going| Ok(is_true(&*im.value_of(going, condition)?)))
        })
    }

    /// One iteration of a Loop whose condition `holds` can tell.
    fn loop_step(
        &mut self,
        body: &'m GraphProto,
        at: At,
        state: &[Value],
        holds: impl Fn(&mut Self, Value) -> Result<bool, Fault>,
    ) -> Result<Step, Fault> {
        let iteration = match at {
            At::Known(step) => self.ints(&[], &[step])?,
            At::Counter(counter) => counter,
        };
        let mut arguments = vec![iteration, self.floats(DType::Bool, &[], &[1.0])?];
        arguments.extend(state);
        let mut values = self.subgraph(body, &arguments).map_err(Box::new)?;
        let goes_on = holds(self, values.remove(0))?;
        Ok(Step { values, goes_on })
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
}

fn is_true(condition: &Tensor) -> bool {
    condition.to_ints().first().is_some_and(|&c| c != 0)
}
