//! The types of the functional side, taken apart and put together.

use super::attributes::{array_attr, array_elements, str_attr, text_of};
use super::ffi;
use super::ir::{Attribute, AttributeLike, Context, Type, TypeLike, Value, ValueLike, string};
use super::types::{dtype_of, dtype_to_mlir, function_parts, function_type};
use fusion_operators::{Dim, TensorType};
use melior::ir::r#type::TupleType;
use mlir_sys::*;

/// A type, taken apart by one level.
#[derive(Clone, Debug)]
pub enum TypeParts<'c> {
    /// A tensor.
    Tensor(TensorType),
    /// A tuple of these.
    Tuple(Vec<Type<'c>>),
    /// A function from these to these.
    Function(Vec<Type<'c>>, Vec<Type<'c>>),
    /// A data type, by its name, applied to these.
    Adt(&'c str, Vec<Type<'c>>),
    /// A cell that holds this.
    Ref(Type<'c>),
    /// A type variable, by its name.
    Var(&'c str),
    /// A type that is not known yet.
    Hole,
    /// A type that relay has no values of.
    Other,
}

/// Takes a type apart.
pub fn type_parts(ty: Type) -> TypeParts {
    if let Some(tensor) = tensor_type_of(ty) {
        return TypeParts::Tensor(tensor);
    }
    if let Some((inputs, results)) = function_parts(ty) {
        return TypeParts::Function(inputs, results);
    }
    let raw = ty.to_raw();
    // SAFETY: reads of a live type, each after its check; names and parts live as long as the context.
    unsafe {
        if mlirTypeIsATuple(raw) {
            let elements = (0..mlirTupleTypeGetNumTypes(raw)).map(|i| mlirTupleTypeGetType(raw, i));
            return TypeParts::Tuple(elements.map(|element| Type::from_raw(element)).collect());
        }
        let name = || melior::StringRef::from_raw(ffi::fusionRelayName(raw)).as_str().unwrap_or_default();
        let parts = || {
            let parts = (0..ffi::fusionRelayPartCount(raw)).map(|i| ffi::fusionRelayPart(raw, i));
            parts.map(|part| Type::from_raw(part)).collect::<Vec<_>>()
        };
        // The numbers are those of `RelaySort` in the shim.
        match ffi::fusionRelaySort(raw) {
            1 => TypeParts::Ref(Type::from_raw(ffi::fusionRelayPart(raw, 0))),
            2 => TypeParts::Adt(name(), parts()),
            3 => TypeParts::Var(name()),
            4 => TypeParts::Hole,
            _ => TypeParts::Other,
        }
    }
}

/// The types that a type is directly made of, without a tensor's elements.
pub fn parts_of_type(ty: Type) -> Vec<Type> {
    match type_parts(ty) {
        TypeParts::Tuple(parts) | TypeParts::Adt(_, parts) => parts,
        TypeParts::Function(mut inputs, results) => {
            inputs.extend(results);
            inputs
        }
        TypeParts::Ref(value) => vec![value],
        TypeParts::Tensor(_) | TypeParts::Var(_) | TypeParts::Hole | TypeParts::Other => Vec::new(),
    }
}

fn raw_types(types: &[Type]) -> Vec<MlirType> {
    types.iter().map(|ty| ty.to_raw()).collect()
}

/// A tuple type.
pub fn tuple_type<'c>(context: &'c Context, elements: &[Type<'c>]) -> Type<'c> {
    TupleType::new(context, elements).into()
}

/// The type of cells that hold values of a type.
pub fn ref_type(value: Type) -> Type {
    // SAFETY: the type is alive; the relay dialect is loaded in every context of ours.
    unsafe { Type::from_raw(ffi::fusionRelayRef(value.to_raw())) }
}

/// A data type applied to types.
pub fn adt_type<'c>(context: &'c Context, name: &str, arguments: &[Type<'c>]) -> Type<'c> {
    let parts = raw_types(arguments);
    // SAFETY: pointer and length are those of a live vector; the name is copied.
    unsafe {
        let count = parts.len() as isize;
        Type::from_raw(ffi::fusionRelayAdt(context.to_raw(), string(name), parts.as_ptr(), count))
    }
}

/// A type variable.
pub fn var_type<'c>(context: &'c Context, name: &str) -> Type<'c> {
    // SAFETY: the name is copied.
    unsafe { Type::from_raw(ffi::fusionRelayVar(context.to_raw(), string(name))) }
}

/// A type that is not known yet.
pub fn hole_type(context: &Context) -> Type<'_> {
    // SAFETY: the context is alive.
    unsafe { Type::from_raw(ffi::fusionRelayHole(context.to_raw())) }
}

/// Puts a type together again; `None` for [`TypeParts::Other`].
pub fn type_of_parts<'c>(context: &'c Context, parts: &TypeParts<'c>) -> Option<Type<'c>> {
    Some(match parts {
        TypeParts::Tensor(ty) => tensor_type_to_mlir(context, ty),
        TypeParts::Tuple(elements) => tuple_type(context, elements),
        TypeParts::Function(inputs, results) => function_type(context, inputs, results),
        TypeParts::Adt(name, arguments) => adt_type(context, name, arguments),
        TypeParts::Ref(value) => ref_type(*value),
        TypeParts::Var(name) => var_type(context, name),
        TypeParts::Hole => hole_type(context),
        TypeParts::Other => return None,
    })
}

/// A constructor's name and the types of its fields, from `#relay.constructor`.
pub fn constructor_parts<'c>(attr: Attribute<'c>) -> Option<(&'c str, Vec<Type<'c>>)> {
    let raw = attr.to_raw();
    // SAFETY: reads of a live attribute after the check.
    unsafe {
        if !ffi::fusionRelayIsConstructor(raw) {
            return None;
        }
        let name = melior::StringRef::from_raw(ffi::fusionRelayConstructorName(raw)).as_str().ok()?;
        let fields = (0..ffi::fusionRelayFieldCount(raw)).map(|i| ffi::fusionRelayField(raw, i));
        Some((name, fields.map(|field| Type::from_raw(field)).collect()))
    }
}

/// `#relay.constructor<name, [fields]>`.
pub fn constructor_attr<'c>(context: &'c Context, name: &str, fields: &[Type<'c>]) -> Attribute<'c> {
    let fields = raw_types(fields);
    // SAFETY: as in `adt_type`.
    unsafe {
        let count = fields.len() as isize;
        let raw = ffi::fusionRelayConstructor(context.to_raw(), string(name), fields.as_ptr(), count);
        Attribute::from_raw(raw)
    }
}

/// The names of a symbol reference from the outermost in: `@List::@Cons` gives both.
pub fn symbol_path<'c>(attr: Attribute<'c>) -> Option<Vec<&'c str>> {
    let raw = attr.to_raw();
    // SAFETY: reads of a live attribute after the check.
    unsafe {
        if !mlirAttributeIsASymbolRef(raw) {
            return None;
        }
        let text = |raw| melior::StringRef::from_raw(raw).as_str().ok();
        let mut path = vec![text(mlirSymbolRefAttrGetRootReference(raw))?];
        for i in 0..mlirSymbolRefAttrGetNumNestedReferences(raw) {
            path.push(text(mlirSymbolRefAttrGetRootReference(mlirSymbolRefAttrGetNestedReference(raw, i)))?);
        }
        Some(path)
    }
}

/// `@outer::@inner`.
pub fn nested_symbol_attr<'c>(context: &'c Context, outer: &str, inner: &str) -> Attribute<'c> {
    let inner = super::attributes::symbol_attr(context, inner).to_raw();
    // SAFETY: one nested reference is passed; names are copied.
    unsafe { Attribute::from_raw(mlirSymbolRefAttrGet(context.to_raw(), string(outer), 1, &inner)) }
}

/// A list of texts.
pub fn texts_attr<'c>(context: &'c Context, texts: &[&str]) -> Attribute<'c> {
    let texts: Vec<_> = texts.iter().map(|text| str_attr(context, text)).collect();
    array_attr(context, &texts)
}

/// The texts of a list of them; others in it are left out.
pub fn texts_of<'c>(attr: Attribute<'c>) -> Vec<&'c str> {
    array_elements(attr).into_iter().filter_map(text_of).collect()
}

/// The facts' view of a ranked tensor type; `None` for other types and element types.
pub fn tensor_type_of(ty: Type) -> Option<TensorType> {
    // SAFETY: reads of a live type after its check.
    unsafe {
        let raw = ty.to_raw();
        if !mlirTypeIsARankedTensor(raw) {
            return None;
        }
        let dtype = dtype_of(Type::from_raw(mlirShapedTypeGetElementType(raw)))?;
        let names = ffi::fusionRelayDimNames(raw);
        let names = if names.ptr.is_null() { Vec::new() } else { array_elements(Attribute::from_raw(names)) };
        let rank = mlirShapedTypeGetRank(raw) as usize;
        let dims = (0..rank).map(|i| {
            if !mlirShapedTypeIsDynamicDim(raw, i as isize) {
                return Dim::Static(mlirShapedTypeGetDimSize(raw, i as isize) as u64);
            }
            match names.get(i).and_then(|n| text_of(*n)) {
                Some(text) => Dim::of_text(text),
                None => Dim::Any,
            }
        });
        Some(TensorType::new(dims.collect(), dtype))
    }
}

/// The MLIR type; named extents go into the encoding.
pub fn tensor_type_to_mlir<'c>(context: &'c Context, ty: &TensorType) -> Type<'c> {
    // SAFETY: the context is alive; pointers and lengths are those of live vectors.
    unsafe {
        let dims: Vec<i64> =
            ty.dims.iter().map(|d| d.known().map_or(mlirShapedTypeGetDynamicSize(), |n| n as i64)).collect();
        let named = ty.dims.iter().any(|d| matches!(d, Dim::Symbol(_) | Dim::Expr(_)));
        let encoding = if named {
            let names: Vec<Attribute> = ty
                .dims
                .iter()
                .map(|d| match d {
                    Dim::Static(_) | Dim::Any => str_attr(context, ""),
                    _ => str_attr(context, &d.to_string()),
                })
                .collect();
            ffi::fusionRelayDims(array_attr(context, &names).to_raw())
        } else {
            MlirAttribute { ptr: std::ptr::null_mut() }
        };
        let element = dtype_to_mlir(context, ty.dtype).to_raw();
        Type::from_raw(mlirRankedTensorTypeGet(dims.len() as isize, dims.as_ptr(), element, encoding))
    }
}

/// The facts' view of a value's type.
pub fn tensor_type(value: Value) -> Option<TensorType> {
    tensor_type_of(value.r#type())
}
