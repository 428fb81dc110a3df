//! Types and constants of the LLVM dialect.

use super::ir::{Attribute, Context, Type};
use melior::dialect::llvm::r#type as llvm;
use melior::ir::attribute::{DenseElementsAttribute, IntegerAttribute};
use melior::ir::r#type::{IntegerType, RankedTensorType};

/// A pointer.
pub fn llvm_pointer(context: &Context) -> Type<'_> {
    llvm::pointer(context, 0)
}

/// A function; of no result without one.
pub fn llvm_function<'c>(
    context: &'c Context,
    result: Option<Type<'c>>,
    parameters: &[Type<'c>],
) -> Type<'c> {
    llvm::function(result.unwrap_or_else(|| llvm::void(context)), parameters, false)
}

/// A structure.
pub fn llvm_struct<'c>(context: &'c Context, fields: &[Type<'c>]) -> Type<'c> {
    llvm::r#struct(context, fields, false)
}

/// That many elements in a row.
pub fn llvm_array(element: Type, count: u32) -> Type {
    llvm::array(element, count)
}

/// Numbers of an integer type, as constants and cases hold them; of `bits` each. There is at least one.
pub fn int_elements<'c>(context: &'c Context, bits: u32, values: &[i64]) -> Attribute<'c> {
    let ty: Type = IntegerType::new(context, bits).into();
    let elements: Vec<Attribute> = values.iter().map(|&v| IntegerAttribute::new(ty, v).into()).collect();
    let shaped = RankedTensorType::new(&[values.len() as u64], ty, None);
    DenseElementsAttribute::new(shaped.into(), &elements)
        .unwrap_or_else(|error| panic!("a list of integers is no constant: {error}"))
        .into()
}
