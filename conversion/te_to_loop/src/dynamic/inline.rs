//! Which stages of a kernel of dynamic extents are computed where they are used.
//!
//! ```text
//!   a[i] = x[i] + 1 ;  b[i] = exp(a[i])                 b[i] = exp(x[i] + 1)        each element of a is used once
//!   t[i, j] = x[j, i] ;  c[i, k] = sum_j t[i, j] w[j, k]   w, x are read at once     t only moves elements
//!   e[i] = exp(x[i]) ;  s = sum_i e[i] ;  y[i] = e[i] / s   e stays in memory        it would be computed twice
//! ```

use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::te::Op as Te;
use fusion_dialects::{
    Op, OpExt, Value, arguments, is_index_type, key, kind_of, nested_ops, op_key, parent_of, users,
};
use std::collections::HashSet;

/// The stages that have no place in memory.
#[derive(Default)]
pub struct Inlined {
    stages: HashSet<usize>,
}

impl Inlined {
    /// Among the operations of a kernel that gives these values.
    pub fn of(ops: &[Op], returned: &[Value]) -> Inlined {
        let given: HashSet<usize> = returned.iter().map(|v| key(*v)).collect();
        let mut inlined = Inlined::default();
        for op in ops.iter().filter(|op| matches!(kind_of(**op), Some(Kind::Te(Te::Compute)))) {
            let results = op.result_values();
            let kept = results.iter().any(|v| given.contains(&key(*v)));
            let reduces = op.ints("reduce").is_some_and(|over| !over.is_empty());
            let reads: Vec<Op> = results.iter().flat_map(|v| users(*v)).collect();
            let only_loaded =
                reads.iter().all(|read| matches!(kind_of(*read), Some(Kind::Te(Te::Load | Te::LoadIf))));
            let once = reads.len() == 1 && reads.iter().all(|read| reads_each_once(*read));
            if !kept && !reduces && only_loaded && (once || only_moves(*op)) {
                inlined.stages.insert(op_key(*op));
            }
        }
        inlined
    }

    /// True when a stage is computed where it is used.
    pub fn has(&self, stage: Op) -> bool {
        self.stages.contains(&op_key(stage))
    }
}

/// True when no element is read at two points of the stage that reads: all of its axes are among the indices.
fn reads_each_once(read: Op) -> bool {
    let Some(stage) = std::iter::successors(parent_of(read), |op| parent_of(*op))
        .find(|op| matches!(kind_of(*op), Some(Kind::Te(Te::Compute))))
    else {
        return false;
    };
    let axes = stage.body(0).map(arguments).unwrap_or_default();
    let extents = [stage.ints("axes").unwrap_or_default(), stage.ints("reduce").unwrap_or_default()].concat();
    let indices: HashSet<usize> = read.operand_values().into_iter().map(key).collect();
    axes.iter().zip(extents).all(|(axis, extent)| extent == 1 || indices.contains(&key(*axis)))
}

/// True for stages that compute nothing: they read one element, or give a number.
fn only_moves(stage: Op) -> bool {
    let inner = nested_ops(stage);
    let loads = inner.iter().filter(|op| matches!(kind_of(**op), Some(Kind::Te(Te::Load)))).count();
    let moves = |op: &Op| {
        let to_index = op.result_values().iter().all(|v| {
            use fusion_dialects::ValueLike;
            is_index_type(v.r#type())
        });
        to_index
            || matches!(
                kind_of(*op),
                Some(Kind::Te(Te::Load | Te::Yield | Te::Extent) | Kind::Upstream(Upstream::ArithConstant))
            )
    };
    loads <= 1 && inner.iter().all(moves)
}
