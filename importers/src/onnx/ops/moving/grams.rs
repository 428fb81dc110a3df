//! How often sequences of words stand in a text: words are numbers or strings (TfIdfVectorizer).
//!
//!     count[g] = sum_(s, i) all_j (x[i + j (s + 1)] == g[j])        over all places i and all numbers s of words skipped
//!
//! Strings are numbers here: their places among those that the pool has, of which others have none. All sequences of one length are
//! compared at once. What is given is the count, a weight where there is any, or both.

use std::borrow::Cow;

use fusion_operators::{DType, Tensor};
use indexmap::IndexSet;

use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::ml::labels::place_in;
use crate::onnx::ops::{Conversion, row};

pub const ROWS: &[Conversion] = &[row("TfIdfVectorizer", tf_idf)];

/// Most numbers that a row is compared with, over all places.
const MOST_COMPARED: i64 = 1 << 24;

/// A length, and the sequences of it one after the other.
struct Grams<'p> {
    length: i64,
    pool: &'p [i64],
}

/// The text and the pool as numbers.
fn numbered<'m>(im: &mut Importer, node: &Node<'m>, x: Value) -> Result<(Value, Cow<'m, [i64]>), Fault> {
    if im.dtype(x)? != DType::String {
        let pool = node.ints("pool_int64s")?;
        let pool = pool.ok_or_else(|| Fault::MissingAttribute { name: "pool_int64s".into() })?;
        return Ok((im.cast(x, DType::I64)?, Cow::Borrowed(pool)));
    }
    let pool = node.strings("pool_strings")?;
    let pool = pool.ok_or_else(|| Fault::MissingAttribute { name: "pool_strings".into() })?;
    let words: IndexSet<&str> = pool.iter().copied().collect();
    let places = pool.iter().filter_map(|word| words.get_index_of(word)).map(|place| place as i64).collect();
    let words: Vec<&str> = words.into_iter().collect();
    let x = place_in(im, x, &Tensor::from_strings(&[words.len()], &words)?)?;
    Ok((x, Cow::Owned(places)))
}

/// The sequences by their length. They begin where `ngram_counts` says.
fn sequences<'p>(node: &Node, pool: &'p [i64]) -> Result<Vec<Grams<'p>>, Fault> {
    let begins = node.ints("ngram_counts")?;
    let begins = begins.ok_or_else(|| Fault::MissingAttribute { name: "ngram_counts".into() })?;
    let mut all = Vec::new();
    for (i, &begin) in begins.iter().enumerate() {
        let end = begins.get(i + 1).map_or(pool.len(), |&end| usize::try_from(end).unwrap_or(usize::MAX));
        let length = i + 1;
        let part = usize::try_from(begin).ok().and_then(|begin| pool.get(begin..end));
        match part {
            Some(pool) if pool.len() % length == 0 => all.push(Grams { length: length as i64, pool }),
            _ => {
                return Err(Fault::value(format!(
                    "attribute ngram_counts is {begins:?}, which makes no sequences of {length} of a pool of {}",
                    pool.len()
                )));
            }
        }
    }
    Ok(all)
}

fn tf_idf(im: &mut Importer, node: &Node) -> Converted {
    let x = node.input(0)?;
    let required = |name: &str| node.required_int(name);
    let (least, most, skips) =
        (required("min_gram_length")?, required("max_gram_length")?, required("max_skip_count")?);
    if least < 1 || most < least || !(0..1 << 10).contains(&skips) {
        return Err(Fault::value(format!(
            "sequences of {least} to {most} with up to {skips} skips are out of range"
        )));
    }
    let (counts, weighs) = match node.string("mode", "")? {
        "TF" => (true, false),
        "IDF" => (false, true),
        "TFIDF" => (true, true),
        _ => return Err(Fault::Attribute { name: "mode".into(), expected: "TF, IDF or TFIDF" }),
    };
    let flat = im.rank(x)? == 1;
    let x = if flat { im.expand_dims(x, &[0])? } else { x };
    if im.rank(x)? != 2 || im.dtype(x)?.is_float() {
        let found = im.ty(x)?;
        return Err(Fault::value(format!(
            "the text must be strings or integers of rank 1 or 2, found {found}"
        )));
    }
    let (x, pool) = numbered(im, node, x)?;
    let mut found = Vec::new();
    for grams in sequences(node, &pool)? {
        let wanted = (least..=most).contains(&grams.length);
        // Nothing is skipped within a single number.
        let skips = if grams.length == 1 { 0 } else { skips };
        found.push(occurrences(im, x, &grams, wanted.then_some(skips))?);
    }
    let found = im.concat(&found, 1)?;
    let total = im.extent(found, 1, "the pool")?;
    let columns = node.ints("ngram_indexes")?.unwrap_or_default();
    if columns.is_empty() || columns.len() as i64 != total {
        return Err(Fault::value(format!("{} ngram_indexes are given for {total} sequences", columns.len())));
    }
    let width = columns.iter().copied().max().unwrap_or(0) + 1;
    if columns.iter().any(|&c| c < 0) || width > 1 << 24 {
        return Err(Fault::value(format!("attribute ngram_indexes is out of range: up to {}", width - 1)));
    }
    let weights = node.floats("weights")?.unwrap_or_default();
    if weighs && !weights.is_empty() && weights.len() as i64 != total {
        return Err(Fault::value(format!("{} weights are given for {total} sequences", weights.len())));
    }
    let mut y = found;
    if !counts {
        let zero = im.like(y, 0.0)?;
        let any = im.less(zero, y)?;
        y = im.cast(any, DType::F32)?;
    }
    if weighs && !weights.is_empty() {
        let weights = im.floats(DType::F32, &[weights.len()], &weights)?;
        y = im.mul(y, weights)?;
    }
    // Columns that no sequence has read one of zeros, which stands behind all others.
    let mut places = vec![total; width as usize];
    for (i, &column) in columns.iter().enumerate() {
        places[column as usize] = i as i64;
    }
    let padded = im.pad(y, &[0, 0, 0, 1], 0.0)?;
    let places = im.ints(&[places.len()], &places)?;
    let y = im.gather(padded, places, 1)?;
    Ok(vec![if flat { im.squeeze(y, &[0])? } else { y }])
}

/// How often each of some sequences stands in each row, [rows, sequences]; zeros where nothing is asked.
fn occurrences(im: &mut Importer, x: Value, grams: &Grams, skips: Option<i64>) -> Made {
    let (rows, length) = (im.extent(x, 0, "the text")?, im.extent(x, 1, "the text")?);
    let count = grams.pool.len() as i64 / grams.length;
    let mut sum = im.full(DType::F32, &[rows, count], 0.0)?;
    for step in 1..=skips.map_or(0, |skips| skips + 1) {
        let places = length - (grams.length - 1) * step;
        if places < 1 || count == 0 {
            break;
        }
        if places.saturating_mul(count) > MOST_COMPARED {
            return Err(Fault::unsupported(format!("a pool of {count} sequences for texts of {length}")));
        }
        let mut all = None;
        for j in 0..grams.length {
            let at: Vec<i64> =
                grams.pool.iter().copied().skip(j as usize).step_by(grams.length as usize).collect();
            let at = im.constant(Tensor::from_slice(&[at.len()], &at)?);
            let text = im.slice(x, 1, j * step, j * step + places)?;
            let text = im.expand_dims(text, &[2])?;
            let same = im.equal(text, at)?;
            all = Some(match all {
                None => same,
                Some(all) => im.and(all, same)?,
            });
        }
        if let Some(all) = all {
            let ones = im.cast(all, DType::F32)?;
            let here = im.sum(ones, &[1], false)?;
            sum = im.add(sum, here)?;
        }
    }
    Ok(sum)
}
