//! From types to terms and back.
//!
//! A type without `!relay.hole` is one term for all its uses; each hole is a variable of its own. `rebuild` makes instances
//! (type variables and named extents of a function chosen anew) and fields of constructors (parameters replaced).

use super::nodes::{Extent, Form, Term};
use super::solver::{Failure, Solver};
use fusion_dialects::{Context, Type, TypeParts, type_key, type_of_parts, type_parts};
use fusion_operators::{Dim, TensorType};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// The type variables and named extents that a polymorphic value or function chooses anew for each use.
#[derive(Clone, Debug, Default)]
pub struct Scheme {
    /// Type variables.
    pub types: BTreeSet<Rc<str>>,
    /// Named extents.
    pub dims: BTreeSet<String>,
}

impl Scheme {
    /// True when nothing is chosen.
    pub fn is_empty(&self) -> bool {
        self.types.is_empty() && self.dims.is_empty()
    }

    /// Both.
    pub fn extend(&mut self, other: &Scheme) {
        self.types.extend(other.types.iter().cloned());
        self.dims.extend(other.dims.iter().cloned());
    }
}

/// What was chosen for a use.
#[derive(Debug, Default)]
pub struct Chosen {
    types: HashMap<Rc<str>, Term>,
    dims: HashMap<String, Extent>,
}

impl<'c> Solver<'c> {
    /// The term of a type, and whether it has holes.
    pub fn of_type(&mut self, ty: Type<'c>) -> (Term, bool) {
        if let Some(term) = self.written.get(&type_key(ty)) {
            return (*term, false);
        }
        let mut open = false;
        let mut all = |solver: &mut Self, types: &[Type<'c>]| -> Rc<[Term]> {
            let terms = types.iter().map(|ty| {
                let (term, hole) = solver.of_type(*ty);
                open |= hole;
                term
            });
            terms.collect()
        };
        let form = match type_parts(ty) {
            TypeParts::Hole => return (self.variable(), true),
            TypeParts::Tensor(tensor) => {
                let extents: Rc<[Extent]> = tensor.dims.into_iter().map(|d| self.fixed_extent(d)).collect();
                Form::Tensor(tensor.dtype, extents)
            }
            TypeParts::Tuple(parts) => Form::Tuple(all(self, &parts)),
            TypeParts::Function(inputs, results) => {
                let inputs = all(self, &inputs);
                Form::Function(inputs, all(self, &results))
            }
            TypeParts::Adt(name, parts) => Form::Adt(name, all(self, &parts)),
            TypeParts::Ref(value) => Form::Ref(all(self, &[value])[0]),
            TypeParts::Var(name) => Form::Rigid(name.into()),
            TypeParts::Other => Form::Other(ty),
        };
        let term = self.term(form);
        if !open {
            self.written.insert(type_key(ty), term);
        }
        (term, open)
    }

    /// The type of a term; `None` while something of it is not known.
    pub fn type_of_term(&mut self, context: &'c Context, root: Term) -> Option<Type<'c>> {
        let root = self.find(root);
        if let Some(ty) = self.resolved.get(&root) {
            return Some(*ty);
        }
        for term in self.within_but(root, |solver, term| solver.resolved.contains_key(&term)) {
            let form = self.form(term)?.clone();
            let all = |terms: &[Term]| -> Option<Vec<Type<'c>>> {
                terms.iter().map(|t| self.resolved.get(&self.seen(*t)).copied()).collect()
            };
            let parts = match &form {
                Form::Tensor(dtype, extents) => {
                    let dims =
                        extents.iter().map(|e| self.extent(*e).cloned()).collect::<Option<Vec<_>>>()?;
                    TypeParts::Tensor(TensorType::new(dims, *dtype))
                }
                Form::Tuple(parts) => TypeParts::Tuple(all(parts)?),
                Form::Function(inputs, results) => TypeParts::Function(all(inputs)?, all(results)?),
                Form::Adt(name, parts) => TypeParts::Adt(name, all(parts)?),
                Form::Ref(value) => TypeParts::Ref(*all(&[*value])?.first()?),
                Form::Rigid(name) => {
                    self.resolved.insert(term, fusion_dialects::var_type(context, name));
                    continue;
                }
                Form::Other(ty) => {
                    self.resolved.insert(term, *ty);
                    continue;
                }
            };
            let ty = type_of_parts(context, &parts)?;
            self.resolved.insert(term, ty);
        }
        self.resolved.get(&root).copied()
    }

    /// The type variables and named extents of a term.
    pub fn names(&mut self, root: Term) -> Scheme {
        let mut scheme = Scheme::default();
        for term in self.within(root) {
            match self.form(term) {
                Some(Form::Rigid(name)) => {
                    scheme.types.insert(name.clone());
                }
                Some(Form::Tensor(_, extents)) => {
                    for extent in extents.iter() {
                        if let Some(Dim::Symbol(name)) = self.extent(*extent) {
                            scheme.dims.insert(name.clone());
                        }
                    }
                }
                _ => {}
            }
        }
        scheme
    }

    /// A use of a polymorphic type: what the scheme names is chosen anew, once for all types with the same `chosen`.
    pub fn instance(&mut self, root: Term, scheme: &Scheme, chosen: &mut Chosen) -> Term {
        if scheme.is_empty() {
            return root;
        }
        self.rebuild(root, |solver, form| match form {
            Form::Rigid(name) if scheme.types.contains(name) => {
                Some(*chosen.types.entry(name.clone()).or_insert_with(|| solver.variable()))
            }
            Form::Tensor(dtype, extents) => {
                let named = |solver: &Self, extent: &Extent| match solver.extent(*extent) {
                    Some(Dim::Symbol(name)) if scheme.dims.contains(name) => Some(name.clone()),
                    _ => None,
                };
                if !extents.iter().any(|e| named(solver, e).is_some()) {
                    return None;
                }
                let new = extents.iter().map(|extent| match named(solver, extent) {
                    Some(name) => *chosen.dims.entry(name).or_insert_with(|| solver.shared_extent()),
                    None => *extent,
                });
                let new = Form::Tensor(*dtype, new.collect());
                Some(solver.term(new))
            }
            _ => None,
        })
    }

    /// A field's type, with the data type's parameters replaced.
    pub fn field(&mut self, ty: Type<'c>, parameters: &[&str], arguments: &[Term]) -> Term {
        let (root, _) = self.of_type(ty);
        self.rebuild(root, |_, form| match form {
            Form::Rigid(name) => {
                let place = parameters.iter().position(|p| **p == **name)?;
                arguments.get(place).copied()
            }
            _ => None,
        })
    }

    /// A term whose known extents no longer change.
    pub fn frozen(&mut self, root: Term) -> Term {
        self.rebuild(root, |solver, form| match form {
            Form::Tensor(dtype, extents) => {
                let known: Option<Vec<Dim>> = extents.iter().map(|e| solver.extent(*e).cloned()).collect();
                let fixed = known?.into_iter().map(|dim| solver.fixed_extent(dim)).collect();
                Some(solver.term(Form::Tensor(*dtype, fixed)))
            }
            _ => None,
        })
    }

    fn rebuild(&mut self, root: Term, mut leaf: impl FnMut(&mut Self, &Form<'c>) -> Option<Term>) -> Term {
        let root = self.find(root);
        let mut new: HashMap<Term, Term> = HashMap::new();
        for term in self.within(root) {
            let Some(form) = self.form(term).cloned() else { continue };
            if let Some(other) = leaf(self, &form) {
                new.insert(term, other);
                continue;
            }
            let parts = form.parts();
            let replaced: Vec<Term> = parts
                .iter()
                .map(|part| {
                    let part = self.find(*part);
                    new.get(&part).copied().unwrap_or(part)
                })
                .collect();
            if parts.iter().zip(&replaced).any(|(old, new)| self.seen(*old) != *new) {
                let other = self.term(form.over(&replaced));
                new.insert(term, other);
            }
        }
        new.get(&root).copied().unwrap_or(root)
    }

    /// A scalar of booleans.
    pub fn condition(&mut self) -> Term {
        self.term(Form::Tensor(fusion_operators::DType::Bool, [].into()))
    }

    /// Names the dynamic extents of a function's parameters, so that it is polymorphic in them.
    pub fn name_extents(&mut self, inputs: &[Term], taken: &mut BTreeSet<String>) -> Result<(), Failure<'c>> {
        for input in inputs {
            for extent in self.extents_within(*input) {
                if self.extent(extent).is_none() {
                    let name = fresh(taken, |i| format!("n{i}"));
                    self.send(Dim::Symbol(name), extent, 0)?;
                }
            }
        }
        Ok(())
    }
}

/// The first name that is not taken, which is taken from now on.
pub fn fresh(taken: &mut BTreeSet<String>, name: impl Fn(usize) -> String) -> String {
    let mut index = 0;
    while taken.contains(&name(index)) {
        index += 1;
    }
    taken.insert(name(index));
    name(index)
}
