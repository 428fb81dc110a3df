//! What the shim calls: rows, verifiers and folders.

use super::ir::{Attribute, Op, OpExt};
use super::symbols::Symbols;
use crate::relay::fold::{FoldResult, Folded};
use crate::rows::{Kind, Row, all};
use mlir_sys::{MlirAttribute, MlirOperation, MlirValue};
use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

#[unsafe(no_mangle)]
extern "C" fn fusionRustRow(name: *const c_char, length: usize) -> *const c_void {
    static BY_NAME: OnceLock<HashMap<&'static str, &'static Row>> = OnceLock::new();
    let by_name = BY_NAME.get_or_init(|| all().iter().map(|row| (row.name.as_str(), row)).collect());
    // SAFETY: the shim passes a name and its length.
    let name = unsafe { std::slice::from_raw_parts(name.cast::<u8>(), length) };
    let row = std::str::from_utf8(name).ok().and_then(|name| by_name.get(name));
    row.map_or(std::ptr::null(), |row| std::ptr::from_ref::<Row>(row).cast())
}

#[unsafe(no_mangle)]
extern "C" fn fusionRustVerify(row: *const c_void, op: MlirOperation, symbols: *mut c_void) -> bool {
    // SAFETY: the row is one of ours or null; the operation is alive during the call.
    let (row, op) = unsafe { (row.cast::<Row>().as_ref(), Op::from_raw(op)) };
    let Some(row) = row else {
        op.emit_error("has no row in the table of facts");
        return false;
    };
    let verified = catch_unwind(AssertUnwindSafe(|| match row.kind {
        Kind::Operator(operator) => crate::relay::verify::operator(operator, op),
        Kind::Relay(kind) => crate::relay::verify::functional(kind, op, &Symbols::of(symbols)),
        Kind::Te(kind) => crate::te::verify::verify(kind, op),
        Kind::Loop(kind) => crate::loops::verify::verify(kind, op),
        Kind::Upstream(_) => Ok(()),
    }));
    match verified {
        Ok(Ok(())) => true,
        Ok(Err(message)) => {
            op.emit_error(&message);
            false
        }
        Err(_) => {
            op.emit_error("could not be verified: internal error in its verifier");
            false
        }
    }
}

#[unsafe(no_mangle)]
extern "C" fn fusionRustFold(
    row: *const c_void,
    op: MlirOperation,
    operands: *const MlirAttribute,
    count: usize,
    values: *mut MlirValue,
    attributes: *mut MlirAttribute,
) -> c_int {
    use melior::ir::{AttributeLike, ValueLike};
    // SAFETY: as above; there are `count` attributes, null where an operand is no constant.
    let (row, op, known) = unsafe {
        let known: Vec<Option<Attribute>> = (0..count)
            .map(|i| *operands.add(i))
            .map(|a| (!a.ptr.is_null()).then(|| Attribute::from_raw(a)))
            .collect();
        (row.cast::<Row>().as_ref(), Op::from_raw(op), known)
    };
    let Some(Row { kind: Kind::Operator(operator), .. }) = row else { return 0 };
    match catch_unwind(AssertUnwindSafe(|| crate::relay::fold::fold(operator, op, &known))) {
        Ok(Folded::InPlace) => 1,
        Ok(Folded::To(results)) => {
            for (i, result) in results.iter().enumerate() {
                // SAFETY: the shim has one place a result in each list.
                unsafe {
                    match result {
                        FoldResult::Value(value) => *values.add(i) = value.to_raw(),
                        FoldResult::Constant(attr) => *attributes.add(i) = attr.to_raw(),
                    }
                }
            }
            2
        }
        Ok(Folded::No) | Err(_) => 0,
    }
}
