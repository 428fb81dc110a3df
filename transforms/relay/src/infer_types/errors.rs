//! Why types were compared, and the sentences when they do not fit.

use super::nodes::{Form, Term};
use super::solver::{Failure, Solver};
use fusion_dialects::PassError;
use fusion_operators::{Dim, TensorType};
use std::collections::HashMap;

/// Types in messages end at this many constructors.
const MOST_SHOWN: usize = 60;

impl<'c> Solver<'c> {
    /// A type in a message: as the program writes it, with `'a`, `'b` for what is not known.
    pub fn shown(&self, term: Term) -> String {
        self.show_all(&[term]).swap_remove(0)
    }

    /// Several types in a message, in which the same letter is the same unknown type.
    pub fn show_all(&self, terms: &[Term]) -> Vec<String> {
        let mut names = HashMap::new();
        let mut show = |term: &Term| {
            let (mut text, mut left) = (String::new(), MOST_SHOWN);
            self.show(*term, &mut names, &mut text, &mut left);
            text
        };
        terms.iter().map(&mut show).collect()
    }

    // Calls itself at most as often as it shows constructors.
    fn show(&self, term: Term, names: &mut HashMap<Term, usize>, text: &mut String, left: &mut usize) {
        let term = self.seen(term);
        if *left == 0 {
            return text.push_str("...");
        }
        *left -= 1;
        let mut list = |open: &str, terms: &[Term], close: &str, text: &mut String, left: &mut usize| {
            text.push_str(open);
            for (i, term) in terms.iter().enumerate() {
                if i > 0 {
                    text.push_str(", ");
                }
                self.show(*term, names, text, left);
                if *left == 0 {
                    break;
                }
            }
            text.push_str(close);
        };
        match self.form(term) {
            None => {
                let next = names.len();
                let index = *names.entry(term).or_insert(next);
                text.push('\'');
                text.push_str(&letters(index));
            }
            Some(Form::Tensor(dtype, extents)) => {
                let dims = extents.iter().map(|e| self.extent(*e).cloned().unwrap_or(Dim::Any));
                text.push_str(&TensorType::new(dims.collect(), *dtype).to_string());
            }
            Some(Form::Tuple(parts)) => list("tuple<", parts, ">", text, left),
            Some(Form::Function(inputs, results)) => {
                list("(", inputs, ") -> ", text, left);
                let (open, close) = if results.len() == 1 { ("", "") } else { ("(", ")") };
                list(open, results, close, text, left);
            }
            Some(Form::Adt(name, parts)) => {
                text.push_str("!relay.adt<@");
                text.push_str(name);
                if !parts.is_empty() {
                    list(", [", parts, "]", text, left);
                }
                text.push('>');
            }
            Some(Form::Ref(value)) => list("!relay.ref<", &[*value], ">", text, left),
            Some(Form::Rigid(name)) => text.push_str(&format!("!relay.var<\"{name}\">")),
            Some(Form::Other(ty)) => text.push_str(&ty.to_string()),
        }
    }

    /// Two constructors, or element types, or ranks, are not the same.
    pub(super) fn differ(&self, origin: usize, found: Term, expected: Term) -> Failure<'c> {
        let origin = self.origins[origin];
        let all = self.show_all(&[origin.found, origin.expected, found, expected]);
        let mut message = format!("{} must be {}, found {}", origin.what(), all[1], all[0]);
        let parts = |a: &str, b: &str| a == all[0] && b == all[1] || a == all[1] && b == all[0];
        if !parts(&all[2], &all[3]) {
            message.push_str(&format!("; {} is not {}", all[2], all[3]));
        }
        let rigid = [found, expected].into_iter().find_map(|t| match self.form(t) {
            Some(Form::Rigid(name)) => Some(name.clone()),
            _ => None,
        });
        if let Some(name) = rigid {
            message.push_str(&format!(
                "; the function is declared for every {name:?}, so nothing may be supposed of it"
            ));
        }
        PassError::at(origin.op, message)
    }

    /// Two extents are not the same.
    pub(super) fn extents_differ(&self, origin: usize, found: &Dim, expected: &Dim) -> Failure<'c> {
        let origin = self.origins[origin];
        let all = self.show_all(&[origin.found, origin.expected]);
        let named = |dim: &Dim| matches!(dim, Dim::Symbol(_));
        let advice = if named(found) || named(expected) {
            "a named extent stands for every number; write ? to have it compared at run time"
        } else {
            "write ? where the extent may vary"
        };
        let message = format!(
            "{} must be {}, found {}; the extents {found} and {expected} differ: {advice}",
            origin.what(),
            all[1],
            all[0]
        );
        PassError::at(origin.op, message)
    }

    /// A type would have to contain itself.
    pub(super) fn infinite(&self, origin: usize, variable: Term, within: Term) -> Failure<'c> {
        let origin = self.origins[origin];
        let all = self.show_all(&[origin.found, origin.expected, variable, within]);
        let message = format!(
            "{} must be {}, found {}: an infinite type, as {} would have to be {}",
            origin.what(),
            all[1],
            all[0],
            all[2],
            all[3]
        );
        PassError::at(origin.op, message)
    }
}

/// a, b, .. z, a1, b1, ..
pub fn letters(index: usize) -> String {
    let letter = char::from(b'a' + (index % 26) as u8);
    if index < 26 { letter.to_string() } else { format!("{letter}{}", index / 26) }
}
