//! The steps of a shape function as they are found. The same step is made once, and what follows from known extents is no step.

use fusion_bytecode::{Extent, Said, Shapes, Step};
use fusion_operators::dims::{Factor, Polynomial};
use fusion_operators::{Dim, TensorType};
use indexmap::IndexMap;

/// Steps so far.
#[derive(Default)]
pub struct Steps {
    steps: Vec<Step>,
    /// The number of a step, by what it does without what it says.
    known: IndexMap<(u8, Extent, Extent), u32>,
    place: String,
    who: String,
    /// What the operands of the operator are.
    taken: Vec<Taken>,
}

/// What an operand is.
#[derive(Clone, Copy)]
pub enum Taken {
    /// An input of the kernel.
    Input(u32),
    /// A constant, one number.
    Known(i128),
    /// What the kernel computes.
    Other,
}

impl Steps {
    /// Says which operator the next steps belong to, and where it stands.
    pub fn at(&mut self, place: String, operator: &str) {
        self.place = place;
        operator.clone_into(&mut self.who);
    }

    /// Says what the operands of the operator are.
    pub fn takes(&mut self, taken: Vec<Taken>) {
        self.taken = taken;
    }

    /// The number that an operand holds; none where the kernel computes it, or it is negative.
    pub fn number(&mut self, operand: usize, text: &str) -> Option<Dim> {
        let input = match self.taken.get(operand).copied()? {
            Taken::Input(input) => input,
            Taken::Known(number) => return u64::try_from(number).ok().map(Dim::Static),
            Taken::Other => return None,
        };
        let (which, at) = (7, Extent::Known(input.into()));
        if let Some(known) = self.known.get(&(which, at, at)) {
            return Some(Dim::Symbol(Shapes::name(*known)));
        }
        self.known.insert((which, at, at), self.steps.len() as u32);
        let said = self.said(text);
        Some(self.add(Step::Value { input, said }))
    }

    /// The shape function.
    pub fn finish(self) -> Shapes {
        Shapes { steps: self.steps, temporaries: Vec::new() }
    }

    /// The type of an input with a name for each extent that is not known. Its known extents are what the kernel's caller compares.
    pub fn input(&mut self, input: u32, ty: &TensorType) -> TensorType {
        let dims = ty.dims.iter().enumerate().map(|(axis, dim)| match dim {
            Dim::Static(_) => dim.clone(),
            _ => self.add(Step::Input { input, axis: axis as u32 }),
        });
        TensorType::new(dims.collect(), ty.dtype)
    }

    fn add(&mut self, step: Step) -> Dim {
        let number = self.steps.len() as u32;
        self.steps.push(step);
        Dim::Symbol(Shapes::name(number))
    }

    fn extent(dim: &Dim) -> Extent {
        match dim {
            Dim::Static(known) => Extent::Known(*known),
            // Names are made by `add`.
            Dim::Symbol(name) => {
                Extent::Step(name.strip_prefix('n').and_then(|number| number.parse().ok()).unwrap_or(0))
            }
            // Those of kernels are numbers and names: `named` makes steps of others.
            Dim::Expr(_) | Dim::Any => Extent::Known(0),
        }
    }

    /// The extent as a name or a number: an expression over names that `of` gives is computed in steps.
    pub fn named(&mut self, dim: &Dim, of: &dyn Fn(&str) -> Option<Dim>) -> Option<Dim> {
        match dim {
            Dim::Static(_) => Some(dim.clone()),
            Dim::Symbol(name) => of(name),
            Dim::Expr(expression) => self.expression(expression, of),
            Dim::Any => None,
        }
    }

    /// The terms that are added, less those that are taken away.
    fn expression(&mut self, expression: &Polynomial, of: &dyn Fn(&str) -> Option<Dim>) -> Option<Dim> {
        let (mut added, mut taken) = (Dim::Static(0), Dim::Static(0));
        // The constant last, as it is written.
        for (coefficient, factors) in expression.terms().rev() {
            let mut term = Dim::Static(coefficient.unsigned_abs());
            for (factor, power) in factors {
                let factor = self.factor(factor, of)?;
                for _ in 0..power {
                    term = self.times(&factor, &term);
                }
            }
            match coefficient > 0 {
                true => added = self.plus(&added, &term),
                false => taken = self.plus(&taken, &term),
            }
        }
        Some(self.minus(&added, &taken))
    }

    fn factor(&mut self, factor: &Factor, of: &dyn Fn(&str) -> Option<Dim>) -> Option<Dim> {
        let both = |steps: &mut Self, a: &Polynomial, b: &Polynomial| {
            Some((steps.expression(a, of)?, steps.expression(b, of)?))
        };
        match factor {
            Factor::Symbol(name) => of(name),
            Factor::Quotient(a, b) => {
                let (a, b) = both(self, a, b)?;
                Some(self.over(&a, &b))
            }
            Factor::Least(a, b) => {
                let (a, b) = both(self, a, b)?;
                Some(self.least(&a, &b))
            }
            // max(a, b) is b and what a has more.
            Factor::Greatest(a, b) => {
                let (a, b) = both(self, a, b)?;
                let more = self.minus(&a, &b);
                Some(self.plus(&b, &more))
            }
        }
    }

    /// A step of two numbers, unless it was made before.
    fn of(&mut self, which: u8, a: &Dim, b: &Dim, step: impl FnOnce(Extent, Extent) -> Step) -> Dim {
        let (left, right) = (Self::extent(a), Self::extent(b));
        if let Some(known) = self.known.get(&(which, left, right)) {
            return Dim::Symbol(Shapes::name(*known));
        }
        self.known.insert((which, left, right), self.steps.len() as u32);
        self.add(step(left, right))
    }

    fn said(&self, text: &str) -> Said {
        Said { place: self.place.clone(), text: format!("{} {text}", self.subject()) }
    }

    fn subject(&self) -> String {
        if self.who.contains(' ') { self.who.clone() } else { format!("relay.{}", self.who) }
    }

    /// `a + b`.
    pub fn plus(&mut self, a: &Dim, b: &Dim) -> Dim {
        match (a.known(), b.known()) {
            (Some(a), Some(b)) => Dim::Static(a.saturating_add(b)),
            (Some(0), _) => b.clone(),
            (_, Some(0)) => a.clone(),
            _ => self.of(0, a, b, Step::Plus),
        }
    }

    /// `a - b`, 0 at least.
    pub fn minus(&mut self, a: &Dim, b: &Dim) -> Dim {
        match (a.known(), b.known()) {
            (Some(a), Some(b)) => Dim::Static(a.saturating_sub(b)),
            (_, Some(0)) => a.clone(),
            _ if a == b => Dim::Static(0),
            _ => self.of(1, a, b, Step::Minus),
        }
    }

    /// `a * b`.
    pub fn times(&mut self, a: &Dim, b: &Dim) -> Dim {
        match (a.known(), b.known()) {
            (Some(a), Some(b)) => Dim::Static(a.saturating_mul(b)),
            (Some(1), _) => b.clone(),
            (_, Some(1)) => a.clone(),
            _ => self.of(2, a, b, Step::Times),
        }
    }

    /// `a / b`, rounded down.
    pub fn over(&mut self, a: &Dim, b: &Dim) -> Dim {
        match (a.known(), b.known()) {
            (Some(a), Some(b)) => Dim::Static(a.checked_div(b).unwrap_or(0)),
            (_, Some(1)) => a.clone(),
            _ => self.of(3, a, b, Step::Over),
        }
    }

    /// The smaller.
    pub fn least(&mut self, a: &Dim, b: &Dim) -> Dim {
        match (a.known(), b.known()) {
            (Some(a), Some(b)) => Dim::Static(a.min(b)),
            _ if a == b => a.clone(),
            _ => self.of(4, a, b, Step::Least),
        }
    }

    /// Two extents that must be equal: what is known of them. `text` says so in a sentence whose subject is the operator.
    pub fn equal(&mut self, a: &Dim, b: &Dim, text: &str) -> Dim {
        if a != b {
            let said = self.said(text);
            self.of(5, a, b, |a, b| Step::Equal(a, b, said));
        }
        if a.known().is_some() { a.clone() } else { b.known().map_or_else(|| a.clone(), Dim::Static) }
    }

    /// The extent to which two broadcast.
    pub fn broadcast(&mut self, a: &Dim, b: &Dim, text: &str) -> Dim {
        match (a.known(), b.known()) {
            (Some(1), _) => b.clone(),
            (_, Some(1)) => a.clone(),
            _ if a == b => a.clone(),
            (known, other) => {
                let said = self.said(text);
                let both = self.of(6, a, b, |a, b| Step::Broadcast(a, b, said));
                // An extent that is not one stays.
                known.or(other).map_or(both, Dim::Static)
            }
        }
    }
}
