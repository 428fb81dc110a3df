//! Calls of operators, under TVM's names where importing them gives the same call again, else as `fusion.x`.

use super::PrintError;
use super::literals::attribute;
use crate::relay_text::operators::{OURS, SAME, Same};
use fusion_operators::ops::{
    contraction as product, convolution as conv, indexing, pooling as pool, reduction as red, shape,
};
use fusion_operators::{Attr, Attrs, Operator};

/// A call.
pub fn call(row: &'static Operator, operands: &[String], attrs: &Attrs) -> Result<String, PrintError> {
    let same = SAME.iter().flat_map(|rows| rows.iter()).find(|same| same.row.is(row));
    let theirs = match same {
        Some(same) => by_name(same, operands, attrs),
        None => built(row, operands, attrs),
    };
    match theirs {
        Some(text) => Ok(text),
        None => ours(row, operands, attrs),
    }
}

fn joined(name: &str, operands: &[String], attrs: &[(&str, String)]) -> String {
    let attrs = attrs.iter().map(|(name, value)| format!("{name}={value}"));
    let parts: Vec<String> = operands.iter().cloned().chain(attrs).collect();
    format!("{name}({})", parts.join(", "))
}

fn by_name(same: &Same, operands: &[String], attrs: &Attrs) -> Option<String> {
    let mut written = Vec::new();
    for (name, value) in attrs.iter() {
        let pair = same.attributes.iter().find(|pair| pair.ours == name)?;
        written.push((pair.theirs, attribute(value)?));
    }
    Some(joined(same.name, operands, &written))
}

fn ours(row: &Operator, operands: &[String], attrs: &Attrs) -> Result<String, PrintError> {
    let mut written = Vec::new();
    for (name, value) in attrs.iter() {
        let text = attribute(value).ok_or_else(|| {
            PrintError(format!("the attribute {name} of {} has the value {value:?}", row.name))
        })?;
        written.push((name, text));
    }
    Ok(joined(&format!("{OURS}{}", row.name), operands, &written))
}

/// Attributes of a product, with the type that it sums in where that is said.
fn summing(attrs: &Attrs, others: &[(&'static str, String)]) -> Vec<(&'static str, String)> {
    let sums = attrs.get("out_dtype").and_then(attribute).map(|text| ("out_dtype", text));
    others.iter().cloned().chain(sums).collect()
}

/// Rows that TVM's operators are built from, one by one.
fn built(row: &'static Operator, operands: &[String], attrs: &Attrs) -> Option<String> {
    let is = |other: &Operator| row.is(other);
    let only = |names: &[&str]| attrs.iter().all(|(name, _)| names.contains(&name));
    if is(&product::DENSE) {
        return Some(joined("nn.dense", operands, &summing(attrs, &[("units", "None".into())])));
    }
    if is(&product::BATCH_MATMUL) {
        let flag = |name: &str| match attrs.get(name) {
            Some(Attr::Bool(false)) => None,
            Some(_) => Some("True".to_owned()),
            None => Some("False".to_owned()),
        };
        return Some(joined(
            "nn.batch_matmul",
            operands,
            &summing(attrs, &[("transpose_a", flag("transpose_a")?), ("transpose_b", flag("transpose_b")?)]),
        ));
    }
    for (reduction, name) in REDUCTIONS {
        if is(reduction)
            && attrs.ints("axes").is_none_or(|axes| !axes.is_empty())
            && attrs.get("keepdims") != Some(&Attr::Bool(false))
        {
            return renamed(name, operands, attrs, &[("axes", "axis"), ("keepdims", "keepdims")]);
        }
    }
    for (operator, name, window) in WINDOWS {
        if is(operator) && unwritten(attrs) {
            return renamed(name, operands, attrs, window);
        }
    }
    if is(&pool::GLOBAL_AVG_POOL) {
        return Some(joined("nn.global_avg_pool2d", operands, &[]));
    }
    if is(&pool::GLOBAL_MAX_POOL) {
        return Some(joined("nn.global_max_pool2d", operands, &[]));
    }
    if is(&shape::RESHAPE) && attrs.ints("shape")?.iter().all(|n| *n > 0 || *n == -1) {
        return renamed("reshape", operands, attrs, &[("shape", "newshape")]);
    }
    if is(&shape::BROADCAST_TO) {
        return renamed("broadcast_to", operands, attrs, &[("shape", "shape")]);
    }
    if is(&shape::EXPAND_DIMS)
        && let [axis] = attrs.ints("axes")?
        && (-64..=64).contains(axis)
    {
        return Some(joined("expand_dims", operands, &[("axis", axis.to_string())]));
    }
    if is(&shape::CONCAT) && only(&["axis"]) {
        let comma = if operands.len() == 1 { "," } else { "" };
        let tuple = format!("({}{comma})", operands.join(", "));
        return renamed("concatenate", &[tuple], attrs, &[("axis", "axis")]);
    }
    if is(&shape::SLICE)
        && attrs.ints("strides").is_none_or(|strides| strides.iter().any(|&n| n != 1) && strides.len() > 1)
    {
        return renamed(
            "strided_slice",
            operands,
            attrs,
            &[("begin", "begin"), ("end", "end"), ("axes", "axes"), ("strides", "strides")],
        );
    }
    if is(&indexing::GATHER) && attrs.get("axis").is_some() {
        return renamed("take", operands, attrs, &[("axis", "axis")]);
    }
    None
}

const REDUCTIONS: &[(&Operator, &str)] = &[
    (&red::REDUCE_SUM, "sum"),
    (&red::REDUCE_MEAN, "mean"),
    (&red::REDUCE_PROD, "prod"),
    (&red::REDUCE_MAX, "max"),
    (&red::REDUCE_MIN, "min"),
    (&red::REDUCE_ALL, "all"),
    (&red::REDUCE_ANY, "any"),
];

type Names = &'static [(&'static str, &'static str)];

const CONV: Names =
    &[("strides", "strides"), ("padding", "padding"), ("dilation", "dilation"), ("groups", "groups")];
const POOL: Names = &[
    ("kernel", "pool_size"),
    ("strides", "strides"),
    ("padding", "padding"),
    ("dilation", "dilation"),
    ("ceil_mode", "ceil_mode"),
    ("count_include_pad", "count_include_pad"),
];

const WINDOWS: &[(&Operator, &str, Names)] = &[
    (&conv::CONV1D, "nn.conv1d", CONV),
    (&conv::CONV2D, "nn.conv2d", CONV),
    (&conv::CONV3D, "nn.conv3d", CONV),
    (&pool::MAX_POOL2D, "nn.max_pool2d", POOL),
    (&pool::AVG_POOL2D, "nn.avg_pool2d", POOL),
];

/// True when no attribute says what it would be unwritten: importing drops such ones.
fn unwritten(attrs: &Attrs) -> bool {
    attrs.iter().all(|(name, value)| match (name, value) {
        ("strides" | "dilation", Attr::Ints(list)) => list.iter().any(|&n| n != 1),
        ("padding", Attr::Ints(list)) => list.iter().any(|&n| n != 0),
        ("groups", Attr::Int(groups)) => *groups != 1,
        ("ceil_mode" | "count_include_pad", Attr::Bool(flag)) => *flag,
        _ => true,
    })
}

/// The call with its attributes under other names; none when one has no other name.
fn renamed(name: &str, operands: &[String], attrs: &Attrs, names: &[(&str, &str)]) -> Option<String> {
    let mut written = Vec::new();
    for (ours, value) in attrs.iter() {
        let (_, theirs) = names.iter().find(|(name, _)| *name == ours)?;
        written.push((*theirs, attribute(value)?));
    }
    Some(joined(name, operands, &written))
}
