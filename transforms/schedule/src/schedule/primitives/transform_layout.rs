//! `transform_layout`: the elements of a stage lie in memory in another order.
//!
//!     by affine_map<(k, n) -> (n floordiv 64, k, n mod 64)>
//!
//!     row-major [K][N]      =>      [N / 64][K][64]
//!
//! What reads and writes them stays as it is. An argument in another layout is expected to be given so: `te-pack-arguments`
//! makes it of the constant that the kernel is called with; for one that is no constant, lay out a `cache_read` of it.

use super::super::{Attach, Handle, Handles, Schedule};
use crate::layout::Layout;
use fusion_dialects::rows::Kind;
use fusion_dialects::te::Op as Te;
use fusion_dialects::{Op, OpExt, kind_of, tensor_type};

/// Gives a stage's result, or an argument, a layout.
pub fn transform_layout(tree: &mut Schedule, source: Handle, layout: Layout) -> Result<(), String> {
    match source {
        Handle::Input(input) if tree.input_layouts[input].is_some() => {
            return Err(format!("lays out argument {input} a second time"));
        }
        Handle::Input(input) => tree.input_layouts[input] = Some(layout),
        Handle::Stage(stage) => {
            let s = &tree.stages[stage];
            if tree.results.contains(&stage) {
                return Err(format!(
                    "lays out stage \"{}\", a result of the kernel, which is given row-major; use te.cache_write first",
                    s.name
                ));
            }
            if s.attach == Attach::Inline {
                return Err(format!("lays out stage \"{}\", which is inlined and has no memory", s.name));
            }
            let is_nest = |op: Op| matches!(kind_of(op), Some(Kind::Te(Te::Extern)));
            if is_nest(s.op) || tree.consumers(stage).iter().any(|&c| is_nest(tree.stages[c].op)) {
                return Err(format!(
                    "lays out stage \"{}\", which a loop nest written by hand reads or writes row-major",
                    s.name
                ));
            }
            if s.layout.is_some() {
                return Err(format!("lays out stage \"{}\" a second time", s.name));
            }
            tree.stages[stage].layout = Some(layout);
        }
        Handle::Axis(..) => return Err("lays out a loop; name a stage or an argument".into()),
    }
    Ok(())
}

pub(super) fn apply<'c>(tree: &mut Schedule<'c>, op: Op<'c>, handles: &mut Handles) -> Result<(), String> {
    let source = handles.source(op.operand_values()[0])?;
    let tensor = match source {
        Handle::Input(input) => Some(tree.inputs[input]),
        Handle::Stage(stage) => tree.stages[stage].op.result_values().first().copied(),
        Handle::Axis(..) => None,
    };
    let rank = tensor.and_then(tensor_type).and_then(|t| t.shape()).map_or(0, |s| s.len());
    let map = op.attr("layout").ok_or("has no layout")?;
    transform_layout(tree, source, Layout::of_map(map, rank)?)
}
