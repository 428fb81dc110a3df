//! Proofs: by which rules a value came to be computed as it is, from egg's explanations.
//!
//!     (div {} ?x 2.0)   --div-constant-->   (mul {} ?x (reciprocal {} 2.0))   --constant-folding-->   (mul {} ?x 0.5)
//!
//! (Flatt et al., "Small Proofs from Congruence Closure", 2022.) Each step is one rule at one place of the term; a rule that was used from
//! right to left is written with an arrow to the left.

use super::analysis::Graph;
use super::extract::plan::Plan;
use super::extract::space::Space;
use super::language::Node;
use super::read::Program;
use super::remarks::operators::stem;
use egg::{FlatTerm, Id, Language, RecExpr};
use serde::{Deserialize, Serialize};

/// One rule at one place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The rule; none for the first term.
    pub rule: Option<String>,
    /// Whether it was used from right to left.
    pub backward: bool,
    /// The term that it gives.
    pub term: String,
}

/// How a value came to be computed as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proof {
    /// The value.
    pub value: String,
    /// The term of the source, then one for each step. None where terms are too large to be written out.
    pub steps: Vec<Step>,
}

/// Nodes of a term up to which it is explained: egg writes each term out as a tree, and what is shared once a use.
const MOST_NODES: f64 = 2000.0;

/// Characters of a term that are shown.
const MOST_TEXT: usize = 400;

/// The steps from a term of the source to one that has a node at its top. The graph must have been made to explain.
pub fn steps(graph: &mut Graph, source: Id, node: &Node) -> Vec<Step> {
    let chosen = graph.add_uncanonical(node.clone());
    between(graph, source, chosen)
}

/// The steps from one term to another of its class; none where they are of two, or too large to be written out.
pub fn between(graph: &mut Graph, source: Id, chosen: Id) -> Vec<Step> {
    if graph.find(chosen) != graph.find(source) {
        return Vec::new();
    }
    let largest = [source, chosen].map(|id| tree_size(&graph.id_to_expr(id))).into_iter().fold(0.0, f64::max);
    if largest > MOST_NODES {
        return Vec::new();
    }
    let mut explanation = graph.explain_id_equivalence(source, chosen);
    explanation.make_flat_explanation().iter().map(step).collect()
}

/// The proofs of all values that are not computed as the source says.
pub(super) fn proofs(program: &mut Program, space: &Space, plan: &Plan, names: &[String]) -> Vec<Proof> {
    let mut proofs = Vec::new();
    for (class, facts) in space.classes.iter().enumerate() {
        if facts.is_external || !plan.state.is_live(class) {
            continue;
        }
        let candidate = plan.state.candidate(space, class);
        // The term of the value's own name, where others of the source are in the class too.
        let own = program.first_term(facts.id, Some(stem(&names[class])));
        let source = own.or_else(|| program.first_term(facts.id, None));
        if let (Some(_), Some(source)) = (candidate.rule, source) {
            let steps = steps(&mut program.graph, source, &candidate.node);
            // A rule may make what the source has.
            if steps.len() != 1 {
                proofs.push(Proof { value: names[class].clone(), steps });
            }
        }
    }
    proofs
}

/// Nodes of a term that is written out as a tree.
fn tree_size(term: &RecExpr<Node>) -> f64 {
    let mut sizes: Vec<f64> = Vec::new();
    for node in term {
        sizes.push(1.0 + node.children().iter().map(|c| sizes[usize::from(*c)]).sum::<f64>());
    }
    sizes.last().copied().unwrap_or(0.0)
}

fn step(term: &FlatTerm<Node>) -> Step {
    let (mut forward, mut backward) = (None, None);
    find_rule(term, &mut forward, &mut backward);
    let mut text = String::new();
    show(term, &mut text);
    if text.len() > MOST_TEXT {
        let end = (0..=MOST_TEXT).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0);
        text.truncate(end);
        text += " ...";
    }
    Step {
        rule: forward.clone().or(backward.clone()),
        backward: forward.is_none() && backward.is_some(),
        term: text,
    }
}

fn find_rule(term: &FlatTerm<Node>, forward: &mut Option<String>, backward: &mut Option<String>) {
    if let Some(rule) = &term.forward_rule {
        *forward = Some(rule.to_string());
    }
    if let Some(rule) = &term.backward_rule {
        *backward = Some(rule.to_string());
    }
    term.children.iter().for_each(|child| find_rule(child, forward, backward));
}

fn show(term: &FlatTerm<Node>, text: &mut String) {
    // Terms share parts, and can be far larger than the graph.
    if text.len() > MOST_TEXT {
        return;
    }
    if term.children.is_empty() {
        *text += &term.node.to_string();
        return;
    }
    *text += "(";
    *text += &term.node.to_string();
    for child in &term.children {
        *text += " ";
        show(child, text);
    }
    *text += ")";
}
