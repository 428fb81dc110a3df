//! Quantised products and means: the zero points are taken away, then sums are exact in int32.

use super::pointwise::through;
use super::rounding::parameter;
use crate::relay_text::emit::Made;
use crate::relay_text::error::Outcome;
use crate::relay_text::operators::contraction::{CONV, SIZES, TRANSPOSED, batch_matmul, convolution, dense};
use crate::relay_text::operators::rearranging::relaid;
use crate::relay_text::operators::{Built, Call, pooling};
use fusion_dialects::Value;
use fusion_operators::DType;
use fusion_operators::ops::{convolution as conv, pooling as pool};

#[rustfmt::skip]
pub const BUILT: &[Built] = &[
    Built { name: "qnn.dense", operands: (6, 6), attributes: &["units", "out_dtype"], ignored: &[], build: |call| {
        shifted(call, 0)?;
        dense(call)
    } },
    Built { name: "qnn.contrib_dense_pack", operands: (6, 6), attributes: &["units", "out_dtype", "weight_layout"], ignored: &[], build: |call| {
        let layout = call.text("weight_layout", "NC")?.to_owned();
        let weight = call.operand(1);
        call.arguments[1] = Made::Value(relaid(call, weight, &layout, "NC")?);
        shifted(call, 0)?;
        dense(call)
    } },
    Built { name: "qnn.batch_matmul", operands: (6, 6), attributes: &["out_dtype"], ignored: &[], build: |call| {
        shifted(call, 0)?;
        batch_matmul(call)
    } },
    Built { name: "qnn.conv2d", operands: (6, 6), attributes: CONV, ignored: SIZES, build: |call| {
        let axis = output(call, "OIHW")?;
        shifted(call, axis)?;
        convolution(call, &conv::CONV2D, 2, "NCHW", "OIHW")
    } },
    Built { name: "qnn.conv2d_transpose", operands: (6, 6), attributes: TRANSPOSED, ignored: SIZES, build: |call| {
        let axis = output(call, "IOHW")?;
        shifted(call, axis)?;
        convolution(call, &conv::CONV2D_TRANSPOSE, 2, "NCHW", "IOHW")
    } },
    Built { name: "qnn.avg_pool2d", operands: (5, 5), attributes: pooling::AVG, ignored: &[], build: |call| {
        through(call, |call, x| pooling::pooled(call, x, &pool::AVG_POOL2D, 2, "NCHW"))
    } },
];

/// The axis of the weights that has the channels of the result.
fn output(call: &Call, usual: &'static str) -> Outcome<i64> {
    let layout = match call.text("kernel_layout", usual)? {
        "" => usual,
        layout => layout,
    };
    match layout.chars().position(|c| c == 'O') {
        Some(axis) => Ok(axis as i64),
        None => call.fault(format!("the attribute kernel_layout {layout:?} names no axis O")),
    }
}

/// Replaces data, weights and their zero points by the differences in int32; what is known to be 0 is not taken away.
fn shifted<'c>(call: &mut Call<'_, 'c, '_>, axis: i64) -> Outcome<()> {
    let mut parts: Vec<Value<'c>> = Vec::new();
    for i in 0..2 {
        let (x, zero) = (call.operand(i), call.operand(i + 2));
        let none = fusion_dialects::relay::constant_value(zero)
            .is_some_and(|zero| (0..zero.len()).all(|i| zero.f64_at(i) == 0.0));
        if none {
            parts.push(x);
            continue;
        }
        let wide = call.cast(x, DType::I32)?;
        let rank = call.ty(x)?.map(|ty| ty.rank());
        let zero = parameter(call, zero, DType::I32, (axis, rank))?;
        parts.push(call.sub(wide, zero)?);
    }
    // Both of one type: a product takes no others.
    let mut types = Vec::new();
    for part in &parts {
        types.extend(call.ty(*part)?.map(|ty| ty.dtype));
    }
    if types.len() < 2 || types[0] != types[1] {
        for part in &mut parts {
            *part = call.cast(*part, DType::I32)?;
        }
    }
    if call.maybe_element("out_dtype")?.is_some_and(|dtype| dtype != DType::I32) {
        return call.fault("the attribute out_dtype must be \"int32\"");
    }
    call.out_dtype = Some(DType::I32);
    call.arguments = parts.into_iter().map(Made::Value).collect();
    Ok(())
}
