//! One side of a product by the inner-product trick: its rows, or its columns, divided by powers of two, and what their pairs are among themselves.

use super::of;
use fusion_dialects::Value;
use fusion_dialects::te::{Combine, Compare, Kernel, Neutral, Scalar, Scalars};
use fusion_operators::DType;
use fusion_operators::ops::inner_product_trick::{LEAST, PARTS};

/// The stages of a side.
pub struct Side<'c> {
    /// What the numbers of each row are divided by.
    pub power: Value<'c>,
    /// They so divided, with zeros behind.
    pub scaled: Value<'c>,
    /// The sums of their trick.
    pub own: Value<'c>,
    /// Numbers of a part.
    pub each: u64,
}

/// The `k`-th number of a row, which those indices give.
type Number<'c, 'f> = &'f dyn Fn(&Scalars<'c>, &[Value<'c>], Value<'c>) -> Scalar<'c>;

/// The indices of the `k`-th number of a row.
type Place<'c, 'f> = &'f dyn Fn(&Scalars<'c>, &[Value<'c>], Value<'c>) -> Vec<Value<'c>>;

/// Where the numbers of a side lie: a tensor, and the indices of the `k`-th of a row.
pub struct Source<'c, 'f> {
    #[allow(missing_docs)]
    pub tensor: Value<'c>,
    /// How many a row has.
    pub depth: u64,
    /// The indices.
    pub place: Place<'c, 'f>,
}

impl<'c> Side<'c> {
    /// Of so many rows, of whose so many numbers one lies behind the other: `[rows, k]`.
    pub fn by_rows(kernel: &Kernel<'c>, name: &str, rows: &[u64], source: &Source<'c, '_>) -> Side<'c> {
        let power = power(kernel, rows, source);
        let padded = source.depth.next_multiple_of(PARTS);
        let last = rows.len();
        let scaled = kernel.compute(name, &of(&[rows, &[padded]].concat()), |s, at| {
            scaled(s, power, (&at[..last], at[last]), source)
        });
        Side::with(kernel, power, scaled, rows, padded, &|row, k| [row, &[k]].concat())
    }

    /// Of so many columns, one beside the other: `[lead, k, column]`. Numbers are asked for by `[lead, column]`.
    pub fn by_columns(
        kernel: &Kernel<'c>,
        name: &str,
        lead: &[u64],
        columns: u64,
        source: &Source<'c, '_>,
    ) -> Side<'c> {
        let all = [lead, &[columns]].concat();
        let power = power(kernel, &all, source);
        let padded = source.depth.next_multiple_of(PARTS);
        let last = lead.len();
        let scaled = kernel.compute(name, &of(&[lead, &[padded, columns]].concat()), |s, at| {
            let column = [&at[..last], &at[last + 1..]].concat();
            scaled(s, power, (&column, at[last]), source)
        });
        let place = |at: &[Value<'c>], k| [&at[..last], &[k, at[last]]].concat();
        Side::with(kernel, power, scaled, &all, padded, &place)
    }

    fn with(
        kernel: &Kernel<'c>,
        power: Value<'c>,
        scaled: Value<'c>,
        rows: &[u64],
        padded: u64,
        place: &dyn Fn(&[Value<'c>], Value<'c>) -> Vec<Value<'c>>,
    ) -> Side<'c> {
        let own = own(kernel, rows, padded, &|s, at, k| s.load(scaled, &place(at, k)));
        Side { power, scaled, own, each: padded / PARTS }
    }

    /// Numbers of a row, with the zeros.
    pub fn padded(&self) -> u64 {
        self.each * PARTS
    }
}

/// What the pairs of a side's rows are among themselves, of so many numbers.
pub fn own<'c>(kernel: &Kernel<'c>, rows: &[u64], padded: u64, number: Number<'c, '_>) -> Value<'c> {
    let each = padded / PARTS;
    kernel.reduce("own", &of(rows), &[each], Combine::Sum, |s, at, over| {
        let of = |part: u64| number(s, at, part_of(s, over[0], part, each));
        s.sub(s.mul(of(0), of(1)), s.mul(of(3), of(4)))
    })
}

/// The greatest power of two that is not above the largest of the numbers of each row.
fn power<'c>(kernel: &Kernel<'c>, rows: &[u64], source: &Source<'c, '_>) -> Value<'c> {
    kernel.stage(
        "power",
        std::slice::from_ref(&of(rows)),
        &[source.depth],
        &[Neutral::Float(LEAST)],
        |s, at, over| {
            let power = s.exponent_alone(s.load(source.tensor, &(source.place)(s, at, over[0])));
            vec![s.min(power, s.float(1.0 / LEAST, DType::F32))]
        },
        |s, a, b| vec![s.max_number(a[0], b[0])],
    )[0]
}

/// A number of a row divided by the row's power; 0 beyond all of them.
fn scaled<'c>(
    s: &Scalars<'c>,
    power: Value<'c>,
    (row, k): (&[Value<'c>], Value<'c>),
    source: &Source<'c, '_>,
) -> Scalar<'c> {
    let inside = s.index_compare(Compare::Less, k, s.index(source.depth as i64));
    let place = (source.place)(s, row, k);
    let number = s.load_if(inside, source.tensor, &place, s.float(0.0, DType::F32));
    s.mul(number, s.one_over_power_of_two(s.load(power, row)))
}

/// The `q`-th number of a part.
pub fn part_of<'c>(s: &Scalars<'c>, q: Value<'c>, part: u64, each: u64) -> Value<'c> {
    s.index_affine(q, 1, (part * each) as i64)
}
