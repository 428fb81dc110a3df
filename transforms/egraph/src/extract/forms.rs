//! Which classes look alike from where they stand.
//!
//! ```text
//!     form(c, 0)      what c is: its types and the operators that may compute it
//!     form(c, n + 1)  form(c, n), the forms of the operands of its candidates in order, and those of its readers
//! ```
//!
//! So two classes of one form have the same surroundings up to a distance (Weisfeiler and Leman's refinement, 1968). In a network that was
//! unrolled over time, or that repeats a block, the classes of all steps but the first and last few have one form. What a move gains
//! follows from what is around it: what did not gain in many steps will not in the next. Attributes do not count, as each step slices
//! elsewhere; those that matter show in types and times.

use super::space::{Class, ClassId, Space};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// How far forms look: as far as a product, what is computed on it, and what is before and after.
const DISTANCE: usize = 3;

/// The form of each class, as a number.
pub(super) fn of(space: &Space) -> Vec<u64> {
    let mut forms: Vec<u64> = space.classes.iter().map(alone).collect();
    for _ in 0..DISTANCE {
        forms = (0..space.classes.len()).map(|class| around(space, &forms, class)).collect();
    }
    forms
}

fn alone(class: &Class) -> u64 {
    let mut hasher = DefaultHasher::new();
    (class.is_external, class.kind, &class.types).hash(&mut hasher);
    for candidate in &class.candidates {
        (candidate.operator.map(|o| o.name), candidate.result, candidate.kind).hash(&mut hasher);
        (candidate.seconds.to_bits(), candidate.error.to_bits()).hash(&mut hasher);
    }
    hasher.finish()
}

fn around(space: &Space, forms: &[u64], class: ClassId) -> u64 {
    let mut hasher = DefaultHasher::new();
    let facts = &space.classes[class];
    forms[class].hash(&mut hasher);
    for candidate in &facts.candidates {
        candidate.operands.len().hash(&mut hasher);
        candidate.operands.iter().for_each(|&operand| forms[operand].hash(&mut hasher));
    }
    let mut readers: Vec<u64> = facts.parents.iter().map(|&reader| forms[reader]).collect();
    readers.sort_unstable();
    readers.hash(&mut hasher);
    hasher.finish()
}
