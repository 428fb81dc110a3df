//! Terms as graphs.

use fusion_dialects::module::{FpMath, Level};
use fusion_egraph::analysis::{Facts, Graph};
use fusion_egraph::contents::Contents;
use fusion_egraph::extract::rates::Rates;
use fusion_egraph::language::{Constant, Head, Node};
use fusion_interpreter::random_graphs;
use fusion_machine::Target;
use fusion_operators::{DType, Tensor, TensorType};
use std::collections::HashMap;

pub struct Random(u64);

/// How a term is read otherwise than with numbers between -1 and 1 in f32.
#[derive(Clone)]
pub struct Drawn {
    /// The element type of its floats.
    pub dtype: DType,
    /// What stands in place of some of its constants.
    pub constants: Vec<f64>,
    /// The seed of its inputs, among which are zeros, ties and extremes.
    pub inputs: u64,
}

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn tensor(&mut self, shape: &[u64]) -> Tensor {
        let count = shape.iter().product::<u64>();
        let numbers: Vec<f32> = (0..count).map(|_| (self.next() % 2000) as f32 / 1000.0 - 0.9995).collect();
        let shape: Vec<usize> = shape.iter().map(|&n| n as usize).collect();
        Tensor::from_slice(&shape, &numbers).unwrap()
    }
}

/// Rows that are 1 in one column; a kernel of a convolution has its rows in front.
fn rows(ty: &TensorType, column: impl Fn(usize) -> usize) -> Tensor {
    let shape = ty.shape().unwrap_or_default();
    let width = shape.iter().rev().copied().find(|&n| n > 1).unwrap_or(1) as usize;
    let count = shape.iter().product::<u64>() as usize;
    let numbers: Vec<f64> =
        (0..count).map(|at| f64::from(u8::from(column(at / width) == at % width))).collect();
    let shape: Vec<usize> = shape.iter().map(|&n| n as usize).collect();
    Tensor::from_f64s(ty.dtype, &shape, &numbers).unwrap()
}

/// Reads a term into a graph; extents that are letters become random numbers.
pub struct Reader<'t> {
    rest: &'t str,
    random: Random,
    extents: HashMap<&'t str, u64>,
    known: HashMap<&'t str, egg::Id>,
    /// The graph.
    pub graph: Graph,
    /// The inputs.
    pub leaves: Vec<Tensor>,
    /// The constants that are too large for the graph.
    pub large: Vec<Tensor>,
    drawn: Option<Drawn>,
}

impl<'t> Reader<'t> {
    pub fn new(text: &'t str, seed: u64) -> Self {
        // A processor that adds beside its multiply-adds, and products of bytes: all rules apply to some.
        let target = Target { additions: 2, dot4: "vpdpbusd".to_owned(), ..Target::default() };
        let graph = Graph::new(Facts {
            rates: Rates::of(&target).with(FpMath { level: Level::Fast, max_error: None }),
            ..Facts::default()
        });
        let random = Random(seed.wrapping_mul(2_654_435_769).wrapping_add(1));
        Reader {
            rest: text,
            random,
            extents: HashMap::new(),
            known: HashMap::new(),
            graph,
            leaves: vec![],
            large: vec![],
            drawn: None,
        }
    }

    /// The same with other element types, constants and inputs.
    pub fn drawn(text: &'t str, seed: u64, drawn: Drawn) -> Self {
        Reader { drawn: Some(drawn), ..Reader::new(text, seed) }
    }

    /// A constant in place of another one, at times.
    fn constant_for(&mut self, number: f64) -> f64 {
        match &self.drawn {
            Some(drawn) if self.random.next().is_multiple_of(3) => {
                drawn.constants[self.random.next() as usize % drawn.constants.len()]
            }
            _ => number,
        }
    }

    /// The elements of a constant or an input.
    fn elements(&mut self, ty: &TensorType, is_constant: bool) -> Tensor {
        let shape = ty.shape().unwrap_or_default();
        let Some(drawn) = self.drawn.clone() else { return self.random.tensor(&shape) };
        let number = self.leaves.len() as u64;
        if !is_constant {
            return random_graphs::inputs(std::slice::from_ref(ty), drawn.inputs ^ number << 50)
                .unwrap()
                .remove(0);
        }
        let random = self.random.tensor(&shape).to_f64s();
        let some = self.random.next().is_multiple_of(2);
        let numbers: Vec<f64> =
            random.into_iter().map(|v| if some { self.constant_for(v) } else { v }).collect();
        let shape: Vec<usize> = shape.iter().map(|&n| n as usize).collect();
        Tensor::from_f64s(drawn.dtype, &shape, &numbers).unwrap()
    }

    pub fn term(&mut self) -> egg::Id {
        self.rest = self.rest.trim_start();
        if let Some(rest) = self.rest.strip_prefix('(') {
            let end = rest.find(' ').unwrap();
            let name = &rest[..end];
            self.rest = &rest[end..];
            let mut children = Vec::new();
            while !self.rest.trim_start().starts_with(')') {
                children.push(self.term());
            }
            self.rest = &self.rest.trim_start()[1..];
            let node = <Node as egg::FromOp>::from_op(name, children).unwrap();
            return self.graph.add(node);
        }
        let end = self.rest.find([' ', ')']).unwrap();
        let atom = &self.rest[..end];
        self.rest = &self.rest[end..];
        self.atom(atom)
    }

    fn atom(&mut self, atom: &'t str) -> egg::Id {
        if atom.starts_with('{') {
            return self.graph.add(<Node as egg::FromOp>::from_op(atom, vec![]).unwrap());
        }
        if let Some(id) = self.known.get(atom) {
            return *id;
        }
        let (name, shape) = atom.split_once(":[").map_or((atom, None), |(n, s)| (n, s.strip_suffix(']')));
        let shape: Vec<u64> =
            shape.unwrap_or("").split(',').filter(|s| !s.is_empty()).map(|s| self.extent(s)).collect();
        let dtype = self.drawn.as_ref().map_or(DType::F32, |drawn| drawn.dtype);
        let ty = TensorType::fixed(&shape, dtype);
        let index = name.strip_prefix("i:").and_then(|i| i.parse::<f64>().ok());
        let node = if let Some(index) = index {
            Node::number(index, &TensorType::fixed(&[], DType::I64)).unwrap()
        } else if let Ok(number) = name.parse::<f64>() {
            Node::number(self.constant_for(number), &ty).unwrap()
        } else if ["c", "d", "eye", "picks"].contains(&name) {
            let tensor = match name {
                "eye" => rows(&ty, |row| row),
                "picks" => rows(&ty, |row| (5 * row + 2) % shape[shape.len() - 1] as usize),
                _ => self.elements(&ty, true),
            };
            let constant = Constant::of(&tensor).unwrap_or_else(|| {
                self.large.push(tensor.clone());
                self.graph.analysis.contents.push(Contents::of_large(&tensor));
                Constant::Large { ty, number: self.large.len() as u32 - 1 }
            });
            Node::leaf(Head::Constant(constant))
        } else {
            let tensor = self.elements(&ty, false);
            self.graph.analysis.leaf_types.push(ty);
            self.graph.analysis.leaf_places.push(0);
            self.leaves.push(tensor);
            Node::leaf(Head::Leaf(self.leaves.len() as u32 - 1))
        };
        let id = self.graph.add(node);
        self.known.insert(atom, id);
        id
    }

    fn extent(&mut self, text: &'t str) -> u64 {
        if let Ok(number) = text.parse() {
            return number;
        }
        let random = 2 + self.random.next() % 5;
        *self.extents.entry(text).or_insert(random)
    }
}
