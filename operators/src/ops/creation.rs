//! Tensors from nothing but attributes and types. After `numpy.arange` and the ONNX operator Shape.

use crate::form::{dim, dtype, float, form};
use crate::operator::{Related, cost::free};
use crate::reference::creation;
use crate::{Call, DType, Dim, FusionKind, Operator, TensorType, Violation, operators, require};

/// C1: dtype is an element type. C2: size is not negative.
fn arange_relation(call: &Call) -> Related {
    let Some(dtype) = call.attrs.dtype("dtype") else {
        return Err(Violation::new(1, "attribute dtype must be an element type"));
    };
    match call.attrs.dim("size") {
        Some(Dim::Any) => {
            let size = call.attrs.int_or("size", -1);
            Err(Violation::new(2, format!("size {size} must not be negative")))
        }
        Some(size) => Ok(vec![TensorType::new(vec![size], dtype)]),
        None => Err(Violation::new(2, "attribute size must be an extent")),
    }
}

fn shape_of_relation(call: &Call) -> Related {
    Ok(vec![TensorType::fixed(&[call.operands[0].rank() as u64], DType::I64)])
}

/// C1: the operand is one number of i64. What it is, only running shows.
fn dynamic_iota_relation(call: &Call) -> Related {
    let size = &call.operands[0];
    require!(size.rank() == 0 && size.dtype == DType::I64, C 1, "the operand must be a scalar of i64, found {size}");
    Ok(vec![TensorType::new(vec![Dim::Any], DType::I64)])
}

operators! {
    /// start + i * step for each i below `size`, as `dtype`
    ///
    /// C1: dtype is an element type. C2: size is not negative. `start` is 0 and `step` 1 when absent.
    ARANGE = Operator::new("arange", FusionKind::Injective, arange_relation, free, creation::arange)
        .of(form(&[])
            .attributes(&[dim("size").required(), float("start"), float("step"), dtype("dtype").required()]));
    /// 0, 1, 2, ... below the number that the operand holds
    ///
    /// C1: the operand is one number of i64. It must not be negative: that is compared when it is known. With it, extents follow from values:
    /// of a tensor as long as it, `gather` takes as many elements, and elementwise operators broadcast to it.
    DYNAMIC_IOTA = Operator::new("dynamic_iota", FusionKind::Opaque, dynamic_iota_relation, free, creation::dynamic_iota);
    /// The extents as a tensor of i64
    SHAPE_OF = Operator::new("shape_of", FusionKind::Injective, shape_of_relation, free, creation::shape_of).of_strings();
}
