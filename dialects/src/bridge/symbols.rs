//! The symbol tables of a module that is being verified.

use super::ffi::fusionSymbolNamed;
use super::ir::{Op, string};
use std::ffi::c_void;

/// The symbol tables of a module that is being verified: each is built once, not once a use.
pub struct Symbols {
    tables: *mut c_void,
}

impl Symbols {
    /// Those behind the shim's pointer, which may be null.
    pub(super) fn of(tables: *mut c_void) -> Self {
        Symbols { tables }
    }

    /// The symbol of that name in the module around an operation.
    pub fn named<'c>(&self, near: Op<'c>, name: &str) -> Option<Op<'c>> {
        if self.tables.is_null() {
            return None;
        }
        // SAFETY: the shim's tables live as long as the call that made this; null becomes `None`.
        unsafe { Op::from_option_raw(fusionSymbolNamed(self.tables, near.to_raw(), string(name))) }
    }
}
