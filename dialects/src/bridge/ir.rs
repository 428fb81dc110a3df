//! Views over MLIR's operations: copyable handles with the reads and edits that passes need.

use crate::rows::{Kind, Row};
use fusion_operators::{Attr, Attrs};
pub use melior::Context;
pub use melior::ir::Region;
use melior::ir::attribute::{
    ArrayAttribute, DenseI64ArrayAttribute, DictionaryAttribute, FlatSymbolRefAttribute, FloatAttribute,
    IntegerAttribute, StringAttribute, TypeAttribute,
};
pub use melior::ir::operation::OperationLike;
pub use melior::ir::{Attribute, Location, Type};
pub use melior::ir::{AttributeLike, BlockLike, RegionLike, TypeLike, ValueLike};
use melior::ir::{BlockRef, OperationRef};
use mlir_sys::*;

/// An operation in a context that lives for `'c`.
pub type Op<'c> = OperationRef<'c, 'c>;
/// A value.
pub type Value<'c> = melior::ir::Value<'c, 'c>;
/// A block.
pub type Block<'c> = BlockRef<'c, 'c>;

/// What an operation is; `None` for operations that no pass of ours looks at.
pub fn kind_of(op: Op) -> Option<Kind> {
    // SAFETY: the shim gives null or a pointer that `callbacks::fusionRustRow` gave it, to a row that is never freed.
    unsafe { super::ffi::fusionRowOf(op.to_raw()).cast::<Row>().as_ref() }.map(|row| row.kind)
}

/// Reads and edits of operations, beyond melior's.
pub trait OpExt<'c>: Sized {
    /// What the operation is.
    fn kind(self) -> Option<Kind>;
    /// The context.
    fn context_ref(self) -> &'c Context;
    /// The attribute of that name, inherent or not.
    fn attr(self, name: &str) -> Option<Attribute<'c>>;
    /// An integer attribute.
    fn int(self, name: &str) -> Option<i64>;
    /// A string or symbol attribute.
    fn text(self, name: &str) -> Option<&'c str>;
    /// A list of integers.
    fn ints(self, name: &str) -> Option<Vec<i64>>;
    /// All attributes that have a form in [`Attrs`].
    fn attrs(self) -> Attrs;
    /// Operands in order.
    fn operand_values(self) -> Vec<Value<'c>>;
    /// Results in order.
    fn result_values(self) -> Vec<Value<'c>>;
    /// The only block of a region, when there is one.
    fn body(self, region: usize) -> Option<Block<'c>>;
    /// Sets or replaces an attribute.
    fn set_attr(self, name: &str, value: Attribute<'c>);
    /// Takes the attribute away when it is there.
    fn remove_attr(self, name: &str);
    /// Changes an operand.
    fn set_operand_value(self, index: usize, value: Value<'c>);
    /// Replaces all uses of each result.
    fn replace_all_uses(self, with: &[Value<'c>]);
    /// Removes the operation, which has no uses, and frees it. It must not be used again.
    fn erase(self);
    /// Moves the operation before another.
    fn move_before_op(self, other: Op<'c>);
    /// The name with its dialect.
    fn full_name(self) -> String;
    /// Emits an error at the operation, with its name.
    fn emit_error(self, message: &str);
}

impl<'c> OpExt<'c> for Op<'c> {
    fn kind(self) -> Option<Kind> {
        kind_of(self)
    }

    fn context_ref(self) -> &'c Context {
        context_ref(self)
    }

    fn attr(self, name: &str) -> Option<Attribute<'c>> {
        self.attribute(name).ok()
    }

    fn int(self, name: &str) -> Option<i64> {
        self.attr(name).and_then(cast::<IntegerAttribute>).map(|a| a.value())
    }

    fn text(self, name: &str) -> Option<&'c str> {
        let attr = self.attr(name)?;
        let text = cast::<StringAttribute>(attr).map(|a| a.value());
        text.or_else(|| cast::<FlatSymbolRefAttribute>(attr).map(|a| a.value()))
    }

    fn ints(self, name: &str) -> Option<Vec<i64>> {
        self.attr(name).and_then(ints_of)
    }

    fn attrs(self) -> Attrs {
        let mut attrs = Attrs::new();
        for (name, attr) in self.attributes() {
            if let Some(value) = attr_of(attr) {
                attrs.set(name.as_string_ref().as_str().unwrap_or_default(), value);
            }
        }
        attrs
    }

    fn operand_values(self) -> Vec<Value<'c>> {
        self.operands().collect()
    }

    fn result_values(self) -> Vec<Value<'c>> {
        self.results().map(Into::into).collect()
    }

    fn body(self, region: usize) -> Option<Block<'c>> {
        // Asked only in range: melior's error for a missing region prints the whole operation.
        (region < self.region_count()).then(|| self.region(region).ok())??.first_block()
    }

    fn set_attr(self, name: &str, value: Attribute<'c>) {
        // SAFETY: the operation is alive; names are copied.
        unsafe { mlirOperationSetAttributeByName(self.to_raw(), string(name), value.to_raw()) }
    }

    fn remove_attr(self, name: &str) {
        // SAFETY: as above.
        unsafe { mlirOperationRemoveAttributeByName(self.to_raw(), string(name)) };
    }

    fn set_operand_value(self, index: usize, value: Value<'c>) {
        assert!(index < self.operand_count(), "operand {index} of {}", self.full_name());
        // SAFETY: the index is in range.
        unsafe { mlirOperationSetOperand(self.to_raw(), index as isize, value.to_raw()) }
    }

    fn replace_all_uses(self, with: &[Value<'c>]) {
        for (result, value) in self.result_values().into_iter().zip(with) {
            replace_uses(result, *value);
        }
    }

    fn erase(self) {
        // SAFETY: the caller no longer uses the operation; MLIR asserts that its results have no uses.
        unsafe {
            mlirOperationRemoveFromParent(self.to_raw());
            mlirOperationDestroy(self.to_raw());
        }
    }

    fn move_before_op(self, other: Op<'c>) {
        // SAFETY: both are alive.
        unsafe { mlirOperationMoveBefore(self.to_raw(), other.to_raw()) }
    }

    fn full_name(self) -> String {
        self.name().as_string_ref().as_str().unwrap_or_default().to_owned()
    }

    fn emit_error(self, message: &str) {
        emit_error(self.location(), &format!("'{}' op {message}", self.full_name()));
    }
}

/// Replaces all uses of a value.
pub fn replace_uses<'c>(value: Value<'c>, with: Value<'c>) {
    // SAFETY: both are alive.
    unsafe { mlirValueReplaceAllUsesOfWith(value.to_raw(), with.to_raw()) }
}

/// Emits an error diagnostic.
pub fn emit_error(location: Location, message: &str) {
    let message = std::ffi::CString::new(message.replace('\0', " ")).unwrap_or_default();
    // SAFETY: the text is NUL-terminated; `mlirEmitError` copies it.
    unsafe { mlirEmitError(location.to_raw(), message.as_ptr()) }
}

/// The operations of a block, in order, as a list that edits do not disturb.
pub fn ops_in<'c>(block: Block<'c>) -> Vec<Op<'c>> {
    std::iter::successors(block.first_operation(), |op| op.next_in_block()).collect()
}

/// All operations nested in one, outermost first, without the one itself.
pub fn nested_ops<'c>(op: Op<'c>) -> Vec<Op<'c>> {
    let mut found = Vec::new();
    let mut stack: Vec<Op<'c>> = Vec::new();
    push_children(op, &mut stack);
    while let Some(op) = stack.pop() {
        found.push(op);
        push_children(op, &mut stack);
    }
    found
}

fn push_children<'c>(op: Op<'c>, stack: &mut Vec<Op<'c>>) {
    let start = stack.len();
    for region in op.regions() {
        for block in std::iter::successors(region.first_block(), |b| b.next_in_region()) {
            stack.extend(ops_in(block));
        }
    }
    stack[start..].reverse();
}

/// The arguments of a block.
pub fn arguments<'c>(block: Block<'c>) -> Vec<Value<'c>> {
    (0..block.argument_count()).filter_map(|i| block.argument(i).ok()).map(Into::into).collect()
}

/// The operation that gives a value, unless it is a block argument.
pub fn defining_op<'c>(value: Value<'c>) -> Option<Op<'c>> {
    // SAFETY: asked of results only; the owner lives as long as its result.
    value
        .is_operation_result()
        .then(|| unsafe { OperationRef::from_raw(mlirOpResultGetOwner(value.to_raw())) })
}

/// Which result of its operation, or argument of its block, a value is.
pub fn position(value: Value) -> usize {
    // SAFETY: each is asked of its own sort of value.
    let at = unsafe {
        if value.is_operation_result() {
            mlirOpResultGetResultNumber(value.to_raw())
        } else {
            mlirBlockArgumentGetArgNumber(value.to_raw())
        }
    };
    at as usize
}

/// The operations that use a value, once a use.
pub fn users<'c>(value: Value<'c>) -> Vec<Op<'c>> {
    let mut found = Vec::new();
    // SAFETY: uses are walked while nothing is edited.
    unsafe {
        let mut operand = mlirValueGetFirstUse(value.to_raw());
        while !mlirOpOperandIsNull(operand) {
            found.push(OperationRef::from_raw(mlirOpOperandGetOwner(operand)));
            operand = mlirOpOperandGetNextUse(operand);
        }
    }
    found
}

/// True when a value has no uses.
pub fn unused(value: Value) -> bool {
    // SAFETY: the value is alive.
    unsafe { mlirOpOperandIsNull(mlirValueGetFirstUse(value.to_raw())) }
}

/// A key for maps: the same for the same value.
pub fn key(value: Value) -> usize {
    value.to_raw().ptr as usize
}

/// A key for maps: the same for the same operation.
pub fn op_key(op: Op) -> usize {
    op.to_raw().ptr as usize
}

/// The top-level operations of a module with that kind.
pub fn top_level<'c>(module: Op<'c>, wanted: impl Fn(Kind) -> bool) -> Vec<Op<'c>> {
    let Some(body) = module.body(0) else { return Vec::new() };
    ops_in(body).into_iter().filter(|op| op.kind().is_some_and(&wanted)).collect()
}

/// Gives a value another type; what uses it is the caller's business.
pub fn set_type<'c>(value: Value<'c>, ty: Type<'c>) {
    // SAFETY: both are alive and of one context.
    unsafe { mlirValueSetType(value.to_raw(), ty.to_raw()) }
}

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
    if let Some(a) = cast::<StringAttribute>(attr) {
        return Some(Attr::Str(a.value().to_owned()));
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
    None
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
        Attr::Type(v) => TypeAttribute::new(super::types::dtype_to_mlir(context, *v)).into(),
    }
}

fn ints_of(attr: Attribute) -> Option<Vec<i64>> {
    let list = cast::<DenseI64ArrayAttribute>(attr)?;
    (0..list.len()).map(|i| list.element(i).ok()).collect()
}

/// An `i64` attribute.
pub fn int_attr(context: &Context, value: i64) -> Attribute<'_> {
    IntegerAttribute::new(melior::ir::r#type::IntegerType::new(context, 64).into(), value).into()
}

/// A string attribute.
pub fn str_attr<'c>(context: &'c Context, value: &str) -> Attribute<'c> {
    StringAttribute::new(context, value).into()
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

pub(crate) fn string(text: &str) -> MlirStringRef {
    MlirStringRef { data: text.as_ptr().cast(), length: text.len() }
}

/// The context of an operation, as melior's constructors want it: a reference that lives as long as the context.
///
/// melior's `Context` is a pointer; a reference to one must point at a place that stays. One such place is kept
/// for each context and thread.
fn context_ref<'c>(op: Op<'c>) -> &'c Context {
    use melior::ContextRef;
    use std::cell::RefCell;
    use std::collections::HashMap;
    thread_local! {
        static PLACES: RefCell<HashMap<usize, &'static ContextRef<'static>>> = RefCell::default();
    }
    // SAFETY: the context outlives its operations; the place with its pointer is never freed.
    unsafe {
        let raw = mlirOperationGetContext(op.to_raw());
        let place = PLACES.with(|places| {
            *places
                .borrow_mut()
                .entry(raw.ptr as usize)
                .or_insert_with(|| Box::leak(Box::new(ContextRef::from_raw(raw))))
        });
        place.to_ref()
    }
}

/// Takes the blocks of a region into a new one.
pub fn take_region<'c>(region: impl RegionLike<'c, 'c>) -> Region<'c> {
    let new = Region::new();
    // SAFETY: both regions are alive.
    unsafe { mlirRegionTakeBody(new.to_raw(), region.to_raw()) }
    new
}

/// The type a type attribute holds.
pub fn type_of_attr(attr: Attribute) -> Option<Type> {
    cast::<TypeAttribute>(attr).map(|t| t.value())
}

/// The string of that name in a dictionary attribute.
pub fn dictionary_text(attr: Attribute, name: &str) -> Option<String> {
    let found = cast::<DictionaryAttribute>(attr)?.element_by_name(name)?;
    cast::<StringAttribute>(found).map(|text| text.value().to_owned())
}

/// The operation of a module.
pub fn module_op<'c>(module: &melior::ir::Module<'c>) -> Op<'c> {
    // SAFETY: the handle is used while the caller holds the module.
    unsafe { OperationRef::from_raw(module.as_operation().to_raw()) }
}

/// Sizes of groups of operands, as operations with several variadic operands carry them.
pub fn segments_attr<'c>(context: &'c Context, sizes: &[i32]) -> Attribute<'c> {
    melior::ir::attribute::DenseI32ArrayAttribute::new(context, sizes).into()
}
