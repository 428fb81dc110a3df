//! A state of extraction: for each class the candidate it is computed by, and whether its value is stored.
//!
//!     stored class    a kernel writes it to memory, and those who need it read it
//!     lazy class      every kernel that needs it computes it, next to where it is used
//!
//! So the kernels follow from the state: one for each stored class (or group of stored classes), with all lazy classes it reaches.
//! Making a class lazy is fusion; where several kernels need it, it is recomputed in each.

use super::class_set::ClassSet;
use super::space::{Candidate, ClassId, Space};
use std::collections::BTreeMap;

/// What is decided of a class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    choice: u32,
    uses: u32,
    /// The first of the classes that one kernel stores together; itself where there are no others.
    group: u32,
    /// The next class of the same group, and behind the last one the first: itself where there are no others.
    next: u32,
    stored: bool,
}

impl Row {
    fn alone(class: ClassId, choice: u32, stored: bool) -> Row {
        Row { choice, uses: 0, group: class as u32, next: class as u32, stored }
    }

    /// True when a kernel is named by this class: it is live, stored and the first of its group.
    pub(super) fn has_kernel(&self, class: ClassId) -> bool {
        self.uses > 0 && self.stored && self.group as usize == class
    }
}

/// A state. It keeps what edits replaced, so that a move that does not gain is taken back at the price of what it changed.
#[derive(Clone)]
pub struct State {
    rows: Vec<Row>,
    replaced: Vec<(ClassId, Row)>,
}

impl State {
    /// All classes computed by the given candidates, those that are needed stored.
    pub fn new(space: &Space, choice: Vec<u32>) -> State {
        let rows = choice.into_iter().enumerate().map(|(class, choice)| Row::alone(class, choice, true));
        let mut state = State { rows: rows.collect(), replaced: Vec::new() };
        for &root in &space.roots {
            state.acquire(space, root);
        }
        state.replaced.clear();
        state
    }

    /// The state in which one class is stored with what it is computed of, and all others are; for questions about that kernel alone.
    pub fn of_one_kernel(space: &Space, choices: &BTreeMap<ClassId, usize>, stores: ClassId) -> State {
        let mut rows: Vec<Row> = (0..space.classes.len()).map(|class| Row::alone(class, 0, true)).collect();
        for (&class, &candidate) in choices {
            rows[class] = Row::alone(class, candidate as u32, class == stores);
        }
        State { rows, replaced: Vec::new() }
    }

    /// The row of a class, to be edited.
    fn edit(&mut self, class: ClassId) -> &mut Row {
        self.replaced.push((class, self.rows[class]));
        &mut self.rows[class]
    }

    /// The rows that edits replaced, oldest first.
    pub(super) fn replaced(&self) -> &[(ClassId, Row)] {
        &self.replaced
    }

    /// Takes back all edits but the first ones.
    pub(super) fn undo_to(&mut self, edits: usize) {
        for (class, row) in self.replaced.drain(edits..).rev() {
            self.rows[class] = row;
        }
    }

    /// Lets all edits be as they are.
    pub(super) fn keep(&mut self) {
        self.replaced.clear();
    }

    /// What is decided of a class.
    pub(super) fn row(&self, class: ClassId) -> Row {
        self.rows[class]
    }

    /// The candidate of a class. Panics for an external class, which has none.
    pub fn candidate<'s>(&self, space: &'s Space, class: ClassId) -> &'s Candidate {
        &space.classes[class].candidates[self.rows[class].choice as usize]
    }

    /// The number of a class's candidate.
    pub fn choice(&self, class: ClassId) -> usize {
        self.rows[class].choice as usize
    }

    /// True when something needs the class.
    pub fn is_live(&self, class: ClassId) -> bool {
        self.rows[class].uses > 0
    }

    /// True when a kernel writes the class.
    pub fn is_stored(&self, class: ClassId) -> bool {
        self.rows[class].stored
    }

    /// Makes a class stored or lazy.
    pub fn set_stored(&mut self, class: ClassId, stored: bool) {
        self.edit(class).stored = stored;
    }

    /// The first class of the group a class is stored with.
    pub fn group(&self, class: ClassId) -> ClassId {
        self.rows[class].group as usize
    }

    /// True where no other class is stored by the same kernel.
    pub fn is_alone(&self, class: ClassId) -> bool {
        self.rows[class].next as usize == class
    }

    /// The classes that are stored by the same kernel, in order.
    pub fn group_of(&self, class: ClassId) -> Vec<ClassId> {
        let mut group = vec![class];
        let mut at = self.rows[class].next as usize;
        while at != class {
            group.push(at);
            at = self.rows[at].next as usize;
        }
        group.sort_unstable();
        group
    }

    /// Lets one kernel store the classes of two groups.
    pub fn join(&mut self, a: ClassId, b: ClassId) {
        if self.rows[a].group == self.rows[b].group {
            return;
        }
        let (next_a, next_b) = (self.rows[a].next, self.rows[b].next);
        self.edit(a).next = next_b;
        self.edit(b).next = next_a;
        self.name(a);
    }

    /// Lets each class of a group be stored by a kernel of its own.
    pub fn part(&mut self, group: &[ClassId]) {
        for &class in group {
            let row = self.edit(class);
            (row.group, row.next) = (class as u32, class as u32);
        }
    }

    /// Names the group of a class by the first of its classes.
    fn name(&mut self, class: ClassId) {
        let group = self.group_of(class);
        group.iter().for_each(|&member| self.edit(member).group = group[0] as u32);
    }

    /// The live classes whose candidate reads a class.
    pub fn users<'s>(&'s self, space: &'s Space, class: ClassId) -> impl Iterator<Item = ClassId> + 's {
        let parents = space.classes[class].parents.iter().copied();
        parents.filter(move |&parent| self.uses(space, parent, class))
    }

    /// Those of the users that stand nearest to a height, at most so many.
    pub fn users_near(&self, space: &Space, class: ClassId, height: u32, most: usize) -> Vec<ClassId> {
        let distance = |user: ClassId| space.classes[user].height.abs_diff(height);
        let parents = &space.classes[class].parents;
        let (below, above) = parents.split_at(parents.partition_point(|&p| space.classes[p].height < height));
        let (mut below, mut above) = (below.iter().rev().peekable(), above.iter().peekable());
        let mut users: Vec<ClassId> = Vec::new();
        loop {
            let is_below = match (below.peek(), above.peek()) {
                (Some(&&below), Some(&&above)) => distance(below) < distance(above),
                (below, _) => below.is_some(),
            };
            let Some(&parent) = (if is_below { below.next() } else { above.next() }) else { break };
            // Of those at one distance the first are taken, whichever side they are on.
            if users.len() >= most && users.last().is_some_and(|&last| distance(last) < distance(parent)) {
                break;
            }
            users.extend(Some(parent).filter(|&parent| self.uses(space, parent, class)));
        }
        users.sort_unstable_by_key(|&user| (distance(user), user));
        users.truncate(most);
        users
    }

    fn uses(&self, space: &Space, user: ClassId, class: ClassId) -> bool {
        self.is_live(user) && self.candidate(space, user).operands.contains(&class)
    }

    /// Computes a class by another candidate. Fails, and leaves the state in no order, when a class would need itself.
    pub fn choose(&mut self, space: &Space, class: ClassId, candidate: usize) -> Result<(), Cyclic> {
        let old = &self.candidate(space, class).operands;
        self.edit(class).choice = candidate as u32;
        if self.reaches_itself(space, class) {
            return Err(Cyclic);
        }
        let live = self.is_live(class);
        if live {
            for &operand in &self.candidate(space, class).operands {
                self.acquire(space, operand);
            }
            for &operand in old {
                self.release(space, operand);
            }
        }
        Ok(())
    }

    fn reaches_itself(&self, space: &Space, class: ClassId) -> bool {
        let mut seen = ClassSet::of(space.classes.len());
        let mut stack = self.candidate(space, class).operands.clone();
        while let Some(at) = stack.pop() {
            if at == class {
                return true;
            }
            let facts = &space.classes[at];
            if !facts.is_external && facts.height >= space.classes[class].height && seen.add(at) {
                stack.extend(&self.candidate(space, at).operands);
            }
        }
        false
    }

    fn acquire(&mut self, space: &Space, class: ClassId) {
        let mut stack = vec![class];
        while let Some(at) = stack.pop() {
            let row = self.edit(at);
            row.uses += 1;
            if row.uses == 1 && !space.classes[at].is_external {
                (row.stored, row.group) = (true, at as u32);
                stack.extend(&self.candidate(space, at).operands);
            }
        }
    }

    fn release(&mut self, space: &Space, class: ClassId) {
        let mut stack = vec![class];
        while let Some(at) = stack.pop() {
            let row = self.edit(at);
            row.uses -= 1;
            if row.uses == 0 && !space.classes[at].is_external {
                self.leave(at);
                stack.extend(&self.candidate(space, at).operands);
            }
        }
    }

    /// Takes a class out of its group.
    fn leave(&mut self, class: ClassId) {
        let rest = self.rows[class].next as usize;
        if let Some(&before) = self.group_of(class).iter().find(|&&c| self.rows[c].next as usize == class) {
            self.edit(before).next = rest as u32;
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
