//! Proofs: the rules by which a value came to be computed as it is, one a line.
//!
//!     x is computed by another form than the source has:
//!         (transpose {} (tanh {} (transpose {} x0)))
//!       = (tanh {} x0)                                   by elementwise-of-transpose

use super::Report;
use super::names::resolve;
use crate::failure::Failure;
use fusion_transforms::egraph::proof::Proof;
use serde::Serialize;

/// How a value came to be computed as it is: an answer to `--proof`.
#[derive(Debug, Serialize)]
pub struct Proven<'r> {
    value: &'r str,
    /// Of the values that the name stands for; none where they are computed as the source says.
    proofs: Vec<&'r Proof>,
}

/// The proofs of the values that a name stands for.
pub fn proof<'r>(report: &'r Report, value: &'r str) -> Result<Proven<'r>, Failure> {
    let mut proofs = Vec::new();
    for (block, named) in report.blocks().iter().zip(resolve(report, value)?) {
        proofs.extend(block.proofs.iter().filter(|p| named.values.contains(&p.value)));
    }
    Ok(Proven { value, proofs })
}

impl Proven<'_> {
    /// For people.
    pub fn text(&self) -> String {
        match self.proofs.is_empty() {
            true => format!("{} is computed as the source says: no rule was used", self.value),
            false => self.proofs.iter().map(|proof| text(proof)).collect::<Vec<_>>().join("\n\n"),
        }
    }
}

fn text(proof: &Proof) -> String {
    if proof.steps.is_empty() {
        return format!(
            "{} is computed by another form than the source has, whose terms are too large to be shown",
            proof.value
        );
    }
    let mut lines = vec![format!("{} is computed by another form than the source has:", proof.value)];
    for step in &proof.steps {
        lines.push(match (&step.rule, step.backward) {
            (None, _) => format!("    {}", step.term),
            (Some(rule), false) => format!("  = {}    by {rule}", step.term),
            (Some(rule), true) => format!("  = {}    by {rule}, from right to left", step.term),
        });
    }
    lines.join("\n")
}
