//! Products in half precision (f16, bf16), as products in f32.
//!
//!     x w                   =  cast(cast(x, f32) cast(w, f32), f16)
//!     x w, summed in f32    =  cast(x, f32) cast(w, f32)
//!
//! A processor multiplies such floats in f32. In a product each operand is read many times, and converted as often; before it, once. A product of
//! few rows reads each weight once: there half of the bytes are worth more, so that the cost decides (`Rates::conversions`).

use super::super::analysis::{Graph, only_type};
use super::super::language::Node;
use super::super::rule::Rounding;
use super::super::search_rule::{Draft, SearchRule};
use super::axes::{attrs_of, calls};
use super::conditions::SUMS;
use egg::Id;
use fusion_operators::operator::OUT_DTYPE;
use fusion_operators::ops::contraction::{BATCH_MATMUL, DENSE, MATMUL};
use fusion_operators::ops::convolution::*;
use fusion_operators::ops::elementwise::CAST;
use fusion_operators::{Attrs, DType, Operator};

/// The rules.
pub const SEARCH_RULES: &[SearchRule] = &[SearchRule {
    name: "half-precision-in-f32",
    equation: "x w = cast(cast(x, f32) cast(w, f32), f16); without the outer cast where out_dtype is f32",
    rounding: Rounding::Bounded(SUMS),
    conditions: &["x and w are f16, or both are bf16", "the target is a processor"],
    find,
}];

/// Products of which there is such a form.
pub static PRODUCTS: [&Operator; 9] = [
    &MATMUL,
    &BATCH_MATMUL,
    &DENSE,
    &CONV1D,
    &CONV2D,
    &CONV3D,
    &CONV1D_TRANSPOSE,
    &CONV2D_TRANSPOSE,
    &CONV3D_TRANSPOSE,
];

fn find(graph: &Graph) -> Vec<Draft> {
    if graph.analysis.rates.core.is_none() {
        return Vec::new();
    }
    calls(graph).into_iter().filter_map(|(class, call)| product(graph, class, call)).collect()
}

fn product(graph: &Graph, class: Id, call: &Node) -> Option<Draft> {
    let op = call.operator().filter(|op| PRODUCTS.iter().any(|o| op.is(o)))?;
    let (&attrs, operands) = call.children.split_first()?;
    let attrs = attrs_of(graph, attrs);
    let dtype = only_type(graph, *operands.first()?)?.dtype;
    let sums = attrs.dtype(OUT_DTYPE).unwrap_or(dtype);
    let is_half = |id: Id| only_type(graph, id).is_some_and(|ty| ty.dtype == dtype);
    let is_known = match sums == dtype {
        true => graph[class].nodes.iter().any(|node| node.calls(&CAST)),
        false => graph[class].nodes.iter().any(|node| node.calls(op) && node.children[0] != call.children[0]),
    };
    if !matches!(dtype, DType::F16 | DType::BF16)
        || is_known
        || attrs.get(OUT_DTYPE).is_some() && sums != DType::F32
        || !operands.iter().all(|&id| is_half(id))
    {
        return None;
    }
    let to = |dtype: DType| Attrs::new().with("dtype", dtype);
    let mut draft = Draft::of(class);
    let mut wide = Vec::new();
    for &operand in operands {
        let place = draft.class(operand);
        wide.push(draft.call(&CAST, to(DType::F32), &[place]));
    }
    let product = draft.call(op, without_sums(&attrs), &wide);
    if sums == dtype {
        draft.call(&CAST, to(dtype), &[product]);
    }
    Some(draft)
}

/// The attributes of a product whose sums have the type of its operands.
fn without_sums(attrs: &Attrs) -> Attrs {
    let kept = attrs.iter().filter(|(name, _)| *name != OUT_DTYPE);
    kept.fold(Attrs::new(), |kept, (name, value)| kept.with(name, value.clone()))
}
