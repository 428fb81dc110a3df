//! Maps as rows of numbers or strings.
//!
//!     DictVectorizer    y[0, i] = values[j] where keys[j] == vocabulary[i], else 0 or ""
//!     CastMap           y[0, i] = values[j] where keys[j] == i                                  sparse, i < max_map
//!                       y[0, i] = the value of the i-th least key                               dense
//!
//! A map is two columns, of its keys and of its values.

use fusion_operators::ops::reduction;
use fusion_operators::{DType, Tensor};

use super::row;
use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::Conversion;
use crate::onnx::ops::moving::selection::ascending;

pub const ROWS: &[Conversion] = &[row("DictVectorizer", dict_vectorizer), row("CastMap", cast_map)];

/// Columns of a row at most: they are a constant of the program.
const MOST: i64 = 1 << 24;

fn dict_vectorizer(im: &mut Importer, node: &Node) -> Converted {
    let [keys, values] = im.map_of(node, 0)?;
    let vocabulary = match (node.strings("string_vocabulary")?, node.ints("int64_vocabulary")?) {
        (Some(list), None) => Tensor::from_strings(&[list.len()], &list)?,
        (None, Some(list)) => Tensor::from_slice(&[list.len()], list)?,
        _ => {
            return Err(Fault::value(
                "one of the attributes string_vocabulary and int64_vocabulary must be given",
            ));
        }
    };
    if vocabulary.dtype() != im.dtype(keys)? {
        let (given, found) = (vocabulary.dtype(), im.dtype(keys)?);
        return Err(Fault::value(format!("a vocabulary of {given} cannot be one of keys of {found}")));
    }
    let vocabulary = im.constant(vocabulary);
    let none = nothing(im.dtype(values)?, "")?;
    Ok(vec![found(im, vocabulary, (keys, values), none)?])
}

/// The value of each of some keys, or `none` where the map has no such key, as a row.
fn found(im: &mut Importer, wanted: Value, (keys, values): (Value, Value), none: Tensor) -> Made {
    let column = im.expand_dims(wanted, &[1])?;
    let same = im.equal(column, keys)?;
    let count = im.dims(keys)?.swap_remove(0);
    // Behind the value for no key, the first value is number 1.
    let numbers = im.arange_dim(DType::I64, &count, 1.0, 1.0)?;
    let zero = im.like(numbers, 0.0)?;
    let numbers = im.select(same, numbers, zero)?;
    let last = im.reduce(&reduction::REDUCE_MAX, numbers, &[1], false)?;
    // Of a map without keys there is no greatest.
    let places = im.max_f(last, 0.0)?;
    let none = im.constant(none);
    let all = im.concat(&[none, values], 0)?;
    let row = im.gather(all, places, 0)?;
    im.expand_dims(row, &[0])
}

/// What stands for no value.
fn nothing(dtype: DType, text: &str) -> Result<Tensor, Fault> {
    Ok(match dtype {
        DType::String => Tensor::from_strings(&[1], &[text])?,
        _ => Tensor::from_f64s(dtype, &[1], &[0.0])?,
    })
}

fn cast_map(im: &mut Importer, node: &Node) -> Converted {
    let [keys, values] = im.map_of(node, 0)?;
    let keys = im.cast(keys, DType::I64)?;
    let dtype = match node.string("cast_to", "TO_FLOAT")? {
        "TO_FLOAT" => DType::F32,
        "TO_INT64" => DType::I64,
        "TO_STRING" => DType::String,
        _ => {
            return Err(Fault::Attribute {
                name: "cast_to".into(),
                expected: "TO_FLOAT, TO_INT64 or TO_STRING",
            });
        }
    };
    let values = im.cast(values, dtype)?;
    match node.string("map_form", "DENSE")? {
        "DENSE" => {
            let order = ascending(im, keys)?;
            let row = im.gather(values, order, 0)?;
            Ok(vec![im.expand_dims(row, &[0])?])
        }
        "SPARSE" => {
            let most = node.int("max_map", 1)?;
            if !(1..=MOST).contains(&most) {
                return Err(Fault::value(format!(
                    "attribute max_map must be from 1 to {MOST}, found {most}"
                )));
            }
            let wanted = im.arange(DType::I64, most, 0.0, 1.0)?;
            Ok(vec![found(im, wanted, (keys, values), nothing(dtype, "0.f")?)?])
        }
        _ => Err(Fault::Attribute { name: "map_form".into(), expected: "DENSE or SPARSE" }),
    }
}
