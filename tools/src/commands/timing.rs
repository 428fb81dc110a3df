//! Where the time of a compilation went: a trace of events as clang's `-ftime-trace` writes it, and a report as MLIR's
//! `--mlir-timing` prints it.

use crate::failure::Failure;
use crate::print;
use clap::Args;
use fusion_dialects::{TraceEvent, record, take_recorded};
use indexmap::IndexMap;
use serde_json::json;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What is wanted to know of where the time goes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Timing")]
pub struct Timing {
    /// Write when each stage, pass and kernel was compiled, as events that chrome://tracing and Perfetto show.
    #[arg(long, value_name = "FILE.json")]
    time_trace: Option<PathBuf>,

    /// Print how long each stage and pass took, in all kernels together; `fusion-opt --mlir-timing` does so for one pipeline.
    #[arg(long)]
    mlir_timing: bool,
}

impl Timing {
    /// Does something, and tells where its time went, also where it fails.
    pub fn around<T>(&self, run: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
        if self.time_trace.is_none() && !self.mlir_timing {
            return run();
        }
        record();
        let start = std::time::Instant::now();
        let result = run();
        let whole = start.elapsed();
        let events = take_recorded();
        if self.mlir_timing {
            print::aside(report(&events, whole));
        }
        if let Some(path) = &self.time_trace {
            write(path, &events)?;
        }
        result
    }
}

fn write(path: &Path, events: &[TraceEvent]) -> Result<(), Failure> {
    std::fs::write(path, trace(events).to_string()).map_err(Failure::file("write", path))
}

/// The events in the form of Chrome's traces, in order of time.
fn trace(events: &[TraceEvent]) -> serde_json::Value {
    let mut sorted: Vec<&TraceEvent> = events.iter().collect();
    sorted.sort_by_key(|event| (event.start, std::cmp::Reverse(event.length)));
    let shown = sorted.iter().map(|event| {
        json!({
            "ph": "X",
            "pid": 1,
            "tid": event.thread,
            "ts": event.start.as_micros() as u64,
            "dur": event.length.as_micros() as u64,
            "name": event.path.last(),
            "args": { "detail": event.detail },
        })
    });
    json!({ "traceEvents": shown.collect::<Vec<_>>(), "displayTimeUnit": "ms" })
}

/// A node of the report: what was done within it, how often it was done, and how long that took.
#[derive(Default)]
struct Node {
    within: IndexMap<String, Node>,
    count: usize,
    time: Duration,
}

impl Node {
    fn print(&self, name: &str, depth: usize, whole: Duration, text: &mut String) {
        let share = 100.0 * self.time.as_secs_f64() / whole.as_secs_f64().max(f64::MIN_POSITIVE);
        let times = if self.count > 1 { format!(" ({} times)", self.count) } else { String::new() };
        // A text takes all that is written.
        let _ = writeln!(
            text,
            "{:9.4} ({share:5.1}%)  {}{name}{times}",
            self.time.as_secs_f64(),
            "  ".repeat(depth)
        );
        for (name, node) in &self.within {
            node.print(name, depth + 1, whole, text);
        }
    }
}

/// The tree of what was done, in the order in which it first ended. Kernels are compiled on several threads: what was done to
/// them adds up to more than the whole.
fn report(events: &[TraceEvent], whole: Duration) -> String {
    let mut root = Node::default();
    for event in events {
        let node =
            event.path.iter().fold(&mut root, |node, name| node.within.entry(name.clone()).or_default());
        node.count += 1;
        node.time += event.length;
    }
    let mut text = format!("Execution time report: {:.4} s\n", whole.as_secs_f64());
    text.push_str("  seconds   share   name\n");
    for (name, node) in &root.within {
        node.print(name, 0, whole, &mut text);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(path: &[&str], start: u64, length: u64) -> TraceEvent {
        TraceEvent {
            path: path.iter().map(|&name| name.to_owned()).collect(),
            detail: "k".to_owned(),
            start: Duration::from_millis(start),
            length: Duration::from_millis(length),
            thread: 0,
        }
    }

    #[test]
    fn a_report_adds_up_what_was_done_several_times() {
        let events = [event(&["a", "b"], 0, 250), event(&["a", "b"], 250, 250), event(&["a"], 0, 750)];
        let text = report(&events, Duration::from_secs(1));
        assert!(text.contains("   0.7500 ( 75.0%)  a\n   0.5000 ( 50.0%)    b (2 times)\n"), "{text}");
    }

    #[test]
    fn a_trace_has_the_outer_event_first() {
        let events = [event(&["a", "b"], 0, 250), event(&["a"], 0, 750)];
        let trace = trace(&events);
        assert_eq!(trace["traceEvents"][0]["name"], "a");
        assert_eq!(trace["traceEvents"][0]["dur"], 750_000);
        assert_eq!(trace["traceEvents"][1]["name"], "b");
        assert_eq!(trace["traceEvents"][1]["args"]["detail"], "k");
    }
}
