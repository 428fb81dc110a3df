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
//! A needed class that may also be a piece of a larger one (of a product of a batch, of merged siblings) takes its share of that one's arithmetic at
//! least: pieces of one are different classes, and together no more than all of it counts.
//!
//! Whichever takes longest is the bound, and at least one kernel is called. Fusion cannot avoid any of these.

use super::space::{Candidate, ClassId, Space};
use fusion_operators::ops::shape::SLICE;
use std::collections::{BTreeMap, BTreeSet};

/// Seconds that no state of the space goes below.
pub fn lower_bound(space: &Space) -> f64 {
    let needed = needed(space);
    let shares = Shares::of(space, &needed);
    let mut compute = 0.0;
    let mut memory = 0.0;
    for (class, facts) in space.classes.iter().enumerate().filter(|(class, _)| needed.contains(*class)) {
        match facts.is_external {
            true => {}
            false => {
                let least = |c: &Candidate| c.seconds + shares.seconds(space, class, c);
                let quickest = facts.candidates.iter().map(least).fold(f64::INFINITY, f64::min);
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

/// What pieces of larger classes take of these: the part of needed classes that may be pieces of each.
struct Shares(BTreeMap<ClassId, f64>);

impl Shares {
    fn of(space: &Space, needed: &Set) -> Shares {
        let mut asked: BTreeMap<ClassId, f64> = BTreeMap::new();
        for (class, facts) in space.classes.iter().enumerate().filter(|(class, _)| needed.contains(*class)) {
            let wholes: BTreeSet<ClassId> = facts.candidates.iter().filter_map(|c| whole(space, c)).collect();
            // What is needed itself is counted already.
            for whole in wholes.into_iter().filter(|whole| !needed.contains(*whole)) {
                *asked.entry(whole).or_default() += part(space, class, whole);
            }
        }
        Shares(asked)
    }

    /// The seconds that a class takes at least of what it is a piece of, where it is one by that candidate.
    fn seconds(&self, space: &Space, class: ClassId, candidate: &Candidate) -> f64 {
        let Some((whole, asked)) = whole(space, candidate).and_then(|w| Some((w, self.0.get(&w)?))) else {
            return 0.0;
        };
        let quickest =
            space.classes[whole].candidates.iter().map(|c| c.seconds).fold(f64::INFINITY, f64::min);
        let seconds = if quickest.is_finite() { quickest } else { 0.0 };
        seconds * part(space, class, whole) / asked.max(1.0)
    }
}

fn part(space: &Space, class: ClassId, whole: ClassId) -> f64 {
    space.classes[class].bytes / space.classes[whole].bytes.max(1.0)
}

/// What a candidate cuts a piece from, with nothing but another shape in between.
fn whole(space: &Space, candidate: &Candidate) -> Option<ClassId> {
    let mut at = candidate;
    loop {
        let operand = *at.operands.first()?;
        if at.operator.is_some_and(|o| o.is(&SLICE)) {
            return Some(operand).filter(|o| !space.classes[*o].is_external);
        }
        match &space.classes[operand].candidates[..] {
            [only] if at.is_view => at = only,
            _ => return None,
        }
    }
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
