//! What a log says is best: of the times that were measured in turn with the default, the least one, where that is less by more than they vary.

use super::Record;
use fusion_schedule::auto_schedule::Choice;
use indexmap::IndexMap;

/// How much less than the default a time must be: what the same code measured twice differs by on an idle machine.
const LEAST_GAIN: f64 = 0.02;

/// What is best for a kernel on some threads of a processor.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// The kernel's hash.
    pub kernel: String,
    /// Its name in the model that it was last measured for.
    pub name: String,
    /// The processor.
    pub target: String,
    /// Threads that it ran on.
    pub threads: u16,
    /// Measurements of it, those that failed as well.
    pub trials: usize,
    /// Seconds of the default, where it was measured.
    pub default: Option<f64>,
    /// The best choices with their seconds; none where the default is as good.
    pub choices: Option<(Vec<Choice>, f64)>,
}

impl Chosen {
    /// Seconds of what is taken: the best choices, else the default.
    pub fn seconds(&self) -> Option<f64> {
        self.choices.as_ref().map(|(_, seconds)| *seconds).or(self.default)
    }

    /// How many times as fast as the default that is.
    pub fn gain(&self) -> Option<f64> {
        Some(self.default? / self.seconds()?)
    }
}

/// What is best for each kernel on each processor and number of threads, in the order of the log.
pub fn best(records: &[Record]) -> Vec<Chosen> {
    of(&records.iter().collect::<Vec<_>>())
}

/// The same of records that lie elsewhere.
pub(super) fn of(records: &[&Record]) -> Vec<Chosen> {
    groups(records).values().map(|group| chosen(group)).collect()
}

/// Measurements by kernel, processor and threads.
pub(super) fn groups<'r>(records: &[&'r Record]) -> IndexMap<(&'r str, &'r str, u16), Vec<&'r Record>> {
    let mut groups: IndexMap<(&str, &str, u16), Vec<&Record>> = IndexMap::new();
    for record in records {
        groups.entry((&record.kernel, &record.target, record.threads)).or_default().push(record);
    }
    groups
}

/// What is best by measurements of one kernel on one processor and number of threads.
pub(super) fn chosen(group: &[&Record]) -> Chosen {
    let again: Vec<&Record> = group.iter().copied().filter(|r| r.again).collect();
    let measured = if again.is_empty() { group } else { &again };
    let default = measured.iter().filter(|r| r.default).filter_map(|r| r.seconds());
    let default = default.min_by(f64::total_cmp);
    let others = measured.iter().filter(|r| !r.default).filter_map(|r| Some((*r, r.seconds()?)));
    let least = others.min_by(|(_, a), (_, b)| a.total_cmp(b));
    let least = least.filter(|(_, s)| default.is_some_and(|d| *s < d * (1.0 - LEAST_GAIN)));
    let last = group.last();
    Chosen {
        kernel: last.map_or_else(String::new, |r| r.kernel.clone()),
        name: last.map_or_else(String::new, |r| r.name.clone()),
        target: last.map_or_else(String::new, |r| r.target.clone()),
        threads: last.map_or(0, |r| r.threads),
        trials: group.iter().filter(|r| !r.again).count(),
        default,
        choices: least.map(|(record, s)| (record.choices.clone(), s)),
    }
}
