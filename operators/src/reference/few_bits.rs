//! Products with weights of few bits.

use super::elementwise::broadcast_indices;
use super::{EvalError, Evaluated, static_shape};
use crate::ops::few_bits::Packing;
use crate::{Call, DType, Tensor, TensorType};

fn packing(call: &Call) -> Result<Packing, EvalError> {
    Packing::of(call.attrs, 3).map_err(|violation| EvalError::Value(violation.to_string()))
}

/// Numbers in the bits of words.
pub fn pack(call: &Call, results: &[TensorType], operands: &[Tensor]) -> Evaluated {
    let packing = packing(call)?;
    let signed = call.operands[0].dtype == DType::I8;
    // Added to the bits of a byte, it wraps around as it should.
    let offset = packing.offset(signed) as u8;
    let word = |numbers: &[u8]| {
        let each = numbers.iter().zip((0..).step_by(packing.bits as usize));
        each.fold(0u32, |word, (q, place)| {
            word | (u32::from(q.wrapping_add(offset)) & packing.mask()) << place
        })
    };
    let words: Vec<u32> = operands[0].bytes().chunks_exact(packing.of_word() as usize).map(word).collect();
    Ok(vec![Tensor::from_slice(&static_shape(&results[0])?, &words)?])
}

/// The product with what the numbers stand for.
pub fn dense(call: &Call, results: &[TensorType], operands: &[Tensor]) -> Evaluated {
    let packing = packing(call)?;
    let shape = static_shape(&results[0])?;
    let [data, words, scale, zero] = operands else { return Ok(Vec::new()) };
    let (rows, width) = (words.shape()[0], words.shape()[1]);
    let (depth, blocks) = (width * packing.of_word() as usize, scale.shape()[1]);
    let words = words.to_vec::<u32>().unwrap_or_default();
    let (x, scale_of) = (data.to_f64s(), scale.to_f64s());
    let zero_at = broadcast_indices(scale.shape(), zero.shape());
    let block = depth / blocks.max(1);
    let mut weight = vec![0.0; rows * depth];
    for (n, row) in weight.chunks_exact_mut(depth.max(1)).enumerate() {
        let own = &words[n * width..][..width];
        for (k, w) in row.iter_mut().enumerate() {
            let at = n * blocks + k / block;
            *w = (f64::from(packing.number(own, k)) - zero.f64_at(zero_at[at])) * scale_of[at];
        }
    }
    let product = |row: &[f64], w: &[f64]| row.iter().zip(w).fold(0.0, |sum, (x, w)| sum + x * w);
    let y: Vec<f64> = x
        .chunks_exact(depth.max(1))
        .flat_map(|row| weight.chunks_exact(depth.max(1)).map(move |w| product(row, w)))
        .collect();
    Ok(vec![Tensor::from_f64s(results[0].dtype, &shape, &y)?])
}
