//! What is done to features before a model.
//!
//!     Scaler      (x - offset) * scale               Normalizer          x / max, x / sum |x| or x / sqrt(sum x^2) of a row
//!     Imputer     x, or another where x is missing   Binarizer           x > threshold
//!     OneHotEncoder  x == category, a new axis       FeatureVectorizer   rows side by side
//!     ArrayFeatureExtractor   columns of x

use fusion_operators::ops::{elementwise as ew, reduction};
use fusion_operators::{DType, Tensor};

use super::row;
use crate::onnx::build::Converted;
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::Node;
use crate::onnx::ops::Conversion;
use crate::onnx::ops::nn::normalization::{l1_norm, l2_norm, over_length};

pub const ROWS: &[Conversion] = &[
    row("Scaler", |im, node| {
        let x = im.cast(node.input(0)?, DType::F32)?;
        let (offset, scale) =
            (node.floats("offset")?.unwrap_or_default(), node.floats("scale")?.unwrap_or_default());
        let mut y = x;
        if !offset.is_empty() {
            let offset = im.floats(DType::F32, &[offset.len()], &offset)?;
            y = im.sub(y, offset)?;
        }
        if !scale.is_empty() {
            let scale = im.floats(DType::F32, &[scale.len()], &scale)?;
            y = im.mul(y, scale)?;
        }
        Ok(vec![y])
    }),
    row("Normalizer", normalizer),
    row("Imputer", imputer),
    row("Binarizer", |im, node| {
        let x = node.input(0)?;
        let threshold = im.like(x, node.float("threshold", 0.0)?)?;
        let above = im.bin(&ew::GREATER, x, threshold)?;
        Ok(vec![im.cast(above, im.dtype(x)?)?])
    }),
    row("OneHotEncoder", |im, node| {
        let x = node.input(0)?;
        if node.int("zeros", 1)? == 0 {
            return Err(Fault::unsupported("zeros = 0, by which an unknown category is an error,"));
        }
        let (x, categories) = match (im.dtype(x)?, node.strings("cats_strings")?, node.ints("cats_int64s")?) {
            (DType::String, Some(texts), _) => (x, im.strings(&[texts.len()], &texts)?),
            (DType::String, None, _) => {
                return Err(Fault::MissingAttribute { name: "cats_strings".into() });
            }
            (_, _, Some(numbers)) => (im.cast(x, DType::I64)?, im.ints(&[numbers.len()], numbers)?),
            _ => return Err(Fault::MissingAttribute { name: "cats_int64s".into() }),
        };
        let column = im.expand_dims(x, &[im.rank(x)? as i64])?;
        let same = im.equal(column, categories)?;
        Ok(vec![im.cast(same, DType::F32)?])
    }),
    row("FeatureVectorizer", |im, node| {
        let mut parts = Vec::new();
        for x in node.all_inputs()? {
            let x = im.cast(x, DType::F32)?;
            parts.push(if im.rank(x)? == 1 { im.expand_dims(x, &[0])? } else { x });
        }
        Ok(vec![im.concat(&parts, 1)?])
    }),
    row("ArrayFeatureExtractor", |im, node| {
        let (x, places) = (node.input(0)?, node.input(1)?);
        let places = im.reshape(places, &[-1])?;
        let last = im.rank(x)?.checked_sub(1).ok_or_else(|| Fault::value("a scalar has no features"))?;
        let y = im.gather(x, places, last)?;
        Ok(vec![if last == 0 { im.expand_dims(y, &[0])? } else { y }])
    }),
];

/// Each row by a length of it, which is 1 where it would be 0.
fn normalizer(im: &mut Importer, node: &Node) -> Converted {
    let x = im.cast(node.input(0)?, DType::F32)?;
    let last = im.rank(x)?.checked_sub(1).ok_or_else(|| Fault::value("a scalar has no features"))?;
    let length = match node.string("norm", "MAX")? {
        "MAX" => im.reduce(&reduction::REDUCE_MAX, x, &[last], true)?,
        "L1" => l1_norm(im, x, last)?,
        "L2" => l2_norm(im, x, last)?,
        _ => return Err(Fault::Attribute { name: "norm".into(), expected: "MAX, L1 or L2" }),
    };
    Ok(vec![over_length(im, x, length)?])
}

/// Numbers of a row, or one for all, in place of what is missing.
fn imputer(im: &mut Importer, node: &Node) -> Converted {
    let x = node.input(0)?;
    let dtype = im.dtype(x)?;
    let (values, missing) = match dtype.is_float() {
        true => {
            let values = node.floats("imputed_value_floats")?.unwrap_or_default();
            (Tensor::from_f64s(dtype, &[values.len()], &values)?, node.float("replaced_value_float", 0.0)?)
        }
        false => {
            let values = node.ints("imputed_value_int64s")?.unwrap_or_default();
            let values: Vec<i128> = values.iter().map(|&v| v.into()).collect();
            (Tensor::from_ints(dtype, &[values.len()], &values)?, node.int("replaced_value_int64", 0)? as f64)
        }
    };
    if values.is_empty() {
        let name = if dtype.is_float() { "imputed_value_floats" } else { "imputed_value_int64s" };
        return Err(Fault::MissingAttribute { name: name.into() });
    }
    let is_missing = match missing.is_nan() {
        true => im.un(&ew::IS_NAN, x)?,
        false => im.equal_f(x, missing)?,
    };
    let values = im.constant(values);
    Ok(vec![im.select(is_missing, values, x)?])
}
