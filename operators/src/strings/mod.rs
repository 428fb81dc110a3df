//! Tensors of strings.
//!
//! An element is the number of a string, of 64 bits, in a list that the tensor has. Each string stands there once, in the order in which
//! elements have them:
//!
//! ```text
//!   ["b", "a", "b"]   =   0 1 0   of   ["b", "a"]
//! ```
//!
//! So equal tensors have equal bytes and equal lists, and what moves elements moves numbers. Where several tensors meet, all are numbered
//! by one list before ([`unified`]): equal strings are then equal numbers. A running program has such a list of its own, a
//! [`Dictionary`], that begins with the strings of its constants.

pub mod pattern;
pub mod quoted;

use crate::{DType, Tensor, TensorError};
use indexmap::IndexSet;
use std::sync::Arc;

/// Strings, each once, by their numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dictionary {
    strings: IndexSet<Arc<str>>,
    bytes: usize,
}

/// What a string takes besides its bytes, about.
const EACH: usize = 64;

impl Dictionary {
    /// One that begins with these strings.
    pub fn of<'a>(strings: impl IntoIterator<Item = &'a str>) -> Dictionary {
        let mut dictionary = Dictionary::default();
        for string in strings {
            dictionary.number(string);
        }
        dictionary
    }

    /// The number of a string, which is added where it is new.
    pub fn number(&mut self, string: &str) -> u64 {
        match self.strings.get_index_of(string) {
            Some(known) => known as u64,
            None => self.add(string.into()),
        }
    }

    fn number_of(&mut self, string: &Arc<str>) -> u64 {
        match self.strings.get_index_of(string) {
            Some(known) => known as u64,
            None => self.add(string.clone()),
        }
    }

    fn add(&mut self, string: Arc<str>) -> u64 {
        self.bytes += string.len() + EACH;
        self.strings.insert_full(string).0 as u64
    }

    /// The strings, by number.
    pub fn strings(&self) -> Arc<[Arc<str>]> {
        self.strings.iter().cloned().collect()
    }

    /// How many strings there are.
    pub fn len(&self) -> usize {
        self.strings.len()
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.strings.is_empty()
    }

    /// The memory that the strings take, about.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Forgets all strings but the first ones.
    pub fn truncate(&mut self, count: usize) {
        self.bytes -= self.strings.iter().skip(count).map(|string| string.len() + EACH).sum::<usize>();
        self.strings.truncate(count);
    }

    /// The numbers of a tensor's elements here; those that are new are added.
    pub fn numbers(&mut self, tensor: &Tensor) -> Vec<u64> {
        let own: Vec<u64> = match &tensor.strings {
            Some(strings) => strings.iter().map(|string| self.number_of(string)).collect(),
            None => Vec::new(),
        };
        let mut number = |place: u64| match own.get(place as usize) {
            Some(number) => *number,
            None => self.number(""),
        };
        tensor.places().map(&mut number).collect()
    }

    /// The tensor whose elements have these numbers.
    pub fn tensor(&self, shape: &[usize], numbers: &[u64]) -> Result<Tensor, TensorError> {
        let mut list = Dictionary::default();
        let mut places = vec![None; if numbers.is_empty() { 0 } else { self.len() }];
        let own: Vec<u64> = numbers
            .iter()
            .map(|&number| match (places.get_mut(number as usize), self.strings.get_index(number as usize)) {
                (Some(place), Some(string)) => *place.get_or_insert_with(|| list.number_of(string)),
                _ => list.number(""),
            })
            .collect();
        let mut tensor = Tensor::from_bytes(DType::String, shape, bytemuck::cast_slice::<u64, u8>(&own))?;
        tensor.strings = Some(list.strings());
        Ok(tensor)
    }
}

impl Tensor {
    /// A tensor of strings.
    pub fn from_strings<S: AsRef<str>>(shape: &[usize], strings: &[S]) -> Result<Tensor, TensorError> {
        let mut list = Dictionary::default();
        let numbers: Vec<u64> = strings.iter().map(|string| list.number(string.as_ref())).collect();
        let mut tensor = Tensor::from_bytes(DType::String, shape, bytemuck::cast_slice::<u64, u8>(&numbers))?;
        tensor.strings = Some(list.strings());
        Ok(tensor)
    }

    /// The elements of a tensor of strings.
    pub fn strings(&self) -> impl Iterator<Item = &str> {
        self.places().map(|place| self.string(place))
    }

    /// Element at a flat index. Panics when the index is out of range.
    pub fn string_at(&self, index: usize) -> &str {
        self.string(self.int_at(index) as u64)
    }

    fn string(&self, place: u64) -> &str {
        let strings = self.strings.as_deref().unwrap_or_default();
        strings.get(place as usize).map_or("", |string| string)
    }

    fn places(&self) -> impl Iterator<Item = u64> {
        let count = if self.dtype() == DType::String { self.len() } else { 0 };
        let (places, _) = self.bytes().as_chunks::<8>();
        places.iter().take(count).map(|bytes| u64::from_ne_bytes(*bytes))
    }

    /// Says what the elements of a tensor of strings are numbers of, where that is not said yet.
    pub(crate) fn numbered_by(self, list: &Dictionary) -> Tensor {
        if self.dtype() != DType::String || self.strings.is_some() {
            return self;
        }
        let numbers: Vec<u64> = self.places().collect();
        let shape = self.shape().to_vec();
        list.tensor(&shape, &numbers).unwrap_or(self)
    }
}

/// Tensors whose strings are numbered by one list, and the list; `None` where none is a tensor of strings.
pub(crate) fn unified(tensors: &[Tensor]) -> Option<(Vec<Tensor>, Dictionary)> {
    tensors.iter().find(|tensor| tensor.dtype() == DType::String)?;
    let mut list = Dictionary::default();
    let mut numbers = Vec::with_capacity(tensors.len());
    for tensor in tensors {
        numbers.push(list.numbers(tensor));
    }
    let strings = list.strings();
    let renumbered = |(tensor, numbers): (&Tensor, Vec<u64>)| {
        let mut tensor = tensor.clone();
        if tensor.dtype() == DType::String {
            tensor.bytes_mut().copy_from_slice(bytemuck::cast_slice::<u64, u8>(&numbers));
            tensor.strings = Some(strings.clone());
        }
        tensor
    };
    Some((tensors.iter().zip(numbers).map(renumbered).collect(), list))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Attrs;
    use crate::ops::{elementwise, shape};
    use crate::reference::evaluate;

    fn of(strings: &[&str]) -> Tensor {
        Tensor::from_strings(&[strings.len()], strings).unwrap()
    }

    #[test]
    fn equal_tensors_are_equal_however_they_were_made() {
        let whole = of(&["b", "", "b"]);
        let (mut halves, axis) = (vec![of(&["b"]), of(&["", "b"])], Attrs::new().with("axis", 0));
        assert_eq!(evaluate(&shape::CONCAT, &axis, &halves).unwrap(), std::slice::from_ref(&whole));
        halves.swap(0, 1);
        assert_ne!(evaluate(&shape::CONCAT, &axis, &halves).unwrap(), std::slice::from_ref(&whole));
        assert_eq!(whole.strings().collect::<Vec<_>>(), ["b", "", "b"]);
    }

    #[test]
    fn strings_of_several_tensors_are_compared_by_their_text() {
        let found = evaluate(&elementwise::EQUAL, &Attrs::new(), &[of(&["x", "é", ""]), of(&["é", "é", ""])]);
        assert_eq!(found.unwrap()[0].to_ints(), [0, 1, 1]);
    }

    #[test]
    fn what_is_no_operator_on_strings_refuses_them() {
        let why =
            evaluate(&elementwise::ADD, &Attrs::new(), &[of(&["x"]), of(&["y"])]).unwrap_err().to_string();
        assert!(why.contains("relay.add takes no strings"), "{why}");
        let cast = Attrs::new().with("dtype", DType::String);
        let why =
            evaluate(&elementwise::CAST, &cast, &[Tensor::from_slice(&[1], &[1i64]).unwrap()]).unwrap_err();
        assert!(why.to_string().contains("write relay.string_of"), "{why}");
    }

    #[test]
    fn a_dictionary_forgets_what_came_last() {
        let mut dictionary = Dictionary::of(["a", "b", "a"]);
        let before = dictionary.clone();
        assert_eq!(dictionary.numbers(&of(&["c", "b"])), [2, 1]);
        assert_eq!(dictionary.tensor(&[3], &[2, 2, 0]).unwrap(), of(&["c", "c", "a"]));
        dictionary.truncate(2);
        assert_eq!(dictionary, before);
    }
}
