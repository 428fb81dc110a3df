//! Types of values, and how they are written to files: as a list, parts before what they are parts of, so that reading one needs no
//! recursion and a file cannot nest types without end.

use fusion_operators::TensorType;
use serde::{Deserialize, Serialize};

/// Types inside one another that a file may have.
const MOST_NESTED: usize = 64;

/// The type of a value, as far as who hands values in and out needs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Vec<Part>", try_from = "Vec<Part>")]
pub enum ValueType {
    /// A tensor; its extents may be dynamic.
    Tensor(TensorType),
    /// A tuple.
    Tuple(Vec<ValueType>),
    /// A data type of the program, applied to types.
    Data(u32, Vec<ValueType>),
    /// A cell.
    Cell(Box<ValueType>),
    /// A function; it cannot be handed in or out.
    Function,
    /// What a data type is applied to at that place; in types of fields only.
    Parameter(u32),
}

impl Default for ValueType {
    fn default() -> Self {
        ValueType::Tuple(Vec::new())
    }
}

/// A part of a type; it takes its own parts from the end of what came before.
#[derive(Serialize, Deserialize)]
pub(crate) enum Part {
    Tensor(TensorType),
    Tuple(u32),
    Data(u32, u32),
    Cell,
    Function,
    Parameter(u32),
}

impl From<ValueType> for Vec<Part> {
    fn from(ty: ValueType) -> Self {
        let mut parts = Vec::new();
        add(&ty, &mut parts);
        parts
    }
}

fn add(ty: &ValueType, parts: &mut Vec<Part>) {
    let (inner, part) = match ty {
        ValueType::Tensor(ty) => (&[][..], Part::Tensor(ty.clone())),
        ValueType::Tuple(elements) => (&elements[..], Part::Tuple(elements.len() as u32)),
        ValueType::Data(data, arguments) => (&arguments[..], Part::Data(*data, arguments.len() as u32)),
        ValueType::Cell(held) => (std::slice::from_ref(&**held), Part::Cell),
        ValueType::Function => (&[][..], Part::Function),
        ValueType::Parameter(place) => (&[][..], Part::Parameter(*place)),
    };
    inner.iter().for_each(|ty| add(ty, parts));
    parts.push(part);
}

impl TryFrom<Vec<Part>> for ValueType {
    type Error = &'static str;

    fn try_from(parts: Vec<Part>) -> Result<Self, Self::Error> {
        // Types with how deep they are nested.
        let mut made: Vec<(ValueType, usize)> = Vec::new();
        for part in parts {
            let number = match part {
                Part::Tuple(number) | Part::Data(_, number) => number as usize,
                Part::Cell => 1,
                Part::Tensor(_) | Part::Function | Part::Parameter(_) => 0,
            };
            let start = made.len().checked_sub(number).ok_or("a type lacks parts")?;
            let inner = made.split_off(start);
            let nested = 1 + inner.iter().map(|(_, nested)| *nested).max().unwrap_or(0);
            if nested > MOST_NESTED {
                return Err("a type is nested too deep");
            }
            let mut inner = inner.into_iter().map(|(ty, _)| ty);
            let ty = match part {
                Part::Tensor(ty) => ValueType::Tensor(ty),
                Part::Tuple(_) => ValueType::Tuple(inner.collect()),
                Part::Data(data, _) => ValueType::Data(data, inner.collect()),
                Part::Cell => ValueType::Cell(Box::new(inner.next().ok_or("a type lacks parts")?)),
                Part::Function => ValueType::Function,
                Part::Parameter(place) => ValueType::Parameter(place),
            };
            made.push((ty, nested));
        }
        match (made.pop(), made.is_empty()) {
            (Some((ty, _)), true) => Ok(ty),
            _ => Err("a type is not one"),
        }
    }
}
