//! Values of the language from text: what programs print is read back, and numbers as programs write them.
//!
//! ```text
//!   Cons(1f, Cons(tensor<2xf32> [1.0, 2.5], Nil))   (1, True)   ref(0i64)   -inff
//! ```
//! A list of a million elements is read by a loop: what is open waits on a list of its own.

use crate::strings::quoted::quoted;
use crate::{DType, Item, Tensor, ValueTree};

/// Why a text is no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{column}: {message}")]
pub struct ValueTextError {
    /// The place of the character, from 1.
    pub column: usize,
    /// A full sentence's part.
    pub message: String,
}

impl ValueTree {
    /// Reads a value.
    pub fn parse(text: &str) -> Result<ValueTree, ValueTextError> {
        let mut reader = Reader { text, at: 0 };
        let value = reader.value()?;
        match reader.peek() {
            None => Ok(value),
            Some(c) => reader.wrong(format!("the value ends before {c:?}")),
        }
    }
}

/// Element types by what stands behind numbers.
const SUFFIXES: &[(&str, DType)] = &[
    ("f", DType::F32),
    ("f16", DType::F16),
    ("f32", DType::F32),
    ("f64", DType::F64),
    ("bf16", DType::BF16),
    ("i8", DType::I8),
    ("i16", DType::I16),
    ("i32", DType::I32),
    ("i64", DType::I64),
    ("u8", DType::U8),
    ("u16", DType::U16),
    ("u32", DType::U32),
    ("u64", DType::U64),
];

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

type Read<T> = Result<T, ValueTextError>;

impl<'a> Reader<'a> {
    fn wrong<T>(&self, message: impl Into<String>) -> Read<T> {
        self.wrong_at(self.at, message)
    }

    fn wrong_at<T>(&self, at: usize, message: impl Into<String>) -> Read<T> {
        let column = self.text[..at].chars().count() + 1;
        Err(ValueTextError { column, message: message.into() })
    }

    /// The next character that is no blank.
    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += if found { wanted.len_utf8() } else { 0 };
        found
    }

    fn expect(&mut self, wanted: char) -> Read<()> {
        match self.eat(wanted) {
            true => Ok(()),
            false => {
                let found = self.peek().map_or("the end".to_owned(), |c| format!("{c:?}"));
                self.wrong(format!("expected {wanted:?}, found {found}"))
            }
        }
    }

    /// Characters of words and numbers.
    fn word(&mut self, more: &[char]) -> &'a str {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$' || more.contains(&c)));
        let word = &rest[..end.unwrap_or(rest.len())];
        self.at += word.len();
        word
    }

    fn value(&mut self) -> Read<ValueTree> {
        let mut items: Vec<Item> = Vec::new();
        // Values that are open: where their item is, and how many parts they have so far.
        let mut open: Vec<(usize, usize)> = Vec::new();
        loop {
            if self.one(&mut items, &mut open)? {
                continue;
            }
            // A value has ended.
            loop {
                let Some((place, parts)) = open.last_mut() else { return Ok(ValueTree { items }) };
                let place = *place;
                *parts += 1;
                let parts = *parts;
                let comma = self.eat(',');
                if comma && self.peek() != Some(')') {
                    break;
                }
                self.expect(')')?;
                open.pop();
                match &mut items[place] {
                    // Parentheses around a value.
                    Item::Tuple(_) if parts == 1 && !comma => {
                        items.remove(place);
                    }
                    Item::Tuple(count) | Item::Data(_, count) => *count = parts,
                    _ if parts != 1 => return self.wrong("a cell holds one value"),
                    _ => {}
                }
            }
        }
    }

    /// Reads the beginning of a value; true when parts of it follow.
    fn one(&mut self, items: &mut Vec<Item>, open: &mut Vec<(usize, usize)>) -> Read<bool> {
        let Some(first) = self.peek() else { return self.wrong("a value is expected") };
        let start = self.at;
        if first == '(' {
            self.at += 1;
            items.push(Item::Tuple(0));
            return Ok(self.begin(items, open));
        }
        if first.is_ascii_digit() || first == '-' {
            items.push(Item::Tensor(self.number()?));
            return Ok(false);
        }
        let word = self.word(&[]);
        match word {
            "" => self.wrong(format!("a value does not begin with {first:?}")),
            "tensor" if self.eat('<') => {
                items.push(Item::Tensor(self.tensor()?));
                Ok(false)
            }
            "ref" if self.peek() == Some('(') => {
                self.at += 1;
                items.push(Item::Cell);
                open.push((items.len() - 1, 0));
                Ok(true)
            }
            "True" | "False" | "true" | "false" => {
                let value = word.eq_ignore_ascii_case("true");
                items.push(Item::Tensor(self.scalar(DType::Bool, f64::from(u8::from(value)), start)?));
                Ok(false)
            }
            _ if word.starts_with("inff") || word.starts_with("nanf") => {
                self.at = start;
                items.push(Item::Tensor(self.number()?));
                Ok(false)
            }
            _ => {
                items.push(Item::Data(word.to_owned(), 0));
                let has_fields = self.eat('(');
                Ok(has_fields && self.begin(items, open))
            }
        }
    }

    /// After a bracket: true when something is inside.
    fn begin(&mut self, items: &[Item], open: &mut Vec<(usize, usize)>) -> bool {
        let empty = self.eat(')');
        if !empty {
            open.push((items.len() - 1, 0));
        }
        !empty
    }

    fn scalar(&self, ty: DType, value: f64, start: usize) -> Read<Tensor> {
        Tensor::from_f64s(ty, &[], &[value]).or_else(|error| self.wrong_at(start, error.to_string()))
    }

    /// A number with its suffix.
    fn number(&mut self) -> Read<Tensor> {
        let start = self.at;
        let negative = self.eat('-');
        let rest = &self.text[self.at..];
        if let Some(name) = ["inf", "nan"].into_iter().find(|name| rest.starts_with(name)) {
            self.at += 3;
            let suffix = self.word(&[]);
            let Some((_, ty)) = SUFFIXES.iter().find(|(s, ty)| *s == suffix && ty.is_float()) else {
                return self.wrong_at(start, format!("{name}{suffix} is no number; write {name}f"));
            };
            let value = if name == "inf" { f64::INFINITY } else { f64::NAN };
            return self.scalar(*ty, if negative { -value } else { value }, start);
        }
        let bytes = rest.as_bytes();
        let digits = |from: usize| from + bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
        let mut end = digits(0);
        if bytes.get(end) == Some(&b'.') {
            end = digits(end + 1);
        }
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'-' | b'+')));
        if matches!(bytes.get(end), Some(b'e' | b'E')) && digits(end + 1 + sign) > end + 1 + sign {
            end = digits(end + 1 + sign);
        }
        let number = &rest[..end];
        self.at += end;
        let suffix = self.word(&[]);
        let whole = !number.contains(['.', 'e', 'E']);
        let value: i128 = number.parse().unwrap_or_default();
        let value = if negative { -value } else { value };
        let ty = match SUFFIXES.iter().find(|(s, _)| *s == suffix) {
            Some((_, ty)) => *ty,
            None if !suffix.is_empty() => {
                return self.wrong_at(
                    start,
                    format!("{suffix:?} is no suffix of a number; f, f64, i64, u8, ... are"),
                );
            }
            None if !whole => DType::F32,
            None if i32::try_from(value).is_ok() => DType::I32,
            None => DType::I64,
        };
        self.element(&self.text[start..self.at - suffix.len()], ty, start).and_then(|bytes| {
            Tensor::from_bytes(ty, &[], bytes).or_else(|e| self.wrong_at(start, e.to_string()))
        })
    }

    /// The bytes of an element.
    fn element(&self, word: &str, ty: DType, start: usize) -> Read<Vec<u8>> {
        let wrong = || {
            self.wrong_at(
                start,
                if word.is_empty() {
                    format!("expected a number of type {ty}")
                } else {
                    format!("{word} is no number of type {ty}")
                },
            )
        };
        let mut bytes = Vec::new();
        if ty == DType::Bool {
            match word {
                "true" | "True" => bytes.push(1),
                "false" | "False" => bytes.push(0),
                _ => return wrong(),
            }
        } else if ty.is_float() {
            let Ok(value) = word.parse::<f64>() else { return wrong() };
            // By way of f64, a number halfway between two of f32 could go to the wrong one.
            match (ty, word.parse::<f32>()) {
                (DType::F32, Ok(value)) => bytes.extend(value.to_ne_bytes()),
                _ => crate::tensor::push_f64(&mut bytes, ty, value),
            }
        } else {
            let Ok(value) = word.parse::<i128>() else { return wrong() };
            crate::tensor::push_int(&mut bytes, ty, value);
            let back = Tensor::from_bytes(ty, &[], bytes.clone()).map(|tensor| tensor.int_at(0));
            if back != Ok(value) {
                return self.wrong_at(start, format!("{word} is out of the range of {ty}"));
            }
        }
        Ok(bytes)
    }

    /// A string in quotes, with Rust's escapes.
    fn string(&mut self) -> Read<String> {
        let start = self.at;
        if self.text[start..].starts_with("...") {
            return self.wrong_at(start, "elements are left out here, so the tensor cannot be read");
        }
        self.expect('"')?;
        match quoted(&self.text[self.at..]) {
            Ok((string, bytes)) => {
                self.at += bytes;
                Ok(string)
            }
            Err((place, why)) => self.wrong_at(self.at + place, why),
        }
    }

    /// A tensor behind `tensor<`.
    fn tensor(&mut self) -> Read<Tensor> {
        let start = self.at;
        let spelled = self.word(&['?', '!', '.']);
        let mut parts: Vec<&str> = spelled.split('x').collect();
        let ty = parts.pop().and_then(|last| last.parse::<DType>().ok());
        let shape: Option<Vec<usize>> = parts.into_iter().map(|part| part.parse().ok()).collect();
        let (Some(ty), Some(shape)) = (ty, shape) else {
            return self
                .wrong_at(start, format!("{spelled:?} is no type of a tensor of known extents; 2x3xf32 is"));
        };
        self.expect('>')?;
        let count = shape.iter().try_fold(1usize, |count, &extent| count.checked_mul(extent));
        let (mut bytes, mut strings) = (Vec::new(), Vec::new());
        if count == Some(0) {
            self.expect('[')?;
            self.expect(']')?;
        } else if ty == DType::String {
            self.elements(&shape, |reader| {
                strings.push(reader.string()?);
                Ok(())
            })?;
        } else {
            self.elements(&shape, |reader| {
                let start = reader.at;
                let word = reader.word(&['.', '-', '+']);
                if word.starts_with("...") {
                    return reader
                        .wrong_at(start, "elements are left out here, so the tensor cannot be read");
                }
                bytes.extend(reader.element(word, ty, start)?);
                Ok(())
            })?;
        }
        let made = match ty {
            DType::String => Tensor::from_strings(&shape, &strings),
            _ => Tensor::from_bytes(ty, &shape, bytes),
        };
        made.or_else(|error| self.wrong_at(start, error.to_string()))
    }

    fn elements(&mut self, shape: &[usize], mut element: impl FnMut(&mut Self) -> Read<()>) -> Read<()> {
        // How many elements of each axis are read; the length is how many brackets are open.
        let mut read: Vec<usize> = Vec::new();
        loop {
            while read.len() < shape.len() {
                self.expect('[')?;
                read.push(0);
            }
            self.peek();
            element(self)?;
            loop {
                let Some(count) = read.last_mut() else { return Ok(()) };
                *count += 1;
                if *count < shape[read.len() - 1] {
                    self.expect(',')?;
                    break;
                }
                self.expect(']')?;
                read.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        match ValueTree::parse(text) {
            Ok(value) => value.to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn what_is_printed_is_read_back() {
        for text in [
            "tensor<f32> 1.5",
            "tensor<2x2xi8> [[1, -2], [3, 4]]",
            "tensor<3xf64> [NaN, inf, -inf]",
            "tensor<i1> true",
            "tensor<0x3xf32> []",
            "tensor<bf16> 0.1",
            "tensor<!relay.string> \"\"",
            "(tensor<2x2x!relay.string> [[\"a b\", \"\\\"\\\\\"], [\"é\\n\", \"\\u{200b}...\"]], tensor<0x!relay.string> [])",
            "Cons(tensor<f32> 1e-7, Cons(tensor<f32> 0.1, Nil))",
            "(tensor<i1> false, (), (Nil,), ref(tensor<ui64> 18446744073709551615))",
        ] {
            assert_eq!(read(text), text);
        }
    }

    #[test]
    fn numbers_are_those_of_programs() {
        let text = "(1, 2.5, -3f64, 4i64, 3000000000, True, inff, 1e3f16, (7), Nil())";
        let expected = "(tensor<i32> 1, tensor<f32> 2.5, tensor<f64> -3.0, tensor<i64> 4, tensor<i64> 3000000000, \
                        tensor<i1> true, tensor<f32> inf, tensor<f16> 1000.0, tensor<i32> 7, Nil)";
        assert_eq!(read(text), expected);
    }

    #[test]
    fn long_lists_are_read() {
        let list = format!("{}Nil{}", "Cons(1, ".repeat(100_000), ")".repeat(100_000));
        assert_eq!(ValueTree::parse(&list).unwrap().items.len(), 200_001);
    }

    #[test]
    fn errors_name_the_column() {
        assert_eq!(read("Cons(1, "), "9: a value is expected");
        assert_eq!(read("Cons(1"), "7: expected ')', found the end");
        assert_eq!(read("(1, 300u8)"), "5: 300 is out of the range of ui8");
        assert_eq!(read("1 2"), "3: the value ends before '2'");
        assert_eq!(read("1q"), "1: \"q\" is no suffix of a number; f, f64, i64, u8, ... are");
        assert_eq!(read("tensor<2xf32> [1.0]"), "19: expected ',', found ']'");
        assert_eq!(
            read("tensor<?xf32> [1.0]"),
            "8: \"?xf32\" is no type of a tensor of known extents; 2x3xf32 is"
        );
        assert_eq!(
            read("tensor<9xi8> [0, ..., 0]"),
            "18: elements are left out here, so the tensor cannot be read"
        );
        assert_eq!(read("tensor<!relay.string> \"a"), "25: the string has no end; write a quote");
        assert!(read("tensor<1x!relay.string> [\"\\q\"]").starts_with("27: a backslash begins"));
        assert_eq!(read("%x"), "1: a value does not begin with '%'");
    }
}
