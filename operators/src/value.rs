//! Values of the language as data: what every way to run a program gives, prints and is compared by.
//!
//! ```text
//!   Cons(1.5, Nil)   =   [ Data "Cons" 2 | Tensor 1.5 | Data "Nil" 0 ]
//! ```
//! A value is a list of items, each before its parts, so that a list of a million elements is made, printed, compared
//! and freed by loops. Functions have no parts that can be seen. `docs/reference/relay-values.md` is the grammar of the text.

use crate::dtype::Class;
use crate::{DType, Tensor, narrow};
use std::fmt;

/// A part of a value, before its own parts.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A tensor.
    Tensor(Tensor),
    /// A tuple of that many parts.
    Tuple(usize),
    /// A constructor's name and how many fields it has.
    Data(String, usize),
    /// A cell, of one part.
    Cell,
    /// A function.
    Function,
    /// A cell that this one is inside of, or more than can be shown.
    More,
}

/// A value, as a list of items.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValueTree {
    /// The items, each before its parts.
    pub items: Vec<Item>,
}

/// Where two values part.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct Difference(pub String);

/// Tensors with more elements are shown by their ends.
const MOST_SHOWN: usize = 1000;
/// How many elements are shown at either end.
const ENDS: usize = 3;

impl Item {
    /// How many parts follow.
    pub fn parts(&self) -> usize {
        match self {
            Item::Tuple(parts) | Item::Data(_, parts) => *parts,
            Item::Cell => 1,
            Item::Tensor(_) | Item::Function | Item::More => 0,
        }
    }

    /// What it is, without its parts.
    pub fn what(&self) -> String {
        match self {
            Item::Tensor(tensor) => tensor.tensor_type().to_string(),
            Item::Tuple(parts) => format!("a tuple of {parts}"),
            Item::Data(name, _) => name.clone(),
            Item::Cell => "a cell".into(),
            Item::Function => "a function".into(),
            Item::More => "...".into(),
        }
    }
}

impl ValueTree {
    /// A value that is a tensor.
    pub fn tensor(tensor: Tensor) -> Self {
        ValueTree { items: vec![Item::Tensor(tensor)] }
    }

    /// A tuple of values.
    pub fn tuple(parts: Vec<ValueTree>) -> Self {
        ValueTree::node(Item::Tuple(parts.len()), parts)
    }

    /// A constructor of values.
    pub fn data(name: &str, fields: Vec<ValueTree>) -> Self {
        ValueTree::node(Item::Data(name.to_owned(), fields.len()), fields)
    }

    fn node(item: Item, parts: Vec<ValueTree>) -> Self {
        let mut items = vec![item];
        items.extend(parts.into_iter().flat_map(|part| part.items));
        ValueTree { items }
    }

    /// The tensor, where the value is one.
    pub fn as_tensor(&self) -> Option<&Tensor> {
        match &self.items[..] {
            [Item::Tensor(tensor)] => Some(tensor),
            _ => None,
        }
    }

    /// Compares with what was found. Floats may differ by `tolerance`, relative to the largest of their tensor or 1; all else is equal.
    pub fn same(&self, found: &ValueTree, tolerance: f64) -> Result<(), Difference> {
        let longest = self.items.len().max(found.items.len());
        for at in 0..longest {
            let (was, is) = (self.items.get(at), found.items.get(at));
            let same = match (was, is) {
                (Some(Item::Tensor(was)), Some(Item::Tensor(is))) => same_tensors(was, is, tolerance),
                (was, is) => was == is,
            };
            if !same {
                let what = |item: Option<&Item>| match item {
                    Some(Item::Tensor(tensor)) => tensor_text(tensor),
                    Some(item) => item.what(),
                    None => "nothing".into(),
                };
                return Err(Difference(format!("part {at} is {}, expected {}", what(is), what(was))));
            }
        }
        Ok(())
    }
}

fn same_tensors(was: &Tensor, is: &Tensor, tolerance: f64) -> bool {
    if was.dtype() != is.dtype() || was.shape() != is.shape() {
        return false;
    }
    if !was.dtype().is_float() {
        return was == is;
    }
    let largest = was.to_f64s().into_iter().map(f64::abs).filter(|x| x.is_finite()).fold(1.0, f64::max);
    was.to_f64s()
        .into_iter()
        .zip(is.to_f64s())
        .all(|(a, b)| a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= tolerance * largest)
}

impl fmt::Display for ValueTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // For each value around: the parts it still lacks, how many it has, and what ends it.
        let mut around: Vec<(usize, usize, &str)> = Vec::new();
        for item in &self.items {
            if let Some((left, all, _)) = around.last_mut() {
                if left != all {
                    f.write_str(", ")?;
                }
                *left -= 1;
            }
            let parts = item.parts();
            match item {
                Item::Tensor(tensor) => f.write_str(&tensor_text(tensor))?,
                Item::Tuple(_) => f.write_str("(")?,
                Item::Data(name, _) => f.write_str(name)?,
                Item::Cell => f.write_str("ref(")?,
                Item::Function => f.write_str("<function>")?,
                Item::More => f.write_str("...")?,
            }
            let end = match item {
                Item::Tuple(1) => ",)",
                Item::Tuple(_) | Item::Cell => ")",
                Item::Data(_, 1..) => {
                    f.write_str("(")?;
                    ")"
                }
                _ => "",
            };
            around.push((parts, parts, end));
            while let Some((0, _, end)) = around.last() {
                f.write_str(end)?;
                around.pop();
            }
        }
        Ok(())
    }
}

/// The type of a tensor, and its elements: `tensor<2xf32> [1.0, 2.5]`.
pub fn tensor_text(tensor: &Tensor) -> String {
    shown(tensor, tensor.len() > MOST_SHOWN)
}

/// The same with all elements, however many there are.
pub fn whole_text(tensor: &Tensor) -> String {
    shown(tensor, false)
}

fn shown(tensor: &Tensor, shortened: bool) -> String {
    let mut text = format!("{} ", tensor.tensor_type());
    if tensor.is_empty() {
        text.push_str("[]");
        return text;
    }
    elements(tensor, 0, 0, shortened, &mut text);
    text
}

fn elements(tensor: &Tensor, axis: usize, first: usize, shortened: bool, text: &mut String) {
    let Some(&extent) = tensor.shape().get(axis) else {
        text.push_str(&element(tensor, first));
        return;
    };
    let step: usize = tensor.shape()[axis + 1..].iter().product();
    text.push('[');
    for index in 0..extent {
        if shortened && extent > 2 * ENDS && (ENDS..extent - ENDS).contains(&index) {
            if index == ENDS {
                text.push_str(", ...");
            }
            continue;
        }
        if index > 0 {
            text.push_str(", ");
        }
        elements(tensor, axis + 1, first + index * step, shortened, text);
    }
    text.push(']');
}

/// An element: a string in quotes, floats by the fewest digits that give them back in their type.
fn element(tensor: &Tensor, at: usize) -> String {
    let number = tensor.f64_at(at);
    match (tensor.dtype(), tensor.dtype().class()) {
        (_, Class::String) => format!("{:?}", tensor.string_at(at)),
        (_, Class::Bool) => (tensor.int_at(at) != 0).to_string(),
        (_, Class::Signed | Class::Unsigned) => tensor.int_at(at).to_string(),
        (DType::F64, _) => format!("{number:?}"),
        (DType::F16, _) => short(number, |x| narrow::to_f16(x).to_f64()),
        (DType::BF16, _) => short(number, |x| narrow::to_bf16(x).to_f64()),
        _ => format!("{:?}", number as f32),
    }
}

fn short(number: f64, rounded: impl Fn(f64) -> f64) -> String {
    let tries = (1..10).filter_map(|digits| format!("{number:.*e}", digits - 1).parse::<f64>().ok());
    let found = tries.into_iter().find(|x| rounded(*x) == number).unwrap_or(number);
    format!("{found:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scalar(x: f64) -> ValueTree {
        ValueTree::tensor(Tensor::from_f64s(DType::F32, &[], &[x]).unwrap())
    }

    #[test]
    fn values_print_in_the_syntax_of_the_language() {
        let list = ValueTree::data("Cons", vec![scalar(1.5), ValueTree::data("Nil", vec![])]);
        assert_eq!(list.to_string(), "Cons(tensor<f32> 1.5, Nil)");
        let nested =
            ValueTree::tuple(vec![list, ValueTree::tuple(vec![]), ValueTree::tuple(vec![scalar(0.1)])]);
        assert_eq!(nested.to_string(), "(Cons(tensor<f32> 1.5, Nil), (), (tensor<f32> 0.1,))");
    }

    #[test]
    fn tensors_print_with_their_shape() {
        let ints = Tensor::from_ints(DType::I32, &[2, 2], &[1, -2, 3, 4]).unwrap();
        assert_eq!(tensor_text(&ints), "tensor<2x2xi32> [[1, -2], [3, 4]]");
        let halves = Tensor::from_f64s(DType::F16, &[2], &[0.1, f64::NAN]).unwrap();
        assert_eq!(tensor_text(&halves), "tensor<2xf16> [0.1, NaN]");
        let flags = Tensor::from_ints(DType::Bool, &[], &[1]).unwrap();
        assert_eq!(tensor_text(&flags), "tensor<i1> true");
        assert_eq!(tensor_text(&Tensor::zeros(DType::F32, &[0, 3]).unwrap()), "tensor<0x3xf32> []");
    }

    #[test]
    fn large_tensors_show_their_ends() {
        let text = tensor_text(&Tensor::zeros(DType::I8, &[2000]).unwrap());
        assert_eq!(text, "tensor<2000xi8> [0, 0, 0, ..., 0, 0, 0]");
    }

    #[test]
    fn long_values_need_no_stack() {
        let mut items = Vec::new();
        for i in 0..200_000 {
            items.push(Item::Data("Cons".into(), 2));
            items.push(Item::Tensor(Tensor::from_ints(DType::I32, &[], &[i]).unwrap()));
        }
        items.push(Item::Data("Nil".into(), 0));
        let list = ValueTree { items };
        assert!(list.to_string().ends_with(&")".repeat(200_000)));
        assert_eq!(list.same(&list.clone(), 0.0), Ok(()));
    }

    #[test]
    fn differences_are_told() {
        let error = scalar(1.0).same(&scalar(2.0), 1e-6).unwrap_err().to_string();
        assert_eq!(error, "part 0 is tensor<f32> 2.0, expected tensor<f32> 1.0");
        assert_eq!(scalar(1.0).same(&scalar(1.0 + 1e-7), 1e-6), Ok(()));
    }
}
