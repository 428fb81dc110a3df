//! How functions are applied to operands: real ones, complex ones, or both.

use crate::sources::Outcome;
use crate::stablehlo::emit::{Emitter, Held, Results};
use crate::stablehlo::graph::Operation;
use fusion_dialects::Value;

/// The real and the imaginary part.
pub type Pair<'c> = [Value<'c>; 2];
/// A function of a real number.
pub type Unary = for<'c, 'p> fn(&mut Emitter<'c, 'p>, Value<'c>) -> Outcome<Value<'c>>;
/// A function of two real numbers.
pub type Binary = for<'c, 'p> fn(&mut Emitter<'c, 'p>, Value<'c>, Value<'c>) -> Outcome<Value<'c>>;
/// A function of a complex number.
pub type Complex = for<'c, 'p> fn(&mut Emitter<'c, 'p>, Pair<'c>) -> Outcome<Held<'c>>;
/// A function of two complex numbers.
pub type ComplexBinary = for<'c, 'p> fn(&mut Emitter<'c, 'p>, Pair<'c>, Pair<'c>) -> Outcome<Pair<'c>>;

/// A function of one real operand.
pub fn real<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &Operation, x: &[Held<'c>], f: Unary) -> Results<'c> {
    let x = e.tensor(op, x, 0)?;
    Ok(vec![Held::Tensor(f(e, x)?)])
}

/// A function of two real operands.
pub fn two<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &Operation, x: &[Held<'c>], f: Binary) -> Results<'c> {
    let (a, b) = (e.tensor(op, x, 0)?, e.tensor(op, x, 1)?);
    Ok(vec![Held::Tensor(f(e, a, b)?)])
}

/// A function of a complex operand, or of a real one.
pub fn or_real<'c, 'p>(
    e: &mut Emitter<'c, 'p>,
    op: &Operation,
    x: &[Held<'c>],
    f: Complex,
    real: Unary,
) -> Results<'c> {
    match e.parts(op, x, 0)?[..] {
        [re, im] => Ok(vec![f(e, [re, im])?]),
        ref parts => Ok(vec![Held::Tensor(real(e, parts[0])?)]),
    }
}

/// The same function of each part.
pub fn each<'c, 'p>(e: &mut Emitter<'c, 'p>, op: &Operation, x: &[Held<'c>], f: Unary) -> Results<'c> {
    let mut parts = Vec::new();
    for part in e.parts(op, x, 0)? {
        parts.push(f(e, part)?);
    }
    Ok(vec![Emitter::of_parts(&parts)])
}

/// A function of two complex operands, or of two real ones.
pub fn or_two<'c, 'p>(
    e: &mut Emitter<'c, 'p>,
    op: &Operation,
    x: &[Held<'c>],
    f: ComplexBinary,
    real: Binary,
) -> Results<'c> {
    match (&e.parts(op, x, 0)?[..], &e.parts(op, x, 1)?[..]) {
        ([ar, ai], [br, bi]) => {
            let [re, im] = f(e, [*ar, *ai], [*br, *bi])?;
            Ok(vec![Held::Complex(re, im)])
        }
        ([a], [b]) => Ok(vec![Held::Tensor(real(e, *a, *b)?)]),
        _ => op.fault("both operands must be real, or both complex"),
    }
}
