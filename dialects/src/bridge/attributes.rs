//! Attributes: made from Rust values, and read as such.
//!
//! melior's conversion of an attribute to one sort prints what it refuses, which may be a weight; `cast` asks first.

use melior::Context;
use melior::ir::attribute::{
    ArrayAttribute, DenseI64ArrayAttribute, DictionaryAttribute, FlatSymbolRefAttribute, FloatAttribute,
    IntegerAttribute, StringAttribute, TypeAttribute,
};
use melior::ir::{Attribute, AttributeLike, Type};
use mlir_sys::*;

pub(super) fn ints_of(attr: Attribute) -> Option<Vec<i64>> {
    let list = cast::<DenseI64ArrayAttribute>(attr)?;
    (0..list.len()).map(|i| list.element(i).ok()).collect()
}

/// An `i64` attribute.
pub fn int_attr(context: &Context, value: i64) -> Attribute<'_> {
    IntegerAttribute::new(melior::ir::r#type::IntegerType::new(context, 64).into(), value).into()
}

/// An `index` attribute.
pub fn index_attr(context: &Context, value: i64) -> Attribute<'_> {
    IntegerAttribute::new(Type::index(context), value).into()
}

/// An integer attribute of an integer type.
pub fn typed_int_attr(ty: Type, value: i64) -> Attribute {
    IntegerAttribute::new(ty, value).into()
}

/// A string attribute.
pub fn str_attr<'c>(context: &'c Context, value: &str) -> Attribute<'c> {
    StringAttribute::new(context, value).into()
}

/// Bytes, in an attribute that MLIR takes for a text.
pub fn bytes_attr<'c>(context: &'c Context, bytes: &[u8]) -> Attribute<'c> {
    let text = mlir_sys::MlirStringRef { data: bytes.as_ptr().cast(), length: bytes.len() };
    // SAFETY: the context is alive; the bytes are copied.
    unsafe { Attribute::from_raw(mlir_sys::mlirStringAttrGet(context.to_raw(), text)) }
}

/// The bytes of such an attribute, or of a text.
pub fn bytes_of<'c>(attr: Attribute<'c>) -> Option<&'c [u8]> {
    // SAFETY: a read of a live attribute after its check; its text lives as long as the context.
    unsafe {
        if !mlir_sys::mlirAttributeIsAString(attr.to_raw()) {
            return None;
        }
        let text = mlir_sys::mlirStringAttrGetValue(attr.to_raw());
        Some(std::slice::from_raw_parts(text.data.cast(), text.length))
    }
}

/// A symbol reference.
pub fn symbol_attr<'c>(context: &'c Context, value: &str) -> Attribute<'c> {
    FlatSymbolRefAttribute::new(context, value).into()
}

/// A list of `i64`.
pub fn ints_attr<'c>(context: &'c Context, values: &[i64]) -> Attribute<'c> {
    DenseI64ArrayAttribute::new(context, values).into()
}

/// A list of attributes.
pub fn array_attr<'c>(context: &'c Context, values: &[Attribute<'c>]) -> Attribute<'c> {
    ArrayAttribute::new(context, values).into()
}

/// True for lists of attributes.
pub fn is_array(attr: Attribute) -> bool {
    ArrayAttribute::is(attr)
}

/// The elements of a list of attributes; empty for other attributes.
pub fn array_elements(attr: Attribute) -> Vec<Attribute> {
    let Some(list) = cast::<ArrayAttribute>(attr) else { return Vec::new() };
    (0..list.len()).filter_map(|i| list.element(i).ok()).collect()
}

/// A dictionary.
pub fn dict_attr<'c>(context: &'c Context, entries: &[(&str, Attribute<'c>)]) -> Attribute<'c> {
    let entries: Vec<_> =
        entries.iter().map(|(n, a)| (melior::ir::Identifier::new(context, n), *a)).collect();
    melior::ir::attribute::DictionaryAttribute::new(context, &entries).into()
}

/// A type attribute.
pub fn type_attr(ty: Type) -> Attribute {
    TypeAttribute::new(ty).into()
}

/// The unit attribute.
pub fn unit_attr(context: &Context) -> Attribute<'_> {
    Attribute::unit(context)
}

/// Attributes that can be told apart before they are converted.
pub(crate) trait Checked<'c>: TryFrom<Attribute<'c>> {
    /// True for attributes of this sort.
    fn is(attr: Attribute<'c>) -> bool;
}

/// The attribute as one of that sort. melior's own conversion prints an attribute it refuses, which may be a weight.
pub(crate) fn cast<'c, T: Checked<'c>>(attr: Attribute<'c>) -> Option<T> {
    T::is(attr).then(|| T::try_from(attr).ok())?
}

macro_rules! checked {
    ($($ty:ident => $check:ident),*) => { $(impl<'c> Checked<'c> for $ty<'c> {
        fn is(attr: Attribute<'c>) -> bool {
            // SAFETY: a read of a live attribute.
            unsafe { $check(attr.to_raw()) }
        }
    })* };
}
checked!(
    IntegerAttribute => mlirAttributeIsAInteger, FloatAttribute => mlirAttributeIsAFloat,
    StringAttribute => mlirAttributeIsAString, FlatSymbolRefAttribute => mlirAttributeIsAFlatSymbolRef,
    TypeAttribute => mlirAttributeIsAType, ArrayAttribute => mlirAttributeIsAArray,
    DenseI64ArrayAttribute => mlirAttributeIsADenseI64Array, DictionaryAttribute => mlirAttributeIsADictionary
);

/// The type a type attribute holds.
pub fn type_of_attr(attr: Attribute) -> Option<Type> {
    cast::<TypeAttribute>(attr).map(|t| t.value())
}

/// A text of MLIR, which may be empty or end with NUL; `None` when it is not in UTF-8.
///
/// # Safety
/// The bytes must be there as long as the result.
pub(crate) unsafe fn text<'a>(raw: MlirStringRef) -> Option<&'a str> {
    if raw.length == 0 {
        return Some("");
    }
    // SAFETY: the caller says so.
    std::str::from_utf8(unsafe { std::slice::from_raw_parts(raw.data.cast::<u8>(), raw.length) }).ok()
}

/// The text of a string attribute. An empty one may have no address, which melior does not expect.
pub fn text_of<'c>(attr: Attribute<'c>) -> Option<&'c str> {
    cast::<StringAttribute>(attr)?;
    // SAFETY: a read of a live attribute after its check; the text lives as long as the context, as the attribute does.
    unsafe { text(mlirStringAttrGetValue(attr.to_raw())) }
}

/// The string of that name in a dictionary attribute.
pub fn dictionary_text(attr: Attribute, name: &str) -> Option<String> {
    let found = cast::<DictionaryAttribute>(attr)?.element_by_name(name)?;
    text_of(found).map(str::to_owned)
}

/// The entry of that name in a dictionary attribute.
pub fn dictionary_element<'c>(attr: Attribute<'c>, name: &str) -> Option<Attribute<'c>> {
    cast::<DictionaryAttribute>(attr)?.element_by_name(name)
}

/// The entries of a dictionary attribute, by name.
pub fn dictionary_entries(attr: Attribute) -> Option<Vec<(String, Attribute)>> {
    let raw = cast::<DictionaryAttribute>(attr)?.to_raw();
    // SAFETY: a live attribute after its check, read within its length; names live as long as the context.
    unsafe {
        let entry = |at| {
            let named = mlirDictionaryAttrGetElement(raw, at);
            let name = mlirIdentifierStr(named.name);
            let bytes = std::slice::from_raw_parts(name.data.cast::<u8>(), name.length);
            (String::from_utf8_lossy(bytes).into_owned(), Attribute::from_raw(named.attribute))
        };
        Some((0..mlirDictionaryAttrGetNumElements(raw)).map(entry).collect())
    }
}

/// Sizes of groups of operands, as operations with several variadic operands carry them.
pub fn segments_attr<'c>(context: &'c Context, sizes: &[i32]) -> Attribute<'c> {
    melior::ir::attribute::DenseI32ArrayAttribute::new(context, sizes).into()
}
