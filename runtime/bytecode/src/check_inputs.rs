//! Whether values have the types of a program's inputs, parts of data included.
//!
//! ```text
//!   input xs: List[f32]     Cons  1.0  Nil           items, each before its parts
//!                           |     |    |
//!   expected                List  %0   List[%0]      %0 = f32
//! ```
//! Items are met in order, with what is expected of each on a stack. What a parameter stands for is looked up, not put in its place,
//! so types do not grow with values; nothing recurs, so a value may be as deep as memory allows.

use crate::ranges::out_of_range;
use crate::text::type_text;
use crate::{DataType, Range, ValueType, match_types};
use fusion_operators::{Item, TensorType, ValueTree};
use std::rc::Rc;

/// Why values cannot be the inputs of a program: a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InputError(pub String);

/// Data types applied to others inside one another; who takes more is no value that can be written.
const MOST_APPLIED: usize = 4096;

/// What the parameters of a data type stand for.
#[derive(Clone, Default)]
struct Arguments<'p> {
    types: Rc<Vec<Expected<'p>>>,
    applied: usize,
}

/// A type, and what the parameters in it stand for.
#[derive(Clone)]
struct Expected<'p> {
    ty: &'p ValueType,
    arguments: Arguments<'p>,
}

impl<'p> Expected<'p> {
    /// The same without a parameter at the top.
    fn resolved(self) -> Expected<'p> {
        match self.ty {
            ValueType::Parameter(place) => match self.arguments.types.get(*place as usize) {
                Some(known) => known.clone(),
                None => self,
            },
            _ => self,
        }
    }

    fn parts(&self, types: &'p [ValueType]) -> impl DoubleEndedIterator<Item = Expected<'p>> {
        let arguments = self.arguments.clone();
        types.iter().map(move |ty| Expected { ty, arguments: arguments.clone() }.resolved())
    }
}

/// Compares values with the types of a program's inputs, and their extents with the ranges. Gives, for each input, the data types and tags of the constructors in it, in
/// the order of their items.
pub fn check_inputs(
    data: &[DataType],
    inputs: &[(String, ValueType)],
    ranges: &[(String, Range)],
    values: &[ValueTree],
) -> Result<Vec<Vec<(u32, u32)>>, InputError> {
    if values.len() != inputs.len() {
        let names: Vec<&str> = inputs.iter().map(|(name, _)| name.as_str()).collect();
        let names = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
        let (expected, found) = (inputs.len(), values.len());
        return Err(InputError(format!(
            "the program takes {expected} inputs{names}, but {found} were given"
        )));
    }
    let found: Vec<Vec<TensorType>> = values.iter().map(tensors).collect();
    let (mut tensors, mut names) = (Vec::new(), Vec::new());
    let mut constructors = Vec::with_capacity(inputs.len());
    for (((name, ty), value), found) in inputs.iter().zip(values).zip(&found) {
        let mut expected = Vec::new();
        constructors.push(one(data, ty, value, &mut expected).map_err(|why| {
            let ty = type_text(data, ty);
            InputError(format!("input {name:?} of the program does not have the type {ty}: {why}"))
        })?);
        names.extend(expected.iter().map(|_| name));
        tensors.extend(expected.into_iter().zip(found.iter()));
    }
    match_types(tensors).map_err(|mismatch| {
        let name = names[mismatch.place];
        InputError(format!("input {name:?} of the program has another type: {mismatch}"))
    })?;
    match out_of_range(ranges, inputs, &found) {
        Some(why) => Err(InputError(why)),
        None => Ok(constructors),
    }
}

fn tensors(value: &ValueTree) -> Vec<TensorType> {
    let tensor =
        |item: &Item| if let Item::Tensor(tensor) = item { Some(tensor.tensor_type()) } else { None };
    value.items.iter().filter_map(tensor).collect()
}

/// The constructors in a value; what is expected of its tensors is added.
fn one<'p>(
    data: &'p [DataType],
    ty: &'p ValueType,
    value: &ValueTree,
    tensors: &mut Vec<&'p TensorType>,
) -> Result<Vec<(u32, u32)>, String> {
    let mut left = vec![Expected { ty, arguments: Arguments::default() }];
    let mut constructors = Vec::new();
    for item in &value.items {
        let expected = left.pop().ok_or("there is more than one value")?;
        match (expected.ty, item) {
            (ValueType::Tensor(ty), Item::Tensor(_)) => tensors.push(ty),
            (ValueType::Tuple(elements), Item::Tuple(parts)) if elements.len() == *parts => {
                left.extend(expected.parts(elements).rev());
            }
            (ValueType::Cell(held), Item::Cell) => left.extend(expected.parts(std::slice::from_ref(held))),
            (ValueType::Data(number, arguments), Item::Data(name, parts)) => {
                let declared = data.get(*number as usize).ok_or("its data type is not declared")?;
                let known = declared.constructors.iter().enumerate().find(|(_, c)| c.name == *name);
                let (tag, constructor) =
                    known.ok_or_else(|| format!("{} has no constructor {name}", declared.name))?;
                let fields = constructor.fields.len();
                if fields != *parts {
                    return Err(format!("the constructor {name} takes {fields} fields, found {parts}"));
                }
                constructors.push((*number, tag as u32));
                let types: Vec<Expected> = expected.parts(arguments).collect();
                let applied = types.iter().map(|ty| ty.arguments.applied + 1).max().unwrap_or(0);
                if applied > MOST_APPLIED {
                    return Err(format!("its types are nested more than {MOST_APPLIED} deep"));
                }
                let inside =
                    Expected { ty: expected.ty, arguments: Arguments { types: Rc::new(types), applied } };
                left.extend(inside.parts(&constructor.fields).rev());
            }
            (_, Item::Function | Item::More) => {
                return Err("functions cannot be given to a program".to_owned());
            }
            (ty, item) => {
                return Err(format!("expected {}, found {}", type_text(data, ty), item.what()));
            }
        }
    }
    if left.is_empty() { Ok(constructors) } else { Err("it is not one value".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Constructor;
    use fusion_operators::{DType, Dim, Tensor};

    /// `List[A] = Nil | Cons(A, List[A])` and `Phantom[A] = End | More(Phantom[(A, A)])`.
    fn data() -> Vec<DataType> {
        let parameter = ValueType::Parameter(0);
        let list = ValueType::Data(0, vec![parameter.clone()]);
        let twice = ValueType::Data(1, vec![ValueType::Tuple(vec![parameter.clone(), parameter.clone()])]);
        let constructor = |name: &str, fields| Constructor { name: name.to_owned(), fields };
        let ty = |name: &str, constructors| DataType { name: name.to_owned(), constructors };
        vec![
            ty("List", vec![constructor("Nil", vec![]), constructor("Cons", vec![parameter, list])]),
            ty("Phantom", vec![constructor("End", vec![]), constructor("More", vec![twice])]),
        ]
    }

    fn rows(n: usize) -> ValueTree {
        ValueTree::tensor(Tensor::zeros(DType::F32, &[n, 2]).unwrap())
    }

    fn list(elements: impl DoubleEndedIterator<Item = ValueTree>) -> ValueTree {
        let nil = ValueTree::data("Nil", vec![]);
        elements.rev().fold(nil, |list, element| ValueTree::data("Cons", vec![element, list]))
    }

    fn said(ty: ValueType, value: ValueTree) -> String {
        let inputs = [("x".to_owned(), ty)];
        let ranges = [("n".to_owned(), Range { least: 2, most: 8, multiple: 2 })];
        check_inputs(&data(), &inputs, &ranges, &[value])
            .map_or_else(|why| why.to_string(), |found| format!("{found:?}"))
    }

    fn list_of_rows() -> ValueType {
        let rows = TensorType::new(vec![Dim::Symbol("n".to_owned()), Dim::Static(2)], DType::F32);
        ValueType::Data(0, vec![ValueType::Tensor(rows)])
    }

    #[test]
    fn constructors_are_found_by_the_type() {
        assert_eq!(said(list_of_rows(), list([rows(3), rows(3)].into_iter())), "[[(0, 1), (0, 1), (0, 0)]]");
    }

    #[test]
    fn parts_of_data_have_types() {
        let lists = list([list([rows(1)].into_iter())].into_iter());
        let wrong = said(list_of_rows(), lists);
        assert!(wrong.ends_with("List[tensor<nx2xf32>]: expected tensor<nx2xf32>, found Cons"), "{wrong}");
        let wrong = said(list_of_rows(), list([rows(1), rows(2)].into_iter()));
        assert!(wrong.ends_with("expected a tensor<nx2xf32> with n = 1, found a tensor<2x2xf32>"), "{wrong}");
    }

    #[test]
    fn sizes_are_in_their_ranges() {
        let of_rows =
            ValueType::Tensor(TensorType::new(vec![Dim::Symbol("n".to_owned()), Dim::Static(2)], DType::F32));
        assert_eq!(said(of_rows.clone(), rows(8)), "[[]]");
        let wrong = "input \"x\" of the program has 5 along axis 0, which must be from 2 to 8 and a multiple of 2 (n)";
        assert_eq!(said(of_rows.clone(), rows(5)), wrong);
        assert!(said(of_rows, rows(10)).contains("has 10 along axis 0"));
    }

    #[test]
    fn types_that_double_do_not_grow() {
        let phantom = ValueType::Data(1, vec![list_of_rows()]);
        let deep = |n| (0..n).fold(ValueTree::data("End", vec![]), |x, _| ValueTree::data("More", vec![x]));
        assert!(said(phantom.clone(), deep(1000)).starts_with("[[(1, 1), "));
        assert!(said(phantom, deep(5000)).ends_with("its types are nested more than 4096 deep"));
    }
}
