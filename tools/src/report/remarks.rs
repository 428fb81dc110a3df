//! Why kernels are what they are: the remarks about a value, and what stands between two values.
//!
//! An answer is data, which `--json` prints, and is written out for people from that.

use super::names::{Named, resolve};
use super::{Report, aliases, kinds};
use crate::failure::Failure;
use fusion_egraph::remarks::{Alias, BlockRemarks, Remark, Subject};
use fusion_schedule::auto_schedule::KindRemark;
use serde::Serialize;
use std::collections::{BTreeSet, VecDeque};
use std::fmt;

/// A kernel by its number in the table of kernels, and its name.
#[derive(Debug, Serialize)]
pub struct KernelName<'r> {
    number: Option<usize>,
    name: &'r str,
}

/// A remark, with the numbers of the kernels concerned.
#[derive(Debug, Serialize)]
pub struct Told<'r> {
    #[serde(flatten)]
    remark: &'r Remark,
    numbers: Vec<Option<usize>>,
}

/// What is known of a value: an answer to `--why`.
#[derive(Debug, Serialize)]
pub struct Why<'r> {
    value: &'r str,
    blocks: Vec<WhyInBlock<'r>>,
}

/// The same in a block that has the value.
#[derive(Debug, Serialize)]
struct WhyInBlock<'r> {
    function: &'r str,
    /// What became of it, where it is no value of its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    aliases: Vec<&'r Alias>,
    /// The kernels that compute it.
    kernels: Vec<KernelName<'r>>,
    /// The remarks that name it, the accepted ones first.
    remarks: Vec<Told<'r>>,
    /// The kinds of schedules that match each of these kernels.
    schedules: Vec<&'r [KindRemark]>,
}

/// What is known of two values: an answer to `--why-not`.
#[derive(Debug, Serialize)]
pub struct WhyNot<'r> {
    values: [&'r str; 2],
    /// The blocks that have both; none where they are in different ones.
    blocks: Vec<WhyNotInBlock<'r>>,
}

/// The same in a block that has both.
#[derive(Debug, Serialize)]
struct WhyNotInBlock<'r> {
    function: &'r str,
    /// The kernels that compute each.
    kernels: [Vec<KernelName<'r>>; 2],
    /// Those that compute both.
    together: Vec<KernelName<'r>>,
    /// Those that compute parts of one of them, where others compute both.
    apart: Vec<KernelName<'r>>,
    /// The remarks that name both.
    remarks: Vec<Told<'r>>,
    /// The kernels from one to the other, where none computes both and one needs the other.
    path: Vec<KernelName<'r>>,
    /// The remarks on what they give each other.
    between: Vec<Told<'r>>,
}

/// The remarks that name a value, the accepted ones first.
pub fn why<'r>(report: &'r Report, value: &'r str) -> Result<Why<'r>, Failure> {
    check(report)?;
    let mut blocks = Vec::new();
    for (number, named) in
        resolve(report, value)?.into_iter().enumerate().filter(|(_, named)| !named.is_empty())
    {
        let block = &report.blocks()[number];
        let mut found: Vec<&Remark> = block.remarks.iter().filter(|d| named.is_in(d)).collect();
        found.sort_by_key(|remark| !remark.accepted);
        let kernels = kernels(report, number, &named.kernels);
        let kinds =
            |kernel: &KernelName| report.kinds.kernels.get(kernel.name).map_or(&[][..], Vec::as_slice);
        blocks.push(WhyInBlock {
            function: &block.function,
            schedules: kernels.iter().map(kinds).collect(),
            kernels,
            aliases: named.aliases,
            remarks: told(report, number, &found),
        });
    }
    Ok(Why { value, blocks })
}

/// Why two values are not in one kernel.
pub fn why_not<'r>(report: &'r Report, first: &'r str, second: &'r str) -> Result<WhyNot<'r>, Failure> {
    check(report)?;
    let (a, b) = (resolve(report, first)?, resolve(report, second)?);
    let both = a.iter().zip(&b).enumerate().filter(|(_, (a, b))| !a.is_empty() && !b.is_empty());
    let blocks = both.map(|(number, (a, b))| in_block(report, number, a, b)).collect();
    Ok(WhyNot { values: [first, second], blocks })
}

fn in_block<'r>(report: &'r Report, number: usize, a: &Named, b: &Named) -> WhyNotInBlock<'r> {
    let block = &report.blocks()[number];
    let named = |places: &BTreeSet<usize>| kernels(report, number, places);
    let both: BTreeSet<usize> = a.kernels.intersection(&b.kernels).copied().collect();
    let mut decided: Vec<&Remark> = block.remarks.iter().filter(|d| a.is_in(d) && b.is_in(d)).collect();
    decided.sort_by_key(|remark| remark.accepted);
    let mut answer = WhyNotInBlock {
        function: &block.function,
        kernels: [named(&a.kernels), named(&b.kernels)],
        together: named(&both),
        apart: Vec::new(),
        remarks: told(report, number, &decided),
        path: Vec::new(),
        between: Vec::new(),
    };
    let pairs: Vec<(usize, usize)> = if both.is_empty() {
        let chain = chain(block, &a.kernels, &b.kernels).or_else(|| chain(block, &b.kernels, &a.kernels));
        let chain = chain.unwrap_or_default();
        answer.path = chain.iter().map(|&place| kernel(report, number, place)).collect();
        chain.windows(2).map(|pair| (pair[0], pair[1])).collect()
    } else {
        // An operation of the source may become several operators.
        let apart: BTreeSet<usize> = a.kernels.symmetric_difference(&b.kernels).copied().collect();
        answer.apart = named(&apart);
        both.iter().flat_map(|&x| apart.iter().flat_map(move |&y| [(x, y), (y, x)])).collect()
    };
    let mut between: Vec<&Remark> = Vec::new();
    for remark in pairs.into_iter().flat_map(|(writer, reader)| boundary(block, writer, reader)) {
        if !decided.iter().chain(&between).any(|known| std::ptr::eq(*known, remark)) {
            between.push(remark);
        }
    }
    answer.between = told(report, number, &between);
    answer
}

impl Why<'_> {
    /// For people.
    pub fn text(&self) -> String {
        let (value, mut parts) = (self.value, Vec::new());
        for block in &self.blocks {
            parts.extend(block.aliases.iter().map(|alias| aliases::sentence(alias)));
            parts.extend(block.kernels.iter().map(|kernel| format!("{value} is in {kernel}")));
            if block.kernels.is_empty() && block.aliases.is_empty() {
                parts.push(format!("{value} is computed in no kernel"));
            }
            if block.remarks.is_empty() {
                parts.push(format!("nothing was to be decided about {value}"));
            }
            parts.extend(block.remarks.iter().map(Told::text));
            let scheduled = block.kernels.iter().zip(&block.schedules).filter(|(_, kinds)| !kinds.is_empty());
            parts.extend(scheduled.map(|(kernel, kinds)| kinds::text(kernel, kinds)));
        }
        parts.join("\n\n")
    }
}

impl WhyNot<'_> {
    /// For people.
    pub fn text(&self) -> String {
        let [first, second] = self.values;
        if self.blocks.is_empty() {
            return format!(
                "{first} and {second} are in different blocks of the program, and kernels are in one"
            );
        }
        self.blocks.iter().flat_map(|block| block.parts(self.values)).collect::<Vec<_>>().join("\n\n")
    }
}

impl WhyNotInBlock<'_> {
    fn parts(&self, values: [&str; 2]) -> Vec<String> {
        let [first, second] = values;
        let mut parts = Vec::new();
        for (value, _) in values.iter().zip(&self.kernels).filter(|(_, kernels)| kernels.is_empty()) {
            parts.push(format!(
                "{value} is computed in no kernel: it comes from outside, is a view, or was computed when compiling"
            ));
        }
        if !self.together.is_empty() {
            parts.push(format!("{first} and {second} are in one kernel: {}", listed(&self.together, ", ")));
            if !self.apart.is_empty() {
                parts.push(format!("parts of one of them are in {} as well", listed(&self.apart, ", ")));
                let rejected = self.remarks.iter().filter(|told| !told.remark.accepted);
                parts.extend(rejected.chain(&self.between).map(Told::text));
            }
            return parts;
        }
        parts.extend(self.remarks.iter().map(Told::text));
        if !self.path.is_empty() {
            parts.push(format!("the kernels from one to the other:\n  {}", listed(&self.path, "\n  -> ")));
            parts.extend(self.between.iter().map(Told::text));
        } else if self.kernels.iter().all(|kernels| !kernels.is_empty()) {
            parts.push(format!(
                "neither of {first} and {second} needs what the other gives, so only a kernel of several results could have both"
            ));
        }
        parts
    }
}

/// A shortest way along tensors from one of some kernels to one of others.
fn chain(block: &BlockRemarks, from: &BTreeSet<usize>, to: &BTreeSet<usize>) -> Option<Vec<usize>> {
    let mut before: Vec<Option<usize>> = vec![None; block.kernels.len()];
    let mut seen: BTreeSet<usize> = from.clone();
    let mut queue: VecDeque<usize> = from.iter().copied().collect();
    while let Some(at) = queue.pop_front() {
        if to.contains(&at) {
            let mut chain: Vec<usize> = std::iter::successors(Some(at), |&k| before[k]).collect();
            chain.reverse();
            return Some(chain);
        }
        for (place, kernel) in block.kernels.iter().enumerate() {
            if kernel.reads.iter().any(|t| t.place == Some(at)) && seen.insert(place) {
                before[place] = Some(at);
                queue.push_back(place);
            }
        }
    }
    None
}

/// What was decided on the tensors that one kernel writes and another reads.
fn boundary(block: &BlockRemarks, writer: usize, reader: usize) -> Vec<&Remark> {
    let written: BTreeSet<&str> = block.kernels[writer].writes.iter().map(|t| t.value.as_str()).collect();
    let is_between = |d: &&Remark| {
        d.subject == Subject::Fusion
            && d.values.first().is_some_and(|value| written.contains(value.as_str()))
            && d.places.contains(&reader)
    };
    block.remarks.iter().filter(is_between).collect()
}

/// The name of a kernel of a block.
pub fn kernel(report: &Report, block: usize, place: usize) -> KernelName<'_> {
    let number = report.kernels.iter().position(|row| row.at == Some((block, place)));
    KernelName { number, name: &report.blocks()[block].kernels[place].name }
}

fn kernels<'r>(report: &'r Report, block: usize, places: &BTreeSet<usize>) -> Vec<KernelName<'r>> {
    places.iter().map(|&place| kernel(report, block, place)).collect()
}

fn listed(kernels: &[KernelName], between: &str) -> String {
    kernels.iter().map(KernelName::to_string).collect::<Vec<_>>().join(between)
}

fn told<'r>(report: &'r Report, block: usize, remarks: &[&'r Remark]) -> Vec<Told<'r>> {
    let number = |&place: &usize| kernel(report, block, place).number;
    let one = |&remark: &&'r Remark| Told { remark, numbers: remark.places.iter().map(number).collect() };
    remarks.iter().map(one).collect()
}

impl fmt::Display for KernelName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.number {
            Some(number) => write!(f, "#{number} {}", self.name),
            None => f.write_str(self.name),
        }
    }
}

/// What a remark is about.
pub fn subject(subject: Subject) -> &'static str {
    match subject {
        Subject::Fusion => "fusion",
        Subject::Joining => "joining",
        Subject::Algebra => "algebra",
        Subject::Unrolling => "unrolling",
    }
}

impl Told<'_> {
    /// In some lines.
    fn text(&self) -> String {
        let remark = self.remark;
        let outcome = if remark.accepted { "accepted" } else { "rejected" };
        let mut text = format!("{outcome}  {}: {}", subject(remark.subject), remark.rule);
        let mut line = |what: &str, said: String| text += &format!("\n  {what:<8}{said}");
        match remark.values.split_first() {
            Some((value, readers)) if remark.subject == Subject::Fusion && !readers.is_empty() => {
                line("value", format!("{value}, read by {}", readers.join(", ")));
            }
            _ => line("values", remark.values.join(", ")),
        }
        let named = self.numbers.iter().zip(&remark.kernels);
        let kernels: Vec<KernelName> = named.map(|(&number, name)| KernelName { number, name }).collect();
        if !kernels.is_empty() {
            line("kernels", listed(&kernels, ", "));
        }
        if let Some(orders) = &remark.orders {
            line("orders", format!("reads {}, gives {}", orders.from, orders.to));
        }
        if let (Some(before), Some(after)) = (remark.before, remark.after) {
            let (before, after) = (before * 1e6, after * 1e6);
            line("cost", format!("{before:.3} us -> {after:.3} us ({:+.3} us)", after - before));
        }
        line("because", remark.reason.clone());
        text
    }
}

/// That there are remarks to tell of.
pub fn check(report: &Report) -> Result<(), Failure> {
    match (&report.remarks, report.strategy) {
        (Some(_), _) => Ok(()),
        (None, Some("egraph" | "xla")) => Err(Failure::NoRemarks(
            "pieces of a program of the whole language are decided about one by one, which keeps no record"
                .to_owned(),
        )),
        (None, Some(strategy)) => Err(Failure::NoRemarks(format!(
            "the strategy {strategy} does not decide by cost; xla and egraph do"
        ))),
        (None, None) => Err(Failure::NoRemarks(
            "a library does not tell them; name the model it was compiled from".to_owned(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::report;

    #[test]
    fn accepted_remarks_come_first() {
        let report = report();
        let text = why(&report, "%relu").unwrap().text();
        assert!(
            text.starts_with("%relu is in #0 fused_conv2d_relu_0\n\naccepted  fusion: compute"),
            "{text}"
        );
        assert!(
            text.contains("\n  cost    5.000 us -> 4.000 us (-1.000 us)\n  because its only kernel"),
            "{text}"
        );
        assert!(text.find("accepted").unwrap() < text.find("rejected").unwrap(), "{text}");
    }

    #[test]
    fn what_is_between_two_kernels_is_told() {
        let report = report();
        let text = why_not(&report, "conv", "pool").unwrap().text();
        let chain = "the kernels from one to the other:\n  #0 fused_conv2d_relu_0\n  -> #1 fused_max_pool_0";
        assert!(text.contains(chain) && text.contains("rejected  fusion"), "{text}");
        let text = why_not(&report, "conv", "relu").unwrap().text();
        assert_eq!(text, "conv and relu are in one kernel: #0 fused_conv2d_relu_0");
        let text = why_not(&report, "#1", "#0").unwrap().text();
        assert!(text.contains("-> #1 fused_max_pool_0"), "{text}");
    }

    #[test]
    fn unknown_names_are_told_the_nearest_ones() {
        let said = why(&report(), "rel").unwrap_err().to_string();
        assert!(
            said.starts_with(
                "there is no value or kernel \"rel\" in this model; the nearest names are relu, "
            ),
            "{said}"
        );
    }

    #[test]
    fn answers_are_data_as_well() {
        let report = report();
        let json = serde_json::to_value(why(&report, "relu").unwrap()).unwrap();
        let block = &json["blocks"][0];
        assert_eq!((&json["value"], &block["function"]), (&"relu".into(), &"main".into()));
        assert_eq!(block["kernels"], serde_json::json!([{"number": 0, "name": "fused_conv2d_relu_0"}]));
        let [first, second] = block["remarks"].as_array().unwrap().as_slice() else { panic!("{json}") };
        assert_eq!((&first["accepted"], &first["numbers"]), (&true.into(), &serde_json::json!([0])));
        assert_eq!(
            (&second["accepted"], &second["reason"]),
            (&false.into(), &"it would <take> longer".into())
        );

        let json = serde_json::to_value(why_not(&report, "conv", "pool").unwrap()).unwrap();
        let block = &json["blocks"][0];
        assert_eq!(block["kernels"][1][0]["name"], "fused_max_pool_0");
        assert_eq!(
            (block["path"].as_array().unwrap().len(), block["between"].as_array().unwrap().len()),
            (2, 1)
        );
        let json = serde_json::to_value(why_not(&report, "conv", "relu").unwrap()).unwrap();
        assert_eq!(json["blocks"][0]["together"][0]["number"], 0);
    }
}
