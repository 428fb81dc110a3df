//! Sequences of different lengths in one tensor: what lies behind the end of each is replaced.
//!
//! `y[i, b, ...] = i < length[b] ? x[i, b, ...] : mask_value` with `axis` 0, and `y[b, i, ...]` alike with 1 (TVM `sequence_mask`,
//! MXNet `SequenceMask`).

use crate::form::{float, form, int, operand};
use crate::operator::Related;
use crate::operator::cost::one_each;
use crate::reference::elementwise::cast;
use crate::reference::{Evaluated, for_each_index, static_shape};
use crate::{Call, DType, Dim, FusionKind, Operator, Tensor, TensorType, Violation, operators, require};

operators! {
    /// y[i, b, ...] = x[i, b, ...] where i < length[b], else `mask_value`
    ///
    /// `axis` says along which axis a sequence runs: 0, which is meant when it is absent, or 1; the batch lies along the other. `mask_value` is 0 when
    /// absent, and becomes an element as `relay.cast` makes one.
    /// - C1: axis is 0 or 1, and the data has rank 2 or more.
    /// - C2: lengths are integers, one for each sequence of the batch.
    SEQUENCE_MASK = Operator::new("sequence_mask", FusionKind::Injective, relation, one_each, reference)
        .of(form(&[operand("data"), operand("lengths")]).attributes(&[float("mask_value"), int("axis")]));
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
    let mask = Tensor::from_f64s(DType::F64, &[], &[call.attrs.float_or("mask_value", 0.0)])?;
    let mask = cast(&TensorType::fixed(&[], results[0].dtype), &mask)?;
    // Elements as they are: an integer may have more digits than a double.
    let mut elements = x[0].bytes().chunks_exact(results[0].dtype.size());
    let mut data = Vec::with_capacity(x[0].bytes().len());
    for_each_index(&shape, |index| {
        let is_inside = (index[sequence] as i128) < x[1].int_at(index[batch]);
        let element = elements.next().unwrap_or_default();
        data.extend(if is_inside { element } else { mask[0].bytes() });
    });
    Ok(vec![Tensor::from_bytes(results[0].dtype, &shape, data)?])
}
