//! Extents: numbers, names, and expressions of names.

mod arithmetic;
mod polynomial;
mod text;

pub use polynomial::{Factor, Polynomial};

use std::fmt;

/// One extent of a shape.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub enum Dim {
    /// A known extent.
    Static(u64),
    /// A named extent: the same name is the same number everywhere in a function.
    Symbol(String),
    /// An expression of named extents that is no name and no number.
    Expr(Box<Polynomial>),
    /// Relay's `Any`: an extent known only at run time.
    Any,
}

impl Dim {
    /// The extent when it is known.
    pub fn known(&self) -> Option<u64> {
        match self {
            Dim::Static(n) => Some(*n),
            _ => None,
        }
    }

    /// True when the two extents can be equal at run time.
    pub fn compatible(&self, other: &Dim) -> bool {
        match (self, other) {
            (Dim::Static(a), Dim::Static(b)) => a == b,
            (Dim::Any, _) | (_, Dim::Any) => true,
            _ => {
                let difference = self.expression().zip(other.expression()).and_then(|(a, b)| a.minus(&b));
                difference.is_none_or(|d| d.as_number().is_none_or(|n| n == 0))
            }
        }
    }

    /// Whichever of two compatible extents says more.
    pub fn meet(&self, other: &Dim) -> Dim {
        match (self, other) {
            (Dim::Static(_), _) | (_, Dim::Any) => self.clone(),
            (_, Dim::Static(_)) | (Dim::Any, _) => other.clone(),
            _ => self.clone(),
        }
    }

    /// The extent that a text names: a number, `?`, a name or an expression. A text that is none of these is a name.
    pub fn of_text(text: &str) -> Dim {
        match text {
            "" | "?" => Dim::Any,
            _ => text::parse(text).map_or_else(|_| Dim::Symbol(text.to_owned()), Dim::of),
        }
    }

    /// The extent that a text in quotes names: an expression, or else a name, whatever it looks like.
    pub fn of_quoted(text: &str) -> Dim {
        match Dim::of_text(text) {
            expression @ Dim::Expr(_) => expression,
            _ => Dim::Symbol(text.to_owned()),
        }
    }
}

impl From<u64> for Dim {
    fn from(extent: u64) -> Self {
        Dim::Static(extent)
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dim::Static(n) => write!(f, "{n}"),
            Dim::Symbol(name) => f.write_str(name),
            Dim::Expr(expression) => write!(f, "{expression}"),
            Dim::Any => f.write_str("?"),
        }
    }
}

impl serde::Serialize for Polynomial {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Polynomial {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        text::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dim(text: &str) -> Dim {
        Dim::of_text(text)
    }

    #[test]
    fn equal_expressions_are_written_alike() {
        for (a, b) in [
            ("n+m", "m+n"),
            ("2*(n+3)-n-6", "n"),
            ("(n+7) floordiv 4", "1+(n+3) floordiv 4"),
            ("(4*n+8) floordiv 4", "n+2"),
            ("((n-1) floordiv 2) floordiv 3", "(n-1) floordiv 6"),
            ("(n*m+n) floordiv (m+1)", "n"),
            ("max(n, m)", "max(m, n)"),
            ("max(n+1, n)", "n+1"),
            ("min(n, n+m)", "n"),
            ("max(n, 0)", "n"),
            ("n-n", "0"),
        ] {
            assert_eq!(dim(a), dim(b), "{a} and {b}");
        }
    }

    #[test]
    fn text_is_read_as_it_is_written() {
        for text in
            ["4", "n", "2*n*m+n-3", "((n+5) floordiv 2)+1", "max(n-1, 0)", "-n+7", "(n floordiv (m+1))"]
        {
            let read = dim(text);
            assert_eq!(dim(&read.to_string()), read, "{text} is written {read}");
        }
    }

    #[test]
    fn what_differs_by_a_number_is_not_compatible() {
        assert!(dim("n").compatible(&dim("m")));
        assert!(dim("n").compatible(&Dim::Static(4)));
        assert!(!dim("n+1").compatible(&dim("n")));
    }

    #[test]
    fn numbers_that_are_too_large_are_not_known() {
        let large = dim("4611686018427387904*n");
        assert_eq!(large.times(&large), Dim::Any);
        // The quotient of the least number and -1 is none; it is left as it is written.
        let least = dim("-9223372036854775807*n-n");
        assert!(matches!(least.over(&dim("-n")), Dim::Expr(_)));
    }

    #[test]
    fn expressions_that_grow_without_end_are_not_known() {
        let square = |n: &Dim| n.times(n);
        assert_eq!((0..8).fold(dim("n"), |n, _| square(&n)), Dim::Any);
        // The deepest that there is can be read.
        let deeper = |n: &Dim| n.plus(&dim("m")).times(&dim("m")).over(&dim("k+1"));
        let mut all = vec![dim("n")];
        while all.len() < 100 && all[all.len() - 1] != Dim::Any {
            all.push(deeper(&all[all.len() - 1]));
        }
        let deepest = &all[all.len() - 2];
        assert_eq!(dim(&deepest.to_string()), *deepest);
        assert!(all.len() < 100);
    }
}
