//! Products of quantized numbers, as sums of products of integers.
//!
//!     (a - p) s  times  (b - q) t   =   (a b  -  p (sum of b)  -  q (sum of a)  +  K p q) (s t)            K terms, p and q zero points
//!
//! Quantized programs dequantize both operands, multiply floats and quantize the result. The sums of integers are exact, so that the right side has
//! three roundings in all; its operands are read in 8 bits. (Jacob et al., "Quantization and Training of Neural Networks for Efficient
//! Integer-Arithmetic-Only Inference", 2018, sections 2.2 and 2.3.) Sums of a weight are constants. Data of a convolution is padded with its zero
//! point, where its value is 0; fewer channels than a dot product adds are filled up with weights of 0.

use super::super::analysis::{Graph, only_type};
use super::super::extract::rates::are_bytes;
use super::super::language::Node;
use super::super::rule::Rounding;
use super::super::search_rule::{Draft, Place, SearchRule};
use super::axes::{attrs_of, calls};
use super::conditions::{SUMS, shaping};
use egg::Id;
use fusion_machine::dot4::TOGETHER;
use fusion_operators::ops::contraction::{BATCH_MATMUL, DENSE, MATMUL};
use fusion_operators::ops::convolution::CONV2D;
use fusion_operators::ops::elementwise::{ADD, CAST, MUL, SUB};
use fusion_operators::ops::reduction::REDUCE_SUM;
use fusion_operators::ops::shape::{PAD, RESHAPE};
use fusion_operators::{Attrs, DType, Operator};

/// The rules.
pub const SEARCH_RULES: &[SearchRule] = &[SearchRule {
    name: "product-of-quantized",
    equation: "((a - p) s) ((b - q) t) = (a b - p (sum of b) - q (sum of a) + K p q) (s t)",
    rounding: Rounding::Bounded(SUMS),
    conditions: &[
        "a and b are of 8 bits",
        "s and p are one number each, t and q one a column or filter",
        "a processor with an instruction for four products",
        "sums fit 32 bits; of a convolution one group, no q",
    ],
    find: products,
}];

/// A value that is `(numbers - zero) scale`.
struct Dequantized {
    numbers: Id,
    zero: Option<Id>,
    scale: Id,
}

impl Dequantized {
    fn of(graph: &Graph, id: Id) -> Option<Dequantized> {
        graph[graph.find(id)].nodes.iter().find_map(|node| {
            let (x, y) = pair(node, &MUL)?;
            [(x, y), (y, x)].into_iter().find_map(|(q, scale)| {
                graph[graph.find(scale)].data.is_constant.then_some(())?;
                let (numbers, zero) = centred(graph, q)?;
                Some(Dequantized { numbers, zero, scale })
            })
        })
    }

    /// True for one zero point and one scale.
    fn is_uniform(&self, graph: &Graph) -> bool {
        self.zero.into_iter().chain([self.scale]).all(|id| is_one(graph, id))
    }
}

fn is_one(graph: &Graph, id: Id) -> bool {
    only_type(graph, id).and_then(|ty| ty.elements()) == Some(1)
}

fn pair(node: &Node, op: &Operator) -> Option<(Id, Id)> {
    match node.children[..] {
        [_, x, y] if node.calls(op) => Some((x, y)),
        _ => None,
    }
}

/// What is cast to a class.
fn cast_to(graph: &Graph, id: Id) -> impl Iterator<Item = Id> {
    graph[graph.find(id)].nodes.iter().filter(|node| node.calls(&CAST)).map(|node| node.children[1])
}

/// Numbers of 8 bits that a class is of as i32 or floats, which hold them all: cast once, or twice.
fn bytes(graph: &Graph, id: Id) -> Option<Id> {
    let is_byte = |id: &Id| are_bytes(only_type(graph, *id));
    let is_int = |id: &Id| only_type(graph, *id).is_some_and(|ty| ty.dtype == DType::I32);
    let holds_all = is_int(&id) || only_type(graph, id).is_some_and(|ty| ty.dtype.is_float());
    holds_all.then_some(())?;
    let once = cast_to(graph, id).find(is_byte);
    once.or_else(|| cast_to(graph, id).filter(is_int).find_map(|int| cast_to(graph, int).find(is_byte)))
}

/// The numbers of 8 bits and the zero point of floats that are their difference.
fn centred(graph: &Graph, id: Id) -> Option<(Id, Option<Id>)> {
    if let Some(numbers) = bytes(graph, id) {
        return Some((numbers, None));
    }
    cast_to(graph, id).find_map(|q| {
        graph[graph.find(q)].nodes.iter().find_map(|node| {
            let (x, zero) = pair(node, &SUB)?;
            let zero_data = &graph[graph.find(zero)].data;
            zero_data.is_constant.then_some(())?;
            let none = zero_data.constant.as_ref().and_then(|c| c.splat()) == Some(0.0);
            let numbers =
                bytes(graph, x).filter(|_| only_type(graph, x).is_some_and(|t| t.dtype == DType::I32))?;
            is_of_type(graph, zero, only_type(graph, numbers)?.dtype)
                .then_some((numbers, (!none).then_some(zero)))
        })
    })
}

/// Whether a zero point is known to be a number of an element type of 8 bits.
fn is_of_type(graph: &Graph, zero: Id, dtype: DType) -> bool {
    let range = if dtype == DType::U8 { 0..=255 } else { -128..=127 };
    let known = graph[graph.find(zero)].data.constant.as_ref().and_then(|c| c.tensor());
    known.is_some_and(|t| t.to_ints().iter().all(|n| range.contains(n)))
        || bytes(graph, zero).and_then(|id| only_type(graph, id)).is_some_and(|ty| ty.dtype == dtype)
}

fn products(graph: &Graph) -> Vec<Draft> {
    if graph.analysis.rates.core.is_none_or(|core| core.dot4.is_none()) {
        return Vec::new();
    }
    calls(graph).into_iter().filter_map(|(class, call)| product(graph, class, call)).collect()
}

/// How the operands of a product lie: the axis of the second one that is summed over, the shape of what is one a column or filter of it beside
/// the result, and the axes of a sum over the others.
struct Lies {
    summed: Vec<i64>,
    of_columns: Vec<u64>,
    depth: u64,
    columns: usize,
}

fn lies(graph: &Graph, op: &Operator, attrs: &Attrs, [x, w]: [Id; 2]) -> Option<Lies> {
    let (x, w) = (only_type(graph, x)?.shape()?, only_type(graph, w)?.shape()?);
    let last = w.len().checked_sub(1)?;
    if op.is(&CONV2D) {
        (attrs.int_or("groups", 1) == 1).then_some(())?;
        let depth = w[1..].iter().product();
        return Some(Lies { summed: vec![1, 2, 3], of_columns: vec![w[0], 1, 1], depth, columns: 0 });
    }
    let transposed = op.is(&DENSE) || attrs.flag("transpose_b");
    if attrs.flag("transpose_a") || x.len() < 2 {
        return None;
    }
    let (columns, along) =
        if transposed { (last.checked_sub(1)?, last) } else { (last, last.checked_sub(1)?) };
    Some(Lies { summed: vec![along as i64], of_columns: vec![w[columns]], depth: w[along], columns })
}

/// The data of a convolution padded with its zero point, and both operands filled up to as many channels as are added at once, where they have fewer.
fn padded(
    draft: &mut Draft,
    attrs: &mut Attrs,
    (mut data, mut weights): (Place, Place),
    channels: u64,
    around: f64,
) -> (Place, Place) {
    let padding = attrs.ints("padding").map_or(vec![0; 4], <[i64]>::to_vec);
    let more = TOGETHER.saturating_sub(channels) as i64;
    if more > 0 || around != 0.0 && padding.iter().any(|n| *n != 0) {
        let (begin, end) = padding.split_at(2);
        let all = [&[0, 0], begin, &[0, more], end].concat();
        data = draft.call(&PAD, Attrs::new().with("padding", all).with("value", around), &[data]);
        attrs.set("padding", [0, 0, 0, 0]);
    }
    if more > 0 {
        let channels = Attrs::new().with("padding", [0, 0, 0, 0, 0, more, 0, 0]);
        weights = draft.call(&PAD, channels, &[weights]);
    }
    (data, weights)
}

fn product(graph: &Graph, class: Id, call: &Node) -> Option<Draft> {
    let op =
        call.operator().filter(|op| [&MATMUL, &BATCH_MATMUL, &DENSE, &CONV2D].iter().any(|o| op.is(o)))?;
    let &[attrs, x, w] = &call.children[..] else { return None };
    let attrs = attrs_of(graph, attrs);
    let is_conv = op.is(&CONV2D);
    if attrs.get("out_dtype").is_some() || only_type(graph, class)?.dtype != DType::F32 {
        return None;
    }
    let lies = lies(graph, op, &attrs, [x, w])?;
    let (a, b) = (Dequantized::of(graph, x)?, Dequantized::of(graph, w)?);
    // A number less its zero point, which is one of its type, is at most 255.
    let fits = lies.depth.checked_mul(255 * 255).is_some_and(|most| most <= i32::MAX as u64);
    let of_columns = |id: Id| {
        let (ty, whole) = (only_type(graph, id)?.shape()?, only_type(graph, w)?.shape()?);
        let missing = whole.len().checked_sub(ty.len())?;
        let along = |(axis, n): (usize, &u64)| *n == 1 || axis + missing == lies.columns;
        Some(ty.iter().enumerate().all(along))
    };
    let by_columns = b.zero.into_iter().chain([b.scale]).all(|id| of_columns(id) == Some(true));
    if !fits || !a.is_uniform(graph) || !by_columns || is_conv && b.zero.is_some() {
        return None;
    }
    let around = match a.zero {
        Some(zero) => graph[graph.find(zero)].data.constant.as_ref()?.splat()?,
        None => 0.0,
    };
    let mut draft = Draft::of(class);
    let mut attrs = attrs.with("out_dtype", DType::I32);
    let (numbers, weights) = (draft.class(a.numbers), draft.class(b.numbers));
    let (mut data, mut factors) = (numbers, weights);
    if is_conv {
        let channels = only_type(graph, w)?.shape()?[1];
        (data, factors) = padded(&mut draft, &mut attrs, (numbers, weights), channels, around);
    }
    let mut y = draft.call(op, attrs, &[data, factors]);
    let columns = |draft: &mut Draft, id: Id| {
        let place = draft.class(id);
        match is_one(graph, id) {
            true => draft.call(&RESHAPE, shaping(&[]), &[place]),
            false => draft.call(&RESHAPE, shaping(&lies.of_columns), &[place]),
        }
    };
    let wide = |draft: &mut Draft, x: Place| draft.call(&CAST, Attrs::new().with("dtype", DType::I32), &[x]);
    let q = b.zero.map(|zero| columns(&mut draft, zero));
    if let Some(zero) = a.zero {
        let p = columns(&mut draft, zero);
        let one = wide(&mut draft, weights);
        let keeps = !is_conv && !op.is(&DENSE) && lies.columns as i64 > lies.summed[0];
        let attrs = Attrs::new().with("axes", lies.summed.clone()).with("keepdims", keeps);
        let mut sums = draft.call(&REDUCE_SUM, attrs, &[one]);
        if is_conv {
            sums = draft.call(&RESHAPE, shaping(&lies.of_columns), &[sums]);
        }
        if !keeps && !is_conv && op.is(&MATMUL) | op.is(&BATCH_MATMUL) {
            // Stacks of rows lie behind each other, beside the rows of the result.
            let mut shape = only_type(graph, w)?.shape()?;
            shape.pop();
            let rows = shape.pop()?;
            shape.extend([1, rows]);
            sums = draft.call(&RESHAPE, shaping(&shape), &[sums]);
        }
        let part = draft.call(&MUL, Attrs::new(), &[sums, p]);
        y = draft.call(&SUB, Attrs::new(), &[y, part]);
        if let Some(q) = q {
            let all = Node::number(lies.depth as f64, &fusion_operators::TensorType::fixed(&[], DType::I32))?;
            let all = draft.node(all);
            let both = draft.call(&MUL, Attrs::new(), &[p, q]);
            let part = draft.call(&MUL, Attrs::new(), &[both, all]);
            y = draft.call(&ADD, Attrs::new(), &[y, part]);
        }
    }
    if let Some(q) = q {
        let last = only_type(graph, x)?.rank() as i64 - 1;
        let one = wide(&mut draft, numbers);
        let attrs = Attrs::new().with("axes", [last]).with("keepdims", true);
        let sums = draft.call(&REDUCE_SUM, attrs, &[one]);
        let part = draft.call(&MUL, Attrs::new(), &[sums, q]);
        y = draft.call(&SUB, Attrs::new(), &[y, part]);
    }
    let y = draft.call(&CAST, Attrs::new().with("dtype", DType::F32), &[y]);
    let (s, t) = (columns(&mut draft, a.scale), columns(&mut draft, b.scale));
    let both = draft.call(&MUL, Attrs::new(), &[t, s]);
    draft.call(&MUL, Attrs::new(), &[y, both]);
    Some(draft)
}
