//! A profile as a trace that ui.perfetto.dev and chrome://tracing show: the trace-event format of Chrome, complete events (`"ph": "X"`)
//! with times in microseconds.
//!
//! ```text
//!   kernels   |-- fused_conv2d_relu_0 -----|  |-- fused_max_pool_0 --|      a call; its operators, bytes and rates are arguments
//!             |-- conv_0 --| |-- conv_1 --|   |-- pool_0 -----------|      its launches
//!   copies                                                            |--|
//! ```

use super::{Happened, Profile, Slice};
use serde_json::{Map, Value, json};

const KERNELS: u32 = 1;
const COPIES: u32 = 2;

/// The trace as JSON.
pub fn trace(profile: &Profile) -> Value {
    let named = |what: &str, thread: u32, name: &str| json!({"ph": "M", "name": what, "pid": 1, "tid": thread, "args": {"name": name}});
    let process = format!("{} on {}", profile.model, profile.target);
    let mut events = vec![
        named("process_name", 0, &process),
        named("thread_name", KERNELS, "kernels"),
        named("thread_name", COPIES, "copies"),
    ];
    events.extend(profile.timeline.iter().map(|slice| event(profile, slice)));
    json!({
        "traceEvents": events,
        "displayTimeUnit": "ns",
        "otherData": {
            "model": profile.model, "target": profile.target, "emulated": profile.emulated, "timed_by": profile.timed_by,
        },
    })
}

fn event(profile: &Profile, slice: &Slice) -> Value {
    let (name, category, thread, arguments) = match &slice.what {
        Happened::Kernel(number) => {
            let kernel = &profile.kernels[*number];
            let arguments = json!({
                "numbers": kernel.numbers, "operators": kernel.operators, "sources": kernel.sources, "bytes": kernel.bytes,
                "flops": kernel.flops, "GB/s": kernel.gbytes_per_s, "GFLOP/s": kernel.gflops, "of roof": kernel.of_roof,
                "bound by": kernel.bound_by,
            });
            (kernel.name.as_str(), "kernel", KERNELS, arguments)
        }
        Happened::Launch(number, place) => {
            let launch = &profile.kernels[*number].launches[*place];
            let counters: Map<String, Value> =
                launch.counters.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
            let arguments = json!({"grid": launch.grid, "block": launch.block, "counters": counters});
            (launch.function.as_str(), "launch", KERNELS, arguments)
        }
        Happened::Copy(name, bytes) => (*name, "copy", COPIES, json!({"bytes": bytes})),
    };
    json!({
        "ph": "X", "name": name, "cat": category, "pid": 1, "tid": thread, "ts": slice.begin_s * 1e6, "dur": slice.seconds * 1e6,
        "args": arguments,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::tests::profile;

    #[test]
    fn calls_enclose_their_launches() {
        let trace = trace(&profile());
        let events = trace["traceEvents"].as_array().unwrap();
        let found: Vec<(&str, &str, i64, i64)> = events
            .iter()
            .filter(|event| event["ph"] == "X")
            .map(|event| {
                let us = |key: &str| event[key].as_f64().unwrap().round() as i64;
                (event["cat"].as_str().unwrap(), event["name"].as_str().unwrap(), us("ts"), us("dur"))
            })
            .collect();
        let wanted = [
            ("copy", "host to device", 0, 1),
            ("kernel", "fused_conv2d_relu_0", 1, 5),
            ("launch", "conv_0", 1, 4),
            ("launch", "conv_1", 5, 1),
            ("kernel", "fused_max_pool_0", 8, 4),
            ("launch", "pool_0", 8, 4),
        ];
        assert_eq!(found, wanted);
        assert_eq!(events[4]["args"]["sources"], json!(["conv", "relu"]));
        assert_eq!(events[0]["args"]["name"], "model on cpu");
    }
}
