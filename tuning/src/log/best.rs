//! What a log says is best: of the times that were measured in turn with the default, the least one, where that is less by more than they vary.

use super::Record;
use fusion_conversion::tuned::Choices;
use fusion_schedule::auto_schedule::Choice;
use indexmap::IndexMap;

/// How much less than the default a time must be: what the same code measured twice differs by on an idle machine.
const LEAST_GAIN: f64 = 0.02;

/// What is best for a kernel on a processor.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// The kernel's hash.
    pub kernel: String,
    /// Its name in the model that it was last measured for.
    pub name: String,
    /// The processor.
    pub target: String,
    /// Measurements of it, those that failed as well.
    pub trials: usize,
    /// Seconds of the default, where it was measured.
    pub default: Option<f64>,
    /// The best choices with their seconds; none where the default is as good.
    pub choices: Option<(Vec<Choice>, f64)>,
}

/// What is best for each kernel on each processor, in the order of the log.
pub fn best(records: &[Record]) -> Vec<Chosen> {
    let mut groups: IndexMap<(&str, &str), Vec<&Record>> = IndexMap::new();
    for record in records {
        groups.entry((&record.kernel, &record.target)).or_default().push(record);
    }
    let chosen = |((kernel, target), group): ((&str, &str), Vec<&Record>)| {
        let again: Vec<&Record> = group.iter().copied().filter(|r| r.again).collect();
        let measured = if again.is_empty() { &group } else { &again };
        let default = measured.iter().filter(|r| r.default).filter_map(|r| r.seconds());
        let default = default.min_by(f64::total_cmp);
        let others = measured.iter().filter(|r| !r.default).filter_map(|r| Some((*r, r.seconds()?)));
        let least = others.min_by(|(_, a), (_, b)| a.total_cmp(b));
        let least = least.filter(|(_, s)| default.is_some_and(|d| *s < d * (1.0 - LEAST_GAIN)));
        Chosen {
            kernel: kernel.to_owned(),
            name: group.last().map_or_else(String::new, |r| r.name.clone()),
            target: target.to_owned(),
            trials: group.iter().filter(|r| !r.again).count(),
            default,
            choices: least.map(|(record, s)| (record.choices.clone(), s)),
        }
    };
    groups.into_iter().map(chosen).collect()
}

/// The best choices for kernels on a processor, where they are not the defaults.
pub fn choices_for(records: &[Record], target: &str) -> Choices {
    let of_target = best(records).into_iter().filter(|chosen| chosen.target == target);
    of_target.filter_map(|chosen| Some((chosen.kernel, chosen.choices?.0))).collect()
}
