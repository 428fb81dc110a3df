//! Products with weights of 8 bits and fewer, which stay packed.
//!
//!     x w  =  dense_few_bits(x, pack(q), s, z)        w = (q - z) s, a scale and a zero point a block of what is summed over
//!
//! Weights come as integers of a byte, a block of them along an axis of its own: `[n, blocks, block]`, or `[blocks, block, n]` beside a matrix that is
//! not transposed. Without blocks each column has one scale, or all have one. Folded to floats, such a weight has four to eight times the bytes,
//! all of which are read for each row of data.

use super::super::analysis::{Graph, only_type};
use super::super::extract::rates::are_bytes;
use super::super::language::Node;
use super::super::rule::Rounding;
use super::super::search_rule::{Draft, Place, SearchRule};
use super::axes::{attrs_of, calls};
use super::conditions::{SUMS, shaping, transposing};
use egg::Id;
use fusion_operators::ops::contraction::{DENSE, MATMUL};
use fusion_operators::ops::elementwise::{ADD, CAST, MUL, SUB};
use fusion_operators::ops::few_bits::{DENSE_FEW_BITS, PACK_BITS, Packing};
use fusion_operators::ops::shape::{BROADCAST_TO, RESHAPE, TRANSPOSE};
use fusion_operators::{Attrs, DType, Operator, TensorType};

/// The rules.
pub const SEARCH_RULES: &[SearchRule] = &[SearchRule {
    name: "product-of-few-bits",
    equation: "x ((q - z) s) = dense_few_bits(x, pack(q), s, z)",
    rounding: Rounding::Bounded(SUMS),
    conditions: &[
        "x and the weight are f32",
        "q, z and s are constants, q of 8 bits, s and z one number a block at most",
        "blocks are of whole words",
        "the target is a processor",
    ],
    find,
}];

/// A weight that is `(numbers - zero) scale`, as a tensor whose axis `block` goes along what one scale is for.
struct Blocked {
    numbers: Id,
    zero: Option<Id>,
    scale: Id,
    shape: Vec<u64>,
    block: usize,
}

fn find(graph: &Graph) -> Vec<Draft> {
    if graph.analysis.rates.core.is_none() {
        return Vec::new();
    }
    calls(graph).into_iter().filter_map(|(class, call)| product(graph, class, call)).collect()
}

fn is_f32(graph: &Graph, id: Id) -> bool {
    only_type(graph, id).is_some_and(|ty| ty.dtype == DType::F32)
}

fn product(graph: &Graph, class: Id, call: &Node) -> Option<Draft> {
    let op = call.operator().filter(|op| op.is(&DENSE) || op.is(&MATMUL))?;
    let &[attrs, x, w] = &call.children[..] else { return None };
    let attrs = attrs_of(graph, attrs);
    let (of_class, of_weight) = (&graph[class], &graph[graph.find(w)].data);
    let is_plain = attrs.get("out_dtype").is_none() && !attrs.flag("transpose_a");
    let is_known = of_class.nodes.iter().any(|n| n.calls(&DENSE_FEW_BITS));
    if !is_plain || is_known || of_class.data.is_constant || !of_weight.is_constant {
        return None;
    }
    let (data, weight) = (only_type(graph, x)?, only_type(graph, w)?.shape()?);
    let &[first, second] = &weight[..] else { return None };
    data.shape().filter(|_| is_f32(graph, x) && is_f32(graph, w))?;
    let by_rows = op.is(&DENSE) || attrs.flag("transpose_b");
    let (columns, depth) = if by_rows { (first, second) } else { (second, first) };
    let found = blocked(graph, w, &weight, by_rows)?;
    let bits = graph[graph.find(found.numbers)].data.contents.bits.known().unwrap_or(8);
    let packing = Packing { bits: bits.into() };
    packing.words(found.shape[found.block])?;
    let blocks = depth / found.shape[found.block];

    let mut draft = Draft::of(class);
    let data = draft.class(x);
    let numbers = draft.class(found.numbers);
    let numbers = by_columns(&mut draft, numbers, &weight, by_rows);
    let words = draft.call(&PACK_BITS, Attrs::new().with("bits", i64::from(bits)), &[numbers]);
    let of_blocks = if by_rows { [columns, blocks] } else { [blocks, columns] };
    let scale = draft.class(found.scale);
    let scale = found.one_a_block(graph, &mut draft, (scale, found.scale))?;
    let scale = by_columns(&mut draft, scale, &of_blocks, by_rows);
    let signed = only_type(graph, found.numbers)?.dtype == DType::I8;
    let offset = packing.offset(signed) as f64;
    let one = |number: f64| Node::number(number, &TensorType::fixed(&[1, 1], DType::F32));
    let zero = match found.zero {
        None => draft.node(one(offset)?),
        Some(zero) => match graph[graph.find(zero)].data.constant.as_ref().and_then(|c| c.splat()) {
            Some(number) => draft.node(one(number + offset)?),
            None => {
                let own = draft.class(zero);
                let all = found.one_a_block(graph, &mut draft, (own, zero))?;
                let all = by_columns(&mut draft, all, &of_blocks, by_rows);
                match offset != 0.0 {
                    true => {
                        let offset = draft.node(one(offset)?);
                        draft.call(&ADD, Attrs::new(), &[all, offset])
                    }
                    false => all,
                }
            }
        },
    };
    let attrs = Attrs::new().with("bits", i64::from(bits));
    draft.call(&DENSE_FEW_BITS, attrs, &[data, words, scale, zero]);
    Some(draft)
}

/// Something of a weight of that shape as a matrix with a row for each column of the product.
fn by_columns(draft: &mut Draft, x: Place, shape: &[u64], by_rows: bool) -> Place {
    let matrix = draft.call(&RESHAPE, shaping(shape), &[x]);
    if by_rows { matrix } else { draft.call(&TRANSPOSE, transposing(&[1, 0]), &[matrix]) }
}

impl Blocked {
    /// A scale or a zero point, as a float for each block, in the order of the weight.
    fn one_a_block(&self, graph: &Graph, draft: &mut Draft, (place, id): (Place, Id)) -> Option<Place> {
        let ty = only_type(graph, id)?;
        let shape = self.of_blocks();
        let floats = match ty.dtype {
            DType::F32 => place,
            _ => draft.call(&CAST, Attrs::new().with("dtype", DType::F32), &[place]),
        };
        Some(match ty.shape()? == shape {
            true => floats,
            false => draft.call(&BROADCAST_TO, shaping(&shape), &[floats]),
        })
    }

    /// The shape of what is one a block.
    fn of_blocks(&self) -> Vec<u64> {
        let mut shape = self.shape.clone();
        shape[self.block] = 1;
        shape
    }

    /// Whether something is no more than one a block.
    fn is_by_blocks(&self, graph: &Graph, id: Id) -> bool {
        let shape = only_type(graph, id).and_then(|ty| ty.shape());
        let fits = |own: &[u64]| {
            let all = self.of_blocks();
            let missing = all.len().checked_sub(own.len());
            missing
                .is_some_and(|missing| own.iter().zip(&all[missing..]).all(|(n, most)| *n == 1 || n == most))
        };
        shape.is_some_and(|own| fits(&own))
    }
}

/// The numbers that a weight is made of, in blocks or as a whole.
fn blocked(graph: &Graph, w: Id, weight: &[u64], by_rows: bool) -> Option<Blocked> {
    let whole = if by_rows { 1 } else { 0 };
    let split = graph[graph.find(w)].nodes.iter().filter(|n| n.calls(&RESHAPE)).filter_map(|n| {
        let source = n.children[1];
        let shape = only_type(graph, source)?.shape()?;
        let is_split = match (&shape[..], by_rows) {
            (&[n, blocks, block], true) => weight == [n, blocks * block],
            (&[blocks, block, n], false) => weight == [blocks * block, n],
            _ => false,
        };
        is_split.then_some((source, shape, whole + 1))
    });
    [(w, weight.to_vec(), whole)].into_iter().chain(split).find_map(|(source, shape, block)| {
        let products = graph[graph.find(source)].nodes.iter().filter_map(|node| pair(node, &MUL));
        products.flat_map(|(a, b)| [(a, b), (b, a)]).find_map(|(q, scale)| {
            let (numbers, zero) = centred(graph, q)?;
            let found = Blocked { numbers, zero, scale, shape: shape.clone(), block };
            let fits = zero.into_iter().chain([scale]).all(|id| found.is_by_blocks(graph, id));
            let all = only_type(graph, numbers)?.elements() == Some(shape.iter().product());
            (fits && all && is_f32(graph, scale)).then_some(found)
        })
    })
}

fn pair(node: &Node, op: &Operator) -> Option<(Id, Id)> {
    match node.children[..] {
        [_, x, y] if node.calls(op) => Some((x, y)),
        _ => None,
    }
}

/// What a class is, and what is cast to it, once or twice, by casts that lose nothing.
fn casts(graph: &Graph, id: Id) -> Vec<Id> {
    let mut found = vec![graph.find(id)];
    let mut at = 0;
    while let Some(&class) = found.get(at) {
        let sources = graph[class].nodes.iter().filter(|n| n.calls(&CAST)).map(|n| graph.find(n.children[1]));
        let is_float = is_f32(graph, class);
        for source in sources {
            let is_int = only_type(graph, source).is_some_and(|ty| ty.dtype == DType::I32);
            let holds_all = are_bytes(only_type(graph, source)) || is_float && is_int;
            if holds_all && !found.contains(&source) {
                found.push(source);
            }
        }
        at += 1;
    }
    found
}

/// Constant numbers of 8 bits that floats are, through casts and reshapes.
fn bytes(graph: &Graph, id: Id) -> Option<Id> {
    let is_bytes = |id: &Id| are_bytes(only_type(graph, *id)) && graph[*id].data.is_constant;
    let direct = |id: Id| casts(graph, id).into_iter().find(is_bytes);
    direct(id).or_else(|| {
        let reshapes = casts(graph, id).into_iter().flat_map(|id| graph[id].nodes.iter());
        reshapes.filter(|n| n.calls(&RESHAPE)).find_map(|n| direct(n.children[1]))
    })
}

/// The numbers of 8 bits and the zero point that floats are the difference of.
fn centred(graph: &Graph, id: Id) -> Option<(Id, Option<Id>)> {
    if let Some(numbers) = bytes(graph, id) {
        return Some((numbers, None));
    }
    let wide = casts(graph, id)
        .into_iter()
        .filter(|&id| only_type(graph, id).is_some_and(|ty| matches!(ty.dtype, DType::F32 | DType::I32)));
    let differences = wide.flat_map(|id| graph[id].nodes.iter().filter_map(|node| pair(node, &SUB)));
    differences
        .filter(|(_, zero)| graph[graph.find(*zero)].data.is_constant)
        .find_map(|(x, zero)| Some((bytes(graph, x)?, Some(zero))))
}
