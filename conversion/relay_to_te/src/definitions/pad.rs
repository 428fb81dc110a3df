//! Padding: `y[i] = x[p(i - before)]`, with the filler where that place is outside of x.
//!
//!     constant   p(j) = j, outside of [0, n) the filler      reflect   p(j) = -j before 0, 2 (n - 1) - j after n - 1
//!     edge       p(j) = clamp(j, 0, n - 1)                   wrap      p(j) = j mod n
//!
//! Negative padding removes elements first: n is what is left.

use super::{Built, Table, TeCall};
use fusion_dialects::Value;
use fusion_dialects::te::{Compare, Kernel, Scalar, Scalars};
use fusion_operators::ops::shape::{PAD, padding};
use fusion_operators::{DType, Dim, Tensor};

pub const TABLE: Table = &[(&PAD, pad)];

/// An axis of a pad.
struct Margin {
    /// The extent of the operand, where it is known at run time only and nothing is removed.
    dynamic: Option<Dim>,
    /// Elements of the operand that are removed at its beginning.
    removed: i64,
    /// Elements of the operand that stay.
    left: i64,
    /// Elements added before and after.
    added: (i64, i64),
}

impl Margin {
    fn new(dim: &Dim, (before, after): (i128, i128)) -> Margin {
        let dynamic = dim.known().is_none().then(|| dim.clone());
        let extent = dim.known().unwrap_or(1);
        let left = i128::from(extent) + before.min(0) + after.min(0);
        let added = (before.max(0) as i64, after.max(0) as i64);
        Margin { dynamic, removed: before.min(0).unsigned_abs() as i64, left: left as i64, added }
    }

    /// The place in the operand of place `i` of the result, always inside, and what must hold for it to be read.
    fn source<'c>(&self, s: &Scalars<'c>, mode: &str, i: Value<'c>) -> (Value<'c>, Vec<Scalar<'c>>) {
        let (before, after) = self.added;
        if (before, after) == (0, 0) {
            return (s.index_affine(i, 1, self.removed), Vec::new());
        }
        let at = s.index_affine(i, 1, -before);
        if let Some(dim) = &self.dynamic {
            return self.source_in(s, mode, at, s.extent(dim));
        }
        let last = self.left - 1;
        let is_before = || s.index_compare(Compare::Less, at, s.index(0));
        let (mut place, mut conditions) = (at, Vec::new());
        match mode {
            "wrap" => {
                // Whole turns are added, so that the dividend is not negative.
                let turns = (before + last) / self.left;
                place = s.index_mod(s.index_affine(i, 1, turns * self.left - before), self.left);
            }
            "reflect" => {
                if before > 0 {
                    place = s.index_select(is_before(), s.index_affine(at, -1, 0), place);
                }
                if after > 0 {
                    let is_after = s.index_compare(Compare::Greater, at, s.index(last));
                    place = s.index_select(is_after, s.index_affine(at, -1, 2 * last), place);
                }
            }
            "edge" => place = s.index_clamp(at, 0, last),
            _ => {
                if before > 0 {
                    conditions.push(s.index_compare(Compare::GreaterEqual, at, s.index(0)));
                }
                if after > 0 {
                    conditions.push(s.index_compare(Compare::LessEqual, at, s.index(last)));
                }
            }
        }
        (s.index_affine(place, 1, self.removed), conditions)
    }

    /// The same, in an extent that is known at run time only.
    fn source_in<'c>(
        &self,
        s: &Scalars<'c>,
        mode: &str,
        at: Value<'c>,
        extent: Value<'c>,
    ) -> (Value<'c>, Vec<Scalar<'c>>) {
        let last = s.index_affine(extent, 1, -1);
        if mode == "edge" {
            return (s.index_min(s.index_max(at, s.index(0)), last), Vec::new());
        }
        if mode == "reflect" {
            let mirrored = s.index_affine(at, -1, 0);
            let place = s.index_max(at, mirrored);
            let from_end = s.index_sub(s.index_affine(last, 2, 0), place);
            return (s.index_min(place, from_end), Vec::new());
        }
        let inside = [
            s.index_compare(Compare::GreaterEqual, at, s.index(0)),
            s.index_compare(Compare::LessEqual, at, last),
        ];
        (at, inside.to_vec())
    }
}

fn pad<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let padding = padding(&call.facts()).map_err(|violation| violation.to_string())?;
    let mode = call.attrs.str_or("mode", "constant");
    let margins: Vec<Margin> =
        call.dims(0).iter().zip(padding).map(|(dim, both)| Margin::new(dim, both)).collect();
    let dtype = call.types[0].dtype;
    let filler = Tensor::from_f64s(dtype, &[1], &[call.attrs.float_or("value", 0.0)])
        .map_err(|error| error.to_string())?;
    let padded = kernel.compute(call.op.name, &call.results[0], |s, axes| {
        if margins.iter().any(|m| m.left == 0) {
            return number(s, &filler, dtype);
        }
        let (mut places, mut conditions) = (Vec::new(), Vec::new());
        for (margin, &i) in margins.iter().zip(axes) {
            let (place, needed) = margin.source(s, mode, i);
            places.push(place);
            conditions.extend(needed);
        }
        match conditions.into_iter().reduce(|a, b| s.and(a, b)) {
            Some(inside) => {
                let otherwise = s.cast(number(s, &filler, dtype), dtype);
                s.load_if(inside, call.operands[0], &places, otherwise)
            }
            None => s.load(call.operands[0], &places),
        }
    });
    Ok(vec![padded])
}

/// The element of a tensor of one, in the type it is computed in.
fn number<'c>(s: &Scalars<'c>, tensor: &Tensor, dtype: DType) -> Scalar<'c> {
    if dtype.is_float() {
        s.float(tensor.f64_at(0), s.compute_type(dtype))
    } else {
        s.int(tensor.int_at(0) as i64, dtype)
    }
}
