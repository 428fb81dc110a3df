//! Views over MLIR's operations: copyable handles with the reads and edits that passes need.

use super::attributes::{cast, ints_of, text_of};
use super::operator_attributes::attr_of;
use crate::rows::{Kind, Row};
use fusion_operators::Attrs;
pub use melior::Context;
pub use melior::ir::Region;
use melior::ir::attribute::{FlatSymbolRefAttribute, IntegerAttribute};
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
        text_of(attr).or_else(|| cast::<FlatSymbolRefAttribute>(attr).map(|a| a.value()))
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
    // MLIR would put each use back into the list that it takes uses from, without end.
    if key(value) == key(with) {
        return;
    }
    // SAFETY: both are alive.
    unsafe { mlirValueReplaceAllUsesOfWith(value.to_raw(), with.to_raw()) }
}

/// Emits an error diagnostic.
pub fn emit_error(location: Location, message: &str) {
    let message = std::ffi::CString::new(message.replace('\0', " ")).unwrap_or_default();
    // SAFETY: the text is NUL-terminated; `mlirEmitError` copies it.
    unsafe { mlirEmitError(location.to_raw(), message.as_ptr()) }
}

/// Emits a warning diagnostic.
pub fn emit_warning(location: Location, message: &str) {
    let message = std::ffi::CString::new(message.replace('\0', " ")).unwrap_or_default();
    // SAFETY: the text is NUL-terminated; the diagnostic copies it.
    unsafe { super::ffi::fusionEmitWarning(location.to_raw(), message.as_ptr()) }
}

/// What a location calls its operation: its name, or file, line and column; of several the first. Empty when it says nothing.
pub fn name_of_location(location: Location) -> String {
    let text = |id: MlirIdentifier| {
        // SAFETY: an identifier's text lives as long as the context.
        unsafe { super::attributes::text(mlirIdentifierStr(id)) }.unwrap_or_default().to_owned()
    };
    let raw = location.to_raw();
    // SAFETY: each is asked of its own sort of location.
    unsafe {
        if mlirLocationIsAName(raw) {
            return text(mlirLocationNameGetName(raw));
        }
        if mlirLocationIsAFileLineColRange(raw) {
            let file = text(mlirLocationFileLineColRangeGetFilename(raw));
            let (line, column) = (
                mlirLocationFileLineColRangeGetStartLine(raw),
                mlirLocationFileLineColRangeGetStartColumn(raw),
            );
            return format!("{file}:{line}:{column}");
        }
        if mlirLocationIsAFused(raw) {
            let count = mlirLocationFusedGetNumLocations(raw) as usize;
            let mut parts = vec![MlirLocation { ptr: std::ptr::null() }; count];
            mlirLocationFusedGetLocations(raw, parts.as_mut_ptr());
            let parts = parts.into_iter().map(|part| name_of_location(Location::from_raw(part)));
            return parts.into_iter().find(|name| !name.is_empty()).unwrap_or_default();
        }
    }
    String::new()
}

/// The operations of a block, in order, as a list that edits do not disturb.
pub fn ops_in<'c>(block: Block<'c>) -> Vec<Op<'c>> {
    std::iter::successors(block.first_operation(), |op| op.next_in_block()).collect()
}

/// The operation whose region an operation stands in.
pub fn parent_of<'c>(op: Op<'c>) -> Option<Op<'c>> {
    // SAFETY: a read of a live operation; null becomes `None`.
    unsafe { OperationRef::from_option_raw(mlirOperationGetParentOperation(op.to_raw())) }
}

/// The context of a type, as melior's constructors want it.
pub fn context_of_type<'c>(ty: Type<'c>) -> &'c Context {
    // SAFETY: the context outlives its types.
    context_at(unsafe { mlirTypeGetContext(ty.to_raw()) })
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

/// A key for maps: the same for the same attribute.
pub fn attr_key(attr: Attribute) -> usize {
    attr.to_raw().ptr as usize
}

/// A key for maps: the same for the same type.
pub fn type_key(ty: Type) -> usize {
    ty.to_raw().ptr as usize
}

/// The top-level operations of a module with that kind.
pub fn top_level<'c>(module: Op<'c>, wanted: impl Fn(Kind) -> bool) -> Vec<Op<'c>> {
    let Some(body) = module.body(0) else { return Vec::new() };
    ops_in(body).into_iter().filter(|op| op.kind().is_some_and(&wanted)).collect()
}

/// Takes away a block's argument, which has no uses.
pub fn erase_argument(argument: Value) {
    // SAFETY: the value is asked what it is before it is used as such.
    unsafe {
        if mlirValueIsABlockArgument(argument.to_raw()) {
            let block = mlirBlockArgumentGetOwner(argument.to_raw());
            let index = mlirBlockArgumentGetArgNumber(argument.to_raw());
            mlirBlockEraseArgument(block, index as u32);
        }
    }
}

/// Gives a value another type; what uses it is the caller's business.
pub fn set_type<'c>(value: Value<'c>, ty: Type<'c>) {
    // SAFETY: both are alive and of one context.
    unsafe { mlirValueSetType(value.to_raw(), ty.to_raw()) }
}

pub(crate) fn string(text: &str) -> MlirStringRef {
    MlirStringRef { data: text.as_ptr().cast(), length: text.len() }
}

/// The context of an operation, as melior's constructors want it: a reference that lives as long as the context.
///
/// melior's `Context` is a pointer; a reference to one must point at a place that stays. One such place is kept
/// for each context and thread.
fn context_ref<'c>(op: Op<'c>) -> &'c Context {
    // SAFETY: the context outlives its operations.
    context_at(unsafe { mlirOperationGetContext(op.to_raw()) })
}

fn context_at<'c>(raw: MlirContext) -> &'c Context {
    use melior::ContextRef;
    use std::cell::RefCell;
    use std::collections::HashMap;
    thread_local! {
        static PLACES: RefCell<HashMap<usize, &'static ContextRef<'static>>> = RefCell::default();
    }
    // SAFETY: callers hold something that the context outlives; the place with its pointer is never freed.
    unsafe {
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

/// The operation of a module.
pub fn module_op<'c>(module: &melior::ir::Module<'c>) -> Op<'c> {
    // SAFETY: the handle is used while the caller holds the module.
    unsafe { OperationRef::from_raw(module.as_operation().to_raw()) }
}

/// The operation around the block whose argument a value is; `None` for results.
pub fn argument_owner<'c>(value: Value<'c>) -> Option<Op<'c>> {
    // SAFETY: the value is asked what it is before it is used as such; null becomes `None`.
    unsafe {
        if !mlirValueIsABlockArgument(value.to_raw()) {
            return None;
        }
        OperationRef::from_option_raw(mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(value.to_raw())))
    }
}
