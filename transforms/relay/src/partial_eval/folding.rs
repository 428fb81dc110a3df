//! What an operation is known to give, so that nothing is emitted for it.
//!
//! ```text
//!   add(2, 3) -> 5      tuple(%x, 1)[1] -> 1      fn(%y) { .. } -> a closure, with what it captures
//! ```
//! Operators on small known tensors are computed by their reference semantics. Tuples, data and closures are known even where
//! their parts are not; a read of a cell gives what the store says was written last.

use super::eval::{Evaluator, Frame, operands, result_types};
use super::value::{Closure, Known, Partial, Shared};
use crate::language::free_values;
use fusion_dialects::relay::Op as Relay;
use fusion_dialects::relay::fold::MOST_ELEMENTS;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{Op, OpExt, Value, key, op_key, read_tensor, symbol_path, tensor_type};
use fusion_operators::{Tensor, reference};
use indexmap::IndexMap;
use std::rc::Rc;

impl<'c> Evaluator<'c> {
    /// What an operation is known to give without anything being emitted.
    pub(super) fn folded(&mut self, op: Op<'c>, frame: &Frame<'c>) -> Option<Vec<Shared<'c>>> {
        let given = operands(op, frame).ok()?;
        let types = || result_types(op, frame);
        let one = |known: Known<'c>| Some(vec![Partial::new(*types().first()?, known)]);
        match op.kind()? {
            Kind::Operator(operator) => {
                let small = |t: &Tensor| t.len() as u64 <= MOST_ELEMENTS;
                let tensors: Option<Vec<Tensor>> = given
                    .iter()
                    .map(|v| match &v.known {
                        Known::Tensor(tensor) if small(tensor) => Some(tensor.clone()),
                        _ => None,
                    })
                    .collect();
                let results = reference::evaluate(operator, &op.attrs(), &tensors?).ok()?;
                if !results.iter().all(small) {
                    return None;
                }
                let types = types();
                let values = results.into_iter().zip(types);
                Some(values.map(|(tensor, ty)| Partial::new(ty, Known::Tensor(tensor))).collect())
            }
            Kind::Relay(Relay::Constant) | Kind::Upstream(Upstream::ArithConstant) => {
                let elements = tensor_type(op.result_values()[0])?.elements()?;
                if elements > MOST_ELEMENTS {
                    return None;
                }
                one(Known::Tensor(op.attr("value").and_then(read_tensor)?))
            }
            Kind::Relay(Relay::Tuple) => one(Known::Tuple(given)),
            Kind::Relay(Relay::Get) => match &given.first()?.known {
                Known::Tuple(elements) => {
                    let index = usize::try_from(op.int("index")?).ok()?;
                    Some(vec![elements.get(index)?.clone()])
                }
                _ => None,
            },
            Kind::Relay(Relay::Construct) => {
                let path = op.attr("constructor").and_then(symbol_path)?;
                let [data, name] = path[..] else { return None };
                one(Known::Data { data, name, fields: given })
            }
            Kind::Relay(Relay::Fn) => {
                let names = self.captures(op);
                let captured = names.iter().map(|v| Some((key(*v), frame.environment.get(*v)?)));
                let captured = captured.collect::<Option<IndexMap<_, _>>>()?;
                one(Known::Closure(Rc::new(Closure { op, captured, instance: frame.instance.clone() })))
            }
            Kind::Relay(Relay::Global) => one(Known::Global(op.text("function")?)),
            Kind::Relay(Relay::Instantiate | Relay::Ascribe) => match &given.first()?.known {
                Known::Dynamic | Known::Cell(_) => None,
                known => one(known.clone()),
            },
            Kind::Relay(Relay::RefRead) => match &given.first()?.known {
                Known::Cell(cell) => Some(vec![self.store.read(*cell)?]),
                _ => None,
            },
            _ => None,
        }
    }

    fn captures(&mut self, closure: Op<'c>) -> Rc<Vec<Value<'c>>> {
        let entry = self.captures.entry(op_key(closure));
        entry.or_insert_with(|| Rc::new(free_values(closure))).clone()
    }
}
