//! The solver: types flow from values to where they are used, by comparing constructors part by part.
//!
//! ```text
//!     flow(a, b)      a value of type a is used as a b
//!     T(a1, ..)  into T(b1, ..)     the parts flow; a function's parameters the other way
//!     T(a1, ..)  into a variable    the variable becomes T over new variables, and the parts flow
//!     variable   into variable      they become one                     (Milner 1978: unification)
//!     ref<a>     into ref<b>        both ways: what is written through one is read through the other
//! ```
//! Constructors must be the same, as in Hindley and Milner's system; extents alone flow with a direction (`extents.rs`), so
//! that a tensor of known extents that is passed to a function of `?` keeps what is known of it. A variable that occurs in
//! what it would become is an infinite type.

use super::nodes::{Extent, ExtentNode, Form, Node, Origin, RelationCall, Role, Term};
use fusion_dialects::{Op, PassError, Type};
use std::collections::{HashMap, HashSet, VecDeque};

/// Why inference stops.
pub type Failure<'c> = PassError<'c>;

/// All terms, extents and relations of a module.
pub struct Solver<'c> {
    pub(super) nodes: Vec<Node<'c>>,
    /// True for terms that are known to have no variables.
    pub(super) closed: Vec<bool>,
    pub(super) extents: Vec<ExtentNode>,
    pub(super) origins: Vec<Origin<'c>>,
    pub(super) relations: Vec<RelationCall<'c>>,
    pub(super) ready: VecDeque<usize>,
    /// Variables in the order they were made.
    pub(super) born: Vec<Term>,
    /// How deep in functions we are.
    pub(super) level: u32,
    /// Types without unknown parts, which all their uses share.
    pub(super) written: HashMap<usize, Term>,
    pub(super) resolved: HashMap<Term, Type<'c>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Way {
    /// Extents flow from the first to the second.
    Forward,
    /// Extents flow both ways.
    Both,
}

/// A comparison of two types that is under way.
struct Comparison {
    origin: usize,
    /// What is still to be compared.
    pairs: Vec<(Term, Term, Way)>,
    /// Parts that a type has several times are copied once, in each direction.
    copies: HashMap<(Term, bool), Term>,
}

impl<'c> Solver<'c> {
    /// Nothing yet.
    pub fn new() -> Self {
        Solver {
            nodes: Vec::new(),
            closed: Vec::new(),
            extents: Vec::new(),
            origins: Vec::new(),
            relations: Vec::new(),
            ready: VecDeque::new(),
            born: Vec::new(),
            level: 0,
            written: HashMap::new(),
            resolved: HashMap::new(),
        }
    }

    /// A value of the first type is used as one of the second.
    pub fn flow(&mut self, found: Term, expected: Term, op: Op<'c>, role: Role) -> Result<(), Failure<'c>> {
        if self.find(found) == self.find(expected) {
            return Ok(());
        }
        self.origins.push(Origin { op, role, found, expected });
        self.relate(found, expected, Way::Forward)?;
        self.solve()
    }

    /// Two types are the same.
    pub fn equal(&mut self, found: Term, expected: Term, op: Op<'c>, role: Role) -> Result<(), Failure<'c>> {
        self.origins.push(Origin { op, role, found, expected });
        self.relate(found, expected, Way::Both)?;
        self.solve()
    }

    /// The second is the type of a value that is made here, of the first type: where it is open, both are one.
    pub fn define(&mut self, found: Term, result: Term, op: Op<'c>, role: Role) -> Result<(), Failure<'c>> {
        let open = self.form(result).is_none();
        if open { self.equal(found, result, op, role) } else { self.flow(found, result, op, role) }
    }

    /// As [`Solver::define`], for who runs relations: the origin was noted, and what becomes ready waits.
    pub(super) fn define_later(&mut self, found: Term, result: Term) -> Result<(), Failure<'c>> {
        let way = if self.form(result).is_none() { Way::Both } else { Way::Forward };
        self.relate(found, result, way)
    }

    fn relate(&mut self, found: Term, expected: Term, way: Way) -> Result<(), Failure<'c>> {
        let origin = self.origins.len() - 1;
        let mut work = Comparison { origin, pairs: vec![(found, expected, way)], copies: HashMap::new() };
        let mut compared: HashSet<(Term, Term, Way)> = HashSet::new();
        while let Some((a, b, way)) = work.pairs.pop() {
            let (a, b) = (self.find(a), self.find(b));
            if a == b {
                continue;
            }
            let parted = |form: &Form| !matches!(form, Form::Tensor(..) | Form::Rigid(_) | Form::Other(_));
            match (self.form(a).cloned(), self.form(b).cloned()) {
                (None, None) => self.link(b, a),
                (None, Some(form)) => self.copy(&mut work, a, (b, &form), way, true)?,
                (Some(form), None) => self.copy(&mut work, b, (a, &form), way, false)?,
                (Some(one), Some(other)) => {
                    if parted(&one) && !compared.insert((a, b, way)) {
                        continue;
                    }
                    self.parts(&mut work, (a, &one), (b, &other), way)?;
                }
            }
        }
        Ok(())
    }

    /// A variable becomes a copy of a constructor, or that itself where both are to be the same. Backward: from what a value
    /// is used as to what it is.
    fn copy(
        &mut self,
        work: &mut Comparison,
        variable: Term,
        (known, form): (Term, &Form<'c>),
        way: Way,
        backward: bool,
    ) -> Result<(), Failure<'c>> {
        let origin = work.origin;
        self.enter(variable, known, origin)?;
        if way == Way::Both {
            self.link(variable, known);
            return Ok(());
        }
        let (level, _) = self.variable_state(variable);
        let copy = match form {
            Form::Tensor(dtype, extents) => {
                let new: Vec<Extent> = extents.iter().map(|_| self.dynamic_extent()).collect();
                self.bind(variable, Form::Tensor(*dtype, new.as_slice().into()));
                for (known, new) in extents.iter().zip(new) {
                    let (from, to) = if backward { (new, *known) } else { (*known, new) };
                    self.flow_extent(from, to, origin)?;
                }
                return Ok(());
            }
            Form::Rigid(_) | Form::Other(_) => {
                self.link(variable, known);
                return Ok(());
            }
            // What a cell holds is one type for all who have the cell.
            Form::Ref(value) => Form::Ref(*value),
            Form::Tuple(_) | Form::Adt(..) | Form::Function(..) => {
                let inputs = if let Form::Function(inputs, _) = form { inputs.len() } else { 0 };
                let mut parts = form.parts();
                for (index, part) in parts.iter_mut().enumerate() {
                    let source = self.find(*part);
                    if self.form(source).is_none() {
                        continue;
                    }
                    let turned = index < inputs;
                    let direction = backward != turned;
                    if let Some(copy) = work.copies.get(&(source, direction)) {
                        *part = *copy;
                        continue;
                    }
                    let copy = self.variable_at(level);
                    work.copies.insert((source, direction), copy);
                    *part = copy;
                    work.pairs.push(if direction { (copy, source, way) } else { (source, copy, way) });
                }
                form.over(&parts)
            }
        };
        self.bind(variable, copy);
        Ok(())
    }

    /// Before a variable becomes a term: it does not occur in it, and what is open in the term becomes the outer function's.
    fn enter(&mut self, variable: Term, known: Term, origin: usize) -> Result<(), Failure<'c>> {
        let (level, _) = self.variable_state(variable);
        for open in self.variables(known) {
            if open == variable {
                return Err(self.infinite(origin, variable, known));
            }
            self.lower(open, level);
        }
        Ok(())
    }

    /// Constructors must be the same; their parts follow.
    fn parts(
        &mut self,
        work: &mut Comparison,
        (a, one): (Term, &Form<'c>),
        (b, other): (Term, &Form<'c>),
        way: Way,
    ) -> Result<(), Failure<'c>> {
        let origin = work.origin;
        let stack = &mut work.pairs;
        match (one, other) {
            (Form::Tensor(dtype, extents), Form::Tensor(other, others))
                if dtype == other && extents.len() == others.len() =>
            {
                for (from, to) in extents.iter().zip(others.iter()) {
                    self.flow_extent(*from, *to, origin)?;
                    if way == Way::Both {
                        self.flow_extent(*to, *from, origin)?;
                    }
                }
            }
            (Form::Tuple(parts), Form::Tuple(others)) if parts.len() == others.len() => {
                stack.extend(parts.iter().zip(others.iter()).rev().map(|(a, b)| (*a, *b, way)));
            }
            (Form::Adt(name, parts), Form::Adt(other, others))
                if name == other && parts.len() == others.len() =>
            {
                stack.extend(parts.iter().zip(others.iter()).rev().map(|(a, b)| (*a, *b, way)));
            }
            (Form::Function(inputs, results), Form::Function(other_inputs, other_results))
                if inputs.len() == other_inputs.len() && results.len() == other_results.len() =>
            {
                stack.extend(results.iter().zip(other_results.iter()).rev().map(|(a, b)| (*a, *b, way)));
                stack.extend(inputs.iter().zip(other_inputs.iter()).rev().map(|(a, b)| (*b, *a, way)));
            }
            (Form::Ref(value), Form::Ref(other)) => stack.push((*value, *other, Way::Both)),
            (Form::Rigid(name), Form::Rigid(other)) if name == other => {}
            (Form::Other(ty), Form::Other(other)) if ty == other => {}
            _ => return Err(self.differ(origin, a, b)),
        }
        Ok(())
    }
}
