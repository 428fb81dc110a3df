//! Products of small matrices of mostly 0 and 1 with a vector, as sums that are written out.

use fusion_dialects::te::{Scalar, Scalars};
use fusion_operators::DType;
use fusion_operators::ops::winograd::Matrix;

/// The product of the second and the first matrix with `x`: what several rows share is in the first.
pub fn apply<'c>(s: &Scalars<'c>, [first, second]: [Matrix; 2], x: &[Scalar<'c>]) -> Vec<Scalar<'c>> {
    let shared: Vec<Scalar> = first.iter().map(|row| combination(s, row, x)).collect();
    second.iter().map(|row| combination(s, row, &shared)).collect()
}

/// `sum_i a[i] x[i]`, without what is times 0 or 1; it begins with what is added, so that nothing is negated.
fn combination<'c>(s: &Scalars<'c>, a: &[f64], x: &[Scalar<'c>]) -> Scalar<'c> {
    let terms: Vec<(f64, Scalar)> =
        a.iter().copied().zip(x.iter().copied()).filter(|(a, _)| *a != 0.0).collect();
    let first = terms.iter().position(|(a, _)| *a > 0.0).unwrap_or(0);
    let product = |(a, x): (f64, Scalar<'c>)| match a.abs() {
        1.0 => x,
        size => s.mul(x, s.float(size, x.dtype)),
    };
    let Some(&(sign, of)) = terms.get(first) else { return s.float(0.0, DType::F32) };
    let begin = product((sign, of));
    let begin = if sign < 0.0 { s.neg(begin) } else { begin };
    let others = terms.into_iter().enumerate().filter(|(i, _)| *i != first);
    others.fold(begin, |sum, (_, (a, x))| match a < 0.0 {
        true => s.sub(sum, product((a, x))),
        false => s.add(sum, product((a, x))),
    })
}
