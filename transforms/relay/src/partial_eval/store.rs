//! The simulated store: what cells are known to hold.
//!
//! A cell that was made here has a number. What it holds is known from its last write on, until something writes that is not
//! known: a call that stays, a cell that is not known, a branch or loop that is decided at run time. Two branches that leave the
//! same value leave it known.

use super::value::Shared;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What cells hold.
#[derive(Clone, Default)]
pub struct Store<'c> {
    held: BTreeMap<usize, Shared<'c>>,
}

impl<'c> Store<'c> {
    /// What a cell holds, when it is known.
    pub fn read(&self, cell: usize) -> Option<Shared<'c>> {
        self.held.get(&cell).cloned()
    }

    /// A cell holds that from now on.
    pub fn write(&mut self, cell: usize, value: Shared<'c>) {
        self.held.insert(cell, value);
    }

    /// Something wrote, and nobody knows what.
    pub fn forget(&mut self) {
        self.held.clear();
    }

    /// What all of several stores agree on.
    pub fn agreed(stores: Vec<Store<'c>>) -> Store<'c> {
        let mut stores = stores.into_iter();
        let Some(mut first) = stores.next() else { return Store::default() };
        for other in stores {
            first.held.retain(|cell, value| other.held.get(cell).is_some_and(|v| Rc::ptr_eq(v, value)));
        }
        first
    }
}
