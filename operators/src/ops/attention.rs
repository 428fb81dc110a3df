//! Attention, `y = softmax(scale q k' + bias) v` over the last two axes (Vaswani et al., "Attention Is All You Need", 2017).

use crate::form::{float, form, operand, optional};
use crate::operator::{Related, cost::elements};
use crate::reference::attention as reference;
use crate::relation::{broadcast_dims, same_dtype};
use crate::{Call, Dim, FusionKind, Operator, TensorType, Violation, operators, require};

/// C1: operands have one float type. C2: queries, keys and values have one rank, of 2 or more. C3: their leading
/// extents agree, and so do the widths of queries and keys, and the numbers of keys and of values. C4: the bias
/// broadcasts to the scores, [..., queries, keys].
fn relation(call: &Call) -> Related {
    let [q, k, v, ..] = call.operands else {
        return Err(Violation::new(0, "attention takes queries, keys and values"));
    };
    same_dtype(call.operands, 1)?;
    require!(q.dtype.is_float(), C 1, "operands must be floats, found {}", q.dtype);
    let parts = |t: &TensorType| {
        t.dims.split_last_chunk::<2>().map(|(lead, [n, d])| (lead.to_vec(), n.clone(), d.clone()))
    };
    let (Some((lead, queries, width)), Some((lead_k, keys, width_k)), Some((lead_v, count, depth))) =
        (parts(q), parts(k), parts(v))
    else {
        return Err(Violation::new(2, format!("operands must have rank 2 or more, found {q}, {k} and {v}")));
    };
    require!(
        q.rank() == k.rank() && q.rank() == v.rank(),
        C 2,
        "queries, keys and values must have one rank, found {q}, {k} and {v}"
    );
    let agree = |a: &[Dim], b: &[Dim]| a.iter().zip(b).all(|(a, b)| a.compatible(b));
    require!(
        agree(&lead, &lead_k) && agree(&lead, &lead_v) && width.compatible(&width_k) && keys.compatible(&count),
        C 3,
        "queries [..., n, d], keys [..., m, d] and values [..., m, e] must agree, found {q}, {k} and {v}"
    );
    if let Some(bias) = call.operands.get(3) {
        let scores = [lead.as_slice(), &[queries.clone(), keys]].concat();
        require!(
            broadcast_dims(&scores, &bias.dims).is_some_and(|d| d.len() == scores.len() && agree(&d, &scores)),
            C 4,
            "the bias must broadcast to the scores, found {bias} for {q} and {k}"
        );
    }
    Ok(vec![TensorType::new([lead.as_slice(), &[queries, depth]].concat(), q.dtype)])
}

/// Both products, and ten operations for each score.
fn cost(call: &Call, results: &[TensorType]) -> f64 {
    let known = |t: &TensorType, axis: usize| t.dims[t.rank() - axis].known().unwrap_or(1) as f64;
    let [q, k, ..] = call.operands else { return 0.0 };
    let scores = elements(std::slice::from_ref(q)) / known(q, 1) * known(k, 2);
    scores * (2.0 * known(q, 1) + 2.0 * known(&results[0], 1) + 10.0)
}

operators! {
    /// softmax(scale q k' + bias) v over the last two axes
    ///
    /// Queries [..., n, d], keys [..., m, d], values [..., m, e]; `scale` is 1 when absent.
    /// - C1: operands have one float type.
    /// - C2: queries, keys and values have one rank, of 2 or more.
    /// - C3: their leading extents agree, and so do the widths of queries and keys, and the numbers of keys and of values.
    /// - C4: the bias broadcasts to the scores, [..., n, m].
    ATTENTION = Operator::new("attention", FusionKind::Contraction, relation, cost, reference::attention)
        .of(form(&[operand("queries"), operand("keys"), operand("values"), optional("bias")])
            .attributes(&[float("scale")]));
}
