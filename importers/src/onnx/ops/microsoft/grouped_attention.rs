//! Attention of decoders, whose query heads share the keys of their group, behind rotary embeddings.
//!
//!     y = softmax(cap tanh(scale Q K' / cap) + bias) V           a query at place p sees keys p - window + 1 to p
//!
//! `seqlens_k` holds the place of the last key of each member of the batch. New keys stand behind the past of that
//! member, which may be shorter than the tensor. Keys are a result: as many as there were and are new, or as many as
//! the past has where it is a buffer with room for all (`total_sequence_length` is known, and at most that).

use fusion_operators::ops::{elementwise as ew, indexing};
use fusion_operators::{Attrs, DType, Dim};

use super::attention::Heads;
use super::row;
use crate::onnx::build::{Converted, Made};
use crate::onnx::error::Fault;
use crate::onnx::importer::Importer;
use crate::onnx::node::{Node, Value};
use crate::onnx::ops::Conversion;
use crate::onnx::ops::nn::attention::{grouped, heads, turned_by};
use crate::onnx::ops::nn::normalization::rms;

pub const ROWS: &[Conversion] =
    &[row("GroupQueryAttention", group_query_attention), row("RotaryEmbedding", rotary)];

/// Cosines or sines of the places `[batch, length]`, as `[batch, 1, length, half]`.
fn angles(im: &mut Importer, cache: Value, places: Value, half: i64) -> Made {
    let rows = im.gather(cache, places, 0)?;
    let rows = im.slice(rows, 2, 0, half)?;
    im.expand_dims(rows, &[1])
}

fn rotary(im: &mut Importer, node: &Node) -> Converted {
    let (x, places) = (node.input(0)?, node.input(1)?);
    if node.flag("is_packed_batching")? {
        return Err(Fault::unsupported("is_packed_batching"));
    }
    let flat = im.rank(x)? == 3;
    let dims = im.dims(x)?;
    let half_of_cache = im.extent(node.input(2)?, 1, "the cosines")?;
    let split = if flat {
        let width = im.extent(x, 2, "the operand")?;
        let count = match node.int("num_heads", 0)? {
            0 => width / (2 * half_of_cache).max(1),
            count => count,
        };
        heads(im, x, count)?
    } else {
        x
    };
    if im.rank(split)? != 4 {
        return Err(Fault::value(format!("the operand must have rank 3 or 4, found {}", im.ty(x)?)));
    }
    let size = im.extent(split, 3, "the operand")?;
    let turned = match node.int("rotary_embedding_dim", 0)? {
        0 => size.min(2 * half_of_cache),
        n if (2..=size).contains(&n) => n,
        n => return Err(Fault::value(format!("rotary_embedding_dim {n} exceeds the head size {size}"))),
    };
    let places = match im.rank(places)? {
        1 => {
            let steps = im.arange_dim(im.dtype(places)?, &im.dims(split)?[2], 0.0, 1.0)?;
            let steps = im.expand_dims(steps, &[0])?;
            im.add(steps, places)?
        }
        _ => places,
    };
    let cos = angles(im, node.input(2)?, places, turned / 2)?;
    let sin = angles(im, node.input(3)?, places, turned / 2)?;
    let mut y = turned_by(im, split, (cos, sin), turned, node.flag("interleaved")?)?;
    let scale = node.float("scale", 1.0)?;
    if scale != 1.0 {
        y = im.mul_f(y, scale)?;
    }
    if flat {
        y = im.transpose(y, &[0, 2, 1, 3])?;
        y = im.reshape_dims(y, &dims)?;
    }
    Ok(vec![y])
}

/// Where keys stand: how many each member of the batch had before, `[batch]`.
struct Places {
    past: Value,
    length: Dim,
}

impl Places {
    /// Places of the new keys, `[batch, length]`.
    fn of_new(&self, im: &mut Importer) -> Made {
        let steps = im.arange_dim(DType::I64, &self.length, 0.0, 1.0)?;
        let past = im.expand_dims(self.past, &[1])?;
        im.add(past, steps)
    }

    /// The new keys behind the past: one tensor of `total` keys.
    fn joined(&self, im: &mut Importer, old: Value, new: Value, total: &Dim) -> Made {
        let both = im.concat(&[old, new], 2)?;
        let dims = im.dims(both)?;
        // One sequence fills what it has, where that is no buffer.
        if dims[2] == *total && dims[0] == Dim::Static(1) {
            return Ok(both);
        }
        let (room, length) = (im.extent_of(old, 2)?, im.extent_of(new, 2)?);
        let j = im.arange_dim(DType::I64, total, 0.0, 1.0)?;
        let past = im.expand_dims(self.past, &[1])?;
        let behind = im.sub(j, past)?;
        let zero = im.like(behind, 0.0)?;
        let (not_before, not_after) =
            (im.bin(&ew::GREATER_EQUAL, behind, zero)?, im.bin(&ew::LESS, behind, length)?);
        let is_new = im.and(not_before, not_after)?;
        let of_new = im.add(behind, room)?;
        let last = im.extent_of(both, 2)?;
        let last = im.add_f(last, -1.0)?;
        let of_old = im.minimum(j, last)?;
        let from = im.select(is_new, of_new, of_old)?;
        let from = im.expand_dims(from, &[1, 3])?;
        let from =
            im.broadcast_dims(from, &[&dims[..2], std::slice::from_ref(total), &dims[3..]].concat())?;
        let all = im.op(&indexing::GATHER_ELEMENTS, &[both, from], Attrs::new().with("axis", 2i64))?;
        // Behind its last key a member of the batch has zeros.
        let is_key = im.expand_dims(not_after, &[1, 3])?;
        let none = im.like(all, 0.0)?;
        im.select(is_key, all, none)
    }
}

/// Queries, keys and values by heads, given apart or side by side in one row.
fn by_heads(im: &mut Importer, node: &Node) -> Result<[Value; 3], Fault> {
    let (count, groups) = (node.required_int("num_heads")?, node.required_int("kv_num_heads")?);
    let query = node.input(0)?;
    let (q, k, v) = match (node.opt(1), node.opt(2)) {
        (Some(k), Some(v)) => (query, k, v),
        _ => {
            let width = im.extent(query, 2, "the queries")?;
            let all = count.checked_add(2 * groups).filter(|&all| all > 0 && width % all == 0);
            let size = all.map(|all| width / all).ok_or_else(|| {
                Fault::value(format!(
                    "a width of {width} does not divide into {count} and twice {groups} heads"
                ))
            })?;
            let parts = im.split(query, &[count * size, groups * size, groups * size], 2)?;
            (parts[0], parts[1], parts[2])
        }
    };
    Ok([heads(im, q, count)?, heads(im, k, groups)?, heads(im, v, groups)?])
}

fn group_query_attention(im: &mut Importer, node: &Node) -> Converted {
    for (name, index) in [("k_quant_type", 12), ("v_quant_type", 13)] {
        if node.string(name, "NONE")? != "NONE" || node.opt(index).is_some() {
            return Err(Fault::unsupported("a quantized cache of keys and values"));
        }
    }
    if node.flag("sliding_window_cache")? || node.opt(16).is_some() {
        return Err(Fault::unsupported("sliding_window_cache or query_seqlens"));
    }
    let [mut q, mut k, v] = by_heads(im, node)?;
    let dims = im.dims(q)?;
    let lengths = im.reshape(node.input(5)?, &[-1])?;
    let lengths = im.cast(lengths, DType::I64)?;
    let length = im.extent_of(q, 2)?;
    // A first prompt that is padded has fewer keys than queries, and no past.
    let before = im.sub(lengths, length)?;
    let before = im.add_f(before, 1.0)?;
    let places = Places { past: im.max_f(before, 0.0)?, length: dims[2].clone() };
    if let (Some(of_q), Some(of_k)) = (node.opt(14), node.opt(15)) {
        let epsilon = node.float("qk_norm_epsilon", 1e-6)?;
        let normal = |im: &mut Importer, x: Value, scale: Value, own: &str| {
            let normal = rms(im, x, &[3], node.float(own, epsilon)?)?;
            im.mul(normal, scale)
        };
        q = normal(im, q, of_q, "q_norm_epsilon")?;
        k = normal(im, k, of_k, "k_norm_epsilon")?;
    }
    let of_new = places.of_new(im)?;
    if node.flag("do_rotary")? {
        let at = match node.opt(9) {
            Some(given) => given,
            None => of_new,
        };
        let half = im.extent(node.input(7)?, 1, "the cosines")?;
        let (cos, sin) = (angles(im, node.input(7)?, at, half)?, angles(im, node.input(8)?, at, half)?);
        let interleaved = node.flag("rotary_interleaved")?;
        q = turned_by(im, q, (cos, sin), 2 * half, interleaved)?;
        k = turned_by(im, k, (cos, sin), 2 * half, interleaved)?;
    }
    let (mut all_k, mut all_v) = (k, v);
    if let (Some(old_k), Some(old_v)) = (node.opt(3), node.opt(4)) {
        let room = im.dims(old_k)?.get(2).cloned().unwrap_or(Dim::Any);
        if room != Dim::Static(0) {
            let known = im.constant_of(node.input(6)?).and_then(|t| t.to_ints().first().copied());
            let is_buffer = known.zip(room.known()).is_some_and(|(total, room)| total <= room.into());
            let total = if is_buffer { room } else { room.plus(&dims[2]) };
            all_k = places.joined(im, old_k, k, &total)?;
            all_v = places.joined(im, old_v, v, &total)?;
        }
    }
    let keys = im.dims(all_k)?[2].clone();
    let j = im.arange_dim(DType::I64, &keys, 0.0, 1.0)?;
    let mut seen = Vec::new();
    if node.int("causal", 1)? != 0 {
        let p = im.expand_dims(of_new, &[1, 3])?;
        seen.push(im.bin(&ew::LESS_EQUAL, j, p)?);
        let window = node.int("local_window_size", -1)?;
        if window > 0 {
            let first = im.add_f(p, -(window as f64))?;
            seen.push(im.bin(&ew::GREATER, j, first)?);
        }
    } else {
        let last = im.expand_dims(lengths, &[1, 2, 3])?;
        seen.push(im.bin(&ew::LESS_EQUAL, j, last)?);
    }
    let sink = match node.opt(11) {
        Some(sink) => Some(im.expand_dims(sink, &[1, 2])?),
        None if node.int("smooth_softmax", -1)? > 0 => Some(im.full(im.dtype(q)?, &[1, 1, 1], 0.0)?),
        None => None,
    };
    let (shared_k, shared_v) = (grouped(im, q, all_k)?, grouped(im, q, all_v)?);
    let weighing = Heads {
        q,
        k: shared_k,
        v: shared_v,
        scale: node.opt_float("scale")?,
        cap: node.float("softcap", 0.0)?,
        added: node.opt(10).into_iter().collect(),
        seen,
        sink,
    };
    let scores = weighing.scores(im)?;
    let weights = weighing.weights(im, scores)?;
    let y = weighing.weighed(im, weights)?;
    let product = if node.int("qk_output", 0)? == 2 { weights } else { scores };
    Ok(vec![y, all_k, all_v, product])
}
