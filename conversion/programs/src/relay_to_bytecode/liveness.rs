//! Whether a value is needed after an operation.
//!
//! ```text
//!   %x = ...                                   frame 1: last use of %x is operation 3, now at 1
//!   relay.if %c { f(%x); g(%x) } else { }      frame 2: last use of %x is operation 1, now at 0  -> needed: in frame 2
//!   ...                                                                               now at 1  -> needed: in frame 1
//!   h(%x)
//! ```
//!
//! One frame a block around the operation, out to the function's body. A block that runs again and again needs what lies around
//! it until the end.

use super::known::{Facts, is_closure};
use fusion_dialects::{Block, Op, OpExt, OperationLike, Value, arguments, key, op_key, ops_in};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The values in registers that operations use, found once each.
#[derive(Default)]
pub struct Uses<'c> {
    of: HashMap<usize, Rc<[Value<'c>]>>,
}

impl<'c> Uses<'c> {
    /// The values in registers around an operation that it uses, itself or in its regions.
    pub fn of(&mut self, facts: &Facts<'c>, op: Op<'c>) -> Rc<[Value<'c>]> {
        if let Some(known) = self.of.get(&op_key(op)) {
            return known.clone();
        }
        let (mut seen, mut values) = (HashSet::new(), Vec::new());
        let mut add = |value: Value<'c>| {
            if seen.insert(key(value)) {
                values.push(value);
            }
        };
        if is_closure(op) {
            if !facts.is_lifted(op) {
                facts.captures(op).iter().copied().for_each(&mut add);
            }
        } else if !gives_known(facts, op) {
            op.operand_values().into_iter().flat_map(|v| facts.behind(v)).for_each(&mut add);
            for block in (0..op.region_count()).filter_map(|i| op.body(i)) {
                let inner = ops_in(block);
                let mut inside: HashSet<usize> = arguments(block).into_iter().map(key).collect();
                inside.extend(inner.iter().flat_map(|op| op.result_values()).map(key));
                for op in inner {
                    self.of(facts, op)
                        .iter()
                        .copied()
                        .filter(|v| !inside.contains(&key(*v)))
                        .for_each(&mut add);
                }
            }
        }
        let values: Rc<[Value<'c>]> = values.into();
        self.of.insert(op_key(op), values.clone());
        values
    }
}

/// True for operations that do nothing, since what they give is known where it is used.
pub fn gives_known<'c>(facts: &Facts<'c>, op: Op<'c>) -> bool {
    let results = op.result_values();
    !results.is_empty()
        && results
            .into_iter()
            .all(|v| !matches!(facts.known(v), super::known::Known::Value(same) if key(same) == key(v)))
}

/// How often a block runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    /// Once.
    Once,
    /// As the test of a loop, which leaves the state where it is.
    Test,
    /// As the step of a loop, which uses the state up.
    Step,
}

/// A block that is being lowered.
pub struct Frame {
    defined: HashSet<usize>,
    last: HashMap<usize, usize>,
    /// The operation that is being lowered.
    pub at: usize,
    repeats: bool,
}

impl Frame {
    /// Before the first operation of a block, of which there are these.
    pub fn of<'c>(
        facts: &Facts<'c>,
        uses: &mut Uses<'c>,
        block: Block<'c>,
        ops: &[Op<'c>],
        runs: Runs,
    ) -> Frame {
        let taken = if runs == Runs::Test { Vec::new() } else { arguments(block) };
        let mut defined: HashSet<usize> = taken.into_iter().map(key).collect();
        let mut last = HashMap::new();
        for (at, op) in ops.iter().enumerate() {
            defined.extend(op.result_values().into_iter().map(key));
            last.extend(uses.of(facts, *op).iter().map(|v| (key(*v), at)));
        }
        Frame { defined, last, at: 0, repeats: runs != Runs::Once }
    }

    /// True when the block uses the value anywhere.
    pub fn uses(&self, value: Value) -> bool {
        self.last.contains_key(&key(value))
    }
}

/// True when a value is needed after the operation that is being lowered.
pub fn is_needed(frames: &[Frame], value: Value) -> bool {
    for frame in frames.iter().rev() {
        if frame.last.get(&key(value)).is_some_and(|last| *last > frame.at) {
            return true;
        }
        if frame.defined.contains(&key(value)) {
            return false;
        }
        if frame.repeats {
            return true;
        }
    }
    false
}
