//! Labels of classes, and tables from keys to values.
//!
//!     y = values[i] where keys[i] == x, else the default          LabelEncoder, CategoryMapper

use fusion_operators::ops::elementwise as ew;
use fusion_operators::{DType, Tensor};

use super::row;
use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::Conversion;

pub const ROWS: &[Conversion] =
    &[row("LabelEncoder", label_encoder), row("CategoryMapper", category_mapper), row("ZipMap", zip_map)];

/// The labels of classes, by their numbers.
pub struct Labels {
    labels: Tensor,
}

impl Labels {
    /// The attribute of a classifier.
    pub fn of_classes(node: &Node) -> Result<Labels, Fault> {
        if let Some(labels) = node.strings("classlabels_strings")?.filter(|labels| !labels.is_empty()) {
            return Ok(Labels { labels: Tensor::from_strings(&[labels.len()], &labels)? });
        }
        let given = match node.ints("classlabels_int64s")? {
            Some(labels) => Some(labels),
            None => node.ints("classlabels_ints")?,
        };
        match given {
            Some(labels) if !labels.is_empty() => {
                Ok(Labels { labels: Tensor::from_slice(&[labels.len()], labels)? })
            }
            _ => Err(Fault::MissingAttribute { name: "classlabels_int64s".into() }),
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.labels.len()
    }

    /// The labels of classes by their numbers; of two classes, a truth chooses the second.
    pub fn at(&self, im: &mut Importer, classes: Value) -> Made {
        let classes = im.cast(classes, DType::I64)?;
        let labels = im.constant(self.labels.clone());
        im.gather(labels, classes, 0)
    }
}

/// The scores as they are: a column a label.
fn zip_map(_: &mut Importer, node: &Node) -> Converted {
    Ok(vec![node.input(0)?])
}

/// A list among attributes of several types.
fn table(im: &mut Importer, node: &Node, name: &str) -> Result<Tensor, Fault> {
    if let Some(list) = node.strings(&format!("{name}_strings"))? {
        return Ok(Tensor::from_strings(&[list.len()], &list)?);
    }
    if let Some(list) = node.ints(&format!("{name}_int64s"))? {
        return Ok(Tensor::from_slice(&[list.len()], list)?);
    }
    if let Some(list) = node.floats(&format!("{name}_floats"))? {
        return Ok(Tensor::from_f64s(DType::F32, &[list.len()], &list)?);
    }
    let directory = im.directory();
    node.tensor(&format!("{name}_tensor"), directory)?
        .ok_or_else(|| Fault::MissingAttribute { name: format!("{name}_tensor") })
}

fn label_encoder(im: &mut Importer, node: &Node) -> Converted {
    let x = node.input(0)?;
    let (keys, values) = (table(im, node, "keys")?, table(im, node, "values")?);
    if keys.len() != values.len() || keys.is_empty() {
        return Err(Fault::value(format!("{} keys are given for {} values", keys.len(), values.len())));
    }
    if keys.dtype() != im.dtype(x)? {
        return Err(Fault::value(format!("keys of {} cannot be those of {}", keys.dtype(), im.ty(x)?)));
    }
    let directory = im.directory();
    let dtype = values.dtype();
    let default = match node.tensor("default_tensor", directory)? {
        Some(default) if default.len() != 1 || default.dtype() != dtype => {
            let found = default.tensor_type();
            return Err(Fault::value(format!("attribute default_tensor must be one {dtype}, found {found}")));
        }
        Some(default) => default.reshaped(&[1])?,
        None if dtype == DType::String => {
            Tensor::from_strings(&[1], &[node.string("default_string", "_Unused")?])?
        }
        None if dtype.is_float() => Tensor::from_f64s(dtype, &[1], &[node.float("default_float", -0.0)?])?,
        None => Tensor::from_ints(dtype, &[1], &[node.int("default_int64", -1)?.into()])?,
    };
    Ok(vec![looked_up(im, x, &keys, (values, default))?])
}

/// The value of each element's key; another where there is no such key.
fn looked_up(im: &mut Importer, x: Value, keys: &Tensor, (values, default): (Tensor, Tensor)) -> Made {
    let places = place_in(im, x, keys)?;
    let (values, default) = (im.constant(values), im.constant(default));
    let all = im.concat(&[values, default], 0)?;
    im.gather(all, places, 0)
}

/// Strings as integers, or integers as strings, by one list of pairs.
fn category_mapper(im: &mut Importer, node: &Node) -> Converted {
    let x = node.input(0)?;
    let missing = |name: &str| Fault::MissingAttribute { name: name.into() };
    let texts = node.strings("cats_strings")?.ok_or_else(|| missing("cats_strings"))?;
    let numbers = node.ints("cats_int64s")?.ok_or_else(|| missing("cats_int64s"))?;
    if texts.len() != numbers.len() || texts.is_empty() {
        return Err(Fault::value(format!(
            "{} strings are given for {} integers",
            texts.len(),
            numbers.len()
        )));
    }
    let (texts, numbers) =
        (Tensor::from_strings(&[texts.len()], &texts)?, Tensor::from_slice(&[numbers.len()], numbers)?);
    Ok(vec![match im.dtype(x)? {
        DType::String => {
            let default = Tensor::from_slice(&[1], &[node.int("default_int64", -1)?])?;
            looked_up(im, x, &texts, (numbers, default))?
        }
        _ => {
            let x = im.cast(x, DType::I64)?;
            let default = Tensor::from_strings(&[1], &[node.string("default_string", "_Unused")?])?;
            looked_up(im, x, &numbers, (texts, default))?
        }
    }])
}

/// Where each element stands in a list: how many there are where it is in none. NaN is found, too.
pub fn place_in(im: &mut Importer, x: Value, keys: &Tensor) -> Made {
    let (count, last) = (keys.len(), im.rank(x)? as i64);
    let column = im.expand_dims(x, &[last])?;
    let list = im.constant(keys.clone());
    let mut same = im.equal(column, list)?;
    if keys.dtype().is_float() && keys.to_f64s().iter().any(|key| key.is_nan()) {
        let (of_x, of_keys) = (im.un(&ew::IS_NAN, column)?, im.un(&ew::IS_NAN, list)?);
        let both = im.and(of_x, of_keys)?;
        same = im.bin(&ew::LOGICAL_OR, same, both)?;
    }
    let places = im.arange(DType::I64, count as i64, 0.0, 1.0)?;
    let none = im.like(places, count as f64)?;
    let found = im.select(same, places, none)?;
    im.reduce(&fusion_operators::ops::reduction::REDUCE_MIN, found, &[last as usize], false)
}
