//! Some elements of what a kernel gives, where all of them would take too long.
//!
//! ```text
//!   y[i, j] = relu(sum_k x[i, k] w[k, j])      y[3, 5]  asks for  a[3, 5]  asks for  x[3, 0..], w[0.., 5]
//! ```
//!
//! Each element asks for those that it is computed of; an element that is asked for again is known. It is the same arithmetic as that
//! of whole tensors, with the same roundings.

use crate::InterpretError;
use crate::scalar::Scalar;
use crate::stage::{Asked, Known, MOST_POINTS, Stage, element, tensor_of};
use crate::value::Value;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{Op, OpExt, arguments, key, ops_in, te};
use fusion_operators::Tensor;
use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

/// The elements of a tensor at some places.
pub fn some_of(tensor: &Tensor, places: &[usize]) -> Result<Tensor, InterpretError> {
    let scalars: Vec<Scalar> = places.iter().map(|&place| element(tensor, place)).collect();
    tensor_of(tensor.dtype(), &scalars)
}

/// Places in a tensor, spread over it: the first, the last, and some between that follow no axis.
pub fn places(elements: usize, count: usize) -> Vec<usize> {
    if elements <= count {
        return (0..elements).collect();
    }
    // Steps of the golden ratio fall on no axis's multiples for long.
    let step = |i: usize| ((i as f64 * 0.618_033_988_749_895).fract() * elements as f64) as usize;
    let mut found: Vec<usize> = (0..count - 1).map(step).chain([elements - 1]).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// What a kernel gives for some inputs, at some places of each result.
pub fn elements(
    kernel: Op,
    inputs: &[Tensor],
    places: &dyn Fn(usize) -> Vec<usize>,
) -> Result<Vec<Tensor>, InterpretError> {
    let body = kernel.body(0).ok_or_else(|| InterpretError::at(kernel, "has no body"))?;
    let names = arguments(body);
    let numbers: HashMap<usize, usize> = names.iter().enumerate().map(|(i, v)| (key(*v), i)).collect();
    let values: Vec<Value> = inputs.iter().cloned().map(Value::from).collect();
    let left = Rc::new(Cell::new(MOST_POINTS));
    let mut asked: HashMap<usize, (Rc<Asked>, usize)> = HashMap::new();
    for op in ops_in(body) {
        match op.kind() {
            Some(Kind::Te(te::Op::Compute)) => {
                let stage = Stage::of(op, Known { numbers: &numbers, values: &values, asked: Some(&asked) })?;
                let made = Rc::new(Asked::new(stage, left.clone()));
                for (result, value) in op.result_values().into_iter().enumerate() {
                    asked.insert(key(value), (made.clone(), result));
                }
            }
            Some(Kind::Te(te::Op::Return)) => {
                let given = op.operand_values().into_iter();
                return given.map(|value| of_result(&asked, key(value), places)).collect();
            }
            Some(Kind::Upstream(Upstream::ArithConstant)) => {}
            _ => {
                return Err(InterpretError::at(
                    op,
                    "is not computed element by element, and the kernel takes too long as a whole",
                ));
            }
        }
    }
    Err(InterpretError::at(kernel, "does not return"))
}

fn of_result(
    asked: &HashMap<usize, (Rc<Asked>, usize)>,
    result: usize,
    places: &dyn Fn(usize) -> Vec<usize>,
) -> Result<Tensor, InterpretError> {
    let (stage, number) = asked
        .get(&result)
        .ok_or_else(|| InterpretError::NoSample("a result of the kernel is an argument".to_owned()))?;
    let index = |mut flat: usize| {
        let mut at = vec![0; stage.shape.len()];
        for (i, &n) in at.iter_mut().zip(&stage.shape).rev() {
            *i = flat % n.max(1);
            flat /= n.max(1);
        }
        at
    };
    let all = places(stage.shape.iter().product());
    let scalars: Result<Vec<Scalar>, _> =
        all.into_iter().map(|flat| stage.at(*number, &index(flat))).collect();
    tensor_of(stage.types[*number].dtype, &scalars?)
}
