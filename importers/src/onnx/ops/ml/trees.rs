//! Ensembles of decision trees (domain ai.onnx.ml): all trees of all rows take one step down at a time.
//!
//!     node[n, t] = x[n, feature[node]] <= split[node] ? yes[node] : no[node]        as often as the deepest tree needs
//!     y[n, k]    = sum_t weight[node[n, t], k]
//!
//! A leaf is a node whose branches lead to itself, so that shallow trees wait for deep ones. What a step asks may differ
//! from node to node; one that asks for membership in a set becomes a chain of nodes that ask for equality.
//!
//! Tables are what takes the time. Where `no` lies right behind `yes` (`Forest::pair`), one word of 32 bits has all that a
//! node says but its split: `feature | yes | whether no is another node`.

use fusion_operators::ops::{elementwise as ew, indexing, reduction};
use fusion_operators::{Attrs, DType, Format, Operator};

use super::forest::{Aggregate, Forest, MODES, of_classes, of_nodes, of_targets};
use super::labels::Labels;
use super::row;
use super::scores::{columns, transformed};
use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::Conversion;

pub const ROWS: &[Conversion] = &[
    row("TreeEnsemble", ensemble),
    row("TreeEnsembleRegressor", regressor),
    row("TreeEnsembleClassifier", classifier),
];

fn ensemble(im: &mut Importer, node: &Node) -> Converted {
    let directory = im.directory();
    let mut forest = of_nodes(node, directory)?;
    let x = rows(im, node)?;
    let dtype = im.dtype(x)?;
    let y = values(im, &mut forest, x, dtype)?;
    Ok(vec![transformed(im, y, forest.transform)?])
}

/// Its result is f32, whatever the type of the features.
fn regressor(im: &mut Importer, node: &Node) -> Converted {
    let directory = im.directory();
    let mut forest = of_targets(node, directory)?;
    let x = rows(im, node)?;
    let y = values(im, &mut forest, x, DType::F32)?;
    Ok(vec![transformed(im, y, forest.transform)?])
}

/// The label of the greatest score, and the scores. Where only one of two classes has weights, these decide for the second
/// class: above 0, or above 1/2 where no weight is below 0, as those are probabilities.
fn classifier(im: &mut Importer, node: &Node) -> Converted {
    let labels = Labels::of_classes(node)?;
    let directory = im.directory();
    let (mut forest, only) = of_classes(node, directory, labels.count())?;
    let x = rows(im, node)?;
    let y = values(im, &mut forest, x, DType::F32)?;
    let Some(only) = only else {
        let chosen = im.op(&reduction::ARGMAX, &[y], Attrs::new().with("axis", 1i64))?;
        let label = labels.at(im, chosen)?;
        return Ok(vec![label, transformed(im, y, forest.transform)?]);
    };
    let score = im.squeeze(y, &[1])?;
    let bound = im.like(score, if forest.never_negative() { 0.5 } else { 0.0 })?;
    let chosen = im.bin(&ew::GREATER, score, bound)?;
    let label = labels.at(im, chosen)?;
    let scores = match only {
        0 => columns(im, y, forest.transform, forest.never_negative())?,
        // The first class has a score of its own, which is 0.
        _ => {
            let none = im.mul_f(y, 0.0)?;
            let both = im.concat(&[none, y], 1)?;
            transformed(im, both, forest.transform)?
        }
    };
    Ok(vec![label, scores])
}

/// The features as floats; one row may come without its axis.
fn rows(im: &mut Importer, node: &Node) -> Made {
    let mut x = node.input(0)?;
    if !im.dtype(x)?.is_float() {
        x = im.cast(x, DType::F32)?;
    }
    match im.rank(x)? {
        1 => im.expand_dims(x, &[0]),
        2 => Ok(x),
        _ => Err(Fault::value(format!("the features must have rank 1 or 2, found {}", im.ty(x)?))),
    }
}

/// What a forest gives for each row and target.
fn values(im: &mut Importer, forest: &mut Forest, x: Value, dtype: DType) -> Made {
    let features = im.extent(x, 1, "the features")?;
    if let Some(feature) = forest.nodes.iter().map(|node| node.feature).find(|&f| f >= features) {
        return Err(Fault::value(format!("a node asks for feature {feature} of {features}")));
    }
    let words = if forest.pair() { forest.words(features as usize) } else { None };
    let reached = reached(im, forest, words, x)?;
    let format = Format::of(dtype).map_or(f64::INFINITY, Format::greatest_number);
    let (empty, op): (f64, &'static Operator) = match forest.aggregate {
        Aggregate::Sum | Aggregate::Average => (0.0, &reduction::REDUCE_SUM),
        Aggregate::Least => (format, &reduction::REDUCE_MIN),
        Aggregate::Greatest => (-format, &reduction::REDUCE_MAX),
    };
    let table = im.floats(dtype, &[forest.nodes.len(), forest.targets], &forest.table(empty))?;
    let each = im.gather(table, reached, 0)?;
    let mut y = im.reduce(op, each, &[1], false)?;
    if forest.aggregate == Aggregate::Average {
        let count = im.like(y, forest.roots.len() as f64)?;
        y = im.div(y, count)?;
    }
    if !forest.base.is_empty() {
        let base = im.floats(dtype, &[forest.base.len()], &forest.base)?;
        y = im.add(y, base)?;
    }
    Ok(y)
}

/// How the tables of nodes are read.
enum Tables {
    /// Feature, `yes` and `no`.
    Apart([Value; 3]),
    /// Words, and how many bits of them lie below the feature.
    Joined(Value, u32),
}

impl Tables {
    /// The features of nodes, and what tells where their branches lead.
    fn features(&self, im: &mut Importer, at: Value) -> Result<(Value, Value), Fault> {
        match *self {
            Tables::Apart([feature, ..]) => Ok((im.gather(feature, at, 0)?, at)),
            Tables::Joined(words, below) => {
                let word = im.gather(words, at, 0)?;
                let by = im.like(word, below.into())?;
                Ok((im.bin(&ew::SHIFT_RIGHT, word, by)?, word))
            }
        }
    }

    /// Where nodes lead that go to `yes`, or do not.
    fn next(&self, im: &mut Importer, from: Value, goes: Value) -> Made {
        match *self {
            Tables::Apart([_, yes, no]) => {
                let (yes, no) = (im.gather(yes, from, 0)?, im.gather(no, from, 0)?);
                im.select(goes, yes, no)
            }
            Tables::Joined(_, below) => {
                let one = im.like(from, 1.0)?;
                let moved = im.bin(&ew::SHIFT_RIGHT, from, one)?;
                let mask = im.like(from, ((1i64 << (below - 1)) - 1) as f64)?;
                let yes = im.bin(&ew::BITWISE_AND, moved, mask)?;
                let other = im.bin(&ew::BITWISE_AND, from, one)?;
                let no = im.add(yes, other)?;
                im.select(goes, yes, no)
            }
        }
    }
}

/// The leaf that each row reaches in each tree.
fn reached(im: &mut Importer, forest: &Forest, words: Option<(Vec<i64>, u32)>, x: Value) -> Made {
    let dtype = im.dtype(x)?;
    // Numbers of 32 bits: of many rows, what is read and written at each step is what takes the time.
    let column = |im: &mut Importer, f: &dyn Fn(usize) -> i64| {
        let values: Vec<f64> = (0..forest.nodes.len()).map(|i| f(i) as f64).collect();
        im.floats(DType::I32, &[values.len()], &values)
    };
    let tables = match words {
        Some((words, below)) => Tables::Joined(column(im, &|i| words[i])?, below),
        None => Tables::Apart([
            column(im, &|i| forest.nodes[i].feature)?,
            column(im, &|i| forest.nodes[i].yes as i64)?,
            column(im, &|i| forest.nodes[i].no as i64)?,
        ]),
    };
    let of_mode = column(im, &|i| forest.nodes[i].mode as i64)?;
    let of_missing = column(im, &|i| forest.nodes[i].missing.into())?;
    let splits: Vec<f64> = forest.nodes.iter().map(|node| node.split).collect();
    let of_split = im.floats(dtype, &[splits.len()], &splits)?;
    let modes = forest.modes();
    let any_missing = forest.nodes.iter().any(|node| node.missing);
    let roots: Vec<f64> = forest.roots.iter().map(|&root| root as f64).collect();
    let mut at = im.floats(DType::I32, &[roots.len()], &roots)?;
    for step in 0..forest.depth.max(1) {
        let (feature, from) = tables.features(im, at)?;
        // At first all rows stand at the roots.
        let value = match step {
            0 => im.gather(x, feature, 1)?,
            _ => im.op(&indexing::GATHER_ELEMENTS, &[x, feature], Attrs::new().with("axis", 1i64))?,
        };
        let split = im.gather(of_split, at, 0)?;
        let mut goes = None;
        for &mode in &modes {
            let answer = im.bin(MODES[mode].1, value, split)?;
            goes = Some(match goes {
                None => answer,
                Some(goes) => {
                    let own = im.gather(of_mode, at, 0)?;
                    let asks = im.equal_f(own, mode as f64)?;
                    im.select(asks, answer, goes)?
                }
            });
        }
        let Some(mut goes) = goes else { return Err(Fault::value("the trees have no nodes")) };
        if any_missing {
            let (nan, missing) = (im.un(&ew::IS_NAN, value)?, im.gather(of_missing, at, 0)?);
            let missing = im.cast(missing, DType::Bool)?;
            let both = im.and(nan, missing)?;
            goes = im.bin(&ew::LOGICAL_OR, goes, both)?;
        }
        at = tables.next(im, from, goes)?;
    }
    Ok(at)
}
