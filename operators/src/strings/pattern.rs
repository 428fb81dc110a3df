//! Regular expressions with the meaning that RE2 gives them.
//!
//! ```text
//!   \w  \d  \s  \W  \D  \S     letters, digits and blanks of ASCII, and what is none of them:  [0-9A-Za-z_] ...
//!   \b  \B                     between such letters and others                                 (?-u:\b)
//!   \pL  .  (?i)               letters of Unicode, as they are
//! ```
//! The rest of the syntax is Rust's, which is RE2's but for `\C` and `\Q..\E`.

use regex_automata::meta::{self, Regex};
use regex_syntax::ast::{self, AssertionKind, Ast, ClassPerl, ClassPerlKind, ClassSetItem, Span};
use regex_syntax::hir::{Hir, Look};

/// Bytes that a regular expression may become.
const MOST_BYTES: usize = 1 << 20;

/// What stands for what means something else in RE2.
#[derive(Default)]
struct Changes(Vec<(Span, &'static str)>);

impl Changes {
    fn class(&mut self, class: &ClassPerl) {
        let text = match (&class.kind, class.negated) {
            (ClassPerlKind::Digit, false) => "[0-9]",
            (ClassPerlKind::Digit, true) => "[^0-9]",
            (ClassPerlKind::Space, false) => r"[\t\n\f\r\x20]",
            (ClassPerlKind::Space, true) => r"[^\t\n\f\r\x20]",
            (ClassPerlKind::Word, false) => "[0-9A-Za-z_]",
            (ClassPerlKind::Word, true) => "[^0-9A-Za-z_]",
        };
        self.0.push((class.span, text));
    }
}

impl ast::Visitor for Changes {
    type Output = Vec<(Span, &'static str)>;
    type Err = ();

    fn finish(self) -> Result<Self::Output, ()> {
        Ok(self.0)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), ()> {
        match ast {
            Ast::ClassPerl(class) => self.class(class),
            Ast::Assertion(assertion) => match assertion.kind {
                AssertionKind::WordBoundary => self.0.push((assertion.span, r"(?-u:\b)")),
                AssertionKind::NotWordBoundary => self.0.push((assertion.span, r"(?-u:\B)")),
                _ => {}
            },
            _ => {}
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), ()> {
        if let ClassSetItem::Perl(class) = item {
            self.class(class);
        }
        Ok(())
    }
}

/// What a pattern means, or why it means nothing.
pub fn parsed(pattern: &str) -> Result<Hir, String> {
    let refused = |why: &dyn std::fmt::Display| {
        format!("attribute pattern {pattern:?} is no regular expression: {why}")
    };
    let ast = ast::parse::Parser::new().parse(pattern).map_err(|error| refused(&error))?;
    let mut text = pattern.to_owned();
    for (span, other) in ast::visit(&ast, Changes::default()).unwrap_or_default().into_iter().rev() {
        text.replace_range(span.start.offset..span.end.offset, other);
    }
    // Strings are in UTF-8, so what matches one has no part of a letter.
    regex_syntax::ParserBuilder::new().utf8(false).build().parse(&text).map_err(|error| refused(&error))
}

/// What matches a pattern with the whole of a string.
pub fn whole(pattern: &str) -> Result<Hir, String> {
    Ok(Hir::concat(vec![Hir::look(Look::Start), parsed(pattern)?, Hir::look(Look::End)]))
}

/// The same, compiled.
pub fn matcher(pattern: &str) -> Result<Regex, String> {
    let config = meta::Config::new().nfa_size_limit(Some(MOST_BYTES)).hybrid_cache_capacity(MOST_BYTES);
    meta::Builder::new().configure(config).build_from_hir(&whole(pattern)?).map_err(|error| {
        match error.size_limit() {
            Some(most) => format!(
                "attribute pattern {pattern:?} needs more than {most} bytes; write shorter repetitions"
            ),
            None => format!("attribute pattern {pattern:?} is no regular expression: {error}"),
        }
    })
}
