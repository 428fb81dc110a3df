//! What fills the buffers of a loop, which can be repeated for another iteration: as it is, by asynchronous copies, or in two
//! halves, one that reads into registers and one that stores them.
//!
//!     s[j] = x[i]                        =>      copy_async 4 from x[i] to s[j]
//!     s[j] = if c then x[i] else 0       =>      copy_async 4 from x[i] to s[j] if c           4 x f32, where i and j are aligned
//!     s[j] = f(x[i])                     =>      r[n] = f(x[i])    ...    s[j] = r[n]

use super::super::alignment::base_of;
use super::super::launches::{is_bound, scope};
use super::super::{result, within};
use fusion_dialects::loops::tensor_copy::TensorCopy;
use fusion_dialects::loops::{Buffer, LoopKind, Loops, Op as Loop, Scope};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{
    Build, Op, OpExt, OperationLike, Value, ValueLike, ValueMap, arguments, buffer_parts, defining_op,
    dtype_of, int_attr, is_elementwise, is_pure, key, op_key, ops_in, users, vector_parts,
};
use fusion_loops::divisor::divisor;
use fusion_operators::DType;
use std::collections::HashSet;

/// Registers that a thread may have for what it fetches ahead, in bytes: 48 of them, beside up to 128 that hold sums.
pub const MOST_REGISTER_BYTES: u64 = 192;
/// Accesses that are written down one after another, at most.
const MOST_UNROLLED: u64 = 64;
/// Bytes of a register; smaller elements by themselves have one each.
const REGISTER: u64 = 4;

/// The operations of a loop's body that fill buffers.
pub struct Fills<'c> {
    index: Value<'c>,
    /// They and what they need of the body, in order.
    all: Vec<Op<'c>>,
    filling: HashSet<usize>,
}

impl<'c> Fills<'c> {
    /// Those of a loop; `None` where they cannot run ahead.
    pub fn of(around: Op<'c>, buffers: &[Op<'c>]) -> Option<Fills<'c>> {
        let body = around.body(0)?;
        let (index, ops) = (*arguments(body).first()?, ops_in(body));
        let staged: HashSet<usize> = buffers.iter().filter_map(|op| result(*op)).map(key).collect();
        let of_staged = |op: Op<'c>, writes: bool| {
            within([op]).any(|o| accessed(o).is_some_and(|(b, w)| w == writes && staged.contains(&key(b))))
        };
        let filling: Vec<Op<'c>> = ops.iter().copied().filter(|op| of_staged(*op, true)).collect();
        let place = |op: &Op<'c>| ops.iter().position(|o| o == op);
        let last = place(filling.last()?)?;
        // Of each buffer, all that is read is what this step filled.
        let of = |op: Op<'c>, buffer: usize, writes: bool| {
            within([op]).any(|o| accessed(o).is_some_and(|(b, w)| w == writes && key(b) == buffer))
        };
        let too_early = |buffer: &usize| {
            let last = ops.iter().rposition(|op| of(*op, *buffer, true));
            last.is_some_and(|last| ops[..=last].iter().any(|op| of(*op, *buffer, false)))
        };
        if staged.iter().any(too_early) {
            return None;
        }
        let written: HashSet<usize> = within(ops.iter().copied())
            .filter_map(accessed)
            .filter(|(_, writes)| *writes)
            .map(|(buffer, _)| key(buffer))
            .collect();
        let repeats = |op: Op<'c>| within([op]).all(|o| may_repeat(o, &staged, &written));
        let mut needed: HashSet<usize> = HashSet::new();
        let mut all: Vec<Op<'c>> = Vec::new();
        for op in ops[..=last].iter().rev() {
            let gives = op.result_values().into_iter().any(|v| needed.contains(&key(v)));
            if gives || filling.contains(op) {
                repeats(*op).then_some(())?;
                needed.extend(within([*op]).flat_map(|o| o.operand_values()).map(key));
                all.push(*op);
            }
        }
        all.reverse();
        let carried = arguments(body).iter().skip(1).any(|v| needed.contains(&key(*v)));
        let filling: HashSet<usize> = filling.into_iter().map(op_key).collect();
        // What fills gives nothing to the rest, from which it is taken away.
        let inside = |user: Op<'c>| {
            std::iter::successors(Some(user), |o| o.parent_operation()).any(|o| filling.contains(&op_key(o)))
        };
        let leaves = all
            .iter()
            .filter(|op| filling.contains(&op_key(**op)))
            .flat_map(|op| op.result_values())
            .any(|v| users(v).into_iter().any(|user| !inside(user)));
        (!carried && !leaves).then_some(Fills { index, all, filling })
    }

    /// Takes them out of the body.
    pub fn erase(&self) {
        for op in self.all.iter().rev().filter(|op| self.filling.contains(&op_key(**op))) {
            op.erase();
        }
    }

    /// They, and what they need of the body.
    pub fn all(&self) -> impl Iterator<Item = Op<'c>> {
        self.all.iter().copied()
    }

    /// They.
    pub fn filling(&self) -> impl Iterator<Item = Op<'c>> {
        self.all().filter(|op| self.filling.contains(&op_key(*op)))
    }

    /// What they do in another iteration.
    pub fn repeat(&self, build: &Build<'c>, index: Value<'c>) -> Vec<Op<'c>> {
        self.repeat_with(build, index, ValueMap::new())
    }

    /// The same with other values in place of some.
    pub fn repeat_with(&self, build: &Build<'c>, index: Value<'c>, mut map: ValueMap<'c>) -> Vec<Op<'c>> {
        map.insert(self.index, index);
        let mut made = Vec::new();
        for op in &self.all {
            let copy = map.clone_op(build, *op);
            if self.filling.contains(&op_key(*op)) {
                made.push(copy);
            }
        }
        made
    }

    /// The stores, each with the operation of the body that it is in.
    fn stores(&self) -> Vec<(Op<'c>, Op<'c>)> {
        stores_of(&self.filling().collect::<Vec<_>>())
    }

    /// True when each store copies bytes that an asynchronous copy can.
    pub fn are_copies(&self, most: u64) -> bool {
        let stores = self.stores();
        stores.iter().all(|(store, _)| Copy::of(*store).is_some_and(|copy| copy.bytes <= most))
    }

    /// Fills in another iteration, by asynchronous copies.
    pub fn copy(&self, build: &Build<'c>, index: Value<'c>) {
        for (store, root) in stores_of(&self.repeat(build, index)) {
            if let Some(copy) = Copy::of(store) {
                unroll(store, root);
                copy.begin(store);
            }
        }
    }

    /// Bytes of what a thread stores in an iteration.
    pub fn register_bytes(&self) -> u64 {
        let bytes = |(store, root): &(Op<'c>, Op<'c>)| {
            let size = lanes_of(*store)
                .map_or(u64::MAX, |(lanes, dtype)| (lanes * dtype.size() as u64).max(REGISTER));
            size.saturating_mul(trips(*store, *root))
        };
        self.stores().iter().map(bytes).fold(0, u64::saturating_add)
    }

    /// A thread's own buffer for what each store stores.
    pub fn registers(&self, build: &Build<'c>) -> Vec<Buffer<'c>> {
        let own = |(store, root): &(Op<'c>, Op<'c>)| {
            let (lanes, dtype) = lanes_of(*store).unwrap_or((1, DType::F32));
            Loops { build: *build }.alloc(lanes * trips(*store, *root), dtype, Scope::Local)
        };
        self.stores().iter().map(own).collect()
    }

    /// Reads what another iteration stores.
    pub fn fetch(&self, build: &Build<'c>, index: Value<'c>, registers: &[Buffer<'c>]) {
        for ((store, root), own) in stores_of(&self.repeat(build, index)).into_iter().zip(registers) {
            let build = Build::before(store);
            let place = own_place(&build, store, root);
            build.op(Loop::Store.name(), &[store.operand_values()[0], own.value, place], &[], &[]);
            unroll(store, root);
            store.erase();
        }
    }

    /// Stores what was read for another iteration.
    pub fn put(&self, build: &Build<'c>, index: Value<'c>, registers: &[Buffer<'c>]) {
        for ((store, root), own) in stores_of(&self.repeat(build, index)).into_iter().zip(registers) {
            let build = Build::before(store);
            let place = own_place(&build, store, root);
            let ty = store.operand_values()[0].r#type();
            let value = build.value(Loop::Load.name(), &[own.value, place], ty, &[]);
            store.set_operand_value(0, value);
            unroll(store, root);
        }
    }
}

/// The stores in operations, each with the one it is in.
fn stores_of<'c>(roots: &[Op<'c>]) -> Vec<(Op<'c>, Op<'c>)> {
    let is_store = |op: &Op<'c>| matches!(op.kind(), Some(Kind::Loop(Loop::Store)));
    let inside = |root: &Op<'c>| within([*root]).filter(is_store).map(|op| (op, *root)).collect::<Vec<_>>();
    roots.iter().flat_map(inside).collect()
}

/// The buffer that an operation reads or writes, and whether it writes.
fn accessed<'c>(op: Op<'c>) -> Option<(Value<'c>, bool)> {
    let (at, writes) = match op.kind() {
        Some(Kind::Loop(
            Loop::Load | Loop::Gather | Loop::LoadStrided | Loop::LoadMatrix | Loop::MultiplyShared,
        )) => (0, false),
        Some(Kind::Loop(Loop::Store | Loop::Scatter | Loop::StoreStrided)) => (1, true),
        Some(Kind::Loop(Loop::CopyAsync)) => (2, true),
        Some(Kind::Loop(Loop::CopyTensor)) => return TensorCopy::of(op).map(|copy| (copy.buffer, true)),
        Some(Kind::Upstream(Upstream::MaskedLoad | Upstream::MaskedGather)) => (0, false),
        Some(Kind::Upstream(Upstream::MaskedStore | Upstream::MaskedScatter)) => (0, true),
        _ => return None,
    };
    op.operand_values().get(at).map(|v| (*v, writes))
}

/// True for what may run in an earlier iteration as well: it writes the slots only, and reads nothing that the loop writes.
fn may_repeat(op: Op, staged: &HashSet<usize>, written: &HashSet<usize>) -> bool {
    match op.kind() {
        Some(Kind::Loop(Loop::For | Loop::Guard | Loop::Yield)) => true,
        Some(Kind::Loop(Loop::CopyTensor)) => {
            TensorCopy::of(op).is_some_and(|copy| !written.contains(&key(copy.source)))
        }
        Some(Kind::Loop(Loop::Store)) => {
            let buffer = op.operand_values().get(1).map(|v| key(*v));
            buffer.is_some_and(|b| staged.contains(&b)) && lanes_of(op).is_some()
        }
        Some(Kind::Loop(Loop::Load | Loop::Gather | Loop::LoadStrided))
        | Some(Kind::Upstream(Upstream::MaskedLoad | Upstream::MaskedGather)) => {
            accessed(op).is_some_and(|(buffer, _)| !written.contains(&key(buffer)))
        }
        Some(Kind::Loop(_)) => false,
        _ => is_pure(op) || is_elementwise(op),
    }
}

/// How many elements a store stores, and of which type.
fn lanes_of(store: Op) -> Option<(u64, DType)> {
    let ty = store.operand_values().first()?.r#type();
    let (element, lanes) = vector_parts(ty).unwrap_or((ty, 1));
    dtype_of(element).map(|dtype| (lanes, dtype))
}

/// The loops around a store that a thread goes through, innermost first.
fn own_loops<'c>(store: Op<'c>, root: Op<'c>) -> Vec<Op<'c>> {
    let mut around = Vec::new();
    let mut at = store;
    while at != root {
        let Some(next) = at.parent_operation() else { break };
        at = next;
        if matches!(at.kind(), Some(Kind::Loop(Loop::For))) && !is_bound(at) {
            around.push(at);
        }
    }
    around
}

/// How often a thread comes to a store.
fn trips(store: Op, root: Op) -> u64 {
    let extents = own_loops(store, root).into_iter().map(|op| op.int("extent").unwrap_or(1).max(1) as u64);
    extents.fold(1, u64::saturating_mul)
}

/// Has the few loops around a store be unrolled: what it stores are registers then, and places are computed together.
fn unroll(store: Op, root: Op) {
    if trips(store, root) > MOST_UNROLLED {
        return;
    }
    for around in own_loops(store, root) {
        around.set_attr("kind", int_attr(around.context_ref(), LoopKind::Unrolled as i64));
    }
}

/// Where in a thread's own buffer the elements of this time are.
fn own_place<'c>(build: &Build<'c>, store: Op<'c>, root: Op<'c>) -> Value<'c> {
    let s = Loops { build: *build }.scalars();
    let (mut place, mut unit) = (s.index(0), lanes_of(store).map_or(1, |(lanes, _)| lanes as i64));
    for around in own_loops(store, root) {
        let Some(index) = around.body(0).and_then(|b| arguments(b).first().copied()) else { continue };
        place = s.index_add(place, s.index_affine(index, unit, 0));
        unit = unit.saturating_mul(around.int("extent").unwrap_or(1).max(1));
    }
    place
}

/// A store of what lies in the device's memory, or of zeros.
struct Copy<'c> {
    load: Op<'c>,
    condition: Option<Value<'c>>,
    bytes: u64,
    elements: u64,
}

impl<'c> Copy<'c> {
    /// What a store copies; `None` where it stores something else, or bytes that are not aligned.
    fn of(store: Op<'c>) -> Option<Copy<'c>> {
        let [value, buffer, to] = store.operand_values()[..] else { return None };
        let (elements, dtype) = lanes_of(store)?;
        let bytes = elements * dtype.size() as u64;
        let from = defining_op(value)?;
        let (load, condition) = match from.kind() {
            Some(Kind::Loop(Loop::Load)) => (from, None),
            Some(Kind::Loop(Loop::Guard)) => {
                let [condition, otherwise] = from.operand_values()[..] else { return None };
                let ops = ops_in(from.body(0)?);
                let (end, rest) = ops.split_last()?;
                let load = defining_op(*end.operand_values().first()?)?;
                let simple = rest.iter().all(|op| *op == load || is_pure(*op)) && rest.contains(&load);
                (simple && is_zero(otherwise)).then_some(())?;
                (load, Some(condition))
            }
            _ => return None,
        };
        let is_load = matches!(load.kind(), Some(Kind::Loop(Loop::Load)));
        let [source, at] = load.operand_values()[..] else { return None };
        let global = defining_op(source).is_none_or(|op| scope(op).is_none());
        let same = buffer_parts(source.r#type())?.0 == buffer_parts(buffer.r#type())?.0;
        let aligned = |buffer: Value<'c>, index: Value<'c>| {
            let size = dtype.size() as i64;
            (divisor(index) * size) % bytes as i64 == 0 && base_of(buffer) % bytes as i64 == 0
        };
        let fits = matches!(bytes, 4 | 8 | 16) && aligned(source, at) && aligned(buffer, to);
        (is_load && global && same && fits).then_some(Copy { load, condition, bytes, elements })
    }

    /// Begins it in place of the store.
    fn begin(&self, store: Op<'c>) {
        let build = Build::before(store);
        let [_, buffer, to] = store.operand_values()[..] else { return };
        let mut map = ValueMap::new();
        // The place is computed in the guard, where it is known to be inside.
        if let (Some(_), Some(block)) = (self.condition, self.load.block()) {
            for op in ops_in(block).into_iter().take_while(|op| *op != self.load) {
                map.clone_op(&build, op);
            }
        }
        let [source, at] = self.load.operand_values()[..] else { return };
        let mut operands = vec![source, map.lookup(at), buffer, to];
        operands.extend(self.condition);
        let elements = int_attr(build.context(), self.elements as i64);
        build.op(Loop::CopyAsync.name(), &operands, &[], &[("elements", elements)]);
        store.erase();
    }
}

/// True for zeros, but not for those below zero.
fn is_zero(value: Value) -> bool {
    let constant = defining_op(value)
        .filter(|op| matches!(op.kind(), Some(Kind::Upstream(Upstream::ArithConstant))))
        .and_then(|op| op.attr("value"));
    let Some(text) = constant.map(|c| c.to_string()) else { return false };
    let number = text.trim_start_matches("dense<");
    let end = number.find(['>', ' ']).unwrap_or(number.len());
    !number.starts_with('-') && number[..end].parse::<f64>() == Ok(0.0)
}
