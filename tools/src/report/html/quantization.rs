//! What `fusion quantize` tells, as a page.

use super::STYLE;
use super::escape::Escaped;
use crate::report::quantization::{COLUMNS, rows, steps, summary};
use crate::report::table::Align;
use fusion::quantize::{Metric, Report};

/// The page.
pub fn page(title: &str, report: &Report, metric: Metric) -> String {
    let title = format!("{title}, quantized");
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{0}</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n<h1>{0}</h1>\n<p>{1}</p>\n<h2>Layers</h2>\n<p>S/N is how much larger the operands of a layer are than what quantization changes of \
         them. The error is the layer's part of the error of the outputs, each layer measured alone with the fewest bits.</p>\n\
         <div class=\"scroll\">{2}</div>\n<h2>Steps</h2>\n<div class=\"scroll\">{3}</div>\n",
        Escaped(&title),
        Escaped(summary(report, metric)),
        table(COLUMNS, &rows(report)),
        table(&[Align::Right, Align::Right, Align::Left], &steps(report)),
    );
    for why in &report.left {
        page += &format!("<p>{}</p>\n", Escaped(why));
    }
    page + "</body>\n</html>\n"
}

fn table(columns: &[Align], rows: &[Vec<String>]) -> String {
    let line = |row: &Vec<String>, tag: &str| {
        let cell = |(cell, align): (&String, &Align)| {
            let class = if *align == Align::Right { " class=\"n\"" } else { "" };
            format!("<{tag}{class}>{}</{tag}>", Escaped(cell))
        };
        format!("<tr>{}</tr>\n", row.iter().zip(columns).map(cell).collect::<String>())
    };
    let (head, body) = rows.split_at(1);
    let lines: String = body.iter().map(|row| line(row, "td")).collect();
    format!("<table><thead>{}</thead><tbody>\n{lines}</tbody></table>", line(&head[0], "th"))
}
