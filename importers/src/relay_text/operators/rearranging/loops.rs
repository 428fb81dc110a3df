//! Weights whose axes are cut as the loops of a schedule are, which TVM's schedulers put in.
//!
//! ```text
//!   auto_scheduler_layout_transform(%w, src_layout="64j32k", dst_layout="4k8j8k8j")     [64, 32] as [4, 8, 8, 8]
//!       an axis is a number and a name; axes of one name, from left to right, are one axis of the source
//!   nn.dense(%x, %cut, auto_scheduler_rewritten_layout="4k8j8k8j")                      the product with %w itself
//! ```
//! An operator that is said to have such weights gets them back in its own order: the schedulers name the axes.

use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use crate::relay_text::operators::shape::fixed;
use crate::relay_text::operators::{Built, Call, built};
use fusion_dialects::Value;

/// An operator's attribute with the layout of its weights, and one with their shape before an index map that no text has.
pub const REWRITTEN: &str = "auto_scheduler_rewritten_layout";
pub const ORIGINAL: &str = "meta_schedule_original_shape";

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    built("auto_scheduler_layout_transform", 1, &["src_layout", "dst_layout"], transform),
];

/// An axis: how many elements, and its name.
type Axis = (i64, String);

fn layout(call: &Call<'_, '_, '_>, attribute: &str) -> Outcome<Vec<Axis>> {
    let text = call.text(attribute, "")?;
    let mut axes: Vec<Axis> = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (number, named) = rest.split_at(digits);
        let letters = named.find(|c: char| c.is_ascii_digit()).unwrap_or(named.len());
        let (name, behind) = named.split_at(letters);
        match number.parse() {
            Ok(extent) if extent > 0 && !name.is_empty() => axes.push((extent, name.to_owned())),
            _ => {
                return call.fault(format!("{text:?} is no layout of numbers and names, such as \"4k8j8k\""));
            }
        }
        rest = behind;
    }
    call.countable(&axes.iter().map(|axis| axis.0).collect::<Vec<_>>())?;
    Ok(axes)
}

/// The places in `cut` of the parts of an axis, and how many elements they have together.
fn parts(cut: &[Axis], name: &str) -> (Vec<i64>, i64) {
    let places = cut.iter().enumerate().filter(|(_, axis)| axis.1 == name);
    let found: Vec<(i64, i64)> = places.map(|(place, axis)| (place as i64, axis.0)).collect();
    (found.iter().map(|part| part.0).collect(), found.iter().map(|part| part.1).product())
}

fn transform<'c>(call: &mut Call<'_, 'c, '_>) -> Outcome<Made<'c>> {
    let (from, to) = (layout(call, "src_layout")?, layout(call, "dst_layout")?);
    let x = call.operand(0);
    let shape = fixed(call, x)?;
    let (mut split, mut order) = (Vec::new(), Vec::new());
    for (i, (extent, name)) in from.iter().enumerate() {
        let (places, all) = parts(&to, name);
        if all != *extent || places.is_empty() || from[..i].iter().any(|other| other.1 == *name) {
            return call.fault(format!("the axis {extent}{name} is not cut into parts of dst_layout"));
        }
        split.extend(places.iter().map(|&place| to[place as usize].0));
        order.extend(places);
    }
    if shape != from.iter().map(|axis| axis.0).collect::<Vec<_>>() || order.len() != to.len() {
        return call.fault(format!("src_layout and dst_layout do not fit a tensor of extents {shape:?}"));
    }
    let x = call.reshaped(x, &split)?;
    let back: Vec<i64> = (0..order.len() as i64)
        .filter_map(|place| order.iter().position(|&other| other == place).map(|at| at as i64))
        .collect();
    call.transposed(x, &back).map(Made::Value)
}

/// What the axes of an operator's weights are called, in its own order.
fn names(call: &Call<'_, '_, '_>) -> Outcome<Option<Vec<&'static str>>> {
    let turned = |default| call.flag("transpose_b", default);
    Ok(Some(match call.name {
        "nn.dense" => vec!["j", "k"],
        "nn.matmul" if turned(false)? => vec!["j", "k"],
        "nn.matmul" => vec!["k", "j"],
        "nn.batch_matmul" if turned(true)? => vec!["b", "j", "k"],
        "nn.batch_matmul" => vec!["b", "k", "j"],
        "nn.contrib_conv2d_winograd_without_weight_transform" => vec!["eps", "nu", "co", "ci"],
        "nn.conv1d" | "nn.conv2d" | "nn.conv3d" => {
            let layout = match call.name {
                "nn.conv1d" => call.text("kernel_layout", "OIW")?,
                "nn.conv2d" => call.text("kernel_layout", "OIHW")?,
                _ => call.text("kernel_layout", "OIDHW")?,
            };
            let mut inner = ["ry", "rx", "rz"].into_iter();
            let name = |axis| match axis {
                'O' => Some("ff"),
                'I' => Some("rc"),
                _ => inner.next(),
            };
            return Ok(layout.chars().map(name).collect());
        }
        _ => return Ok(None),
    }))
}

/// Gives a call its weights in the order that the operator takes, where a scheduler cut them.
pub fn in_first_order(call: &mut Call<'_, '_, '_>) -> Outcome<()> {
    if !call.maybe_ints(ORIGINAL)?.unwrap_or_default().is_empty() {
        return call.fault(
            "its weights are in the order of an index map, which is no part of the text; print the module before \
             MetaScheduleLayoutRewrite",
        );
    }
    let cut = layout(call, REWRITTEN)?;
    if cut.is_empty() {
        return Ok(());
    }
    let (Some(names), 2) = (names(call)?, call.arguments.len()) else {
        return call.fault(format!("is no operator whose weights {REWRITTEN} is known of"));
    };
    let weight = call.operand(1);
    call.arguments[1] = Made::Value(joined(call, weight, &cut, &names)?);
    Ok(())
}

fn joined<'c>(
    call: &mut Call<'_, 'c, '_>,
    weight: Value<'c>,
    cut: &[Axis],
    names: &[&str],
) -> Outcome<Value<'c>> {
    let (mut order, mut shape) = (Vec::new(), Vec::new());
    for name in names {
        let (places, all) = parts(cut, name);
        order.extend(places);
        shape.push(all);
    }
    let extents: Vec<i64> = cut.iter().map(|axis| axis.0).collect();
    if order.len() != cut.len() || fixed(call, weight)? != extents {
        return call.fault(format!(
            "the weights are said to have the extents {extents:?}, with axes {}; they do not",
            names.join(", ")
        ));
    }
    let weight = call.transposed(weight, &order)?;
    call.reshaped(weight, &shape)
}
