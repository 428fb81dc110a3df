//! `annotate`: keeps a value under a name on a loop.
//!
//!     for i  body(i)      =>      for i  body(i)  {annotations = {name = value}}
//!
//! For passes that come later and are not known here (TVM's `pragma` and `annotate`). Names that passes know:
//!
//!     "masked_tail" = 1     of a vectorized loop: a number of lanes that is no power of two is rounded up to the next one, with a
//!                           mask that leaves the others out (`loop-vectorize`), where without it several vectors are made
//!
//! A name that no pass knows is kept and changes nothing.

use super::super::{AxisId, Handles, Note, Schedule, StageId};
use fusion_dialects::{Attribute, Op, OpExt};

/// Keeps a value on a loop.
pub fn annotate<'c>(
    tree: &mut Schedule<'c>,
    stage: StageId,
    axis: AxisId,
    key: &str,
    value: Attribute<'c>,
) -> Result<(), String> {
    let s = &mut tree.stages[stage];
    s.place(axis)?;
    if key.is_empty() {
        return Err(format!("annotates a loop of stage \"{}\" under no name", s.name));
    }
    if s.notes.iter().any(|n| n.axis == axis && n.key == key) {
        return Err(format!("annotates a loop of stage \"{}\" with \"{key}\" a second time", s.name));
    }
    s.notes.push(Note { axis, key: key.to_owned(), value });
    Ok(())
}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    let (stage, axis) = handles.axis(op.operand_values()[0])?;
    let value = op.attr("value").ok_or("has no value")?;
    annotate(tree, stage, axis, op.text("key").unwrap_or_default(), value)
}
