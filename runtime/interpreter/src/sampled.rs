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
use crate::te::{Known, Stage, element};
use crate::value::Value;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{Op, OpExt, arguments, key, ops_in, te};
use fusion_operators::{DType, Tensor, TensorType};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

/// Points of bodies that all the elements of a kernel may take.
const MOST_POINTS: u64 = 50_000_000;

/// A stage that is computed element by element.
pub struct Asked<'c> {
    stage: RefCell<Stage<'c>>,
    shape: Vec<usize>,
    types: Vec<TensorType>,
    /// Points that computing an element takes.
    points: u64,
    known: RefCell<HashMap<usize, Vec<Scalar>>>,
    /// Points that are left to all stages.
    left: Rc<Cell<u64>>,
}

impl Asked<'_> {
    /// An element of a result.
    pub fn load(&self, result: usize, indices: &[Scalar]) -> Result<Scalar, String> {
        let mut at = Vec::with_capacity(indices.len());
        for (axis, index) in indices.iter().enumerate() {
            let index = index.int();
            match usize::try_from(index).ok().filter(|&i| self.shape.get(axis).is_some_and(|&n| i < n)) {
                Some(index) => at.push(index),
                None => return Err(format!("loads element {index} on axis {axis} of {:?}", self.shape)),
            }
        }
        self.at(result, &at).map_err(|error| error.to_string())
    }

    fn at(&self, result: usize, at: &[usize]) -> Result<Scalar, InterpretError> {
        let flat = at.iter().zip(&self.shape).fold(0, |flat, (i, n)| flat * n + i);
        if let Some(scalars) = self.known.borrow().get(&flat) {
            return Ok(scalars[result]);
        }
        let left = self.left.get().checked_sub(self.points).ok_or(InterpretError::TooLong(MOST_POINTS))?;
        self.left.set(left);
        let scalars = self.stage.borrow_mut().element(at)?;
        let stored: Vec<Scalar> =
            scalars.iter().zip(&self.types).map(|(s, ty)| rounded(*s, ty)).collect::<Result<_, _>>()?;
        let wanted = stored[result];
        self.known.borrow_mut().insert(flat, stored);
        Ok(wanted)
    }
}

/// A scalar as it is when it was stored and loaded.
fn rounded(scalar: Scalar, ty: &TensorType) -> Result<Scalar, InterpretError> {
    tensor_of(ty.dtype, &[scalar]).map(|tensor| element(&tensor, 0))
}

fn tensor_of(dtype: DType, scalars: &[Scalar]) -> Result<Tensor, InterpretError> {
    let mut bytes = Vec::new();
    scalars.iter().for_each(|scalar| scalar.store(dtype, &mut bytes));
    let tensor = Tensor::from_bytes(dtype, &[scalars.len()], bytes);
    tensor.map_err(|error| InterpretError::NoSample(error.to_string()))
}

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
                let points = stage.reduce.iter().map(|&n| n as u64).product::<u64>().max(1);
                let (shape, types) = (stage.axes.clone(), stage.types.clone());
                let (stage, known) = (RefCell::new(stage), RefCell::new(HashMap::new()));
                let made = Rc::new(Asked { stage, shape, types, points, known, left: left.clone() });
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
