//! Functions in the order in which they use each other: strongly connected components, those that are used first
//! (Tarjan, "Depth-First Search and Linear Graph Algorithms", 1972), with a stack of our own.

/// The components of a graph, given by the successors of each node; a component comes after those it leads to.
pub fn components(successors: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let count = successors.len();
    let (mut number, mut low, mut open) = (vec![NEW; count], vec![0; count], vec![false; count]);
    let (mut path, mut found, mut next) = (Vec::new(), Vec::new(), 0);
    for root in 0..count {
        if number[root] != NEW {
            continue;
        }
        let mut stack = vec![(root, 0)];
        while let Some((node, edge)) = stack.pop() {
            if edge == 0 {
                (number[node], low[node]) = (next, next);
                next += 1;
                path.push(node);
                open[node] = true;
            }
            if let Some(&to) = successors[node].get(edge) {
                stack.push((node, edge + 1));
                if number[to] == NEW {
                    stack.push((to, 0));
                } else if open[to] {
                    low[node] = low[node].min(number[to]);
                }
                continue;
            }
            if low[node] == number[node] {
                let start = path.iter().rposition(|n| *n == node).unwrap_or(0);
                let mut component = path.split_off(start);
                component.iter().for_each(|n| open[*n] = false);
                component.sort_unstable();
                found.push(component);
            }
            if let Some((parent, _)) = stack.last() {
                low[*parent] = low[*parent].min(low[node]);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::components;

    #[test]
    fn what_is_used_comes_first() {
        let graph = [vec![1], vec![2, 3], vec![1], vec![]];
        assert_eq!(components(&graph), [vec![3], vec![1, 2], vec![0]]);
    }

    #[test]
    fn long_chains_need_no_stack() {
        let graph: Vec<Vec<usize>> =
            (0..100_000).map(|i| if i < 99_999 { vec![i + 1] } else { vec![] }).collect();
        assert_eq!(components(&graph).len(), 100_000);
    }
}
