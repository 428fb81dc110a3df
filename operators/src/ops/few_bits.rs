//! Products with weights of few bits, which lie packed in words and have a scale and a zero point a block.
//!
//!     y[.., n] = sum_k x[.., k] (q[n, k] - zero[n, k / block]) scale[n, k / block]
//!
//! The weight of a row of a language model is read once for each token, so that its bytes are the time. Words of 32 bits hold 4, 8 or
//! 16 numbers, the first in the lowest bits (`MatMulNBits` of ONNX Runtime has the same order), none below 0.

use crate::form::{form, int, operand};
use crate::operator::{
    Related,
    cost::{elements, one_each_input},
};
use crate::parameters::few_bits::block;
pub use crate::parameters::few_bits::{BITS, FEW_ROWS, Packing, WORD, is_of_blocks};
use crate::reference::few_bits as reference;
use crate::relation::broadcast_all;
use crate::{Call, DType, Dim, FusionKind, Operator, TensorType, operators, require};

/// C1: the numbers are of 8 bits. C2: they have rank 1 or more. C3: bits are 2, 4 or 8. C4: rows fill words.
fn pack_relation(call: &Call) -> Related {
    let numbers = &call.operands[0];
    require!(
        matches!(numbers.dtype, DType::I8 | DType::U8),
        C 1,
        "the numbers must be i8 or ui8, found {numbers}"
    );
    let Some((last, lead)) = numbers.dims.split_last() else {
        return Err(crate::Violation::new(
            2,
            format!("the numbers must have rank 1 or more, found {numbers}"),
        ));
    };
    let packing = Packing::of(call.attrs, 3)?;
    let words = match last.known() {
        None => Dim::Any,
        Some(n) => match packing.words(n) {
            Some(words) => Dim::Static(words),
            None => {
                return Err(crate::Violation::new(
                    4,
                    format!(
                        "rows must fill words, of {} numbers of {} bits, found {numbers}; pad them with zeros",
                        packing.of_word(),
                        packing.bits
                    ),
                ));
            }
        },
    };
    Ok(vec![TensorType::new([lead, &[words]].concat(), DType::U32)])
}

/// C1: data, scale and zero are f32, the weight ui32. C2: data has rank 1 or more, the others rank 2. C3: bits are 2, 4 or 8. C4: the weight has
/// the numbers summed over. C5: it has a row of scales for each of its own, a scale for each block of whole words. C6: zero broadcasts to scale.
fn relation(call: &Call) -> Related {
    let [data, words, scale, zero] = call.operands else { return Ok(Vec::new()) };
    let floats = [data, scale, zero].iter().all(|ty| ty.dtype == DType::F32);
    require!(
        floats && words.dtype == DType::U32,
        C 1,
        "data, scale and zero must be f32 and the weight ui32, found {data}, {scale}, {zero} and {words}"
    );
    let ([lead @ .., depth], [rows, each], [scale_rows, blocks]) =
        (&data.dims[..], &words.dims[..], &scale.dims[..])
    else {
        return Err(crate::Violation::new(
            2,
            format!(
                "data must have rank 1 or more, weight and scale rank 2, found {data}, {words} and {scale}"
            ),
        ));
    };
    let packing = Packing::of(call.attrs, 3)?;
    let numbers = each.known().and_then(|n| n.checked_mul(packing.of_word()));
    let summed = numbers.map_or(Dim::Any, Dim::Static);
    require!(
        summed.compatible(depth),
        C 4,
        "the weight must have a number for each of the {depth} summed over, found {words} of {} numbers a word",
        packing.of_word()
    );
    require!(
        rows.compatible(scale_rows),
        C 5,
        "scales must have a row for each of the weight's, found {scale} and {words}"
    );
    if let (Some(numbers), Some(blocks)) = (numbers, blocks.known()) {
        block(packing, numbers, blocks, 5)?;
    }
    let all = broadcast_all(&call.operands[2..], 6)?;
    require!(
        zero.rank() == 2 && all == scale.dims,
        C 6,
        "zero must have rank 2 and broadcast to the scales, found {zero} and {scale}"
    );
    Ok(vec![TensorType::new([lead, std::slice::from_ref(rows)].concat(), data.dtype)])
}

/// What the product takes by its definition, so that rates compare.
fn cost(call: &Call, results: &[TensorType]) -> f64 {
    2.0 * elements(&results[..1]) * call.operands[0].dims.last().and_then(Dim::known).unwrap_or(1) as f64
}

operators! {
    /// Numbers of 8 bits as numbers of few bits, packed in words
    ///
    /// Along the last axis, the first in the lowest bits. Of i8, half of the range is added, so that none is below 0. Bits that do not fit are left out.
    /// - C1: the numbers are of 8 bits.
    /// - C2: they have rank 1 or more.
    /// - C3: bits are 2, 4 or 8.
    /// - C4: rows fill words.
    PACK_BITS = Operator::new("pack_bits", FusionKind::Opaque, pack_relation, one_each_input, reference::pack)
        .of(form(&[operand("numbers")]).attributes(&[int("bits")]));
    /// y[..., n] = sum_k data[..., k] * (q[n, k] - zero[n, k / block]) * scale[n, k / block]
    ///
    /// q are the numbers that the weight's words hold, as `relay.pack_bits` packs them; a block is what a scale is for.
    /// - C1: data, scale and zero are f32, the weight ui32.
    /// - C2: data has rank 1 or more, the weight and scale have rank 2.
    /// - C3: bits are 2, 4 or 8.
    /// - C4: the weight has the numbers summed over.
    /// - C5: scales have a row for each of the weight's, and a scale for each block of whole words.
    /// - C6: zero has rank 2 and broadcasts to scale.
    DENSE_FEW_BITS = Operator::new("dense_few_bits", FusionKind::Contraction, relation, cost, reference::dense)
        .of(form(&[operand("data"), operand("weight"), operand("scale"), operand("zero")]).attributes(&[int("bits")]));
}
