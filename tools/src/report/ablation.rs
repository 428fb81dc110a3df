//! What each family of rules and each strategy is worth: a row for each, all measured on the same inputs.

use super::table::{Align, table};
use crate::print;
use serde::Serialize;

/// A way to choose kernels, and what came of it.
#[derive(Debug, Serialize)]
pub struct Way {
    /// What differs from all rules: `all on`, `algebra off`, `strategy xla`.
    pub what: String,
    /// Kernels.
    pub kernels: usize,
    /// Bytes they read and write, when known.
    pub bytes: Option<u64>,
    /// Seconds predicted.
    pub predicted_s: f64,
    /// Seconds of the fastest run.
    pub measured_s: f64,
    /// The first way that gives the very same program, and so has the same times.
    pub same_as: Option<String>,
    /// The largest difference of an output from that of all rules, as a part of the output's largest element.
    pub error: f64,
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
pub struct Ablation {
    /// The model.
    pub model: String,
    /// What it was compiled for.
    pub target: String,
    /// The ways, that with all rules first.
    pub ways: Vec<Way>,
}

impl Ablation {
    /// As a table; behind each time how it compares with that of all rules.
    pub fn text(&self) -> String {
        let names = ["", "kernels", "bytes", "predicted", "", "measured", "", "error", ""];
        let mut rows = vec![names.map(str::to_owned).to_vec()];
        let first = self.ways.first();
        let times = |own: f64, of_first: Option<f64>| match of_first {
            Some(of_first) if of_first > 0.0 => format!("x {:.2}", own / of_first),
            _ => String::new(),
        };
        for way in &self.ways {
            rows.push(vec![
                way.what.clone(),
                way.kernels.to_string(),
                way.bytes.map_or("?".to_owned(), |n| print::amount(n, "B")),
                print::seconds(way.predicted_s),
                times(way.predicted_s, first.map(|f| f.predicted_s)),
                print::seconds(way.measured_s),
                times(way.measured_s, first.map(|f| f.measured_s)),
                format!("{:.1e}", way.error),
                way.same_as.as_ref().map_or_else(String::new, |same| format!("= {same}")),
            ]);
        }
        let mut aligns = vec![Align::Left];
        aligns.resize(names.len() - 1, Align::Right);
        aligns.push(Align::Left);
        format!("{} for {}\n\n{}", self.model, self.target, table(&aligns, &rows))
    }
}
