//! Sets of classes, a bit each: the search asks millions of times whether a kernel has a class.

use super::space::ClassId;

/// A set of classes.
pub struct ClassSet(Vec<u64>);

impl ClassSet {
    /// The empty set of so many classes.
    pub fn of(classes: usize) -> Self {
        ClassSet(vec![0; classes.div_ceil(64)])
    }

    /// Whether it has a class.
    pub fn has(&self, class: ClassId) -> bool {
        self.0[class / 64] >> (class % 64) & 1 == 1
    }

    /// Adds a class; false where it was there.
    pub fn add(&mut self, class: ClassId) -> bool {
        let added = !self.has(class);
        self.0[class / 64] |= 1 << (class % 64);
        added
    }

    /// Takes a class out.
    pub fn remove(&mut self, class: ClassId) {
        self.0[class / 64] &= !(1 << (class % 64));
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
}
