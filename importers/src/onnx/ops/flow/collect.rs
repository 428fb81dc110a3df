//! Loops of known length that collect values, which are those of Scan and of Loop.
//!
//!     relay.while (counter, state..., rows...)    rows of shape [steps, ...], made before the loop
//!       counter < steps
//!       values = body(counter, state)
//!       rows[counter] = values                    for each value that is collected: relay.scatter_nd
//!
//! What the body gives must be known before the loop is made, since the rows are; so the body is first
//! imported into a loop that is thrown away. Bodies that need to know which iteration they are, that
//! carry sequences or whose shapes change cannot be a loop: they come one after the other.

use fusion_operators::ops::indexing;
use fusion_operators::{Attrs, TensorType};

use crate::onnx::build::{Converted, Made, axis_in};
use crate::onnx::emit::{ListOp, Region};
use crate::onnx::error::{Fault, ImportError};
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::tensor::MOST_EXTENT;

/// Bodies that are unrolled at most.
const LONGEST: i64 = 4096;

/// Which iteration it is.
#[derive(Clone, Copy)]
pub enum At {
    /// That one of an unrolled loop.
    Known(i64),
    /// The one a scalar counts.
    Counter(Value),
}

/// What an iteration gives.
pub struct Step {
    /// The next state, then what is collected.
    pub values: Vec<Value>,
    /// False when there may be no other iteration.
    pub goes_on: bool,
}

/// Where collected values go.
#[derive(Clone, Default)]
pub struct Place {
    /// The new axis in the result.
    pub axis: i64,
    /// From the back to the front.
    pub backward: bool,
}

impl<'m> Importer<'m> {
    /// Runs a body `steps` times, or until it does not go on; gives the state, then what was collected.
    pub fn collect(
        &mut self,
        node: &Node<'m>,
        steps: i64,
        initial: &[Value],
        places: &[Place],
        mut step: impl FnMut(&mut Self, At, &[Value]) -> Result<Step, Fault>,
    ) -> Converted {
        if (1..=MOST_EXTENT as i64).contains(&steps)
            && let Ok(results) = self.counted(node, steps, initial, places, &mut step)
        {
            return Ok(results);
        }
        self.one_by_one(steps, initial, places, step)
    }

    /// The bodies one after the other.
    pub fn one_by_one(
        &mut self,
        steps: i64,
        initial: &[Value],
        places: &[Place],
        mut step: impl FnMut(&mut Self, At, &[Value]) -> Result<Step, Fault>,
    ) -> Converted {
        let mut state = initial.to_vec();
        let mut collected = vec![Vec::new(); places.len()];
        for iteration in 0..steps {
            if iteration >= LONGEST {
                return Err(Fault::unsupported(format!("unrolling a loop more than {LONGEST} times")));
            }
            let Step { values, goes_on } = step(self, At::Known(iteration), &state)?;
            state = values[..initial.len()].to_vec();
            for (list, &value) in collected.iter_mut().zip(&values[initial.len()..]) {
                list.push(value);
            }
            if !goes_on {
                break;
            }
        }
        for (mut list, place) in collected.into_iter().zip(places) {
            if place.backward {
                list.reverse();
            }
            state.push(self.stacked(&list, place.axis)?);
        }
        Ok(state)
    }

    /// x[at] along an axis, without that axis.
    pub fn picked(&mut self, x: Value, axis: usize, at: At) -> Made {
        match at {
            At::Known(index) => self.select_at(x, axis, index),
            At::Counter(counter) => self.gather(x, counter, axis),
        }
    }

    /// `at`, counted from the last of `steps` iterations.
    pub fn mirrored(&mut self, at: At, steps: i64) -> Result<At, Fault> {
        Ok(match at {
            At::Known(index) => At::Known(steps - 1 - index),
            At::Counter(counter) => {
                let last = self.ints(&[], &[steps - 1])?;
                At::Counter(self.sub(last, counter)?)
            }
        })
    }

    /// The elements of a list joined along a new axis.
    pub fn stack_of(&mut self, list: Value, place: &Place) -> Made {
        let (list, element) = self.as_list(list, None)?;
        let axis = axis_in(place.axis, element.rank() + 1)?;
        let list = if place.backward { self.forward(list)? } else { list };
        self.on_list(ListOp::Stack(axis), &element, &[list])
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

    /// The loop as relay.while.
    fn counted<F>(
        &mut self,
        node: &Node<'m>,
        steps: i64,
        initial: &[Value],
        places: &[Place],
        step: &mut F,
    ) -> Converted
    where
        F: FnMut(&mut Self, At, &[Value]) -> Result<Step, Fault>,
    {
        let types = initial.iter().map(|&v| self.ty(v).cloned()).collect::<Result<Vec<_>, _>>()?;
        let mut state = initial.to_vec();
        if !places.is_empty() {
            for row in self.row_types(node, steps, &types, initial, step)? {
                let shape = row.shape().ok_or_else(|| Fault::unsupported(format!("rows of type {row}")))?;
                let shape: Vec<i64> =
                    std::iter::once(steps).chain(shape.into_iter().map(|n| n as i64)).collect();
                state.push(self.full(row.dtype, &shape, 0.0)?);
            }
        }
        let results = self.while_below(node, steps, &state, |im, counter, state| {
            let (state, rows) = state.split_at(types.len());
            let mut next = im.one_of(&types, counter, state, step)?;
            for ((value, &rows), place) in next[types.len()..].iter_mut().zip(rows).zip(places) {
                let at = if place.backward { im.mirrored(counter, steps)? } else { counter };
                let At::Counter(at) = at else { continue };
                let index = im.expand_dims(at, &[0])?;
                *value = im.op(&indexing::SCATTER_ND, &[rows, index, *value], Attrs::new())?;
            }
            Ok(next)
        })?;
        let (state, rows) = results.split_at(types.len());
        let mut results = state.to_vec();
        for (&rows, place) in rows.iter().zip(places) {
            let rank = self.rank(rows)?;
            let mut axes: Vec<usize> = (1..rank).collect();
            axes.insert(axis_in(place.axis, rank)?, 0);
            results.push(self.transpose(rows, &axes)?);
        }
        Ok(results)
    }

    /// The types of what is collected, from a loop that is thrown away.
    fn row_types<F>(
        &mut self,
        node: &Node<'m>,
        steps: i64,
        types: &[TensorType],
        initial: &[Value],
        step: &mut F,
    ) -> Result<Vec<TensorType>, Fault>
    where
        F: FnMut(&mut Self, At, &[Value]) -> Result<Step, Fault>,
    {
        let mut found = None;
        let tried = self.while_below(node, steps, initial, |im, counter, state| {
            let values = im.one_of(types, counter, state, step)?;
            let rows = values[types.len()..].iter().map(|&v| im.ty(v).cloned());
            found = Some(rows.collect::<Result<Vec<_>, _>>()?);
            Err(Fault::unsupported("a loop whose rows are not made yet"))
        });
        match (found, tried) {
            (Some(types), _) => Ok(types),
            (None, Err(fault)) => Err(fault),
            (None, Ok(_)) => Err(Fault::value("the body was not imported")),
        }
    }

    /// One iteration, which must keep the types of the state and must not end the loop.
    fn one_of<F>(
        &mut self,
        types: &[TensorType],
        counter: At,
        state: &[Value],
        step: &mut F,
    ) -> Result<Vec<Value>, Fault>
    where
        F: FnMut(&mut Self, At, &[Value]) -> Result<Step, Fault>,
    {
        let Step { values, goes_on } = step(self, counter, state)?;
        if !goes_on {
            return Err(Fault::unsupported("a loop that ends before its last iteration"));
        }
        for (&value, ty) in values.iter().zip(types) {
            if self.ty(value)? != ty {
                return Err(Fault::unsupported(format!(
                    "a loop that carries {ty} and then {}",
                    self.ty(value)?
                )));
            }
        }
        Ok(values)
    }

    /// relay.while over a counter, which counts to `steps`, and a state; gives the state.
    fn while_below(
        &mut self,
        node: &Node<'m>,
        steps: i64,
        state: &[Value],
        mut body: impl FnMut(&mut Self, At, &[Value]) -> Result<Vec<Value>, Fault>,
    ) -> Result<Vec<Value>, Fault> {
        let counter = self.ints(&[], &[0])?;
        let ids = self.ids(&[&[counter], state].concat())?;
        let emit = self.emit;
        let ids = emit
            .while_(&ids, &mut |region, arguments| {
                let values: Vec<Value> = arguments.iter().map(|&id| self.opaque(id)).collect();
                let next = match region {
                    Region::Condition => self.ints(&[], &[steps]).and_then(|end| {
                        let below = self.less(values[0], end)?;
                        self.ids(&[below])
                    }),
                    _ => body(self, At::Counter(values[0]), &values[1..]).and_then(|mut next| {
                        let one = self.ints(&[], &[1])?;
                        next.insert(0, self.add(values[0], one)?);
                        self.ids(&next)
                    }),
                };
                next.map_err(|fault| ImportError::Node { place: node.place.clone(), fault: Box::new(fault) })
            })
            .map_err(Box::new)?;
        Ok(ids.into_iter().skip(1).map(|id| self.opaque(id)).collect())
    }
}
