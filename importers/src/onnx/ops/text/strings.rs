//! Operators on strings.
//!
//!     StringConcat      both, one behind the other          StringSplit      the pieces between delimiters
//!     RegexFullMatch    whether all of it matches           StringNormalizer without stop words, in one case:
//!
//!     mask = not any_k (x[i] == stop[k])    y = x[places_where(mask)], or [""] where nothing is left

use fusion_operators::ops::strings as text;
use fusion_operators::ops::{elementwise as ew, reduction};
use fusion_operators::reference::strings::letter;
use fusion_operators::{Attrs, Dim};

use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::{Conversion, row};

pub const ROWS: &[Conversion] = &[
    row("StringConcat", |im, node| Ok(vec![im.bin(&text::STRING_CONCAT, node.input(0)?, node.input(1)?)?])),
    row("StringSplit", |im, node| {
        let mut attrs = Attrs::new();
        if let Some(delimiter) = node.opt_string("delimiter")? {
            attrs.set("delimiter", delimiter);
        }
        if let Some(most) = node.opt_int("maxsplit")? {
            attrs.set("maxsplit", most);
        }
        im.call(&text::STRING_SPLIT, &[node.input(0)?], attrs)
    }),
    row("RegexFullMatch", |im, node| {
        let pattern = node.opt_string("pattern")?;
        let pattern = pattern.ok_or_else(|| Fault::MissingAttribute { name: "pattern".into() })?;
        Ok(vec![im.op(&text::STRING_MATCH, &[node.input(0)?], Attrs::new().with("pattern", pattern))?])
    }),
    row("StringNormalizer", normalizer),
];

/// Which case letters are turned into, if any.
fn case(node: &Node) -> Result<Option<&'static str>, Fault> {
    match node.string("case_change_action", "NONE")? {
        "NONE" => Ok(None),
        "LOWER" => Ok(Some("lower")),
        "UPPER" => Ok(Some("upper")),
        _ => Err(Fault::Attribute { name: "case_change_action".into(), expected: "NONE, LOWER or UPPER" }),
    }
}

fn in_case(im: &mut Importer, x: Value, to: &str) -> Made {
    im.op(&text::STRING_CASE, &[x], Attrs::new().with("to", to))
}

fn normalizer(im: &mut Importer, node: &Node) -> Converted {
    let (x, case, words) = (node.input(0)?, case(node)?, node.strings("stopwords")?.unwrap_or_default());
    let row = match im.dims(x)?.as_slice() {
        [_] => x,
        [Dim::Static(1) | Dim::Any | Dim::Symbol(_), _] => im.squeeze(x, &[0])?,
        _ => return Err(Fault::value(format!("the strings must be [C] or [1, C], found {}", im.ty(x)?))),
    };
    let mut y = row;
    if !words.is_empty() {
        y = without(im, row, &words, node.flag("is_case_sensitive")?)?;
    }
    if let Some(case) = case {
        y = in_case(im, y, case)?;
    }
    Ok(vec![if im.rank(x)? == 2 { im.expand_dims(y, &[0])? } else { y }])
}

/// The strings that are none of some words; an empty one where all are.
fn without(im: &mut Importer, x: Value, words: &[&str], is_case_sensitive: bool) -> Made {
    let lower = |word: &&str| -> String { word.chars().map(|c| letter(c, false)).collect() };
    let (compared, words): (Value, Vec<String>) = match is_case_sensitive {
        true => (x, words.iter().map(|word| (*word).to_owned()).collect()),
        false => (in_case(im, x, "lower")?, words.iter().map(lower).collect()),
    };
    let column = im.expand_dims(compared, &[1])?;
    let words = im.strings(&[words.len()], &words)?;
    let same = im.equal(column, words)?;
    let stops = im.reduce(&reduction::REDUCE_ANY, same, &[1], false)?;
    let stays = im.un(&ew::LOGICAL_NOT, stops)?;
    let (places, count) = im.places_where(stays)?;
    // At least one, for which there is an empty string behind the others.
    let least = im.max_f(count, 1.0)?;
    let places = im.first(places, least, 0)?;
    let none = im.strings(&[1], &[""])?;
    let room = im.concat(&[x, none], 0)?;
    let kept = im.gather(room, places, 0)?;
    let is_none = im.equal_f(count, 0.0)?;
    im.select(is_none, none, kept)
}
