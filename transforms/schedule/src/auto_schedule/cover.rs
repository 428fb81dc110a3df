//! The driver: which kinds compute a kernel, chosen by estimate.
//!
//!     nests        a   b   c   d                  matches that hold all nests once, of the least sum:
//!     rows         [   3 us    ]   .              rows 3 + plain 2 = 5 us
//!     contraction  .   4   .   .
//!     plain        2   9   2   2                  a b c d by themselves: 10 us
//!
//! The first nest that is not held yet is held by each match that has it, in turn; what is left is the same question again. Most matches hold one
//! nest, so that few questions differ. Of two answers that take about as long, the one of the earlier kind is taken.

use super::kind::{Config, Kernel, Kind, Match, Seconds};
use crate::schedule::{Schedule, StageId};
use std::collections::HashMap;

/// Groups of several nests that are tried together; of more, those that come first.
const MOST_GROUPS: usize = 12;
/// Sets of matches that are listed.
const MOST_COVERS: usize = 256;
/// How much less a later kind of the table has to take than an earlier one: estimates are no more exact than the share of memory or
/// arithmetic that is not hidden.
const LEAST_GAIN: f64 = 1.25;

/// A match with the config of least estimate.
pub struct Candidate {
    /// The name of its kind.
    pub kind: &'static str,
    /// The match.
    pub found: Box<dyn Match>,
    /// The config.
    pub config: Config,
    /// Its estimate.
    pub seconds: Seconds,
    /// Which nests it holds, by their numbers.
    pub holds: Vec<usize>,
}

/// All that the kinds of a table can do with a kernel, the first kinds first.
pub fn candidates(table: &[&dyn Kind], tree: &Schedule, kernel: &Kernel) -> Vec<Candidate> {
    let mut all = Vec::new();
    for kind in table {
        for found in kind.matches(tree, kernel) {
            let Some((config, seconds)) = found.best(tree, kernel) else { continue };
            let holds = numbers_of(&*found, kernel);
            all.push(Candidate { kind: kind.about().name, found, config, seconds, holds });
        }
    }
    all
}

/// Which nests a match holds, by their numbers.
pub fn numbers_of(found: &dyn Match, kernel: &Kernel) -> Vec<usize> {
    let number = |stage: &StageId| kernel.nests.iter().position(|n| n.stage == *stage);
    let mut holds: Vec<usize> = found.nests().iter().filter_map(number).collect();
    holds.sort_unstable();
    holds
}

/// The order in which matches are written, by the nests that they hold: what holds several is first, as it may be the place of what is computed beside.
pub fn written(holds: &[usize]) -> (bool, usize) {
    (holds.len() == 1, holds[0])
}

/// All sets of matches, by their places, that hold each of so many nests once, in the order in which they are written. Of each match it is given which
/// nests it holds. Of many sets, those of the first matches.
pub fn covers(holds: &[Vec<usize>], nests: usize) -> Vec<Vec<usize>> {
    let (mut found, mut open) = (Vec::new(), vec![(vec![false; nests], Vec::new())]);
    while let Some((held, chosen)) = open.pop() {
        let Some(first) = held.iter().position(|held| !held) else {
            found.push(chosen);
            if found.len() == MOST_COVERS {
                break;
            }
            continue;
        };
        let fits = |at: &usize| holds[*at].contains(&first) && !holds[*at].iter().any(|&n| held[n]);
        // The last one pushed is the next one looked at.
        for at in (0..holds.len()).filter(fits).rev() {
            let (mut with, mut longer) = (held.clone(), chosen.clone());
            holds[at].iter().for_each(|&n| with[n] = true);
            longer.push(at);
            open.push((with, longer));
        }
    }
    for cover in &mut found {
        cover.sort_by_key(|&at| written(&holds[at]));
    }
    found
}

/// The candidates, by their places, that hold each of so many nests once and take least together; none where some nest has no candidate.
pub fn least(candidates: &[Candidate], nests: usize) -> Option<Vec<usize>> {
    let is_group = |at: &usize| candidates[*at].holds.len() > 1;
    let (groups, alone): (Vec<usize>, Vec<usize>) = (0..candidates.len()).partition(is_group);
    let tried = groups.into_iter().take(MOST_GROUPS).chain(alone).collect();
    let mut cover = Cover { candidates, tried, known: HashMap::new() };
    let (_, mut chosen) = cover.rest(&vec![false; nests])?;
    chosen.sort_by_key(|&at| written(&candidates[at].holds));
    Some(chosen)
}

/// A sum of estimates, and the candidates that it is of.
type Chosen = Option<(Seconds, Vec<usize>)>;

struct Cover<'a> {
    candidates: &'a [Candidate],
    tried: Vec<usize>,
    known: HashMap<Vec<bool>, Chosen>,
}

impl Cover<'_> {
    /// The least way to hold the nests that are not held yet.
    fn rest(&mut self, held: &[bool]) -> Chosen {
        let Some(first) = held.iter().position(|held| !held) else { return Some((0.0, Vec::new())) };
        if let Some(known) = self.known.get(held) {
            return known.clone();
        }
        let mut best: Chosen = None;
        for at in self.tried.clone() {
            let candidate = &self.candidates[at];
            if !candidate.holds.contains(&first) || candidate.holds.iter().any(|&n| held[n]) {
                continue;
            }
            let mut with = held.to_vec();
            candidate.holds.iter().for_each(|&n| with[n] = true);
            let Some((seconds, mut chosen)) = self.rest(&with) else { continue };
            let seconds = seconds + self.candidates[at].seconds;
            if best.as_ref().is_none_or(|(least, _)| seconds * LEAST_GAIN < *least) {
                chosen.push(at);
                best = Some((seconds, chosen));
            }
        }
        self.known.insert(held.to_vec(), best.clone());
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A match that estimates nothing by itself.
    struct Fixed;

    impl Match for Fixed {
        fn nests(&self) -> Vec<StageId> {
            Vec::new()
        }

        fn estimate(&self, _: &Schedule, _: &Kernel, _: &[i64]) -> Option<Seconds> {
            None
        }

        fn apply(
            &self,
            _: &mut crate::auto_schedule::writer::Writer,
            _: &Kernel,
            _: &[i64],
        ) -> Result<(), String> {
            Ok(())
        }
    }

    fn candidate(seconds: f64, holds: &[usize]) -> Candidate {
        Candidate {
            kind: "fixed",
            found: Box::new(Fixed),
            config: Vec::new(),
            seconds,
            holds: holds.to_vec(),
        }
    }

    #[test]
    fn a_group_is_taken_where_its_nests_take_longer_alone() {
        let alone = |group| {
            [candidate(group, &[0, 2]), candidate(2.0, &[0]), candidate(5.0, &[1]), candidate(2.0, &[2])]
        };
        assert_eq!(least(&alone(3.0), 3), Some(vec![0, 2]));
        assert_eq!(least(&alone(9.0), 3), Some(vec![1, 2, 3]));
    }

    #[test]
    fn of_two_that_take_about_as_long_the_first_is_taken() {
        assert_eq!(least(&[candidate(1.0, &[0]), candidate(0.9, &[0])], 1), Some(vec![0]));
        assert_eq!(least(&[candidate(1.0, &[0]), candidate(0.5, &[0])], 1), Some(vec![1]));
    }

    #[test]
    fn all_covers_are_listed_groups_first() {
        let holds = [vec![0, 2], vec![0], vec![1], vec![2], vec![1]];
        let all = covers(&holds, 3);
        assert_eq!(all, [vec![0, 2], vec![0, 4], vec![1, 2, 3], vec![1, 4, 3]]);
        assert!(covers(&holds[..2], 3).is_empty());
        assert_eq!(covers(&[], 0), [Vec::<usize>::new()]);
    }

    #[test]
    fn a_nest_without_a_candidate_has_no_cover() {
        assert_eq!(least(&[candidate(1.0, &[0])], 2), None);
    }
}
