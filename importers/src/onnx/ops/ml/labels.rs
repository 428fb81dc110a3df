//! Labels of classes, and tables from keys to values.
//!
//!     y = values[i] where keys[i] == x, else the default          LabelEncoder

use fusion_operators::ops::elementwise as ew;
use fusion_operators::{DType, Tensor};

use super::row;
use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::Conversion;

pub const ROWS: &[Conversion] = &[row("LabelEncoder", label_encoder), row("ZipMap", zip_map)];

/// The labels of classes, by their numbers.
pub struct Labels {
    labels: Tensor,
}

impl Labels {
    /// The attribute of a classifier.
    pub fn of_classes(node: &Node) -> Result<Labels, Fault> {
        if node.strings("classlabels_strings")?.is_some_and(|labels| !labels.is_empty()) {
            return Err(Fault::unsupported("labels that are strings"));
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
    if node.strings(&format!("{name}_strings"))?.is_some() {
        return Err(Fault::unsupported(format!("a LabelEncoder whose {name} are strings")));
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
    let default = match (node.tensor("default_tensor", directory)?, values.dtype().is_float()) {
        (Some(default), _) => default.to_f64s().first().copied().unwrap_or(-1.0),
        (None, true) => node.float("default_float", -0.0)?,
        (None, false) => node.int("default_int64", -1)? as f64,
    };
    let places = place_in(im, x, &keys)?;
    let dtype = values.dtype();
    let default = im.floats(dtype, &[1], &[default])?;
    let values = im.constant(values);
    let all = im.concat(&[values, default], 0)?;
    Ok(vec![im.gather(all, places, 0)?])
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
