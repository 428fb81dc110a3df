//! Saturation: applies rules until nothing new is found, or a budget is used up.
//!
//! Budgets count matches, rounds and nodes, never seconds: the same program gives the same graph on any machine. Each rule has its own
//! budget of matches a round, which is halved each time it is exceeded (so that a rule that explodes, as associativity does, leaves
//! room for the others); a rule that found more than its budget is searched again in the next round.

use super::analysis::Graph;
use super::language::Node;
use super::rules::{AnyRule, Family, One, Rules, Searched};
use egg::{Id, Symbol};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// How much may be done.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Rounds over all rules.
    pub rounds: usize,
    /// Nodes of the graph.
    pub nodes: usize,
    /// Matches of a rule that are applied in a round.
    pub matches: usize,
}

impl Budget {
    /// For a graph that begins with so many nodes.
    pub fn for_nodes(nodes: usize) -> Self {
        Budget { rounds: 12, nodes: 4000 + 12 * nodes, matches: 1000 + 4 * nodes }
    }
}

/// Why saturation stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// No rule finds anything new.
    Saturated,
    /// The graph has as many nodes as it may.
    Nodes,
    /// All rounds were made.
    Rounds,
    /// Forms of one value contradict each other.
    Contradiction,
}

/// What a rule did.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RuleReport {
    /// The rule.
    pub rule: String,
    /// Its family.
    pub family: Family,
    /// Matches found.
    pub matches: usize,
    /// Those that changed the graph.
    pub applied: usize,
    /// Rounds in which it found more than its budget.
    pub exceeded: usize,
    /// Seconds.
    pub seconds: f64,
}

/// What saturation did.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Why it stopped.
    pub stop: Stop,
    /// Rounds.
    pub rounds: usize,
    /// Nodes at the end.
    pub nodes: usize,
    /// Classes at the end.
    pub classes: usize,
    /// Rules that found something.
    pub rules: Vec<RuleReport>,
}

/// Decides which applications are made, and is told of those that changed the graph.
pub trait Gate {
    /// Whether a rule may be applied to what it found.
    fn admits(&mut self, graph: &Graph, rule: &AnyRule, one: &One) -> bool;

    /// What was admitted last changed the graph: a class with that oldest member became equal to its class.
    fn changed(&mut self, graph: &Graph, right: Id);
}

/// Lets everything pass.
pub struct Open;

impl Gate for Open {
    fn admits(&mut self, _: &Graph, _: &AnyRule, _: &One) -> bool {
        true
    }

    fn changed(&mut self, _: &Graph, _: Id) {}
}

/// A call whose value is an operand of itself, as in `x = x + 0`, says nothing that is not known, and is looked at no more: of it
/// `(x + c) + d = x + (c + d)` makes terms without end where c is a zero that nothing sees to be one.
fn leave_out_what_reads_itself(graph: &mut Graph) {
    let reads_itself =
        |graph: &Graph, id: Id, node: &Node| node.children.iter().any(|&c| graph.find(c) == id);
    let has_some = graph.classes().filter(|c| c.nodes.iter().any(|n| reads_itself(graph, c.id, n)));
    for id in has_some.map(|c| c.id).collect::<Vec<_>>() {
        let nodes = std::mem::take(&mut graph[id].nodes);
        graph[id].nodes = nodes.into_iter().filter(|n| !reads_itself(graph, id, n)).collect();
    }
}

/// Applies rules to a graph, until a contradiction is found.
pub fn saturate(graph: &mut Graph, rules: &Rules, budget: Budget, gate: &mut dyn Gate) -> Report {
    saturate_without(graph, rules, &[], budget, gate)
}

/// The same without some of the rules.
pub fn saturate_without(
    graph: &mut Graph,
    rules: &Rules,
    left_out: &[Symbol],
    budget: Budget,
    gate: &mut dyn Gate,
) -> Report {
    let is_in = |rule: &&AnyRule| !left_out.contains(&Symbol::from(rule.name()));
    let rules: Vec<&AnyRule> = rules.iter().filter(is_in).collect();
    let mut reports: Vec<RuleReport> = rules
        .iter()
        .map(|rule| RuleReport {
            rule: rule.name().to_owned(),
            family: rule.family(),
            matches: 0,
            applied: 0,
            exceeded: 0,
            seconds: 0.0,
        })
        .collect();
    let (mut stop, mut rounds) = (Stop::Rounds, 0);
    graph.rebuild();
    'rounds: while rounds < budget.rounds {
        rounds += 1;
        let mut changed = false;
        leave_out_what_reads_itself(graph);
        // All rules look at the same graph before any is applied, so that their order matters little.
        let found: Vec<Searched> = rules
            .iter()
            .zip(&mut reports)
            .map(|(rule, report)| {
                let start = Instant::now();
                let most = budget.matches >> report.exceeded.min(6);
                let (found, exceeded) = rule.search(graph, most);
                report.matches += found.len();
                report.exceeded += usize::from(exceeded);
                report.seconds += start.elapsed().as_secs_f64();
                found
            })
            .collect();
        for ((rule, report), found) in rules.iter().zip(&mut reports).zip(found) {
            let start = Instant::now();
            for (number, one) in found.split().enumerate() {
                // Counting goes over all classes.
                if number % 64 == 0 && graph.total_number_of_nodes() >= budget.nodes {
                    stop = Stop::Nodes;
                    report.seconds += start.elapsed().as_secs_f64();
                    break 'rounds;
                }
                if gate.admits(graph, rule, &one)
                    && let Some(right) = rule.apply(graph, one)
                {
                    gate.changed(graph, right);
                    report.applied += 1;
                    changed = true;
                    if graph.analysis.contradiction.is_some() {
                        report.seconds += start.elapsed().as_secs_f64();
                        break 'rounds;
                    }
                }
            }
            report.seconds += start.elapsed().as_secs_f64();
        }
        graph.rebuild();
        if graph.analysis.contradiction.is_some() {
            break;
        }
        if !changed {
            stop = Stop::Saturated;
            break;
        }
    }
    graph.rebuild();
    if graph.analysis.contradiction.is_some() {
        stop = Stop::Contradiction;
    }
    reports.retain(|report| report.matches > 0);
    Report {
        stop,
        rounds,
        nodes: graph.total_number_of_nodes(),
        classes: graph.number_of_classes(),
        rules: reports,
    }
}
