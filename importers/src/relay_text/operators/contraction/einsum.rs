//! Sums of products by an equation of letters.
//!
//!     einsum((%a, %b), equation="ij,jk->ik")
//!
//! Each operand gets an axis for each letter, 1 where it has none; then all are multiplied, and the letters that the result has
//! not are summed over. `...` is not supported.

use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use crate::relay_text::operators::shape::fixed;
use crate::relay_text::operators::{Built, Call, built};
use fusion_dialects::Value;

#[rustfmt::skip]
pub const BUILT: &[Built] = &[built("einsum", 1, &["equation"], einsum)];

fn einsum<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let parts = call.elements(0)?;
    let equation: String = call.text("equation", "")?.chars().filter(|c| !c.is_whitespace()).collect();
    let (inputs, output) = match equation.split_once("->") {
        Some((inputs, output)) => (inputs.to_owned(), output.to_owned()),
        None => {
            // Without a result it has the letters that occur once, in order.
            let mut letters: Vec<char> = equation.chars().filter(|c| *c != ',').collect();
            letters.sort_unstable();
            let once = |c: &char| letters.iter().filter(|other| *other == c).count() == 1;
            (equation.clone(), letters.iter().copied().filter(once).collect())
        }
    };
    let terms: Vec<Vec<char>> = inputs.split(',').map(|term| term.chars().collect()).collect();
    let fits = terms.len() == parts.len() && terms.iter().flatten().all(char::is_ascii_alphabetic);
    let known = output.chars().all(|c| inputs.contains(c) && output.matches(c).count() == 1);
    if !fits || !known {
        return call.fault(format!("the equation {equation:?} does not fit {} operands", parts.len()));
    }
    let mut letters: Vec<char> = output.chars().collect();
    for letter in terms.iter().flatten() {
        if !letters.contains(letter) {
            letters.push(*letter);
        }
    }
    let mut product: Option<Value> = None;
    for (part, term) in parts.into_iter().zip(&terms) {
        let part = spread(call, part, term, &letters)?;
        product = Some(match product {
            Some(other) => call.mul(other, part)?,
            None => part,
        });
    }
    let Some(product) = product else { return call.fault("takes one tensor or more") };
    let axes: Vec<i64> = (output.chars().count()..letters.len()).map(|axis| axis as i64).collect();
    call.summed(product, &axes).map(Made::Value)
}

/// An operand with an axis for each letter.
fn spread<'c>(
    call: &mut Call<'_, 'c, '_>,
    part: Value<'c>,
    term: &[char],
    letters: &[char],
) -> Outcome<Value<'c>> {
    if call.rank(part)? != term.len() {
        return call.fault(format!(
            "{} letters name the axes of a tensor of {}",
            term.len(),
            call.rank(part)?
        ));
    }
    let (mut part, mut term) = (part, term.to_vec());
    // A letter that comes twice names a diagonal.
    while let Some((first, second)) = repeated(&term) {
        part = diagonal(call, part, first, second)?;
        term.remove(second);
    }
    let order = |letter: &char| letters.iter().position(|other| other == letter);
    let mut axes: Vec<usize> = (0..term.len()).collect();
    axes.sort_by_key(|&axis| order(&term[axis]));
    let axes: Vec<i64> = axes.into_iter().map(|axis| axis as i64).collect();
    part = call.transposed(part, &axes)?;
    let missing = (0..letters.len()).filter(|&i| !term.contains(&letters[i])).map(|i| i as i64);
    call.expanded(part, &missing.collect::<Vec<_>>())
}

fn repeated(term: &[char]) -> Option<(usize, usize)> {
    (0..term.len()).find_map(|i| (i + 1..term.len()).find(|&j| term[i] == term[j]).map(|j| (i, j)))
}

/// The elements whose places along two axes are the same; the second axis goes.
fn diagonal<'c>(
    call: &mut Call<'_, 'c, '_>,
    x: Value<'c>,
    first: usize,
    second: usize,
) -> Outcome<Value<'c>> {
    let shape = fixed(call, x)?;
    let extent = shape[first];
    if shape[second] != extent {
        return call.fault(format!("a letter names axes of extents {extent} and {}", shape[second]));
    }
    call.countable(&[extent, extent])?;
    let mask: Vec<f64> =
        (0..extent * extent).map(|i| f64::from(u8::from(i / extent == i % extent))).collect();
    let mut wide = vec![1; shape.len()];
    (wide[first], wide[second]) = (extent, extent);
    let dtype = call.dtype(x)?;
    let mask = call.floats_in(dtype, &wide, &mask)?;
    let kept = call.mul(x, mask)?;
    call.summed(kept, &[second as i64])
}
