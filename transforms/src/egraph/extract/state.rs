//! A state of extraction: for each class the candidate it is computed by, and whether its value is stored.
//!
//!     stored class    a kernel writes it to memory, and those who need it read it
//!     lazy class      every kernel that needs it computes it, next to where it is used
//!
//! So the kernels follow from the state: one for each stored class (or group of stored classes), with all lazy classes it reaches.
//! Making a class lazy is fusion; where several kernels need it, it is recomputed in each.

use super::space::{Candidate, ClassId, Space};
use std::collections::BTreeMap;

/// A state.
#[derive(Clone)]
pub struct State {
    choice: Vec<u32>,
    uses: Vec<u32>,
    stored: Vec<bool>,
    /// The first of the classes that one kernel stores together; itself where there are no others.
    group: Vec<u32>,
    /// The next class of the same group, and behind the last one the first: itself where there are no others.
    next: Vec<u32>,
}

impl State {
    /// All classes computed by the given candidates, those that are needed stored.
    pub fn new(space: &Space, choice: Vec<u32>) -> State {
        let count = space.classes.len();
        let group = (0..count as u32).collect();
        let mut state = State {
            choice,
            uses: vec![0; count],
            stored: vec![true; count],
            group,
            next: (0..count as u32).collect(),
        };
        for &root in &space.roots {
            state.acquire(space, root);
        }
        state
    }

    /// The state in which one class is stored with what it is computed of, and all others are; for questions about that kernel alone.
    pub fn of_one_kernel(space: &Space, choices: &BTreeMap<ClassId, usize>, stores: ClassId) -> State {
        let count = space.classes.len();
        let mut choice = vec![0; count];
        let mut stored = vec![true; count];
        for (&class, &candidate) in choices {
            choice[class] = candidate as u32;
            stored[class] = class == stores;
        }
        let alone: Vec<u32> = (0..count as u32).collect();
        State { choice, uses: vec![0; count], stored, group: alone.clone(), next: alone }
    }

    /// The candidate of a class. Panics for an external class, which has none.
    pub fn candidate<'s>(&self, space: &'s Space, class: ClassId) -> &'s Candidate {
        &space.classes[class].candidates[self.choice[class] as usize]
    }

    /// The number of a class's candidate.
    pub fn choice(&self, class: ClassId) -> usize {
        self.choice[class] as usize
    }

    /// True when something needs the class.
    pub fn is_live(&self, class: ClassId) -> bool {
        self.uses[class] > 0
    }

    /// True when a kernel writes the class.
    pub fn is_stored(&self, class: ClassId) -> bool {
        self.stored[class]
    }

    /// Makes a class stored or lazy.
    pub fn set_stored(&mut self, class: ClassId, stored: bool) {
        self.stored[class] = stored;
    }

    /// The first class of the group a class is stored with.
    pub fn group(&self, class: ClassId) -> ClassId {
        self.group[class] as usize
    }

    /// The classes that are stored by the same kernel, in order.
    pub fn group_of(&self, class: ClassId) -> Vec<ClassId> {
        let mut group = vec![class];
        let mut at = self.next[class] as usize;
        while at != class {
            group.push(at);
            at = self.next[at] as usize;
        }
        group.sort_unstable();
        group
    }

    /// Lets one kernel store the classes of two groups.
    pub fn join(&mut self, a: ClassId, b: ClassId) {
        if self.group[a] == self.group[b] {
            return;
        }
        self.next.swap(a, b);
        self.name(a);
    }

    /// Lets each class of a group be stored by a kernel of its own.
    pub fn part(&mut self, group: &[ClassId]) {
        for &class in group {
            self.group[class] = class as u32;
            self.next[class] = class as u32;
        }
    }

    /// Names the group of a class by the first of its classes.
    fn name(&mut self, class: ClassId) {
        let group = self.group_of(class);
        group.iter().for_each(|&member| self.group[member] = group[0] as u32);
    }

    /// The live classes whose candidate reads a class.
    pub fn users(&self, space: &Space, class: ClassId) -> Vec<ClassId> {
        let parents = space.classes[class].parents.iter().copied();
        parents.filter(|&p| self.is_live(p) && self.candidate(space, p).operands.contains(&class)).collect()
    }

    /// Computes a class by another candidate. Fails, and leaves the state in no order, when a class would need itself.
    pub fn choose(&mut self, space: &Space, class: ClassId, candidate: usize) -> Result<(), Cyclic> {
        let old = self.candidate(space, class).operands.clone();
        self.choice[class] = candidate as u32;
        if self.reaches_itself(space, class) {
            return Err(Cyclic);
        }
        let live = self.is_live(class);
        if live {
            for operand in self.candidate(space, class).operands.clone() {
                self.acquire(space, operand);
            }
            for operand in old {
                self.release(space, operand);
            }
        }
        Ok(())
    }

    fn reaches_itself(&self, space: &Space, class: ClassId) -> bool {
        let mut seen = vec![false; space.classes.len()];
        let mut stack = self.candidate(space, class).operands.clone();
        while let Some(at) = stack.pop() {
            if at == class {
                return true;
            }
            if !space.classes[at].is_external && !std::mem::replace(&mut seen[at], true) {
                stack.extend(&self.candidate(space, at).operands);
            }
        }
        false
    }

    fn acquire(&mut self, space: &Space, class: ClassId) {
        let mut stack = vec![class];
        while let Some(at) = stack.pop() {
            self.uses[at] += 1;
            if self.uses[at] == 1 && !space.classes[at].is_external {
                self.stored[at] = true;
                self.group[at] = at as u32;
                stack.extend(&self.candidate(space, at).operands);
            }
        }
    }

    fn release(&mut self, space: &Space, class: ClassId) {
        let mut stack = vec![class];
        while let Some(at) = stack.pop() {
            self.uses[at] -= 1;
            if self.uses[at] == 0 && !space.classes[at].is_external {
                self.leave(at);
                stack.extend(&self.candidate(space, at).operands);
            }
        }
    }

    /// Takes a class out of its group.
    fn leave(&mut self, class: ClassId) {
        let rest = self.next[class] as usize;
        if let Some(&before) = self.group_of(class).iter().find(|&&c| self.next[c] as usize == class) {
            self.next[before] = rest as u32;
        }
        self.part(&[class]);
        if rest != class {
            self.name(rest);
        }
    }
}

/// A class would need itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cyclic;
