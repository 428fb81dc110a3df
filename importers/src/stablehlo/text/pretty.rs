//! What the words of an operator's own text form mean, as attributes of VHLO's names.
//!
//! ```text
//!   stablehlo.iota dim = 0                                  iota_dimension
//!   stablehlo.compare LT, %a, %b, FLOAT                     comparison_direction, compare_type
//!   stablehlo.dot_general ..., contracting_dims = [1] x [0] lhs_contracting_dimensions, rhs_contracting_dimensions
//!   #stablehlo.gather<offset_dims = [0], ...>               offset_dims, ...
//! ```

use super::Node;
use crate::sources::Span;
use crate::stablehlo::graph::{Attr, Attributes, ValueId};

/// What an operation is made of, as it is read.
#[derive(Default)]
pub struct Parts<'i> {
    pub operands: Vec<ValueId>,
    /// Behind `init:`.
    pub initial: Vec<ValueId>,
    /// Names in front of `=` in parentheses: what a loop calls its state.
    pub named: Vec<(String, Span)>,
    pub words: Vec<String>,
    pub lists: Vec<Attr>,
    pub numbers: Vec<Attr>,
    pub attributes: Attributes,
    pub dense: Option<Node<'i>>,
}

/// Words of a form, and the attribute that each is: operator, word, attribute.
const NAMES: &[(&str, &str, &str)] = &[
    ("stablehlo.iota", "dim", "iota_dimension"),
    ("stablehlo.dynamic_iota", "dim", "iota_dimension"),
    ("stablehlo.concatenate", "dim", "dimension"),
    ("stablehlo.get_dimension_size", "dim", "dimension"),
    ("stablehlo.set_dimension_size", "dim", "dimension"),
    ("stablehlo.broadcast_in_dim", "dims", "broadcast_dimensions"),
    ("stablehlo.dynamic_broadcast_in_dim", "dims", "broadcast_dimensions"),
    ("stablehlo.broadcast", "sizes", "broadcast_sizes"),
    ("stablehlo.reverse", "dims", "dimensions"),
    ("stablehlo.transpose", "dims", "permutation"),
    ("stablehlo.dynamic_slice", "sizes", "slice_sizes"),
    ("stablehlo.pad", "low", "edge_padding_low"),
    ("stablehlo.pad", "high", "edge_padding_high"),
    ("stablehlo.pad", "interior", "interior_padding"),
    ("stablehlo.fft", "type", "fft_type"),
    ("stablehlo.fft", "length", "fft_length"),
    ("stablehlo.rng_bit_generator", "algorithm", "rng_algorithm"),
    ("stablehlo.rng", "distribution", "rng_distribution"),
    ("stablehlo.einsum", "config", "einsum_config"),
];

/// Operators whose form begins with the name of something, and the attribute that this is.
const FIRST_WORDS: &[(&str, &str)] = &[
    ("stablehlo.custom_call", "call_target_name"),
    ("stablehlo.composite", "name"),
    ("func.call", "callee"),
];

/// Names the words of an operation in its own form; gives the operator that `applies` names.
pub fn named(name: &str, parts: &mut Parts) -> Result<Option<String>, String> {
    for (_, word, attribute) in NAMES.iter().filter(|(operator, _, _)| *operator == name) {
        if let Some(value) = parts.attributes.shift_remove(*word) {
            parts.attributes.insert((*attribute).to_owned(), value);
        }
    }
    if let Some((_, attribute)) = FIRST_WORDS.iter().find(|(operator, _)| *operator == name) {
        let first = parts.words.first().ok_or("the name of what is called is missing")?;
        parts.attributes.insert((*attribute).to_owned(), Attr::Text(first.clone()));
    }
    let words = |at: usize, parts: &Parts| parts.words.get(at).map(|word| Attr::Word(word.clone()));
    match name {
        "stablehlo.compare" | "chlo.broadcast_compare" => {
            let direction =
                words(0, parts).ok_or("the direction is missing; write one of EQ, NE, GE, GT, LE, LT")?;
            parts.attributes.insert("comparison_direction".into(), direction);
            parts.attributes.extend(words(1, parts).map(|word| ("compare_type".into(), word)));
        }
        "stablehlo.reduce" if parts.words.first().is_some_and(|word| word == "applies") => {
            let applied = parts.words.get(1).ok_or("the operator behind `applies` is missing")?;
            return Ok(Some(applied.clone()));
        }
        "stablehlo.slice" => ranges(parts)?,
        "stablehlo.get_tuple_element" => {
            let index = parts.lists.first().and_then(|list| list.integers()?.first().copied());
            let index = index.ok_or("the index is missing; write [INDEX] behind the tuple")?;
            parts.attributes.insert("index".into(), Attr::Int(index.into()));
        }
        "stablehlo.reduce_precision" => {
            let format = match parts.attributes.shift_remove("format") {
                Some(Attr::Word(word)) => word,
                _ => String::new(),
            };
            let bits = format.strip_prefix('e').and_then(|rest| rest.split_once('m'));
            let bits = bits.and_then(|(e, m)| Some((e.parse::<i128>().ok()?, m.parse::<i128>().ok()?)));
            let (exponent, mantissa) = bits.ok_or("the format is missing; write format = e5m10")?;
            parts.attributes.insert("exponent_bits".into(), Attr::Int(exponent));
            parts.attributes.insert("mantissa_bits".into(), Attr::Int(mantissa));
        }
        _ => {}
    }
    Ok(None)
}

/// `[0:1, 2:8:3]`
fn ranges(parts: &mut Parts) -> Result<(), String> {
    let Some(Attr::List(list)) = parts.lists.first() else {
        return Err("the ranges are missing; write [BEGIN:END:STEP, ...]".into());
    };
    let mut columns = [Vec::new(), Vec::new(), Vec::new()];
    for range in list {
        match range.integers().as_deref() {
            Some([begin, end]) => {
                columns.iter_mut().zip([*begin, *end, 1]).for_each(|(c, n)| c.push(Attr::Int(n.into())))
            }
            Some([begin, end, step]) => {
                columns.iter_mut().zip([*begin, *end, *step]).for_each(|(c, n)| c.push(Attr::Int(n.into())));
            }
            _ => return Err("a range is BEGIN:END or BEGIN:END:STEP".into()),
        }
    }
    let names = ["start_indices", "limit_indices", "strides"];
    parts
        .attributes
        .extend(names.into_iter().zip(columns).map(|(name, list)| (name.to_owned(), Attr::List(list))));
    Ok(())
}

/// Attributes of which those that hold others are taken apart, with VHLO's names.
pub fn flat(name: &str, attributes: Attributes) -> Attributes {
    let mut all = Attributes::new();
    for (key, value) in attributes {
        match (key.as_str(), value) {
            ("batching_dims", Attr::List(pair)) if pair.len() == 2 => {
                both(&mut all, "batching_dimensions", pair)
            }
            ("contracting_dims", Attr::List(pair)) if pair.len() == 2 => {
                both(&mut all, "contracting_dimensions", pair)
            }
            ("dim_numbers" | "dimension_numbers", Attr::List(parts)) if parts.len() == 3 => {
                convolution(&mut all, &parts)
            }
            ("window", Attr::Map(window)) => {
                for (key, value) in window {
                    let key = match key.as_str() {
                        "stride" => "window_strides",
                        "pad" => "padding",
                        "lhs_dilate" => "lhs_dilation",
                        "rhs_dilate" => "rhs_dilation",
                        "reverse" => "window_reversal",
                        other => other,
                    };
                    all.insert(key.to_owned(), value);
                }
            }
            (
                "dimension_numbers"
                | "dot_dimension_numbers"
                | "scatter_dimension_numbers"
                | "ragged_dot_dimension_numbers",
                Attr::Map(map),
            ) => {
                all.extend(map);
            }
            ("dimensions", value) if name == "stablehlo.broadcast_in_dim" => {
                all.insert("broadcast_dimensions".to_owned(), value);
            }
            (_, value) => {
                all.insert(key, value);
            }
        }
    }
    all
}

fn both(all: &mut Attributes, name: &str, pair: Vec<Attr>) {
    for (side, list) in ["lhs", "rhs"].into_iter().zip(pair) {
        all.insert(format!("{side}_{name}"), list);
    }
}

/// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`
fn convolution(all: &mut Attributes, parts: &[Attr]) {
    let names = [
        ("input", "b", "input_batch_dimension", "f", "input_feature_dimension"),
        ("kernel", "i", "kernel_input_feature_dimension", "o", "kernel_output_feature_dimension"),
        ("output", "b", "output_batch_dimension", "f", "output_feature_dimension"),
    ];
    for ((side, first, first_name, second, second_name), part) in names.into_iter().zip(parts) {
        let Attr::List(axes) = part else { continue };
        let mut spatial: Vec<(i128, i128)> = Vec::new();
        for (place, axis) in axes.iter().enumerate() {
            match axis {
                Attr::Word(word) if word == first => {
                    drop(all.insert(first_name.into(), Attr::Int(place as i128)))
                }
                Attr::Word(word) if word == second => {
                    drop(all.insert(second_name.into(), Attr::Int(place as i128)))
                }
                Attr::Int(n) => spatial.push((*n, place as i128)),
                _ => {}
            }
        }
        spatial.sort_unstable();
        let list = spatial.into_iter().map(|(_, place)| Attr::Int(place)).collect();
        all.insert(format!("{side}_spatial_dimensions"), Attr::List(list));
    }
}
