//! A lower bound of what any state can cost.
//!
//! A class is *needed* when every choice of candidates needs it:
//!
//!     needed(c) = {c} + the classes that are in needed(candidate) of every candidate, needed(candidate) = union over its operands
//!
//! All arithmetic of needed classes, each by its quickest candidate, has to be done, and all results have to be moved. A class of several
//! forms is needed in one of them, of which none is needed always; so a chain of such classes is bounded by its arithmetic as well:
//!
//!     chain(c) = min over candidates (own arithmetic + max over operands chain(operand))
//!
//! Whichever takes longest is the bound, and at least one kernel is called. Fusion cannot avoid any of these.

use super::space::Space;

/// Seconds that no state of the space goes below.
pub fn lower_bound(space: &Space) -> f64 {
    let needed = needed(space);
    let mut compute = 0.0;
    let mut memory = 0.0;
    for (class, facts) in space.classes.iter().enumerate().filter(|(class, _)| needed.contains(*class)) {
        match facts.is_external {
            true => {}
            false => {
                let quickest = facts.candidates.iter().map(|c| c.seconds).fold(f64::INFINITY, f64::min);
                compute += if quickest.is_finite() { quickest } else { 0.0 };
            }
        }
        if space.roots.contains(&class) && !facts.is_external && !facts.candidates.iter().any(|c| c.is_view) {
            memory += space.rates.moving(facts.bytes);
        }
    }
    let works = space
        .roots
        .iter()
        .any(|&r| !space.classes[r].is_external && space.classes[r].candidates.iter().all(|c| !c.is_view));
    let chains = chains(space);
    let longest = space.roots.iter().map(|&root| chains[root]).fold(0.0, f64::max);
    compute.max(memory).max(longest) + if works { space.rates.call } else { 0.0 }
}

/// The least arithmetic of the longest chain to each class.
fn chains(space: &Space) -> Vec<f64> {
    let start = |c: &super::space::Class| if c.is_external { 0.0 } else { f64::INFINITY };
    let mut chains: Vec<f64> = space.classes.iter().map(start).collect();
    loop {
        let mut changed = false;
        // Operands were found after those who read them.
        for class in (0..chains.len()).rev() {
            for candidate in &space.classes[class].candidates {
                let operands = candidate.operands.iter().map(|&o| chains[o]).fold(0.0, f64::max);
                let chain = candidate.seconds + operands;
                if chain < chains[class] {
                    chains[class] = chain;
                    changed = true;
                }
            }
        }
        if !changed {
            chains.iter_mut().filter(|c| !c.is_finite()).for_each(|c| *c = 0.0);
            return chains;
        }
    }
}

/// A set of classes.
#[derive(Clone, PartialEq)]
struct Set(Vec<u64>);

impl Set {
    fn full(count: usize) -> Set {
        Set(vec![u64::MAX; count.div_ceil(64)])
    }

    fn empty(count: usize) -> Set {
        Set(vec![0; count.div_ceil(64)])
    }

    fn contains(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }

    fn insert(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }

    fn add(&mut self, other: &Set) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }

    fn keep(&mut self, other: &Set) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a &= b);
    }
}

/// The greatest sets that fulfil the equation, and of these the union over the roots.
fn needed(space: &Space) -> Set {
    let count = space.classes.len();
    let mut sets = vec![Set::full(count); count];
    loop {
        let mut changed = false;
        // Operands were found after those who read them: the last classes come first.
        for class in (0..count).rev() {
            let facts = &space.classes[class];
            let mut set = Set::full(count);
            if facts.is_external || facts.candidates.is_empty() {
                set = Set::empty(count);
            }
            for candidate in &facts.candidates {
                let mut one = Set::empty(count);
                candidate.operands.iter().for_each(|&o| one.add(&sets[o]));
                set.keep(&one);
            }
            set.insert(class);
            if set != sets[class] {
                sets[class] = set;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    let mut all = Set::empty(count);
    space.roots.iter().for_each(|&root| all.add(&sets[root]));
    all
}
