//! An order of a block's operations in which each region stands together, and otherwise as little moves as possible.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The order, of operations that need others before them and that have a region each, by its first operation. Regions have no cycles.
pub fn together(before: &[Vec<usize>], regions: &[usize]) -> Vec<usize> {
    let count = regions.len();
    let mut members = vec![Vec::new(); count];
    regions.iter().enumerate().for_each(|(at, &region)| members[region].push(at));
    let mut after = vec![Vec::new(); count];
    let mut waits = vec![0usize; count];
    for (at, before) in before.iter().enumerate() {
        for &from in before.iter().filter(|from| regions[**from] != regions[at]) {
            after[regions[from]].push(regions[at]);
            waits[regions[at]] += 1;
        }
    }
    // A region stands where its last operation stood.
    let key = |region: usize| Reverse((members[region].last().copied().unwrap_or(region), region));
    let mut ready: BinaryHeap<_> =
        (0..count).filter(|&r| regions[r] == r && waits[r] == 0).map(key).collect();
    let mut order = Vec::with_capacity(count);
    while let Some(Reverse((_, region))) = ready.pop() {
        order.extend(&members[region]);
        for &next in &after[region] {
            waits[next] -= 1;
            if waits[next] == 0 {
                ready.push(key(next));
            }
        }
    }
    order
}
