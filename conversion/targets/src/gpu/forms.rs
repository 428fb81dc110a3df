//! What matrix instructions are made with: attributes and types by how they are written, elements of vectors.

use fusion_dialects::{
    Attribute, Build, Op, OpExt, PassError, Type, Value, ValueLike, ints_attr, vector_parts,
};

pub(super) fn parsed<'c>(op: Op<'c>, text: &str) -> Result<Attribute<'c>, PassError<'c>> {
    Attribute::parse(op.context_ref(), text)
        .ok_or_else(|| PassError::at(op, format_args!("has no form on this GPU: {text} is no attribute")))
}

pub(super) fn parsed_type<'c>(op: Op<'c>, text: &str) -> Result<Type<'c>, PassError<'c>> {
    Type::parse(op.context_ref(), text)
        .ok_or_else(|| PassError::at(op, format_args!("has no form on this GPU: {text} is no type")))
}

/// One element of a vector.
pub(super) fn element<'c>(build: &Build<'c>, vector: Value<'c>, at: usize) -> Value<'c> {
    let ty = vector_parts(vector.r#type()).map_or(vector.r#type(), |(element, _)| element);
    let place = ints_attr(build.context(), &[at as i64]);
    build.value("vector.extract", &[vector], ty, &[("static_position", place)])
}
