//! Whether all forms of the values of a source lie within the rounding of the source.
//!
//! ```text
//!   before saturation    each class is one term of the source: its true value, with the bound of its rounding
//!   after it             sources that came into one class must agree, and each form of their class is within one of their bounds,
//!                        computed of operands as the source has them
//! ```

use egg::Id;
use fusion_egraph::analysis::{Graph, attrs, canonical, made_by};
use fusion_egraph::language::{Constant, Head, Node};
use fusion_egraph::numbers::folding::loses;
use fusion_interpreter::random_graphs::FACTOR;
use fusion_operators::rounding::Bounded;
use fusion_operators::{Tensor, reference};
use indexmap::IndexMap;

/// The values of a graph's leaves and large constants.
pub struct Given<'a> {
    pub leaves: &'a [Tensor],
    pub large: &'a [Tensor],
}

impl Given<'_> {
    fn tensor(&self, head: &Head) -> Option<Tensor> {
        match head {
            Head::Leaf(number) => self.leaves.get(*number as usize).cloned(),
            Head::Constant(Constant::Large { number, .. }) => self.large.get(*number as usize).cloned(),
            Head::Constant(constant) => constant.tensor(),
            _ => None,
        }
    }
}

/// The terms of a source with their bounds, those that have one. The graph was not saturated.
pub fn sources(graph: &Graph, given: &Given) -> Vec<(Id, Bounded)> {
    let mut ids: Vec<Id> = graph.classes().map(|class| class.id).collect();
    ids.sort();
    let mut found: IndexMap<Id, Bounded> = IndexMap::new();
    for id in ids {
        let nodes = &graph[id].nodes;
        // What was folded is a call as well.
        let node = nodes.iter().find(|n| matches!(n.head, Head::Call(_))).or(nodes.first());
        let bounded = match node.map(|n| (&n.head, n)) {
            Some((Head::Call(operation), node)) => {
                let of = |child: &Id| found.get(&graph.find(*child));
                let operands: Option<Vec<&Bounded>> = node.children[1..].iter().map(of).collect();
                let attrs = attrs(graph, graph.find(node.children[0]));
                operands.zip(attrs).and_then(|(x, attrs)| Bounded::call(operation.0, attrs, &x).ok()?)
            }
            Some((head, _)) => given.tensor(head).and_then(|tensor| Bounded::exact(tensor).ok()),
            None => None,
        };
        if let Some(bounded) = bounded {
            found.insert(id, bounded);
        }
    }
    found.into_iter().collect()
}

/// What was compared, or what is wrong.
pub type Checked = Result<usize, String>;

/// Compares all forms of the sources' classes.
pub fn check(graph: &Graph, given: &Given, sources: &[(Id, Bounded)]) -> Checked {
    let mut bounds: IndexMap<Id, Vec<&Bounded>> = IndexMap::new();
    for (id, bounded) in sources {
        bounds.entry(graph.find(*id)).or_default().push(bounded);
    }
    for (id, together) in &bounds {
        for bounded in &together[1..] {
            // The source that is less certain must allow for the other.
            let apart = together[0]
                .outside(&bounded.own, FACTOR)
                .filter(|_| bounded.outside(&together[0].own, FACTOR).is_some());
            if let Some(apart) = apart {
                return Err(format!("two terms of the source became class {id}: {apart}"));
            }
        }
    }
    let mut values: IndexMap<Id, Vec<Tensor>> =
        bounds.iter().map(|(id, together)| (*id, vec![together[0].own.clone()])).collect();
    loop {
        let fresh: Vec<(Id, Vec<Tensor>)> = graph
            .classes()
            .filter(|class| class.data.attrs.is_none() && !values.contains_key(&class.id))
            .filter_map(|class| {
                Some((class.id, class.nodes.iter().find_map(|n| compute(graph, n, given, &values))?))
            })
            .collect();
        if fresh.is_empty() {
            break;
        }
        values.extend(fresh);
    }
    // Of what the source itself has no finite number for, no form says anything.
    let certain = |id: &Id| {
        bounds.get(&graph.find(*id)).is_none_or(|together| {
            together.iter().all(|b| b.error.to_f64s().iter().all(|error| error.is_finite()))
        })
    };
    let mut compared = 0;
    for (id, together) in &bounds {
        for node in graph[*id].nodes.iter().filter(|n| n.children.iter().all(certain)) {
            let Some(value) = compute(graph, node, given, &values) else { continue };
            compared += 1;
            let outside: Option<Vec<_>> = together.iter().map(|b| b.outside(&value[0], FACTOR)).collect();
            if let Some(how) = outside.and_then(|all| all.into_iter().next()) {
                return Err(format!("({node}) of class {id}, {}: {how}", maker(graph, node)));
            }
        }
    }
    Ok(compared)
}

/// The rule that made a node.
fn maker(graph: &Graph, node: &Node) -> String {
    let made = made_by(graph);
    made.get(&canonical(graph, node)).map_or("of the source".to_owned(), |rule| format!("made by {rule}"))
}

fn compute(
    graph: &Graph,
    node: &Node,
    given: &Given,
    values: &IndexMap<Id, Vec<Tensor>>,
) -> Option<Vec<Tensor>> {
    let value = |child: &Id| values.get(&graph.find(*child));
    match &node.head {
        Head::Call(operation) => {
            let operands: Option<Vec<Tensor>> =
                node.children[1..].iter().map(|c| Some(value(c)?.first()?.clone())).collect();
            let attrs = attrs(graph, graph.find(node.children[0]))?;
            let operands = operands?;
            let results = reference::evaluate(operation.0, attrs, &operands).ok()?;
            // A block whose constants lose what they are is planned again, without the rule that made them.
            let is_constant = node.children[1..].iter().all(|&c| graph[c].data.is_constant);
            (!is_constant || !loses(operation.0, &operands, &results[0])).then_some(results)
        }
        Head::Get(index) => Some(vec![value(&node.children[0])?.get(*index as usize)?.clone()]),
        head => Some(vec![given.tensor(head)?]),
    }
}
