//! Shorter forms of functions of f32, for `--fp-math=fast`: off by a few units in the last place more, each by what its file states.
//!
//! ```text
//!   exp     6 units     a polynomial of one degree less, and ln 2 in one part
//!   tanh    6 units     a quotient of polynomials for all numbers, in place of two forms of which one is chosen
//!   erf     6 units     the same
//! ```
//!
//! What is no number stays so, infinities and zeros give what they give otherwise, results do not go beyond 1 where the exact ones do not, and
//! subnormal results are as good as others. What has no line here is as it is without. Sums of products are contracted, and
//! reductions taken in another order, by default as well; quotients are rounded once in either case, since dividing
//! runs beside the multiplications, and an approximate reciprocal of an infinity needs conditions.

mod erf;
mod exp;
mod tanh;

use super::Function;
use super::floats::{Coefficients, Floats};
use fusion_dialects::Value;
use fusion_dialects::rows::Upstream;

/// The functions with a shorter form.
pub const FUNCTIONS: &[(Upstream, Function)] = &[
    (Upstream::Exp, |m, x| exp::exp(m, x[0])),
    (Upstream::Tanh, |m, x| tanh::tanh(m, x[0])),
    (Upstream::Erf, |m, x| erf::erf(m, x[0])),
];

/// `x p(x^2) / q(x^2)`, from -1 to 1, for x of at most that size; what is no number stays.
fn odd_quotient<'c>(
    m: &Floats<'c>,
    x: Value<'c>,
    most: f32,
    (p, q): (&'static [f32], &'static [f32]),
) -> Value<'c> {
    let x = m.at_most(m.at_least(x, -most), most);
    let square = m.mul(x, x);
    let of = |single| m.polynomial(square, &Coefficients { single, double: &[] });
    let quotient = m.div(m.mul(x, of(p)), of(q));
    m.at_most(m.at_least(quotient, -1.0), 1.0)
}
