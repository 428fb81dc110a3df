//! Types between MLIR and the facts.

use super::ir::{Context, Type, TypeLike};
use fusion_operators::DType;
use melior::ir::r#type::IntegerType;
use mlir_sys::*;

/// The element type an MLIR type stands for, when it is one of ours.
pub fn dtype_of(ty: Type) -> Option<DType> {
    // SAFETY: reads of a live type, each after its check.
    unsafe {
        let raw = ty.to_raw();
        if mlirTypeIsAF32(raw) {
            return Some(DType::F32);
        }
        if mlirTypeIsAF64(raw) {
            return Some(DType::F64);
        }
        if mlirTypeIsAF16(raw) {
            return Some(DType::F16);
        }
        if mlirTypeIsABF16(raw) {
            return Some(DType::BF16);
        }
        if !mlirTypeIsAInteger(raw) {
            // The number is that of `RelaySort` in the shim.
            return (super::ffi::fusionRelaySort(raw) == 5).then_some(DType::String);
        }
        let unsigned = mlirIntegerTypeIsUnsigned(raw);
        match (mlirIntegerTypeGetWidth(raw), unsigned, mlirIntegerTypeIsSignless(raw)) {
            (1, _, true) => Some(DType::Bool),
            (8, _, true) => Some(DType::I8),
            (16, _, true) => Some(DType::I16),
            (32, _, true) => Some(DType::I32),
            (64, _, true) => Some(DType::I64),
            (8, true, _) => Some(DType::U8),
            (16, true, _) => Some(DType::U16),
            (32, true, _) => Some(DType::U32),
            (64, true, _) => Some(DType::U64),
            _ => None,
        }
    }
}

/// The MLIR type of tensors' elements: unsigned integers are `ui8` and so on, others have no sign. Strings are `!relay.string`.
pub fn dtype_to_mlir(context: &Context, dtype: DType) -> Type<'_> {
    match dtype {
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => {
            IntegerType::unsigned(context, 8 * dtype.size() as u32).into()
        }
        // SAFETY: the relay dialect is loaded in every context of ours.
        DType::String => unsafe { Type::from_raw(super::ffi::fusionRelayString(context.to_raw())) },
        _ => scalar_type(context, dtype),
    }
}

/// The MLIR type of a scalar in a kernel: integers have no sign, their operations do; a string is its number.
pub fn scalar_type(context: &Context, dtype: DType) -> Type<'_> {
    match dtype {
        DType::F64 => Type::float64(context),
        DType::F32 => Type::float32(context),
        DType::F16 => Type::float16(context),
        DType::BF16 => Type::bfloat16(context),
        DType::Bool => IntegerType::new(context, 1).into(),
        _ => IntegerType::new(context, 8 * dtype.size() as u32).into(),
    }
}

/// The flat buffer type of that many elements. Booleans are bytes in memory.
pub fn buffer_type(context: &Context, elements: u64, dtype: DType) -> Type<'_> {
    let element = storage_type(context, dtype);
    melior::ir::r#type::MemRefType::new(element, &[elements as i64], None, None).into()
}

/// How an element lies in memory: a boolean is a byte.
pub fn storage_type(context: &Context, dtype: DType) -> Type<'_> {
    if dtype == DType::Bool { IntegerType::new(context, 8).into() } else { scalar_type(context, dtype) }
}

/// The handle type of a schedule's stages.
pub fn stage_type(context: &Context) -> Type<'_> {
    // SAFETY: the te dialect is loaded wherever schedules are built.
    unsafe { Type::from_raw(super::ffi::fusionTeStageType(context.to_raw())) }
}

/// The handle type of a schedule's axes.
pub fn axis_type(context: &Context) -> Type<'_> {
    // SAFETY: as above.
    unsafe { Type::from_raw(super::ffi::fusionTeAxisType(context.to_raw())) }
}

/// The inputs and results of a function type.
pub fn function_parts(ty: Type) -> Option<(Vec<Type>, Vec<Type>)> {
    // SAFETY: a read of a live type.
    let is_function = unsafe { mlirTypeIsAFunction(ty.to_raw()) };
    let function = is_function.then(|| melior::ir::r#type::FunctionType::try_from(ty).ok())??;
    let inputs = (0..function.input_count()).filter_map(|i| function.input(i).ok()).collect();
    let results = (0..function.result_count()).filter_map(|i| function.result(i).ok()).collect();
    Some((inputs, results))
}

/// A function type.
pub fn function_type<'c>(context: &'c Context, inputs: &[Type<'c>], results: &[Type<'c>]) -> Type<'c> {
    melior::ir::r#type::FunctionType::new(context, inputs, results).into()
}

/// True for `index`.
pub fn is_index_type(ty: Type) -> bool {
    ty.is_index()
}

/// Element type and length of a one-dimensional vector type.
pub fn vector_parts(ty: Type) -> Option<(Type, u64)> {
    // SAFETY: reads after the check.
    unsafe {
        let raw = ty.to_raw();
        (mlirTypeIsAVector(raw) && mlirShapedTypeGetRank(raw) == 1).then(|| {
            (Type::from_raw(mlirShapedTypeGetElementType(raw)), mlirShapedTypeGetDimSize(raw, 0) as u64)
        })
    }
}

/// A one-dimensional vector type.
pub fn vector_type(element: Type, lanes: u64) -> Type {
    // SAFETY: one extent is passed for rank 1.
    unsafe { Type::from_raw(mlirVectorTypeGet(1, [lanes as i64].as_ptr(), element.to_raw())) }
}

/// Element type and length of a flat buffer.
pub fn buffer_parts(ty: Type) -> Option<(Type, u64)> {
    // SAFETY: reads after the check.
    unsafe {
        let raw = ty.to_raw();
        (mlirTypeIsAMemRef(raw) && mlirShapedTypeGetRank(raw) == 1 && !mlirShapedTypeIsDynamicDim(raw, 0))
            .then(|| {
                (Type::from_raw(mlirShapedTypeGetElementType(raw)), mlirShapedTypeGetDimSize(raw, 0) as u64)
            })
    }
}

/// The index type.
pub fn index_type(context: &Context) -> Type<'_> {
    Type::index(context)
}
