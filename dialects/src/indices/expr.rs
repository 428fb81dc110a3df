//! Index expressions: sums of integer multiples of atoms, plus a constant.
//!
//!     e  =  c0 + c1 * atom1 + c2 * atom2 + ...      atom = variable | e floordiv n | e mod n | opaque value
//!
//! Kept in one normal form, in which `(e floordiv n) * n + e mod n` is `e` again: the row-major offset of a reshaped or
//! fused index comes out as affine as it is. Every variable has a known range, so that quotients and remainders
//! that cannot matter disappear.

use std::collections::BTreeMap;
use std::rc::Rc;

/// A variable of an expression: `0 <= v < extent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Var {
    /// Which variable.
    pub id: usize,
    /// Its number of values.
    pub extent: u64,
}

/// What an expression is a sum of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Atom {
    /// A variable.
    Var(Var),
    /// A value nothing is known of, by its number in some table.
    Opaque(usize),
    /// A quotient, rounded down.
    Div(Rc<Expr>, i64),
    /// A remainder, not negative.
    Mod(Rc<Expr>, i64),
}

/// A sum of multiples of atoms.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Expr {
    terms: BTreeMap<Atom, i64>,
    constant: i64,
}

impl Expr {
    /// A number.
    pub fn constant(value: i64) -> Self {
        Expr { terms: BTreeMap::new(), constant: value }
    }

    /// One atom.
    pub fn atom(atom: Atom) -> Self {
        Expr { terms: BTreeMap::from([(atom, 1)]), constant: 0 }
    }

    /// A variable; one of extent 1 is 0.
    pub fn var(id: usize, extent: u64) -> Self {
        if extent == 1 { Expr::constant(0) } else { Expr::atom(Atom::Var(Var { id, extent })) }
    }

    /// The number, when it is one.
    pub fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The variable, when it is one.
    pub fn as_variable(&self) -> Option<Var> {
        match (self.terms.first_key_value(), self.terms.len(), self.constant) {
            (Some((Atom::Var(v), 1)), 1, 0) => Some(*v),
            _ => None,
        }
    }

    /// What is to be below what for the expression to be below `end`: where `end` is a multiple of the same number as some terms, and
    /// the others are below that number, these do not matter.
    ///
    ///     4 v + l < 64,  l < 4     =>     4 v < 64
    pub fn that_decides(&self, end: i64) -> Expr {
        let rough = |by: &i64| {
            let (whole, rest) = self.by_multiples(*by);
            let small = rest.range().is_some_and(|(low, high)| low >= 0 && high < *by);
            (end % by == 0 && small && !rest.terms.is_empty()).then(|| whole.times(*by))
        };
        [64, 32, 16, 8, 4, 2].iter().find_map(rough).unwrap_or_else(|| self.clone())
    }

    /// The terms.
    pub fn terms(&self) -> impl Iterator<Item = (&Atom, i64)> {
        self.terms.iter().map(|(a, c)| (a, *c))
    }

    /// What is added to the terms.
    pub fn offset(&self) -> i64 {
        self.constant
    }

    /// The sum.
    pub fn plus(&self, other: &Expr) -> Expr {
        let mut sum = self.clone();
        sum.constant = sum.constant.wrapping_add(other.constant);
        for (atom, c) in &other.terms {
            let have = sum.terms.entry(atom.clone()).or_insert(0);
            *have = have.wrapping_add(*c);
        }
        sum.normalize()
    }

    /// A multiple.
    pub fn times(&self, factor: i64) -> Expr {
        if factor == 0 {
            return Expr::constant(0);
        }
        let terms = self.terms.iter().map(|(a, c)| (a.clone(), c.wrapping_mul(factor))).collect();
        Expr { terms, constant: self.constant.wrapping_mul(factor) }
    }

    /// The difference.
    pub fn minus(&self, other: &Expr) -> Expr {
        self.plus(&other.times(-1))
    }

    /// The quotient, rounded down; `by` is above 0.
    pub fn div(&self, by: i64) -> Expr {
        if by == 1 {
            return self.clone();
        }
        let (whole, rest) = self.by_multiples(by);
        let inside = rest.range().is_some_and(|(low, high)| low >= 0 && high < by);
        if inside {
            return whole;
        }
        if let Some(value) = rest.as_constant() {
            return whole.plus(&Expr::constant(value.div_euclid(by)));
        }
        // (a e + r) floordiv (a b) = e floordiv b, where 0 <= r < a
        if let Some((a, e)) = rest.coarse(by) {
            return whole.plus(&e.div(by / a));
        }
        // (e floordiv a) floordiv b = e floordiv (a b)
        if let (Some((Atom::Div(inner, a), 1)), 1, 0) =
            (rest.terms.first_key_value().map(|(a, c)| (a, *c)), rest.terms.len(), rest.constant)
        {
            return whole.plus(&Expr::atom(Atom::Div(Rc::clone(inner), a * by)));
        }
        whole.plus(&Expr::atom(Atom::Div(Rc::new(rest), by)))
    }

    /// The remainder, not negative; `by` is above 0.
    pub fn modulo(&self, by: i64) -> Expr {
        if by == 1 {
            return Expr::constant(0);
        }
        let (_, rest) = self.by_multiples(by);
        if rest.range().is_some_and(|(low, high)| low >= 0 && high < by) {
            return rest;
        }
        if let Some(value) = rest.as_constant() {
            return Expr::constant(value.rem_euclid(by));
        }
        // (a e + r) mod (a b) = a (e mod b) + r, where 0 <= r < a
        if let Some((a, e)) = rest.coarse(by) {
            return e.modulo(by / a).times(a).plus(&rest.minus(&e.times(a)));
        }
        Expr::atom(Atom::Mod(Rc::new(rest), by))
    }

    /// `self = a * e + r` with `0 <= r < a` for a divisor `a` of `by`, the greatest there is, and terms on both sides: `r` has no part in a quotient by `by`.
    fn coarse(&self, by: i64) -> Option<(i64, Expr)> {
        let mut divisors: Vec<i64> = self
            .terms
            .values()
            .map(|c| gcd(c.unsigned_abs(), by.unsigned_abs()) as i64)
            .filter(|a| 1 < *a && *a < by)
            .collect();
        divisors.sort_unstable();
        divisors.into_iter().rev().find_map(|a| {
            let (e, rest) = self.by_multiples(a);
            let small = rest.range().is_some_and(|(low, high)| low >= 0 && high < a);
            (small && !rest.terms.is_empty()).then_some((a, e))
        })
    }

    /// `self = by * whole + rest`, taking out the terms whose coefficient is a multiple.
    fn by_multiples(&self, by: i64) -> (Expr, Expr) {
        let (mut whole, mut rest) = (Expr::default(), Expr::default());
        for (atom, c) in &self.terms {
            if c % by == 0 {
                whole.terms.insert(atom.clone(), c / by);
            } else {
                rest.terms.insert(atom.clone(), *c);
            }
        }
        whole.constant = self.constant.div_euclid(by);
        rest.constant = self.constant.rem_euclid(by);
        (whole, rest)
    }

    /// Least and greatest value, when all atoms have a known range.
    pub fn range(&self) -> Option<(i64, i64)> {
        let (mut low, mut high) = (self.constant, self.constant);
        for (atom, c) in &self.terms {
            let (a, b) = atom.range()?;
            let (a, b) = if *c < 0 { (b, a) } else { (a, b) };
            low = low.checked_add(a.checked_mul(*c)?)?;
            high = high.checked_add(b.checked_mul(*c)?)?;
        }
        Some((low, high))
    }

    /// `k n (e floordiv n) + k (e mod n) = k e`.
    fn normalize(mut self) -> Expr {
        self.terms.retain(|_, c| *c != 0);
        let found = self.terms.iter().find_map(|(atom, &k)| {
            let Atom::Mod(inner, n) = atom else { return None };
            let quotient = inner.div(*n);
            let (div, one) = quotient.terms.first_key_value()?;
            let single = quotient.terms.len() == 1 && quotient.constant == 0 && *one == 1;
            let have = self.terms.get(div).copied();
            (single && have == Some(k * n)).then(|| (atom.clone(), div.clone(), Rc::clone(inner), k))
        });
        match found {
            None => self,
            Some((remainder, quotient, inner, k)) => {
                self.terms.remove(&remainder);
                self.terms.remove(&quotient);
                self.plus(&inner.times(k))
            }
        }
    }

    /// Replaces variables.
    pub fn substitute(&self, with: &dyn Fn(Var) -> Option<Expr>) -> Expr {
        let mut sum = Expr::constant(self.constant);
        for (atom, c) in &self.terms {
            let value = match atom {
                Atom::Var(v) => with(*v).unwrap_or_else(|| Expr::atom(atom.clone())),
                Atom::Opaque(_) => Expr::atom(atom.clone()),
                Atom::Div(e, n) => e.substitute(with).div(*n),
                Atom::Mod(e, n) => e.substitute(with).modulo(*n),
            };
            sum = sum.plus(&value.times(*c));
        }
        sum
    }

    /// The coefficient of a variable; `None` when the expression also depends on it in another way.
    pub fn coefficient(&self, id: usize) -> Option<i64> {
        let mut found = 0;
        for (atom, c) in &self.terms {
            match atom {
                Atom::Var(v) if v.id == id => found = *c,
                Atom::Var(_) => {}
                Atom::Opaque(_) => {}
                Atom::Div(e, _) | Atom::Mod(e, _) => {
                    if e.mentions(id) {
                        return None;
                    }
                }
            }
        }
        Some(found)
    }

    /// 1 when the expression does not fall as a variable grows, -1 when it does not rise; `None` when neither is sure or
    /// it does not depend on the variable.
    pub fn direction(&self, id: usize) -> Option<i64> {
        let mut found = None;
        for (atom, c) in &self.terms {
            let atom = match atom {
                Atom::Var(v) if v.id == id => Some(1),
                Atom::Div(e, _) if e.mentions(id) => Some(e.direction(id)?),
                Atom::Mod(e, _) if e.mentions(id) => return None,
                _ => None,
            };
            if let Some(of_atom) = atom {
                let here = of_atom * c.signum();
                if found.is_some_and(|f| f != here) {
                    return None;
                }
                found = Some(here);
            }
        }
        found
    }

    /// The variables that the expression depends on, as often as they stand in it.
    pub fn variables(&self) -> Box<dyn Iterator<Item = Var> + '_> {
        let of_atom = |atom| -> Box<dyn Iterator<Item = Var> + '_> {
            match atom {
                &Atom::Var(v) => Box::new(std::iter::once(v)),
                Atom::Opaque(_) => Box::new(std::iter::empty()),
                Atom::Div(e, _) | Atom::Mod(e, _) => e.variables(),
            }
        };
        Box::new(self.terms.keys().flat_map(of_atom))
    }

    /// True when the expression depends on a variable.
    pub fn mentions(&self, id: usize) -> bool {
        self.terms.keys().any(|atom| match atom {
            Atom::Var(v) => v.id == id,
            Atom::Opaque(_) => false,
            Atom::Div(e, _) | Atom::Mod(e, _) => e.mentions(id),
        })
    }

    /// True when the expression depends on values nothing is known of.
    pub fn is_opaque(&self) -> bool {
        self.terms.keys().any(|atom| match atom {
            Atom::Var(_) => false,
            Atom::Opaque(_) => true,
            Atom::Div(e, _) | Atom::Mod(e, _) => e.is_opaque(),
        })
    }
}

impl Atom {
    fn range(&self) -> Option<(i64, i64)> {
        match self {
            Atom::Var(v) => Some((0, (v.extent as i64 - 1).max(0))),
            Atom::Opaque(_) => None,
            Atom::Div(e, n) => e.range().map(|(low, high)| (low.div_euclid(*n), high.div_euclid(*n))),
            Atom::Mod(_, n) => Some((0, n - 1)),
        }
    }
}

/// The greatest common divisor.
pub fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The row-major offset of indices in a shape.
pub fn flatten(indices: &[Expr], shape: &[u64]) -> Expr {
    let mut flat = Expr::constant(0);
    for (index, &n) in indices.iter().zip(shape) {
        flat = flat.times(n as i64).plus(index);
    }
    flat
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fused_index_flattens_to_itself() {
        let f = Expr::var(0, 12);
        assert_eq!(flatten(&[f.div(4), f.modulo(4)], &[3, 4]), f);
    }

    #[test]
    fn a_twice_fused_index_flattens_to_itself() {
        let f = Expr::var(0, 2 * 3 * 4);
        let indices = [f.div(4).div(3), f.div(4).modulo(3), f.modulo(4)];
        assert_eq!(flatten(&indices, &[2, 3, 4]), f);
    }

    #[test]
    fn quotients_that_cannot_matter_disappear() {
        let e = Expr::var(0, 5).times(8).plus(&Expr::var(1, 8));
        assert_eq!(e.div(8), Expr::var(0, 5));
        assert_eq!(e.modulo(8), Expr::var(1, 8));
    }

    #[test]
    fn lanes_have_no_part_in_a_quotient() {
        let (v, lane) = (Expr::var(0, 8), Expr::var(1, 16));
        let e = v.times(16).plus(&lane);
        assert_eq!(e.div(32), v.div(2));
        assert_eq!(e.modulo(32), v.modulo(2).times(16).plus(&lane));
        assert_eq!(flatten(&[e.div(32), e.modulo(32)], &[4, 32]), e);
        // Vectors that go across a border do have.
        assert_eq!(e.div(24).coefficient(1), None);
    }

    #[test]
    fn a_variable_inside_a_quotient_has_no_coefficient() {
        let f = Expr::var(0, 12);
        assert_eq!(f.div(5).coefficient(0), None);
        assert_eq!(f.times(3).coefficient(0), Some(3));
    }

    #[test]
    fn quotients_go_with_their_variable() {
        let f = Expr::var(0, 12);
        assert_eq!(f.div(5).times(-2).plus(&Expr::var(1, 3)).direction(0), Some(-1));
        assert_eq!(f.div(5).minus(&f).direction(0), None);
        assert_eq!(f.modulo(5).direction(0), None);
        assert_eq!(f.direction(1), None);
    }

    #[test]
    fn a_lane_does_not_decide_where_vectors_end_together() {
        let (v, lane) = (Expr::var(0, 5), Expr::var(1, 4));
        let e = v.times(4).plus(&lane);
        assert_eq!(e.that_decides(16), v.times(4));
        assert_eq!(e.that_decides(18), e);
        assert_eq!(v.times(4).that_decides(16), v.times(4));
        let padded = e.plus(&Expr::constant(-4));
        assert_eq!(padded.that_decides(16), v.times(4).plus(&Expr::constant(-4)));
    }

    #[test]
    fn a_floor_of_a_negative_number_rounds_down() {
        assert_eq!(Expr::constant(-1).div(4), Expr::constant(-1));
        assert_eq!(Expr::constant(-1).modulo(4), Expr::constant(3));
    }
}
