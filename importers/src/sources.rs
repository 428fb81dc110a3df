//! Texts that programs are read from, and errors with the line they are about:
//!
//! ```text
//!   mlp.relay:3:14: there is no operator nn.dens; did you mean nn.dense?
//!      3 |   let %y = nn.dens(%x, %w);
//!        |            ^^^^^^^
//! ```

use pest::error::{ErrorVariant, InputLocation};
use std::fmt;

/// A piece of a source file: which one, and from which byte to which.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    pub file: u32,
    pub start: u32,
    pub end: u32,
}

/// Why a text is no program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct TextError {
    /// The file.
    pub file: String,
    /// The line, from 1; 0 when the whole file is meant.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong: a sentence without its full stop.
    pub message: String,
    /// That line.
    pub source_line: String,
    /// How many characters of it are meant.
    pub width: usize,
}

/// Lines are shown up to this many characters.
const MOST_SHOWN: usize = 160;

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            return write!(f, "{}: {}", self.file, self.message);
        }
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)?;
        if self.column > MOST_SHOWN {
            return Ok(());
        }
        let shown: String = self.source_line.chars().take(MOST_SHOWN).collect();
        // Tabs stay under tabs, so that the caret stands under what is meant.
        let blank: String =
            shown.chars().take(self.column - 1).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let carets = self.width.clamp(1, MOST_SHOWN + 1 - self.column);
        write!(f, "\n{:>5} | {shown}\n      | {blank}{}", self.line, "^".repeat(carets))
    }
}

/// What is wrong with a piece of a source.
#[derive(Clone, Debug)]
pub struct Fault {
    pub span: Span,
    pub message: String,
}

impl Fault {
    /// A sentence about a piece of the source.
    pub fn new<T>(span: Span, message: impl Into<String>) -> Result<T, Box<Fault>> {
        Err(Fault::boxed(span, message))
    }

    pub fn boxed(span: Span, message: impl Into<String>) -> Box<Fault> {
        Box::new(Fault { span, message: message.into() })
    }
}

/// What was read, or why not.
pub type Outcome<T> = Result<T, Box<Fault>>;

/// Says what stands where a grammar expected something else. `called` gives what messages call a rule; `letters` are those of words, besides
/// letters and digits.
pub fn unexpected<R: pest::RuleType>(
    error: &pest::error::Error<R>,
    (text, file): (&str, u32),
    letters: &str,
    called: impl Fn(R) -> Option<&'static str>,
) -> Box<Fault> {
    let start = match error.location {
        InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
    };
    let rest = text.get(start..).unwrap_or_default();
    let is_letter = |c: &char| c.is_alphanumeric() || letters.contains(*c);
    let word: String = rest.chars().take_while(is_letter).take(40).collect();
    let found = match rest.chars().next() {
        None => "the end of the file".to_owned(),
        Some(c) if word.is_empty() => format!("'{c}'"),
        Some(_) => format!("'{word}'"),
    };
    let width = word.len().max(rest.chars().next().map_or(0, char::len_utf8));
    let expected = match &error.variant {
        ErrorVariant::ParsingError { positives, .. } => {
            let mut names: Vec<&str> = positives.iter().filter_map(|rule| called(*rule)).collect();
            names.sort_unstable();
            names.dedup();
            names.join(", ")
        }
        ErrorVariant::CustomError { message } => message.clone(),
    };
    let span = Span { file, start: start as u32, end: (start + width) as u32 };
    let message = match expected.is_empty() {
        true => format!("{found} does not belong here"),
        false => format!("found {found} where one of these is expected: {expected}"),
    };
    Fault::boxed(span, message)
}

/// A source file.
pub struct Source {
    /// Its name in messages and locations.
    pub name: String,
    /// Its text.
    pub text: String,
    starts: Vec<usize>,
}

impl Source {
    pub fn new(name: &str, text: String) -> Source {
        let breaks = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1);
        let starts = std::iter::once(0).chain(breaks).collect();
        Source { name: name.to_owned(), text, starts }
    }

    /// Line and column of a byte, both from 1, and where the line begins.
    pub fn place(&self, byte: u32) -> (usize, usize, usize) {
        let byte = (byte as usize).min(self.text.len());
        let line = self.starts.partition_point(|&start| start <= byte).max(1);
        let start = self.starts[line - 1];
        let column = self.text.get(start..byte).map_or(byte - start, |t| t.chars().count()) + 1;
        (line, column, start)
    }

    /// An error about a piece of the file.
    pub fn error(&self, fault: &Fault) -> TextError {
        let (line, column, start) = self.place(fault.span.start);
        let rest = &self.text[start..];
        let source_line = rest.split('\n').next().unwrap_or_default().trim_end_matches('\r').to_owned();
        let piece = self.text.get(fault.span.start as usize..fault.span.end as usize).unwrap_or_default();
        let width = piece.split('\n').next().unwrap_or_default().chars().count();
        let message = fault.message.clone();
        TextError { file: self.name.clone(), line, column, message, source_line, width }
    }
}
