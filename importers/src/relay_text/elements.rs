//! What TVM calls element types.

use fusion_operators::DType;

/// The element type of that name in TVM; without a width it has 32 bits.
pub fn element_type(name: &str) -> Option<DType> {
    Some(match name {
        "int" => DType::I32,
        "uint" => DType::U32,
        "float" => DType::F32,
        "bool" | "uint1" => DType::Bool,
        "bfloat16" => DType::BF16,
        "float16" => DType::F16,
        "float32" => DType::F32,
        "float64" => DType::F64,
        "int8" => DType::I8,
        "int16" => DType::I16,
        "int32" => DType::I32,
        "int64" => DType::I64,
        "uint8" => DType::U8,
        "uint16" => DType::U16,
        "uint32" => DType::U32,
        "uint64" => DType::U64,
        "string" => DType::String,
        _ => return None,
    })
}

/// Whether a name is that of a vector of numbers in TVM, such as `float16x4`.
pub fn is_vector(name: &str) -> bool {
    let Some((element, lanes)) = name.split_once('x') else { return false };
    element_type(element).is_some() && !lanes.is_empty() && lanes.bytes().all(|b| b.is_ascii_digit())
}

/// What TVM calls an element type.
pub fn element_name(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::BF16 => "bfloat16",
        DType::F16 => "float16",
        DType::F32 => "float32",
        DType::F64 => "float64",
        DType::I8 => "int8",
        DType::I16 => "int16",
        DType::I32 => "int32",
        DType::I64 => "int64",
        DType::U8 => "uint8",
        DType::U16 => "uint16",
        DType::U32 => "uint32",
        DType::U64 => "uint64",
        DType::String => "string",
    }
}
