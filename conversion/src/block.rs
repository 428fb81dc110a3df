//! What programs share beside their kernels: one block of constants, and the functions that call their kernels as units.

use crate::units::Unit;
use fusion_dialects::{Module, OpExt, int_attr, module_op, source_of, str_attr};
use fusion_targets::c_interface::{CONSTANTS_OFFSET, RUN_NAME};
use fusion_te_to_loop::plan_memory::arena::ALIGNMENT;
use fusion_te_to_loop::plan_memory::entry_of;
use std::collections::HashMap;

/// What is left of a planned module, the function that calls its kernels, as a unit beside them.
pub(crate) fn unit(module: &Module, name: &str, symbol: &str, offset: u64) -> Unit {
    let root = module_op(module);
    let context = root.context_ref();
    if let Some(main) = entry_of(root) {
        main.set_attr(RUN_NAME, str_attr(context, symbol));
        main.set_attr(CONSTANTS_OFFSET, int_attr(context, offset as i64));
    }
    let (content, source) = (source_of(root, false), source_of(root, true));
    Unit { name: name.to_owned(), names: vec![name.to_owned()], symbol: symbol.to_owned(), content, source }
}

/// The constants of all kernels.
#[derive(Default)]
pub(crate) struct Block {
    /// All of them.
    pub bytes: Vec<u8>,
    /// Where what was added begins, by its hash.
    known: HashMap<blake3::Hash, u64>,
}

impl Block {
    /// Where these constants begin.
    pub(crate) fn add(&mut self, constants: Vec<u8>) -> u64 {
        if constants.is_empty() {
            return 0;
        }
        *self.known.entry(blake3::hash(&constants)).or_insert_with(|| {
            self.bytes.resize(self.bytes.len().next_multiple_of(ALIGNMENT as usize), 0);
            let offset = self.bytes.len() as u64;
            self.bytes.extend(constants);
            offset
        })
    }
}
