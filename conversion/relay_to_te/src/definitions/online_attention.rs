//! Attention some keys at a time, so that a block of a GPU never keeps more scores than those of its queries and these keys:
//!
//!     scores    s[i, c, j]  sum_d q[i, d] k[c 64 + j, d]                        chunk c has keys c 64 .. c 64 + 63
//!     scaled    t[i, c, j]  scale s + bias; -inf beyond the last key
//!     largest   m[i, c]     max_j t
//!     weights   e[i, c, j]  exp(t - m[i, c])
//!     total     z[i, c]     sum_j e
//!     values    o[i, c, d]  sum_j e v[c 64 + j, d]
//!     online    (M, Z, O)[i, d]  over c:  M' = max(M, m),  Z' = Z e^(M - M') + z e^(m - M'),  O' = O e^(M - M') + o e^(m - M')
//!     attention y[i, d]     O / Z
//!
//! Of f16 and bf16 the weights are rounded to that type, and keys and values of a chunk are stages of their own, so that both products are of
//! matrices of that type, as matrix instructions multiply them.
//!
//! (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018; Dao et al., "FlashAttention", 2022.) The combiner
//! of `online` is associative. All above it is computed in a step of its reduction, by the schedule in `auto_schedule/gpu/kinds/attention.rs`.
//! Maxima begin with the least finite number in place of -inf, so that no difference of infinities arises where all scores of a chunk are -inf.

use super::TeCall;
use super::elementwise::broadcast_indices;
use fusion_dialects::te::{Combine, Compare, Kernel, Neutral, Scalar, Scalars};
use fusion_dialects::{Value, tensor_type};
use fusion_operators::{DType, TensorType};

/// Keys of a chunk.
const CHUNK: u64 = 64;
/// With fewer queries or keys than these, or narrower values, the scores are few and blocks have too little to share.
const FEWEST: u64 = 16;
/// With more columns of values, what a thread keeps of a row's results is more than its registers.
const MOST_WIDTH: u64 = 256;

/// The extents of an attention.
pub struct Sizes {
    lead: Vec<u64>,
    queries: u64,
    keys: u64,
    width: u64,
    columns: u64,
}

impl Sizes {
    fn with(&self, rest: &[u64], dtype: DType) -> TensorType {
        TensorType::fixed(&[self.lead.as_slice(), rest].concat(), dtype)
    }
}

/// The extents, where this is how attention is computed: on a GPU, with enough of everything.
pub fn sizes(call: &TeCall) -> Option<Sizes> {
    let shapes: Vec<Vec<u64>> = call.types.iter().take(3).map(TensorType::shape).collect::<Option<_>>()?;
    let ([lead @ .., queries, width], [.., keys, columns]) = (shapes[0].as_slice(), shapes[2].as_slice())
    else {
        return None;
    };
    let (queries, keys, width, columns) = (*queries, *keys, *width, *columns);
    let enough = queries >= FEWEST && keys > FEWEST && (FEWEST..=MOST_WIDTH).contains(&columns) && width > 0;
    let float = call.results[0].dtype.is_float();
    (call.on_gpu() && enough && float && !call.fp_math.is_strict()).then(|| Sizes {
        lead: lead.to_vec(),
        queries,
        keys,
        width,
        columns,
    })
}

/// The stages; the last one is given.
pub fn define<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>, sizes: &Sizes) -> Value<'c> {
    let Sizes { queries, keys, width, columns, .. } = *sizes;
    let rank = sizes.lead.len() + 2;
    let wide = kernel.compute_type(call.results[0].dtype);
    let scale = call.attrs.float_or("scale", 1.0);
    let narrow = if call.results[0].dtype.size() == 2 { call.results[0].dtype } else { wide };
    let chunk = if narrow == wide { CHUNK.min(keys.next_multiple_of(FEWEST)) } else { CHUNK };
    let chunks = keys.div_ceil(chunk);
    // Rows of an operand by chunks, where they are a stage of their own.
    let by_chunks = |name: &str, operand: usize, columns: u64| {
        kernel.compute(name, &sizes.with(&[chunks, chunk, columns], narrow), |s, at| {
            let key = key_of(s, at[rank - 2], at[rank - 1], chunk);
            let at = [&at[..rank - 2], &[key, at[rank]]].concat();
            load_key(s, call.operands[operand], &at, key, keys, chunk)
        })
    };
    let [own_keys, own_values] = match narrow == wide {
        true => [None, None],
        false => [Some(by_chunks("keys", 1, width)), Some(by_chunks("rows", 2, columns))],
    };
    let lowest = Neutral::Float(if wide == DType::F64 { f64::MIN } else { f64::from(f32::MIN) });

    let scores = kernel.reduce(
        "scores",
        &sizes.with(&[queries, chunks, chunk], wide),
        &[width],
        Combine::Sum,
        |s, at, over| {
            let query = s.load(call.operands[0], &[&at[..rank - 1], over].concat());
            if let Some(all) = own_keys {
                return s.mul(query, s.load(all, &[&at[..rank - 2], &at[rank - 1..], over].concat()));
            }
            let key = key_of(s, at[rank - 1], at[rank], chunk);
            s.mul(
                query,
                load_key(s, call.operands[1], &[&at[..rank - 2], &[key, over[0]]].concat(), key, keys, chunk),
            )
        },
    );
    let all = sizes.with(&[queries, keys], wide);
    let scaled = kernel.compute("scaled", &sizes.with(&[queries, chunks, chunk], wide), |s, at| {
        let score = s.load(scores, at);
        let mut score = s.mul(score, s.float(scale, score.dtype));
        let key = key_of(s, at[rank - 1], at[rank], chunk);
        let inside = s.index_compare(Compare::Less, key, s.index(keys as i64));
        if let Some(&bias) = call.operands.get(3) {
            // A bias of one column is the same for all keys.
            let at = [&at[..rank - 1], &[key]].concat();
            let at = broadcast_indices(s, &at, call.dims(3), &all.dims);
            let bias = match keys.is_multiple_of(chunk) {
                true => s.load(bias, &at),
                false => load_inside(s, bias, &at, inside),
            };
            score = s.add(score, s.cast(bias, wide));
        }
        if keys.is_multiple_of(chunk) {
            score
        } else {
            s.select(inside, score, s.float(f64::NEG_INFINITY, wide))
        }
    });
    let of_chunk = |at: &[Value<'c>], j: Value<'c>| [at, &[j]].concat();
    let rows = sizes.with(&[queries, chunks], wide);
    let largest = kernel.stage(
        "largest",
        std::slice::from_ref(&rows),
        &[chunk],
        &[lowest],
        |s, at, over| vec![s.load(scaled, &of_chunk(at, over[0]))],
        |s, a, b| vec![s.max(a[0], b[0])],
    )[0];
    let weights = kernel.compute("weights", &sizes.with(&[queries, chunks, chunk], narrow), |s, at| {
        s.math("exp", &[s.sub(s.load(scaled, at), s.load(largest, &at[..rank]))])
    });
    let total = kernel.reduce("total", &rows, &[chunk], Combine::Sum, |s, at, over| {
        s.load(weights, &of_chunk(at, over[0]))
    });
    let values = kernel.reduce(
        "values",
        &sizes.with(&[queries, chunks, columns], wide),
        &[chunk],
        Combine::Sum,
        |s, at, over| {
            let weight = s.load(weights, &of_chunk(&at[..rank], over[0]));
            if let Some(all) = own_values {
                let at = [&at[..rank - 2], &[at[rank - 1], over[0], at[rank]]].concat();
                return s.mul(weight, s.load(all, &at));
            }
            let key = key_of(s, at[rank - 1], over[0], chunk);
            let value = load_key(
                s,
                call.operands[2],
                &[&at[..rank - 2], &[key, at[rank]]].concat(),
                key,
                keys,
                chunk,
            );
            s.mul(weight, value)
        },
    );
    let result = sizes.with(&[queries, columns], wide);
    let zero = Neutral::Float(0.0);
    let online = kernel.stage(
        "online",
        &[result.clone(), result.clone(), result],
        &[chunks],
        &[lowest, zero, zero],
        |s, at, over| {
            let row = [&at[..rank - 1], over].concat();
            let value = [&at[..rank - 1], over, &at[rank - 1..]].concat();
            vec![s.load(largest, &row), s.load(total, &row), s.load(values, &value)]
        },
        |s, a, b| combine(s, a, b),
    );
    kernel
        .compute(call.op.name, &call.results[0], |s, at| s.div(s.load(online[2], at), s.load(online[1], at)))
}

/// What two parts of a row have together: a maximum, a sum and a result relative to it.
fn combine<'c>(s: &Scalars<'c>, a: &[Scalar<'c>], b: &[Scalar<'c>]) -> Vec<Scalar<'c>> {
    let largest = s.max(a[0], b[0]);
    let [of_a, of_b] = [a, b].map(|part| s.math("exp", &[s.sub(part[0], largest)]));
    let sum = |i: usize| s.add(s.mul(a[i], of_a), s.mul(b[i], of_b));
    vec![largest, sum(1), sum(2)]
}

/// The number of a key.
fn key_of<'c>(s: &Scalars<'c>, chunk: Value<'c>, within: Value<'c>, size: u64) -> Value<'c> {
    s.index_add(s.index_affine(chunk, size as i64, 0), within)
}

/// An element of a key's row; 0 beyond the last key.
fn load_key<'c>(
    s: &Scalars<'c>,
    tensor: Value<'c>,
    at: &[Value<'c>],
    key: Value<'c>,
    keys: u64,
    chunk: u64,
) -> Scalar<'c> {
    if keys.is_multiple_of(chunk) {
        return s.load(tensor, at);
    }
    load_inside(s, tensor, at, s.index_compare(Compare::Less, key, s.index(keys as i64)))
}

fn load_inside<'c>(s: &Scalars<'c>, tensor: Value<'c>, at: &[Value<'c>], inside: Scalar<'c>) -> Scalar<'c> {
    let dtype = tensor_type(tensor).map_or(DType::F32, |ty| ty.dtype);
    s.load_if(inside, tensor, at, s.float(0.0, dtype))
}
