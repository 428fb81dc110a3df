//! Which elements of a buffer an access touches, and along each dimension of blocks and threads, who does.
//!
//! ```text
//!   loop.for 12 thread_x { ^(%i):
//!     loop.for 16 { ^(%j):  store %v, %s[16 i + j] }          along x, thread e / 16 touches element e
//! ```
//!
//! The index is an expression of the loops around the access. What two accesses have around them both is the same for both.

use super::launches::is_bound;
use super::parents;
use fusion_dialects::indices::expr::{Atom, Expr};
use fusion_dialects::loops::tensor_copy::TensorCopy;
use fusion_dialects::loops::{Op as Loop, loop_kind};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Affine, Op, OpExt, Value, ValueLike, affine_map_of, arguments, defining_op, key, op_key, vector_parts,
};
use std::collections::{BTreeMap, BTreeSet};

/// A dimension of the threads of a block, or of the blocks.
pub type Dimension = (bool, usize);

/// Elements are looked at one by one where there are no more.
const MOST: u64 = 1 << 20;
/// Values that a condition is computed from, at most, of those that are looked at.
const MOST_OF_A_CONDITION: usize = 256;

/// A read or write of a buffer.
pub struct Access<'c> {
    pub op: Op<'c>,
    pub buffer: Value<'c>,
    pub writes: bool,
    /// The first element, and how many; none where that is not known.
    index: Option<(Value<'c>, u64)>,
    /// The loops around, the outermost first.
    loops: Vec<Op<'c>>,
    /// The conditions around.
    guards: Vec<Op<'c>>,
}

/// A buffer that an operation touches, whether it writes, and the first element with how many there are, where that is known.
type Touched<'c> = (Option<Value<'c>>, bool, Option<(Value<'c>, u64)>);

/// Who touches an element along a dimension.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    One(i64),
    Several,
}

impl Owner {
    /// True for one alone.
    pub fn is_one(self) -> bool {
        matches!(self, Owner::One(_))
    }
}

impl<'c> Access<'c> {
    /// The accesses of an operation.
    pub fn of(op: Op<'c>) -> Vec<Access<'c>> {
        let Some(Kind::Loop(kind)) = op.kind() else { return Vec::new() };
        let operands = op.operand_values();
        let at = |place: usize| operands.get(place).copied();
        let lanes = |v: Option<Value>| v.and_then(|v| vector_parts(v.r#type())).map_or(1, |(_, n)| n);
        let read = |buffer: usize| (at(buffer), false, None);
        let write = |buffer: usize| (at(buffer), true, None);
        let several = |place: usize, n: u64| at(place).map(|index| (index, n));
        let found: Vec<Touched> = match kind {
            Loop::Load => {
                vec![(at(0), false, several(1, lanes(op.result_values().first().copied())))]
            }
            Loop::Store => vec![(at(1), true, several(2, lanes(at(0))))],
            Loop::Gather | Loop::LoadStrided | Loop::LoadMatrix => vec![read(0)],
            Loop::MultiplyShared => vec![read(0), read(2)],
            Loop::Scatter | Loop::StoreStrided => vec![write(1)],
            Loop::CopyAsync => {
                let elements = op.int("elements").unwrap_or(1).max(1) as u64;
                vec![(at(0), false, several(1, elements)), (at(2), true, several(3, elements))]
            }
            Loop::CopyTensor => {
                let copy = TensorCopy::of(op);
                copy.map_or(Vec::new(), |c| vec![(Some(c.source), false, None), (Some(c.buffer), true, None)])
            }
            _ => return Vec::new(),
        };
        let around: Vec<Op> = parents(op).collect();
        let is = |kind| move |o: &&Op| matches!(o.kind(), Some(Kind::Loop(k)) if k == kind);
        let loops: Vec<Op> = around.iter().rev().filter(is(Loop::For)).copied().collect();
        let guards: Vec<Op> = around.iter().filter(is(Loop::Guard)).copied().collect();
        let access = |(buffer, writes, index): Touched<'c>| {
            Some(Access { op, buffer: buffer?, writes, index, loops: loops.clone(), guards: guards.clone() })
        };
        found.into_iter().filter_map(access).collect()
    }

    /// True when not all iterations of the loops around make it.
    pub fn is_guarded(&self) -> bool {
        !self.guards.is_empty()
    }

    /// True for one under a condition on the number of a thread, which another is not under: threads that make that other one do not make
    /// this one.
    pub fn is_of_some_threads(&self, other: &Access, dimension: Dimension) -> bool {
        let alone = self.guards.iter().filter(|g| other.guards.iter().all(|o| op_key(*o) != op_key(**g)));
        alone.filter_map(|guard| guard.operand_values().first().copied()).any(|c| asks(c, dimension))
    }

    /// True when it is known which elements this access and another touch.
    pub fn is_known(&self, other: &Access) -> bool {
        self.expression(0).is_some() && other.expression(0).is_some()
    }

    /// True when another access is of the same elements, and each iteration of this one of another: who touches one of them, touches it in both.
    pub fn is_apart_as(&self, other: &Access) -> bool {
        let (Some(own), Some(others)) = (self.expression(0), other.expression(0)) else { return false };
        let mentioned = (0..self.loops.len()).filter(|p| own.mentions(*p));
        let mut steps: Vec<(i64, i64)> = Vec::new();
        for place in mentioned {
            let same = other.loops.get(place).is_some_and(|o| op_key(*o) == op_key(self.loops[place]));
            match own.coefficient(place) {
                Some(step) if same && !own.is_opaque() => steps.push((step.abs(), extent(self.loops[place]))),
                _ => return false,
            }
        }
        steps.sort_unstable();
        let mut reach = self.index.map_or(0, |(_, lanes)| lanes as i64 - 1);
        let apart = steps.into_iter().filter(|(_, n)| *n > 1).all(|(step, n)| {
            let beyond = step > reach;
            reach = reach.saturating_add(step.saturating_mul(n - 1));
            beyond
        });
        apart && own == others && self.index.map(|i| i.1) == other.index.map(|i| i.1)
    }

    /// How many loops stand around this access and another.
    pub fn common(&self, other: &Access) -> usize {
        self.loops.iter().zip(&other.loops).take_while(|(a, b)| op_key(**a) == op_key(**b)).count()
    }

    /// The place of the loop that is bound to a dimension, among all around.
    pub fn bound(&self, dimension: Dimension) -> Option<usize> {
        let to = |op: &Op| is_bound(*op) && loop_kind(*op).binding() == Some(dimension);
        self.loops.iter().position(to)
    }

    /// True when one thread makes it several times of one element.
    pub fn repeats(&self) -> bool {
        let Some(index) = self.expression(0) else { return true };
        let again = |(place, op): (usize, &Op)| !is_bound(*op) && extent(*op) > 1 && !index.mentions(place);
        self.loops.iter().enumerate().any(again)
    }

    /// True unless it is known that both touch different elements, in one iteration of the loops around both.
    pub fn meets(&self, other: &Access, common: usize) -> bool {
        let range = |access: &Access| {
            let (low, high) = access.expression(common)?.range()?;
            Some((low, high.saturating_add(access.index?.1 as i64 - 1)))
        };
        match (range(self), range(other)) {
            (Some(a), Some(b)) if a.0 > b.1 || b.0 > a.1 => false,
            (Some(_), Some(_)) => match (self.elements(None, common), other.elements(None, common)) {
                (Some(a), Some(b)) => a.keys().any(|e| b.contains_key(e)),
                _ => true,
            },
            _ => true,
        }
    }

    /// Who touches each element along a dimension to which one of the loops is bound, in one iteration of the loops around both; none where
    /// that is not known, or are too many.
    pub fn elements(&self, dimension: Option<Dimension>, common: usize) -> Option<BTreeMap<i64, Owner>> {
        let bound = dimension.and_then(|d| self.bound(d));
        let index = self.expression(common)?;
        let (_, lanes) = self.index?;
        let mentioned = (common..self.loops.len()).filter(|p| index.mentions(*p));
        let places: Vec<(usize, i64)> = mentioned.map(|p| (p, extent(self.loops[p]))).collect();
        let all = places.iter().fold(lanes, |n, (_, e)| n.saturating_mul(*e as u64));
        if all > MOST {
            return None;
        }
        let alone = bound.is_some_and(|p| extent(self.loops[p]) == 1 || index.mentions(p));
        let mut found: BTreeMap<i64, Owner> = BTreeMap::new();
        let mut at = vec![0; self.loops.len()];
        loop {
            let first = value(&index, &at)?;
            let owner =
                if alone { bound.map_or(Owner::Several, |p| Owner::One(at[p])) } else { Owner::Several };
            for lane in 0..lanes as i64 {
                let by = found.entry(first + lane).or_insert(owner);
                if *by != owner {
                    *by = Owner::Several;
                }
            }
            // The next iteration, the innermost loop first.
            let Some((turned, (place, _))) =
                places.iter().enumerate().rev().find(|(_, (p, e))| at[*p] + 1 < *e)
            else {
                return Some(found);
            };
            at[*place] += 1;
            places[turned + 1..].iter().for_each(|(p, _)| at[*p] = 0);
        }
    }

    /// The first element, by the loops that do not stand around both of two accesses; variable `p` is the loop at that place.
    fn expression(&self, common: usize) -> Option<Expr> {
        let (index, _) = self.index?;
        let variable = |(place, op): (usize, &Op<'c>)| {
            let number = op.body(0).and_then(|body| arguments(body).first().copied())?;
            let extent = if place < common { 1 } else { extent(*op) as u64 };
            Some((key(number), Expr::var(place, extent)))
        };
        let known: BTreeMap<usize, Expr> = self.loops.iter().enumerate().filter_map(variable).collect();
        expression(index, &known)
    }
}

/// True for what is computed from the number of a thread along a dimension, as threads that share a reduction ask for it.
fn asks(value: Value, dimension: Dimension) -> bool {
    let mut open = vec![value];
    let mut seen = BTreeSet::new();
    while let Some(next) = open.pop().filter(|_| seen.len() < MOST_OF_A_CONDITION) {
        let Some(op) = defining_op(next).filter(|_| seen.insert(key(next))) else { continue };
        if matches!(op.kind(), Some(Kind::Loop(Loop::ThreadIndex)))
            && loop_kind(op).binding() == Some(dimension)
        {
            return true;
        }
        open.extend(op.operand_values());
    }
    false
}

fn extent(op: Op) -> i64 {
    op.int("extent").unwrap_or(1).max(1)
}

/// A value as an expression of others.
fn expression(value: Value, known: &BTreeMap<usize, Expr>) -> Option<Expr> {
    if let Some(known) = known.get(&key(value)) {
        return Some(known.clone());
    }
    let op = defining_op(value)?;
    let operand = |at: usize| op.operand_values().get(at).and_then(|v| expression(*v, known));
    let positive = |e: &Expr| e.as_constant().filter(|by| *by > 0);
    match op.kind() {
        Some(Kind::Upstream(Upstream::ArithConstant)) => op.int("value").map(Expr::constant),
        Some(Kind::Upstream(Upstream::AddI)) => Some(operand(0)?.plus(&operand(1)?)),
        Some(Kind::Upstream(Upstream::MulI)) => product(&operand(0)?, &operand(1)?),
        Some(Kind::Upstream(Upstream::DivUI)) => Some(operand(0)?.div(positive(&operand(1)?)?)),
        Some(Kind::Upstream(Upstream::RemUI)) => Some(operand(0)?.modulo(positive(&operand(1)?)?)),
        Some(Kind::Upstream(Upstream::AffineApply)) => {
            let operands: Option<Vec<Expr>> =
                op.operand_values().into_iter().map(|v| expression(v, known)).collect();
            mapped(&affine_map_of(op.attr("map")?)?, &operands?)
        }
        _ => None,
    }
}

fn mapped(e: &Affine, operands: &[Expr]) -> Option<Expr> {
    let of = |e: &Affine| mapped(e, operands);
    let positive = |e: &Affine| of(e)?.as_constant().filter(|by| *by > 0);
    match e {
        Affine::Constant(c) => Some(Expr::constant(*c)),
        Affine::Input(i) => operands.get(*i).cloned(),
        Affine::Add(a, b) => Some(of(a)?.plus(&of(b)?)),
        Affine::Mul(a, b) => product(&of(a)?, &of(b)?),
        Affine::Mod(a, b) => Some(of(a)?.modulo(positive(b)?)),
        Affine::FloorDiv(a, b) => Some(of(a)?.div(positive(b)?)),
        Affine::CeilDiv(..) => None,
    }
}

fn product(a: &Expr, b: &Expr) -> Option<Expr> {
    match (a.as_constant(), b.as_constant()) {
        (Some(c), _) => Some(b.times(c)),
        (_, Some(c)) => Some(a.times(c)),
        _ => None,
    }
}

/// What an expression is at an iteration of all loops.
fn value(e: &Expr, at: &[i64]) -> Option<i64> {
    let atom = |atom: &Atom| match atom {
        Atom::Var(v) => at.get(v.id).copied(),
        Atom::Div(e, by) => Some(value(e, at)?.div_euclid(*by)),
        Atom::Mod(e, by) => Some(value(e, at)?.rem_euclid(*by)),
        Atom::Opaque(_) => None,
    };
    e.terms().try_fold(e.offset(), |sum, (a, times)| Some(sum.wrapping_add(atom(a)?.wrapping_mul(times))))
}
