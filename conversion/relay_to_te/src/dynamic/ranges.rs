//! Which sizes the named extents of a program may have, and which they are likely to have.
//!
//! ```text
//!   func.func @main(%x: tensor<nx64xf32>) attributes {relay.ranges = {n = {least = 8, most = 4096, multiple = 8}},
//!                                                     relay.likely = [{n = 128}, {n = 1024}]}
//! ```
//! Whoever runs the program has its sizes compared with the ranges first, so all of its kernels may rely on them. Likely sizes say only
//! what is worth code of its own.

use fusion_bytecode::Range;
use fusion_bytecode::ranges::MOST_EXTENT;
use fusion_bytecode::{Extent, Shapes, Step};
use fusion_dialects::indices::expr::gcd;
use fusion_dialects::{
    Attribute, Op, OpExt, PassError, array_attr, array_elements, dict_attr, dictionary_entries, int_attr,
    int_of, is_array,
};
use std::collections::BTreeMap;

/// The attribute of a function: ranges by the names of its extents.
pub const RANGES: &str = "relay.ranges";
/// The attribute of a function: sizes that its named extents are likely to have together.
pub const LIKELY: &str = "relay.likely";

const LEAST: &str = "least";
const MOST: &str = "most";
const MULTIPLE: &str = "multiple";

/// Sizes of extents by their names.
pub type Sizes = BTreeMap<String, u64>;

/// Writes what is known of the extents of a function.
pub fn attach(function: Op, ranges: &[(String, Range)], likely: &[Sizes]) {
    let context = function.context_ref();
    let number = |n: u64| int_attr(context, n as i64);
    if !ranges.is_empty() {
        let one = |range: &Range| {
            let most = (range.most < MOST_EXTENT).then(|| (MOST, number(range.most)));
            let multiple = (range.multiple > 1).then(|| (MULTIPLE, number(range.multiple)));
            let all: Vec<_> =
                [(LEAST, number(range.least))].into_iter().chain(most).chain(multiple).collect();
            dict_attr(context, &all)
        };
        let all: Vec<_> = ranges.iter().map(|(name, range)| (name.as_str(), one(range))).collect();
        function.set_attr(RANGES, dict_attr(context, &all));
    }
    if !likely.is_empty() {
        let one = |sizes: &Sizes| {
            let all: Vec<_> = sizes.iter().map(|(name, size)| (name.as_str(), number(*size))).collect();
            dict_attr(context, &all)
        };
        function.set_attr(LIKELY, array_attr(context, &likely.iter().map(one).collect::<Vec<_>>()));
    }
}

/// Has a function that was made of another's operations know of the same extents.
pub fn copy<'c>(from: Op<'c>, to: Op<'c>) {
    for name in [RANGES, LIKELY] {
        if let Some(attr) = from.attr(name) {
            to.set_attr(name, attr);
        }
    }
}

fn numbers(attr: Attribute) -> Option<Sizes> {
    let one = |(name, attr): (String, Attribute)| Some((name, u64::try_from(int_of(attr)?).ok()?));
    dictionary_entries(attr)?.into_iter().map(one).collect()
}

/// The ranges of a function's extents.
pub fn of<'c>(function: Op<'c>) -> Result<Vec<(String, Range)>, PassError<'c>> {
    let Some(attr) = function.attr(RANGES) else { return Ok(Vec::new()) };
    let wrong = |why: &str| PassError::at(function, format!("has {RANGES} that are none: {why}"));
    let entries = dictionary_entries(attr).ok_or_else(|| wrong("it is no dictionary of names"))?;
    let one = |(name, attr): (String, Attribute)| {
        let numbers = numbers(attr).ok_or_else(|| wrong(&format!("{name} is no dictionary of numbers")))?;
        if let Some(unknown) = numbers.keys().find(|key| ![LEAST, MOST, MULTIPLE].contains(&key.as_str())) {
            return Err(wrong(&format!(
                "{name} has {unknown:?}; a range has {LEAST}, {MOST} and {MULTIPLE}"
            )));
        }
        let number = |key: &str, otherwise: u64| numbers.get(key).copied().unwrap_or(otherwise);
        let range =
            Range { least: number(LEAST, 0), most: number(MOST, MOST_EXTENT), multiple: number(MULTIPLE, 1) };
        match range.multiple > 0 && range.nearest(range.least).is_some() {
            true => Ok((name, range)),
            false => Err(wrong(&format!("there is no size of {name} that is {}", range.said()))),
        }
    };
    entries.into_iter().map(one).collect()
}

/// The sizes that a function's extents are likely to have together.
pub fn likely<'c>(function: Op<'c>) -> Result<Vec<Sizes>, PassError<'c>> {
    let Some(attr) = function.attr(LIKELY) else { return Ok(Vec::new()) };
    let wrong =
        || PassError::at(function, format!("has {LIKELY} that is no array of dictionaries of numbers"));
    if !is_array(attr) {
        return Err(wrong());
    }
    array_elements(attr).into_iter().map(|sizes| numbers(sizes).ok_or_else(wrong)).collect()
}

/// What is known of the numbers of steps, given what is known of some of them.
pub fn of_steps(shapes: &Shapes, known: &BTreeMap<u32, Range>) -> Vec<Range> {
    let mut all: Vec<Range> = Vec::with_capacity(shapes.steps.len());
    for (number, step) in shapes.steps.iter().enumerate() {
        let of = |extent: Extent| match extent {
            Extent::Known(known) => Range::one(known),
            Extent::Step(step) => all.get(step as usize).copied().unwrap_or_default(),
        };
        let both = step.operands().map(|(a, b)| (of(a), of(b)));
        let follows = both.map_or_else(Range::default, |(a, b)| of_step(step, a, b));
        let range = known.get(&(number as u32)).and_then(|known| known.and(&follows));
        all.push(range.unwrap_or(follows));
    }
    all
}

fn of_step(step: &Step, a: Range, b: Range) -> Range {
    let capped = |n: u64| n.min(MOST_EXTENT);
    let common = gcd(a.multiple, b.multiple).max(1);
    let hull = Range { least: a.least.min(b.least), most: a.most.max(b.most), multiple: common };
    match step {
        Step::Plus(..) => Range {
            least: capped(a.least.saturating_add(b.least)),
            most: capped(a.most.saturating_add(b.most)),
            multiple: common,
        },
        Step::Minus(..) => Range {
            least: a.least.saturating_sub(b.most),
            most: a.most.saturating_sub(b.least),
            multiple: common,
        },
        Step::Times(..) => Range {
            least: capped(a.least.saturating_mul(b.least)),
            most: capped(a.most.saturating_mul(b.most)),
            multiple: a.multiple.checked_mul(b.multiple).unwrap_or(a.multiple),
        },
        Step::Over(_, Extent::Known(by)) if *by > 0 => Range {
            least: a.least / by,
            most: a.most / by,
            multiple: if a.multiple.is_multiple_of(*by) { a.multiple / by } else { 1 },
        },
        Step::Least(..) => Range { least: a.least.min(b.least), most: a.most.min(b.most), multiple: common },
        Step::Equal(..) => a.and(&b).unwrap_or(a),
        // The one that is never 1 is the result.
        Step::Broadcast(..) if a.least > 1 => a,
        Step::Broadcast(..) if b.least > 1 => b,
        Step::Broadcast(..) => hull,
        Step::Over(..) | Step::Input { .. } | Step::Value { .. } => Range::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_of_extents_is_known_of_what_follows_from_them() {
        let n = Extent::Step(0);
        let steps = vec![
            Step::Input { input: 0, axis: 0 },
            Step::Times(n, Extent::Known(3)),
            Step::Plus(n, Extent::Known(4)),
            Step::Over(n, Extent::Known(2)),
            Step::Minus(n, Extent::Known(16)),
        ];
        let shapes = Shapes { steps, temporaries: Vec::new() };
        let known = BTreeMap::from([(0, Range { least: 8, most: 64, multiple: 8 })]);
        let said: Vec<String> = of_steps(&shapes, &known).iter().map(Range::to_string).collect();
        assert_eq!(said, ["8..64:8", "24..192:24", "12..68:4", "4..32:4", "0..48:8"]);
    }
}
