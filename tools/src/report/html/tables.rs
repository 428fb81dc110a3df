//! The tables of the page: kernels, rules and remarks.

use super::escape::Escaped;
use crate::print;
use crate::report::Report;
use crate::report::kernels::columns;
use crate::report::remarks::{kernel, subject};
use crate::report::saturation::Saturation;
use crate::report::table::Align;
use std::fmt::Write;

/// The kernels, as in the text.
pub fn kernels(report: &Report) -> String {
    let columns = columns(&report.kernels, &report.totals);
    let cell = |line: usize, tag: &str| {
        let cells = columns.iter().map(|(align, cells)| {
            let class = if *align == Align::Right { " class=\"n\"" } else { "" };
            format!("<{tag}{class}>{}</{tag}>", Escaped(&cells[line]))
        });
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    };
    let rows: String = (1..report.kernels.len() + 2).map(|line| cell(line, "td")).collect();
    format!("<table><thead>{}</thead><tbody>\n{rows}</tbody></table>", cell(0, "th"))
}

/// The rules of saturation that found something, those that took longest first.
pub fn rules(saturation: &Saturation) -> String {
    let mut rows = String::new();
    for rule in &saturation.rules {
        let _ = writeln!(
            rows,
            "<tr><td class=\"key\">{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\" data-n=\"{:e}\">{}</td></tr>",
            Escaped(&rule.rule),
            rule.family.name(),
            rule.matches,
            rule.applied,
            rule.seconds,
            print::seconds(rule.seconds),
        );
    }
    format!(
        "<table class=\"sortable\"><thead><tr><th>rule</th><th>family</th><th class=\"n\">matches</th><th class=\"n\">applied</th>\
         <th class=\"n\">time</th></tr></thead><tbody>\n{rows}</tbody></table>"
    )
}

/// All remarks.
pub fn remarks(report: &Report) -> String {
    let mut rows = String::new();
    for (number, block) in report.blocks().iter().enumerate() {
        for remark in &block.remarks {
            let (class, outcome) = if remark.accepted { ("yes", "accepted") } else { ("no", "rejected") };
            // Each with its end, so that #1 is not found in #10.
            let kernels: String =
                remark.places.iter().map(|&place| format!("{}; ", kernel(report, number, place))).collect();
            let time = |seconds: Option<f64>| match seconds {
                Some(s) => format!("<td class=\"n\" data-n=\"{:e}\">{:.3}</td>", s, s * 1e6),
                None => "<td class=\"n\" data-n=\"\"></td>".to_owned(),
            };
            let rule = match &remark.orders {
                Some(orders) => format!("{}, {} -> {}", remark.rule, orders.from, orders.to),
                None => remark.rule.clone(),
            };
            let change = remark.before.zip(remark.after).map(|(before, after)| after - before);
            let _ = writeln!(
                rows,
                "<tr class=\"{class}\"><td>{outcome}</td><td>{}</td><td class=\"key\">{}</td><td>{}</td><td>{}</td>{}{}{}<td>{}</td></tr>",
                subject(remark.subject),
                Escaped(rule),
                Escaped(remark.values.join(", ")),
                Escaped(kernels.trim_end()),
                time(remark.before),
                time(remark.after),
                time(change),
                Escaped(&remark.reason),
            );
        }
    }
    format!(
        "<table id=\"remarks\" class=\"sortable\"><thead><tr><th>outcome</th><th>subject</th><th>rule</th><th>values</th><th>kernels</th>\
         <th class=\"n\">before, us</th><th class=\"n\">after, us</th><th class=\"n\">change, us</th><th>reason</th></tr></thead>\
         <tbody>\n{rows}</tbody></table>"
    )
}
