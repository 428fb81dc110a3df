//! Sequences of different lengths in one tensor: what lies behind the end of each is replaced.
//!
//! `y[i, b, ...] = i < length[b] ? x[i, b, ...] : mask_value` with `axis` 0, and `y[b, i, ...]` alike with 1 (TVM `sequence_mask`,
//! MXNet `SequenceMask`).

use crate::form::{float, form, int, operand};
use crate::operator::Related;
use crate::operator::cost::one_each;
use crate::reference::{Evaluated, for_each_index, static_shape};
use crate::{Call, Dim, FusionKind, Operator, Tensor, TensorType, Violation, operators, require};

operators! {
    /// y[i, b, ...] = x[i, b, ...] where i < length[b], else `mask_value`
    ///
    /// `axis` says along which axis a sequence runs: 0, which is meant when it is absent, or 1; the batch lies along the other. `mask_value` is 0 when
    /// absent.
    /// - C1: axis is 0 or 1, and the data has rank 2 or more.
    /// - C2: lengths are integers, one for each sequence of the batch.
    SEQUENCE_MASK = Operator {
        name: "sequence_mask",
        docs: &[],
        form: form(&[operand("data"), operand("lengths")]).attributes(&[float("mask_value"), int("axis")]),
        relation,
        fusion: FusionKind::Injective,
        cost: one_each,
        reference,
    };
}

/// The axis of the sequences, and that of the batch. C1.
pub fn axes(call: &Call) -> Result<[usize; 2], Violation> {
    let (data, axis) = (&call.operands[0], call.attrs.int_or("axis", 0));
    require!(data.rank() >= 2, C 1, "the data must have rank 2 or more, found {data}");
    match axis {
        0 => Ok([0, 1]),
        1 => Ok([1, 0]),
        _ => Err(Violation::new(1, format!("axis must be 0 or 1, found {axis}"))),
    }
}

fn relation(call: &Call) -> Related {
    let [_, batch] = axes(call)?;
    let (data, lengths) = (&call.operands[0], &call.operands[1]);
    let differs = |a: &Dim, b: &Dim| a.known().zip(b.known()).is_some_and(|(a, b)| a != b);
    let fits = lengths.dtype.is_int() && lengths.rank() == 1 && !differs(&lengths.dims[0], &data.dims[batch]);
    require!(fits, C 2, "lengths must be integers [{}], found {lengths}", data.dims[batch]);
    Ok(vec![data.clone()])
}

fn reference(call: &Call, results: &[TensorType], x: &[Tensor]) -> Evaluated {
    let [sequence, batch] = axes(call)?;
    let shape = static_shape(&results[0])?;
    let (mask, mut values, mut at) = (call.attrs.float_or("mask_value", 0.0), x[0].to_f64s(), 0);
    for_each_index(&shape, |index| {
        if index[sequence] as i128 >= x[1].int_at(index[batch]) {
            values[at] = mask;
        }
        at += 1;
    });
    Ok(vec![Tensor::from_f64s(results[0].dtype, &shape, &values)?])
}
