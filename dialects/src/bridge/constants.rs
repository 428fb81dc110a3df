//! Host tensors as constants of MLIR and back.

use super::ir::{Attribute, Context, Type};
use super::relay_types::{tensor_type_of, tensor_type_to_mlir};
use fusion_operators::{DType, Tensor, TensorType};
use melior::ir::AttributeLike;
use melior::ir::TypeLike;
use mlir_sys::*;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// Constants above this many bytes are external resources: they are neither uniqued nor printed inline.
const INLINE_BYTES: usize = 1024;

/// True when all elements are one value that is stored once.
pub fn is_splat(attr: Attribute) -> bool {
    // SAFETY: a live attribute.
    unsafe { super::ffi::fusionElementsIsSplat(attr.to_raw()) }
}

/// The number all elements of a constant are, as a tensor without axes; without expanding the constant. Strings are none.
pub fn splat(attr: Attribute) -> Option<Tensor> {
    if !is_splat(attr) {
        return None;
    }
    // SAFETY: asked after the check; the element has the element type of the tensor made of it.
    unsafe {
        let ty = tensor_type_of(Type::from_raw(mlirAttributeGetType(attr.to_raw())))?;
        if ty.dtype == DType::String {
            return None;
        }
        let context = melior::ContextRef::from_raw(mlirAttributeGetContext(attr.to_raw()));
        let scalar = tensor_type_to_mlir(context.to_ref(), &TensorType::fixed(&[], ty.dtype));
        let element = mlirDenseElementsAttrGetSplatValue(attr.to_raw());
        read_tensor(Attribute::from_raw(mlirDenseElementsAttrSplatGet(scalar.to_raw(), element)))
    }
}

/// The float that a constant is, or that all elements of a constant vector or tensor are.
pub fn float_of(attr: Attribute) -> Option<f64> {
    // SAFETY: a live attribute, asked after the checks.
    unsafe {
        let raw = attr.to_raw();
        let splat = mlirAttributeIsADenseElements(raw) && mlirDenseElementsAttrIsSplat(raw);
        let one = if splat { mlirDenseElementsAttrGetSplatValue(raw) } else { raw };
        mlirAttributeIsAFloat(one).then(|| mlirFloatAttrGetValueDouble(one))
    }
}

/// The integer that a constant without sign is, or that all elements of a constant vector or tensor are.
pub fn int_of(attr: Attribute) -> Option<i64> {
    // SAFETY: a live attribute, asked after the checks; an integer's attribute has an integer's type.
    unsafe {
        let raw = attr.to_raw();
        let splat = mlirAttributeIsADenseElements(raw) && mlirDenseElementsAttrIsSplat(raw);
        let one = if splat { mlirDenseElementsAttrGetSplatValue(raw) } else { raw };
        let ty = mlirAttributeGetType(one);
        let is_signless =
            mlirAttributeIsAInteger(one) && mlirTypeIsAInteger(ty) && mlirIntegerTypeIsSignless(ty);
        is_signless.then(|| mlirIntegerAttrGetValueInt(one))
    }
}

/// The tensor a constant holds; `None` when it holds none or its bytes are missing.
pub fn read_tensor(attr: Attribute) -> Option<Tensor> {
    // SAFETY: `mlirAttributeGetType` is asked of elements attributes, which have one; the buffer has the size that is passed.
    unsafe {
        if !mlirAttributeIsAElements(attr.to_raw()) {
            return None;
        }
        let ty = tensor_type_of(Type::from_raw(mlirAttributeGetType(attr.to_raw())))?;
        let shape: Vec<usize> = ty.shape()?.iter().map(|&n| n as usize).collect();
        if ty.dtype == DType::String {
            return read_strings(attr, &shape);
        }
        let mut size = 0;
        let data = super::ffi::fusionElementsShared(attr.to_raw(), &mut size);
        if let Some(tensor) = kept(data.addr(), (ty.dtype, &shape)) {
            return Some(tensor);
        }
        let mut tensor = Tensor::zeros(ty.dtype, &shape).ok()?;
        let bytes = tensor.bytes_mut();
        super::ffi::fusionElementsRead(attr.to_raw(), bytes.as_mut_ptr().cast(), bytes.len())
            .then_some(tensor)
    }
}

/// The tensor that a constant of strings holds; `None` where one of them is not in UTF-8.
fn read_strings(attr: Attribute, shape: &[usize]) -> Option<Tensor> {
    let count = shape.iter().try_fold(1usize, |n, &extent| n.checked_mul(extent))?;
    // SAFETY: asked after the check, of elements that there are; the texts live as long as the context.
    unsafe {
        if !mlirAttributeIsADenseElements(attr.to_raw()) {
            return None;
        }
        let text =
            |at| super::attributes::text(mlirDenseElementsAttrGetStringValue(attr.to_raw(), at as isize));
        let strings: Option<Vec<&str>> = (0..count).map(text).collect();
        Tensor::from_strings(shape, &strings?).ok()
    }
}

/// A constant that holds strings.
fn write_strings<'c>(ty: Type<'c>, tensor: &Tensor) -> Attribute<'c> {
    let mut strings: Vec<MlirStringRef> = tensor.strings().map(super::ir::string).collect();
    // SAFETY: pointer and length are those of a live vector, as many as the type has elements; texts are copied.
    unsafe {
        let count = strings.len() as isize;
        Attribute::from_raw(mlirDenseElementsAttrStringGet(ty.to_raw(), count, strings.as_mut_ptr()))
    }
}

/// A constant that holds a tensor: small ones (and splats) inline, others as a resource of that name.
pub fn write_tensor<'c>(context: &'c Context, tensor: &Tensor, name: &str) -> Attribute<'c> {
    let ty = tensor_type_to_mlir(context, &tensor.tensor_type());
    if tensor.dtype() == DType::String {
        return write_strings(ty, tensor);
    }
    let size = tensor.dtype().size();
    let first = tensor.bytes().get(..size);
    let splat = first.is_some_and(|first| tensor.bytes().chunks_exact(size).all(|e| e == first));
    // SAFETY: sizes and pointers belong to the tensor; a resource shares its elements, which do not move, until the deleter is called.
    unsafe {
        let raw = if tensor.dtype() == DType::Bool && (splat || tensor.bytes().len() <= INLINE_BYTES) {
            let values: Vec<i32> = tensor.bytes().iter().map(|&b| b.into()).collect();
            mlirDenseElementsAttrBoolGet(ty.to_raw(), values.len() as isize, values.as_ptr())
        } else if splat {
            mlirDenseElementsAttrRawBufferGet(ty.to_raw(), size, tensor.bytes().as_ptr().cast())
        } else if tensor.bytes().len() <= INLINE_BYTES {
            mlirDenseElementsAttrRawBufferGet(
                ty.to_raw(),
                tensor.bytes().len(),
                tensor.bytes().as_ptr().cast(),
            )
        } else {
            let (data, length) = (tensor.bytes().as_ptr().cast_mut(), tensor.bytes().len());
            keep(tensor);
            mlirUnmanagedDenseResourceElementsAttrGet(
                ty.to_raw(),
                super::ir::string(name),
                data.cast(),
                length,
                fusion_operators::aligned::ALIGNMENT,
                false,
                Some(free_bytes),
                std::ptr::null_mut(),
            )
        };
        Attribute::from_raw(raw)
    }
}

unsafe extern "C" fn free_bytes(_user: *mut c_void, data: *const c_void, _size: usize, _align: usize) {
    release(data.addr());
}

/// Tensors whose elements resources share, by the address of the first element, and how many resources do: weights are read as often
/// as there are passes that look at them, and a copy of each takes longer than most passes.
type Kept = HashMap<usize, (usize, Tensor)>;

fn all_kept() -> MutexGuard<'static, Kept> {
    static KEPT: LazyLock<Mutex<Kept>> = LazyLock::new(Mutex::default);
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Holds a tensor's elements for one more resource.
fn keep(tensor: &Tensor) {
    let address = tensor.bytes().as_ptr().addr();
    all_kept().entry(address).or_insert_with(|| (0, tensor.clone())).0 += 1;
}

/// Lets go of the elements that one resource held.
fn release(address: usize) {
    let mut all = all_kept();
    if let Some((holders, _)) = all.get_mut(&address) {
        *holders -= 1;
        if *holders == 0 {
            // Memory is given back when others need not wait for it.
            let last = all.remove(&address);
            drop(all);
            drop(last);
        }
    }
}

/// The tensor that shares its elements with a resource.
fn kept(address: usize, (dtype, shape): (DType, &[usize])) -> Option<Tensor> {
    let tensor = all_kept().get(&address).map(|(_, tensor)| tensor.clone()).filter(|t| t.dtype() == dtype)?;
    if tensor.shape() == shape { Some(tensor) } else { tensor.reshaped(shape).ok() }
}
