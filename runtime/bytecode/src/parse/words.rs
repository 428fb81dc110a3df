//! The words of a line.

use super::{Numbers, Read, TextError};
use crate::Register;
use crate::text::is_plain;
use fusion_operators::{DType, Dim, TensorType};
use std::str::FromStr;

/// What is left of a line.
#[derive(Clone)]
pub struct Words<'a> {
    line: &'a str,
    number: usize,
    at: usize,
}

impl<'a> Words<'a> {
    /// A line and its number.
    pub fn new(line: &'a str, number: usize) -> Self {
        Words { line, number, at: 0 }
    }

    /// An error here.
    pub fn wrong<T>(&self, message: impl Into<String>) -> Read<T> {
        self.wrong_behind(0, message)
    }

    /// An error so many characters behind the next word.
    pub fn wrong_behind<T>(&self, characters: usize, message: impl Into<String>) -> Read<T> {
        let mut here = self.clone();
        here.skip();
        let column = self.line[..here.at].chars().count() + 1 + characters;
        Err(TextError { line: self.number, column, message: message.into() })
    }

    fn skip(&mut self) {
        let rest = &self.line[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    /// What is left.
    pub fn rest(&self) -> &'a str {
        self.line[self.at..].trim()
    }

    /// True when nothing but a comment is left.
    pub fn is_over(&self) -> bool {
        self.rest().is_empty() || self.rest().starts_with("//")
    }

    /// True for a line that belongs to the one before.
    pub fn is_indented(&self) -> bool {
        self.line.starts_with(char::is_whitespace)
    }

    pub fn begins_with(&self, text: &str) -> bool {
        self.rest().starts_with(text)
    }

    pub fn begins_with_digit(&self) -> bool {
        self.rest().starts_with(|c: char| c.is_ascii_digit())
    }

    /// Goes behind a text, when it is next.
    pub fn eat(&mut self, text: &str) -> bool {
        let found = self.begins_with(text);
        if found {
            self.skip();
            self.at += text.len();
        }
        found
    }

    pub fn expect(&mut self, text: &str) -> Read<()> {
        match self.eat(text) {
            true => Ok(()),
            false => self.wrong(format!("expected {text}, found {}", self.found())),
        }
    }

    /// What a message calls what is next.
    fn found(&self) -> String {
        let word: String = self.rest().chars().take_while(|c| !c.is_whitespace()).take(20).collect();
        if word.is_empty() { "the end of the line".to_owned() } else { word }
    }

    /// Nothing may follow.
    pub fn end(&self) -> Read<()> {
        if self.is_over() {
            Ok(())
        } else {
            self.wrong(format!("expected the end of the line, found {}", self.found()))
        }
    }

    /// A plain word, or nothing.
    pub fn word(&mut self) -> String {
        self.skip();
        let rest = &self.line[self.at..];
        let end = rest.find(|c| !is_plain(c)).unwrap_or(rest.len());
        self.at += end;
        rest[..end].to_owned()
    }

    pub fn number<T: FromStr>(&mut self) -> Read<T> {
        let start = self.clone();
        self.skip();
        let rest = &self.line[self.at..];
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        self.at += end;
        rest[..end].parse().or_else(|_| start.wrong(format!("expected a number, found {}", start.found())))
    }

    /// A word, or a text in quotes.
    pub fn name(&mut self) -> Read<String> {
        if self.begins_with("\"") {
            return self.quoted();
        }
        let start = self.clone();
        match self.word() {
            word if word.is_empty() => start.wrong(format!("expected a name, found {}", start.found())),
            word => Ok(word),
        }
    }

    /// A text in quotes, as Rust writes it.
    pub fn quoted(&mut self) -> Read<String> {
        let start = self.clone();
        self.expect("\"")?;
        let mut text = String::new();
        let mut rest = self.line[self.at..].char_indices();
        while let Some((_, c)) = rest.next() {
            let c = match c {
                '"' => {
                    self.at = self.line.len() - rest.as_str().len();
                    return Ok(text);
                }
                '\\' => match rest.next().map(|(_, c)| c) {
                    Some('n') => '\n',
                    Some('r') => '\r',
                    Some('t') => '\t',
                    Some('0') => '\0',
                    Some('u') => {
                        let code: String = rest.by_ref().map(|(_, c)| c).take_while(|c| *c != '}').collect();
                        let code = u32::from_str_radix(code.trim_start_matches('{'), 16).ok();
                        match code.and_then(char::from_u32) {
                            Some(c) => c,
                            None => {
                                return start.wrong("a text has \\u{...} with the number of no character");
                            }
                        }
                    }
                    Some(c @ ('"' | '\\' | '\'')) => c,
                    _ => return start.wrong("a text has a \\ that means nothing"),
                },
                c => c,
            };
            text.push(c);
        }
        start.wrong("a text has no end")
    }

    /// `NAME`, or `NAME#NUMBER`.
    fn numbered(&mut self) -> Read<(String, Option<u32>)> {
        let name = self.name()?;
        let number = if self.line[self.at..].starts_with('#') {
            self.at += 1;
            Some(self.number()?)
        } else {
            None
        };
        Ok((name, number))
    }

    /// `@NAME`, or `@NAME#NUMBER`.
    pub fn symbol(&mut self) -> Read<(String, Option<u32>)> {
        self.expect("@")?;
        self.numbered()
    }

    /// The number of what a symbol names.
    pub fn known(&mut self, numbers: &Numbers, what: &str) -> Read<u32> {
        self.expect("@")?;
        self.known_name(numbers, what)
    }

    pub fn known_name(&mut self, numbers: &Numbers, what: &str) -> Read<u32> {
        let start = self.clone();
        let name = self.numbered()?;
        match numbers.by_name.get(&name) {
            Some(number) => Ok(*number),
            None => start.wrong(format!("there is no {what} {:?}", name.0)),
        }
    }

    /// Things in brackets.
    pub fn list<T>(
        &mut self,
        open: char,
        close: char,
        mut one: impl FnMut(&mut Self) -> Read<T>,
    ) -> Read<Vec<T>> {
        self.expect(&open.to_string())?;
        let close = close.to_string();
        let mut found = Vec::new();
        if self.eat(&close) {
            return Ok(found);
        }
        loop {
            found.push(one(self)?);
            if self.eat(&close) {
                return Ok(found);
            }
            self.expect(",")?;
        }
    }

    /// `%4`
    pub fn register(&mut self) -> Read<Register> {
        self.expect("%")?;
        self.number()
    }

    /// `%4!`
    pub fn taken(&mut self) -> Read<Register> {
        let register = self.register()?;
        self.expect("!")?;
        Ok(register)
    }

    pub fn dtype(&mut self) -> Read<DType> {
        let start = self.clone();
        if self.eat(DType::String.mlir_name()) {
            return Ok(DType::String);
        }
        self.word().parse().or_else(|()| start.wrong(format!("{} is no element type", start.found())))
    }

    /// `tensor<nx3xf32>`
    pub fn tensor_type(&mut self) -> Read<TensorType> {
        self.expect("tensor<")?;
        let mut dims = Vec::new();
        loop {
            let start = self.clone();
            if self.eat("?x") {
                dims.push(Dim::Any);
                continue;
            }
            if self.begins_with("\"") {
                dims.push(Dim::of_quoted(&self.quoted()?));
                self.expect("x")?;
                continue;
            }
            self.skip();
            let rest = &self.line[self.at..];
            let word =
                &rest[..rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len())];
            // Names of extents have no x, unless they are in quotes.
            let Some((extent, _)) = word.split_once('x') else {
                let dtype = self.dtype()?;
                self.expect(">")?;
                return Ok(TensorType::new(dims, dtype));
            };
            dims.push(match extent.parse() {
                Ok(extent) => Dim::Static(extent),
                Err(_) if extent.starts_with(|c: char| c.is_ascii_digit()) || extent.is_empty() => {
                    return start.wrong(format!("{extent} is no extent"));
                }
                Err(_) => Dim::Symbol(extent.to_owned()),
            });
            self.at += extent.len() + 1;
        }
    }

    /// What stands behind `//`: a place in the source.
    pub fn comment(&mut self) -> Read<Option<String>> {
        if !self.eat("//") {
            self.end()?;
            return Ok(None);
        }
        if self.begins_with("\"") {
            let place = self.quoted()?;
            self.end()?;
            return Ok(Some(place));
        }
        Ok(Some(self.rest().to_owned()))
    }
}
