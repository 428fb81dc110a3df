//! Arithmetic of extents. What cannot be said is `?`.

use super::{Dim, Polynomial};

impl Dim {
    /// The extent as an expression; none of `?`.
    pub fn expression(&self) -> Option<Polynomial> {
        match self {
            Dim::Static(n) => i64::try_from(*n).ok().map(Polynomial::number),
            Dim::Symbol(name) => Some(Polynomial::symbol(name)),
            Dim::Expr(expression) => Some((**expression).clone()),
            Dim::Any => None,
        }
    }

    /// The extent that an expression gives. A number below 0 is none: 0 elements are left.
    pub fn of(expression: Polynomial) -> Dim {
        match (expression.as_number(), expression.as_symbol()) {
            (Some(n), _) => Dim::Static(u64::try_from(n).unwrap_or(0)),
            (_, Some(name)) => Dim::Symbol(name.to_owned()),
            _ => Dim::Expr(Box::new(expression)),
        }
    }

    fn with(
        &self,
        other: &Dim,
        operation: impl FnOnce(&Polynomial, &Polynomial) -> Option<Polynomial>,
    ) -> Dim {
        let both = self.expression().zip(other.expression());
        both.and_then(|(a, b)| operation(&a, &b)).map_or(Dim::Any, Dim::of)
    }

    /// `self + other`.
    pub fn plus(&self, other: &Dim) -> Dim {
        self.with(other, Polynomial::plus)
    }

    /// `self - other`, 0 at least.
    pub fn minus(&self, other: &Dim) -> Dim {
        self.with(other, |a, b| a.minus(b)?.greatest(&Polynomial::number(0)))
    }

    /// `self * other`.
    pub fn times(&self, other: &Dim) -> Dim {
        self.with(other, Polynomial::times)
    }

    /// `self / other`, rounded down.
    pub fn over(&self, other: &Dim) -> Dim {
        self.with(other, Polynomial::over)
    }

    /// `self / step`, rounded up, for a step above 0.
    pub fn over_up(&self, step: u64) -> Dim {
        self.plus(&Dim::Static(step.saturating_sub(1))).over(&Dim::Static(step))
    }

    /// The smaller.
    pub fn least(&self, other: &Dim) -> Dim {
        self.with(other, Polynomial::least)
    }

    /// The greater.
    pub fn greatest(&self, other: &Dim) -> Dim {
        self.with(other, Polynomial::greatest)
    }

    /// The product of extents.
    pub fn product<'a>(dims: impl IntoIterator<Item = &'a Dim>) -> Dim {
        dims.into_iter().fold(Dim::Static(1), |product, dim| product.times(dim))
    }

    /// With other extents in place of names; `?` where one is not given.
    pub fn replace(&self, of: &dyn Fn(&str) -> Option<Dim>) -> Dim {
        match self {
            Dim::Symbol(name) => of(name).unwrap_or(Dim::Any),
            Dim::Expr(expression) => {
                let known = expression.names().iter().all(|name| of(name).is_some_and(|d| d != Dim::Any));
                let replaced = known.then(|| expression.replace(&|name| of(name)?.expression()));
                replaced.flatten().map_or(Dim::Any, Dim::of)
            }
            Dim::Static(_) | Dim::Any => self.clone(),
        }
    }

    /// The names in it.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Dim::Symbol(name) => vec![name],
            Dim::Expr(expression) => expression.names(),
            Dim::Static(_) | Dim::Any => Vec::new(),
        }
    }
}
