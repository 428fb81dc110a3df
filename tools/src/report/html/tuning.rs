//! What a search found, as one page: for each kernel the best against the trials, what was predicted against what was measured, what the best changed and
//! what it gains; then which features of loops tell the times.

use super::escape::Escaped;
use super::plot::{Axis, Plot, Scale};
use crate::print;
use fusion_schedule::auto_schedule::Choice;
use fusion_tuning::cost_model::importance;
use fusion_tuning::log::{Chosen, Record, stats};
use std::fmt::Write;

/// Features that are listed.
const MOST_FEATURES: usize = 20;

/// The page of some measurements.
pub fn page(records: &[Record]) -> String {
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Tuning</title>\n<style>\n{}</style>\n</head>\n<body>\n<h1>Tuning</h1>\n",
        super::STYLE
    );
    for stats in stats(records) {
        let chosen = &stats.chosen;
        let own: Vec<&Record> = records
            .iter()
            .filter(|r| r.kernel == chosen.kernel && r.target == chosen.target && r.threads == chosen.threads)
            .collect();
        let failed: usize = stats.failed.values().sum();
        let _ = writeln!(page, "<h2>{}</h2>", Escaped(&chosen.name));
        let threads =
            if chosen.threads == 1 { "1 thread".to_owned() } else { format!("{} threads", chosen.threads) };
        let _ = writeln!(
            page,
            "<p>{}, {threads}; {} trials, {failed} failed</p>",
            Escaped(&chosen.target),
            chosen.trials
        );
        let _ = writeln!(page, "<div class=\"cards\">\n{}</div>", cards(chosen, &own));
        for plot in [curve(&own), predictions(&own)].into_iter().flatten() {
            let _ = writeln!(page, "<div class=\"scroll\">{plot}</div>");
        }
        page += &changes(chosen, &own);
    }
    page + &features(records) + "</body>\n</html>\n"
}

fn cards(chosen: &Chosen, own: &[&Record]) -> String {
    let mut all = Vec::new();
    all.extend(chosen.default.map(|s| (print::seconds(s), "default")));
    all.extend(chosen.seconds().map(|s| (print::seconds(s), "best")));
    all.extend(chosen.gain().map(|gain| (format!("{gain:.2}"), "times as fast")));
    let roof = own.iter().find_map(|record| record.roof_ps).map(|ps| ps as f64 * 1e-12);
    all.extend(
        roof.zip(chosen.seconds()).map(|(roof, s)| (format!("{:.0} %", 100.0 * roof / s), "of the roof")),
    );
    let card = |(value, what): (String, &str)| {
        format!("<div class=\"card\"><b>{}</b><span>{what}</span></div>\n", Escaped(value))
    };
    all.into_iter().map(card).collect()
}

/// Trials with their seconds, those of the end left out.
fn trials<'r>(own: &'r [&'r Record]) -> impl Iterator<Item = (&'r Record, f64)> {
    own.iter().filter(|record| !record.again).filter_map(|record| Some((*record, record.seconds()?)))
}

/// The best so far against the number of trials.
fn curve(own: &[&Record]) -> Option<String> {
    let times: Vec<f64> = trials(own).map(|(_, seconds)| seconds).collect();
    let (mut best, mut line) = (f64::INFINITY, Vec::new());
    for (at, seconds) in times.iter().enumerate() {
        best = best.min(*seconds);
        line.push((at as f64 + 1.0, best * 1e6));
    }
    if line.len() < 2 {
        return None;
    }
    let x = Axis::of(line.iter().map(|(x, _)| *x).chain([0.0]), Scale::Linear)?;
    let y = Axis::of(times.iter().map(|seconds| seconds * 1e6), Scale::Logarithmic)?;
    let mut plot = Plot::new("the best so far against the trials", "trials that gave times", "us", x, y);
    for (at, seconds) in times.iter().enumerate() {
        plot.dot((at as f64 + 1.0, seconds * 1e6), "measured", &print::seconds(*seconds));
    }
    plot.line(&line);
    Some(plot.text())
}

/// What the cost model predicted against what was measured.
fn predictions(own: &[&Record]) -> Option<String> {
    let pairs: Vec<(f64, f64, &Record)> = trials(own)
        .filter_map(|(record, seconds)| Some((record.predicted_ps? as f64 * 1e-6, seconds * 1e6, record)))
        .collect();
    if pairs.len() < 2 {
        return None;
    }
    let both = || pairs.iter().flat_map(|(predicted, measured, _)| [*predicted, *measured]);
    let (x, y) = (Axis::of(both(), Scale::Logarithmic)?, Axis::of(both(), Scale::Logarithmic)?);
    let mut plot = Plot::new("predicted against measured", "measured, us", "predicted, us", x, y);
    for (predicted, measured, record) in &pairs {
        plot.dot((*measured, *predicted), "measured", &format!("trial {}", record.trial));
    }
    let ends = both().fold((f64::INFINITY, 0.0_f64), |(low, high), x| (low.min(x), high.max(x)));
    plot.line(&[(ends.0, ends.0), (ends.1, ends.1)]);
    Some(plot.text())
}

/// What the best chooses in another way than the default.
fn changes(chosen: &Chosen, own: &[&Record]) -> String {
    let default = own.iter().find(|record| record.default).map_or(&[][..], |record| &record.choices);
    let Some((best, _)) = &chosen.choices else {
        return "<p>Nothing is faster than the default by more than times vary.</p>\n".to_owned();
    };
    let mut rows = String::new();
    for (what, from, to) in differences(default, best) {
        let _ = writeln!(
            rows,
            "<tr><td class=\"key\">{}</td><td>{}</td><td>{}</td></tr>",
            Escaped(what),
            Escaped(from),
            Escaped(to)
        );
    }
    format!(
        "<table><thead><tr><th>what the best changed</th><th>default</th><th>best</th></tr></thead><tbody>\n{rows}</tbody></table>\n"
    )
}

/// What two sets of choices differ in: the thing, and what it is in each.
fn differences(from: &[Choice], to: &[Choice]) -> Vec<(String, String, String)> {
    let mut all = Vec::new();
    for choice in to {
        let of = choice.stages.join(", ");
        let Some(before) = from.iter().find(|before| before.stages == choice.stages) else {
            all.push((format!("nests of {of}"), "in other nests".to_owned(), choice.kind.clone()));
            continue;
        };
        if before.kind != choice.kind {
            all.push((format!("kind of {of}"), before.kind.clone(), choice.kind.clone()));
        }
        let width = |choice: &Choice| {
            choice.vector_bytes.map_or("as the target".to_owned(), |n| format!("{n} bytes"))
        };
        if before.vector_bytes != choice.vector_bytes {
            all.push((format!("vectors of {of}"), width(before), width(choice)));
        }
        for (name, value) in &choice.knobs {
            let old = before.knobs.iter().find(|(known, _)| known == name).map(|(_, old)| *old);
            if old != Some(*value) {
                let old = old.map_or("-".to_owned(), |old| old.to_string());
                all.push((format!("{name} of {of}"), old, value.to_string()));
            }
        }
    }
    all
}

fn features(records: &[Record]) -> String {
    let all = importance(records);
    if all.is_empty() {
        return "<h2>Features</h2>\n<p>The log has too few measurements with features of loops.</p>\n"
            .to_owned();
    }
    let mut rows = String::new();
    for (name, share) in all.iter().take(MOST_FEATURES) {
        let _ = writeln!(
            rows,
            "<tr><td class=\"key\">{}</td><td class=\"n\">{:.1} %</td><td><svg width=\"300\" height=\"12\"><rect class=\"measured\" width=\"{:.1}\" \
             height=\"12\"/></svg></td></tr>",
            Escaped(name),
            100.0 * share,
            300.0 * share
        );
    }
    format!(
        "<h2>Features</h2>\n<p>How much of what trees explain of the times, by features of loops alone, is due to each: the share of the gain of all \
         splits.</p>\n<table><thead><tr><th>feature</th><th class=\"n\">share</th><th></th></tr></thead><tbody>\n{rows}</tbody></table>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(trial: usize, rows: i64, us: u64, again: bool) -> Record {
        let choice = serde_json::json!([{"kind": "contraction", "stages": ["y"], "knobs": [["rows", rows], ["vectors", 2]]}]);
        serde_json::from_value(serde_json::json!({
            "version": 1, "fusion": "0.1.0", "kernel": "hash", "name": "a <kernel>", "target": "machine", "threads": 1, "seed": 1, "trial": trial,
            "choices": choice, "estimate_ps": 1_000_000, "roof_ps": 1_000_000, "predicted_ps": (trial > 0).then_some(us * 900_000),
            "times_ps": [us * 1_000_000], "again": again, "default": rows == 1,
        }))
        .unwrap()
    }

    #[test]
    fn the_page_has_all_parts_and_nothing_from_elsewhere() {
        let all = [(0, 1, 8, false), (1, 2, 6, false), (2, 3, 4, false), (3, 1, 8, true), (4, 3, 4, true)];
        let page = page(&all.map(|(trial, rows, us, again)| record(trial, rows, us, again)));
        for part in [
            "a &lt;kernel&gt;",
            "<b>2.00</b><span>times as fast</span>",
            "<b>25 %</b><span>of the roof</span>",
            "the best so far against the trials",
            "predicted against measured",
            "<td class=\"key\">rows of y</td><td>1</td><td>3</td>",
            "too few measurements with features",
        ] {
            assert!(page.contains(part), "{part}");
        }
        assert!(!page.contains("vectors of y"));
        assert!(!page.contains("src=") && !page.contains("href=") && !page.contains("<script"));
    }
}
