//! Instances: types in which type variables and named extents are replaced.
//!
//! ```text
//!   declared   (a, List<a>) -> List<a>          a := tensor<f32>
//!   instance   (tensor<f32>, List<tensor<f32>>) -> List<tensor<f32>>
//! ```
//! A hole fits every type. Where it stands in the way, a variable stays open.

use crate::{Context, Type, TypeParts, type_of_parts, type_parts};
use fusion_operators::{Dim, TensorType};
use indexmap::IndexMap;

/// What type variables and named extents stand for.
#[derive(Clone, Debug, Default)]
pub struct Instance<'c> {
    /// Types of type variables, by name.
    pub types: IndexMap<String, Type<'c>>,
    /// Extents of named extents, by name.
    pub dims: IndexMap<String, Dim>,
}

impl<'c> Instance<'c> {
    /// Type parameters with their arguments.
    pub fn new(parameters: &[&str], arguments: &[Type<'c>]) -> Self {
        let named = parameters.iter().map(|p| (*p).to_owned());
        Instance { types: named.zip(arguments.iter().copied()).collect(), dims: IndexMap::new() }
    }

    /// Extends the instance so that the declared type becomes the actual one; false when it cannot.
    pub fn matches(&mut self, declared: Type<'c>, actual: Type<'c>) -> bool {
        use TypeParts as P;
        match (type_parts(declared), type_parts(actual)) {
            (P::Var(name), _) => match self.types.get(name).copied() {
                Some(known) => {
                    let fits = agree(known, actual);
                    if fits && known != actual {
                        self.types.insert(name.to_owned(), join(known, actual));
                    }
                    fits
                }
                None => {
                    self.types.insert(name.to_owned(), actual);
                    true
                }
            },
            (P::Hole, _) | (_, P::Hole) => true,
            (P::Tensor(a), P::Tensor(b)) => {
                a.dtype == b.dtype
                    && a.rank() == b.rank()
                    && a.dims.iter().zip(&b.dims).all(|(a, b)| self.matches_dim(a, b))
            }
            (P::Tuple(a), P::Tuple(b)) => self.match_all(&a, &b),
            (P::Function(a, ra), P::Function(b, rb)) => self.match_all(&a, &b) && self.match_all(&ra, &rb),
            (P::Adt(a, pa), P::Adt(b, pb)) => a == b && self.match_all(&pa, &pb),
            (P::Ref(a), P::Ref(b)) => self.matches(a, b),
            _ => declared == actual,
        }
    }

    /// As [`Instance::matches`], for each pair of two lists of one length.
    pub fn match_all(&mut self, declared: &[Type<'c>], actual: &[Type<'c>]) -> bool {
        declared.len() == actual.len() && declared.iter().zip(actual).all(|(d, a)| self.matches(*d, *a))
    }

    fn matches_dim(&mut self, declared: &Dim, actual: &Dim) -> bool {
        match declared {
            Dim::Symbol(name) => match self.dims.get(name) {
                Some(known) => known.compatible(actual),
                None => {
                    self.dims.insert(name.clone(), actual.clone());
                    true
                }
            },
            _ => declared.compatible(actual),
        }
    }

    /// The type with variables and named extents replaced; those that stand for nothing stay.
    pub fn apply(&self, context: &'c Context, ty: Type<'c>) -> Type<'c> {
        let all = |types: &[Type<'c>]| types.iter().map(|t| self.apply(context, *t)).collect::<Vec<_>>();
        let parts = match type_parts(ty) {
            TypeParts::Var(name) => return self.types.get(name).copied().unwrap_or(ty),
            TypeParts::Tensor(tensor) => {
                let dim = |dim: &Dim| match dim {
                    Dim::Symbol(_) | Dim::Expr(_) => {
                        let named = |name: &str| {
                            Some(self.dims.get(name).cloned().unwrap_or(Dim::Symbol(name.to_owned())))
                        };
                        dim.replace(&named)
                    }
                    Dim::Static(_) | Dim::Any => dim.clone(),
                };
                TypeParts::Tensor(TensorType::new(tensor.dims.iter().map(dim).collect(), tensor.dtype))
            }
            TypeParts::Tuple(elements) => TypeParts::Tuple(all(&elements)),
            TypeParts::Function(inputs, results) => TypeParts::Function(all(&inputs), all(&results)),
            TypeParts::Adt(name, arguments) => TypeParts::Adt(name, all(&arguments)),
            TypeParts::Ref(value) => TypeParts::Ref(self.apply(context, value)),
            TypeParts::Hole | TypeParts::Other => return ty,
        };
        type_of_parts(context, &parts).unwrap_or(ty)
    }
}

/// True when what is known of two types does not contradict: holes fit every type, unknown extents every extent.
pub fn agree(a: Type, b: Type) -> bool {
    use TypeParts as P;
    if a == b {
        return true;
    }
    let all = |a: &[Type], b: &[Type]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| agree(*a, *b));
    match (type_parts(a), type_parts(b)) {
        (P::Hole, _) | (_, P::Hole) => true,
        (P::Tensor(a), P::Tensor(b)) => a.compatible(&b),
        (P::Tuple(a), P::Tuple(b)) => all(&a, &b),
        (P::Function(a, ra), P::Function(b, rb)) => all(&a, &b) && all(&ra, &rb),
        (P::Adt(a, pa), P::Adt(b, pb)) => a == b && all(&pa, &pb),
        (P::Ref(a), P::Ref(b)) => agree(a, b),
        _ => false,
    }
}

/// What is known of both of two types that agree: where their extents differ, `?`. A known type wins over a hole.
pub fn join<'c>(a: Type<'c>, b: Type<'c>) -> Type<'c> {
    use TypeParts as P;
    if a == b {
        return a;
    }
    let all = |a: &[Type<'c>], b: &[Type<'c>]| a.iter().zip(b).map(|(a, b)| join(*a, *b)).collect::<Vec<_>>();
    let parts = match (type_parts(a), type_parts(b)) {
        (P::Hole, _) => return b,
        (P::Tensor(a), P::Tensor(b)) => {
            let dim = |(a, b): (&Dim, &Dim)| if a == b { a.clone() } else { Dim::Any };
            P::Tensor(TensorType::new(a.dims.iter().zip(&b.dims).map(dim).collect(), a.dtype))
        }
        (P::Tuple(a), P::Tuple(b)) => P::Tuple(all(&a, &b)),
        (P::Function(a, ra), P::Function(b, rb)) => P::Function(all(&a, &b), all(&ra, &rb)),
        (P::Adt(name, a), P::Adt(_, b)) => P::Adt(name, all(&a, &b)),
        (P::Ref(a), P::Ref(b)) => P::Ref(join(a, b)),
        _ => return a,
    };
    type_of_parts(crate::context_of_type(a), &parts).unwrap_or(a)
}

/// True when a type, or a part of it, is not known yet.
pub fn has_hole(ty: Type) -> bool {
    match type_parts(ty) {
        TypeParts::Hole => true,
        TypeParts::Tuple(parts) | TypeParts::Adt(_, parts) => parts.into_iter().any(has_hole),
        TypeParts::Function(inputs, results) => inputs.into_iter().chain(results).any(has_hole),
        TypeParts::Ref(value) => has_hole(value),
        TypeParts::Tensor(_) | TypeParts::Var(_) | TypeParts::Other => false,
    }
}
