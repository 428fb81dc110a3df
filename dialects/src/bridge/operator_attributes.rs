//! Attributes of operator calls: in MLIR, and in the form that operators' facts read.

use super::attributes::{array_attr, cast, int_attr, ints_attr, ints_of, str_attr, text_of};
use super::ffi;
use super::relay_types::texts_of;
use fusion_operators::{Attr, Dim};
use melior::Context;
use melior::ir::attribute::{DictionaryAttribute, FloatAttribute, IntegerAttribute, TypeAttribute};
use melior::ir::{Attribute, AttributeLike};
use mlir_sys::*;

/// An attribute in the form operators' facts read.
pub fn attr_of(attr: Attribute) -> Option<Attr> {
    if attr.is_bool() {
        // SAFETY: asked after the check.
        return Some(Attr::Bool(unsafe { mlirBoolAttrGetValue(attr.to_raw()) }));
    }
    if let Some(a) = cast::<IntegerAttribute>(attr) {
        return Some(Attr::Int(a.value()));
    }
    if let Some(a) = cast::<FloatAttribute>(attr) {
        return Some(Attr::Float(a.value()));
    }
    if let Some(text) = text_of(attr) {
        return Some(Attr::Str(text.to_owned()));
    }
    if let Some(a) = cast::<TypeAttribute>(attr) {
        return super::types::dtype_of(a.value()).map(Attr::Type);
    }
    // SAFETY: each read comes after its check and stays in range.
    unsafe {
        let raw = attr.to_raw();
        if mlirAttributeIsADenseI64Array(raw) {
            return ints_of(attr).map(Attr::Ints);
        }
        if mlirAttributeIsADenseF64Array(raw) {
            let count = mlirDenseArrayGetNumElements(raw);
            return Some(Attr::Floats((0..count).map(|i| mlirDenseF64ArrayGetElement(raw, i)).collect()));
        }
    }
    extents_of(attr)
}

/// An operator's attribute in MLIR's form.
pub fn attr_to_mlir<'c>(context: &'c Context, value: &Attr) -> Attribute<'c> {
    match value {
        Attr::Int(v) => int_attr(context, *v),
        // SAFETY: the context is alive.
        Attr::Float(v) => unsafe {
            Attribute::from_raw(mlirFloatAttrDoubleGet(
                context.to_raw(),
                mlirF64TypeGet(context.to_raw()),
                *v,
            ))
        },
        // SAFETY: the context is alive.
        Attr::Bool(v) => unsafe { Attribute::from_raw(mlirBoolAttrGet(context.to_raw(), (*v).into())) },
        Attr::Str(v) => str_attr(context, v),
        Attr::Ints(v) => ints_attr(context, v),
        // SAFETY: the pointer and length are the slice's.
        Attr::Floats(v) => unsafe {
            Attribute::from_raw(mlirDenseF64ArrayGet(context.to_raw(), v.len() as isize, v.as_ptr()))
        },
        Attr::Dim(v) => dim_attr(context, v),
        Attr::Dims(v) => dims_attr(context, v),
        Attr::Type(v) => TypeAttribute::new(super::types::dtype_to_mlir(context, *v)).into(),
    }
}

/// The entry of that name in a dictionary attribute, in the form operators' facts read.
pub fn dictionary_attr(attr: Attribute, name: &str) -> Option<Attr> {
    attr_of(cast::<DictionaryAttribute>(attr)?.element_by_name(name)?)
}

/// The attribute of extents: `#relay.dims<["n", "4"]>`.
fn dims_attr<'c>(context: &'c Context, dims: &[Dim]) -> Attribute<'c> {
    let texts: Vec<Attribute> = dims.iter().map(|dim| str_attr(context, &dim.to_string())).collect();
    // SAFETY: the array is one of texts, as the attribute wants it.
    unsafe { Attribute::from_raw(ffi::fusionRelayDims(array_attr(context, &texts).to_raw())) }
}

/// The attribute of an extent: `#relay.dim<"n+1">`.
fn dim_attr<'c>(context: &'c Context, dim: &Dim) -> Attribute<'c> {
    // SAFETY: the text is one, as the attribute wants it.
    unsafe { Attribute::from_raw(ffi::fusionRelayDim(str_attr(context, &dim.to_string()).to_raw())) }
}

/// What an attribute of extents says.
fn extents_of(attr: Attribute) -> Option<Attr> {
    // SAFETY: a read of a live attribute; null is handled.
    let parts = unsafe {
        let raw = ffi::fusionRelayExtents(attr.to_raw());
        if raw.ptr.is_null() {
            return None;
        }
        Attribute::from_raw(raw)
    };
    if let Some(text) = text_of(parts) {
        return Some(Attr::Dim(Dim::of_text(text)));
    }
    Some(Attr::Dims(texts_of(parts).into_iter().map(Dim::of_text).collect()))
}
