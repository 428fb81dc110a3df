//! Loops that run as often as the program finds out.
//!
//! ```text
//!   relay.while (counter, goes on, state..., lists...)     a list for each value that is collected
//!     counter < limit and goes on
//!     goes on, state, values = body(counter, state)
//!     lists = value behind the last
//! ```
//! What is collected becomes one tensor behind the loop: neighbours are joined, then neighbours of these, and so on.
//!
//! The state has one type, which is found by trying: the body is imported for the types of the initial values; where it gives others,
//! the loop is thrown away and made again for what both have in common, with `?` for extents that differ. The types of what is
//! collected are found in the same way. There are few attempts, since each knows less extents than the last.

use crate::onnx::build::{Converted, Made};
use crate::onnx::emit::{Held, ListOp, Region};
use crate::onnx::error::{Fault, ImportError};
use crate::onnx::importer::Importer;
use crate::onnx::lists::without_names;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::arithmetic::elementwise::scalar;
use crate::onnx::ops::flow::held::both;

/// Types of a state are given up after so many attempts.
const MOST_ATTEMPTS: usize = 64;

/// When a loop ends.
#[derive(Clone, Copy)]
pub struct Ends {
    /// After so many iterations, a scalar of i64.
    pub limit: Option<Value>,
    /// Whether it begins; true when absent.
    pub start: Option<Value>,
}

/// What an iteration of such a loop gives.
pub struct Turn {
    /// Whether there may be another, a scalar.
    pub goes_on: Value,
    /// The next state, then what is collected.
    pub values: Vec<Value>,
}

/// The types of a loop.
#[derive(Clone, PartialEq)]
struct Types {
    /// Of the state; nothing is known of an empty sequence.
    state: Vec<Option<Held>>,
    /// Of the elements of the lists; not known in the first attempt.
    rows: Option<Vec<Held>>,
}

impl<'m> Importer<'m> {
    /// Runs a body, which takes the number of the iteration, whether it goes on, and the state; gives the last state, then lists of
    /// what was collected in each iteration. Unless `widens`, the state must keep its types.
    pub fn repeat(
        &mut self,
        node: &Node<'m>,
        ends: Ends,
        (initial, collected): (&[Value], usize),
        widens: bool,
        mut body: impl FnMut(&mut Self, Value, Value, &[Value]) -> Result<Turn, Fault>,
    ) -> Converted {
        let state = initial.iter().map(|&v| self.held(v)).collect::<Result<Vec<_>, _>>()?;
        let mut types = Types { state, rows: (collected == 0).then(Vec::new) };
        for _ in 0..MOST_ATTEMPTS {
            let mut found = None;
            let made = self.attempt(node, ends, initial, &types, &mut found, &mut body);
            match found {
                None => return made,
                Some(wider) => {
                    if !widens && types.rows.is_some() {
                        return Err(Fault::unsupported("a loop whose state changes its type"));
                    }
                    types = wider;
                }
            }
        }
        Err(Fault::unsupported("a loop whose state is of another type in every iteration"))
    }

    /// The loop for a state of these types; `found` are the types that it would need, where it needs others.
    fn attempt(
        &mut self,
        node: &Node<'m>,
        ends: Ends,
        initial: &[Value],
        types: &Types,
        found: &mut Option<Types>,
        body: &mut impl FnMut(&mut Self, Value, Value, &[Value]) -> Result<Turn, Fault>,
    ) -> Converted {
        let held: Vec<Held> = types.state.iter().flatten().cloned().collect();
        let rows = types.rows.clone().unwrap_or_default();
        let mut state = vec![self.ints(&[], &[0])?, self.start(ends)?];
        for (&v, held) in initial.iter().zip(&types.state) {
            if let Some(held) = held {
                state.push(self.hold(v, held)?);
            }
        }
        let mut kept = held.clone();
        for row in &rows {
            let Held::Tensor(element) = row else { continue };
            state.push(self.on_list(ListOp::Empty, element, &[])?);
            kept.push(Held::List(element.clone()));
        }
        let ids: Vec<_> = state.iter().map(|v| self.entries[v.0 as usize].id).collect();
        let emit = self.emit;
        let made = emit.while_(&ids, &mut |region, arguments| {
            let (counter, going) = (self.opaque(arguments[0]), self.opaque(arguments[1]));
            let state: Vec<Value> =
                arguments[2..].iter().zip(&kept).map(|(&id, held)| self.holding(id, held)).collect();
            let next = match region {
                Region::Condition if types.rows.is_none() => self.truth().map(|v| vec![v]),
                Region::Condition => self.continues(ends, counter, going).map(|v| vec![v]),
                _ => self.turn(types, (counter, going, &state), found, body),
            };
            let fail = |fault| ImportError::Node { place: node.place.clone(), fault: Box::new(fault) };
            let next = next.map_err(fail)?;
            Ok(next.iter().map(|v| self.entries[v.0 as usize].id).collect())
        });
        let ids = made.map_err(Box::new)?;
        let mut results: Vec<Value> =
            ids[2..].iter().zip(&kept).map(|(&id, held)| self.holding(id, held)).collect();
        for (i, held) in types.state.iter().enumerate() {
            if held.is_none() {
                results.insert(i, self.sequence(Vec::new()));
            }
        }
        Ok(results)
    }

    /// One iteration: the next values of what the loop carries.
    fn turn(
        &mut self,
        types: &Types,
        (counter, going, carried): (Value, Value, &[Value]),
        found: &mut Option<Types>,
        body: &mut impl FnMut(&mut Self, Value, Value, &[Value]) -> Result<Turn, Fault>,
    ) -> Converted {
        let mut held = carried.iter();
        let mut state = Vec::with_capacity(types.state.len());
        for ty in &types.state {
            state.push(match (ty, ty.as_ref().and_then(|_| held.next())) {
                (Some(_), Some(&v)) => v,
                _ => self.sequence(Vec::new()),
            });
        }
        let lists: Vec<Value> = held.copied().collect();
        let Turn { goes_on, values } = body(self, counter, going, &state)?;
        let (next, collected) = values.split_at(types.state.len());
        let wider = self.wider(types, next, collected)?;
        if wider != *types {
            *found = Some(wider);
            return Err(Fault::unsupported("a loop whose types are not known yet"));
        }
        let one = self.ints(&[], &[1])?;
        let mut results = vec![self.add(counter, one)?, scalar(self, goes_on)?];
        for (&v, ty) in next.iter().zip(&types.state) {
            if let Some(ty) = ty {
                results.push(self.hold(v, ty)?);
            }
        }
        for ((&list, &v), row) in lists.iter().zip(collected).zip(types.rows.iter().flatten()) {
            let v = self.hold(v, row)?;
            let Held::Tensor(element) = row else { continue };
            results.push(self.on_list(ListOp::Push, element, &[list, v])?);
        }
        Ok(results)
    }

    /// The types that hold what an iteration gives as well.
    fn wider(&self, types: &Types, next: &[Value], collected: &[Value]) -> Result<Types, Fault> {
        let mut state = Vec::with_capacity(next.len());
        for (&v, ty) in next.iter().zip(&types.state) {
            state.push(both(ty.as_ref(), self.held(v)?.as_ref())?);
        }
        let mut rows = Vec::with_capacity(collected.len());
        for (i, &v) in collected.iter().enumerate() {
            let own = Held::Tensor(without_names(self.ty(v)?));
            let before = types.rows.as_ref().and_then(|rows| rows.get(i));
            rows.extend(both(before, Some(&own))?);
        }
        Ok(Types { state, rows: Some(rows) })
    }

    fn truth(&mut self) -> Made {
        self.floats(fusion_operators::DType::Bool, &[], &[1.0])
    }

    fn start(&mut self, ends: Ends) -> Made {
        match ends.start {
            Some(start) => scalar(self, start),
            None => self.truth(),
        }
    }

    fn continues(&mut self, ends: Ends, counter: Value, going: Value) -> Made {
        let Some(limit) = ends.limit else { return Ok(going) };
        let below = self.less(counter, limit)?;
        self.and(below, going)
    }
}
