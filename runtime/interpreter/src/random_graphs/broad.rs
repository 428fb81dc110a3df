//! Random graphs of operators of all families on all element types.
//!
//! ```text
//!   an operator -> operands, of values there are and new ones -> attributes by its form -> its relation takes them, and they have a value?  a step
//! ```
//! Operands and attributes are drawn until the operator's type relation takes them, and its reference semantics give a value on the graph's own inputs
//! (as NNSmith does, Liu et al., 2023). So there is no list of what an operator takes: what a form does not say, the drawing tries. Functions that jump,
//! as rounding and comparing, take only floats that are exact: of others, no two programs need agree.

use super::numbers::{below, one_of};
use super::{Graph, Place, Step, live};
use fusion_operators::form::{Attribute, AttributeType, Count};
use fusion_operators::ops::{elementwise as e, indexing, shape};
use fusion_operators::random::Random;
use fusion_operators::reference::evaluate;
use fusion_operators::{Attrs, DType, Operator, Tensor, TensorType};

/// Drawings of operands and attributes for an operator, before another one is taken.
const TRIES: usize = 300;
/// Elements of a value: compiled code and reference semantics are run on many.
const MOST_ELEMENTS: u64 = 4096;

const TEXTS: &[(&str, &[&str])] = &[
    ("mode", &["constant", "edge", "reflect", "wrap"]),
    ("method", &["linear", "nearest"]),
    ("coordinates", &["align_corners", "asymmetric", "half_pixel", "pytorch_half_pixel"]),
    ("rounding", &["ceil", "floor", "round_prefer_ceil", "round_prefer_floor"]),
    ("reduction", &["add", "mul", "max", "min", "none"]),
];

struct Writer<'a> {
    graph: Graph,
    random: Random,
    dtypes: &'a [DType],
    /// What each value is on the graph's own inputs, and whether that is exact.
    values: Vec<Tensor>,
    exact: Vec<bool>,
    inputs: usize,
}

/// The graph of a seed, of these operators and element types, with inputs that it gives something on; `None` where no operator took what was drawn.
pub fn broad_graph(
    seed: u64,
    operators: &[&'static Operator],
    dtypes: &[DType],
) -> Option<(Graph, Vec<Tensor>)> {
    let mut random = Random::new(seed.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(11));
    let dtype = one_of(&mut random, dtypes);
    let (values, exact) = (Vec::new(), Vec::new());
    let mut writer = Writer { graph: Graph::new(dtype), random, dtypes, values, exact, inputs: 0 };
    let steps = 1 + below(&mut writer.random, 4);
    for _ in 0..steps {
        let op = one_of(&mut writer.random, operators);
        writer.step(op);
    }
    let is_call = |place: &Place| matches!(writer.graph.steps[*place], Step::Call { .. });
    let last = (0..writer.graph.steps.len()).rev().find(is_call)?;
    let used = |place: usize| writer.graph.steps.iter().any(|step| reads(step, place));
    let results: Vec<Place> = (0..last).filter(is_call).filter(|&place| !used(place)).collect();
    writer.graph.results = [results, vec![last]].concat();
    let is_input = |(step, _): &(&Step, &Tensor)| matches!(step, Step::Input(_));
    let inputs = writer.graph.steps.iter().zip(&writer.values).filter(is_input);
    let inputs = inputs.map(|(_, tensor)| tensor.clone()).collect();
    Some((live(writer.graph), inputs))
}

/// Other inputs of a graph that it gives something on.
pub fn broad_inputs(graph: &Graph, seed: u64) -> Option<Vec<Tensor>> {
    let mut random = Random::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2c1b_3c6d);
    let inputs: Option<Vec<Tensor>> =
        graph.inputs().iter().map(|ty| numbers(&mut random, ty.dtype, &extents(ty)?)).collect();
    inputs.filter(|inputs| graph.run(inputs).is_ok())
}

fn reads(step: &Step, place: Place) -> bool {
    matches!(step, Step::Call { operands, .. } if operands.contains(&place))
}

fn extents(ty: &TensorType) -> Option<Vec<usize>> {
    ty.shape()?.into_iter().map(|n| usize::try_from(n).ok()).collect()
}

/// Quarters, or small whole numbers, most of which are places of a small tensor; the ends of an integer now and then.
fn numbers(random: &mut Random, dtype: DType, shape: &[usize]) -> Option<Tensor> {
    let count = shape.iter().product();
    let kind = below(random, 6);
    let unsigned = dtype.is_int() && Tensor::from_f64s(dtype, &[], &[-1.0]).ok()?.f64_at(0) >= 0.0;
    let number = |random: &mut Random| match (dtype.is_float(), kind) {
        (true, 0) => below(random, 17) as f64 / 4.0,
        (true, _) => below(random, 33) as f64 / 4.0 - 4.0,
        (false, 0) if !unsigned => below(random, 9) as f64 - 4.0,
        (false, 1) => one_of(random, &[0.0, 1.0, 2.0, 100.0, 127.0]),
        (false, _) => below(random, 3) as f64,
    };
    let numbers: Vec<f64> = (0..count).map(|_| number(random)).collect();
    let bools = |n: &f64| f64::from(n.rem_euclid(2.0) >= 1.0);
    let numbers = if dtype == DType::Bool { numbers.iter().map(bools).collect() } else { numbers };
    Tensor::from_f64s(dtype, shape, &numbers).ok()
}

impl Writer<'_> {
    fn below(&mut self, n: usize) -> usize {
        below(&mut self.random, n)
    }

    /// Adds a call of the operator, with new operands where it needs them.
    fn step(&mut self, op: &'static Operator) -> Option<Place> {
        for _ in 0..TRIES {
            let (steps, inputs) = (self.graph.steps.len(), self.inputs);
            match self.call(op) {
                Some(place) => return Some(place),
                None => {
                    self.graph.steps.truncate(steps);
                    self.graph.types.truncate(steps);
                    self.values.truncate(steps);
                    self.exact.truncate(steps);
                    self.inputs = inputs;
                }
            }
        }
        None
    }

    fn call(&mut self, op: &'static Operator) -> Option<Place> {
        let mut operands: Vec<Place> = Vec::new();
        for operand in op.form.operands {
            let count = match operand.count {
                Count::One => 1,
                Count::Optional => self.below(2),
                Count::Any => 1 + self.below(3),
            };
            for _ in 0..count {
                operands.push(self.operand(operand.name, operands.first().copied())?);
            }
        }
        let attrs = self.attrs(op, operands.first().copied());
        let exact = operands.iter().all(|&place| self.exact[place]);
        let place = self.graph.call(op, attrs.clone(), &operands)?;
        let ty = self.graph.types[place].clone();
        if ty.elements()? > MOST_ELEMENTS || jumps(op, &ty) && !exact {
            return None;
        }
        let given: Vec<Tensor> = operands.iter().map(|&place| self.values[place].clone()).collect();
        let value = evaluate(op, &attrs, &given).ok()?.into_iter().next()?;
        self.values.push(value);
        self.exact.push(exact && (!ty.dtype.is_float() || moves(op)));
        Some(place)
    }

    /// A value there is, or a new one of an extent that goes with the first operand.
    fn operand(&mut self, name: &str, first: Option<Place>) -> Option<Place> {
        let indices = matches!(name, "indices" | "lengths");
        let wanted = match (name, first) {
            ("indices" | "lengths", _) => one_of(&mut self.random, &[DType::I64, DType::I32]),
            ("condition", _) => DType::Bool,
            (_, Some(first)) if self.below(8) > 0 => self.graph.types[first].dtype,
            _ if self.below(2) == 0 => self.graph.dtype,
            _ => one_of(&mut self.random, self.dtypes),
        };
        let fits: Vec<Place> =
            (0..self.graph.types.len()).filter(|&place| self.graph.types[place].dtype == wanted).collect();
        if !fits.is_empty() && self.below(if indices { 8 } else { 2 }) == 0 {
            return Some(one_of(&mut self.random, &fits));
        }
        let shape = self.shape(first);
        let tensor = numbers(&mut self.random, wanted, &shape)?;
        let ty = tensor.tensor_type();
        let constant = wanted != DType::Bool && !tensor.is_empty() && self.below(4) == 0;
        let step = match constant {
            true => Step::Constant(tensor.clone()),
            false => {
                self.inputs += 1;
                Step::Input(self.inputs - 1)
            }
        };
        self.values.push(tensor);
        self.exact.push(true);
        Some(self.graph.push(step, ty))
    }

    /// The extents of a new operand: those of the first one and what operators take beside it.
    fn shape(&mut self, first: Option<Place>) -> Vec<usize> {
        let Some(dims) = first.and_then(|place| extents(&self.graph.types[place])) else {
            let rank = one_of(&mut self.random, &[0, 1, 2, 2, 3, 3, 4, 4, 5]);
            return (0..rank).map(|_| one_of(&mut self.random, &[1, 2, 2, 3, 4, 4, 5])).collect();
        };
        let rank = dims.len();
        let few = 1 + self.below(4);
        let channels = dims.get(1).copied().unwrap_or(1);
        let last = dims.last().copied().unwrap_or(1);
        let sides: Vec<usize> = (2..rank).map(|_| 1 + self.below(3)).collect();
        let window = |two: [usize; 2]| [&two[..], &sides].concat();
        match self.below(12) {
            0 | 1 => dims,
            2 => dims.into_iter().map(|n| if self.below(3) == 0 { 1 } else { n }).collect(),
            3 => vec![channels],
            4 => vec![],
            5 => window([few, channels]),
            6 => window([channels, few]),
            7 if rank > 1 => [&dims[..rank - 2], &[last, few]].concat(),
            8 => vec![few, last],
            9 => dims[rank - self.below(rank + 1)..].to_vec(),
            10 => (0..rank).map(|_| 1 + self.below(2)).collect(),
            _ => (0..1 + self.below(3)).map(|_| 1 + self.below(3)).collect(),
        }
    }

    fn attrs(&mut self, op: &'static Operator, first: Option<Place>) -> Attrs {
        let dims = first.and_then(|place| extents(&self.graph.types[place])).unwrap_or_default();
        let mut attrs = Attrs::new();
        for attribute in op.form.attributes {
            if attribute.required || self.below(3) > 0 {
                self.attribute(attribute, &dims, &mut attrs);
            }
        }
        attrs
    }

    fn attribute(&mut self, attribute: &Attribute, dims: &[usize], attrs: &mut Attrs) {
        let (name, rank) = (attribute.name, dims.len());
        match attribute.ty {
            AttributeType::Int | AttributeType::Dim => {
                let number = match name {
                    "axis" => self.below(2 * rank + 1) as i64 - rank as i64,
                    "batch_dims" => self.below(2) as i64,
                    _ => 1 + self.below(4) as i64,
                };
                attrs.set(name, number);
            }
            AttributeType::Float => {
                let number = match name {
                    "epsilon" => one_of(&mut self.random, &[1e-5, 1e-3, 0.1]),
                    "min" => -1.5,
                    _ => one_of(&mut self.random, &[0.5, 1.0, 1.5, 2.0]),
                };
                attrs.set(name, number);
            }
            AttributeType::Flag => attrs.set(name, self.below(2) == 0),
            AttributeType::Text => {
                if let Some((_, choices)) = TEXTS.iter().find(|(own, _)| *own == name) {
                    attrs.set(name, one_of(&mut self.random, choices));
                }
            }
            AttributeType::DType => attrs.set(name, one_of(&mut self.random, self.dtypes)),
            AttributeType::Ints | AttributeType::Dims => attrs.set(name, self.list(name, dims)),
            AttributeType::Floats => {}
        }
    }

    /// One number for each axis, for each but the first two, or for some; paddings have two.
    fn list(&mut self, name: &str, dims: &[usize]) -> Vec<i64> {
        let rank = dims.len();
        let each = one_of(&mut self.random, &[rank, rank.saturating_sub(2), rank.min(1)]);
        let mut some = |count: usize, least: i64, most: i64| -> Vec<i64> {
            let wide = (most - least + 1) as usize;
            (0..count).map(|_| least + below(&mut self.random, wide) as i64).collect()
        };
        match name {
            "axes" => {
                let mut axes: Vec<i64> = (0..rank as i64).collect();
                let kept = some(1, 0, rank as i64)[0] as usize;
                for place in (1..rank).rev() {
                    let other = some(1, 0, place as i64)[0] as usize;
                    axes.swap(place, other);
                }
                let negative = some(rank, 0, 1);
                let axis = |(axis, negative): (i64, i64)| axis - negative * rank as i64;
                axes.into_iter().zip(negative).map(axis).take(if kept == 0 { rank } else { kept }).collect()
            }
            "padding" => {
                let least = if each == rank { -1 } else { 0 };
                some(2 * each, least, 2)
            }
            "output_padding" => some(each, 0, 1),
            "begin" => some(each, -3, 3),
            "end" => some(each, -3, 6),
            "strides" if each == rank => {
                let strides = some(each, -2, 2);
                strides.into_iter().map(|n| if n == 0 { 1 } else { n }).collect()
            }
            "shape" => self.reshaped(dims),
            "size" => dims.iter().map(|&n| 1 + below(&mut self.random, 2 * n.max(1)) as i64).collect(),
            _ => some(each, 1, 3),
        }
    }

    /// A shape of as many elements, or one that the extents broadcast to.
    fn reshaped(&mut self, dims: &[usize]) -> Vec<i64> {
        let mut to: Vec<i64> = dims.iter().map(|&n| n as i64).collect();
        match self.below(4) {
            0 if to.len() > 1 => {
                let at = self.below(to.len() - 1);
                let second = to.remove(at + 1);
                to[at] *= second;
            }
            1 if to.len() > 1 => {
                let (a, b) = (self.below(to.len()), self.below(to.len()));
                to.swap(a, b);
            }
            2 => to = to.into_iter().map(|n| if n == 1 { 1 + self.below(3) as i64 } else { n }).collect(),
            _ => to.insert(0, 1 + self.below(2) as i64),
        }
        to
    }
}

/// Whether a small change of a float may change the result much.
fn jumps(op: &Operator, result: &TensorType) -> bool {
    let rounding: [&Operator; 9] =
        [&e::FLOOR, &e::CEIL, &e::ROUND, &e::SIGN, &e::MOD, &e::FMOD, &e::DIV, &e::RECIPROCAL, &e::POW];
    !result.dtype.is_float() || rounding.iter().any(|other| other.is(op)) || op.name == "simulated_quantize"
}

/// Whether elements of the result are such of the operands.
fn moves(op: &Operator) -> bool {
    let moved = [shape::ALL, indexing::ALL].concat();
    moved.iter().any(|other| other.is(op) && !other.is(&shape::RESIZE))
        || [&e::NEG, &e::ABS, &e::RELU, &e::MINIMUM, &e::MAXIMUM, &e::WHERE].iter().any(|other| other.is(op))
}
