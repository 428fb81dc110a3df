//! Index expressions as operations: one `affine.apply` each.

use fusion_dialects::indices::expr::{Atom, Expr};
use fusion_dialects::{Attribute, Build, Value, index_type};
use std::fmt::Write;

/// The values that variables and opaque atoms stand for.
#[derive(Default)]
pub struct Indices<'c> {
    vars: Vec<Value<'c>>,
    opaque: Vec<Value<'c>>,
}

/// Variables from here on have a range but no value: they are only used to infer bounds.
pub const RANGED: usize = 1 << 32;

impl<'c> Indices<'c> {
    /// A new variable for the index of a loop.
    pub fn var(&mut self, value: Value<'c>, extent: u64) -> Expr {
        self.vars.push(value);
        Expr::var(self.vars.len() - 1, extent)
    }

    /// An expression for a value nothing is known of.
    pub fn opaque(&mut self, value: Value<'c>) -> Expr {
        self.opaque.push(value);
        Expr::atom(Atom::Opaque(self.opaque.len() - 1))
    }

    /// Builds the value of an expression.
    pub fn value(&self, build: &Build<'c>, e: &Expr) -> Value<'c> {
        let scalars = fusion_dialects::te::Scalars { build: *build };
        if let Some(number) = e.as_constant() {
            return scalars.index(number);
        }
        if let (Some((atom, 1)), None, 0) = (e.terms().next(), e.terms().nth(1), e.offset())
            && let Some(value) = self.atom_value(atom)
        {
            return value;
        }
        let mut operands = Vec::new();
        let text = self.text(e, &mut operands);
        let dims: Vec<String> = (0..operands.len()).map(|i| format!("d{i}")).collect();
        let map = format!("affine_map<({}) -> ({text})>", dims.join(", "));
        let Some(map) = Attribute::parse(build.context(), &map) else {
            // The text is made above and is an affine map by construction.
            unreachable!("{map} is no affine map")
        };
        build.value("affine.apply", &operands, index_type(build.context()), &[("map", map)])
    }

    fn atom_value(&self, atom: &Atom) -> Option<Value<'c>> {
        match atom {
            Atom::Var(v) => self.vars.get(v.id).copied(),
            Atom::Opaque(i) => self.opaque.get(*i).copied(),
            _ => None,
        }
    }

    fn text(&self, e: &Expr, operands: &mut Vec<Value<'c>>) -> String {
        let mut text = String::new();
        for (atom, c) in e.terms() {
            let inner = match atom {
                Atom::Div(e, n) => format!("(({}) floordiv {n})", self.text(e, operands)),
                Atom::Mod(e, n) => format!("(({}) mod {n})", self.text(e, operands)),
                _ => {
                    let value = self.atom_value(atom).expect("only variables with a value reach the code");
                    let at = operands.iter().position(|v| *v == value).unwrap_or_else(|| {
                        operands.push(value);
                        operands.len() - 1
                    });
                    format!("d{at}")
                }
            };
            let separator = if text.is_empty() { "" } else { " + " };
            let _ = if c == 1 {
                write!(text, "{separator}{inner}")
            } else {
                write!(text, "{separator}{inner} * {c}")
            };
        }
        if e.offset() != 0 || text.is_empty() {
            let separator = if text.is_empty() { "" } else { " + " };
            let _ = write!(text, "{separator}{}", e.offset());
        }
        text
    }
}
