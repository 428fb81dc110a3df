//! The bytes of a planned module's constants.

use super::{CONSTANT_OFFSETS, CONSTANTS, CONSTANTS_BYTES};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{Op, OpExt, PassError, array_elements, read_tensor, top_level};
use fusion_operators::Tensor;

/// Constants as the planned function expects them: pieces of one block of bytes, zeros between.
#[derive(Debug, Default)]
pub struct PlannedConstants {
    /// Bytes of the block.
    pub size: usize,
    /// Offsets and contents, in ascending order. They share their elements with the module's constants.
    pub pieces: Vec<(u64, Tensor)>,
}

impl PlannedConstants {
    /// The block.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut block = vec![0; self.size];
        for (offset, tensor) in &self.pieces {
            block[*offset as usize..][..tensor.bytes().len()].copy_from_slice(tensor.bytes());
        }
        block
    }
}

/// All constants as the planned function expects them. Call it after `te-plan-memory` and before [`strip_constants`].
pub fn read_constants(module: Op) -> Result<PlannedConstants, PassError> {
    let functions = top_level(module, |k| matches!(k, Kind::Upstream(Upstream::Func)));
    let planned = functions.into_iter().find(|f| f.attr(CONSTANT_OFFSETS).is_some());
    let Some(planned) = planned else {
        return Err(PassError::at(module, "has no function whose memory te-plan-memory has planned"));
    };
    let offsets = planned.ints(CONSTANT_OFFSETS).unwrap_or_default();
    let constants = module.attr(CONSTANTS).map(array_elements).unwrap_or_default();
    if offsets.len() != constants.len() {
        let why = format!("has {} constants, the planned function {}", constants.len(), offsets.len());
        return Err(PassError::at(module, why));
    }
    let size = planned.int(CONSTANTS_BYTES).and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
    let mut pieces = Vec::new();
    for (i, (constant, offset)) in constants.into_iter().zip(offsets).enumerate() {
        let Some(tensor) = read_tensor(constant) else {
            return Err(PassError::at(module, format!("has the constant {i}, whose bytes are missing")));
        };
        let length = tensor.bytes().len();
        let end = usize::try_from(offset).ok().and_then(|from| from.checked_add(length));
        if end.is_none_or(|end| end > size) {
            let why = format!("has the constant {i} at byte {offset}, which is outside of all {size} bytes");
            return Err(PassError::at(module, why));
        }
        if length > 0 {
            pieces.push((offset as u64, tensor));
        }
    }
    pieces.sort_by_key(|(offset, _)| *offset);
    pieces.dedup_by_key(|(offset, _)| *offset);
    Ok(PlannedConstants { size, pieces })
}

/// Takes the constants away from the module, whose translation to LLVM does not know them.
pub fn strip_constants(module: Op) {
    module.remove_attr(CONSTANTS);
}
