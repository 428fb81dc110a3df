//! What a name on the command line means: a value of the remarks, an operation of the source, an input or output, a kernel, or `#3`,
//! a kernel's number. What became an alias of a value stands for that value.

use super::Report;
use crate::failure::Failure;
use fusion_egraph::remarks::{Alias, Became, BlockRemarks, Remark};
use std::collections::BTreeSet;

/// How many near names are offered.
const NEAREST: usize = 5;

/// What a name stands for, in a block.
#[derive(Debug, Default)]
pub struct Named<'r> {
    /// Values.
    pub values: BTreeSet<String>,
    /// The places of kernels that compute them, or that have the name.
    pub kernels: BTreeSet<usize>,
    /// The aliases on the way from the name to these.
    pub aliases: Vec<&'r Alias>,
}

impl Named<'_> {
    /// True when a remark names a value, or is about a kernel that the user named.
    pub fn is_in(&self, remark: &Remark) -> bool {
        match self.values.is_empty() {
            true => remark.places.iter().any(|place| self.kernels.contains(place)),
            false => remark.values.iter().any(|value| self.values.contains(value)),
        }
    }

    /// True when it stands for nothing.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty() && self.kernels.is_empty() && self.aliases.is_empty()
    }
}

/// What a name stands for in each block; a name that stands for nothing is a failure with the nearest ones.
pub fn resolve<'r>(report: &'r Report, name: &str) -> Result<Vec<Named<'r>>, Failure> {
    let name = name.trim();
    let name = name.strip_prefix('%').unwrap_or(name);
    let asked = name;
    let place = report.source_names.get(name);
    let name = place.map_or(name, String::as_str);
    let number = name.strip_prefix('#').and_then(|n| n.parse::<usize>().ok());
    let row = number.and_then(|n| report.kernels.get(n)).and_then(|row| row.at);
    let found: Vec<Named> = report
        .blocks()
        .iter()
        .enumerate()
        .map(|(number, block)| match row {
            Some((in_block, place)) if in_block == number => {
                Named { kernels: BTreeSet::from([place]), ..Named::default() }
            }
            Some(_) => Named::default(),
            None => {
                let mut named = Named::default();
                in_block(block, name, &mut named);
                named
            }
        })
        .collect();
    match (found.iter().all(Named::is_empty), place) {
        (false, _) => Ok(found),
        (true, Some(place)) => Err(Failure::SimplifiedAway { name: asked.to_owned(), place: place.clone() }),
        (true, None) => Err(Failure::NoValue { name: asked.to_owned(), nearest: nearest(report, asked) }),
    }
}

/// Adds what a name stands for in a block.
fn in_block<'r>(block: &'r BlockRemarks, name: &str, named: &mut Named<'r>) {
    let is_it = |value: &str| {
        // Of several values of one operation, all but the first have a number.
        let value = match value.rsplit_once('#') {
            Some((stem, number)) if stem == name && number.chars().all(|c| c.is_ascii_digit()) => stem,
            _ => value,
        };
        // Places in files need not have the whole path.
        value == name
            || (name.contains(':') && value.strip_suffix(name).is_some_and(|rest| rest.ends_with('/')))
    };
    for (place, kernel) in block.kernels.iter().enumerate() {
        if kernel.name == name {
            named.kernels.insert(place);
        }
        for operator in &kernel.operators {
            if is_it(&operator.value) || operator.sources.iter().any(|s| is_it(s)) {
                named.values.insert(operator.value.clone());
                named.kernels.insert(place);
            }
        }
        let tensors = kernel.reads.iter().chain(&kernel.writes);
        named.values.extend(tensors.map(|t| &t.value).filter(|value| is_it(value)).cloned());
    }
    let decided = block.remarks.iter().flat_map(|d| &d.values);
    named.values.extend(decided.filter(|value| is_it(value)).cloned());
    for alias in block.aliases.iter().filter(|alias| is_it(&alias.value)) {
        if named.aliases.iter().any(|known| std::ptr::eq(*known, alias)) {
            continue;
        }
        named.aliases.push(alias);
        if let Some(of) = alias.of.as_deref().filter(|_| alias.became != Became::Constant) {
            in_block(block, of, named);
        }
    }
}

/// All names that can be asked for.
fn all(report: &Report) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for block in report.blocks() {
        for kernel in &block.kernels {
            names.insert(kernel.name.as_str());
            names.extend(
                kernel.operators.iter().flat_map(|o| o.sources.iter().chain([&o.value])).map(String::as_str),
            );
            names.extend(kernel.reads.iter().chain(&kernel.writes).map(|t| t.value.as_str()));
        }
        names.extend(block.remarks.iter().flat_map(|d| &d.values).map(String::as_str));
        names.extend(block.aliases.iter().map(|alias| alias.value.as_str()));
    }
    names.extend(report.source_names.keys().map(String::as_str));
    names
}

/// The names nearest to one, the nearest first.
fn nearest(report: &Report, name: &str) -> Vec<String> {
    let near = |other: &str| {
        let part = if other.to_lowercase().contains(&name.to_lowercase()) { 0.5 } else { 0.0 };
        strsim::jaro_winkler(&name.to_lowercase(), &other.to_lowercase()) + part
    };
    let mut names: Vec<(f64, &str)> =
        all(report).into_iter().filter(|n| !n.is_empty()).map(|n| (near(n), n)).collect();
    names.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    names.into_iter().take(NEAREST).map(|(_, name)| name.to_owned()).collect()
}
