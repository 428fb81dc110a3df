//! Which calls need what other calls give, of all forms that a graph has.
//!
//!     class    y = x w    z = y v    u = (y + z) w         a bit for each class that is asked for
//!     needs    -          y          y, z
//!
//! One walk for all of them: rules that bring calls together ask it of every pair.

use super::super::analysis::Graph;
use egg::Id;
use std::collections::{HashMap, HashSet};

/// Which of some classes any form of a class needs, as bits.
pub struct Needs {
    bits: HashMap<Id, Vec<u64>>,
    number: HashMap<Id, usize>,
}

impl Needs {
    /// Of what some classes need among themselves.
    pub fn of(graph: &Graph, classes: &[Id]) -> Needs {
        let number: HashMap<Id, usize> = classes.iter().enumerate().map(|(n, &c)| (c, n)).collect();
        let words = classes.len().div_ceil(64);
        let order = operands_first(graph, classes);
        let mut needs = Needs { bits: HashMap::new(), number };
        // In order of operands one round is enough, but for classes that are equal to what is computed of them.
        loop {
            let mut changed = false;
            for &class in &order {
                let mut own = needs.bits.get(&class).cloned().unwrap_or_else(|| vec![0; words]);
                let before = own.clone();
                for child in graph[class].nodes.iter().flat_map(|n| &n.children) {
                    let child = graph.find(*child);
                    if let Some(bits) = needs.bits.get(&child) {
                        own.iter_mut().zip(bits).for_each(|(a, b)| *a |= b);
                    }
                    if let Some(&bit) = needs.number.get(&child) {
                        own[bit / 64] |= 1 << (bit % 64);
                    }
                }
                changed |= own != before;
                needs.bits.insert(class, own);
            }
            if !changed {
                return needs;
            }
        }
    }

    /// True when some form of one needs the other.
    pub fn has(&self, of: Id, other: Id) -> bool {
        let bit = self.number.get(&other).copied();
        self.bits.get(&of).zip(bit).is_some_and(|(bits, bit)| bits[bit / 64] >> (bit % 64) & 1 == 1)
    }
}

/// Some classes and what they are computed of, operands first.
fn operands_first(graph: &Graph, classes: &[Id]) -> Vec<Id> {
    let mut order = Vec::new();
    let mut seen: HashSet<Id> = HashSet::new();
    let mut stack: Vec<(Id, bool)> = classes.iter().map(|&c| (c, false)).collect();
    while let Some((class, done)) = stack.pop() {
        if done {
            order.push(class);
        } else if seen.insert(class) {
            stack.push((class, true));
            let children = graph[class].nodes.iter().flat_map(|n| &n.children);
            stack.extend(children.map(|c| (graph.find(*c), false)));
        }
    }
    order
}
