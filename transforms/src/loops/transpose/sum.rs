//! An index as a sum of multiples and a number: what two indices have in common says how far apart they are.
//!
//!     affine_map<(f) -> (f * 14 + (f floordiv 14) * 6076 + 196)>  =  14 f + 6076 (f floordiv 14) + 196
//!
//! The quotients and rests are those of loops that were fused into one.

use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{Affine, OpExt, Value, affine_map_of, defining_op, key, kind_of};

/// Where an access begins.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sum {
    /// What is multiplied and by how much, each once and by more than nothing.
    pub terms: Vec<(Term, i64)>,
    /// The number.
    pub offset: i64,
}

/// What an index is made of.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Term {
    /// A value, by its key.
    Value(usize),
    /// What is left of a division by a number, rounded down.
    Quotient(Sum, i64),
    /// What such a division leaves over.
    Rest(Sum, i64),
}

impl Sum {
    /// That of an index; the index itself where it is more than that.
    pub fn of(index: Value) -> Self {
        let opaque = || Sum::from(Term::Value(key(index)));
        let Some(op) = defining_op(index) else { return opaque() };
        match kind_of(op) {
            Some(Kind::Upstream(Upstream::ArithConstant)) => op.int("value").map_or_else(opaque, Sum::number),
            Some(Kind::Upstream(Upstream::AffineApply)) => {
                let operands = op.operand_values();
                let map = op.attr("map").and_then(affine_map_of);
                map.and_then(|map| Sum::of_map(&map, &operands)).unwrap_or_else(opaque)
            }
            _ => opaque(),
        }
    }

    fn number(offset: i64) -> Self {
        Sum { terms: Vec::new(), offset }
    }

    fn of_map(e: &Affine, operands: &[Value]) -> Option<Self> {
        let of = |e: &Affine| Sum::of_map(e, operands);
        match e {
            Affine::Input(i) => operands.get(*i).map(|v| Sum::of(*v)),
            Affine::Constant(c) => Some(Sum::number(*c)),
            Affine::Add(a, b) => of(a)?.plus(of(b)?),
            Affine::Mul(a, b) => match (&**a, &**b) {
                (a, Affine::Constant(c)) | (Affine::Constant(c), a) => of(a)?.times(*c),
                _ => None,
            },
            Affine::FloorDiv(a, b) => Some(Term::Quotient(of(a)?, of(b)?.as_number()?).into()),
            Affine::Mod(a, b) => Some(Term::Rest(of(a)?, of(b)?.as_number()?).into()),
            Affine::CeilDiv(..) => None,
        }
    }

    fn as_number(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.offset)
    }

    fn plus(mut self, other: Self) -> Option<Self> {
        for (term, by) in other.terms {
            match self.terms.iter_mut().find(|(t, _)| *t == term) {
                Some((_, have)) => *have = have.checked_add(by)?,
                None => self.terms.push((term, by)),
            }
        }
        self.terms.retain(|(_, by)| *by != 0);
        self.terms.sort_unstable();
        self.offset = self.offset.checked_add(other.offset)?;
        Some(self)
    }

    fn times(mut self, by: i64) -> Option<Self> {
        if by == 0 {
            return Some(Sum::number(0));
        }
        for (_, have) in &mut self.terms {
            *have = have.checked_mul(by)?;
        }
        self.offset = self.offset.checked_mul(by)?;
        Some(self)
    }
}

impl From<Term> for Sum {
    fn from(term: Term) -> Self {
        Sum { terms: vec![(term, 1)], offset: 0 }
    }
}
