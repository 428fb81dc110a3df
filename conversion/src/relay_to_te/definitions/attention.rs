//! Attention, `y = softmax(scale q k' + bias) v`, in stages that a schedule computes for a few rows at a time:
//!
//!     queries   p[i, d]  scale q[i, d]               fewer products than of the scores
//!     scores    s[i, j]  sum_d p[i, d] k[j, d]
//!     biased    t[i, j]  s[i, j] + bias[i, j]
//!     largest   m[i]     max_j t[i, j]
//!     weights   e[i, j]  exp(t[i, j] - m[i])
//!     total     z[i]     sum_j e[i, j]
//!     values    o[i, d]  sum_j e[i, j] v[j, d]
//!     attention y[i, d]  o[i, d] / z[i]            as many divisions as results, not as scores
//!
//! On GPUs, where no memory near a core has room for rows of scores, `online_attention` is the definition. Where a processor adds beside its
//! multiply-adds, both products are by the inner-product trick (`inner_product_trick/attention`).

use super::elementwise::broadcast_indices;
use super::inner_product_trick as trick;
use super::online_attention;
use super::{Built, Table, TeCall};
use fusion_dialects::te::{Combine, Kernel};
use fusion_egraph::extract::inner_product_trick;
use fusion_egraph::extract::rates::Rates;
use fusion_operators::TensorType;
use fusion_operators::ops::attention::ATTENTION;

pub const TABLE: Table = &[(&ATTENTION, attention)];

fn attention<'c>(kernel: &Kernel<'c>, call: &TeCall<'c>) -> Built<'c> {
    let (q, v) = (call.dims(0), call.dims(2));
    let (Some((lead, [queries, width])), Some((_, [keys, _]))) =
        (q.split_last_chunk::<2>(), v.split_last_chunk::<2>())
    else {
        return Err(format!("takes operands of rank 2 or more, found {}", call.types[0]));
    };
    if let Some(sizes) = online_attention::sizes(call) {
        return Ok(vec![online_attention::define(kernel, call, &sizes)]);
    }
    if inner_product_trick::attends(&call.facts(), &Rates::of(&call.target).with(call.fp_math)) {
        return trick::attention::define(kernel, call);
    }
    let (rank, dtype) = (q.len(), call.results[0].dtype);
    let scale = call.attrs.float_or("scale", 1.0);
    let rows = TensorType::new([lead, std::slice::from_ref(queries)].concat(), dtype);
    let all = TensorType::new([lead, &[queries.clone(), keys.clone()]].concat(), dtype);

    let queries = match scale == 1.0 {
        true => call.operands[0],
        false => kernel.compute("queries", &call.types[0].with_dtype(dtype), |s, at| {
            let query = s.load(call.operands[0], at);
            s.mul(query, s.float(scale, query.dtype))
        }),
    };
    let scores = kernel.reduce("scores", &all, std::slice::from_ref(width), Combine::Sum, |s, at, over| {
        let key = [&at[..rank - 2], &[at[rank - 1], over[0]]].concat();
        let query = [&at[..rank - 1], over].concat();
        s.mul(s.load(queries, &query), s.load(call.operands[1], &key))
    });
    let biased = kernel.compute("biased", &all, |s, at| {
        let score = s.load(scores, at);
        match call.operands.get(3) {
            None => score,
            Some(&bias) => s.add(score, s.load(bias, &broadcast_indices(s, at, call.dims(3), &all.dims))),
        }
    });
    let over_keys = |at: &[fusion_dialects::Value<'c>], j: fusion_dialects::Value<'c>| [at, &[j]].concat();
    let largest =
        kernel.reduce("largest", &rows, std::slice::from_ref(keys), Combine::MaxNumber, |s, at, over| {
            s.load(biased, &over_keys(at, over[0]))
        });
    let weights = kernel.compute("weights", &all, |s, at| {
        s.math("exp", &[s.sub(s.load(biased, at), s.load(largest, &at[..rank - 1]))])
    });
    let total = kernel.reduce("total", &rows, std::slice::from_ref(keys), Combine::Sum, |s, at, over| {
        s.load(weights, &over_keys(at, over[0]))
    });
    let values =
        kernel.reduce("values", &call.results[0], std::slice::from_ref(keys), Combine::Sum, |s, at, over| {
            let value = [&at[..rank - 2], &[over[0], at[rank - 1]]].concat();
            s.mul(s.load(weights, &over_keys(&at[..rank - 1], over[0])), s.load(call.operands[2], &value))
        });
    let y = kernel.compute(call.op.name, &call.results[0], |s, at| {
        s.div(s.load(values, at), s.load(total, &at[..rank - 1]))
    });
    Ok(vec![y])
}
