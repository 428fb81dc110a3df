//! What is done to a source before its grammar is: comments become blanks of the same length, the metadata section
//! is cut off, and brackets are counted.
//!
//! ```text
//!   %0 = f(%x) /* ty=int32 */;        %0 = f(%x)                ;
//!   #[metadata]                       (the rest is the section)
//! ```
//! Offsets stay what they were. A source that is nested too deeply is refused here, so that nothing that walks it
//! needs more stack than it has.

use super::error::{Fault, Outcome};
use super::syntax::Span;

/// Brackets and comments are nested at most so deeply.
pub const MOST_DEPTH: usize = 128;

/// A source without comments, and where its metadata section begins.
pub struct Blanked {
    pub text: String,
    pub metadata: Option<usize>,
}

/// Blanks the comments of a source.
pub fn blank(source: &str, file: u32) -> Outcome<Blanked> {
    let bytes = source.as_bytes();
    let mut out = bytes.to_vec();
    let mut brackets: Vec<(u8, usize)> = Vec::new();
    let span = |start: usize, end: usize| Span { file, start: start as u32, end: end as u32 };
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let end = if rest.starts_with(b"/*") {
            let end = comment_end(bytes, at).ok_or_else(|| {
                Fault::boxed(span(at, at + 2), "this comment has no end; write */ behind it")
            })?;
            wipe(&mut out[at..end]);
            end
        } else if rest.starts_with(b"//") {
            let end = rest.iter().position(|&b| b == b'\n').map_or(bytes.len(), |n| at + n);
            wipe(&mut out[at..end]);
            end
        } else if rest[0] == b'"' {
            string_end(bytes, at)
                .ok_or_else(|| Fault::boxed(span(at, at + 1), "this text has no closing quote"))?
        } else if rest.starts_with(b"#[") && is_metadata(rest) || rest.starts_with(OLD_METADATA) {
            out.truncate(at);
            break;
        } else {
            count(rest[0], at, &mut brackets, &span)?;
            at + 1
        };
        at = end;
    }
    if let Some((open, at)) = brackets.last() {
        return Fault::new(span(*at, at + 1), format!("this {} is not closed", char::from(*open)));
    }
    let metadata = (at < bytes.len()).then_some(at);
    // Only ASCII was put in, for whole comments.
    let text = String::from_utf8(out).map_err(|_| Fault::boxed(span(0, 0), "the text is not UTF-8"))?;
    Ok(Blanked { text, metadata })
}

/// What stands before the section in version 0.0.4.
pub const OLD_METADATA: &[u8] = b"METADATA:";

fn wipe(bytes: &mut [u8]) {
    bytes.iter_mut().filter(|b| **b != b'\n').for_each(|b| *b = b' ');
}

/// Where a comment that begins there ends; comments nest.
fn comment_end(bytes: &[u8], start: usize) -> Option<usize> {
    let (mut at, mut depth) = (start + 2, 1usize);
    while at < bytes.len() {
        if bytes[at..].starts_with(b"*/") {
            (at, depth) = (at + 2, depth - 1);
            if depth == 0 {
                return Some(at);
            }
        } else if bytes[at..].starts_with(b"/*") {
            (at, depth) = (at + 2, depth + 1);
        } else {
            at += 1;
        }
    }
    None
}

fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    None
}

fn is_metadata(rest: &[u8]) -> bool {
    let inside = &rest[2..rest.len().min(64)];
    let inside = inside.split(|b| *b == b']').next().unwrap_or_default();
    inside.trim_ascii() == b"metadata"
}

fn count(
    byte: u8,
    at: usize,
    brackets: &mut Vec<(u8, usize)>,
    span: &impl Fn(usize, usize) -> Span,
) -> Outcome<()> {
    match byte {
        b'(' | b'[' | b'{' => brackets.push((byte, at)),
        b')' | b']' | b'}' => {
            let opens = if byte == b')' { b'(' } else { byte - 2 };
            match brackets.pop() {
                Some((open, _)) if open == opens => {}
                Some((open, _)) => {
                    let (byte, open) = (char::from(byte), char::from(open));
                    return Fault::new(
                        span(at, at + 1),
                        format!("found {byte} where {open} is to be closed"),
                    );
                }
                None => {
                    return Fault::new(span(at, at + 1), format!("this {} closes nothing", char::from(byte)));
                }
            }
        }
        _ => {}
    }
    if brackets.len() > MOST_DEPTH {
        return Fault::new(
            span(at, at + 1),
            format!("brackets are nested more than {MOST_DEPTH} deep; bind inner expressions to variables"),
        );
    }
    Ok(())
}
