//! Reads of one tensor that get copies of their own: each load of a stage is one by its number, and those of an inlined stage are when only one
//! stage on the way reads it.
//!
//! ```text
//!   c = f(x)         inlined            c = f(x)   d = f(x)
//!   a = c'  b = c    inlined      =>    a = c'     b = d          te.recompute
//!   y = a b                             y = a b
//! ```
//!
//! Without that both products' tiles would be one of `x`, as large as what lies between them.

use super::super::operands::{Operand, operands};
use super::super::placement::inlined;
use super::super::writer::Writer;
use crate::schedule::StageId;

/// Has no two operands of a stage be one load; true when some were.
pub fn apart(writer: &mut Writer, stage: StageId) -> Result<bool, String> {
    let all = operands(&writer.tree, stage).unwrap_or_default();
    let is_same = |a: &Operand, b: &Operand| (a.reader, a.read) == (b.reader, b.read);
    let any = (1..all.len()).any(|n| all[..n].iter().any(|other| is_same(other, &all[n])));
    if any {
        own_stages(writer, stage, &mut Vec::new())?;
    }
    Ok(any)
}

/// Has every inlined stage below one have a single reader; those that a stage reads twice stay.
fn own_stages(writer: &mut Writer, reader: StageId, seen: &mut Vec<StageId>) -> Result<(), String> {
    let mut read: Vec<StageId> = inlined(&writer.tree, reader).collect();
    read.sort_unstable();
    read.dedup();
    for stage in read {
        let own = match seen.contains(&stage) {
            true => {
                let name =
                    format!("{}_for_{}", writer.tree.stages[stage].name, writer.tree.stages[reader].name);
                writer.recompute(stage, &name, reader)?
            }
            false => stage,
        };
        seen.push(own);
        own_stages(writer, own, seen)?;
    }
    Ok(())
}
