//! Choices: the kinds that compute a kernel, each with values of its knobs, in place of those of least estimate.
//!
//! ```text
//!   te.kernel @matmul_relu(...) attributes {te.choices = [
//!     {kind = "contraction", knobs = {pack = 0, rows = 6, vectors = 2, ...}, stages = ["relu"]}]}
//! ```
//!
//! Tuning writes them, and so may whoever knows better; together they hold each nest of the kernel once. With `vector_bytes` they are for vectors of
//! that width in place of the target's, which is then one for the whole kernel.

use super::cover::{Candidate, numbers_of, written};
use super::kind::{Config, Kernel, Kind, Knob, Match};
use crate::schedule::Schedule;
use fusion_dialects::{
    Attribute, Context, Op, OpExt, array_attr, array_elements, dict_attr, dictionary_element,
    dictionary_entries, int_attr, int_of, is_array, str_attr, text_of,
};
use serde::{Deserialize, Serialize};

/// The attribute of a kernel.
pub const CHOICES: &str = "te.choices";

/// A kind that computes some nests.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Choice {
    /// The name of the kind.
    pub kind: String,
    /// The stages of the nests, by name.
    pub stages: Vec<String>,
    /// Its knobs, each with its value.
    pub knobs: Vec<(String, i64)>,
    /// Bytes of a vector register, where they are not the target's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vector_bytes: Option<u64>,
}

/// Widths of vectors that a kernel may have.
pub(super) const LEAST_BYTES: u64 = 8;
pub(super) const MOST_BYTES: u64 = 256;

impl Choice {
    /// That of a candidate.
    pub(super) fn of(candidate: &Candidate, tree: &Schedule, kernel: &Kernel) -> Choice {
        let knobs = candidate.found.space(tree, kernel);
        Choice {
            kind: candidate.kind.to_owned(),
            stages: candidate.holds.iter().map(|&nest| name(tree, kernel, nest).to_owned()).collect(),
            knobs: knobs
                .iter()
                .map(|knob| knob.name.to_owned())
                .zip(candidate.config.iter().copied())
                .collect(),
            vector_bytes: None,
        }
    }

    fn to_attr<'c>(&self, context: &'c Context) -> Attribute<'c> {
        let stages: Vec<Attribute> = self.stages.iter().map(|stage| str_attr(context, stage)).collect();
        let knobs: Vec<(&str, Attribute)> =
            self.knobs.iter().map(|(name, value)| (name.as_str(), int_attr(context, *value))).collect();
        let mut entries = vec![
            ("kind", str_attr(context, &self.kind)),
            ("stages", array_attr(context, &stages)),
            ("knobs", dict_attr(context, &knobs)),
        ];
        entries.extend(self.vector_bytes.map(|bytes| ("vector_bytes", int_attr(context, bytes as i64))));
        dict_attr(context, &entries)
    }

    fn of_attr(attr: Attribute) -> Option<Choice> {
        let kind = text_of(dictionary_element(attr, "kind")?)?.to_owned();
        let stages = array_elements(dictionary_element(attr, "stages")?);
        let stages = stages.into_iter().map(|s| text_of(s).map(str::to_owned)).collect::<Option<_>>()?;
        let knobs = match dictionary_element(attr, "knobs") {
            Some(knobs) => dictionary_entries(knobs)?,
            None => Vec::new(),
        };
        let number = |(name, value)| Some((name, int_of(value)?));
        let knobs = knobs.into_iter().map(number).collect::<Option<_>>()?;
        let vector_bytes = match dictionary_element(attr, "vector_bytes") {
            Some(bytes) => Some(u64::try_from(int_of(bytes)?).ok()?),
            None => None,
        };
        Some(Choice { kind, stages, knobs, vector_bytes })
    }
}

/// Notes choices at a kernel.
pub fn attach_choices(kernel: Op, choices: &[Choice]) {
    let context = kernel.context_ref();
    let all: Vec<Attribute> = choices.iter().map(|choice| choice.to_attr(context)).collect();
    kernel.set_attr(CHOICES, array_attr(context, &all));
}

/// The choices that are noted at a kernel; the error is the rest of a sentence about it.
pub fn choices_of(kernel: Op) -> Result<Option<Vec<Choice>>, String> {
    let Some(attr) = kernel.attr(CHOICES) else { return Ok(None) };
    let wrong = || {
        format!(
            "has an attribute {CHOICES} that is no list of {{kind = \"...\", knobs = {{...}}, stages = [\"...\"]}}: {attr}"
        )
    };
    if !is_array(attr) {
        return Err(wrong());
    }
    let all = array_elements(attr).into_iter().map(Choice::of_attr);
    all.collect::<Option<Vec<_>>>().map(Some).ok_or_else(wrong)
}

/// The width of vectors that choices are for, where it is not the target's; the error is the rest of a sentence about the kernel.
pub fn vector_bytes_of(choices: &[Choice]) -> Result<Option<u64>, String> {
    let first = choices.first().and_then(|choice| choice.vector_bytes);
    if choices.iter().any(|choice| choice.vector_bytes != first) {
        return Err("has choices for vectors of several widths; a kernel has one".to_owned());
    }
    match first {
        Some(bytes) if !bytes.is_power_of_two() || !(LEAST_BYTES..=MOST_BYTES).contains(&bytes) => {
            Err(format!(
                "has choices for vectors of {bytes} bytes; a power of two from {LEAST_BYTES} to {MOST_BYTES} is expected"
            ))
        }
        _ => Ok(first),
    }
}

/// The candidates that choices are of, in their order; the error is the rest of a sentence about the kernel.
pub(super) fn chosen(
    table: &[&dyn Kind],
    choices: &[Choice],
    tree: &Schedule,
    kernel: &Kernel,
) -> Result<Vec<Candidate>, String> {
    let mut held = vec![false; kernel.nests.len()];
    let mut all = Vec::new();
    for choice in choices {
        let candidate = candidate(table, choice, tree, kernel)?;
        for &nest in &candidate.holds {
            if std::mem::replace(&mut held[nest], true) {
                return Err(format!("has several choices for stage \"{}\"", name(tree, kernel, nest)));
            }
        }
        all.push(candidate);
    }
    match held.iter().position(|held| !held) {
        Some(nest) => Err(format!("has no choice for stage \"{}\"", name(tree, kernel, nest))),
        None => Ok(all),
    }
}

/// Puts candidates in the place of those of the same match in a list; their places, those of several nests first.
pub(super) fn place(chosen: Vec<Candidate>, all: &mut Vec<Candidate>) -> Vec<usize> {
    let mut places: Vec<usize> = Vec::new();
    for candidate in chosen {
        let is_same = |other: &Candidate| other.kind == candidate.kind && other.holds == candidate.holds;
        let at = all.iter().position(is_same).unwrap_or(all.len());
        match all.get_mut(at) {
            Some(other) => *other = candidate,
            None => all.push(candidate),
        }
        places.push(at);
    }
    places.sort_by_key(|&at| written(&all[at].holds));
    places
}

fn name<'t>(tree: &'t Schedule, kernel: &Kernel, nest: usize) -> &'t str {
    &tree.stages[kernel.nests[nest].stage].name
}

fn candidate(
    table: &[&dyn Kind],
    choice: &Choice,
    tree: &Schedule,
    kernel: &Kernel,
) -> Result<Candidate, String> {
    let Choice { kind, stages, .. } = choice;
    let Some(row) = table.iter().find(|row| row.about().name == kind) else {
        let known: Vec<&str> = table.iter().map(|row| row.about().name).collect();
        return Err(format!("has a choice of kind \"{kind}\", which is none of {}", known.join(", ")));
    };
    let holds = |found: &dyn Match| numbers_of(found, kernel);
    let named = |holds: &[usize]| {
        let mut names: Vec<&str> = holds.iter().map(|&nest| name(tree, kernel, nest)).collect();
        let mut wanted: Vec<&str> = stages.iter().map(String::as_str).collect();
        names.sort_unstable();
        wanted.sort_unstable();
        names == wanted
    };
    let found = row.matches(tree, kernel).into_iter().find(|found| named(&holds(&**found)));
    let stages = stages.join("\", \"");
    let found = found
        .ok_or_else(|| format!("has a choice of kind \"{kind}\", which does not match \"{stages}\" there"))?;
    let config = config(choice, &*found, tree, kernel)?;
    let seconds = found.estimate(tree, kernel, &config).ok_or_else(|| {
        format!("has a choice of kind \"{kind}\" for \"{stages}\" with values of knobs that are not possible together")
    })?;
    let holds = holds(&*found);
    Ok(Candidate { kind: row.about().name, found, config, seconds, holds })
}

fn config(choice: &Choice, found: &dyn Match, tree: &Schedule, kernel: &Kernel) -> Result<Config, String> {
    let space = found.space(tree, kernel);
    let names: Vec<&str> = space.iter().map(|knob| knob.name).collect();
    if let Some((name, _)) = choice.knobs.iter().find(|(name, _)| !names.contains(&name.as_str())) {
        let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        return Err(format!(
            "has a choice of kind \"{}\" with knob \"{name}\"; its knobs there are {known}",
            choice.kind
        ));
    }
    let value = |knob: &Knob| {
        let Knob { name, values } = knob;
        let found = choice.knobs.iter().find(|(known, _)| known == name);
        let (_, value) = found
            .ok_or_else(|| format!("has a choice of kind \"{}\" without knob \"{name}\"", choice.kind))?;
        match values.contains(value) {
            true => Ok(*value),
            false => Err(format!(
                "has a choice of kind \"{}\" with {value} for knob \"{name}\"; its values there are {}",
                choice.kind,
                listed(values)
            )),
        }
    };
    space.iter().map(value).collect()
}

/// Values of a knob in words: all of a few, else the first ones and the last.
fn listed(values: &[i64]) -> String {
    const FEW: usize = 12;
    let texts: Vec<String> = values.iter().map(i64::to_string).collect();
    match &texts[..] {
        [first @ .., last] if first.len() > FEW => format!("{} ... {last}", first[..FEW].join(", ")),
        all => all.join(", "),
    }
}
