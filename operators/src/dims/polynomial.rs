//! Integer expressions of named extents, in a normal form: equal expressions are written alike.
//!
//! ```text
//!   2 n m + n - 3                       a sum of terms: a coefficient times a product of factors
//!   (n + 5) floordiv 2, max(n, m)       are factors like a name is, of expressions in normal form
//! ```
//! After the shape polymorphism of JAX (`_DimExpr`) and MLIR's affine expressions, with products of names beside them.

use std::collections::BTreeMap;

/// A product of factors, each with its power; the empty one is 1.
type Product = BTreeMap<Factor, u32>;

/// An integer expression: terms that are not 0.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Polynomial {
    terms: BTreeMap<Product, i64>,
}

/// More terms than this make no extent that anybody can read; such a one is not known.
const MOST_TERMS: usize = 64;
/// Nor do greater powers, or factors that stand deeper in each other.
const MOST_POWER: u32 = 16;
const MOST_DEPTH: usize = 16;

/// Two expressions.
enum Sorted<'a> {
    /// It is known which is greater.
    Known { greater: &'a Polynomial, smaller: &'a Polynomial },
    /// It depends on the extents; in the order in which they are written.
    Unknown(&'a Polynomial, &'a Polynomial),
}

impl Polynomial {
    /// A number.
    pub fn number(n: i64) -> Self {
        let mut made = Polynomial::default();
        made.add_term(Product::new(), n);
        made
    }

    /// A factor alone; none where expressions stand too deep in each other.
    fn factor(factor: Factor) -> Option<Self> {
        (factor.depth() <= MOST_DEPTH).then(|| Self::of(factor))
    }

    fn of(factor: Factor) -> Self {
        Polynomial { terms: BTreeMap::from([(Product::from([(factor, 1)]), 1)]) }
    }

    /// A name alone.
    pub fn symbol(name: &str) -> Self {
        Self::of(Factor::Symbol(name.to_owned()))
    }

    /// The number, when it is one.
    pub fn as_number(&self) -> Option<i64> {
        match self.terms.iter().next() {
            None => Some(0),
            Some((product, n)) => (product.is_empty() && self.terms.len() == 1).then_some(*n),
        }
    }

    /// The name, when it is nothing else.
    pub fn as_symbol(&self) -> Option<&str> {
        match self.as_factor()? {
            Factor::Symbol(name) => Some(name),
            _ => None,
        }
    }

    /// The factor, when it is nothing else.
    pub fn as_factor(&self) -> Option<&Factor> {
        let mut terms = self.terms.iter();
        let ((product, 1), None) = (terms.next()?, terms.next()) else { return None };
        let mut factors = product.iter();
        let ((factor, 1), None) = (factors.next()?, factors.next()) else { return None };
        Some(factor)
    }

    /// The terms: a coefficient, and factors with powers.
    pub fn terms(&self) -> impl DoubleEndedIterator<Item = (i64, impl Iterator<Item = (&Factor, u32)>)> {
        self.terms.iter().map(|(product, n)| (*n, product.iter().map(|(factor, power)| (factor, *power))))
    }

    fn add_term(&mut self, product: Product, n: i64) -> Option<()> {
        let sum = self.terms.get(&product).copied().unwrap_or(0).checked_add(n)?;
        match sum {
            0 => self.terms.remove(&product),
            _ => self.terms.insert(product, sum),
        };
        (self.terms.len() <= MOST_TERMS).then_some(())
    }

    /// `self + other`; none when a number is too large.
    pub fn plus(&self, other: &Self) -> Option<Self> {
        let mut sum = self.clone();
        other.terms.iter().try_for_each(|(product, n)| sum.add_term(product.clone(), *n))?;
        Some(sum)
    }

    /// `self - other`.
    pub fn minus(&self, other: &Self) -> Option<Self> {
        self.plus(&other.times(&Self::number(-1))?)
    }

    /// `self * other`.
    pub fn times(&self, other: &Self) -> Option<Self> {
        let mut made = Polynomial::default();
        for (a, n) in &self.terms {
            for (b, m) in &other.terms {
                let mut product = a.clone();
                for (factor, power) in b {
                    let sum = product.entry(factor.clone()).or_insert(0);
                    *sum = sum.checked_add(*power).filter(|sum| *sum <= MOST_POWER)?;
                }
                made.add_term(product, n.checked_mul(*m)?)?;
            }
        }
        Some(made)
    }

    /// The term with the greatest product.
    fn leading(&self) -> Option<(&Product, i64)> {
        // Products are compared factor by factor, so more factors of one kind may come earlier; any total order that products respect
        // would do for exact division, this one by degree does.
        self.terms
            .iter()
            .max_by_key(|(product, _)| (product.values().sum::<u32>(), *product))
            .map(|(p, n)| (p, *n))
    }

    /// `self / other` where that leaves nothing over.
    pub fn exactly_over(&self, other: &Self) -> Option<Self> {
        let (divisor, m) = other.leading()?;
        let (mut rest, mut quotient) = (self.clone(), Polynomial::default());
        for _ in 0..=MOST_TERMS {
            let Some((product, n)) = rest.leading() else { return Some(quotient) };
            let mut left = product.clone();
            for (factor, power) in divisor {
                let own = left.get_mut(factor)?;
                *own = own.checked_sub(*power)?;
                if *own == 0 {
                    left.remove(factor);
                }
            }
            if n.checked_rem(m)? != 0 {
                return None;
            }
            let step = Polynomial { terms: BTreeMap::from([(left, n.checked_div(m)?)]) };
            rest = rest.minus(&step.times(other)?)?;
            quotient = quotient.plus(&step)?;
        }
        None
    }

    /// The terms whose coefficients a number divides, divided by it, and the others.
    fn parted(&self, by: i64) -> (Self, Self) {
        let (mut whole, mut rest) = (Polynomial::default(), Polynomial::default());
        for (product, n) in &self.terms {
            // The constant keeps what is over only, so that (n + 7) / 4 is (n + 3) / 4 + 1.
            let (q, r) = match product.is_empty() {
                true => (n.div_euclid(by), n.rem_euclid(by)),
                false if n % by == 0 => (n / by, 0),
                false => (0, *n),
            };
            if q != 0 {
                whole.terms.insert(product.clone(), q);
            }
            if r != 0 {
                rest.terms.insert(product.clone(), r);
            }
        }
        (whole, rest)
    }

    /// `self / other`, rounded down, for an `other` above 0.
    pub fn over(&self, other: &Self) -> Option<Self> {
        if let Some(exact) = self.exactly_over(other) {
            return Some(exact);
        }
        let Some(by) = other.as_number() else {
            return Self::factor(Factor::Quotient(Box::new(self.clone()), Box::new(other.clone())));
        };
        if by <= 0 {
            return None;
        }
        let (whole, rest) = self.parted(by);
        if let Some(n) = rest.as_number() {
            return whole.plus(&Self::number(n.div_euclid(by)));
        }
        // (a floordiv b + c) floordiv d is (a + b c) floordiv (b d).
        if let Some((above, below, c)) = rest.quotient_and_number() {
            let inner = above.plus(&below.times(&Self::number(c))?)?;
            let outer = below.times(&Self::number(by))?;
            return whole.plus(&inner.over(&outer)?);
        }
        whole.plus(&Self::factor(Factor::Quotient(Box::new(rest), Box::new(Self::number(by))))?)
    }

    /// `a floordiv b + c`, taken apart.
    fn quotient_and_number(&self) -> Option<(Self, Self, i64)> {
        let c = self.terms.get(&Product::new()).copied().unwrap_or(0);
        let rest = self.minus(&Self::number(c))?;
        match rest.as_factor()? {
            Factor::Quotient(a, b) if b.as_number().is_some() => Some(((**a).clone(), (**b).clone(), c)),
            _ => None,
        }
    }

    /// The greater of two.
    pub fn greatest(&self, other: &Self) -> Option<Self> {
        match self.sorted(other)? {
            Sorted::Known { greater, .. } => Some(greater.clone()),
            Sorted::Unknown(a, b) => Self::factor(Factor::Greatest(Box::new(a.clone()), Box::new(b.clone()))),
        }
    }

    /// The smaller of two.
    pub fn least(&self, other: &Self) -> Option<Self> {
        match self.sorted(other)? {
            Sorted::Known { smaller, .. } => Some(smaller.clone()),
            Sorted::Unknown(a, b) => Self::factor(Factor::Least(Box::new(a.clone()), Box::new(b.clone()))),
        }
    }

    /// Which of two is greater for all extents; none when a number is too large.
    fn sorted<'a>(&'a self, other: &'a Self) -> Option<Sorted<'a>> {
        let difference = self.minus(other)?;
        Some(if difference.is_never_negative() {
            Sorted::Known { greater: self, smaller: other }
        } else if difference.times(&Self::number(-1))?.is_never_negative() {
            Sorted::Known { greater: other, smaller: self }
        } else {
            Sorted::Unknown(self.min(other), self.max(other))
        })
    }

    /// True when it is 0 or more whatever extents, which never are negative, its names stand for.
    pub fn is_never_negative(&self) -> bool {
        self.terms.iter().all(|(product, n)| *n >= 0 && product.keys().all(Factor::is_never_negative))
    }

    /// The names in it, each once.
    pub fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.collect_names(&mut names);
        names.sort_unstable();
        names.dedup();
        names
    }

    /// How deep quotients, maxima and minima stand in each other.
    fn depth(&self) -> usize {
        self.terms.keys().flat_map(BTreeMap::keys).map(Factor::depth).max().unwrap_or(0)
    }

    fn collect_names<'a>(&'a self, names: &mut Vec<&'a str>) {
        self.terms.keys().flat_map(|product| product.keys()).for_each(|factor| factor.collect_names(names));
    }

    /// With other expressions in place of names; a name that is given none stays.
    pub fn replace(&self, of: &dyn Fn(&str) -> Option<Polynomial>) -> Option<Self> {
        let mut sum = Polynomial::default();
        for (product, n) in &self.terms {
            let mut term = Self::number(*n);
            for (factor, power) in product {
                let factor = factor.replace(of)?;
                for _ in 0..*power {
                    term = term.times(&factor)?;
                }
            }
            sum = sum.plus(&term)?;
        }
        Some(sum)
    }
}

/// A factor of a term.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Factor {
    /// A named extent.
    Symbol(String),
    /// The first over the second, rounded down.
    Quotient(Box<Polynomial>, Box<Polynomial>),
    /// The greater of two.
    Greatest(Box<Polynomial>, Box<Polynomial>),
    /// The smaller of two.
    Least(Box<Polynomial>, Box<Polynomial>),
}

impl Factor {
    fn depth(&self) -> usize {
        match self {
            Factor::Symbol(_) => 0,
            Factor::Quotient(a, b) | Factor::Greatest(a, b) | Factor::Least(a, b) => {
                1 + a.depth().max(b.depth())
            }
        }
    }

    /// True when it is 0 or more whatever extents its names stand for. Divisors are above 0.
    pub fn is_never_negative(&self) -> bool {
        match self {
            Factor::Symbol(_) => true,
            Factor::Quotient(a, _) => a.is_never_negative(),
            Factor::Greatest(a, b) => a.is_never_negative() || b.is_never_negative(),
            Factor::Least(a, b) => a.is_never_negative() && b.is_never_negative(),
        }
    }

    fn collect_names<'a>(&'a self, names: &mut Vec<&'a str>) {
        match self {
            Factor::Symbol(name) => names.push(name),
            Factor::Quotient(a, b) | Factor::Greatest(a, b) | Factor::Least(a, b) => {
                a.collect_names(names);
                b.collect_names(names);
            }
        }
    }

    /// With other expressions in place of names.
    fn replace(&self, of: &dyn Fn(&str) -> Option<Polynomial>) -> Option<Polynomial> {
        match self {
            Factor::Symbol(name) => Some(of(name).unwrap_or_else(|| Polynomial::symbol(name))),
            Factor::Quotient(a, b) => {
                let (a, b) = (a.replace(of)?, b.replace(of)?);
                // A divisor that became 0 divides nothing.
                if b.as_number().is_some_and(|n| n <= 0) { None } else { a.over(&b) }
            }
            Factor::Greatest(a, b) => a.replace(of)?.greatest(&b.replace(of)?),
            Factor::Least(a, b) => a.replace(of)?.least(&b.replace(of)?),
        }
    }
}
