//! Rewrites a function: definitions that move are taken out, then put in at their places.
//!
//! One that moves is renamed with its uses, so that it hides no other of its name.

use super::survey::{Part, Place, Survey, each_part};
use crate::relay_text::syntax::*;
use std::collections::HashMap;

struct Moves<'s> {
    survey: &'s Survey,
    places: &'s [Option<Place>],
    /// How many definitions and uses were met.
    definitions: usize,
    uses: usize,
    taken: HashMap<usize, Expr>,
    /// The definitions that go in front of a statement.
    coming: HashMap<(u32, u32), Vec<usize>>,
}

/// Carries out what was found.
pub fn carry_out(function: &mut Function, survey: &Survey, places: &[Option<Place>]) {
    let mut coming: HashMap<(u32, u32), Vec<usize>> = HashMap::new();
    for (number, place) in places.iter().enumerate() {
        if let Some(step) = place.as_ref().and_then(|place| place.last()) {
            coming.entry((step.block, step.statement)).or_default().push(number);
        }
    }
    let mut moves = Moves { survey, places, definitions: 0, uses: 0, taken: HashMap::new(), coming };
    moves.take(&mut function.body);
    moves.put(&mut function.body);
}

impl Moves<'_> {
    fn name(&self, number: usize) -> String {
        format!("{} {number}", self.survey.definitions[number].name.text)
    }

    fn take(&mut self, block: &mut Block) {
        for binding in &mut block.bindings {
            match binding {
                Binding::Let(_, _, value) | Binding::Effect(value) => self.take_in(value),
                Binding::Graph(_, value) => {
                    self.take_in(value);
                    let number = self.definitions;
                    self.definitions += 1;
                    if self.places[number].is_some()
                        && let Binding::Graph(_, value) = std::mem::replace(binding, Binding::Moved)
                    {
                        self.taken.insert(number, value);
                    }
                }
                Binding::Free(..) | Binding::Moved => {}
            }
        }
        self.take_in(&mut block.result);
    }

    fn take_in(&mut self, expr: &mut Expr) {
        if let ExprKind::Graph(name) = &mut expr.kind {
            let target = self.survey.targets.get(self.uses).copied().flatten();
            self.uses += 1;
            if let Some(number) = target.filter(|number| self.places[*number].is_some()) {
                *name = self.name(number);
            }
            return;
        }
        each_part(&mut expr.kind, &mut |part| match part {
            Part::Expr(expr) => self.take_in(expr),
            Part::Block(block, ..) => self.take(block),
        });
    }

    fn put(&mut self, block: &mut Block) {
        let bindings = std::mem::take(&mut block.bindings);
        let count = bindings.len() as u32;
        let mut kept = Vec::with_capacity(bindings.len());
        for (statement, mut binding) in (0..).zip(bindings) {
            self.arrive(block.id, statement, &mut kept);
            match &mut binding {
                Binding::Moved => continue,
                Binding::Let(_, _, value) | Binding::Graph(_, value) | Binding::Effect(value) => {
                    self.put_in(value)
                }
                Binding::Free(..) => {}
            }
            kept.push(binding);
        }
        self.arrive(block.id, count, &mut kept);
        self.put_in(&mut block.result);
        block.bindings = kept;
    }

    /// The definitions that stand in front of a statement, in their order.
    fn arrive(&mut self, block: u32, statement: u32, kept: &mut Vec<Binding>) {
        for number in self.coming.remove(&(block, statement)).unwrap_or_default() {
            if let Some(mut value) = self.taken.remove(&number) {
                self.put_in(&mut value);
                let name = Name { text: self.name(number), span: self.survey.definitions[number].name.span };
                kept.push(Binding::Graph(name, value));
            }
        }
    }

    fn put_in(&mut self, expr: &mut Expr) {
        each_part(&mut expr.kind, &mut |part| match part {
            Part::Expr(expr) => self.put_in(expr),
            Part::Block(block, ..) => self.put(block),
        });
    }
}
