//! Loops whose buffers boxes of tensors (TMA) are copied to, by one thread for all: mbarriers tell that a slot is full.
//!
//! ```text
//!   for k of K {                       full[0..n] = mbarriers of 1 thread
//!     copy_tensor x[k] to s[k mod n]   one thread: for k of n-1 { expect full[k]; copy_tensor x[k] to s[k], mbarriers full[k] }
//!     use s[k mod n]              =>   for k of K {
//!   }                                    wait for phase k / n of full[k mod n]
//!                                        one thread, if k+n-1 < K: expect full[(k+n-1) mod n]; copy_tensor x[k+n-1] ...
//!                                        use s[k mod n]
//!                                      }
//! ```
//!
//! A slot has been read before it is filled again: `loop-insert-barriers` finds that a barrier must stand between the two. Where the
//! loop is all that a block does, four more warps copy and nobody else waits for them (`groups`).

use super::super::launches::is_bound;
use super::super::{parents, within};
use super::fills::Fills;
use super::later;
use fusion_dialects::loops::tensor_copy::TensorCopy;
use fusion_dialects::loops::{LoopKind, Loops, Op as Loop, Scope, loop_kind};
use fusion_dialects::rows::Kind;
use fusion_dialects::te::{Compare, Scalar};
use fusion_dialects::{
    Build, Op, OpExt, PassError, Value, ValueLike, ValueMap, arguments, buffer_parts, defining_op, dtype_of,
    int_attr, is_pure, key, nested_ops, op_key, ops_in, segments_attr,
};
use fusion_operators::DType;
use std::collections::HashSet;

/// The dimensions of a block.
const DIMENSIONS: [LoopKind; 3] = [LoopKind::ThreadX, LoopKind::ThreadY, LoopKind::ThreadZ];

/// A loop whose buffers are filled by TMA.
pub struct TmaLoop<'c> {
    /// The loop.
    pub around: Op<'c>,
    /// The loop over threads that has it, or itself.
    pub nest: Op<'c>,
    /// What fills.
    pub fills: Fills<'c>,
    /// The buffers.
    pub buffers: Vec<Op<'c>>,
    /// Their slots.
    pub slots: u64,
    /// Bytes of a step.
    bytes: u64,
}

/// True for loops that have copies of boxes.
pub fn are_in(around: Op) -> bool {
    nested_ops(around).into_iter().any(is_copy)
}

pub fn is_copy(op: Op) -> bool {
    matches!(op.kind(), Some(Kind::Loop(Loop::CopyTensor)))
}

impl<'c> TmaLoop<'c> {
    /// A loop with what fills its buffers, or why no boxes can be copied ahead of it.
    pub fn of(around: Op<'c>, buffers: &[Op<'c>]) -> Result<TmaLoop<'c>, PassError<'c>> {
        let why = |what: &str| {
            PassError::at(
                around,
                format_args!("{what}, so that no boxes can be copied ahead of it; leave te.bulk_copy away"),
            )
        };
        let fills = Fills::of(around, buffers)
            .filter(|fills| fills.filling().all(is_copy))
            .ok_or_else(|| why("reads what it fills, or fills it in other ways as well"))?;
        let block = |op: &Op| is_bound(*op) && loop_kind(*op).binding().is_some_and(|(thread, _)| !thread);
        let inside: Vec<Op> =
            parents(around).take_while(|op| matches!(op.kind(), Some(Kind::Loop(_))) && !block(op)).collect();
        if !inside.iter().all(|op| is_bound(*op)) {
            return Err(why("runs again and again in a loop or under a condition"));
        }
        let mut bytes = 0;
        for copy in fills.filling().filter_map(TensorCopy::of) {
            let element = buffer_parts(copy.source.r#type()).and_then(|(e, _)| dtype_of(e));
            bytes += copy.elements() * element.map_or(0, DType::size) as u64;
        }
        Ok(TmaLoop {
            around,
            nest: inside.last().copied().unwrap_or(around),
            fills,
            buffers: buffers.to_vec(),
            slots: super::slots(buffers[0]).unwrap_or(2),
            bytes,
        })
    }

    /// Iterations of the loop.
    pub fn extent(&self) -> u64 {
        self.around.int("extent").unwrap_or(0).max(0) as u64
    }

    /// The index of the loop.
    pub fn index(&self) -> Option<Value<'c>> {
        self.around.body(0).and_then(|body| arguments(body).first().copied())
    }

    /// Mbarriers, one a slot, that so many threads come to; what makes them stands before the loop over threads.
    pub fn mbarriers(&self, threads: [u64; 3], count: u64) -> Value<'c> {
        let loops = Loops { build: Build::before(self.nest) };
        let mbarriers = loops.alloc(self.slots, DType::I64, Scope::Shared).value;
        let first = first_thread(&loops, threads);
        loops.guard(first, |inside| {
            let count = [("count", int_attr(inside.build.context(), count as i64))];
            inside.build.op(Loop::MbarrierInit.name(), &[mbarriers], &[], &count);
        });
        mbarriers
    }

    /// Has a thread ask for what a step fills; `map` has the values of this place that take those of other places.
    pub fn begin(&self, build: &Build<'c>, step: Value<'c>, full: Value<'c>, map: ValueMap<'c>) {
        let slot = Loops { build: *build }.scalars().index_mod(step, self.slots as i64);
        let bytes = [("bytes", int_attr(build.context(), self.bytes as i64))];
        build.op(Loop::MbarrierExpect.name(), &[full, slot], &[], &bytes);
        for op in self.fills.repeat_with(build, step, map) {
            let Some(copy) = TensorCopy::of(op) else { continue };
            let at = copy.at.len() as i32;
            let operands = [op.operand_values(), vec![full, slot]].concat();
            let attrs = ["extents", "box"].map(|name| (name, op.attr(name)));
            let mut attrs: Vec<_> = attrs.into_iter().filter_map(|(name, a)| Some((name, a?))).collect();
            attrs.push(("operandSegmentSizes", segments_attr(build.context(), &[1, at, 1, 1, 1, 1])));
            Build::before(op).op(Loop::CopyTensor.name(), &operands, &[], &attrs);
            op.erase();
        }
    }

    /// Waits for what a step reads.
    pub fn wait(&self, build: &Build<'c>, step: Value<'c>, full: Value<'c>) {
        let s = Loops { build: *build }.scalars();
        let (slot, phase) = (s.index_mod(step, self.slots as i64), s.index_div(step, self.slots as i64));
        build.op(Loop::MbarrierWait.name(), &[full, slot, phase], &[], &[]);
    }

    /// All slots but one ahead, by the first thread of the block.
    pub fn ahead(&self, threads: [u64; 3]) {
        let (extent, ahead) = (self.extent(), self.slots - 1);
        let full = self.mbarriers(threads, 1);
        let Some(index) = self.index() else { return };
        let before = Loops { build: Build::before(self.around) };
        let first = first_thread(&before, threads);
        before.guard(first, |inside| {
            for step in 0..ahead.min(extent) {
                let step = inside.scalars().index(step as i64);
                self.begin(&inside.build, step, full, ValueMap::new());
            }
        });
        let Some(body) = self.around.body(0).and_then(|b| ops_in(b).first().copied()) else { return };
        let loops = Loops { build: Build::before(body) };
        self.wait(&loops.build, index, full);
        if let Some((next, exists)) = later(&loops, self.around, ahead).filter(|_| ahead < extent) {
            let first = first_thread(&loops, threads);
            loops.guard(loops.scalars().and(first, exists), |inside| {
                self.begin(&inside.build, next, full, ValueMap::new());
            });
        }
        self.fills.erase();
    }

    /// What the steps use besides their index, where it can be made before the loop over threads: the operations to do that.
    pub fn made_before(&self) -> Option<Vec<Op<'c>>> {
        let inside: HashSet<usize> = within([self.nest]).map(op_key).collect();
        let own: HashSet<usize> = self.fills.all().flat_map(|op| within([op])).map(op_key).collect();
        let mut needed: Vec<Op<'c>> = Vec::new();
        let mut open: Vec<Value<'c>> =
            self.fills.all().flat_map(|op| within([op])).flat_map(|op| op.operand_values()).collect();
        let index = self.index()?;
        while let Some(value) = open.pop() {
            if key(value) == key(index) {
                continue;
            }
            let Some(op) = defining_op(value) else {
                // The argument of a loop over threads differs from thread to thread.
                let owner = fusion_dialects::argument_owner(value)?;
                if inside.contains(&op_key(owner)) {
                    return None;
                }
                continue;
            };
            let is_buffer = self.buffers.contains(&op);
            if is_buffer || own.contains(&op_key(op)) || !inside.contains(&op_key(op)) || needed.contains(&op)
            {
                continue;
            }
            if !is_pure(op) || matches!(op.kind(), Some(Kind::Loop(_))) {
                return None;
            }
            needed.push(op);
            open.extend(op.operand_values());
        }
        // In the order in which they stand.
        Some(within([self.nest]).filter(|op| needed.contains(op)).collect())
    }
}

/// True for the thread whose numbers are all 0.
pub fn first_thread<'c>(loops: &Loops<'c>, threads: [u64; 3]) -> Scalar<'c> {
    let s = loops.scalars();
    let is_first = |which: usize| {
        let index = loops.thread_index(threads[which], DIMENSIONS[which]);
        s.index_compare(Compare::Equal, index, s.index(0))
    };
    let all = (0..3).filter(|which| threads[*which] > 1).map(is_first).reduce(|a, b| s.and(a, b));
    all.unwrap_or_else(|| s.index_compare(Compare::Equal, s.index(0), s.index(0)))
}
