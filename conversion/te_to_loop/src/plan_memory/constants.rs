//! The bytes of a planned module's constants.

use super::{CONSTANT_OFFSETS, CONSTANTS, CONSTANTS_BYTES};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{Op, OpExt, PassError, array_elements, read_tensor, top_level};

/// All constants as the planned function expects them: each at its offset, zeros between. Call it after
/// `te-plan-memory` and before [`strip_constants`].
pub fn read_constants(module: Op) -> Result<Vec<u8>, PassError> {
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
    let bytes = planned.int(CONSTANTS_BYTES).and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
    let mut blob = vec![0; bytes];
    for (i, (constant, offset)) in constants.into_iter().zip(offsets).enumerate() {
        let Some(tensor) = read_tensor(constant) else {
            return Err(PassError::at(module, format!("has the constant {i}, whose bytes are missing")));
        };
        let from = usize::try_from(offset).unwrap_or(usize::MAX);
        let place = from.checked_add(tensor.bytes().len()).and_then(|to| blob.get_mut(from..to));
        let Some(place) = place else {
            let why = format!("has the constant {i} at byte {offset}, which is outside of all {bytes} bytes");
            return Err(PassError::at(module, why));
        };
        place.copy_from_slice(tensor.bytes());
    }
    Ok(blob)
}

/// Takes the constants away from the module, whose translation to LLVM does not know them.
pub fn strip_constants(module: Op) {
    module.remove_attr(CONSTANTS);
}
