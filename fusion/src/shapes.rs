//! What a caller says of the extents that a model leaves dynamic: numbers, ranges, names, and sizes that are likely.
//!
//! ```text
//!   x = batch:1..64, 3, 32..1024:32, ?      0: from 1 to 64, called batch    1: 3    2: multiples of 32    3: as the model says
//! ```
//! Ranges and likely sizes become attributes of `@main` ([`ranges`]), where all passes find them.

use crate::error::{DriverError, Error, failed};
use crate::language::{input_names, main_of, signature};
use fusion_bytecode::ranges::out_of_range;
use fusion_bytecode::{Range, ValueType};
use fusion_dialects::{Module, module_op, tensor_type_of};
use fusion_operators::{Dim, Item, TensorType, ValueTree};
use fusion_relay_to_te::dynamic::ranges::{self, Sizes};
use indexmap::IndexMap;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// What is said of an extent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Its number or its name; [`Dim::Any`] where it is called what the model calls it.
    pub dim: Dim,
    /// The sizes that it may have.
    pub range: Range,
}

impl From<u64> for Axis {
    fn from(size: u64) -> Axis {
        Axis { dim: Dim::Static(size), range: Range::default() }
    }
}

impl FromStr for Axis {
    type Err = String;

    /// Reads `N`, `A..B`, `A..B:MULTIPLE`, one of these behind `NAME:`, `NAME` or `?`.
    fn from_str(text: &str) -> Result<Axis, String> {
        let text = text.trim();
        let letter = |c: char| c.is_alphabetic() || c == '_';
        if text == "?" {
            return Ok(Axis { dim: Dim::Any, range: Range::default() });
        }
        let (name, sizes) = match text.split_once(':') {
            _ if !text.starts_with(letter) => (None, Some(text)),
            Some((name, sizes)) => (Some(name.trim()), Some(sizes)),
            None => (Some(text), None),
        };
        if let Some(name) = name.filter(|name| !name.chars().all(|c| c.is_alphanumeric() || "_.".contains(c)))
        {
            return Err(format!("{name:?} is not a name of an extent: it has letters, digits, '_' and '.'"));
        }
        let range = sizes.map_or(Ok(Range::default()), str::parse::<Range>)?;
        let is_number = sizes.is_some_and(|sizes| sizes.trim().bytes().all(|byte| byte.is_ascii_digit()));
        Ok(match (is_number, name) {
            (true, _) => Axis::from(range.least),
            (false, Some(name)) => Axis { dim: Dim::Symbol(name.to_owned()), range },
            (false, None) => Axis { dim: Dim::Any, range },
        })
    }
}

impl Display for Axis {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match (&self.dim, self.range == Range::default()) {
            (dim, true) => write!(f, "{dim}"),
            (Dim::Any, false) => write!(f, "{}", self.range),
            (dim, false) => write!(f, "{dim}:{}", self.range),
        }
    }
}

/// The extents of a text, `N,A..B,..`; a scalar has none.
pub fn shape(text: &str) -> Result<Vec<Axis>, String> {
    text.split(',').filter(|_| !text.is_empty()).map(str::parse).collect()
}

/// The numbers and names of shapes, without their ranges.
pub(crate) fn dims(shapes: &IndexMap<String, Vec<Axis>>) -> IndexMap<String, Vec<Dim>> {
    let dims = |shape: &Vec<Axis>| shape.iter().map(|extent| extent.dim.clone()).collect();
    shapes.iter().map(|(name, shape)| (name.clone(), dims(shape))).collect()
}

/// What `@main` takes, by names; inputs that are no tensors are left out.
fn inputs_of(module: &Module) -> IndexMap<String, TensorType> {
    let root = module_op(module);
    let takes = main_of(root).and_then(signature).unwrap_or_default().0;
    let named = input_names(root).into_iter().zip(takes);
    named.filter_map(|(name, ty)| Some((name, tensor_type_of(ty)?))).collect()
}

/// Writes ranges and likely sizes into a module.
pub(crate) fn constrain(
    module: &Module,
    shapes: &IndexMap<String, Vec<Axis>>,
    likely: &[(String, Vec<u64>)],
) -> Result<(), DriverError> {
    let Some(main) = main_of(module_op(module)) else { return Ok(()) };
    let inputs = inputs_of(module);
    let mut known: BTreeMap<String, Range> =
        ranges::of(main).map_err(|error| failed(error.message))?.into_iter().collect();
    for (input, shape) in shapes {
        let Some(ty) = inputs.get(input) else { continue };
        for (axis, (extent, dim)) in shape.iter().zip(&ty.dims).enumerate() {
            limit(&mut known, dim, &extent.range)
                .map_err(|why| failed(format!("axis {axis} of input {input:?} {why}")))?;
        }
    }
    let mut all = ranges::likely(main).map_err(|error| failed(error.message))?;
    all.extend(together(&inputs, &known, likely).map_err(failed)?);
    let known: Vec<(String, Range)> = known.into_iter().collect();
    ranges::attach(main, &known, &all);
    Ok(())
}

/// Compares what a module is given with the ranges of its extents.
pub(crate) fn check(module: &Module, given: &[ValueTree]) -> Result<(), Error> {
    let root = module_op(module);
    let Some(main) = main_of(root) else { return Ok(()) };
    let ranges = ranges::of(main).map_err(|error| failed(error.message))?;
    let takes = signature(main).unwrap_or_default().0;
    let typed = |ty| tensor_type_of(ty).map_or(ValueType::Function, ValueType::Tensor);
    let inputs: Vec<_> = input_names(root).into_iter().zip(takes.into_iter().map(typed)).collect();
    let tensors = |value: &ValueTree| match value.items.first() {
        Some(Item::Tensor(tensor)) => vec![tensor.tensor_type()],
        _ => Vec::new(),
    };
    let found: Vec<Vec<TensorType>> = given.iter().map(tensors).collect();
    out_of_range(&ranges, &inputs, &found).map_or(Ok(()), |why| Err(Error::Inputs(why)))
}

/// Has an extent be in a range.
fn limit(known: &mut BTreeMap<String, Range>, dim: &Dim, range: &Range) -> Result<(), String> {
    if *range == Range::default() {
        return Ok(());
    }
    let name = match dim {
        Dim::Static(size) if range.has(*size) => return Ok(()),
        Dim::Static(size) => return Err(format!("is {size}, but is given the sizes {range}")),
        Dim::Symbol(name) => name,
        Dim::Expr(_) | Dim::Any => {
            return Err(format!(
                "is {dim}, and sizes are given to extents that have names; give them to an input that has one"
            ));
        }
    };
    let before = known.get(name).copied().unwrap_or_default();
    let both = before.and(range);
    let both = both
        .ok_or_else(|| format!("is {name}, which was given the sizes {before}: {range} has none of them"))?;
    known.insert(name.clone(), both);
    Ok(())
}

/// The sizes of names by likely shapes: the first of each input belong together, then the second ones.
fn together(
    inputs: &IndexMap<String, TensorType>,
    known: &BTreeMap<String, Range>,
    likely: &[(String, Vec<u64>)],
) -> Result<Vec<Sizes>, String> {
    let mut all: Vec<Sizes> = Vec::new();
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    for (input, shape) in likely {
        let Some(ty) = inputs.get(input) else {
            let names = inputs.keys().cloned().collect::<Vec<_>>().join(", ");
            return Err(format!(
                "a likely shape is given for {input:?}, which is no input; the inputs are {names}"
            ));
        };
        if shape.len() != ty.rank() {
            return Err(format!(
                "the likely shape of {input:?} has {} extents, and it is a {ty}",
                shape.len()
            ));
        }
        let number = count.entry(input).or_default();
        if all.len() == *number {
            all.push(Sizes::new());
        }
        let sizes = &mut all[*number];
        *number += 1;
        for (axis, (size, dim)) in shape.iter().zip(&ty.dims).enumerate() {
            let wrong = |why: String| {
                Err(format!("{size} is no likely size along axis {axis} of input {input:?}: {why}"))
            };
            let name = match dim {
                Dim::Static(known) if known == size => continue,
                Dim::Static(known) => return wrong(format!("it is {known}")),
                Dim::Symbol(name) => name,
                Dim::Expr(_) | Dim::Any => continue,
            };
            if let Some(range) = known.get(name).filter(|range| !range.has(*size)) {
                return wrong(format!("it must be {}", range.said()));
            }
            if let Some(other) = sizes.insert(name.clone(), *size).filter(|other| other != size) {
                return wrong(format!("{name} is {other} by a shape before"));
            }
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_are_written_as_they_are_read() {
        for text in ["3", "?", "n", "1..64", "n:1..64", "0..:8", "batch.x:8..4096:8"] {
            assert_eq!(text.parse::<Axis>().map(|extent| extent.to_string()), Ok(text.to_owned()));
        }
        assert_eq!(shape("n:3, 224"), Ok(vec![Axis::from(3), Axis::from(224)]));
        assert_eq!(shape(""), Ok(vec![]));
    }

    #[test]
    fn what_is_no_extent_is_said_in_a_sentence() {
        for (text, why) in [
            ("1,-2", "\"-2\" is not an extent"),
            ("n:", "an extent is missing"),
            ("a b:1..2", "\"a b\" is not a name of an extent: it has letters, digits, '_' and '.'"),
            ("1,,2", "an extent is missing"),
        ] {
            assert_eq!(shape(text).unwrap_err(), why);
        }
    }

    #[test]
    fn likely_shapes_of_several_inputs_belong_together() {
        let ty = |dims: &[&str]| {
            TensorType::new(dims.iter().map(|dim| Dim::of_text(dim)).collect(), fusion_operators::DType::F32)
        };
        let inputs = IndexMap::from([("x".to_owned(), ty(&["n", "3"])), ("y".to_owned(), ty(&["n", "m"]))]);
        let of = |likely: &[(&str, &[u64])]| {
            let likely: Vec<_> =
                likely.iter().map(|(name, shape)| ((*name).to_owned(), shape.to_vec())).collect();
            together(&inputs, &BTreeMap::new(), &likely)
        };
        let sizes = |n: u64, m: u64| Sizes::from([("n".to_owned(), n), ("m".to_owned(), m)]);
        assert_eq!(
            of(&[("x", &[8, 3]), ("x", &[1, 3]), ("y", &[8, 5]), ("y", &[1, 6])]),
            Ok(vec![sizes(8, 5), sizes(1, 6)])
        );
        let why = of(&[("x", &[8, 3]), ("y", &[4, 5])]).unwrap_err();
        assert_eq!(why, "4 is no likely size along axis 0 of input \"y\": n is 8 by a shape before");
        assert!(of(&[("x", &[8, 4])]).unwrap_err().ends_with("it is 3"));
    }
}
