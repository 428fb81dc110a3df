//! The operators of a plan, and what their values are called.

use super::super::extract::plan::Plan;
use super::super::extract::space::{ClassId, Space};
use super::super::language::Head;
use super::super::read::Program;
use super::OperatorEntry;
use fusion_dialects::{OperationLike, defining_op, name_of_location};

/// Names for all classes: what the source calls them, and a number where it has one name for several, or behind a prefix where it has none.
pub fn names(program: &Program, space: &Space, prefix: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for (number, class) in space.classes.iter().enumerate() {
        let origin = program.graph[class.id].data.origins.first();
        let source = origin.and_then(|&o| program.sources.get(o as usize).cloned());
        let source = source.or_else(|| given(program, class.id)).filter(|s| !s.is_empty());
        let name = match source {
            Some(source) if !seen.contains(&source) => source,
            Some(source) => format!("{source}#{number}"),
            None => format!("{prefix}v{number}"),
        };
        seen.insert(name.clone());
        names.push(name);
    }
    names
}

/// What the source calls the operation that gives a value from outside, which is no call of an operator.
fn given(program: &Program, class: egg::Id) -> Option<String> {
    let number = program.graph[class].nodes.iter().find_map(|n| match n.head {
        Head::Leaf(number) => Some(number),
        _ => None,
    })?;
    Some(name_of_location(defining_op(program.leaves[number as usize])?.location()))
}

/// The operator that computes a value of that name; none for what comes from outside.
pub fn operator(
    program: &Program,
    space: &Space,
    plan: &Plan,
    (class, name): (ClassId, &str),
) -> Option<OperatorEntry> {
    let candidate = plan.state.candidate(space, class);
    let origins = &program.graph[space.classes[class].id].data.origins;
    let sources = origins.iter().filter_map(|&o| program.sources.get(o as usize));
    Some(OperatorEntry {
        value: name.to_owned(),
        operator: candidate.operator?.name.to_owned(),
        rule: candidate.rule.map(|rule| rule.to_string()),
        sources: sources.filter(|s| !s.is_empty()).cloned().collect(),
    })
}
