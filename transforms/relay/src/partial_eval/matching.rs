//! Whether a pattern fits a partially static value.

use super::value::{Known, Shared};
use fusion_dialects::relay::Pattern;

/// What is known of a pattern and a value.
pub enum Fits<'c> {
    /// It fits, and binds these.
    Yes(Vec<Shared<'c>>),
    No,
    /// Only a run can say.
    Maybe,
}

/// Compares a pattern with a value. A pattern that cannot fit in one place does not, whatever the others are.
pub fn fits<'c>(pattern: &Pattern, value: &Shared<'c>) -> Fits<'c> {
    let all = |patterns: &[Pattern], values: &[Shared<'c>]| {
        let mut bound = Vec::new();
        let mut open = false;
        for (pattern, value) in patterns.iter().zip(values) {
            match fits(pattern, value) {
                Fits::Yes(more) => bound.extend(more),
                Fits::No => return Fits::No,
                Fits::Maybe => open = true,
            }
        }
        if open { Fits::Maybe } else { Fits::Yes(bound) }
    };
    match (pattern, &value.known) {
        (Pattern::Wildcard, _) => Fits::Yes(Vec::new()),
        (Pattern::Bind(_), _) => Fits::Yes(vec![value.clone()]),
        (Pattern::Constructor { name, fields, .. }, Known::Data { name: found, fields: values, .. }) => {
            if name == found && fields.len() == values.len() {
                all(fields, values)
            } else {
                Fits::No
            }
        }
        (Pattern::Tuple(parts), Known::Tuple(values)) if parts.len() == values.len() => all(parts, values),
        _ => Fits::Maybe,
    }
}
