//! Scalar expressions inside a `te.compute`.
//!
//! Scalars carry their element type, which says what the signless values of MLIR mean. f16 and bf16 are computed
//! in f32, and in programs of strict arithmetic all floats in f64 ([`Build::computing_in`]): a load extends them, storing the result rounds once. Expressions of indices are in `index`.

use crate::{Attribute, Build, Context, Type, Value, scalar_type};
use fusion_operators::{DType, dtype::Class};
use melior::ir::attribute::{FloatAttribute, IntegerAttribute};

/// A scalar and what its bits mean.
#[derive(Clone, Copy, Debug)]
pub struct Scalar<'c> {
    /// The value, of the type [`scalar_type`] gives.
    pub value: Value<'c>,
    /// Its element type.
    pub dtype: DType,
}

/// How two numbers compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Compare {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// The bits of an f32 that are its exponent.
const EXPONENT: i64 = 0x7f80_0000;
/// The bits of 1.
const ONE: i64 = 0x3f80_0000;

/// Builds scalar expressions at a place.
#[derive(Clone, Copy)]
pub struct Scalars<'c> {
    /// The place.
    pub build: Build<'c>,
}

impl<'c> Scalars<'c> {
    pub(super) fn context(&self) -> &'c Context {
        self.build.context()
    }

    pub(super) fn ty(&self, dtype: DType) -> Type<'c> {
        scalar_type(self.context(), dtype)
    }

    /// The type in which scalars of an element type are computed here.
    pub fn compute_type(&self, dtype: DType) -> DType {
        self.build.compute_type(dtype)
    }

    fn make(&self, name: &str, operands: &[Scalar<'c>], dtype: DType) -> Scalar<'c> {
        let values: Vec<_> = operands.iter().map(|s| s.value).collect();
        Scalar { value: self.build.value(name, &values, self.ty(dtype), &[]), dtype }
    }

    fn pick(&self, dtype: DType, float: &str, signed: &str, unsigned: &str) -> String {
        match dtype.class() {
            Class::Float => float,
            Class::Signed => signed,
            // Strings are numbers here.
            Class::Unsigned | Class::Bool | Class::String => unsigned,
        }
        .to_owned()
    }

    fn binary(&self, names: [&str; 3], a: Scalar<'c>, b: Scalar<'c>) -> Scalar<'c> {
        self.make(&self.pick(a.dtype, names[0], names[1], names[2]), &[a, b], a.dtype)
    }

    // --- memory and constants ----------------------------------------------

    /// An element of a tensor, extended to the type it is computed in.
    pub fn load(&self, tensor: Value<'c>, indices: &[Value<'c>]) -> Scalar<'c> {
        let dtype = crate::tensor_type(tensor).map_or(DType::F32, |t| t.dtype);
        let operands = [&[tensor], indices].concat();
        let value = self.build.value(super::Op::Load.name(), &operands, self.ty(dtype), &[]);
        self.cast(Scalar { value, dtype }, self.compute_type(dtype))
    }

    /// An element of a tensor where a condition holds, elsewhere a value of the tensor's element type. The indices need
    /// to be inside the tensor only where the condition holds.
    pub fn load_if(
        &self,
        condition: Scalar<'c>,
        tensor: Value<'c>,
        indices: &[Value<'c>],
        otherwise: Scalar<'c>,
    ) -> Scalar<'c> {
        let dtype = otherwise.dtype;
        let operands = [&[tensor], indices, &[condition.value, otherwise.value]].concat();
        let value = self.build.value(super::Op::LoadIf.name(), &operands, self.ty(dtype), &[]);
        self.cast(Scalar { value, dtype }, self.compute_type(dtype))
    }

    /// A float constant, or an integer one of the truncated value.
    pub fn float(&self, value: f64, dtype: DType) -> Scalar<'c> {
        let attr: Attribute = if dtype.is_float() {
            FloatAttribute::new(self.context(), self.ty(dtype), value).into()
        } else {
            IntegerAttribute::new(self.ty(dtype), value as i64).into()
        };
        Scalar { value: self.build.value("arith.constant", &[], self.ty(dtype), &[("value", attr)]), dtype }
    }

    /// An integer constant, or the float of that value. The bits are those of the two's complement.
    pub fn int(&self, value: i64, dtype: DType) -> Scalar<'c> {
        if dtype.is_float() {
            return self.float(value as f64, dtype);
        }
        let attr = IntegerAttribute::new(self.ty(dtype), value).into();
        Scalar { value: self.build.value("arith.constant", &[], self.ty(dtype), &[("value", attr)]), dtype }
    }

    // --- arithmetic --------------------------------------------------------

    /// `a + b`; of booleans, or.
    pub fn add(&self, a: Scalar<'c>, b: Scalar<'c>) -> Scalar<'c> {
        if a.dtype == DType::Bool {
            self.or(a, b)
        } else {
            self.binary(["arith.addf", "arith.addi", "arith.addi"], a, b)
        }
    }

    /// `a - b`.
    pub fn sub(&self, a: Scalar<'c>, b: Scalar<'c>) -> Scalar<'c> {
        self.binary(["arith.subf", "arith.subi", "arith.subi"], a, b)
    }

    /// `a * b`; of booleans, and.
    pub fn mul(&self, a: Scalar<'c>, b: Scalar<'c>) -> Scalar<'c> {
        if a.dtype == DType::Bool {
            self.and(a, b)
        } else {
            self.binary(["arith.mulf", "arith.muli", "arith.muli"], a, b)
        }
    }

    /// `a * b` as sums of a type of elements add it: both are cast first.
    pub fn product(&self, a: Scalar<'c>, b: Scalar<'c>, sums: DType) -> Scalar<'c> {
        let wide = self.compute_type(sums);
        self.mul(self.cast(a, wide), self.cast(b, wide))
    }

    /// `a / b`; of integers truncated toward zero, and 0 where `b` is 0 or the quotient does not fit, which would trap.
    pub fn div(&self, a: Scalar<'c>, b: Scalar<'c>) -> Scalar<'c> {
        self.divide(["arith.divf", "arith.divsi", "arith.divui"], a, b)
    }

    /// Remainder with the sign of the dividend; 0 where the integer `b` is 0.
    pub fn rem(&self, a: Scalar<'c>, b: Scalar<'c>) -> Scalar<'c> {
        self.divide(["arith.remf", "arith.remsi", "arith.remui"], a, b)
    }

    fn divide(&self, names: [&str; 3], a: Scalar<'c>, b: Scalar<'c>) -> Scalar<'c> {
        if a.dtype.is_float() {
            return self.binary(names, a, b);
        }
        // Dividing by 0 or the least integer by -1 traps on x86: divide by 1 there instead.
        let zero = self.int(0, a.dtype);
        let mut bad = self.compare(Compare::Equal, b, zero);
        let by_zero = bad;
        let mut overflow = None;
        if a.dtype.class() == Class::Signed {
            let minus = self.compare(Compare::Equal, b, self.int(-1, a.dtype));
            bad = self.or(bad, minus);
            overflow = Some(minus);
        }
        let safe = self.select(bad, self.int(1, a.dtype), b);
        let quotient = self.binary(names, a, safe);
        let remainder = names[0] == "arith.remf";
        let quotient = match overflow {
            // a / -1 is -a, with wrapping; the remainder is 0, as it is of a division by 1.
            Some(minus) if !remainder => self.select(minus, self.sub(zero, a), quotient),
            _ => quotient,
        };
        self.select(by_zero, zero, quotient)
    }

    /// The smaller; NaN when either is.
    pub fn min(&self, a: Scalar<'c>, b: Scalar<'c>) -> Scalar<'c> {
        self.binary(["arith.minimumf", "arith.minsi", "arith.minui"], a, b)
    }

    /// The greater; NaN when either is.
    pub fn max(&self, a: Scalar<'c>, b: Scalar<'c>) -> Scalar<'c> {
        self.binary(["arith.maximumf", "arith.maxsi", "arith.maxui"], a, b)
    }

    /// The greater number; what is no number is passed over. For floats.
    pub fn max_number(&self, a: Scalar<'c>, b: Scalar<'c>) -> Scalar<'c> {
        self.make("arith.maxnumf", &[a, b], a.dtype)
    }

    /// `-a`.
    pub fn neg(&self, a: Scalar<'c>) -> Scalar<'c> {
        if a.dtype.is_float() {
            self.make("arith.negf", &[a], a.dtype)
        } else {
            self.sub(self.int(0, a.dtype), a)
        }
    }

    /// And of each bit.
    pub fn and(&self, a: Scalar<'c>, b: Scalar<'c>) -> Scalar<'c> {
        self.make("arith.andi", &[a, b], a.dtype)
    }

    /// Or of each bit.
    pub fn or(&self, a: Scalar<'c>, b: Scalar<'c>) -> Scalar<'c> {
        self.make("arith.ori", &[a, b], a.dtype)
    }

    /// Exclusive or of each bit.
    pub fn xor(&self, a: Scalar<'c>, b: Scalar<'c>) -> Scalar<'c> {
        self.make("arith.xori", &[a, b], a.dtype)
    }

    /// Complement of each bit.
    pub fn not(&self, a: Scalar<'c>) -> Scalar<'c> {
        self.xor(a, self.int(-1, a.dtype))
    }

    /// `a * 2^n`, 0 when `n` is the width or more.
    pub fn shift_left(&self, a: Scalar<'c>, n: Scalar<'c>) -> Scalar<'c> {
        let width = self.int(8 * a.dtype.size() as i64, a.dtype);
        let fits = self.unsigned_less(n, width);
        let shifted = self.make("arith.shli", &[a, self.select(fits, n, self.int(0, a.dtype))], a.dtype);
        self.select(fits, shifted, self.int(0, a.dtype))
    }

    /// Logical for unsigned, arithmetic for signed integers; by the width or more, 0 or -1.
    pub fn shift_right(&self, a: Scalar<'c>, n: Scalar<'c>) -> Scalar<'c> {
        let bits = 8 * a.dtype.size() as i64;
        let fits = self.unsigned_less(n, self.int(bits, a.dtype));
        if a.dtype.class() == Class::Signed {
            return self.make(
                "arith.shrsi",
                &[a, self.select(fits, n, self.int(bits - 1, a.dtype))],
                a.dtype,
            );
        }
        let shifted = self.make("arith.shrui", &[a, self.select(fits, n, self.int(0, a.dtype))], a.dtype);
        self.select(fits, shifted, self.int(0, a.dtype))
    }

    /// The bits as another type of the same size; as a truth, whether any is set.
    pub fn bitcast(&self, a: Scalar<'c>, to: DType) -> Scalar<'c> {
        match (a.dtype.is_float(), to.is_float()) {
            _ if a.dtype == to => a,
            (true, true) => self.bitcast(self.bitcast(a, DType::I16), to),
            // Of a truth the value is 0 or 1, as is its byte.
            (false, false) => self.cast(a, to),
            (true, false) | (false, true) => self.make("arith.bitcast", &[a], to),
        }
    }

    fn unsigned_less(&self, a: Scalar<'c>, b: Scalar<'c>) -> Scalar<'c> {
        let value = self.build.value(
            "arith.cmpi",
            &[a.value, b.value],
            self.ty(DType::Bool),
            &[("predicate", crate::int_attr(self.context(), 6))],
        );
        Scalar { value, dtype: DType::Bool }
    }

    /// `a how b`; comparisons with NaN are false but "not equal".
    pub fn compare(&self, how: Compare, a: Scalar<'c>, b: Scalar<'c>) -> Scalar<'c> {
        let name = if a.dtype.is_float() { "arith.cmpf" } else { "arith.cmpi" };
        let attrs = [("predicate", self.predicate(how, a.dtype))];
        Scalar {
            value: self.build.value(name, &[a.value, b.value], self.ty(DType::Bool), &attrs),
            dtype: DType::Bool,
        }
    }

    pub(super) fn predicate(&self, how: Compare, dtype: DType) -> Attribute<'c> {
        let of = |float, signed, unsigned| match dtype.class() {
            Class::Float => float,
            Class::Signed => signed,
            _ => unsigned,
        };
        // The numbers of arith's predicates: ordered comparisons, and "unordered or not equal".
        let number = match how {
            Compare::Equal => of(1, 0, 0),
            Compare::NotEqual => of(13, 1, 1),
            Compare::Less => of(4, 2, 6),
            Compare::LessEqual => of(5, 3, 7),
            Compare::Greater => of(2, 4, 8),
            Compare::GreaterEqual => of(3, 5, 9),
        };
        crate::int_attr(self.context(), number)
    }

    /// `condition ? a : b`.
    pub fn select(&self, condition: Scalar<'c>, a: Scalar<'c>, b: Scalar<'c>) -> Scalar<'c> {
        self.make("arith.select", &[condition, a, b], a.dtype)
    }

    /// A function of the math dialect on floats: "exp" for `math.exp`.
    pub fn math(&self, function: &str, operands: &[Scalar<'c>]) -> Scalar<'c> {
        self.make(&format!("math.{function}"), operands, operands[0].dtype)
    }

    /// The greatest power of two that is not above the size of an f32: its exponent without sign and mantissa. 0 below all normal numbers, and
    /// infinite for what is no number.
    pub fn exponent_alone(&self, a: Scalar<'c>) -> Scalar<'c> {
        let bits = self.make("arith.bitcast", &[a], DType::I32);
        let exponent = self.and(bits, self.int(EXPONENT, DType::I32));
        self.make("arith.bitcast", &[exponent], DType::F32)
    }

    /// One over a power of two that is a normal f32, as is what is one over it: with the exponent of the other sign.
    pub fn one_over_power_of_two(&self, a: Scalar<'c>) -> Scalar<'c> {
        let bits = self.make("arith.bitcast", &[a], DType::I32);
        let exponent = self.sub(self.int(2 * ONE, DType::I32), bits);
        self.make("arith.bitcast", &[exponent], DType::F32)
    }

    /// Conversion to another element type: floats to integers truncate toward zero and saturate, integers wrap,
    /// to boolean is `!= 0`.
    pub fn cast(&self, a: Scalar<'c>, to: DType) -> Scalar<'c> {
        let from = a.dtype;
        if from == to {
            return a;
        }
        if to == DType::Bool {
            return self.compare(Compare::NotEqual, a, self.int(0, from));
        }
        match (from.is_float(), to.is_float()) {
            // As bits: where LLVM sees a bf16, it may compute in it, and call what is in no library.
            (true, true) if from == DType::BF16 && to == DType::F64 => {
                self.cast(self.cast(a, DType::F32), to)
            }
            (true, true) if from.size() < to.size() => self.make("arith.extf", &[a], to),
            // The run-time library of older compilers has no conversion of f64 to bf16.
            (true, true) if from == DType::F64 && to == DType::BF16 => self.cast(self.rounded_to_odd(a), to),
            (true, true) if from.size() > to.size() => self.make("arith.truncf", &[a], to),
            // f16 and bf16 have the same size and meet in f32.
            (true, true) => self.cast(self.cast(a, DType::F32), to),
            (true, false) => self.float_to_int(a, to),
            (false, true) => {
                // Half types are reached through f32, as their rounding from wide integers is not native.
                let wide = self.compute_type(to);
                let name = if from.class() == Class::Signed { "arith.sitofp" } else { "arith.uitofp" };
                self.cast(self.make(name, &[a], wide), to)
            }
            (false, false) if from.size() == to.size() && from != DType::Bool => {
                Scalar { value: a.value, dtype: to }
            }
            (false, false) if from != DType::Bool && from.size() > to.size() => {
                self.make("arith.trunci", &[a], to)
            }
            (false, false) => {
                self.make(if from.class() == Class::Signed { "arith.extsi" } else { "arith.extui" }, &[a], to)
            }
        }
    }

    /// An f32 that rounds to the bf16 that an f64 rounds to: where it is inexact its last bit is 1, so that it lies half between two bf16
    /// only where the f64 does (Boldo and Melquiond, "Emulation of FMA and Correctly Rounded Sums", 2008).
    fn rounded_to_odd(&self, a: Scalar<'c>) -> Scalar<'c> {
        let near = self.make("arith.truncf", &[a], DType::F32);
        let back = self.cast(near, DType::F64);
        let bits = self.make("arith.bitcast", &[near], DType::I32);
        let one = self.int(1, DType::I32);
        let is_even = self.compare(Compare::Equal, self.and(bits, one), self.int(0, DType::I32));
        let is_inexact = self.compare(Compare::NotEqual, back, a);
        let size = |x| self.make("math.absf", &[x], DType::F64);
        let is_larger = self.compare(Compare::Greater, size(back), size(a));
        let odd = self.add(bits, self.select(is_larger, self.int(-1, DType::I32), one));
        let bits = self.select(self.and(is_even, is_inexact), odd, bits);
        self.make("arith.bitcast", &[bits], DType::F32)
    }

    fn float_to_int(&self, a: Scalar<'c>, to: DType) -> Scalar<'c> {
        let a = self.cast(a, self.compute_type(a.dtype));
        let bits = 8 * to.size() as i32;
        let signed = to.class() == Class::Signed;
        let (least, above) =
            if signed { (-(2f64.powi(bits - 1)), 2f64.powi(bits - 1)) } else { (0.0, 2f64.powi(bits)) };
        // All ones is the most of every unsigned type.
        let most_int = if signed { i64::MAX >> (64 - bits) } else { -1 };
        let name = if signed { "arith.fptosi" } else { "arith.fptoui" };
        // Outside of the range the conversion is undefined. Bounds are chosen among floats where they are some: a mask that goes on to integers
        // of another width takes as long as all else.
        let float = |x| self.float(x, a.dtype);
        let least_float = float(least);
        let above_least = self.select(self.compare(Compare::Less, a, least_float), least_float, a);
        let digits = if a.dtype == DType::F64 { 53 } else { 24 };
        let is_exact = bits - i32::from(signed) <= digits;
        let high = self.compare(Compare::GreaterEqual, a, float(above));
        let bounded = self.select(high, float(if is_exact { above - 1.0 } else { 0.0 }), above_least);
        // What is no number becomes 0.
        let number = self.select(self.compare(Compare::Equal, bounded, bounded), bounded, float(0.0));
        let inside = self.make(name, &[number], to);
        if is_exact { inside } else { self.select(high, self.int(most_int, to), inside) }
    }
}
