//! A report as one page for the browser, which needs nothing else: no network, no other file.

mod escape;
mod graph;
mod layers;
mod plot;
pub mod quantization;
mod roofline;
mod tables;
pub mod tuning;

use super::Report;
use super::totals::saved;
use crate::print;
use escape::Escaped;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// The page.
pub fn page(report: &Report) -> String {
    let title = format!("{} for {}", report.name, report.target);
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{0}</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n<h1>{0}</h1>\n{1}\n<div class=\"cards\">\n{2}</div>\n",
        Escaped(&title),
        ports(report),
        cards(report),
    );
    for (number, block) in report.blocks().iter().enumerate() {
        let of = match report.blocks().len() {
            1 => String::new(),
            _ => format!(" of block {number} of @{}", Escaped(&block.function)),
        };
        page += &format!(
            "<h2>Kernels{of}</h2>\n<p>Each box is a kernel; the darker, the larger its part of the time. A click shows the remarks \
             about it.</p>\n<div class=\"scroll\">{}</div>\n",
            graph::graph(report, number)
        );
    }
    if let Some(plot) = roofline::roofline(report) {
        page += &format!(
            "<h2>Roofline of one core</h2>\n<p>Rings are predicted, filled dots measured; the larger, the longer the kernel takes. \
             Kernels without arithmetic are not shown.</p>\n<div class=\"scroll\">{plot}</div>\n"
        );
    }
    page += &format!("<h2>Table of kernels</h2>\n<div class=\"scroll\">{}</div>\n", tables::kernels(report));
    if report.remarks.is_some() {
        page += &format!(
            "<h2 id=\"remarks\">Remarks</h2>\n<div class=\"filters\"><input id=\"text\" type=\"search\" \
             placeholder=\"words that must occur\" aria-label=\"words that must occur\">{}{}<span id=\"count\" class=\"dim\"></span></div>\n\
             <div class=\"scroll\">{}</div>\n",
            choice("outcome", &["accepted", "rejected"]),
            choice("subject", &["fusion", "joining", "algebra", "unrolling"]),
            tables::remarks(report)
        );
    }
    if let Some(saturation) = &report.saturation {
        page += &format!(
            "<h2>Saturation</h2>\n<p>{}</p>\n<div class=\"scroll\">{}</div>\n",
            Escaped(saturation.summary()),
            tables::rules(saturation)
        );
    }
    page + &format!("<script>\n{SCRIPT}</script>\n</body>\n</html>\n")
}

fn choice(name: &str, values: &[&str]) -> String {
    let options: String = values.iter().map(|value| format!("<option>{value}</option>")).collect();
    format!(
        "<select id=\"{name}\" aria-label=\"{name}\"><option value=\"\">any {name}</option>{options}</select>"
    )
}

/// What goes in and out.
fn ports(report: &Report) -> String {
    let list = |arguments: &[fusion_runtime::ArgumentDescription]| {
        let one = |a: &fusion_runtime::ArgumentDescription| format!("{} {}", a.name, a.tensor_type());
        arguments.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    format!("<p>{} \u{2192} {}</p>", Escaped(list(&report.inputs)), Escaped(list(&report.outputs)))
}

/// The sums, each with what it says.
fn cards(report: &Report) -> String {
    let totals = &report.totals;
    let bytes = |n: Option<u64>| n.map_or("?".to_owned(), |n| print::amount(n, "B"));
    let mut cards = Vec::new();
    match totals.kernels_before {
        Some(before) => cards
            .push((format!("{before} \u{2192} {}", totals.kernels), "operators \u{2192} kernels".to_owned())),
        None => cards.push((totals.kernels.to_string(), "kernels".to_owned())),
    }
    match (totals.bytes_before, totals.reduction()) {
        (Some(before), Some(part)) => {
            let value = format!("{} \u{2192} {}", bytes(Some(before)), bytes(totals.bytes));
            cards.push((value, format!("moved; {}", saved(before, totals.bytes.unwrap_or(before), part))));
        }
        _ => cards.push((bytes(totals.bytes), "moved".to_owned())),
    }
    if let Some(flops) = totals.flops {
        cards.push((print::amount(flops, "FLOP"), "arithmetic".to_owned()));
    }
    if let Some(left) = totals.conversions.filter(|left| left.count > 0) {
        let what = format!("changes of the order of images; {}", print::amount(left.bytes, "B"));
        cards.push((left.count.to_string(), what));
    }
    if let Some(predicted) = totals.predicted_s {
        cards.push((print::seconds(predicted), "predicted on one core".to_owned()));
    }
    if let Some((bound, gap)) = totals.bound_s.zip(totals.gap()) {
        cards.push((
            print::seconds(bound),
            format!("lower bound; the prediction is {:.1} % above", 100.0 * gap),
        ));
    }
    if let Some(model) = totals.model_s {
        cards.push((print::seconds(model), "measured, the whole model".to_owned()));
    }
    if let Some(sum) = totals.measured_s {
        cards.push((print::seconds(sum), "measured, its kernels by themselves".to_owned()));
    }
    let card = |(value, what): (String, String)| {
        format!("<div class=\"card\"><b>{}</b><span>{}</span></div>\n", Escaped(value), Escaped(what))
    };
    cards.into_iter().map(card).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::report;

    #[test]
    fn the_page_has_all_parts_and_no_markup_from_names() {
        let page = page(&report());
        for part in [
            "#1 fused_max_pool_0",
            "lower bound",
            "id=\"remarks\"",
            "class=\"roof\"",
            "it would &lt;take&gt; longer",
        ] {
            assert!(page.contains(part), "{part}");
        }
        assert!(page.contains("a &lt;b&gt;") && !page.contains("a <b>"));
        assert!(!page.contains("src=") && !page.contains("href="));
    }

    #[test]
    fn a_library_has_a_page_as_well() {
        let report = Report { remarks: None, saturation: None, machine: None, ..report() };
        let page = page(&report);
        assert!(page.contains("Table of kernels") && !page.contains("id=\"remarks\""));
    }
}
