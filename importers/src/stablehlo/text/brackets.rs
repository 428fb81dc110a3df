//! Counts brackets before the grammar sees a text: one that is nested too deeply is refused, so that nothing that walks
//! it needs more stack than it has.

use crate::sources::{Fault, Outcome, Span};

/// Brackets are nested at most so deeply.
pub const MOST_DEPTH: usize = 128;

/// Says where brackets are nested too deeply, or do not match.
pub fn check(text: &str) -> Outcome<()> {
    let bytes = text.as_bytes();
    let span = |at: usize| Span { file: 0, start: at as u32, end: at as u32 + 1 };
    let mut open: Vec<(u8, usize)> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'/' if bytes[at..].starts_with(b"//") => {
                at += bytes[at..].iter().position(|&b| b == b'\n').unwrap_or(bytes.len() - at);
                continue;
            }
            b'"' => {
                at = text_end(bytes, at)
                    .ok_or_else(|| Fault::boxed(span(at), "this text has no closing quote"))?;
                continue;
            }
            // An arrow, which closes nothing.
            b'-' if bytes[at..].starts_with(b"->") => at += 1,
            opening @ (b'(' | b'[' | b'{' | b'<') => {
                open.push((opening, at));
                if open.len() > MOST_DEPTH {
                    let message = format!("brackets are nested more than {MOST_DEPTH} levels deep here");
                    return Fault::new(span(at), message);
                }
            }
            closing @ (b')' | b']' | b'}' | b'>') => {
                let opening = match closing {
                    b')' => b'(',
                    b']' => b'[',
                    b'}' => b'{',
                    _ => b'<',
                };
                match open.pop() {
                    Some((found, _)) if found == opening => {}
                    _ => return Fault::new(span(at), format!("this {} closes nothing", char::from(closing))),
                }
            }
            _ => {}
        }
        at += 1;
    }
    match open.last() {
        Some((opening, at)) => Fault::new(span(*at), format!("this {} is not closed", char::from(*opening))),
        None => Ok(()),
    }
}

/// Where a text in quotes that begins there ends.
fn text_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}
