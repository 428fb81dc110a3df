//! What programs share beside their kernels: one block of constants, and the functions that call their kernels as units.

use crate::error::{CompileError, failed};
use crate::units::Unit;
use fusion_dialects::{
    Build, Module, OpExt, PassError, arguments, defining_op, index_attr, index_type, int_attr, module_op,
    source_of, str_attr, users,
};
use fusion_operators::Tensor;
use fusion_targets::c_interface::RUN_NAME;
use fusion_te_to_loop::plan_memory::arena::ALIGNMENT;
use fusion_te_to_loop::plan_memory::{CONSTANTS_BYTES, PlannedConstants, entry_of};
use std::collections::{BTreeMap, HashMap};

/// What is left of a planned module, the function that calls its kernels, as a unit beside them.
pub(crate) fn unit(module: &Module, name: &str, symbol: &str) -> Unit {
    let root = module_op(module);
    let context = root.context_ref();
    if let Some(main) = entry_of(root) {
        main.set_attr(RUN_NAME, str_attr(context, symbol));
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

/// Has a planned function find each of its constants at a place of the block, where it is once for all that have it.
pub(crate) fn share(
    module: &Module,
    constants: &PlannedConstants,
    block: &mut Block,
) -> Result<(), CompileError> {
    let Some(main) = entry_of(module_op(module)) else { return Ok(()) };
    let parameters = main.body(0).map(arguments).unwrap_or_default();
    // The workspace comes last, the constants before it.
    let [.., own, _] = &parameters[..] else { return Ok(()) };
    let mut places: BTreeMap<u64, u64> = BTreeMap::new();
    for (offset, tensor) in &constants.pieces {
        places.insert(*offset, block.add(tensor.bytes()));
    }
    for view in users(*own) {
        let unknown = || failed(PassError::at(view, "takes constants from a place that is not known"));
        let shift =
            view.operand_values().get(1).copied().and_then(defining_op).and_then(|op| op.int("value"));
        let offset = shift.and_then(|offset| u64::try_from(offset).ok()).ok_or_else(unknown)?;
        // A part of a constant lies as far in it as before; one of no bytes lies anywhere.
        let Some((first, place)) = places.range(..=offset).next_back() else { continue };
        let build = Build::before(view);
        let value = [("value", index_attr(build.context(), (place + offset - first) as i64))];
        let shift = build.value("arith.constant", &[], index_type(build.context()), &value);
        view.set_operand_value(1, shift);
    }
    let end = |(offset, tensor): &(u64, Tensor)| {
        places.get(offset).map(|place| place + tensor.bytes().len() as u64)
    };
    let end = constants.pieces.iter().filter_map(end).max().unwrap_or(0);
    main.set_attr(CONSTANTS_BYTES, int_attr(main.context_ref(), end as i64));
    Ok(())
}

impl Block {
    /// Where bytes like these begin.
    fn add(&mut self, constants: &[u8]) -> u64 {
        *self.known.entry(blake3::hash(constants)).or_insert_with(|| {
            self.bytes.resize(self.bytes.len().next_multiple_of(ALIGNMENT as usize), 0);
            let offset = self.bytes.len() as u64;
            self.bytes.extend_from_slice(constants);
            offset
        })
    }
}
