//! If and Loop.
//!
//! What is known at import is resolved: an If of a constant condition is its branch, a short Loop of
//! known length that collects nothing is its bodies one after the other. The rest stays relay.if and
//! relay.while. A Loop that collects values a known number of times writes rows of a tensor (`collect`);
//! any other goes on for as long as its condition holds, and collects lists (`repeat`).

use fusion_operators::ops::elementwise::EQUAL;
use fusion_operators::ops::shape::RESHAPE;
use fusion_operators::{DType, Tensor};

use crate::onnx::build::Converted;
use crate::onnx::definitions::Def;
use crate::onnx::emit::{Held, Id, Region};
use crate::onnx::error::{Fault, ImportError};
use crate::onnx::importer::Importer;
use crate::onnx::known::Extent;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::arithmetic::elementwise::scalar;
use crate::onnx::ops::flow::collect::{At, Place, Step};
use crate::onnx::ops::flow::held::both;
use crate::onnx::ops::flow::repeat::{Ends, Turn};
use crate::onnx::ops::{Conversion, row};
use crate::onnx::proto::GraphProto;

pub const ROWS: &[Conversion] =
    &[row("If", |im, node| im.import_if(node)), row("Loop", |im, node| im.import_loop(node))];

/// Loops up to this length are unrolled without being asked to.
const SHORT: i64 = 16;
/// Unless they become more nodes than this, and can stay loops.
const MOST_NODES: usize = 1024;

impl<'m> Importer<'m> {
    pub(in crate::onnx) fn opaque(&mut self, id: Id) -> Value {
        let ty = self.emit.tensor_type(id);
        self.push(Def::Opaque, id, ty)
    }

    pub(in crate::onnx) fn ids(&self, values: &[Value]) -> Result<Vec<Id>, Fault> {
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
            return Ok(self.subgraph(branch(is_true(&known)), &[]).map_err(Box::new)?);
        }
        // A comparison of extents may be decided though others of the same shape are not known.
        if let Some([Extent::Known(holds)]) = self.extents(condition).as_deref() {
            return Ok(self.subgraph(branch(*holds != 0), &[]).map_err(Box::new)?);
        }
        let mut given = Vec::new();
        let made = self.branches(node, condition, branch, None, &mut given);
        let [first, rest @ ..] = &given[..] else { return made };
        if made.is_ok() {
            return made;
        }
        if self.squeezes_one(condition, then, otherwise) {
            return Ok(self.subgraph(then, &[]).map_err(Box::new)?);
        }
        // Branches that differ: a condition that is given decides, else the result is held as what both have in common.
        let unknown = match self.value_of(condition, "the condition") {
            Ok(known) => return Ok(self.subgraph(branch(is_true(&known)), &[]).map_err(Box::new)?),
            Err(unknown) => unknown,
        };
        self.joined_branches(node, condition, branch, (first, rest.first())).map_err(|fault| match unknown {
            // Where nothing holds both results, the condition would have to be known.
            Fault::NeedsInput { input, text } => {
                Fault::NeedsInput { input, text: format!("{text}. Else {fault}") }
            }
            _ => fault,
        })
    }

    /// True where an extent that is 1 is removed, and otherwise kept: PyTorch's `squeeze(axis)` of an extent that is not known. Ranks are
    /// known, so the extent is taken to be 1; the operator that removes it compares it when the program runs.
    fn squeezes_one(&mut self, condition: Value, then: &GraphProto, otherwise: &GraphProto) -> bool {
        let all = |graph: &GraphProto, last: &str| {
            let working = || graph.node.iter().filter(|node| node.op_type != "Constant");
            working().count() == 1 && working().all(|node| node.op_type == last)
        };
        if !all(then, "Squeeze") || !all(otherwise, "Identity") {
            return false;
        }
        let call = |v: Value| match &self.entries[v.0 as usize].def {
            Def::Call { op, operands, .. } => Some((*op, operands.clone())),
            _ => None,
        };
        // It may have been a tensor of one element.
        let mut made = call(condition);
        while let Some((_, operands)) = made.as_ref().filter(|(op, _)| op.is(&RESHAPE)) {
            made = call(operands[0]);
        }
        let Some((op, operands)) = made else { return false };
        let is_equal = op.is(&EQUAL);
        let mut is = |at: usize, wanted: fn(&Extent) -> bool| {
            let extents = operands.get(at).and_then(|&operand| self.extents(operand));
            extents.is_some_and(|extents| matches!(&extents[..], [extent] if wanted(extent)))
        };
        let one = |extent: &Extent| *extent == Extent::Known(1);
        let dynamic = |extent: &Extent| matches!(extent, Extent::Dim(_));
        is_equal && (is(0, dynamic) && is(1, one) || is(0, one) && is(1, dynamic))
    }

    /// relay.if, with results that are held as what is given here in both branches.
    fn joined_branches(
        &mut self,
        node: &Node<'m>,
        condition: Value,
        branch: impl Fn(bool) -> &'m GraphProto,
        (first, second): (&[Option<Held>], Option<&Vec<Option<Held>>>),
    ) -> Converted {
        let mut wanted = Vec::with_capacity(first.len());
        for (i, held) in first.iter().enumerate() {
            let other = second.and_then(|other| other.get(i)).and_then(Option::as_ref);
            let empty = || Fault::unsupported("nothing as the result of a condition that is not known");
            wanted.push(both(held.as_ref(), other)?.ok_or_else(empty)?);
        }
        self.branches(node, condition, branch, Some(&wanted), &mut Vec::new())
    }

    /// relay.if, with results that are held as wanted, or all tensors of the same types in both branches; `given` are the types of what
    /// the branches give.
    fn branches(
        &mut self,
        node: &Node<'m>,
        condition: Value,
        branch: impl Fn(bool) -> &'m GraphProto,
        wanted: Option<&[Held]>,
        given: &mut Vec<Vec<Option<Held>>>,
    ) -> Converted {
        let emit = self.emit;
        let id = self.entries[condition.0 as usize].id;
        let mut differ = false;
        let ids = emit.if_(id, &mut |region, _| {
            let values = self.subgraph(branch(region == Region::Then), &[])?;
            let fail = |fault| ImportError::Node { place: node.place.clone(), fault: Box::new(fault) };
            if let Some(wanted) = wanted {
                let values = self.hold_all(&values, wanted).map_err(fail)?;
                return Ok(values.iter().map(|v| self.entries[v.0 as usize].id).collect());
            }
            // Nothing holds an optional value that is not there.
            let held: Vec<_> = values.iter().map(|&v| self.held(v).ok().flatten()).collect();
            let tensors = held.iter().all(|held| matches!(held, Some(Held::Tensor(_))));
            differ |= !tensors || given.first().is_some_and(|first| *first != held);
            given.push(held);
            if differ && region == Region::Else {
                return Err(fail(Fault::unsupported("an If whose branches give different types")));
            }
            // Sequences have no values of the program yet, and this branch is thrown away.
            let one = |v: &Value| self.entries[v.0 as usize].id;
            if tensors { Ok(values.iter().map(one).collect()) } else { Ok(vec![id]) }
        });
        if differ {
            return Err(Fault::unsupported("an If whose branches give different types"));
        }
        let ids = ids.map_err(Box::new)?;
        let held = wanted.map(<[Held]>::to_vec);
        let first = given.first().map(|first| first.iter().flatten().cloned().collect());
        let held: Vec<Held> = held.or(first).unwrap_or_default();
        Ok(ids.into_iter().zip(&held).map(|(id, held)| self.holding(id, held)).collect())
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
            let known = self.collecting_loop(node, body, &initial, scans);
            let Err(fault) = known else { return known };
            // What the known way would need says more than what the other lacks.
            return self.while_loop(node, body, (&initial, scans), true).map_err(|_| fault);
        }
        if known_count.is_some_and(|n| n <= SHORT.into()) && known_start.is_some() {
            let most = known_count.map_or(0, |n| n.max(0) as i64);
            let steps = if known_start == Some(true) { most } else { 0 };
            if body.node.len().saturating_mul(steps as usize) > MOST_NODES
                && let Ok(values) = self.while_loop(node, body, (&initial, 0), false)
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
        self.while_loop(node, body, (&initial, 0), true)
    }

    /// A Loop that collects values or carries sequences and runs a known number of times.
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

    /// relay.while over the iteration number, the condition, what the loop carries, and lists of what it collects.
    fn while_loop(
        &mut self,
        node: &Node<'m>,
        body: &'m GraphProto,
        (initial, scans): (&[Value], usize),
        widens: bool,
    ) -> Converted {
        let limit = match node.opt(0) {
            Some(count) => Some(scalar(self, count)?),
            None => None,
        };
        let ends = Ends { limit, start: node.opt(1) };
        let mut values = self.repeat(node, ends, (initial, scans), widens, |im, counter, going, state| {
            let arguments = [&[counter, going], state].concat();
            let mut values = im.subgraph(body, &arguments).map_err(Box::new)?;
            Ok(Turn { goes_on: values.remove(0), values })
        })?;
        for list in &mut values[initial.len()..] {
            *list = self.stack_of(*list, &Place::default())?;
        }
        Ok(values)
    }
}

fn is_true(condition: &Tensor) -> bool {
    condition.to_ints().first().is_some_and(|&c| c != 0)
}
