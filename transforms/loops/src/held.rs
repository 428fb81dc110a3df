//! What an iteration holds in registers from one operation to the next.
//!
//!     ^(%k, %acc):                        holds        a copy of the iteration may follow here
//!       %x = load A[%k]                   acc x
//!       %s = %acc + %x * %b               s            yes: as much as it carries
//!       %y = load A[%k + 8]               s y
//!       %t = %s + %y * %c                 t            yes
//!       yield %t
//!
//! Where iterations stand side by side, all copies of the first two operations may come before all of the others: then no register is
//! taken by what one copy waits with, and `%c` is needed only after `%b`.

use fusion_dialects::{Block, OpExt, TypeLike, Value, ValueLike, arguments, key, nested_ops, ops_in};
use std::collections::HashMap;

/// The values that an iteration holds, while one goes over its operations.
pub struct Held {
    values: Vec<usize>,
    /// The last operations that use a value, by their places in the block.
    last_uses: HashMap<usize, usize>,
    carried: usize,
    /// Whether any was made since it held as many as it carries.
    is_changed: bool,
}

impl Held {
    /// Those at the start of a block: what it is given, and carries from one iteration to the next.
    pub fn at_start_of(block: Block) -> Held {
        let mut last_uses = HashMap::new();
        for (place, op) in ops_in(block).into_iter().enumerate() {
            let inside = nested_ops(op).into_iter().flat_map(|o| o.operand_values());
            last_uses.extend(op.operand_values().into_iter().chain(inside).map(|v| (key(v), place)));
        }
        let values: Vec<usize> = counted(arguments(block)).collect();
        Held { carried: values.len(), values, last_uses, is_changed: false }
    }

    /// Adds values that were made.
    pub fn add(&mut self, values: Vec<Value>) {
        let before = self.values.len();
        self.values.extend(counted(values));
        self.is_changed |= self.values.len() > before;
    }

    /// True where, before the operation at a place, no more are held than are carried, and others than before.
    pub fn has_settled(&mut self, place: usize) -> bool {
        self.values.retain(|v| self.last_uses.get(v).is_some_and(|&last| last >= place));
        self.values.len() <= self.carried && std::mem::take(&mut self.is_changed)
    }
}

/// Those of some values that take registers: indices become parts of addresses.
fn counted(values: Vec<Value>) -> impl Iterator<Item = usize> {
    values.into_iter().filter(|v| !v.r#type().is_index()).map(key)
}
