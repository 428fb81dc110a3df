//! What saturation did, over all blocks of a model.

use super::table::{Align, table};
use crate::print;
use fusion_egraph::remarks::BlockRemarks;
use fusion_egraph::saturate::{RuleReport, Stop};
use serde::Serialize;

/// How many rules are told of.
const MOST_RULES: usize = 10;

/// What saturation did.
#[derive(Debug, Serialize)]
pub struct Saturation {
    /// Blocks that stopped since no rule found anything new, for want of nodes, and after all rounds.
    pub stops: [(Stop, usize); 3],
    /// The most rounds of a block.
    pub rounds: usize,
    /// Nodes of all graphs.
    pub nodes: usize,
    /// Classes of all graphs.
    pub classes: usize,
    /// The rules, those that took longest first.
    pub rules: Vec<RuleReport>,
}

impl Saturation {
    /// Of the blocks of remarks; none of no blocks.
    pub fn of(blocks: &[BlockRemarks]) -> Option<Saturation> {
        let reports = || blocks.iter().map(|block| &block.saturation);
        let mut rules: Vec<RuleReport> = Vec::new();
        for report in reports().flat_map(|r| &r.rules) {
            match rules.iter_mut().find(|rule| rule.rule == report.rule) {
                None => rules.push(report.clone()),
                Some(rule) => {
                    rule.matches += report.matches;
                    rule.applied += report.applied;
                    rule.exceeded += report.exceeded;
                    rule.seconds += report.seconds;
                }
            }
        }
        rules.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        let stops = [Stop::Saturated, Stop::Nodes, Stop::Rounds]
            .map(|stop| (stop, reports().filter(|report| report.stop == stop).count()));
        Some(Saturation {
            stops,
            rounds: reports().map(|r| r.rounds).max()?,
            nodes: reports().map(|r| r.nodes).sum(),
            classes: reports().map(|r| r.classes).sum(),
            rules,
        })
    }

    /// What stopped it and how large graphs became, in a line.
    pub fn summary(&self) -> String {
        let blocks: usize = self.stops.iter().map(|(_, count)| count).sum();
        let stops: Vec<String> = self
            .stops
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(stop, count)| match blocks {
                1 => reason(*stop).to_owned(),
                _ => format!("{} ({count} of {blocks} blocks)", reason(*stop)),
            })
            .collect();
        format!(
            "{}; {} rounds, {} e-nodes, {} e-classes",
            stops.join(", "),
            self.rounds,
            self.nodes,
            self.classes
        )
    }

    /// For people: the line, and the rules that took longest.
    pub fn text(&self) -> String {
        let mut text = format!("saturation {}", self.summary());
        if self.rules.is_empty() {
            return text;
        }
        let mut rows = vec![["rule", "family", "matches", "applied", "time"].map(str::to_owned).to_vec()];
        for rule in self.rules.iter().take(MOST_RULES) {
            rows.push(vec![
                rule.rule.clone(),
                rule.family.name().to_owned(),
                rule.matches.to_string(),
                rule.applied.to_string(),
                print::seconds(rule.seconds),
            ]);
        }
        let aligns = [Align::Left, Align::Left, Align::Right, Align::Right, Align::Right];
        text += &format!("\n{}", table(&aligns, &rows));
        text
    }
}

fn reason(stop: Stop) -> &'static str {
    match stop {
        Stop::Saturated => "saturated",
        Stop::Nodes => "stopped at the most nodes",
        Stop::Rounds => "stopped after all rounds",
        Stop::Contradiction => "stopped at a contradiction",
    }
}
