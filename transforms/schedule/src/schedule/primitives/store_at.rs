//! `store_at`: the buffer of a stage lives outside of the loop at which the stage is computed.
//!
//!     for i                                  for i
//!       for j                                  a: what the iterations of j need together
//!         a = what this j needs of x    =>     for j
//!         y[i, j] = f(a)                         a[..] = what this j needs of x
//!                                                y[i, j] = f(a)
//!
//! Without a loop it lives as long as the kernel runs and holds the whole result. Each iteration still computes all that it
//! needs; what Halide saves by sliding windows is not saved (Ragan-Kelley et al., "Halide", 2013, section 3).

use super::super::{Attach, AxisId, Handles, Schedule, StageId, Store};
use fusion_dialects::{Op, OpExt};

/// Says where the buffer of a stage that is computed in a consumer's loop lives.
pub fn store_at(tree: &mut Schedule, stage: StageId, at: Option<(StageId, AxisId)>) -> Result<(), String> {
    let s = &tree.stages[stage];
    let Attach::At(consumer, inner) = s.attach else {
        return Err(format!(
            "keeps stage \"{}\" apart from where it is computed, which is no loop of another stage; use te.compute_at first",
            s.name
        ));
    };
    if s.buffers > 1 {
        return Err(format!("keeps stage \"{}\", which is double buffered, in one place", s.name));
    }
    let store = match at {
        None => Store::Root,
        Some((other, _)) if other != consumer => {
            return Err(format!(
                "keeps stage \"{}\" in a loop of stage \"{}\", but it is computed in one of stage \"{}\"",
                s.name, tree.stages[other].name, tree.stages[consumer].name
            ));
        }
        Some((_, axis)) => {
            let c = &tree.stages[consumer];
            if c.place(axis)? > c.place(inner)? {
                return Err(format!(
                    "keeps stage \"{}\" inside of the loop at which it is computed; name one outside of it",
                    s.name
                ));
            }
            Store::At(axis)
        }
    };
    tree.stages[stage].store = Some(store);
    Ok(())
}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    let operands = op.operand_values();
    let stage = handles.stage(operands[0])?;
    let at = operands.get(1).map(|axis| handles.axis(*axis)).transpose()?;
    store_at(tree, stage, at)
}
