//! What a kind of schedule is: a way to compute some nests of a kernel, with what tells whether it is the best one.
//!
//!     matches(kernel)           the nests that the kind can compute, together or one at a time
//!     space(match)              its knobs, each with its legal values
//!     estimate(match, config)   seconds
//!     apply(match, config)      the primitives
//!
//! The driver ([`cover`](super::cover)) takes the matches and configs of least estimate. Adding a kind is a file with these four functions and
//! a line in the table ([`cpu::kinds`](super::cpu::kinds), [`gpu::kinds`](super::gpu::kinds)).

use super::cpu::blocks::Blocks;
use super::placement::Nest;
use super::writer::Writer;
use crate::schedule::{Schedule, StageId};
use fusion_machine::{Machine, Target};

/// Seconds of one call on one core of a processor, or of its launches on a GPU.
pub type Seconds = f64;

/// A value for each knob, in their order.
pub type Config = Vec<i64>;

/// What a search may choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knob {
    /// As the table has it.
    pub name: &'static str,
    /// Its legal values, by themselves; some together may be refused by the estimate.
    pub values: Vec<i64>,
}

/// A kind in words, for the table in the docs.
pub struct About {
    /// Its name.
    pub name: &'static str,
    /// What it matches.
    pub matches: &'static str,
    /// Its knobs, and what each is.
    pub knobs: &'static [(&'static str, &'static str)],
    /// The formula of the estimate: cycles of one core of a processor, or seconds of a GPU, beside what memory takes.
    pub formula: &'static str,
    /// True where each sum is made in the order of the source: such kinds are for strict arithmetic as well.
    pub keeps_order: bool,
}

/// A kernel whose stages are placed: what kinds are asked about.
#[derive(Clone, Copy)]
pub struct Kernel<'k> {
    /// The stages with loops of their own, in program order.
    pub nests: &'k [Nest],
    /// The core.
    pub machine: &'k Machine,
    /// All of the machine: what kinds of GPUs calculate with.
    pub target: &'k Target,
    /// Which inputs are constants in all calls.
    pub constant: &'k [bool],
    /// A product between nests that are computed in blocks of its rows.
    pub blocks: Option<&'k Blocks>,
    /// Stages that are computed while a match copies them, where one does: the driver has those that none does be computed where they are read.
    pub kept: &'k [StageId],
}

/// A kind of schedule.
pub trait Kind: Sync {
    /// The kind in words.
    fn about(&self) -> About;

    /// All that it can compute of a kernel.
    fn matches(&self, tree: &Schedule, kernel: &Kernel) -> Vec<Box<dyn Match>>;
}

/// Matches of one kind.
pub fn all<M: Match + 'static>(found: impl IntoIterator<Item = M>) -> Vec<Box<dyn Match>> {
    found.into_iter().map(|found| Box::new(found) as Box<dyn Match>).collect()
}

/// Nests that a kind can compute.
pub trait Match {
    /// The stages of these nests.
    fn nests(&self) -> Vec<StageId>;

    /// Stages besides that it computes while it copies them, of those that are kept for it.
    fn copies(&self) -> Vec<StageId> {
        Vec::new()
    }

    /// The knobs.
    fn space(&self, _tree: &Schedule, _kernel: &Kernel) -> Vec<Knob> {
        Vec::new()
    }

    /// Seconds with a config; none for one that is not possible.
    fn estimate(&self, tree: &Schedule, kernel: &Kernel, config: &[i64]) -> Option<Seconds>;

    /// A config with its estimate; none for one that is not possible.
    fn estimated(&self, tree: &Schedule, kernel: &Kernel, config: Config) -> Option<(Config, Seconds)> {
        let seconds = self.estimate(tree, kernel, &config)?;
        Some((config, seconds))
    }

    /// The configs that are possible, with their estimates.
    fn configs(&self, tree: &Schedule, kernel: &Kernel) -> Vec<(Config, Seconds)> {
        let space = self.space(tree, kernel);
        configs(&space).filter_map(|config| self.estimated(tree, kernel, config)).collect()
    }

    /// The config of least estimate. A kind that knows it without trying all says so.
    fn best(&self, tree: &Schedule, kernel: &Kernel) -> Option<(Config, Seconds)> {
        self.configs(tree, kernel).into_iter().min_by(|(_, a), (_, b)| a.total_cmp(b))
    }

    /// Writes the primitives.
    fn apply(&self, writer: &mut Writer, kernel: &Kernel, config: &[i64]) -> Result<(), String>;
}

/// All configs of some knobs, the first values first.
fn configs(space: &[Knob]) -> impl Iterator<Item = Config> {
    let number: usize = space.iter().map(|knob| knob.values.len()).product();
    (0..number).map(|mut at| {
        let digits = space.iter().rev().map(|knob| {
            let value = knob.values[at % knob.values.len()];
            at /= knob.values.len();
            value
        });
        let mut config: Config = digits.collect();
        config.reverse();
        config
    })
}

#[cfg(test)]
mod tests {
    use super::{Knob, configs};

    #[test]
    fn all_values_of_knobs_meet() {
        let knob = |values: &[i64]| Knob { name: "rows", values: values.to_vec() };
        let all: Vec<_> = configs(&[knob(&[1, 2]), knob(&[7, 8, 9])]).collect();
        assert_eq!(all.len(), 6);
        assert_eq!((&all[0], &all[5]), (&vec![1, 7], &vec![2, 9]));
        assert_eq!(configs(&[]).collect::<Vec<_>>(), [Vec::<i64>::new()]);
        assert_eq!(configs(&[knob(&[])]).count(), 0);
    }
}
