//! What is known of the elements of a value: one number, picked rows, whether all are finite, and how small they can be
//! ([`signs`](super::signs)) or how large ([`limits`](super::limits)).
//!
//! ```text
//!     1 0 0        0 0 1                 picks: each row is 1 in one column and 0 in the others, so that a product with it
//!     0 1 0        1 0 0                 moves rows. Where row i picks column i it is an identity matrix.
//!     0 0 1        0 0 1
//! ```
//!
//! Constants say so themselves; of calls it follows by the rows below. Picks are kept for elements in row-major order, in rows of that width,
//! which reshapes do not change: the weight `[n, n, 1, 1]` of a convolution may be an identity matrix as well. A value of floats is
//! *finite* where no input can make it NaN or infinite; only then `x * 0` is 0.

use super::bits::Bits;
use super::elements::greatest;
use super::language::Constant;
use super::limits::Limits;
use super::rules::conditions::permutation;
use super::signs::Sign;
use egg::Id;
use fusion_operators::ops::elementwise::*;
use fusion_operators::ops::indexing::{GATHER, ONE_HOT};
use fusion_operators::ops::normalization::SOFTMAX;
use fusion_operators::ops::shape::*;
use fusion_operators::{Call, Operator, Tensor, TensorType};
use std::sync::Arc;

/// What is known of elements.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contents {
    /// True when none is NaN or infinite.
    pub is_finite: bool,
    /// The columns that rows pick.
    pub picks: Option<Picks>,
    /// How small they can be.
    pub sign: Sign,
    /// How large they can be.
    pub limits: Limits,
    /// The bits that integers of 8 bits need, where that is known.
    pub bits: Bits,
}

/// Rows that are 1 in one column and 0 in all others.
#[derive(Clone, Debug, PartialEq)]
pub struct Picks {
    /// The column of each row.
    pub columns: Arc<[u32]>,
    /// Columns.
    pub width: u32,
}

/// More rows than this are not kept.
const MOST_ROWS: usize = 4096;

impl Picks {
    /// True for an identity matrix, or several on top of each other.
    pub fn is_identity(&self) -> bool {
        let rows = self.columns.iter().enumerate();
        self.columns.len().is_multiple_of(self.width as usize)
            && rows.into_iter().all(|(row, &column)| row as u32 % self.width == column)
    }

    /// The rows that pick each column, where every column is picked once.
    pub fn inverse(&self) -> Option<Picks> {
        let mut rows = vec![u32::MAX; self.width as usize];
        for (row, &column) in self.columns.iter().enumerate() {
            rows[column as usize] = row as u32;
        }
        let square = self.columns.len() == rows.len() && rows.iter().all(|&row| row != u32::MAX);
        square.then(|| Picks { columns: rows.into(), width: self.width })
    }

    fn of(tensor: &Tensor) -> Option<Picks> {
        let width = tensor.shape().iter().rev().copied().find(|&extent| extent > 1)?;
        let rows = tensor.len() / width;
        if rows > MOST_ROWS {
            return None;
        }
        let mut columns = Vec::new();
        for row in 0..rows {
            let mut picked = None;
            for column in 0..width {
                match tensor.f64_at(row * width + column) {
                    0.0 => {}
                    1.0 if picked.is_none() => picked = Some(column as u32),
                    _ => return None,
                }
            }
            columns.push(picked?);
        }
        Some(Picks { columns: columns.into(), width: width as u32 })
    }
}

impl Contents {
    /// Of a constant whose elements are elsewhere: what they are is only looked at as far as they are picks.
    pub fn of_large(tensor: &Tensor) -> Contents {
        let picks = Picks::of(tensor);
        let (sign, limits) = match picks {
            Some(_) => (Sign::FACTOR, Limits::of(&[0.0, 1.0])),
            None => Default::default(),
        };
        let is_finite = picks.is_some() || !tensor.dtype().is_float();
        Contents { is_finite, picks, sign, limits, bits: Bits::of(tensor) }
    }

    /// Of a constant of which only the bits that its elements need are looked at.
    pub fn of_larger(tensor: &Tensor) -> Contents {
        Contents { is_finite: !tensor.dtype().is_float(), bits: Bits::of(tensor), ..Contents::default() }
    }

    /// Of a constant that is known.
    pub fn of_constant(constant: &Constant) -> Contents {
        if let Some(number) = constant.splat() {
            return Contents {
                is_finite: number.is_finite(),
                picks: None,
                sign: Sign::of(&[number]),
                limits: Limits::of(&[number]),
                bits: constant.scalar().map_or_else(Bits::default, |one| Bits::of(&one)),
            };
        }
        constant.tensor().map_or_else(Contents::default, |tensor| {
            let numbers = tensor.to_f64s();
            Contents {
                is_finite: numbers.iter().all(|v| v.is_finite()),
                picks: Picks::of(&tensor),
                sign: Sign::of(&numbers),
                limits: Limits::of(&numbers),
                bits: Bits::of(&tensor),
            }
        })
    }

    /// Of a call, of whose operands that is known, and which constants they are.
    pub fn of_call(call: &Call, result: &TensorType, known: &[Known]) -> Contents {
        let row = ROWS.iter().find(|row| row.operators.iter().any(|o| call.op.is(o)));
        let finite = |row: &Row| match row.finite {
            Finite::Always => true,
            Finite::WithOperands => known.iter().all(|k| k.contents.is_finite),
            Finite::InRange => {
                known[0].contents.is_finite && greatest(call.operands[0].dtype) <= greatest(result.dtype)
            }
            Finite::Unknown => false,
        };
        let signs: Vec<Sign> = known.iter().map(|k| k.contents.sign).collect();
        let limits: Vec<Limits> = known.iter().map(|k| k.contents.limits).collect();
        let are_one = matches!(known, [a, b] if a.class == b.class);
        Contents {
            is_finite: !result.dtype.is_float() || row.is_some_and(finite),
            picks: row.and_then(|row| (row.picks)(call, result, known)),
            sign: Sign::of_call(call, &signs, are_one),
            limits: Limits::of_call(call, result, &limits, are_one),
            bits: match row.is_some_and(|row| row.moves) {
                true => known.iter().map(|k| k.contents.bits).max().unwrap_or_default(),
                false => Bits::default(),
            },
        }
    }

    /// What two forms of one value say together; true when the first learns from the second, and the other way round.
    pub fn join(&mut self, other: Contents) -> (bool, bool) {
        let own = (self.is_finite, self.picks.is_some(), self.sign, self.limits, self.bits);
        let others = (other.is_finite, other.picks.is_some(), other.sign, other.limits, other.bits);
        self.is_finite |= other.is_finite;
        self.picks = self.picks.take().or(other.picks);
        self.sign = self.sign.join(other.sign);
        self.limits = self.limits.join(other.limits);
        self.bits = self.bits.min(other.bits);
        let now = (self.is_finite, self.picks.is_some(), self.sign, self.limits, self.bits);
        (now != own, now != others)
    }
}

/// What is known of an operand.
pub struct Known<'a> {
    /// The class it is.
    pub class: Id,
    /// Its elements.
    pub contents: &'a Contents,
    /// The constant it is.
    pub constant: Option<&'a Constant>,
}

/// Where a result is finite.
enum Finite {
    Always,
    WithOperands,
    /// With the operand, where its element type has no greater numbers.
    InRange,
    Unknown,
}

type PicksOf = fn(&Call, &TensorType, &[Known]) -> Option<Picks>;
type OneNumber = for<'a> fn(&Call, &[&'a Constant]) -> Option<&'a Constant>;

/// What operators do to elements.
struct Row {
    operators: &'static [&'static Operator],
    finite: Finite,
    picks: PicksOf,
    /// The operand whose number all elements of the result are.
    one: OneNumber,
    /// True where all elements of the result are elements of the operands.
    moves: bool,
}

/// Elements that are computed: nothing but whether they are finite is known.
const fn computed(operators: &'static [&'static Operator], finite: Finite) -> Row {
    Row { operators, finite, picks: |_, _, _| None, one: |_, _| None, moves: false }
}

/// Elements that are moved: they are those of the operands.
const fn moved(operators: &'static [&'static Operator], picks: PicksOf, one: OneNumber) -> Row {
    Row { operators, finite: Finite::WithOperands, picks, one, moves: true }
}

static ROWS: &[Row] = &[
    moved(&[&RESHAPE, &SQUEEZE, &EXPAND_DIMS], |_, _, known| known[0].contents.picks.clone(), all_alike),
    moved(&[&TRANSPOSE], transposed, all_alike),
    moved(&[&BROADCAST_TO], repeated, all_alike),
    moved(&[&CONCAT, &SLICE, &TILE, &REVERSE], |_, _, _| None, all_alike),
    moved(&[&GATHER], |_, _, _| None, |_, constants| all_alike_in(&constants[..1])),
    Row {
        operators: &[&PAD],
        finite: Finite::WithOperands,
        picks: |_, _, _| None,
        one: padded,
        moves: false,
    },
    Row {
        operators: &[&ONE_HOT],
        finite: Finite::WithOperands,
        picks: one_hot,
        one: |_, _| None,
        moves: false,
    },
    Row {
        operators: &[&CAST],
        finite: Finite::InRange,
        picks: |_, _, known| known[0].contents.picks.clone(),
        one: |_, _| None,
        moves: false,
    },
    Row {
        operators: &[&WHERE],
        finite: Finite::WithOperands,
        picks: selected,
        one: |_, _| None,
        moves: false,
    },
    computed(
        &[&ABS, &NEG, &SIGN, &RELU, &SIN, &COS, &ATAN, &TANH, &ERF, &SIGMOID, &FLOOR, &CEIL, &ROUND, &CLIP],
        Finite::WithOperands,
    ),
    computed(&[&MINIMUM, &MAXIMUM, &SOFTMAX], Finite::WithOperands),
    computed(
        &[&IS_NAN, &IS_INF, &EQUAL, &NOT_EQUAL, &LESS, &LESS_EQUAL, &GREATER, &GREATER_EQUAL],
        Finite::Always,
    ),
    computed(&[&EXP, &LOG, &LOG1P, &ADD, &SUB, &MUL, &DIV], Finite::Unknown),
];

/// The constant of a type that a call of constants is, where it only moves elements of one number.
pub fn one_number(call: &Call, ty: &TensorType, constants: &[&Constant]) -> Option<Constant> {
    let row = ROWS.iter().find(|row| row.operators.iter().any(|o| call.op.is(o)))?;
    ty.shape()?;
    (row.one)(call, constants)?.repeated(ty)
}

fn all_alike<'a>(_: &Call, constants: &[&'a Constant]) -> Option<&'a Constant> {
    all_alike_in(constants)
}

fn all_alike_in<'a>(constants: &[&'a Constant]) -> Option<&'a Constant> {
    let first = *constants.first()?;
    constants.iter().all(|c| c.is_same_number(first)).then_some(first)
}

/// Padding with the number that is padded, or with elements of it.
fn padded<'a>(call: &Call, constants: &[&'a Constant]) -> Option<&'a Constant> {
    let constant = call.attrs.str_or("mode", "constant") == "constant";
    let number = constants.first()?.splat()?;
    if constant && number != call.attrs.float_or("value", 0.0) {
        return None;
    }
    all_alike_in(constants)
}

/// A permutation matrix is transposed into its inverse.
fn transposed(call: &Call, result: &TensorType, known: &[Known]) -> Option<Picks> {
    let picks = known[0].contents.picks.as_ref()?;
    match &permutation(call.attrs, result.rank())?[..] {
        [1, 0] if result.dims[0].known() == Some(u64::from(picks.width)) => picks.inverse(),
        axes if axes.is_sorted() => Some(picks.clone()),
        _ => None,
    }
}

/// Repeated as a whole, along new axes in front.
fn repeated(call: &Call, result: &TensorType, known: &[Known]) -> Option<Picks> {
    let picks = known[0].contents.picks.as_ref()?;
    let (from, to) = (call.operands[0].shape()?, result.shape()?);
    let own = &from[from.iter().position(|&n| n != 1)?..];
    let times = to.iter().product::<u64>() / own.iter().product::<u64>().max(1);
    let rows = picks.columns.len() as u64 * times;
    (to.ends_with(own) && rows <= MOST_ROWS as u64)
        .then(|| Picks { columns: picks.columns.repeat(times as usize).into(), width: picks.width })
}

/// `one_hot` of indices that are known and in range.
fn one_hot(call: &Call, result: &TensorType, known: &[Known]) -> Option<Picks> {
    let [indices, on, off] = [0, 1, 2].map(|i| known[i].constant);
    let is_last = fusion_operators::ops::indexing::one_hot_axis(call).ok()? + 1 == result.rank();
    let width = u32::try_from(result.dims.last()?.known()?).ok()?;
    let indices = indices?.tensor().filter(|t| t.len() <= MOST_ROWS)?;
    if !is_last || on?.splat()? != 1.0 || off?.splat()? != 0.0 {
        return None;
    }
    let column = |at: usize| u32::try_from(indices.int_at(at)).ok().filter(|&column| column < width);
    let columns: Vec<u32> = (0..indices.len()).map(column).collect::<Option<_>>()?;
    Some(Picks { columns: columns.into(), width })
}

/// `picks ? 1 : 0`.
fn selected(call: &Call, result: &TensorType, known: &[Known]) -> Option<Picks> {
    let is = |place: usize, number: f64| known[place].constant?.splat().filter(|v| *v == number);
    is(1, 1.0)?;
    is(2, 0.0)?;
    known[0].contents.picks.clone().filter(|_| call.operands[0].dims == result.dims)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fusion_operators::{Attrs, DType};

    #[test]
    fn casts_are_finite_where_the_type_has_no_smaller_range() {
        let is_finite = |from: DType, to: DType| {
            let [from, to] = [from, to].map(|dtype| TensorType::fixed(&[4], dtype));
            let call = Call { op: &CAST, operands: &[from], attrs: &Attrs::new() };
            let contents = Contents { is_finite: true, ..Contents::default() };
            let known = Known { class: Id::from(0), contents: &contents, constant: None };
            Contents::of_call(&call, &to, &[known]).is_finite
        };
        use DType::*;
        for (from, to) in
            [(Bool, F16), (I16, F16), (I64, F32), (U64, BF16), (F32, F64), (F16, F32), (F64, I8)]
        {
            assert!(is_finite(from, to), "{from} to {to}");
        }
        for (from, to) in [(I32, F16), (U16, F16), (F64, F32), (F32, BF16), (BF16, F16)] {
            assert!(!is_finite(from, to), "{from} to {to}");
        }
    }
}
