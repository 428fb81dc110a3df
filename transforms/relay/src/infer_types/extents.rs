//! Extents: what is known of them flows from where values are made to where they are used.
//!
//! ```text
//!     not known yet  <  5, n  <  ?            what an dynamic extent may be, from below
//!
//!     branch of if: tensor<5>  ──5──►┐
//!                                    ├─►  result of if: tensor<?>
//!     branch of if: tensor<?>  ──?──►┘
//! ```
//! An extent that is written in the program is fixed: it is compared with what flows in, and `?` fits all. An open one
//! becomes the join of what flows in; that 5 and 6 have no join is an error. A named extent of a called function is one
//! number for the whole call, which the function checks when it runs: there, 5 and `?` give 5. What nothing flows into takes
//! what it flows to, and else is `?`.

use super::nodes::{Extent, ExtentNode};
use super::solver::{Failure, Solver};
use fusion_operators::Dim;
use std::collections::{HashMap, VecDeque};

impl<'c> Solver<'c> {
    fn push_extent(&mut self, fixed: bool, one: bool, value: Option<Dim>) -> Extent {
        self.extents.push(ExtentNode { fixed, one, value, out: Vec::new(), watchers: Vec::new() });
        Extent((self.extents.len() - 1) as u32)
    }

    /// An extent that is written in the program.
    pub fn fixed_extent(&mut self, dim: Dim) -> Extent {
        self.push_extent(true, false, Some(dim))
    }

    /// An extent that is to be found out.
    pub fn dynamic_extent(&mut self) -> Extent {
        self.push_extent(false, false, None)
    }

    /// An extent that is to be found out and is one number for a whole call.
    pub fn shared_extent(&mut self) -> Extent {
        self.push_extent(false, true, None)
    }

    /// What is known of an extent.
    pub fn extent(&self, extent: Extent) -> Option<&Dim> {
        self.extents[extent.0 as usize].value.as_ref()
    }

    pub(super) fn watch_extent(&mut self, extent: Extent, relation: usize) {
        let node = &mut self.extents[extent.0 as usize];
        if !node.fixed {
            node.watchers.push(relation);
        }
    }

    /// What flows into the first flows into the second.
    pub(super) fn flow_extent(&mut self, from: Extent, to: Extent, origin: usize) -> Result<(), Failure<'c>> {
        if from == to {
            return Ok(());
        }
        let node = &mut self.extents[from.0 as usize];
        if !node.fixed {
            node.out.push((to, origin));
        }
        match node.value.clone() {
            Some(value) => self.send(value, to, origin),
            None => Ok(()),
        }
    }

    /// A value flows into an extent, and on from there.
    pub(super) fn send(&mut self, value: Dim, to: Extent, origin: usize) -> Result<(), Failure<'c>> {
        let mut stack = vec![(value, to, origin)];
        while let Some((value, to, origin)) = stack.pop() {
            let node = &self.extents[to.0 as usize];
            let joined = match (&node.value, value) {
                (None, value) => value,
                (Some(known), value) if *known == value => continue,
                (Some(Dim::Any), _) if node.fixed || !node.one => continue,
                (Some(Dim::Any), value) => value,
                (Some(_), Dim::Any) if node.fixed || node.one => continue,
                (Some(_), Dim::Any) => Dim::Any,
                (Some(known), value) => {
                    let both_known = known.known().is_some() && value.known().is_some();
                    if both_known || !self.origins[origin].lenient() {
                        let (known, value) = (known.clone(), value.clone());
                        return Err(self.extents_differ(origin, &value, &known));
                    }
                    if node.fixed {
                        continue;
                    }
                    Dim::Any
                }
            };
            let node = &mut self.extents[to.0 as usize];
            node.value = Some(joined.clone());
            self.ready.extend(node.watchers.iter().copied());
            stack.extend(node.out.iter().map(|(next, origin)| (joined.clone(), *next, *origin)));
        }
        Ok(())
    }

    /// How many extents there are; those made from now on come after.
    pub(super) fn extent_count(&self) -> usize {
        self.extents.len()
    }

    /// Dynamic extents made since then that nothing flowed into take what they flow to.
    pub(super) fn extents_from_uses(&mut self, since: usize) -> Result<(), Failure<'c>> {
        let mut before: HashMap<Extent, Vec<(Extent, usize)>> = HashMap::new();
        let mut known: VecDeque<Extent> = VecDeque::new();
        for index in since..self.extents.len() {
            if self.extents[index].value.is_some() {
                continue;
            }
            let extent = Extent(index as u32);
            for (to, origin) in &self.extents[index].out {
                before.entry(*to).or_default().push((extent, *origin));
                if self.extents[to.0 as usize].value.is_some() {
                    known.push_back(*to);
                }
            }
        }
        while let Some(extent) = known.pop_front() {
            let Some(value) = self.extent(extent).cloned() else { continue };
            for (source, origin) in before.remove(&extent).unwrap_or_default() {
                if self.extent(source).is_none() {
                    self.send(value.clone(), source, origin)?;
                    known.push_back(source);
                }
            }
        }
        Ok(())
    }

    /// Dynamic extents made since then that nothing is known of are `?`.
    pub(super) fn extents_unknown(&mut self, since: usize) -> Result<(), Failure<'c>> {
        for index in since..self.extents.len() {
            if self.extents[index].value.is_none() {
                let origin = self.extents[index].out.first().map_or(0, |(_, origin)| *origin);
                self.send(Dim::Any, Extent(index as u32), origin)?;
            }
        }
        Ok(())
    }
}
