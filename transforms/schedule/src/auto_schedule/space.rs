//! What a search may choose for a kernel: every match of every kind, with all configs that are possible and their estimates.
//!
//! ```text
//!     matches      contraction of relu   (vector 1, row 0, vectors 2, rows 13 ...)  4.8 us   (... rows 12 ...)  4.9 us   ...
//!                  tiling of relu        (rows 4, vectors 4)                        9.2 us   ...
//!     covers       [contraction]  [tiling]          sets of matches that hold each nest once
//! ```

use super::choice::Choice;
use super::cover::{covers, numbers_of};
use super::kind::{Config, Kernel, Kind, Match, Seconds};
use crate::schedule::Schedule;

/// Configs of a match that are kept: those of least estimate.
const MOST_CONFIGS: usize = 4096;
/// Covers that are kept, those of least estimate.
const MOST_COVERS: usize = 16;

/// A match of a kind.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchSpace {
    /// The name of the kind.
    pub kind: &'static str,
    /// The stages of its nests, by name.
    pub stages: Vec<String>,
    /// Bytes of a vector register, where they are not the target's.
    pub vector_bytes: Option<u64>,
    /// The names of its knobs.
    pub knobs: Vec<String>,
    /// Its configs that are possible, with their estimates, the least first.
    pub configs: Vec<(Config, Seconds)>,
}

impl MatchSpace {
    /// True when a choice is of this match.
    pub fn is_of(&self, choice: &Choice) -> bool {
        let is_same = self.kind == choice.kind && self.vector_bytes == choice.vector_bytes;
        is_same
            && self.stages == choice.stages
            && self.knobs.iter().eq(choice.knobs.iter().map(|(name, _)| name))
    }

    /// The match with one of its configs.
    pub fn choice(&self, config: &[i64]) -> Choice {
        Choice {
            kind: self.kind.to_owned(),
            stages: self.stages.clone(),
            knobs: self.knobs.iter().cloned().zip(config.iter().copied()).collect(),
            vector_bytes: self.vector_bytes,
        }
    }
}

/// What a search may choose.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelSpace {
    /// The matches.
    pub matches: Vec<MatchSpace>,
    /// Sets of matches, by their places, that hold each nest once, in the order in which they are applied; those of least estimate first.
    pub covers: Vec<Vec<usize>>,
    /// What is taken where nothing else is chosen.
    pub default: Vec<Choice>,
}

impl KernelSpace {
    /// How many points there are.
    pub fn points(&self) -> f64 {
        let of_cover = |cover: &Vec<usize>| {
            cover.iter().map(|&at| self.matches[at].configs.len() as f64).product::<f64>()
        };
        self.covers.iter().map(of_cover).sum()
    }

    /// Adds what may be chosen for vectors of another width.
    pub(super) fn add(&mut self, other: KernelSpace, vector_bytes: u64) {
        let first = self.matches.len();
        let matches = other.matches.into_iter();
        self.matches.extend(matches.map(|found| MatchSpace { vector_bytes: Some(vector_bytes), ..found }));
        let covers = other.covers.into_iter();
        self.covers.extend(covers.map(|cover| cover.into_iter().map(|at| at + first).collect()));
    }

    /// Of a kernel, with the kinds of a table.
    pub(super) fn of(
        table: &[&dyn Kind],
        tree: &Schedule,
        kernel: &Kernel,
        default: Vec<Choice>,
    ) -> KernelSpace {
        let (mut matches, mut holds) = (Vec::new(), Vec::new());
        for kind in table {
            for found in kind.matches(tree, kernel) {
                let nests = numbers_of(&*found, kernel);
                let space = of_match(kind.about().name, &*found, (tree, kernel), &nests);
                if !space.configs.is_empty() {
                    holds.push(nests);
                    matches.push(space);
                }
            }
        }
        let least = |at: usize| matches[at].configs[0].1;
        let mut covers: Vec<(Vec<usize>, Seconds)> = covers(&holds, kernel.nests.len())
            .into_iter()
            .map(|cover| (cover.iter().map(|&at| least(at)).sum(), cover))
            .map(|(seconds, cover)| (cover, seconds))
            .collect();
        covers.sort_by(|(_, a), (_, b)| a.total_cmp(b));
        covers.truncate(MOST_COVERS);
        KernelSpace { matches, covers: covers.into_iter().map(|(cover, _)| cover).collect(), default }
    }
}

fn of_match(
    kind: &'static str,
    found: &dyn Match,
    (tree, kernel): (&Schedule, &Kernel),
    nests: &[usize],
) -> MatchSpace {
    let mut configs = found.configs(tree, kernel);
    configs.sort_by(|(a, s), (b, t)| s.total_cmp(t).then_with(|| a.cmp(b)));
    configs.truncate(MOST_CONFIGS);
    MatchSpace {
        kind,
        vector_bytes: None,
        stages: nests.iter().map(|&nest| tree.stages[kernel.nests[nest].stage].name.clone()).collect(),
        knobs: found.space(tree, kernel).iter().map(|knob| knob.name.to_owned()).collect(),
        configs,
    }
}
