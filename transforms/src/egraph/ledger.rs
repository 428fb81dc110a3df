//! The ledger: what was decided in a block, and what it would have cost otherwise.
//!
//! Values are named after the operations of the source they stand for. A decision that was accepted gives the cost before it, as if it were
//! taken back, and after; one that was rejected gives the cost as it is, and as it would be. What may not be has no cost, but a reason.

use super::extract::bound::lower_bound;
use super::extract::kernel::Kernel;
use super::extract::plan::Plan;
use super::extract::search::SearchReport;
use super::extract::space::{ClassId, Space};
use super::language::Head;
use super::proof::Proof;
use super::read::Program;
use super::saturate::Report;
use super::write::Written;
use fusion_dialects::{OperationLike, defining_op, name_of_location};
use fusion_operators::Call;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The decisions of a module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Ledger {
    /// Its blocks, in the order of the program.
    pub blocks: Vec<BlockLedger>,
}

/// The decisions of a block.
#[derive(Debug, Serialize, Deserialize)]
pub struct BlockLedger {
    /// The function that has the block.
    pub function: String,
    /// How often the block runs, by the loops of known length that it is in.
    #[serde(default = "once")]
    pub runs: u64,
    /// What saturation did.
    pub saturation: Report,
    /// What the search did.
    pub search: SearchReport,
    /// Seconds that no plan goes below.
    pub bound: f64,
    /// What every operator of the source as a kernel of its own comes to.
    pub before: Totals,
    /// What the kernels come to.
    pub after: Totals,
    /// The kernels, in the order they run.
    pub kernels: Vec<KernelEntry>,
    /// What was decided.
    pub decisions: Vec<Decision>,
    /// By which rules values came to be computed as they are, where that was asked for.
    #[serde(default)]
    pub proofs: Vec<Proof>,
}

fn once() -> u64 {
    1
}

/// Sums over kernels.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Totals {
    /// Kernels.
    pub kernels: usize,
    /// Bytes read and written.
    pub bytes: f64,
    /// Arithmetic operations.
    pub flops: f64,
}

/// A kernel.
#[derive(Debug, Serialize, Deserialize)]
pub struct KernelEntry {
    /// The name of its function.
    pub name: String,
    /// What it computes, operands first.
    pub operators: Vec<OperatorEntry>,
    /// What it reads.
    pub reads: Vec<TensorEntry>,
    /// What it writes.
    pub writes: Vec<TensorEntry>,
    /// Bytes of both.
    pub bytes: f64,
    /// Arithmetic operations.
    pub flops: f64,
    /// Seconds predicted.
    pub seconds: f64,
}

/// An operator in a kernel.
#[derive(Debug, Serialize, Deserialize)]
pub struct OperatorEntry {
    /// The value it gives.
    pub value: String,
    /// The operator.
    pub operator: String,
    /// The rule that made it; none for what the source says.
    pub rule: Option<String>,
    /// The operations of the source that it stands for.
    pub sources: Vec<String>,
}

/// A tensor that goes in or out of a kernel.
#[derive(Debug, Serialize, Deserialize)]
pub struct TensorEntry {
    /// The value.
    pub value: String,
    /// The kernel that writes it; none for inputs and constants.
    pub kernel: Option<String>,
    /// The place of that kernel among the kernels of the block: kernels that are the same share a name.
    pub place: Option<usize>,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: String,
    /// True when it is a constant.
    pub constant: bool,
}

/// What a decision is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// A value that is computed where it is used.
    Fusion,
    /// Two kernels that store together.
    Joining,
    /// A value that is computed in another way.
    Algebra,
    /// A loop, of which some steps stand behind each other.
    Unrolling,
}

/// A decision.
#[derive(Debug, Serialize, Deserialize)]
pub struct Decision {
    /// What it is about.
    pub subject: Subject,
    /// Whether it was taken.
    pub accepted: bool,
    /// The rule; of fusion what fuses.
    pub rule: String,
    /// The value that is decided on, then those that read it.
    pub values: Vec<String>,
    /// The kernels concerned, as they are.
    pub kernels: Vec<String>,
    /// Their places among the kernels of the block.
    pub places: Vec<usize>,
    /// Seconds of the program without what is decided on.
    pub before: Option<f64>,
    /// Seconds of the program with it.
    pub after: Option<f64>,
    /// Why, as a sentence.
    pub reason: String,
}

impl Ledger {
    /// Adds a block.
    pub fn block(&mut self, entry: BlockLedger) {
        self.blocks.push(entry);
    }

    /// Writes it as JSON.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let text = serde_json::to_string_pretty(self).map_err(|e| e.to_string())?;
        std::fs::write(path, text).map_err(|e| format!("cannot write the ledger {}: {e}", path.display()))
    }
}

/// A block that was planned and written.
pub struct Block<'a, 'c> {
    /// What was read.
    pub program: &'a Program<'c>,
    /// What could be chosen.
    pub space: &'a Space,
    /// What was chosen.
    pub plan: &'a Plan,
    /// The names of values, by class.
    pub names: Vec<String>,
    /// What was written.
    pub written: &'a [Written],
}

/// Names for all classes: what the source calls them, and a number where the source has no name, or one for several.
pub fn names(program: &Program, space: &Space) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for (number, class) in space.classes.iter().enumerate() {
        let origin = program.graph[class.id].data.origins.first();
        let source = origin.and_then(|&o| program.sources.get(o as usize).cloned());
        let source = source.or_else(|| given(program, class.id)).filter(|s| !s.is_empty());
        let name = match source {
            Some(source) if !seen.contains(&source) => source,
            Some(source) => format!("{source}#{number}"),
            None => format!("v{number}"),
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

impl Block<'_, '_> {
    /// The entry of the block, which is in a function and runs so often.
    pub fn entry(&self, function: (&str, u64), saturation: Report, search: SearchReport) -> BlockLedger {
        let kernels: Vec<KernelEntry> = self.written.iter().map(|w| self.kernel(w)).collect();
        let mut after = Totals { kernels: kernels.len(), ..Totals::default() };
        for kernel in &kernels {
            after.bytes += kernel.bytes;
            after.flops += kernel.flops;
        }
        BlockLedger {
            function: function.0.to_owned(),
            runs: function.1,
            saturation,
            search,
            bound: lower_bound(self.space),
            before: self.before(),
            after,
            kernels,
            decisions: self.decisions(),
            proofs: Vec::new(),
        }
    }

    /// Every operator of the source as a kernel of its own; views are none.
    fn before(&self) -> Totals {
        self.program.before
    }

    fn kernel(&self, written: &Written) -> KernelEntry {
        let (space, state) = (self.space, &self.plan.state);
        let kernel = &written.kernel;
        let mut flops = 0.0;
        let mut operators = Vec::new();
        for &member in &kernel.members {
            let candidate = state.candidate(space, member);
            let Some(operator) = candidate.operator else { continue };
            let types: Vec<_> =
                candidate.operands.iter().filter_map(|&o| space.classes[o].types.first().cloned()).collect();
            let call = Call { op: operator, operands: &types, attrs: &candidate.attrs.attrs };
            flops += (operator.cost)(&call, &space.classes[member].types);
            operators.push(OperatorEntry {
                value: self.names[member].clone(),
                operator: operator.name.to_owned(),
                rule: candidate.rule.map(|rule| rule.to_string()),
                sources: self.sources(member),
            });
        }
        let reads: Vec<TensorEntry> = kernel.inputs.iter().map(|&i| self.tensor(i)).collect();
        let writes: Vec<TensorEntry> = kernel.results.iter().map(|&r| self.tensor(r)).collect();
        let bytes = kernel.inputs.iter().chain(&kernel.results).map(|&c| space.classes[c].bytes).sum();
        let seconds = self.plan.cost(kernel.stored[0]);
        KernelEntry { name: written.name.clone(), operators, reads, writes, bytes, flops, seconds }
    }

    fn sources(&self, class: ClassId) -> Vec<String> {
        let origins = &self.program.graph[self.space.classes[class].id].data.origins;
        let sources = origins.iter().filter_map(|&o| self.program.sources.get(o as usize));
        sources.filter(|s| !s.is_empty()).cloned().collect()
    }

    /// A tensor that a kernel reads or writes.
    pub fn tensor(&self, class: ClassId) -> TensorEntry {
        let facts = &self.space.classes[class];
        // A view is the same memory as what it is a view of.
        let mut stored = class;
        while !self.space.classes[stored].is_external
            && !self.written.iter().any(|w| w.kernel.results.contains(&stored))
            && self.plan.state.candidate(self.space, stored).is_view
        {
            stored = self.plan.state.candidate(self.space, stored).operands[0];
        }
        let place = self.written.iter().position(|w| w.kernel.results.contains(&stored));
        TensorEntry {
            value: self.names[class].clone(),
            kernel: place.map(|p| self.written[p].name.clone()),
            place,
            ty: facts.types.first().map(|t| t.to_string()).unwrap_or_default(),
            constant: self.program.graph[facts.id].data.is_constant,
        }
    }

    /// The places of the kernels that compute classes.
    fn places(&self, classes: impl IntoIterator<Item = ClassId>) -> Vec<usize> {
        let mut places: Vec<usize> = Vec::new();
        for class in classes {
            let has = |w: &Written| w.kernel.stored.contains(&class) || w.kernel.results.contains(&class);
            places.extend(self.written.iter().position(has).filter(|p| !places.contains(p)));
        }
        places
    }

    fn kernel_names(&self, places: &[usize]) -> Vec<String> {
        places.iter().map(|&p| self.written[p].name.clone()).collect()
    }

    fn decisions(&self) -> Vec<Decision> {
        let mut decisions = Vec::new();
        let (space, plan) = (self.space, self.plan);
        let total = plan.total(space);
        for class in 0..space.classes.len() {
            if space.classes[class].is_external || !plan.state.is_live(class) {
                continue;
            }
            decisions.extend(self.fusion(class, total));
            decisions.extend(self.algebra(class, total));
        }
        decisions.extend(self.joining(total));
        decisions
    }

    /// Whether a class is lazy, and what the other way would cost.
    fn fusion(&self, class: ClassId, total: f64) -> Option<Decision> {
        let (space, plan) = (self.space, self.plan);
        let users = plan.state.users(space, class);
        if users.is_empty() || plan.state.candidate(space, class).is_view {
            return None;
        }
        let mut values = vec![self.names[class].clone()];
        values.extend(users.iter().map(|&u| self.names[u].clone()));
        let decision = |accepted, places: Vec<usize>, before, after, reason| Decision {
            subject: Subject::Fusion,
            accepted,
            rule: "compute where it is used".to_owned(),
            values: values.clone(),
            kernels: self.kernel_names(&places),
            places,
            before,
            after,
            reason,
        };
        if !plan.state.is_stored(class) {
            let kernels = plan.kernels_with(space, class);
            let count = kernels.len();
            let other = plan.stored(space, class);
            let reason = match count {
                1 => "its only kernel needs no memory for it".to_owned(),
                _ => {
                    format!("computing it in each of {count} kernels takes less than storing and reading it")
                }
            };
            return Some(decision(true, self.places(kernels), Some(other), Some(total), reason));
        }
        let places = self.places(plan.readers(space, class).into_iter().chain([class]));
        if space.roots.contains(&class) && plan.readers(space, class).is_empty() {
            return None;
        }
        if space.roots.contains(&class) {
            let reason = "it is a result of the block, and must be stored".to_owned();
            return Some(decision(false, places, None, None, reason));
        }
        Some(match plan.lazy(space, class) {
            Err(why) => decision(false, places, None, None, format!("{why}")),
            Ok((_, gain)) => {
                let reason = "it would take longer".to_owned();
                decision(false, places, Some(total), Some(total - gain), reason)
            }
        })
    }

    /// The other ways to compute a class, and what each would cost with everything else as it is.
    fn algebra(&self, class: ClassId, total: f64) -> Vec<Decision> {
        let (space, plan) = (self.space, self.plan);
        let chosen = plan.state.choice(class);
        let mut decisions = Vec::new();
        for (number, candidate) in space.classes[class].candidates.iter().enumerate() {
            let Some(rule) = candidate.rule else { continue };
            let accepted = number == chosen;
            // Where the program's own form was left, the cost before is that of going back to it.
            let other = if accepted { 0 } else { number };
            if accepted && chosen == 0 {
                continue;
            }
            let cost = plan.with(space, class, other);
            let cost = cost.filter(|c| accepted || (c - total).abs() > 1e-9 * total);
            let Some(cost) = cost else { continue };
            let (before, after) = if accepted { (cost, total) } else { (total, cost) };
            let places = self.places(plan.kernels_with(space, class));
            decisions.push(Decision {
                subject: Subject::Algebra,
                accepted,
                rule: rule.to_string(),
                values: vec![self.names[class].clone()],
                kernels: self.kernel_names(&places),
                places,
                before: Some(before),
                after: Some(after),
                reason: match accepted {
                    true => "the program takes less".to_owned(),
                    false => "the program would take longer".to_owned(),
                },
            });
        }
        decisions
    }

    /// Kernels that store several classes, and what each pair of neighbours would gain by that.
    fn joining(&self, total: f64) -> Vec<Decision> {
        let (space, plan) = (self.space, self.plan);
        let mut decisions = Vec::new();
        for (place, written) in self.written.iter().enumerate().filter(|(_, w)| w.kernel.stored.len() > 1) {
            let kernel: &Kernel = &written.kernel;
            let apart: f64 = plan.apart(space, &kernel.stored);
            decisions.push(Decision {
                subject: Subject::Joining,
                accepted: true,
                rule: "store together".to_owned(),
                values: kernel.stored.iter().map(|&s| self.names[s].clone()).collect(),
                kernels: vec![written.name.clone()],
                places: vec![place],
                before: Some(apart),
                after: Some(total),
                reason: "one pass over what both read takes less".to_owned(),
            });
        }
        for (first, second) in plan.pairs(space) {
            let places = self.places([first, second]);
            let decision = |before, after, reason| Decision {
                subject: Subject::Joining,
                accepted: false,
                rule: "store together".to_owned(),
                values: vec![self.names[first].clone(), self.names[second].clone()],
                kernels: self.kernel_names(&places),
                places: places.clone(),
                before,
                after,
                reason,
            };
            decisions.push(match plan.joined(space, first, second) {
                Err(why) => decision(None, None, format!("{why}")),
                Ok((_, gain)) => {
                    decision(Some(total), Some(total - gain), "it would not take less".to_owned())
                }
            });
        }
        decisions
    }
}
