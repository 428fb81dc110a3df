//! Which calls need what other calls give, of all forms that a graph has.
//!
//!     class    y = x w    z = y v    u = (y + z) w         a bit for each class that is asked for
//!     needs    -          y          y, z
//!
//! One walk for all of them: rules that bring calls together ask it of every pair.

use super::super::analysis::Graph;
use egg::Id;

/// Which of some classes any form of a class needs, as bits.
pub struct Needs {
    /// The row of each class that is one of some classes or what they are computed of, by its number.
    rows: Vec<u32>,
    /// The bit of each of some classes, by its number.
    bits: Vec<u32>,
    words: usize,
    needs: Vec<u64>,
}

/// Where a class has no row or no bit.
const NONE: u32 = u32::MAX;

impl Needs {
    /// Of what some classes need among themselves.
    pub fn of(graph: &Graph, classes: &[Id]) -> Needs {
        let mut bits = vec![NONE; graph.nodes().len()];
        for (bit, &class) in classes.iter().enumerate() {
            bits[usize::from(class)] = bit as u32;
        }
        let order = operands_first(graph, classes);
        let mut rows = vec![NONE; bits.len()];
        for (row, &class) in order.iter().enumerate() {
            rows[usize::from(class)] = row as u32;
        }
        let operands: Vec<Vec<usize>> =
            order.iter().map(|&class| operands(graph, class).map(usize::from).collect()).collect();
        let words = classes.len().div_ceil(64);
        let mut needs = Needs { needs: vec![0; order.len() * words], rows, bits, words };
        // In order of operands one round is enough, but for classes that are equal to what is computed of them.
        let is_behind = |row: usize, operand: &usize| needs.rows[*operand] as usize >= row;
        let again = operands.iter().enumerate().any(|(row, own)| own.iter().any(|o| is_behind(row, o)));
        while needs.round(&operands) && again {}
        needs
    }

    /// Adds to what each class needs what its operands need. True when that was more for some.
    fn round(&mut self, operands: &[Vec<usize>]) -> bool {
        let (mut own, mut changed) = (vec![0; self.words], false);
        for (row, operands) in operands.iter().enumerate() {
            let at = row * self.words;
            own.copy_from_slice(&self.needs[at..at + self.words]);
            for &operand in operands {
                let from = self.rows[operand] as usize * self.words;
                own.iter_mut().zip(&self.needs[from..from + self.words]).for_each(|(a, b)| *a |= b);
                let bit = self.bits[operand];
                if bit != NONE {
                    own[bit as usize / 64] |= 1 << (bit % 64);
                }
            }
            changed |= own[..] != self.needs[at..at + self.words];
            self.needs[at..at + self.words].copy_from_slice(&own);
        }
        changed
    }

    /// True when some form of one needs the other.
    pub fn has(&self, of: Id, other: Id) -> bool {
        let (row, bit) = (self.rows[usize::from(of)], self.bits[usize::from(other)]);
        row != NONE
            && bit != NONE
            && self.needs[row as usize * self.words + bit as usize / 64] >> (bit % 64) & 1 == 1
    }
}

/// What any form of a class is computed of.
fn operands(graph: &Graph, class: Id) -> impl Iterator<Item = Id> {
    graph[class].nodes.iter().flat_map(|n| &n.children).map(|c| graph.find(*c))
}

/// Some classes and what they are computed of, operands first.
fn operands_first(graph: &Graph, classes: &[Id]) -> Vec<Id> {
    let (mut order, mut seen) = (Vec::new(), vec![false; graph.nodes().len()]);
    let mut stack: Vec<(Id, bool)> = classes.iter().map(|&c| (c, false)).collect();
    while let Some((class, done)) = stack.pop() {
        if done {
            order.push(class);
        } else if !std::mem::replace(&mut seen[usize::from(class)], true) {
            stack.push((class, true));
            stack.extend(operands(graph, class).map(|c| (c, false)));
        }
    }
    order
}
