//! Terms: types in the making.
//!
//! Variables that were found to be the same are linked (Tarjan's union-find with path halving), so that a term stands for all
//! terms it was made equal to. Walks over a term keep a stack of their own and visit what is shared once.

use super::nodes::{Extent, Form, Node, Term};
use super::solver::Solver;
use std::collections::HashSet;

impl<'c> Solver<'c> {
    /// A new variable.
    pub fn variable(&mut self) -> Term {
        self.variable_at(self.level)
    }

    pub(super) fn variable_at(&mut self, level: u32) -> Term {
        let term = self.push(Node::Variable { level, pinned: false, watchers: Vec::new() });
        self.born.push(term);
        term
    }

    /// A new term.
    pub fn term(&mut self, form: Form<'c>) -> Term {
        self.push(Node::Known(form))
    }

    fn push(&mut self, node: Node<'c>) -> Term {
        self.nodes.push(node);
        self.closed.push(false);
        Term((self.nodes.len() - 1) as u32)
    }

    /// The term that stands for all that are equal to this one.
    pub fn find(&mut self, term: Term) -> Term {
        let mut term = term;
        while let Node::Link(next) = self.nodes[term.0 as usize] {
            if let Node::Link(after) = self.nodes[next.0 as usize] {
                self.nodes[term.0 as usize] = Node::Link(after);
            }
            term = next;
        }
        term
    }

    /// As [`Solver::find`], without shortening the way.
    pub fn seen(&self, term: Term) -> Term {
        let mut term = term;
        while let Node::Link(next) = self.nodes[term.0 as usize] {
            term = next;
        }
        term
    }

    /// The constructor; `None` for a variable.
    pub fn form(&self, term: Term) -> Option<&Form<'c>> {
        match &self.nodes[self.seen(term).0 as usize] {
            Node::Known(form) => Some(form),
            _ => None,
        }
    }

    /// The terms that a term is over, itself last; each once, and after those it is over.
    pub fn within(&mut self, root: Term) -> Vec<Term> {
        self.within_but(root, |_, _| false)
    }

    /// As [`Solver::within`], without those that are done and what is in them.
    pub fn within_but(&mut self, root: Term, done: impl Fn(&Self, Term) -> bool) -> Vec<Term> {
        let mut order = Vec::new();
        let mut seen = HashSet::new();
        let mut stack = vec![(self.find(root), false)];
        while let Some((term, after)) = stack.pop() {
            if after {
                order.push(term);
                continue;
            }
            if !seen.insert(term) || done(self, term) {
                continue;
            }
            stack.push((term, true));
            let parts = self.form(term).map(Form::parts).unwrap_or_default();
            for part in parts.into_iter().rev() {
                stack.push((self.find(part), false));
            }
        }
        order
    }

    /// The variables of a term, in order.
    pub fn variables(&mut self, root: Term) -> Vec<Term> {
        let within = self.within_but(root, |solver, term| solver.closed[term.0 as usize]);
        let open: Vec<Term> = within.iter().copied().filter(|t| self.form(*t).is_none()).collect();
        if open.is_empty() {
            for term in within {
                self.closed[term.0 as usize] = true;
            }
        }
        open
    }

    /// The extents of a term's tensors that are still open.
    pub fn extents_within(&mut self, root: Term) -> Vec<Extent> {
        let mut found = Vec::new();
        for term in self.within(root) {
            if let Some(Form::Tensor(_, extents)) = self.form(term) {
                found.extend(extents.iter().copied());
            }
        }
        found
    }

    /// Level and pin of a variable.
    pub(super) fn variable_state(&self, term: Term) -> (u32, bool) {
        match &self.nodes[self.seen(term).0 as usize] {
            Node::Variable { level, pinned, .. } => (*level, *pinned),
            _ => (0, false),
        }
    }

    /// A variable becomes that of an outer function.
    pub(super) fn lower(&mut self, term: Term, to: u32) {
        if let Node::Variable { level, .. } = &mut self.nodes[term.0 as usize] {
            *level = to.min(*level);
        }
    }

    /// A variable of a function that is made becomes the function's own.
    pub(super) fn raise(&mut self, term: Term, to: u32) {
        let term = self.find(term);
        if let Node::Variable { level, .. } = &mut self.nodes[term.0 as usize] {
            *level = to;
        }
    }

    /// Keeps a variable from being generalised.
    pub(super) fn pin(&mut self, term: Term) {
        let term = self.find(term);
        if let Node::Variable { pinned, .. } = &mut self.nodes[term.0 as usize] {
            *pinned = true;
        }
    }

    /// Has a relation tried when a variable is known.
    pub(super) fn watch(&mut self, term: Term, relation: usize) {
        let term = self.find(term);
        if let Node::Variable { watchers, .. } = &mut self.nodes[term.0 as usize] {
            watchers.push(relation);
        }
    }

    /// A variable and another term, in which it does not occur, become one.
    pub(super) fn link(&mut self, variable: Term, to: Term) {
        let old = std::mem::replace(&mut self.nodes[variable.0 as usize], Node::Link(to));
        let Node::Variable { level, pinned, watchers } = old else { return };
        match &mut self.nodes[to.0 as usize] {
            Node::Variable { level: other, pinned: also, watchers: more } => {
                *other = level.min(*other);
                *also |= pinned;
                more.extend(watchers);
            }
            _ => self.ready.extend(watchers),
        }
    }

    /// A variable becomes a constructor, over terms in which it does not occur.
    pub(super) fn bind(&mut self, variable: Term, form: Form<'c>) {
        let old = std::mem::replace(&mut self.nodes[variable.0 as usize], Node::Known(form));
        if let Node::Variable { watchers, .. } = old {
            self.ready.extend(watchers);
        }
    }
}
