//! Random graphs of operators on floats with few constants, for tests of algebra.
//!
//! ```text
//!   seed -> element type, two or three constants -> 2 to 10 operations, each of values and constants that were used before
//!
//!   %c = 0.02    %v1 = mul %x, %c    %v2 = mul %x, %c    %v3 = add %v1, %v2    %v4 = div %v3, %c
//! ```
//! Programs that quantize, normalize or convert units look so, and rules that are only nearly right go wrong on them: constants meet themselves, and
//! extreme ones underflow and overflow where the source does not. [`bounds`](Graph::bounds) says of each value what it is in double precision and how
//! far the source's own rounding may take it (`fusion_operators::rounding`). The same seed gives the same graph on every machine.

mod broad;
mod dynamic;
mod forms;
mod numbers;
mod operations;
mod text;
mod writer;

pub use broad::{broad_graph, broad_inputs};
pub use dynamic::{dynamic_graph, dynamic_inputs, live};
pub use numbers::{constants, inputs, representable};
pub use operations::graph;
pub use text::attribute;

use fusion_operators::reference::{EvalError, evaluate};
use fusion_operators::rounding::{Bounded, Outside};
use fusion_operators::{Attrs, DType, Dim, Operator, Tensor, TensorType};

/// A value of a graph, by its place among the steps.
pub type Place = usize;

/// What gives a value.
#[derive(Clone, Debug)]
pub enum Step {
    /// An input, by its number.
    Input(usize),
    /// A constant.
    Constant(Tensor),
    /// A call of an operator of one result.
    #[allow(missing_docs)]
    Call { op: &'static Operator, attrs: Attrs, operands: Vec<Place> },
}

/// A graph of operators.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The element type of its floats.
    pub dtype: DType,
    /// The steps, operands first.
    pub steps: Vec<Step>,
    /// The type of each value.
    pub types: Vec<TensorType>,
    /// The values it gives.
    pub results: Vec<Place>,
}

impl Graph {
    /// A graph without steps.
    pub fn new(dtype: DType) -> Self {
        Graph { dtype, steps: Vec::new(), types: Vec::new(), results: Vec::new() }
    }

    /// Adds a step with its type.
    pub fn push(&mut self, step: Step, ty: TensorType) -> Place {
        self.steps.push(step);
        self.types.push(ty);
        self.steps.len() - 1
    }

    /// Adds a call; `None` where the operator does not take such operands.
    pub fn call(&mut self, op: &'static Operator, attrs: Attrs, operands: &[Place]) -> Option<Place> {
        let types: Vec<TensorType> = operands.iter().map(|&place| self.types[place].clone()).collect();
        let [ty] = &op.infer(&types, &attrs).ok()?[..] else { return None };
        let ty = ty.clone();
        Some(self.push(Step::Call { op, attrs, operands: operands.to_vec() }, ty))
    }

    /// The types of the inputs.
    pub fn inputs(&self) -> Vec<TensorType> {
        let is_input = |(step, _): &(&Step, &TensorType)| matches!(step, Step::Input(_));
        self.steps.iter().zip(&self.types).filter(is_input).map(|(_, ty)| ty.clone()).collect()
    }

    /// What each value is on inputs; an error where an operator has no bound.
    pub fn bounds(&self, inputs: &[Tensor]) -> Result<Vec<Bounded>, EvalError> {
        let mut bounds: Vec<Bounded> = Vec::new();
        for step in &self.steps {
            bounds.push(match step {
                Step::Input(number) => Bounded::exact(inputs[*number].clone())?,
                Step::Constant(tensor) => Bounded::exact(tensor.clone())?,
                Step::Call { op, attrs, operands } => {
                    let operands: Vec<&Bounded> = operands.iter().map(|&place| &bounds[place]).collect();
                    let bounded = Bounded::call(op, attrs, &operands)?;
                    bounded.ok_or_else(|| {
                        EvalError::Value(format!("there is no bound of rounding for relay.{}", op.name))
                    })?
                }
            });
        }
        Ok(bounds)
    }

    /// The extents that have names, on inputs.
    fn named_extents(&self, inputs: &[Tensor]) -> Vec<(&str, u64)> {
        let mut extents: Vec<(&str, u64)> = Vec::new();
        let types = self.steps.iter().zip(&self.types).filter(|(step, _)| matches!(step, Step::Input(_)));
        for ((_, ty), tensor) in types.zip(inputs) {
            for (dim, extent) in ty.dims.iter().zip(tensor.shape()) {
                if let Dim::Symbol(name) = dim {
                    extents.push((name, *extent as u64));
                }
            }
        }
        extents
    }

    /// What the graph gives by reference semantics in its own element types.
    pub fn run(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
        let extents = self.named_extents(inputs);
        let extent = |name: &str| extents.iter().find(|(own, _)| *own == name).map(|(_, n)| Dim::Static(*n));
        let mut values: Vec<Tensor> = Vec::new();
        for step in &self.steps {
            values.push(match step {
                Step::Input(number) => inputs[*number].clone(),
                Step::Constant(tensor) => tensor.clone(),
                Step::Call { op, attrs, operands } => {
                    let operands: Vec<Tensor> = operands.iter().map(|&place| values[place].clone()).collect();
                    evaluate(op, &attrs.replace_names(&extent), &operands)?.remove(0)
                }
            });
        }
        Ok(self.results.iter().map(|&place| values[place].clone()).collect())
    }

    /// The graph at the extents of these inputs; `None` where an operator does not take them.
    pub fn at(&self, inputs: &[Tensor]) -> Option<Graph> {
        let extents = self.named_extents(inputs);
        let extent = |name: &str| extents.iter().find(|(own, _)| *own == name).map(|(_, n)| Dim::Static(*n));
        let mut graph = Graph { results: self.results.clone(), ..Graph::new(self.dtype) };
        for (step, ty) in self.steps.iter().zip(&self.types) {
            match step {
                Step::Input(number) => graph.push(step.clone(), inputs.get(*number)?.tensor_type()),
                Step::Constant(_) => graph.push(step.clone(), ty.clone()),
                Step::Call { op, attrs, operands } => {
                    graph.call(op, attrs.replace_names(&extent), operands)?
                }
            };
        }
        Some(graph)
    }

    /// What is wrong with results: the number of the first wrong one, and how it is.
    pub fn wrong(&self, bounds: &[Bounded], found: &[Tensor]) -> Option<(usize, Outside)> {
        let one = |(number, (&place, found)): (usize, (&Place, &Tensor))| {
            bounds[place].outside(found, FACTOR).map(|outside| (number, outside))
        };
        self.results.iter().zip(found).enumerate().find_map(one)
    }
}

/// By how much more than the bound of its source a form may be off: it has other roundings, and may have some more.
pub const FACTOR: f64 = 8.0;
