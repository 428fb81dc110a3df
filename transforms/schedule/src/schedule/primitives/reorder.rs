//! `reorder`: puts the named loops into the named order, in the places they have now.
//!
//!     for i                           for k
//!       for j          k, i  =>         for j
//!         for k                           for i
//!
//! Always legal: parallel axes are independent, and a combiner may take its elements in any order.

use super::super::{AxisId, Handles, Schedule, StageId};
use fusion_dialects::{Op, OpExt};

/// Reorders loops of a stage.
pub fn reorder(tree: &mut Schedule, stage: StageId, order: &[AxisId]) -> Result<(), String> {
    let s = &mut tree.stages[stage];
    let mut places = order.iter().map(|&a| s.place(a)).collect::<Result<Vec<_>, _>>()?;
    places.sort_unstable();
    if places.windows(2).any(|w| w[0] == w[1]) {
        return Err(format!("names a loop of stage \"{}\" twice", s.name));
    }
    for (place, axis) in places.into_iter().zip(order) {
        s.leaves[place] = *axis;
    }
    Ok(())
}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    let named = op.operand_values().into_iter().map(|v| handles.axis(v)).collect::<Result<Vec<_>, _>>()?;
    let Some(&(stage, _)) = named.first() else { return Ok(()) };
    if named.iter().any(|(s, _)| *s != stage) {
        return Err("reorders loops of several stages".into());
    }
    reorder(tree, stage, &named.iter().map(|(_, a)| *a).collect::<Vec<_>>())
}
