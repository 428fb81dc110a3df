//! The operators of a plan, and what their values are called.

use super::super::extract::plan::Plan;
use super::super::extract::space::{ClassId, Space};
use super::super::language::Head;
use super::super::read::{Program, source_name};
use super::OperatorEntry;

/// Names for all classes: what the source calls them, and a number where it has one name for several, or behind a prefix where it has none.
pub fn names(program: &Program, space: &Space, prefix: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for (number, class) in space.classes.iter().enumerate() {
        let origin = || program.graph[class.id].data.origins.first();
        // What comes from outside keeps its name, whatever else turns out to be the same.
        let source = given(program, class.id).or_else(|| program.sources.get(*origin()? as usize).cloned());
        let source = source.filter(|source| !source.is_empty());
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

/// A name without the number that tells the values of one operation apart.
pub fn stem(name: &str) -> &str {
    match name.rsplit_once('#') {
        Some((stem, number)) if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) => stem,
        _ => name,
    }
}

/// What the source calls a value from outside: an argument, or the result of what is no call of an operator.
fn given(program: &Program, class: egg::Id) -> Option<String> {
    let number = program.graph[class].nodes.iter().find_map(|n| match n.head {
        Head::Leaf(number) => Some(number),
        _ => None,
    })?;
    source_name(program.leaves[number as usize])
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
