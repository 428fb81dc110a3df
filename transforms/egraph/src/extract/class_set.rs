//! Sets of classes, a bit each: the search asks millions of times whether a kernel has a class.
//!
//! A kernel has few of a large program's classes. So the memory of a set is used again, and what was written of it is cleared, not all.

use super::space::ClassId;
use std::cell::RefCell;

thread_local! {
    /// Memory of sets that are gone; all bits are zero.
    static SPARE: RefCell<Vec<Memory>> = const { RefCell::new(Vec::new()) };
}

#[derive(Default)]
struct Memory {
    words: Vec<u64>,
    /// The words that are not zero, and some that are again.
    written: Vec<usize>,
}

/// A set of classes.
pub struct ClassSet(Memory);

impl ClassSet {
    /// The empty set of so many classes.
    pub fn of(classes: usize) -> Self {
        let mut memory = SPARE.with_borrow_mut(Vec::pop).unwrap_or_default();
        let words = classes.div_ceil(64);
        if memory.words.len() < words {
            memory.words.resize(words, 0);
        }
        ClassSet(memory)
    }

    /// Whether it has a class.
    pub fn has(&self, class: ClassId) -> bool {
        self.0.words[class / 64] >> (class % 64) & 1 == 1
    }

    /// Adds a class; false where it was there.
    pub fn add(&mut self, class: ClassId) -> bool {
        let word = &mut self.0.words[class / 64];
        let (before, bit) = (*word, 1 << (class % 64));
        *word |= bit;
        if before == 0 {
            self.0.written.push(class / 64);
        }
        before & bit == 0
    }

    /// Takes a class out.
    pub fn remove(&mut self, class: ClassId) {
        self.0.words[class / 64] &= !(1 << (class % 64));
    }
}

impl Drop for ClassSet {
    fn drop(&mut self) {
        let mut memory = std::mem::take(&mut self.0);
        for word in memory.written.drain(..) {
            memory.words[word] = 0;
        }
        SPARE.with_borrow_mut(|spare| spare.push(memory));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_come_and_go() {
        let mut set = ClassSet::of(65);
        assert!(set.add(64) && !set.add(64) && set.add(0));
        set.remove(64);
        assert!(!set.has(64) && set.has(0) && !set.has(1));
    }

    #[test]
    fn a_set_begins_empty_in_the_memory_of_another() {
        for classes in [130, 65, 200] {
            let mut set = ClassSet::of(classes);
            assert!((0..classes).all(|class| !set.has(class)));
            set.add(classes - 1);
            set.add(0);
            set.remove(0);
            set.add(1);
        }
    }
}
