//! Expressions of indices, beside the scalars of a `te.compute`.

use super::scalar::{Compare, Scalar, Scalars};
use crate::{Type, Value};
use fusion_operators::{DType, Dim, dtype::Class};
use melior::ir::attribute::IntegerAttribute;

impl<'c> Scalars<'c> {
    /// A known index.
    pub fn index(&self, value: i64) -> Value<'c> {
        let ty = Type::index(self.context());
        self.build.value("arith.constant", &[], ty, &[("value", IntegerAttribute::new(ty, value).into())])
    }

    /// The extent of an axis, which may have a name.
    pub fn extent(&self, dim: &Dim) -> Value<'c> {
        let name = match dim {
            Dim::Static(known) => return self.index(*known as i64),
            Dim::Symbol(name) => name,
            // Kernels give names to all of their extents.
            Dim::Expr(_) | Dim::Any => "",
        };
        let attrs = [("name", crate::str_attr(self.context(), name))];
        self.build.value(super::Op::Extent.name(), &[], Type::index(self.context()), &attrs)
    }

    /// `a - b` of indices.
    pub fn index_sub(&self, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        self.index_op("arith.subi", a, b)
    }

    /// The smaller of two indices, with sign.
    pub fn index_min(&self, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        self.index_op("arith.minsi", a, b)
    }

    /// The greater of two indices, with sign.
    pub fn index_max(&self, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        self.index_op("arith.maxsi", a, b)
    }

    /// `a / b` of indices that are not negative, rounded down; `b` is not 0.
    pub fn index_quotient(&self, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        self.index_op("arith.divui", a, b)
    }

    /// `a mod b` of indices that are not negative; `b` is not 0.
    pub fn index_remainder(&self, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        self.index_op("arith.remui", a, b)
    }

    fn index_op(&self, name: &str, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        self.build.value(name, &[a, b], Type::index(self.context()), &[])
    }

    /// `a + b` of indices.
    pub fn index_add(&self, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        self.index_op("arith.addi", a, b)
    }

    /// A product of indices.
    pub fn index_mul(&self, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        self.index_op("arith.muli", a, b)
    }

    /// `a * scale + offset` of an index; nothing is built for 1 and 0.
    pub fn index_affine(&self, a: Value<'c>, scale: i64, offset: i64) -> Value<'c> {
        let scaled = if scale == 1 { a } else { self.index_op("arith.muli", a, self.index(scale)) };
        if offset == 0 { scaled } else { self.index_add(scaled, self.index(offset)) }
    }

    /// `a / by` of an index that is not negative.
    pub fn index_div(&self, a: Value<'c>, by: i64) -> Value<'c> {
        if by == 1 { a } else { self.index_op("arith.divui", a, self.index(by)) }
    }

    /// `a mod by` of an index that is not negative.
    pub fn index_mod(&self, a: Value<'c>, by: i64) -> Value<'c> {
        if by == 1 { self.index(0) } else { self.index_op("arith.remui", a, self.index(by)) }
    }

    /// `least <= a <= most` by moving `a` to the nearer bound.
    pub fn index_clamp(&self, a: Value<'c>, least: i64, most: i64) -> Value<'c> {
        let low = self.index_op("arith.maxsi", a, self.index(least));
        self.index_op("arith.minsi", low, self.index(most))
    }

    /// Compares indices with sign.
    pub fn index_compare(&self, how: Compare, a: Value<'c>, b: Value<'c>) -> Scalar<'c> {
        let value = self.build.value(
            "arith.cmpi",
            &[a, b],
            self.ty(DType::Bool),
            &[("predicate", self.predicate(how, DType::I64))],
        );
        Scalar { value, dtype: DType::Bool }
    }

    /// `condition ? a : b` of indices.
    pub fn index_select(&self, condition: Scalar<'c>, a: Value<'c>, b: Value<'c>) -> Value<'c> {
        self.build.value("arith.select", &[condition.value, a, b], Type::index(self.context()), &[])
    }

    /// An index as an integer of that type.
    pub fn from_index(&self, index: Value<'c>, dtype: DType) -> Scalar<'c> {
        let wide = if dtype.is_int() { dtype } else { DType::I64 };
        let value = self.build.value("arith.index_cast", &[index], self.ty(wide), &[]);
        self.cast(Scalar { value, dtype: wide }, dtype)
    }

    /// An integer as an index.
    pub fn to_index(&self, scalar: Scalar<'c>) -> Value<'c> {
        let name =
            if scalar.dtype.class() == Class::Signed { "arith.index_cast" } else { "arith.index_castui" };
        self.build.value(name, &[scalar.value], Type::index(self.context()), &[])
    }
}
