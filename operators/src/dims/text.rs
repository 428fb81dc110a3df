//! Expressions of extents as text: `2*n*m+n-3`, `(n+5) floordiv 2` (or `//`), `max(n, m)`, `min(n, 4)`.

use super::polynomial::{Factor, Polynomial};
use std::fmt;

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Factor::Symbol(name) => f.write_str(name),
            Factor::Quotient(a, b) => write!(f, "({} floordiv {})", Operand(a), Operand(b)),
            Factor::Greatest(a, b) => write!(f, "max({a}, {b})"),
            Factor::Least(a, b) => write!(f, "min({a}, {b})"),
        }
    }
}

/// An expression beside `floordiv`: a sum or product there is in brackets.
struct Operand<'a>(&'a Polynomial);

impl fmt::Display for Operand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_number().is_some() || self.0.as_factor().is_some() {
            true => write!(f, "{}", self.0),
            false => write!(f, "({})", self.0),
        }
    }
}

impl fmt::Display for Polynomial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        // The constant comes last.
        for (n, factors) in self.terms().rev() {
            let mut parts: Vec<String> = Vec::new();
            for (factor, power) in factors {
                parts.extend((0..power).map(|_| factor.to_string()));
            }
            if n.unsigned_abs() != 1 || parts.is_empty() {
                parts.insert(0, n.unsigned_abs().to_string());
            }
            match (n < 0, first) {
                (true, _) => f.write_str("-")?,
                (false, false) => f.write_str("+")?,
                (false, true) => {}
            }
            f.write_str(&parts.join("*"))?;
            first = false;
        }
        if first { f.write_str("0") } else { Ok(()) }
    }
}

/// Deeper brackets than this are no extent; those of an expression at its deepest are fewer.
const MOST_DEPTH: usize = 64;

/// Reads an expression; an error says what was expected where.
pub fn parse(text: &str) -> Result<Polynomial, String> {
    let mut reader = Reader { text, rest: text, depth: 0 };
    let made = reader.sum()?;
    match reader.peek() {
        None => Ok(made),
        Some(c) => Err(reader.expected(&format!("an end, found {c:?}"))),
    }
}

struct Reader<'a> {
    text: &'a str,
    rest: &'a str,
    depth: usize,
}

impl Reader<'_> {
    fn expected(&self, what: &str) -> String {
        let at = self.text.len() - self.rest.len();
        format!("the extent {:?}: expected {what} at character {}", self.text, at + 1)
    }

    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn take(&mut self, token: &str) -> bool {
        self.peek();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn counted<T>(&self, value: Option<T>) -> Result<T, String> {
        value.ok_or_else(|| {
            format!("the extent {:?} is too large or too deep, or divides by what is not above 0", self.text)
        })
    }

    fn sum(&mut self) -> Result<Polynomial, String> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return Err(self.expected(&format!("at most {MOST_DEPTH} brackets in each other")));
        }
        let mut sum = if self.take("-") {
            let term = self.term()?;
            self.counted(Polynomial::number(0).minus(&term))?
        } else {
            self.term()?
        };
        loop {
            if self.take("+") {
                let term = self.term()?;
                sum = self.counted(sum.plus(&term))?;
            } else if self.take("-") {
                let term = self.term()?;
                sum = self.counted(sum.minus(&term))?;
            } else {
                self.depth -= 1;
                return Ok(sum);
            }
        }
    }

    fn term(&mut self) -> Result<Polynomial, String> {
        let mut product = self.atom()?;
        loop {
            if self.take("*") {
                let other = self.atom()?;
                product = self.counted(product.times(&other))?;
            } else if self.take("floordiv") || self.take("//") {
                let other = self.atom()?;
                product = self.counted(product.over(&other))?;
            } else {
                return Ok(product);
            }
        }
    }

    fn word(&mut self) -> &str {
        let end = self.rest.find(|c: char| !c.is_alphanumeric() && !"_.:$".contains(c));
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        word
    }

    fn atom(&mut self) -> Result<Polynomial, String> {
        match self.peek() {
            Some('(') => {
                self.take("(");
                let inner = self.sum()?;
                if self.take(")") { Ok(inner) } else { Err(self.expected("a closing bracket")) }
            }
            Some(c) if c.is_ascii_digit() => {
                let here = self.rest;
                let digits = here.find(|c: char| !c.is_ascii_digit()).unwrap_or(here.len());
                let number = here[..digits].parse().map_err(|_| self.expected("a number below 2^63"))?;
                self.rest = &here[digits..];
                Ok(Polynomial::number(number))
            }
            Some(c) if c.is_alphabetic() || c == '_' => {
                let word = self.word().to_owned();
                if !matches!(word.as_str(), "max" | "min") || !self.take("(") {
                    return Ok(Polynomial::symbol(&word));
                }
                let a = self.sum()?;
                if !self.take(",") {
                    return Err(self.expected("a comma"));
                }
                let b = self.sum()?;
                if !self.take(")") {
                    return Err(self.expected("a closing bracket"));
                }
                let made = if word == "max" { a.greatest(&b) } else { a.least(&b) };
                self.counted(made)
            }
            _ => Err(self.expected("a number, a name or a bracket")),
        }
    }
}
