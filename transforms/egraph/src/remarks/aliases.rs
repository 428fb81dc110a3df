//! Values of the source that no kernel computes under their own name, and what became of each.
//!
//!     %1 = mul (div %x, %c), %c          by the rules the same as the input x: an alias of it
//!     return %1 {relay.name = "y"}       y is another name of %1
//!
//! A value may share a class with another one, with an input, or with a constant; or nothing that is computed reads it any more.

use super::super::extract::plan::Plan;
use super::super::extract::space::{ClassId, Space};
use super::super::language::{Head, Node};
use super::super::proof::{self, Step};
use super::super::read::{Program, source_name};
use super::operators::stem;
use egg::Id;
use fusion_dialects::defining_op;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// What became of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Became {
    /// It is another value.
    Value,
    /// It is, or is the same as, what comes from outside of the block.
    Input,
    /// It is a constant.
    Constant,
    /// What reads it is computed without it.
    Unneeded,
}

/// A value that has no kernel under its own name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Alias {
    /// What the source calls it.
    pub value: String,
    /// What became of it.
    pub became: Became,
    /// What it is; none of a value that is not needed, and of an input itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// The steps from its term in the source to what it is, where these were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
}

/// The aliases of a block, whose classes have these names.
pub fn aliases(
    program: &mut Program,
    space: &Space,
    plan: &Plan,
    (names, proofs): (&[String], bool),
) -> Vec<Alias> {
    let outputs = program.outputs.iter().map(|(name, of)| Alias {
        value: name.clone(),
        became: Became::Value,
        of: Some(of.clone()),
        steps: Vec::new(),
    });
    let mut aliases: Vec<Alias> = outputs.filter(|alias| alias.of.as_ref() != Some(&alias.value)).collect();
    let inputs = program.leaves.iter().filter(|leaf| defining_op(**leaf).is_none());
    aliases.extend(inputs.filter_map(|leaf| source_name(*leaf)).map(|value| Alias {
        value,
        became: Became::Input,
        of: None,
        steps: Vec::new(),
    }));
    let places: HashMap<Id, ClassId> = space.classes.iter().enumerate().map(|(at, c)| (c.id, at)).collect();
    let computed = |class: ClassId| !space.classes[class].is_external && plan.state.is_live(class);
    // Of an operation of the source that became several, one that is computed stands for all.
    let named = (0..names.len()).filter(|&class| computed(class)).map(|class| stem(&names[class]));
    let mut known: HashSet<String> = named.map(str::to_owned).collect();
    for (term, origin) in program.results.clone().into_iter().zip(program.origins.clone()) {
        let source = program.sources[origin as usize].clone();
        if source.is_empty() || !known.insert(source.clone()) {
            continue;
        }
        let id = program.graph.find(term);
        let alias = |became, of| Alias { value: source, became, of, steps: Vec::new() };
        let Some(&class) =
            places.get(&id).filter(|class| computed(**class) || space.classes[**class].is_external)
        else {
            aliases.push(alias(Became::Unneeded, None));
            continue;
        };
        let outside = outside(program, id);
        let mut alias = match &outside {
            Some(node) if matches!(node.head, Head::Constant(_)) => {
                alias(Became::Constant, Some(node.to_string()))
            }
            Some(_) => alias(Became::Input, Some(names[class].clone())),
            None => alias(Became::Value, Some(names[class].clone())),
        };
        if proofs {
            let other = match outside {
                Some(node) => Some(program.graph.add_uncanonical(node)),
                None => program.first_term(id, Some(stem(&names[class]))),
            };
            alias.steps = other.map(|to| proof::between(&mut program.graph, term, to)).unwrap_or_default();
        }
        aliases.push(alias);
    }
    aliases
}

/// The leaf or constant that a class is.
fn outside(program: &Program, id: Id) -> Option<Node> {
    let is = |wanted: fn(&Head) -> bool| program.graph[id].nodes.iter().find(|n| wanted(&n.head)).cloned();
    is(|head| matches!(head, Head::Constant(_))).or_else(|| is(|head| matches!(head, Head::Leaf(_))))
}
