//! Values that a program holds in two parts: tensors of complex numbers, and maps.
//!
//! ```text
//!   z: tensor<2 x complex64>          z.real, z.imag: tensor<2xf32>
//!   m: map of string to float         m.keys: tensor<m.count x string>, m.values: tensor<m.count x f32>
//! ```
//! ONNX moves complex numbers and does not compute with them, so an operator that moves elements moves both parts.
//! Inputs and outputs of the program are the parts.

use fusion_operators::Tensor;

use super::build::Converted;
use super::definitions::{Def, Parts};
use super::error::Fault;
use super::importer::Importer;
use super::node::{Node, Value};

/// One of the two tensors that an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The real parts of complex numbers.
    Real,
    /// Their imaginary parts.
    Imag,
    /// The keys of a map.
    Keys,
    /// Its values, in the order of the keys.
    Values,
}

impl Part {
    /// What is written behind the name of the whole.
    pub fn suffix(self) -> &'static str {
        match self {
            Part::Real => "real",
            Part::Imag => "imag",
            Part::Keys => "keys",
            Part::Values => "values",
        }
    }

    /// What this part of a value of that name is called.
    pub fn of(self, whole: &str) -> String {
        format!("{whole}.{}", self.suffix())
    }

    /// What the two parts make, where this is the second.
    pub(super) fn whole(self) -> Option<Parts> {
        match self {
            Part::Imag => Some(Parts::Complex),
            Part::Values => Some(Parts::Map),
            Part::Real | Part::Keys => None,
        }
    }
}

impl Parts {
    /// What its parts are called.
    pub(super) fn parts(self) -> [Part; 2] {
        match self {
            Parts::Complex => [Part::Real, Part::Imag],
            Parts::Map => [Part::Keys, Part::Values],
        }
    }
}

/// Operators that move elements, and which of their operands these are; none where all are.
const MOVES: &[(&str, &[usize])] = &[
    ("CenterCropPad", &[0]),
    ("Compress", &[0]),
    ("Concat", &[]),
    ("DepthToSpace", &[0]),
    ("Expand", &[0]),
    ("Flatten", &[0]),
    ("Gather", &[0]),
    ("GatherElements", &[0]),
    ("GatherND", &[0]),
    ("Identity", &[0]),
    ("Pad", &[0, 2]),
    ("Reshape", &[0]),
    ("ReverseSequence", &[0]),
    ("ScatterElements", &[0, 2]),
    ("ScatterND", &[0, 2]),
    ("Shape", &[0]),
    ("Size", &[0]),
    ("Slice", &[0]),
    ("SpaceToDepth", &[0]),
    ("Split", &[0]),
    ("Squeeze", &[0]),
    ("Tile", &[0]),
    ("Transpose", &[0]),
    ("Trilu", &[0]),
    ("Unsqueeze", &[0]),
    ("Where", &[1, 2]),
];

impl<'m> Importer<'m> {
    /// What two tensors make.
    pub(super) fn whole(&mut self, kind: Parts, parts: [Value; 2]) -> Value {
        self.push(Def::Parts(kind, parts), usize::MAX, None)
    }

    /// A constant of complex numbers.
    pub fn complex_constant(&mut self, parts: [Tensor; 2]) -> Value {
        let parts = parts.map(|part| self.constant(part));
        self.whole(Parts::Complex, parts)
    }

    /// The parts of a value that has them.
    pub(super) fn parts(&self, value: Value) -> Option<(Parts, [Value; 2])> {
        match self.entries[value.0 as usize].def {
            Def::Parts(kind, parts) => Some((kind, parts)),
            _ => None,
        }
    }

    /// Keys and values of an operand that is a map.
    pub fn map_of(&self, node: &Node, index: usize) -> Result<[Value; 2], Fault> {
        match self.parts(node.input(index)?) {
            Some((Parts::Map, parts)) => Ok(parts),
            _ => Err(Fault::value(format!("input {index} ('{}') must be a map", node.name(index)))),
        }
    }

    /// The operands of a node that hold complex numbers; none where the node has nothing to do with them. An error where it would compute
    /// with them.
    pub(super) fn complex_operands(&self, node: &Node) -> Result<Vec<usize>, Fault> {
        let is_complex = |&i: &usize| {
            let value = node.opt(i);
            value.is_some_and(|value| matches!(self.parts(value), Some((Parts::Complex, _))))
        };
        let given: Vec<usize> = (0..node.inputs.len()).filter(|&i| node.opt(i).is_some()).collect();
        let found: Vec<usize> = given.iter().copied().filter(is_complex).collect();
        if found.is_empty() {
            return Ok(found);
        }
        let row = MOVES.iter().find(|(op, _)| *op == node.place.op_type && node.place.domain.is_empty());
        let adds = node.string("reduction", "none")? != "none";
        let Some((_, moved)) = row.filter(|_| !adds) else {
            return Err(Fault::unsupported("a tensor of complex numbers, which is only moved,"));
        };
        let wanted = given.into_iter().filter(|i| moved.is_empty() || moved.contains(i));
        match wanted.collect::<Vec<_>>() == found {
            true => Ok(found),
            false => Err(Fault::value("some of its operands are of complex numbers, and others are not")),
        }
    }

    /// Converts a node for each part of its complex operands. What does not depend on elements, such as a shape, is that of the first.
    pub(super) fn moved_by_parts(
        &mut self,
        node: &Node<'m>,
        operands: &[usize],
        convert: impl Fn(&mut Self, &Node<'m>) -> Converted,
    ) -> Converted {
        let mut both = [Vec::new(), Vec::new()];
        for (part, results) in both.iter_mut().enumerate() {
            let mut half = node.clone();
            for &operand in operands {
                let whole = node.input(operand)?;
                half.inputs[operand] = self.parts(whole).map(|(_, parts)| parts[part]);
            }
            *results = convert(self, &half)?;
        }
        let [real, imag] = both;
        let join = |(real, imag): (Value, Value)| match self.dtype(real)?.is_float() {
            true => Ok(self.whole(Parts::Complex, [real, imag])),
            false => Ok(real),
        };
        real.into_iter().zip(imag).map(join).collect()
    }
}
