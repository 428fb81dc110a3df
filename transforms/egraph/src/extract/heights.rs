//! How high classes stand: above all that they may be computed of.
//!
//! ```text
//!     height(c) = max over candidates and operands o of c:   height(o) + 1, or height(o) where o may be computed of c as well
//! ```
//!
//! So, whatever is chosen, what a class is computed of stands nowhere above it. A walk that looks for a class turns back below its height,
//! and takes what is near in place of what the program has. Classes that may be computed of each other have one height; they are found
//! by Tarjan's algorithm (Depth-first search and linear graph algorithms, 1972), without recursion, as chains can be long.

/// The heights of classes, of each of which the operands of all its candidates are given.
pub(super) fn of(operands: &[Vec<usize>]) -> Vec<u32> {
    let count = operands.len();
    const UNSEEN: usize = usize::MAX;
    let (mut number, mut lowest) = (vec![UNSEEN; count], vec![0; count]);
    let (mut open, mut is_open) = (Vec::new(), vec![false; count]);
    let (mut seen, mut heights) = (0, vec![0; count]);
    for root in 0..count {
        if number[root] != UNSEEN {
            continue;
        }
        let mut path = vec![(root, 0)];
        while let Some((class, next)) = path.last_mut() {
            let (class, next_read) = (*class, operands[*class].get(*next).copied());
            if *next == 0 && number[class] == UNSEEN {
                (number[class], lowest[class]) = (seen, seen);
                seen += 1;
                open.push(class);
                is_open[class] = true;
            }
            *next += 1;
            match next_read {
                Some(read) if number[read] == UNSEEN => path.push((read, 0)),
                Some(read) if is_open[read] => lowest[class] = lowest[class].min(number[read]),
                Some(_) => {}
                None => {
                    path.pop();
                    if let Some((below, ..)) = path.last() {
                        lowest[*below] = lowest[*below].min(lowest[class]);
                    }
                    if lowest[class] == number[class] {
                        let begin = open.iter().rposition(|&c| c == class).unwrap_or(0);
                        let members = open.split_off(begin);
                        // Of their operands, those that are open are these classes themselves.
                        let outside = members.iter().flat_map(|&m| &operands[m]).filter(|&&o| !is_open[o]);
                        let height = outside.map(|&o| heights[o] + 1).max().unwrap_or(0);
                        for member in members {
                            (heights[member], is_open[member]) = (height, false);
                        }
                    }
                }
            }
        }
    }
    heights
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn classes_stand_above_what_they_are_computed_of() {
        // 3 of 2 and 1, 2 of 1, 1 of 0.
        assert_eq!(of(&[vec![], vec![0], vec![1], vec![2, 1]]), [0, 1, 2, 3]);
    }

    #[test]
    fn classes_that_may_be_computed_of_each_other_have_one_height() {
        // 1 and 2 of each other, 1 of 0 as well, 3 of 2.
        assert_eq!(of(&[vec![], vec![2, 0], vec![1], vec![2]]), [0, 1, 1, 2]);
    }
}
