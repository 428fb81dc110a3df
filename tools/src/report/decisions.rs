//! Why kernels are what they are: the decisions about a value, and what stands between two values.

use super::Report;
use super::names::{Named, resolve};
use crate::failure::Failure;
use fusion_transforms::egraph::ledger::{BlockLedger, Decision, Subject};
use std::collections::{BTreeSet, VecDeque};

/// The decisions that name a value, the accepted ones first.
pub fn why(report: &Report, name: &str) -> Result<String, Failure> {
    check(report)?;
    let mut parts = Vec::new();
    for (number, named) in resolve(report, name)?.iter().enumerate() {
        let block = &report.blocks()[number];
        if named.is_empty() {
            continue;
        }
        parts.extend(
            named.kernels.iter().map(|&place| format!("{name} is in {}", kernel(report, number, place))),
        );
        if named.kernels.is_empty() {
            parts.push(format!("{name} is computed in no kernel"));
        }
        let mut found: Vec<&Decision> = block.decisions.iter().filter(|d| named.is_in(d)).collect();
        found.sort_by_key(|decision| !decision.accepted);
        if found.is_empty() {
            parts.push(format!("nothing was to be decided about {name}"));
        }
        parts.extend(found.into_iter().map(|decision| text(report, number, decision)));
    }
    Ok(parts.join("\n\n"))
}

/// Why two values are not in one kernel.
pub fn why_not(report: &Report, first: &str, second: &str) -> Result<String, Failure> {
    check(report)?;
    let (a, b) = (resolve(report, first)?, resolve(report, second)?);
    let mut parts = Vec::new();
    for (number, (a, b)) in a.iter().zip(&b).enumerate() {
        if !a.is_empty() && !b.is_empty() {
            parts.extend(in_block(report, number, (first, a), (second, b)));
        }
    }
    if parts.is_empty() {
        parts.push(format!(
            "{first} and {second} are in different blocks of the program, and kernels are in one"
        ));
    }
    Ok(parts.join("\n\n"))
}

fn in_block(report: &Report, number: usize, a: (&str, &Named), b: (&str, &Named)) -> Vec<String> {
    let block = &report.blocks()[number];
    let ((first, a), (second, b)) = (a, b);
    let mut parts = Vec::new();
    for (name, named) in [(first, a), (second, b)] {
        if named.kernels.is_empty() {
            parts.push(format!(
                "{name} is computed in no kernel: it comes from outside, is a view, or was computed when compiling"
            ));
        }
    }
    let both: Vec<usize> = a.kernels.intersection(&b.kernels).copied().collect();
    let mut decided: Vec<&Decision> = block.decisions.iter().filter(|d| a.is_in(d) && b.is_in(d)).collect();
    decided.sort_by_key(|decision| decision.accepted);
    if !both.is_empty() {
        let names = |places: &mut dyn Iterator<Item = usize>| {
            places.map(|place| kernel(report, number, place)).collect::<Vec<_>>().join(", ")
        };
        parts.push(format!("{first} and {second} are in one kernel: {}", names(&mut both.iter().copied())));
        // An operation of the source may become several operators.
        let apart = a.kernels.symmetric_difference(&b.kernels).copied().collect::<Vec<_>>();
        if !apart.is_empty() {
            parts.push(format!("parts of one of them are in {} as well", names(&mut apart.iter().copied())));
            let pairs = both.iter().flat_map(|&x| apart.iter().flat_map(move |&y| [(x, y), (y, x)]));
            let mut between: Vec<&Decision> = decided.iter().copied().filter(|d| !d.accepted).collect();
            for decision in pairs.flat_map(|(x, y)| boundary(block, x, y)) {
                if !between.iter().any(|known| std::ptr::eq(*known, decision)) {
                    between.push(decision);
                }
            }
            parts.extend(between.into_iter().map(|d| text(report, number, d)));
        }
        return parts;
    }
    parts.extend(decided.iter().map(|decision| text(report, number, decision)));
    let chain = chain(block, &a.kernels, &b.kernels).or_else(|| chain(block, &b.kernels, &a.kernels));
    match chain {
        Some(chain) => {
            let kernels: Vec<String> = chain.iter().map(|&place| kernel(report, number, place)).collect();
            parts.push(format!("the kernels from one to the other:\n  {}", kernels.join("\n  -> ")));
            for pair in chain.windows(2) {
                let between = boundary(block, pair[0], pair[1]);
                let new = between.into_iter().filter(|d| !decided.iter().any(|known| std::ptr::eq(*known, *d)));
                parts.extend(new.map(|decision| text(report, number, decision)));
            }
        }
        None if !a.kernels.is_empty() && !b.kernels.is_empty() => parts.push(format!(
            "neither of {first} and {second} needs what the other gives, so only a kernel of several results could have both"
        )),
        None => {}
    }
    parts
}

/// A shortest way along tensors from one of some kernels to one of others.
fn chain(block: &BlockLedger, from: &BTreeSet<usize>, to: &BTreeSet<usize>) -> Option<Vec<usize>> {
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
fn boundary(block: &BlockLedger, writer: usize, reader: usize) -> Vec<&Decision> {
    let written: BTreeSet<&str> = block.kernels[writer].writes.iter().map(|t| t.value.as_str()).collect();
    let is_between = |d: &&Decision| {
        d.subject == Subject::Fusion
            && d.values.first().is_some_and(|value| written.contains(value.as_str()))
            && d.places.contains(&reader)
    };
    block.decisions.iter().filter(is_between).collect()
}

/// A kernel by its number in the table, and its name.
pub fn kernel(report: &Report, block: usize, place: usize) -> String {
    let number = report.kernels.iter().position(|row| row.at == Some((block, place)));
    let name = &report.blocks()[block].kernels[place].name;
    number.map_or_else(|| name.clone(), |number| format!("#{number} {name}"))
}

/// What a decision is about.
pub fn subject(subject: Subject) -> &'static str {
    match subject {
        Subject::Fusion => "fusion",
        Subject::Joining => "joining",
        Subject::Algebra => "algebra",
        Subject::Unrolling => "unrolling",
    }
}

/// A decision in some lines.
fn text(report: &Report, block: usize, decision: &Decision) -> String {
    let outcome = if decision.accepted { "accepted" } else { "rejected" };
    let mut text = format!("{outcome}  {}: {}", subject(decision.subject), decision.rule);
    let mut line = |what: &str, said: String| text += &format!("\n  {what:<8}{said}");
    match decision.values.split_first() {
        Some((value, readers)) if decision.subject == Subject::Fusion && !readers.is_empty() => {
            line("value", format!("{value}, read by {}", readers.join(", ")));
        }
        _ => line("values", decision.values.join(", ")),
    }
    let kernels: Vec<String> = decision.places.iter().map(|&place| kernel(report, block, place)).collect();
    if !kernels.is_empty() {
        line("kernels", kernels.join(", "));
    }
    if let Some(orders) = &decision.orders {
        line("orders", format!("reads {}, gives {}", orders.from, orders.to));
    }
    if let (Some(before), Some(after)) = (decision.before, decision.after) {
        let (before, after) = (before * 1e6, after * 1e6);
        line("cost", format!("{before:.3} us -> {after:.3} us ({:+.3} us)", after - before));
    }
    line("because", decision.reason.clone());
    text
}

fn check(report: &Report) -> Result<(), Failure> {
    match (&report.ledger, report.strategy) {
        (Some(_), _) => Ok(()),
        (None, Some("egraph" | "xla")) => Err(Failure::NoDecisions(
            "pieces of a program of the whole language are decided about one by one, which keeps no record"
                .to_owned(),
        )),
        (None, Some(strategy)) => Err(Failure::NoDecisions(format!(
            "the strategy {strategy} does not decide by cost; xla and egraph do"
        ))),
        (None, None) => Err(Failure::NoDecisions(
            "a library does not tell them; name the model it was compiled from".to_owned(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::report;

    #[test]
    fn accepted_decisions_come_first() {
        let text = why(&report(), "%relu").unwrap();
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
        let text = why_not(&report(), "conv", "pool").unwrap();
        let chain = "the kernels from one to the other:\n  #0 fused_conv2d_relu_0\n  -> #1 fused_max_pool_0";
        assert!(text.contains(chain) && text.contains("rejected  fusion"), "{text}");
        let text = why_not(&report(), "conv", "relu").unwrap();
        assert_eq!(text, "conv and relu are in one kernel: #0 fused_conv2d_relu_0");
        let text = why_not(&report(), "#1", "#0").unwrap();
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
}
