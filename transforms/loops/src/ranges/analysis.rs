//! What a block computes, in intervals, operation after operation.
//!
//!     %a = math.absf %x
//!     %c = arith.cmpf ogt, %a, 0.2                    where %c is false, |x| <= 0.2
//!     %y = arith.select %c, %r, %x             =>     y in [-0.2, 0.2] or as r
//!
//! A comparison bounds what it compares on either side of a choice (as the conditional constants of Wegman and Zadeck, 1991, do for
//! branches). What is no number belongs to every interval, and is neither above nor below: so only comparisons with a constant count,
//! which is a number.

use super::interval::Interval;
use fusion_dialects::loops::Op as Loop;
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Block, Op, OpExt, Value, ValueLike, arguments, defining_op, dtype_of, float_of, key, kind_of, ops_in,
    vector_parts,
};
use fusion_operators::DType;
use std::collections::HashMap;

/// Conditions that are looked into at most, one inside the other.
const DEEPEST: usize = 8;
/// Rounds after which what still grows has no bound.
const ROUNDS: usize = 4;

/// The interval of each value of a function that was looked at.
#[derive(Clone, Default)]
pub struct Ranges {
    // Only looked up, never iterated: its order cannot leak.
    known: HashMap<usize, Interval>,
}

impl Ranges {
    pub fn of(&self, value: Value) -> Interval {
        match self.known.get(&key(value)) {
            Some(known) => *known,
            None => constant(value).map_or(Interval::ALL, Interval::of),
        }
    }

    /// Looks at all operations of a block, with the loops inside.
    pub fn block(&mut self, block: Block) {
        for op in ops_in(block) {
            match (kind_of(op), op.body(0)) {
                (Some(Kind::Loop(Loop::For)), Some(body)) => {
                    let initial: Vec<Interval> =
                        op.operand_values().into_iter().map(|v| self.of(v)).collect();
                    let last = self.carried(body, &initial);
                    for (result, (last, first)) in
                        op.result_values().into_iter().zip(last.iter().zip(initial))
                    {
                        self.known.insert(key(result), last.hull(first));
                    }
                }
                (_, Some(inside)) => self.block(inside),
                _ => self.operation(op),
            }
        }
    }

    /// Looks at the body of a loop whose carried values begin as that; gives what it goes on with, at any iteration.
    pub fn carried(&mut self, body: Block, initial: &[Interval]) -> Vec<Interval> {
        let mut before = initial.to_vec();
        for round in 0.. {
            let next = self.iteration(body, &before);
            let both: Vec<Interval> = before
                .iter()
                .zip(&next)
                .map(|(a, b)| if round < ROUNDS { a.hull(*b) } else { a.widen(a.hull(*b)) })
                .collect();
            if both == before {
                return next;
            }
            before = both;
        }
        before
    }

    /// One iteration of a loop: what it goes on with.
    pub fn iteration(&mut self, body: Block, carried: &[Interval]) -> Vec<Interval> {
        for (argument, interval) in arguments(body).into_iter().skip(1).zip(carried) {
            self.known.insert(key(argument), *interval);
        }
        self.block(body);
        let last = ops_in(body).last().map(|end| end.operand_values()).unwrap_or_default();
        last.into_iter().map(|v| self.of(v)).collect()
    }

    fn operation(&mut self, op: Op) {
        let (Some(Kind::Upstream(kind)), [result]) = (kind_of(op), &op.result_values()[..]) else { return };
        let operands = op.operand_values();
        let element = vector_parts(result.r#type()).map_or(result.r#type(), |(element, _)| element);
        if kind == Upstream::ArithConstant || !matches!(dtype_of(element), Some(DType::F32 | DType::F64)) {
            return;
        }
        let found = match (kind, &operands[..]) {
            (Upstream::Select, [condition, a, b]) => {
                self.where_holds(*condition, true, *a, 0).hull(self.where_holds(*condition, false, *b, 0))
            }
            (Upstream::SIToFP | Upstream::UIToFP, [integer]) => {
                of_integer(*integer, kind == Upstream::SIToFP)
            }
            _ => self.arithmetic(kind, &operands),
        };
        self.known.insert(key(*result), found);
    }

    fn arithmetic(&self, kind: Upstream, operands: &[Value]) -> Interval {
        use Upstream::*;
        let all: Vec<Interval> = operands.iter().map(|v| self.of(*v)).collect();
        match (kind, &all[..]) {
            (AddF, [a, b]) => a.add(*b),
            (SubF, [a, b]) => a.add(b.negate()),
            (MulF, [a, b]) => a.multiply(*b),
            (DivF, [a, b]) => a.divide(*b),
            (Fma, [a, b, c]) => a.multiply(*b).add(*c),
            (NegF, [a]) => a.negate(),
            (AbsF, [a]) => a.absolute(),
            (MaximumF, [a, b]) => a.maximum(*b),
            (MinimumF, [a, b]) => a.minimum(*b),
            (ExtF, [a]) => *a,
            (Sin | Cos | Tanh | Erf, [_]) => Interval::UNIT,
            (Exp | Sqrt, [_]) => Interval::POSITIVE,
            _ => Interval::ALL,
        }
    }

    /// The interval of a value where a condition has that value.
    fn where_holds(&self, condition: Value, holds: bool, value: Value, depth: usize) -> Interval {
        let plain = self.of(value);
        let Some(op) = defining_op(condition).filter(|_| depth < DEEPEST) else { return plain };
        let operands = op.operand_values();
        let each = |holds: bool| operands.iter().map(move |c| self.where_holds(*c, holds, value, depth + 1));
        match (kind_of(op), &operands[..]) {
            (Some(Kind::Upstream(Upstream::OrI)), _) if !holds => each(false).fold(plain, Interval::and),
            (Some(Kind::Upstream(Upstream::AndI)), _) if holds => each(true).fold(plain, Interval::and),
            (Some(Kind::Upstream(Upstream::CmpF)), [a, b]) => {
                let relation = op.int("predicate").and_then(relation_of);
                let relation = relation.map(|r| if holds { r } else { r.turned() });
                match relation {
                    Some(r) => plain.and(Self::compared(*a, r, *b, value)).and(Self::compared(
                        *b,
                        r.turned(),
                        *a,
                        value,
                    )),
                    None => plain,
                }
            }
            _ => plain,
        }
    }

    /// What `a r b` says of a value that is `a`, or whose absolute value is.
    fn compared(a: Value, r: Relation, b: Value, value: Value) -> Interval {
        let Some(b) = constant(b).filter(|b| !b.is_nan()) else { return Interval::ALL };
        let of_a = match r {
            Relation::Below => Interval { low: f64::NEG_INFINITY, high: b },
            Relation::Above => Interval { low: b, high: f64::INFINITY },
        };
        let of_absolute = || {
            let absolute = defining_op(a).filter(|op| is(*op, Upstream::AbsF))?;
            let same = absolute.operand_values().first().is_some_and(|v| key(*v) == key(value));
            (same && r == Relation::Below).then_some(Interval { low: -b, high: b })
        };
        if key(a) == key(value) { of_a } else { of_absolute().unwrap_or(Interval::ALL) }
    }
}

/// How two numbers are to each other, or the same.
#[derive(Clone, Copy, PartialEq)]
enum Relation {
    Below,
    Above,
}

impl Relation {
    const fn turned(self) -> Self {
        match self {
            Relation::Below => Relation::Above,
            Relation::Above => Relation::Below,
        }
    }
}

/// The relation of a predicate of `arith.cmpf`, ordered or not.
fn relation_of(predicate: i64) -> Option<Relation> {
    // ogt, oge, ugt, uge; olt, ole, ult, ule.
    match predicate {
        2 | 3 | 9 | 10 => Some(Relation::Above),
        4 | 5 | 11 | 12 => Some(Relation::Below),
        _ => None,
    }
}

/// The float that a constant is.
pub fn constant(value: Value) -> Option<f64> {
    let op = defining_op(value).filter(|op| is(*op, Upstream::ArithConstant))?;
    op.attr("value").and_then(float_of)
}

/// What integers of a type become.
fn of_integer(integer: Value, signed: bool) -> Interval {
    let ty = integer.r#type();
    let element = vector_parts(ty).map_or(ty, |(element, _)| element);
    let Some(bits) = dtype_of(element).map(|d| d.size() as i32 * 8) else { return Interval::ALL };
    match signed {
        true => Interval { low: -(2f64.powi(bits - 1)), high: 2f64.powi(bits - 1) },
        false => Interval { low: 0.0, high: 2f64.powi(bits) },
    }
}

fn is(op: Op, wanted: Upstream) -> bool {
    matches!(kind_of(op), Some(Kind::Upstream(kind)) if kind == wanted)
}
