//! Which parts of a kernel are launched together, and on how many threads.
//!
//!     constants, views, indices       made anew in each launch
//!     a nest with bound loops         a launch: as many blocks and threads as its loops bound to them have iterations at most
//!     what uses a value or a buffer   belongs to the nest that makes it
//!     all between two of them         a launch of one thread
//!
//! Loops bound to the same blocks or threads stand for the same threads, wherever they stand in a nest: one with fewer iterations
//! than there are threads leaves the others idle.

use super::{result, within};
use fusion_dialects::loops::{Op as Loop, Scope, loop_kind};
use fusion_dialects::rows::{Kind, Upstream};
use fusion_dialects::{Block, Op, OpExt, OperationLike, ValueLike, key, ops_in};
use fusion_loop_to_cpu::memory::buffer_bytes;
use std::collections::HashSet;

/// How many threads there are, in x, y and z, and what a block of them has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Blocks.
    pub grid: [u64; 3],
    /// Threads of each.
    pub block: [u64; 3],
    /// Bytes of memory that the threads of a block share.
    pub shared_bytes: u64,
}

/// A part of a kernel that is launched.
pub struct Launch<'c> {
    /// Its operations.
    pub ops: Vec<Op<'c>>,
    /// Its threads.
    pub shape: Shape,
}

/// True for loops bound to blocks or threads, and for what asks for the number of one.
pub fn is_bound(op: Op) -> bool {
    matches!(op.kind(), Some(Kind::Loop(Loop::For | Loop::ThreadIndex))) && loop_kind(op).binding().is_some()
}

/// Operations that are launched together, so far.
#[derive(Default)]
struct Group<'c> {
    ops: Vec<Op<'c>>,
    /// Whether loops in it are bound.
    binds: bool,
    /// What it makes, and the buffers of a block or thread that it uses.
    holds: HashSet<usize>,
}

/// The operations that every launch of a kernel makes anew, and its launches in order.
pub fn of<'c>(block: Block<'c>) -> (Vec<Op<'c>>, Vec<Launch<'c>>) {
    let (mut anew, mut groups): (Vec<Op>, Vec<Group>) = (Vec::new(), Vec::new());
    let buffers: HashSet<usize> =
        ops_in(block).into_iter().filter(|op| scope(*op).is_some()).filter_map(result).map(key).collect();
    // What is computed of the numbers of threads.
    let mut numbers: HashSet<usize> = HashSet::new();
    for op in ops_in(block) {
        let uses: HashSet<usize> = within([op]).flat_map(|op| op.operand_values()).map(key).collect();
        // What uses a value or a buffer of a nest belongs to it, with all between the two.
        let earlier = groups.iter().position(|group| !group.holds.is_disjoint(&uses));
        if matches!(op.kind(), Some(Kind::Upstream(Upstream::Return))) {
            continue;
        }
        if earlier.is_none() && may_be_made_anew(op) {
            anew.push(op);
            let of_thread = matches!(op.kind(), Some(Kind::Loop(Loop::ThreadIndex)));
            if of_thread || !numbers.is_disjoint(&uses) {
                numbers.extend(result(op).map(key));
            }
            continue;
        }
        let binds = !numbers.is_disjoint(&uses) || within([op]).any(is_bound);
        let serial = groups.len().checked_sub(1).filter(|last| !binds && !groups[*last].binds);
        let mut group = Group::default();
        if let Some(first) = earlier.or(serial) {
            for part in groups.split_off(first) {
                group.ops.extend(part.ops);
                group.holds.extend(part.holds);
                group.binds |= part.binds;
            }
        }
        group.ops.push(op);
        group.binds |= binds;
        group.holds.extend(op.result_values().into_iter().map(key));
        group.holds.extend(uses.intersection(&buffers));
        groups.push(group);
    }
    let launch = |Group { ops, .. }| Launch { shape: shape(&anew, &ops), ops };
    let launches: Vec<Launch> = groups.into_iter().map(launch).collect();
    (anew, launches)
}

/// True for what gives the same in every launch: values that follow from no memory, and buffers.
fn may_be_made_anew(op: Op) -> bool {
    let computes = match op.kind() {
        Some(Kind::Loop(kind)) => matches!(kind, Loop::Alloc | Loop::ThreadIndex),
        Some(Kind::Upstream(kind)) => {
            !matches!(kind, Upstream::Call | Upstream::MemRefLoad | Upstream::VectorLoad)
        }
        _ => true,
    };
    computes && result(op).is_some() && op.regions().next().is_none()
}

fn shape(anew: &[Op], ops: &[Op]) -> Shape {
    let mut shape = Shape { grid: [1; 3], block: [1; 3], shared_bytes: 0 };
    let mut inside: Vec<Op> = within(ops.iter().copied()).collect();
    let mut used: HashSet<usize> = inside.iter().flat_map(|op| op.operand_values()).map(key).collect();
    // Users come behind what they use.
    for op in anew.iter().rev() {
        if result(*op).is_some_and(|v| used.contains(&key(v))) {
            used.extend(op.operand_values().into_iter().map(key));
            inside.push(*op);
        }
    }
    for op in inside.iter().filter(|op| is_bound(**op)) {
        let Some((thread, which)) = loop_kind(*op).binding() else { continue };
        let sizes = if thread { &mut shape.block } else { &mut shape.grid };
        sizes[which] = sizes[which].max(op.int("extent").unwrap_or(1).max(1) as u64);
    }
    let buffers = inside.iter().filter(|op| scope(**op) == Some(Scope::Shared));
    let rounded = |n: u64| n.saturating_add(15) / 16 * 16;
    shape.shared_bytes = buffers.map(|op| bytes(*op)).fold(0, |sum, n| sum.saturating_add(rounded(n)));
    shape
}

/// The scope of a buffer that is made here.
pub fn scope(op: Op) -> Option<Scope> {
    let alloc = matches!(op.kind(), Some(Kind::Loop(Loop::Alloc)));
    alloc.then(|| op.int("scope").and_then(Scope::from_number)).flatten()
}

/// Bytes of the buffer that an operation makes.
pub fn bytes(op: Op) -> u64 {
    result(op).and_then(|v| buffer_bytes(v.r#type())).unwrap_or(0)
}
