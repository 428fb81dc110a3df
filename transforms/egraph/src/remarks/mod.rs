//! Remarks: what was decided in a block, and what it would have cost otherwise.
//!
//! Values are named after the operations of the source they stand for. A remark that was accepted gives the cost before it, as if it were
//! taken back, and after; one that was rejected gives the cost as it is, and as it would be. What may not be has no cost, but a reason.

mod aliases;
mod block;
pub(crate) mod operators;
mod orders;

use super::extract::bound::lower_bound;
use super::extract::plan::Plan;
use super::extract::search::SearchReport;
use super::extract::space::{ClassId, Space};
use super::proof::Proof;
use super::read::Program;
pub use super::read::Totals;
use super::rules::{Family, Rules};
use super::saturate::Report;
use super::write::Written;
pub use aliases::{Alias, Became, aliases};
use fusion_operators::Call;
use fusion_operators::ops::layout::{IMAGES, WEIGHTS};
pub use operators::{names, operator};
pub use orders::ImageOrders;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The remarks of a module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Remarks {
    /// Its blocks, in the order of the program.
    pub blocks: Vec<BlockRemarks>,
}

/// The remarks of a block.
#[derive(Debug, Serialize, Deserialize)]
pub struct BlockRemarks {
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
    pub remarks: Vec<Remark>,
    /// By which rules values came to be computed as they are, where that was asked for.
    #[serde(default)]
    pub proofs: Vec<Proof>,
    /// Values of the source that no kernel computes under their own name.
    #[serde(default)]
    pub aliases: Vec<Alias>,
}

fn once() -> u64 {
    1
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
    /// The members that do nothing but change the order of an image.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conversions: Vec<Conversion>,
    /// The members whose error is bounded by the largest result near alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub normwise: Vec<Normwise>,
    /// The instruction that adds four of its products at once, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dot4: Option<String>,
}

/// A form whose error is bounded by the largest result near.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Normwise {
    /// The value it gives.
    pub value: String,
    /// The operator.
    pub operator: String,
    /// The rule that made it; none for what the source says.
    pub rule: Option<String>,
    /// The largest error, as a part of the largest result near.
    pub error: f64,
}

/// Two orders of an image, by their names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderChange {
    /// That in which it is read.
    pub from: String,
    /// That in which it is given.
    pub to: String,
}

/// A change of the order of an image that was left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conversion {
    /// The value it gives.
    pub value: String,
    /// The orders.
    #[serde(flatten)]
    pub orders: OrderChange,
    /// Bytes of the image.
    pub bytes: f64,
}

/// An operator in a kernel.
#[derive(Clone, Debug, Serialize, Deserialize)]
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
    /// The order in which it lies, of an image or of the weight of a convolution: NCHW, OIHW32i32o.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
}

impl TensorEntry {
    /// True for what lies in another order than models write.
    pub fn lies_otherwise(&self) -> bool {
        self.order.as_deref().is_some_and(|order| ![IMAGES, WEIGHTS].contains(&order))
    }
}

/// What a remark is about.
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

/// A remark.
#[derive(Debug, Serialize, Deserialize)]
pub struct Remark {
    /// What it is about.
    pub subject: Subject,
    /// Whether it was taken.
    pub accepted: bool,
    /// The rule; of fusion what fuses.
    pub rule: String,
    /// Of rules of layout: in which order the image is read, and in which it is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orders: Option<OrderChange>,
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

impl Remarks {
    /// Adds a block.
    pub fn block(&mut self, entry: BlockRemarks) {
        self.blocks.push(entry);
    }

    /// Adds the blocks of remarks that was written for a part of the program, in the name of that part. Takes the file away, so that the
    /// next part finds none; a part that decided nothing has written none.
    pub fn take(&mut self, path: &Path, part: &str) -> Result<(), String> {
        let wrong = |e: &dyn std::fmt::Display| format!("cannot read the remarks {}: {e}", path.display());
        let text = match std::fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(wrong(&error)),
        };
        let own: Remarks = serde_json::from_slice(&text).map_err(|error| wrong(&error))?;
        self.blocks
            .extend(own.blocks.into_iter().map(|block| BlockRemarks { function: part.to_owned(), ..block }));
        std::fs::remove_file(path).map_err(|error| wrong(&error))
    }

    /// Writes it as JSON.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let text = serde_json::to_string_pretty(self).map_err(|e| e.to_string())?;
        std::fs::write(path, text).map_err(|e| format!("cannot write the remarks {}: {e}", path.display()))
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
    /// The rules that found what could be chosen.
    pub rules: &'a Rules,
    /// The orders of images, by class.
    pub orders: ImageOrders,
}

impl Block<'_, '_> {
    /// The entry of the block, which is in a function and runs so often.
    pub fn entry(&self, function: (&str, u64), saturation: Report, search: SearchReport) -> BlockRemarks {
        let kernels: Vec<KernelEntry> = self.written.iter().map(|w| self.kernel(w)).collect();
        let mut after = Totals { kernels: kernels.len(), ..Totals::default() };
        for kernel in &kernels {
            after.bytes += kernel.bytes;
            after.flops += kernel.flops;
        }
        BlockRemarks {
            function: function.0.to_owned(),
            runs: function.1,
            saturation,
            search,
            bound: lower_bound(self.space),
            before: self.before(),
            after,
            kernels,
            remarks: self.remarks(),
            proofs: Vec::new(),
            aliases: Vec::new(),
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
        let (mut operators, mut normwise, mut dot4) = (Vec::new(), Vec::new(), None);
        for &member in &kernel.members {
            let candidate = state.candidate(space, member);
            let Some(operator) = candidate.operator else { continue };
            let types: Vec<_> =
                candidate.operands.iter().filter_map(|&o| space.classes[o].types.first().cloned()).collect();
            let call = Call { op: operator, operands: &types, attrs: &candidate.attrs.attrs };
            flops += (operator.cost)(&call, &space.classes[member].types);
            dot4 = dot4.or(self.program.graph.analysis.rates.dot4_of(&call));
            let name = &self.names[member];
            if candidate.error > 0.0 {
                normwise.push(Normwise {
                    value: name.clone(),
                    operator: operator.name.to_owned(),
                    rule: candidate.rule.map(|rule| rule.to_string()),
                    error: candidate.error,
                });
            }
            operators.extend(self::operator(self.program, space, self.plan, (member, name)));
        }
        let reads: Vec<TensorEntry> = kernel.inputs.iter().map(|&i| self.tensor(i)).collect();
        let writes: Vec<TensorEntry> = kernel.results.iter().map(|&r| self.tensor(r)).collect();
        let bytes = kernel.inputs.iter().chain(&kernel.results).map(|&c| space.classes[c].bytes).sum();
        let seconds = self.plan.cost(kernel.stored[0]);
        let conversion = |&member: &ClassId| {
            let orders = self.orders.conversion(member, state.candidate(space, member))?;
            Some(Conversion { value: self.names[member].clone(), orders, bytes: space.classes[member].bytes })
        };
        let conversions = kernel.members.iter().filter_map(conversion).collect();
        KernelEntry {
            name: written.name.clone(),
            operators,
            reads,
            writes,
            bytes,
            flops,
            seconds,
            conversions,
            normwise,
            dot4: dot4.map(|dot4| dot4.facts().name.to_owned()),
        }
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
            order: self.orders.get(class).map(|order| order.to_string()),
        }
    }

    /// True for the name of a rule of that family.
    fn is_of(&self, rule: &str, family: Family) -> bool {
        self.rules.iter().any(|known| known.name() == rule && known.family() == family)
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
}
