//! Kinds and knobs by chance, in place of those of least estimate: each point of a space has to compute what the kernel says, not the best one alone.
//!
//!     FUSION_SCHEDULE_SEED=7 fusion run model.onnx       other schedules for each number, the same ones for the same number
//!
//! Of a nest that is not held yet, one of the matches that hold it is drawn, with a value for each of its knobs.

use super::cover::{Candidate, numbers_of, written};
use super::kind::{Config, Kernel, Kind, Match, Seconds};
use crate::schedule::Schedule;
use fusion_operators::random::Random;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The environment variable with the number.
const SEED: &str = "FUSION_SCHEDULE_SEED";
/// Configs of a match that are drawn before its best one is taken: some values of knobs are not possible together.
const TRIES: usize = 64;

/// The number that schedules are drawn by, where there is one.
pub fn seed() -> Option<u64> {
    std::env::var(SEED).ok()?.trim().parse().ok()
}

/// Numbers for a kernel of that name.
pub fn numbers(seed: u64, kernel: &str) -> Random {
    let mut hasher = DefaultHasher::new();
    (seed, kernel).hash(&mut hasher);
    Random::new(hasher.finish())
}

/// Candidates that hold each nest once, in the order in which they are applied.
pub fn drawn(
    table: &[&dyn Kind],
    (tree, kernel): (&Schedule, &Kernel),
    random: &mut Random,
) -> Result<Vec<Candidate>, String> {
    let mut all = Vec::new();
    for kind in table {
        for found in kind.matches(tree, kernel) {
            all.push((kind.about().name, numbers_of(&*found, kernel), found));
        }
    }
    let mut held = vec![false; kernel.nests.len()];
    let mut chosen: Vec<Candidate> = Vec::new();
    while let Some(first) = held.iter().position(|held| !held) {
        let fits = |holds: &[usize]| holds.contains(&first) && !holds.iter().any(|&nest| held[nest]);
        let options: Vec<usize> = (0..all.len()).filter(|&at| fits(&all[at].1)).collect();
        let at = *pick(&options, random).ok_or("has a nest that no kind matches")?;
        let (kind, holds, found) = all.remove(at);
        let Some((config, seconds)) = draw(&*found, (tree, kernel), random) else { continue };
        holds.iter().for_each(|&nest| held[nest] = true);
        chosen.push(Candidate { kind, found, config, seconds, holds });
    }
    chosen.sort_by_key(|candidate| written(&candidate.holds));
    Ok(chosen)
}

fn draw(
    found: &dyn Match,
    (tree, kernel): (&Schedule, &Kernel),
    random: &mut Random,
) -> Option<(Config, Seconds)> {
    let space = found.space(tree, kernel);
    for _ in 0..TRIES {
        let drawn: Option<Config> = space.iter().map(|knob| pick(&knob.values, random).copied()).collect();
        if let Some(possible) = drawn.and_then(|config| found.estimated(tree, kernel, config)) {
            return Some(possible);
        }
    }
    found.best(tree, kernel)
}

fn pick<'o, T>(options: &'o [T], random: &mut Random) -> Option<&'o T> {
    let at = random.next_u64().checked_rem(options.len() as u64)?;
    options.get(at as usize)
}
