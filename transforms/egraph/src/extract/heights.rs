//! How high classes stand: above all that they may be computed of.
//!
//! ```text
//!     height(c) = max over candidates and operands o of c:   height(o) + 1, or height(o) where o may be computed of c as well
//! ```
//!
//! So, whatever is chosen, what a class is computed of stands nowhere above it. A walk that looks for a class turns back below its height,
//! and takes what is near in place of what the program has. Classes that may be computed of each other have one height; they are found
//! by Tarjan's algorithm (Depth-first search and linear graph algorithms, 1972), without recursion, as chains can be long.

use super::space::{Class, ClassId};

/// Sets the heights of classes.
pub(super) fn measure(classes: &mut [Class]) {
    let count = classes.len();
    const UNSEEN: usize = usize::MAX;
    let (mut number, mut lowest) = (vec![UNSEEN; count], vec![0; count]);
    let (mut open, mut is_open) = (Vec::new(), vec![false; count]);
    let mut seen = 0;
    for root in 0..count {
        if number[root] != UNSEEN {
            continue;
        }
        let mut path = vec![(root, operands(&classes[root]), 0)];
        while let Some((class, reads, next)) = path.last_mut() {
            let (class, next_read) = (*class, reads.get(*next).copied());
            if *next == 0 && number[class] == UNSEEN {
                (number[class], lowest[class]) = (seen, seen);
                seen += 1;
                open.push(class);
                is_open[class] = true;
            }
            *next += 1;
            match next_read {
                Some(read) if number[read] == UNSEEN => path.push((read, operands(&classes[read]), 0)),
                Some(read) if is_open[read] => lowest[class] = lowest[class].min(number[read]),
                Some(_) => {}
                None => {
                    path.pop();
                    if let Some((below, ..)) = path.last() {
                        lowest[*below] = lowest[*below].min(lowest[class]);
                    }
                    if lowest[class] == number[class] {
                        let begin = open.iter().rposition(|&c| c == class).unwrap_or(0);
                        close(classes, &open.split_off(begin), &mut is_open);
                    }
                }
            }
        }
    }
}

/// Classes that may be computed of each other, which are the open ones among their operands: the others have heights.
fn close(classes: &mut [Class], members: &[ClassId], is_open: &mut [bool]) {
    let outside = |class: ClassId| operands(&classes[class]).into_iter().filter(|&o| !is_open[o]);
    let height = members.iter().flat_map(|&m| outside(m)).map(|o| classes[o].height + 1).max().unwrap_or(0);
    for &member in members {
        classes[member].height = height;
        is_open[member] = false;
    }
}

/// What any candidate reads.
fn operands(class: &Class) -> Vec<ClassId> {
    let mut operands: Vec<ClassId> = class.candidates.iter().flat_map(|c| &c.operands).copied().collect();
    operands.sort_unstable();
    operands.dedup();
    operands
}
