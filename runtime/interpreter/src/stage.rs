//! Stages: a `te.compute` whose elements are computed one by one, and what it reads.
//!
//! A body is made into a list of steps over numbered scalars once, then run for each point.

use crate::InterpretError;
use crate::held::Held;
use crate::scalar::{Scalar, Step};
use crate::value::Value;
use fusion_dialects::rows::Kind;
use fusion_dialects::{
    Block, Op, OpExt, Value as Name, arguments, array_elements, attr_of, defining_op, key, loops, nested_ops,
    ops_in, te, tensor_type,
};
use fusion_operators::reference::{for_each_index, strides};
use fusion_operators::{DType, Tensor, TensorType, dtype::Class};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

/// Points of bodies that all the elements of a kernel may take.
pub(crate) const MOST_POINTS: u64 = 50_000_000;

/// The values of a kernel that are known so far.
#[derive(Clone, Copy)]
pub struct Known<'a, 'c> {
    /// Where each is, by its key.
    pub numbers: &'a HashMap<usize, usize>,
    /// The values.
    pub values: &'a [Value<'c>],
    /// Results of stages that are computed element by element, by their keys.
    pub asked: Option<&'a HashMap<usize, (Rc<Asked<'c>>, usize)>>,
}

impl<'c> Known<'_, 'c> {
    fn source(&self, key: usize) -> Option<Source<'c>> {
        if let Some((stage, result)) = self.asked.and_then(|asked| asked.get(&key)) {
            return Some(Source::Asked(stage.clone(), *result));
        }
        match self.numbers.get(&key).and_then(|number| self.values.get(*number))? {
            Value::Tensor(held) => Some(Source::Held(held.clone(), strides(held.shape()))),
            _ => None,
        }
    }
}

/// A `te.compute` whose elements can be computed.
pub struct Stage<'c> {
    /// Extents of its results.
    pub axes: Vec<usize>,
    /// Extents over which each element is combined.
    pub reduce: Vec<usize>,
    /// The types of its results.
    pub types: Vec<TensorType>,
    body: Body<'c>,
    combiner: Option<Body<'c>>,
    neutral: Vec<Scalar>,
}

impl<'c> Stage<'c> {
    /// The stage of an operation that reads what is known.
    pub fn of(op: Op<'c>, frame: Known<'_, 'c>) -> Result<Self, InterpretError> {
        let extents = |name| -> Vec<usize> {
            op.ints(name).unwrap_or_default().into_iter().map(|n| usize::try_from(n).unwrap_or(0)).collect()
        };
        let body = op.body(0).ok_or_else(|| InterpretError::at(op, "has an empty body"))?;
        let types: Option<Vec<TensorType>> = op.result_values().into_iter().map(tensor_type).collect();
        let neutral = op.attr("init").map(array_elements).unwrap_or_default();
        let neutral: Option<Vec<Scalar>> =
            neutral.into_iter().map(|attr| attr_of(attr).and_then(|a| Scalar::of_attr(&a))).collect();
        Ok(Stage {
            axes: extents("axes"),
            reduce: extents("reduce"),
            types: types.ok_or_else(|| InterpretError::at(op, "gives something that is no tensor"))?,
            body: Body::of(op, body, frame)?,
            combiner: op.body(1).map(|block| Body::of(op, block, frame)).transpose()?,
            neutral: neutral
                .ok_or_else(|| InterpretError::at(op, "has a neutral element that is no number"))?,
        })
    }

    /// The elements of its results at an index.
    pub fn element(&mut self, at: &[usize]) -> Result<Vec<Scalar>, InterpretError> {
        let mut point: Vec<Scalar> = at.iter().map(|&i| Scalar::Int(i as i128)).collect();
        let Some(combiner) = &mut self.combiner else { return self.body.run(&point) };
        let body = &mut self.body;
        let mut so_far = Ok(self.neutral.clone());
        for_each_index(&self.reduce, |r| {
            if let Ok(values) = &so_far {
                point.truncate(at.len());
                point.extend(r.iter().map(|&i| Scalar::Int(i as i128)));
                so_far = body.run(&point).and_then(|new| combiner.run(&[values.as_slice(), &new].concat()));
            }
        });
        so_far
    }
}

/// A stage that is computed element by element.
pub struct Asked<'c> {
    stage: RefCell<Stage<'c>>,
    /// Extents of its results.
    pub shape: Vec<usize>,
    /// The types of its results.
    pub types: Vec<TensorType>,
    /// Points that computing an element takes.
    points: u64,
    known: RefCell<HashMap<usize, Vec<Scalar>>>,
    /// Points that are left to all stages.
    left: Rc<Cell<u64>>,
}

impl<'c> Asked<'c> {
    /// A stage whose elements are computed as long as points are left.
    pub fn new(stage: Stage<'c>, left: Rc<Cell<u64>>) -> Self {
        let points = stage.reduce.iter().map(|&n| n as u64).product::<u64>().max(1);
        let (shape, types) = (stage.axes.clone(), stage.types.clone());
        let (stage, known) = (RefCell::new(stage), RefCell::new(HashMap::new()));
        Asked { stage, shape, types, points, known, left }
    }

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

    /// The element at an index.
    pub fn at(&self, result: usize, at: &[usize]) -> Result<Scalar, InterpretError> {
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

/// Scalars as a tensor of one axis.
pub(crate) fn tensor_of(dtype: DType, scalars: &[Scalar]) -> Result<Tensor, InterpretError> {
    let mut bytes = Vec::new();
    scalars.iter().for_each(|scalar| scalar.store(dtype, &mut bytes));
    let tensor = Tensor::from_bytes(dtype, &[scalars.len()], bytes);
    tensor.map_err(|error| InterpretError::NoSample(error.to_string()))
}

/// What a body loads from.
#[derive(Clone)]
enum Source<'c> {
    Held(Rc<Held>, Vec<usize>),
    /// One result of a stage whose elements are computed when they are asked for.
    Asked(Rc<Asked<'c>>, usize),
}

impl Source<'_> {
    fn load(&self, indices: &[Scalar]) -> Result<Scalar, String> {
        match self {
            Source::Held(tensor, strides) => load(tensor, strides, indices),
            Source::Asked(stage, result) => stage.load(*result, indices),
        }
    }
}

enum Work<'c> {
    Load(Source<'c>),
    /// Behind the indices, the condition and what it is otherwise.
    LoadIf(Source<'c>),
    Scalar(Step),
    /// Of what is carried, then of what the body takes from around the loop.
    Loop {
        trips: i64,
        carried: usize,
        body: Box<Body<'c>>,
    },
}

struct Line<'c> {
    op: Op<'c>,
    work: Work<'c>,
    operands: Vec<usize>,
    /// The place of the first result; others follow.
    result: usize,
}

/// A region of scalars as steps over places.
struct Body<'c> {
    of: Op<'c>,
    constants: Vec<(usize, Scalar)>,
    inputs: usize,
    lines: Vec<Line<'c>>,
    yields: Vec<usize>,
    scalars: Vec<Scalar>,
}

impl<'c> Body<'c> {
    fn of(of: Op<'c>, block: Block<'c>, frame: Known<'_, 'c>) -> Result<Self, InterpretError> {
        Body::taking(of, block, &[], frame)
    }

    /// A block that takes some values from around it behind its arguments.
    fn taking(
        of: Op<'c>,
        block: Block<'c>,
        around: &[Name<'c>],
        frame: Known<'_, 'c>,
    ) -> Result<Self, InterpretError> {
        let inputs = [&arguments(block), around].concat();
        let mut places: HashMap<usize, usize> =
            inputs.iter().enumerate().map(|(i, v)| (key(*v), i)).collect();
        let mut body = Body {
            of,
            constants: Vec::new(),
            inputs: inputs.len(),
            lines: Vec::new(),
            yields: Vec::new(),
            scalars: vec![Scalar::Int(0); inputs.len()],
        };
        for op in ops_in(block) {
            let names = op.operand_values();
            if matches!(op.kind(), Some(Kind::Te(te::Op::Yield) | Kind::Loop(loops::Op::Yield))) {
                body.yields = body.operands(op, &names, &mut places)?;
            } else if let (Some(Kind::Loop(loops::Op::For)), Some(inner)) = (op.kind(), op.body(0)) {
                let mut around: Vec<Name> =
                    nested_ops(op).into_iter().flat_map(|o| o.operand_values()).collect();
                around.retain(|name| places.contains_key(&key(*name)));
                let carried = names.len();
                let inner = Box::new(Body::taking(op, inner, &around, frame)?);
                let work = Work::Loop { trips: op.int("extent").unwrap_or(0), carried, body: inner };
                let operands = body.operands(op, &[names, around].concat(), &mut places)?;
                body.line(op, work, operands, &mut places);
                for (i, result) in op.result_values().into_iter().enumerate().skip(1) {
                    places.insert(key(result), body.scalars.len());
                    body.scalars.push(Scalar::Int(0));
                    debug_assert_eq!(body.scalars.len(), body.lines.last().map_or(0, |l| l.result) + i + 1);
                }
            } else if let Some(Kind::Te(kind @ (te::Op::Load | te::Op::LoadIf))) = op.kind() {
                let source = names.first().and_then(|name| frame.source(key(*name)));
                let source =
                    source.ok_or_else(|| InterpretError::at(op, "loads from a tensor that is not known"))?;
                let operands = body.operands(op, names.get(1..).unwrap_or_default(), &mut places)?;
                let work = match kind {
                    te::Op::LoadIf => Work::LoadIf(source),
                    _ => Work::Load(source),
                };
                body.line(op, work, operands, &mut places);
            } else {
                let step = Step::of(op)?;
                let operands = body.operands(op, &names, &mut places)?;
                match step.constant() {
                    Some(constant) => {
                        let place = body.place(op, &mut places);
                        body.constants.push((place, constant));
                    }
                    None => body.line(op, Work::Scalar(step), operands, &mut places),
                }
            }
        }
        for (place, constant) in &body.constants {
            body.scalars[*place] = *constant;
        }
        Ok(body)
    }

    fn place(&mut self, op: Op<'c>, places: &mut HashMap<usize, usize>) -> usize {
        let place = self.scalars.len();
        self.scalars.push(Scalar::Int(0));
        if let Some(result) = op.result_values().first() {
            places.insert(key(*result), place);
        }
        place
    }

    fn line(&mut self, op: Op<'c>, work: Work<'c>, operands: Vec<usize>, places: &mut HashMap<usize, usize>) {
        let result = self.place(op, places);
        self.lines.push(Line { op, work, operands, result });
    }

    /// The places of operands; constants from outside the region get one.
    fn operands(
        &mut self,
        op: Op<'c>,
        names: &[Name<'c>],
        places: &mut HashMap<usize, usize>,
    ) -> Result<Vec<usize>, InterpretError> {
        let mut found = Vec::new();
        for name in names {
            if let Some(&place) = places.get(&key(*name)) {
                found.push(place);
                continue;
            }
            let outside = defining_op(*name);
            let constant = outside.map(Step::of).transpose()?.and_then(|step| step.constant());
            let (Some(outside), Some(constant)) = (outside, constant) else {
                return Err(InterpretError::at(op, "reads a scalar from outside that is no constant"));
            };
            let place = self.place(outside, places);
            self.constants.push((place, constant));
            found.push(place);
        }
        Ok(found)
    }

    fn run(&mut self, inputs: &[Scalar]) -> Result<Vec<Scalar>, InterpretError> {
        let Some(inputs) = inputs.get(..self.inputs) else {
            let message = format!("has a region of {} scalars, found {}", self.inputs, inputs.len());
            return Err(InterpretError::at(self.of, message));
        };
        self.scalars[..self.inputs].copy_from_slice(inputs);
        let mut operands = Vec::new();
        for line in &mut self.lines {
            operands.clear();
            operands.extend(line.operands.iter().map(|&place| self.scalars[place]));
            let result = match &mut line.work {
                Work::Load(source) => source.load(&operands),
                Work::LoadIf(source) => match &operands[..] {
                    [indices @ .., condition, _] if condition.int() != 0 => source.load(indices),
                    [.., otherwise] => Ok(*otherwise),
                    [] => Err("has no operands".to_owned()),
                },
                Work::Scalar(step) => step.run(&operands),
                Work::Loop { trips, carried, body } => {
                    let (mut state, around) = (operands[..*carried].to_vec(), &operands[*carried..]);
                    for i in 0..*trips {
                        let index = [Scalar::Int(i.into())];
                        state = body.run(&[&index, state.as_slice(), around].concat())?;
                    }
                    self.scalars[line.result..line.result + state.len()].copy_from_slice(&state);
                    continue;
                }
            };
            self.scalars[line.result] = result.map_err(|message| InterpretError::at(line.op, message))?;
        }
        Ok(self.yields.iter().map(|&place| self.scalars[place]).collect())
    }
}

/// An element; integers of every kind in their signed form, as scalars have no sign.
fn load(source: &Tensor, strides: &[usize], indices: &[Scalar]) -> Result<Scalar, String> {
    let mut flat = 0;
    for (axis, index) in indices.iter().enumerate() {
        let index = index.int();
        match usize::try_from(index).ok().filter(|&i| source.shape().get(axis).is_some_and(|&n| i < n)) {
            Some(index) => flat += index * strides[axis],
            None => return Err(format!("loads element {index} on axis {axis} of {}", source.tensor_type())),
        }
    }
    Ok(element(source, flat))
}

/// An element of a tensor by its place.
pub fn element(source: &Tensor, flat: usize) -> Scalar {
    match source.dtype().class() {
        Class::Float => Scalar::Float(source.f64_at(flat)),
        Class::Bool => Scalar::Int(source.int_at(flat)),
        _ => Scalar::wrapped(source.int_at(flat), 8 * DType::size(source.dtype()) as u32),
    }
}
