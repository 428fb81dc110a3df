//! Nodes whose branches lie side by side, so that one of them and a bit tell both.
//!
//! ```text
//!   level by level     roots, then yes and no of the first, yes and no of the second, ...
//!   word               feature | yes | whether no is another node, which is yes + 1 then
//! ```

use super::forest::{Branch, Forest};

impl Forest {
    /// Numbers the nodes level by level, so that `no` lies right behind `yes`; false, and nothing is changed, where several nodes share
    /// a branch and no order does that.
    pub fn pair(&mut self) -> bool {
        let mut order: Vec<usize> = Vec::with_capacity(self.nodes.len());
        let mut place: Vec<Option<usize>> = vec![None; self.nodes.len()];
        let put = |node: usize, order: &mut Vec<usize>, place: &mut Vec<Option<usize>>| {
            if place[node].is_none() {
                place[node] = Some(order.len());
                order.push(node);
            }
        };
        self.roots.iter().for_each(|&root| put(root, &mut order, &mut place));
        let mut next = 0;
        while next < order.len() {
            let Branch { yes, no, .. } = self.nodes[order[next]];
            put(yes, &mut order, &mut place);
            put(no, &mut order, &mut place);
            if yes != no && place[no] != place[yes].map(|yes| yes + 1) {
                return false;
            }
            next += 1;
        }
        (0..self.nodes.len()).for_each(|node| put(node, &mut order, &mut place));
        let moved = |node: usize| place[node].unwrap_or(node);
        let node = |&old: &usize| {
            let Branch { feature, mode, split, yes, no, missing } = self.nodes[old];
            Branch { feature, mode, split, yes: moved(yes), no: moved(no), missing }
        };
        let nodes = order.iter().map(node).collect();
        self.nodes = nodes;
        self.roots.iter_mut().for_each(|root| *root = moved(*root));
        self.weights.iter_mut().for_each(|(node, _, _)| *node = moved(*node));
        true
    }

    /// Of nodes in pairs, `feature | yes | whether no is another node` in 31 bits, and how many bits lie below the feature; none where
    /// they are too many.
    pub fn words(&self, features: usize) -> Option<(Vec<i64>, u32)> {
        let bits = |numbers: usize| usize::BITS - numbers.leading_zeros();
        let below = bits(self.nodes.len()) + 1;
        let paired = |node: &Branch| node.no == node.yes || node.no == node.yes + 1;
        if below + bits(features) > 31 || !self.nodes.iter().all(paired) {
            return None;
        }
        let word = |node: &Branch| {
            (node.feature << below) | ((node.yes as i64) << 1) | i64::from(node.no != node.yes)
        };
        Some((self.nodes.iter().map(word).collect(), below))
    }
}
