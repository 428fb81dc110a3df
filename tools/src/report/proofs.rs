//! Proofs: the rules by which a value came to be computed as it is, one a line.
//!
//!     x is computed by another form than the source has:
//!         (transpose {} (tanh {} (transpose {} x0)))
//!       = (tanh {} x0)                                   by elementwise-of-transpose

use super::Report;
use super::aliases::sentence;
use super::names::resolve;
use super::remarks::check;
use crate::failure::Failure;
use fusion_egraph::proof::{Proof, Step};
use fusion_egraph::remarks::{Alias, Became};
use serde::Serialize;

/// How a value came to be computed as it is: an answer to `--proof`.
#[derive(Debug, Serialize)]
pub struct Proven<'r> {
    value: &'r str,
    /// What became of it, where it is no value of its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    aliases: Vec<&'r Alias>,
    /// Of the values that the name stands for; none where they are computed as the source says.
    proofs: Vec<&'r Proof>,
}

/// The proofs of the values that a name stands for.
pub fn proof<'r>(report: &'r Report, value: &'r str) -> Result<Proven<'r>, Failure> {
    check(report)?;
    let (mut aliases, mut proofs) = (Vec::new(), Vec::new());
    for (block, named) in report.blocks().iter().zip(resolve(report, value)?) {
        aliases.extend(named.aliases);
        proofs.extend(block.proofs.iter().filter(|p| named.values.contains(&p.value)));
    }
    Ok(Proven { value, aliases, proofs })
}

impl Proven<'_> {
    /// For people.
    pub fn text(&self) -> String {
        let mut parts: Vec<String> = self.aliases.iter().map(|alias| became(alias)).collect();
        parts.extend(self.proofs.iter().map(|proof| text(proof)));
        // An output by its name, or a value that is written in two places.
        let renamed = |alias: &&Alias| alias.became == Became::Value && alias.steps.len() < 2;
        if self.proofs.is_empty() && self.aliases.iter().all(renamed) {
            let value = self.aliases.last().and_then(|alias| alias.of.as_deref()).unwrap_or(self.value);
            parts.push(format!("{value} is computed as the source says: no rule was used"));
        }
        parts.join("\n\n")
    }
}

/// What became of a value, and the steps to that.
fn became(alias: &Alias) -> String {
    let said = sentence(alias);
    match alias.steps.len() {
        0 | 1 => said,
        _ => format!("{said}:\n{}", steps(&alias.steps)),
    }
}

fn text(proof: &Proof) -> String {
    if proof.steps.is_empty() {
        return format!(
            "{} is computed by another form than the source has, whose terms are too large to be shown",
            proof.value
        );
    }
    format!("{} is computed by another form than the source has:\n{}", proof.value, steps(&proof.steps))
}

fn steps(steps: &[Step]) -> String {
    let line = |step: &Step| match (&step.rule, step.backward) {
        (None, _) => format!("    {}", step.term),
        (Some(rule), false) => format!("  = {}    by {rule}", step.term),
        (Some(rule), true) => format!("  = {}    by {rule}, from right to left", step.term),
    };
    steps.iter().map(line).collect::<Vec<_>>().join("\n")
}
