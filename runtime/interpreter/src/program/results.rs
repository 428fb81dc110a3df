//! What a line computes that leads to the next one: operators, kernels' operations, and making and reading of tuples, data,
//! closures and cells.

use super::{Interpreter, Values};
use crate::code::{Code, Line, Typed, Work};
use crate::held::Held;
use crate::value::{Closure, Parts, Value};
use crate::{InterpretError, stage, te};
use fusion_dialects::Op;
use fusion_operators::reference::{self, EvalError};
use fusion_operators::{Call, Dim, Tensor, TensorType};
use std::cell::RefCell;
use std::rc::Rc;

impl<'c> Interpreter<'c> {
    /// What a line that goes on to the next gives: one value, or those in the list.
    pub(super) fn results(
        &mut self,
        work: &Work<'c>,
        line: &Line<'c>,
        (code, extents): (&Code<'c>, &[Option<u64>]),
        own: &[Value<'c>],
        list: &mut Values<'c>,
    ) -> Result<Option<Value<'c>>, InterpretError> {
        let op = line.op;
        let operand = |at: usize| line.operands.get(at).map_or(&Value::Unset, |r| &own[*r]);
        let wrong = |value: &Value| InterpretError::at(op, format!("cannot be computed of {}", value.what()));
        let all = || line.operands.iter().map(|r| own[*r].clone()).collect::<Values<'c>>();
        list.clear();
        Ok(Some(match work {
            Work::Constant(tensor) => Value::Tensor(tensor.clone()),
            Work::Operator { .. } => {
                list.extend(operator_call(work, line, extents, own)?);
                return Ok(None);
            }
            Work::Te(kind) => {
                let operands = tensors(op, line, own)?;
                list.extend(te::run(
                    *kind,
                    op,
                    &operands,
                    stage::Known { numbers: &code.numbers, values: own, asked: None },
                )?);
                return Ok(None);
            }
            Work::Tuple => Value::tuple(all()),
            Work::Get(index) => match operand(0) {
                Value::Tuple(elements) => {
                    let element = elements.get(*index).cloned();
                    element.ok_or_else(|| InterpretError::at(op, "has an index out of range"))?
                }
                other => return Err(wrong(other)),
            },
            Work::Construct(constructor) => Value::Data(constructor.clone(), Rc::new(Parts::new(all()))),
            Work::Function(inner) => {
                let captured = inner.captures.iter().map(|r| own[*r].clone()).collect();
                Value::Closure(Rc::new(Closure { code: inner.clone(), captured: Parts::new(captured) }))
            }
            Work::Global(number) => {
                let code = self.code(*number)?;
                Value::Closure(Rc::new(Closure { code, captured: Parts::new(Vec::new()) }))
            }
            Work::RefNew => {
                let cell = Rc::new(RefCell::new(operand(0).clone()));
                self.cells.push(Rc::downgrade(&cell));
                if self.cells.len() >= self.prune_at {
                    self.cells.retain(|cell| cell.strong_count() > 0);
                    self.prune_at = 1024 + 2 * self.cells.len();
                }
                Value::Cell(cell)
            }
            Work::RefRead => match operand(0) {
                Value::Cell(cell) => cell.borrow().clone(),
                other => return Err(wrong(other)),
            },
            Work::RefWrite => match operand(0) {
                Value::Cell(cell) => {
                    let held = cell.replace(operand(1).clone());
                    drop(held);
                    return Ok(None);
                }
                other => return Err(wrong(other)),
            },
            _ => return Err(InterpretError::at(op, "is not interpreted here")),
        }))
    }
}

fn operator_call<'c>(
    work: &Work<'c>,
    line: &Line<'c>,
    extents: &[Option<u64>],
    own: &[Value<'c>],
) -> Result<Values<'c>, InterpretError> {
    let Work::Operator { operator, attrs, names, typed } = work else { return Ok(Vec::new()) };
    let replaced;
    let attrs = if names.is_empty() {
        attrs
    } else {
        let number = |name: &str| names.iter().find(|(own, _)| own == name).map(|(_, number)| *number);
        replaced = attrs.replace_names(&|name| extents.get(number(name)?).copied()?.map(Dim::Static));
        // Other extents than last time may give other results of the same operands.
        typed.replace(None);
        &replaced
    };
    let operands: Vec<Tensor> =
        tensors(line.op, line, own)?.iter().map(|tensor| Tensor::clone(tensor)).collect();
    let fail = |error: EvalError| InterpretError::at(line.op, error);
    let mut typed = typed.borrow_mut();
    let known = match typed.take().filter(|typed| typed.fits(&operands)) {
        Some(known) => known,
        None => {
            let types: Vec<TensorType> = operands.iter().map(Tensor::tensor_type).collect();
            let results = operator.infer(&types, attrs).map_err(|violation| fail(violation.into()))?;
            Typed { operands: types, results }
        }
    };
    let call = Call { op: operator, operands: &known.operands, attrs };
    let results = reference::compute(&call, &known.results, &operands).map_err(fail)?;
    *typed = Some(known);
    Ok(results.into_iter().map(Value::from).collect())
}

fn tensors<'c>(op: Op<'c>, line: &Line<'c>, own: &[Value<'c>]) -> Result<Vec<Rc<Held>>, InterpretError> {
    let tensor = |register: &usize| match &own[*register] {
        Value::Tensor(tensor) => Ok(tensor.clone()),
        other => Err(InterpretError::at(op, format!("takes tensors, found {}", other.what()))),
    };
    line.operands.iter().map(tensor).collect()
}
