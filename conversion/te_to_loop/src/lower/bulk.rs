//! TMA copies in place of the loops of a stage that copies an argument (`te.bulk_copy`).
//!
//! ```text
//!   tile[i, k] = x[io * 128 + i, ko * 64 + k]     =>     loop.copy_tensor %x[%io * 128, %ko * 64] of [M, K] box [128, 64] to %tile[..]
//! ```
//!
//! The part that is read is the box; where its last axis lies in panels, it is a box for each of them. What is beyond the tensor's ends is 0, as
//! loads with a condition have it. In the buffer a box is row-major, which is checked here.

use super::ranges::Range;
use super::{Lowering, Part, Place};
use fusion_dialects::indices::accesses;
use fusion_dialects::indices::expr::Expr;
use fusion_dialects::loops::{Loops, Op as Loop};
use fusion_dialects::te::Op as Te;
use fusion_dialects::{OpExt, Value, ints_attr, key, segments_attr};
use fusion_schedule::schedule::{Refusal, StageId};

impl<'c> Lowering<'c, '_> {
    /// Copies the part of a stage whose buffer has its place.
    pub(super) fn copy_by_tma(&mut self, loops: &Loops<'c>, stage: StageId, region: &[Range]) {
        let (op, name) = (self.tree.stages[stage].op, &self.tree.stages[stage].name);
        let read = accesses(op).first().map(|access| access.tensor);
        let part = |tensor: Option<Value<'c>>| match tensor.and_then(|t| self.places.get(&key(t))) {
            Some(Place::Memory(part)) => Some(part.clone()),
            _ => None,
        };
        let (source, target) = (part(read), part(op.result_values().first().copied()));
        let (Some(source), Some(target)) = (source.filter(|p| p.layout.is_none()), target) else {
            let why = format!("copies stage \"{name}\" in bulk of a tensor that is not row-major in memory");
            self.refuse(Refusal::of(stage, &[Te::BulkCopy], why));
            return;
        };
        let Some((last, outer)) = region.split_last() else { return };
        let digits = target.layout.as_ref().map(|layout| layout.digits()).unwrap_or_default();
        let panel = digits.last().and_then(|digit| digit.base).unwrap_or(last.1);
        for number in 0..last.1.div_ceil(panel) {
            let mut from: Vec<Expr> = outer.iter().map(|(from, _)| from.clone()).collect();
            from.push(last.0.plus(&Expr::constant((number * panel) as i64)));
            let size: Vec<u64> = outer.iter().map(|(_, n)| *n).chain([panel]).collect();
            if !is_row_major(&target, &from, &size) {
                let why = format!(
                    "copies in bulk a part of stage \"{name}\" that lies in another order in shared memory; lay it out row-major, \
                     or in panels of the last axis"
                );
                self.refuse(Refusal::of(stage, &[Te::BulkCopy], why));
                return;
            }
            self.copy_box(loops, (&source, &target), &from, &size);
        }
    }

    fn copy_box(
        &mut self,
        loops: &Loops<'c>,
        (source, target): (&Part<'c>, &Part<'c>),
        from: &[Expr],
        size: &[u64],
    ) {
        let (build, context) = (&loops.build, loops.build.context());
        let mut operands = vec![source.buffer.value];
        for (e, origin) in from.iter().zip(&source.origin) {
            operands.push(self.indices.value(build, &e.minus(origin)));
        }
        operands.push(target.buffer.value);
        operands.push(self.indices.value(build, &target.offset(from)));
        let list =
            |numbers: &[u64]| ints_attr(context, &numbers.iter().map(|n| *n as i64).collect::<Vec<_>>());
        let attrs = [
            ("extents", list(&source.shape)),
            ("box", list(size)),
            ("operandSegmentSizes", segments_attr(context, &[1, from.len() as i32, 1, 1, 0, 0])),
        ];
        build.op(Loop::CopyTensor.name(), &operands, &[], &attrs);
    }
}

/// True where the elements of a box follow each other in the part, the last axis first.
fn is_row_major(part: &Part, from: &[Expr], size: &[u64]) -> bool {
    let begin = part.offset(from);
    let mut apart = 1;
    (0..size.len()).rev().all(|axis| {
        let mut next = from.to_vec();
        next[axis] = next[axis].plus(&Expr::constant(1));
        let step = part.offset(&next).minus(&begin).as_constant();
        let fits = size[axis] == 1 || step == Some(apart);
        apart *= size[axis] as i64;
        fits
    })
}
