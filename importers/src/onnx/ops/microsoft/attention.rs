//! Attention of projected or packed queries, keys and values.
//!
//!     Attention            q, k, v = x W + b                     MultiHeadAttention: they are given, apart or packed
//!     y = softmax(scale Q K' + mask + bias) V                    heads side by side in a row
//!
//! Keys that a mask hides get `mask_filter_value` added to their scores, as ONNX Runtime does, so that a query which
//! sees none weighs all alike. The past stands before the new keys, and both are a result.

use fusion_operators::ops::elementwise as ew;
use fusion_operators::{DType, Dim};

use super::{plus, row};
use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::Conversion;
use crate::onnx::ops::nn::attention::{heads, joined};

pub const ROWS: &[Conversion] =
    &[row("Attention", attention), row("MultiHeadAttention", multi_head_attention)];

/// Queries, keys and values, `[batch, heads, length, size]`, and how they are weighed.
pub struct Heads {
    pub q: Value,
    pub k: Value,
    pub v: Value,
    /// None for 1 / sqrt(size).
    pub scale: Option<f64>,
    /// A bound that scores approach, if above 0.
    pub cap: f64,
    /// What is added to scores.
    pub added: Vec<Value>,
    /// Where keys are seen.
    pub seen: Vec<Value>,
    /// A score a head, `[heads, 1, 1]`, that takes part in the softmax and has no value.
    pub sink: Option<Value>,
}

impl Heads {
    /// The scores, `[batch, heads, queries, keys]`, as the softmax takes them.
    pub fn scores(&self, im: &mut Importer) -> Made {
        let size = im.extent(self.q, 3, "the queries")?;
        let scale = self.scale.filter(|&scale| scale != 0.0).unwrap_or(1.0 / (size as f64).sqrt());
        let keys = im.swap(self.k, 2, 3)?;
        let product = im.matmul(self.q, keys)?;
        let mut scores = im.mul_f(product, scale)?;
        if self.cap > 0.0 {
            let scaled = im.mul_f(scores, 1.0 / self.cap)?;
            let bent = im.un(&ew::TANH, scaled)?;
            scores = im.mul_f(bent, self.cap)?;
        }
        for &added in &self.added {
            scores = im.add(scores, added)?;
        }
        let hidden = im.like(scores, f64::NEG_INFINITY)?;
        for &seen in &self.seen {
            scores = im.select(seen, scores, hidden)?;
        }
        Ok(scores)
    }

    /// The softmax of scores.
    pub fn weights(&self, im: &mut Importer, scores: Value) -> Made {
        let Some(sink) = self.sink else { return im.softmax(scores, 3) };
        let dims = im.dims(scores)?;
        let keys = im.extent(scores, 3, "the keys")?;
        let sink = im.cast(sink, im.dtype(scores)?)?;
        let column = im.broadcast_dims(sink, &[&dims[..3], &[Dim::Static(1)]].concat())?;
        let all = im.concat(&[scores, column], 3)?;
        let weights = im.softmax(all, 3)?;
        im.slice(weights, 3, 0, keys)
    }

    /// The values by their weights, a row of all heads for each query.
    pub fn weighed(&self, im: &mut Importer, weights: Value) -> Made {
        let y = im.matmul(weights, self.v)?;
        joined(im, y)
    }
}

/// What hides keys: a filter to be added, `[batch, 1, 1 or queries, keys]`.
fn filter(
    im: &mut Importer,
    node: &Node,
    mask: Value,
    (batch, queries, keys): (&Dim, &Dim, &Dim),
    dtype: DType,
) -> Made {
    let dims = im.dims(mask)?;
    let j = im.arange_dim(im.dtype(mask)?, keys, 0.0, 1.0)?;
    let shown = match im.rank(mask)? {
        // The number of keys of each member of the batch, or behind these the first key of each.
        1 if dims[0] == *batch => {
            let ends = im.expand_dims(mask, &[1, 2, 3])?;
            im.less(j, ends)?
        }
        1 if batch.known().map(|n| Dim::Static(2 * n)).as_ref() == Some(&dims[0]) => {
            let count = batch.known().unwrap_or_default() as i64;
            let (ends, starts) = (im.slice(mask, 0, 0, count)?, im.slice(mask, 0, count, 2 * count)?);
            let (ends, starts) = (im.expand_dims(ends, &[1, 2, 3])?, im.expand_dims(starts, &[1, 2, 3])?);
            let (before, behind) = (im.less(j, ends)?, im.bin(&ew::LESS_EQUAL, starts, j)?);
            im.and(before, behind)?
        }
        2..=4 => {
            let mut mask = mask;
            if let [_, _, rows, columns] = &dims[..]
                && (rows != queries || columns != keys)
            {
                let known = queries.known().zip(keys.known());
                let (queries, keys) =
                    known.ok_or_else(|| Fault::unsupported("a mask of a matrix of dynamic extents"))?;
                let (queries, keys) = (queries as i64, keys as i64);
                mask = im.slice(mask, 2, keys - queries, keys)?;
                mask = im.slice(mask, 3, 0, keys)?;
            }
            let axes: &[i64] = match im.rank(mask)? {
                2 => &[1, 2],
                3 => &[1],
                _ => &[],
            };
            let mask = im.expand_dims(mask, axes)?;
            let zero = im.like(mask, 0.0)?;
            im.bin(&ew::GREATER, mask, zero)?
        }
        _ => return Err(Fault::unsupported(format!("a mask of type {}", im.ty(mask)?))),
    };
    let filtered = im.scalar(dtype, node.float("mask_filter_value", -10000.0)?)?;
    let none = im.scalar(dtype, 0.0)?;
    im.select(shown, none, filtered)
}

/// Where the i-th new query, behind `past` keys, sees a key: `[queries, keys]`.
fn causal(im: &mut Importer, past: &Dim, (queries, keys): (&Dim, &Dim)) -> Made {
    let i = im.arange_dim(DType::I64, queries, 0.0, 1.0)?;
    let i = match past.known() {
        Some(past) => im.add_f(i, past as f64)?,
        None => {
            // The queries are the last of the keys.
            let all = im.arange_dim(DType::I64, keys, 0.0, 1.0)?;
            let (all, own) = (im.extent_of(all, 0)?, im.extent_of(i, 0)?);
            let before = im.sub(all, own)?;
            im.add(i, before)?
        }
    };
    let i = im.expand_dims(i, &[1])?;
    let j = im.arange_dim(DType::I64, keys, 0.0, 1.0)?;
    im.bin(&ew::LESS_EQUAL, j, i)
}

/// Masks and biases of both operators, once queries and keys are known.
fn masked(
    im: &mut Importer,
    node: &Node,
    (q, k, v): (Value, Value, Value),
    past: &Dim,
    (mask, bias): (Option<Value>, Option<Value>),
) -> Result<Heads, Fault> {
    let (of_q, of_k) = (im.dims(q)?, im.dims(k)?);
    let (batch, queries, keys) = (&of_q[0], &of_q[2], &of_k[2]);
    let mut heads = Heads {
        q,
        k,
        v,
        scale: node.opt_float("scale")?,
        cap: 0.0,
        added: Vec::new(),
        seen: Vec::new(),
        sink: None,
    };
    if let Some(mask) = mask {
        heads.added.push(filter(im, node, mask, (batch, queries, keys), im.dtype(q)?)?);
    }
    heads.added.extend(bias);
    if node.flag("unidirectional")? {
        heads.seen.push(causal(im, past, (queries, keys))?);
    }
    Ok(heads)
}

fn attention(im: &mut Importer, node: &Node) -> Converted {
    let (x, weights) = (node.input(0)?, node.input(1)?);
    if node.flag("do_rotary")? || node.flag("past_present_share_buffer")? {
        return Err(Fault::unsupported("Attention with do_rotary or past_present_share_buffer"));
    }
    let product = im.matmul(x, weights)?;
    let all = plus(im, product, node.opt(2))?;
    let width = im.extent(all, 2, "the projection")?;
    let sizes = match node.ints("qkv_hidden_sizes")? {
        Some(sizes) => sizes.to_vec(),
        None => vec![width / 3; 3],
    };
    if sizes.len() != 3 || sizes.iter().any(|n| *n < 1) || sizes.iter().sum::<i64>() != width {
        return Err(Fault::value(format!(
            "the widths of queries, keys and values are {sizes:?}, but those of the weights together {width}"
        )));
    }
    let parts = im.split(all, &sizes, 2)?;
    let count = node.required_int("num_heads")?;
    let q = heads(im, parts[0], count)?;
    let (mut k, mut v) = (heads(im, parts[1], count)?, heads(im, parts[2], count)?);
    let mut past = Dim::Static(0);
    if let Some(given) = node.opt(4) {
        past = im.dims(given)?.get(3).cloned().unwrap_or(past);
        let (old_k, old_v) = (im.select_at(given, 0, 0)?, im.select_at(given, 0, 1)?);
        (k, v) = (im.concat(&[old_k, k], 2)?, im.concat(&[old_v, v], 2)?);
    }
    let masked = masked(im, node, (q, k, v), &past, (node.opt(3), node.opt(5)))?;
    let scores = masked.scores(im)?;
    let weights = masked.weights(im, scores)?;
    let y = masked.weighed(im, weights)?;
    if !node.wants(1) {
        return Ok(vec![y]);
    }
    let (k, v) = (im.expand_dims(k, &[0])?, im.expand_dims(v, &[0])?);
    Ok(vec![y, im.concat(&[k, v], 0)?])
}

/// `[batch, length, heads, n, size]` as n tensors `[batch, heads, length, size]`.
fn unpacked(im: &mut Importer, x: Value) -> Result<Vec<Value>, Fault> {
    let count = im.extent(x, 3, "the packed operand")?;
    let pieces = im.split(x, &vec![1; usize::try_from(count.clamp(1, 3)).unwrap_or(1)], 3)?;
    pieces
        .into_iter()
        .map(|piece| {
            let piece = im.squeeze(piece, &[3])?;
            im.transpose(piece, &[0, 2, 1, 3])
        })
        .collect()
}

fn multi_head_attention(im: &mut Importer, node: &Node) -> Converted {
    let count = node.required_int("num_heads")?;
    let query = node.input(0)?;
    let (q, k, v) = match (node.opt(1), node.opt(2)) {
        (None, _) => match unpacked(im, query)?[..] {
            [q, k, v] => (q, k, v),
            _ => return Err(Fault::value(format!("packed queries, keys and values: {}", im.ty(query)?))),
        },
        (Some(key), None) => match unpacked(im, key)?[..] {
            [k, v] => (heads(im, query, count)?, k, v),
            _ => return Err(Fault::value(format!("packed keys and values: {}", im.ty(key)?))),
        },
        (Some(key), Some(value)) => {
            let mut all = [query, key, value];
            if let Some(bias) = node.opt(3) {
                let mut begin = 0;
                for operand in &mut all {
                    let width = match im.rank(*operand)? {
                        3 => im.extent(*operand, 2, "the operand")?,
                        _ => {
                            im.extent(*operand, 1, "the operand")? * im.extent(*operand, 3, "the operand")?
                        }
                    };
                    let own = im.slice(bias, 0, begin, begin + width)?;
                    begin += width;
                    if im.rank(*operand)? == 3 {
                        *operand = im.add(*operand, own)?;
                    }
                }
            }
            let each = |im: &mut Importer, x: Value| match im.rank(x)? {
                4 => Ok(x),
                _ => heads(im, x, count),
            };
            (each(im, all[0])?, each(im, all[1])?, each(im, all[2])?)
        }
    };
    let (mut k, mut v, mut past) = (k, v, Dim::Static(0));
    if let (Some(old_k), Some(old_v)) = (node.opt(6), node.opt(7)) {
        past = im.dims(old_k)?.get(2).cloned().unwrap_or(past);
        (k, v) = (im.concat(&[old_k, k], 2)?, im.concat(&[old_v, v], 2)?);
    }
    if node.opt(9).is_some() {
        return Err(Fault::unsupported("cache_indirection, which is for beam search,"));
    }
    let masked = masked(im, node, (q, k, v), &past, (node.opt(4), node.opt(5)))?;
    let scores = masked.scores(im)?;
    let weights = masked.weights(im, scores)?;
    let y = masked.weighed(im, weights)?;
    Ok(vec![y, k, v, scores])
}
