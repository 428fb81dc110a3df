//! Functions and the functional side of relay.

use crate::value::{Frame, Value};
use crate::{InterpretError, Limits, te};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Block, Op, OpExt, Value as Name, arguments, key, ops_in, read_tensor, relay, te as te_ops, tensor_type,
    top_level,
};
use fusion_operators::{Operator, Tensor, reference};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

pub type Values<'c> = Vec<Value<'c>>;

/// A module that is being run.
pub struct Interpreter<'c> {
    functions: HashMap<&'c str, Op<'c>>,
    limits: Limits,
    steps: u64,
    depth: u32,
    /// The tensors that operations gave, in the order they ran, where somebody wants to see them.
    pub trace: Option<Vec<Traced<'c>>>,
}

/// A tensor that an operation gave.
pub struct Traced<'c> {
    /// The operation.
    pub op: Op<'c>,
    /// Which of its results it is.
    pub result: usize,
    /// The tensor.
    pub tensor: Rc<Tensor>,
}

impl<'c> Interpreter<'c> {
    /// For the functions and kernels of a module.
    pub fn new(module: Op<'c>, limits: Limits) -> Self {
        let callable = |kind| matches!(kind, Kind::Upstream(Upstream::Func) | Kind::Te(te_ops::Op::Kernel));
        let named = top_level(module, callable).into_iter().filter_map(|f| Some((f.text("sym_name")?, f)));
        Interpreter { functions: named.collect(), limits, steps: 0, depth: 0, trace: None }
    }

    /// Calls a function or kernel.
    pub fn call(&mut self, name: &str, inputs: Values<'c>) -> Result<Values<'c>, InterpretError> {
        let function = self.functions.get(name).copied();
        let body = function.and_then(|f| f.body(0));
        let (Some(function), Some(body)) = (function, body) else {
            return Err(InterpretError::NoFunction(name.to_owned()));
        };
        let parameters = arguments(body);
        let fits =
            parameters.len() == inputs.len() && parameters.iter().zip(&inputs).all(|(p, v)| is_of(*p, v));
        if !fits {
            let expected: Vec<_> = parameters.iter().map(|p| type_of(*p)).collect();
            let found: Vec<_> = inputs.iter().map(Value::what).collect();
            return Err(InterpretError::Inputs {
                function: name.to_owned(),
                expected: format!("({})", expected.join(", ")),
                found: format!("({})", found.join(", ")),
            });
        }
        self.block(function, body, inputs, &mut Frame::new())
    }

    /// Runs a block of an operation and gives what its terminator does.
    fn block(
        &mut self,
        of: Op<'c>,
        block: Block<'c>,
        inputs: Values<'c>,
        frame: &mut Frame<'c>,
    ) -> Result<Values<'c>, InterpretError> {
        if self.depth >= self.limits.depth {
            let message = format!("is inside {} calls and regions, more are not allowed", self.depth);
            return Err(InterpretError::at(of, message));
        }
        self.depth += 1;
        frame.extend(arguments(block).into_iter().map(key).zip(inputs));
        for op in ops_in(block) {
            let operands: Option<Values> =
                op.operand_values().into_iter().map(|v| frame.get(&key(v)).cloned()).collect();
            let operands =
                operands.ok_or_else(|| InterpretError::at(op, "reads a value that is not known"))?;
            if is_terminator(op) {
                self.depth -= 1;
                return Ok(operands);
            }
            let results = self.op(op, operands, frame)?;
            for (index, (name, value)) in op.result_values().into_iter().zip(results).enumerate() {
                self.note(op, index, &value);
                if !is_of(name, &value) {
                    let message = format!("gives {}, its type is {}", value.what(), type_of(name));
                    return Err(InterpretError::at(op, message));
                }
                frame.insert(key(name), value);
            }
        }
        Err(InterpretError::at(of, "has a block without a terminator"))
    }

    fn note(&mut self, op: Op<'c>, result: usize, value: &Value<'c>) {
        if let (Some(trace), Value::Tensor(tensor)) = (&mut self.trace, value) {
            trace.push(Traced { op, result, tensor: tensor.clone() });
        }
    }

    fn region(
        &mut self,
        op: Op<'c>,
        index: usize,
        inputs: Values<'c>,
        frame: &mut Frame<'c>,
    ) -> Result<Values<'c>, InterpretError> {
        let block = op.body(index).ok_or_else(|| InterpretError::at(op, "has an empty region"))?;
        self.block(op, block, inputs, frame)
    }

    fn step(&mut self, op: Op<'c>) -> Result<(), InterpretError> {
        self.steps += 1;
        if self.steps > self.limits.steps {
            let message = format!("is reached after {} steps, more are not allowed", self.limits.steps);
            return Err(InterpretError::at(op, message));
        }
        Ok(())
    }

    fn op(
        &mut self,
        op: Op<'c>,
        operands: Values<'c>,
        frame: &mut Frame<'c>,
    ) -> Result<Values<'c>, InterpretError> {
        self.step(op)?;
        match op.kind() {
            Some(Kind::Operator(operator)) => operator_call(operator, op, &tensors(op, &operands)?),
            Some(Kind::Relay(kind)) => self.functional(kind, op, operands, frame),
            Some(Kind::Te(te_ops::Op::Call)) => self.symbol_call(op, "kernel", operands),
            Some(Kind::Te(kind)) => te::run(kind, op, &tensors(op, &operands)?, frame),
            Some(Kind::Upstream(Upstream::ArithConstant)) => {
                let tensor = op.attr("value").and_then(read_tensor);
                Ok(vec![tensor.ok_or_else(|| InterpretError::at(op, "is no tensor"))?.into()])
            }
            Some(Kind::Upstream(Upstream::Call)) => self.symbol_call(op, "callee", operands),
            _ => Err(InterpretError::at(op, "is not interpreted")),
        }
    }

    fn symbol_call(
        &mut self,
        op: Op<'c>,
        attr: &str,
        inputs: Values<'c>,
    ) -> Result<Values<'c>, InterpretError> {
        let name = op.text(attr).unwrap_or_default();
        self.call(name, inputs).map_err(|error| match error {
            InterpretError::Operation { .. } => error,
            other => InterpretError::at(op, format!("cannot call: {other}")),
        })
    }

    fn functional(
        &mut self,
        kind: relay::Op,
        op: Op<'c>,
        operands: Values<'c>,
        frame: &mut Frame<'c>,
    ) -> Result<Values<'c>, InterpretError> {
        let wrong = |value: &Value| InterpretError::at(op, format!("cannot be computed of {}", value.what()));
        match (kind, &operands[..]) {
            (relay::Op::Constant, []) => {
                let tensor = op.attr("value").and_then(read_tensor);
                let tensor = tensor.ok_or_else(|| InterpretError::at(op, "has no bytes for its value"))?;
                Ok(vec![tensor.into()])
            }
            (relay::Op::Tuple, elements) => Ok(vec![Value::Tuple(elements.into())]),
            (relay::Op::Get, [Value::Tuple(elements)]) => {
                let index = usize::try_from(op.int("index").unwrap_or(-1)).ok();
                let element = index.and_then(|i| elements.get(i)).cloned();
                Ok(vec![element.ok_or_else(|| InterpretError::at(op, "has an index out of range"))?])
            }
            (relay::Op::If, [condition]) => {
                let taken = if truth(op, condition)? { 0 } else { 1 };
                self.region(op, taken, Vec::new(), frame)
            }
            (relay::Op::While, _) => {
                let mut state = operands;
                loop {
                    self.step(op)?;
                    let tested = self.region(op, 0, state.clone(), frame)?;
                    let [tested] = &tested[..] else {
                        return Err(InterpretError::at(op, "has a condition of several values"));
                    };
                    if !truth(op, tested)? {
                        return Ok(state);
                    }
                    state = self.region(op, 1, state, frame)?;
                }
            }
            (relay::Op::Fn, []) => Ok(vec![Value::Closure(Rc::new((op, frame.clone())))]),
            (relay::Op::Apply, [Value::Closure(closure), inputs @ ..]) => {
                self.region(closure.0, 0, inputs.to_vec(), &mut closure.1.clone())
            }
            (relay::Op::RefNew, [value]) => Ok(vec![Value::Cell(Rc::new(RefCell::new(value.clone())))]),
            (relay::Op::RefRead, [Value::Cell(cell)]) => Ok(vec![cell.borrow().clone()]),
            (relay::Op::RefWrite, [Value::Cell(cell), value]) => {
                cell.replace(value.clone());
                Ok(Vec::new())
            }
            (_, [first, ..]) => Err(wrong(first)),
            (_, []) => Err(InterpretError::at(op, "lacks operands")),
        }
    }
}

fn is_terminator(op: Op) -> bool {
    matches!(
        op.kind(),
        Some(
            Kind::Upstream(Upstream::Return)
                | Kind::Relay(relay::Op::Yield)
                | Kind::Te(te_ops::Op::Return | te_ops::Op::Yield)
        )
    )
}

fn operator_call<'c>(
    operator: &'static Operator,
    op: Op<'c>,
    operands: &[Rc<Tensor>],
) -> Result<Values<'c>, InterpretError> {
    let operands: Vec<Tensor> = operands.iter().map(|t| (**t).clone()).collect();
    let results = reference::evaluate(operator, &op.attrs(), &operands);
    Ok(results.map_err(|error| InterpretError::at(op, error))?.into_iter().map(Value::from).collect())
}

fn tensors<'c>(op: Op<'c>, values: &[Value<'c>]) -> Result<Vec<Rc<Tensor>>, InterpretError> {
    let tensor = |value: &Value<'c>| match value {
        Value::Tensor(tensor) => Ok(tensor.clone()),
        other => Err(InterpretError::at(op, format!("takes tensors, found {}", other.what()))),
    };
    values.iter().map(tensor).collect()
}

fn truth<'c>(op: Op<'c>, value: &Value<'c>) -> Result<bool, InterpretError> {
    match value {
        Value::Tensor(tensor) if tensor.len() == 1 => Ok(tensor.int_at(0) != 0),
        other => Err(InterpretError::at(op, format!("takes a condition, found {}", other.what()))),
    }
}

/// True unless a tensor contradicts the type of the name it gets.
fn is_of(name: Name, value: &Value) -> bool {
    match value {
        Value::Tensor(tensor) => tensor_type(name).is_some_and(|ty| ty.compatible(&tensor.tensor_type())),
        _ => tensor_type(name).is_none(),
    }
}

fn type_of(name: Name) -> String {
    use fusion_dialects::ValueLike;
    name.r#type().to_string()
}
