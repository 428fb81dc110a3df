//! Einsum, as transposes, matrix products and reductions, two operands at a time.

use fusion_operators::ops::indexing;
use fusion_operators::{Attrs, DType};

use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::{Conversion, row};

pub const ROWS: &[Conversion] = &[row("Einsum", einsum)];

/// A label: a letter of the equation, or one axis of the ellipsis, counted from its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Label {
    Letter(char),
    Dot(usize),
}

/// A value with a label for each axis.
struct Term {
    value: Value,
    labels: Vec<Label>,
}

fn labels(text: &str, rank: Option<usize>, dots: usize) -> Result<Vec<Label>, Fault> {
    let wrong = || Fault::value(format!("'{text}' is not a list of letters with at most one ellipsis"));
    let letters = |part: &str| -> Result<Vec<Label>, Fault> {
        part.chars()
            .map(|c| if c.is_ascii_alphabetic() { Ok(Label::Letter(c)) } else { Err(wrong()) })
            .collect()
    };
    let found = match text.split_once("...") {
        None => letters(text)?,
        Some((before, behind)) => {
            let (mut found, behind) = (letters(before)?, letters(behind)?);
            let count = match rank {
                Some(rank) => rank.checked_sub(found.len() + behind.len()).ok_or_else(wrong)?,
                None => dots,
            };
            found.extend((0..count).rev().map(Label::Dot));
            found.extend(behind);
            found
        }
    };
    match rank {
        Some(rank) if rank != found.len() => {
            Err(Fault::value(format!("'{text}' labels {} axes, the operand has {rank}", found.len())))
        }
        _ => Ok(found),
    }
}

fn einsum(im: &mut Importer, node: &Node) -> Converted {
    let equation =
        node.opt_string("equation")?.ok_or_else(|| Fault::MissingAttribute { name: "equation".into() })?;
    let equation: String = equation.chars().filter(|c| !c.is_whitespace()).collect();
    let (left, right) = match equation.split_once("->") {
        Some((left, right)) => (left, Some(right)),
        None => (equation.as_str(), None),
    };
    let operands = node.all_inputs()?;
    let texts: Vec<&str> = left.split(',').collect();
    if texts.len() != operands.len() || operands.is_empty() {
        return Err(Fault::value(format!(
            "'{equation}' has {} terms, {} operands are given",
            texts.len(),
            operands.len()
        )));
    }
    let mut terms = Vec::new();
    let mut dots = 0;
    for (text, &value) in texts.iter().zip(&operands) {
        let labels = labels(text, Some(im.rank(value)?), 0)?;
        dots = dots.max(labels.iter().filter(|l| matches!(l, Label::Dot(_))).count());
        terms.push(diagonal(im, Term { value, labels })?);
    }
    let out = match right {
        Some(text) => labels(text, None, dots)?,
        None => {
            // The ellipsis, then letters that occur once, in alphabetical order.
            let mut once: Vec<char> = left.chars().filter(char::is_ascii_alphabetic).collect();
            let all = once.clone();
            once.retain(|c| all.iter().filter(|d| *d == c).count() == 1);
            once.sort_unstable();
            (0..dots).rev().map(Label::Dot).chain(once.into_iter().map(Label::Letter)).collect()
        }
    };
    if let Some(label) = out.iter().find(|l| !terms.iter().any(|t| t.labels.contains(l))) {
        return Err(Fault::value(format!("{label:?} of the result of '{equation}' is in no operand")));
    }
    let mut terms = terms.into_iter();
    let Some(mut result) = terms.next() else { return Err(Fault::MissingInput { index: 0 }) };
    let mut rest: Vec<Term> = terms.collect();
    while !rest.is_empty() {
        let next = rest.remove(0);
        let needed = |l: &Label| out.contains(l) || rest.iter().any(|t| t.labels.contains(l));
        result = product(im, result, next, needed)?;
    }
    let result = summed(im, result, |l| out.contains(l))?;
    Ok(vec![arranged(im, &result, &out)?])
}

/// Takes the diagonal where a label stands twice.
fn diagonal(im: &mut Importer, mut term: Term) -> Result<Term, Fault> {
    while let Some((first, second)) = (0..term.labels.len()).find_map(|i| {
        let again = term.labels[i + 1..].iter().position(|l| *l == term.labels[i])?;
        Some((i, i + 1 + again))
    }) {
        // Both axes to the front; then [i, i] for each i.
        let rank = term.labels.len();
        let extent = im.extent(term.value, first, "the operand")?;
        if extent > 1 << 20 {
            return Err(Fault::unsupported(format!("the diagonal of an axis of {extent}")));
        }
        let order: Vec<usize> =
            [first, second].into_iter().chain((0..rank).filter(|&a| a != first && a != second)).collect();
        let value = im.transpose(term.value, &order)?;
        let indices: Vec<i64> = (0..extent).flat_map(|i| [i, i]).collect();
        let indices = im.ints(&[extent as usize, 2], &indices)?;
        term.value = im.op(&indexing::GATHER_ND, &[value, indices], Attrs::new())?;
        let label = term.labels[first];
        let others = (0..rank).filter(|&a| a != first && a != second).map(|a| term.labels[a]);
        term.labels = std::iter::once(label).chain(others).collect();
    }
    Ok(term)
}

/// Sums over labels that are no longer needed.
fn summed(im: &mut Importer, term: Term, needed: impl Fn(&Label) -> bool) -> Result<Term, Fault> {
    let axes: Vec<usize> = (0..term.labels.len()).filter(|&a| !needed(&term.labels[a])).collect();
    let value = im.sum(term.value, &axes, false)?;
    Ok(Term { value, labels: term.labels.into_iter().filter(|l| needed(l)).collect() })
}

/// The axes in the order of `to`, all of which the term has.
fn arranged(im: &mut Importer, term: &Term, to: &[Label]) -> Made {
    let order: Vec<usize> = to.iter().filter_map(|l| term.labels.iter().position(|m| m == l)).collect();
    im.transpose(term.value, &order)
}

/// The product of two terms, summed over what neither the result nor another term needs.
fn product(im: &mut Importer, a: Term, b: Term, needed: impl Fn(&Label) -> bool) -> Result<Term, Fault> {
    let (b_labels, a_labels) = (b.labels.clone(), a.labels.clone());
    let a = summed(im, a, |l| needed(l) || b_labels.contains(l))?;
    let b = summed(im, b, |l| needed(l) || a_labels.contains(l))?;
    let shared: Vec<Label> = a.labels.iter().copied().filter(|l| b.labels.contains(l)).collect();
    let (batch, inner): (Vec<Label>, Vec<Label>) = shared.iter().partition(|l| needed(l));
    let only = |own: &[Label], other: &[Label]| -> Vec<Label> {
        own.iter().copied().filter(|l| !other.contains(l)).collect()
    };
    let (rows, columns) = (only(&a.labels, &b.labels), only(&b.labels, &a.labels));
    let labels = [&batch[..], &rows, &columns].concat();
    let known = |im: &Importer, t: &Term| im.shape(t.value, "the operand");
    let broadcasts = shared.iter().any(|l| {
        let dim = |t: &Term| {
            let axis = t.labels.iter().position(|m| m == l)?;
            im.dims(t.value).ok()?.get(axis).cloned()
        };
        dim(&a) != dim(&b)
    });
    if inner.is_empty() || broadcasts || im.dtype(a.value)? == DType::Bool {
        // Elementwise with broadcasting, then a sum.
        let spread = |im: &mut Importer, t: &Term| {
            let all = [&labels[..], &inner].concat();
            let value = arranged(im, t, &all)?;
            let missing: Vec<i64> =
                (0..all.len()).filter(|&i| !t.labels.contains(&all[i])).map(|i| i as i64).collect();
            im.expand_dims(value, &missing)
        };
        let (left, right) = (spread(im, &a)?, spread(im, &b)?);
        let value = im.mul(left, right)?;
        let axes: Vec<usize> = (labels.len()..labels.len() + inner.len()).collect();
        return Ok(Term { value: im.sum(value, &axes, false)?, labels });
    }
    // [batch, rows, inner] times [batch, inner, columns]
    let (a_shape, b_shape) = (known(im, &a)?, known(im, &b)?);
    let extents = |list: &[Label], t: &Term, shape: &[i64]| -> Vec<i64> {
        list.iter().filter_map(|l| t.labels.iter().position(|m| m == l)).map(|i| shape[i]).collect()
    };
    let size = |list: &[i64]| list.iter().product::<i64>();
    let (batch_shape, inner_shape) = (extents(&batch, &a, &a_shape), extents(&inner, &a, &a_shape));
    let (row_shape, column_shape) = (extents(&rows, &a, &a_shape), extents(&columns, &b, &b_shape));
    let left = arranged(im, &a, &[&batch[..], &rows, &inner].concat())?;
    let left = im.reshape(left, &[&batch_shape[..], &[size(&row_shape), size(&inner_shape)]].concat())?;
    let right = arranged(im, &b, &[&batch[..], &inner, &columns].concat())?;
    let right =
        im.reshape(right, &[&batch_shape[..], &[size(&inner_shape), size(&column_shape)]].concat())?;
    let value = im.matmul(left, right)?;
    let value = im.reshape(value, &[batch_shape, row_shape, column_shape].concat())?;
    Ok(Term { value, labels })
}
