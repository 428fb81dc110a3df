//! `rocprof-sys-run` of AMD's ROCm Systems Profiler: it writes how often each function was run and the seconds in all, kernels among
//! them, as a tree in which a line's depth is in its prefix.
//!
//! ```text
//!   {"timemory": {"wall_clock": {"ranks": [{"graph": [
//!     {"prefix": "|0>>>   |_fused_dense_relu_0", "depth": 1, "entry": {"laps": 4, "repr_data": 0.000048, ...}}, ...
//! ```
//!
//! There are no times of single launches, so that the mean of all runs stands for each.

use super::{Tool, bare, files, spread};
use crate::profile::Sample;
use fusion_runtime::Device;
use indexmap::IndexMap;
use serde_json::Value;
use std::ffi::OsString;
use std::path::Path;

/// The profiler.
pub static TOOL: Tool = Tool {
    name: "rocprof-sys",
    program: "rocprof-sys-run",
    package: "AMD's rocprofiler-systems",
    device: Device::Hip,
    options: |_, _| vec!["--".into()],
    variables,
    read,
};

fn variables(directory: &Path) -> Vec<(&'static str, OsString)> {
    let on = |name| (name, OsString::from("ON"));
    let off = |name| (name, OsString::from("OFF"));
    vec![
        ("ROCPROFSYS_OUTPUT_PATH", directory.into()),
        on("ROCPROFSYS_PROFILE"),
        on("ROCPROFSYS_JSON_OUTPUT"),
        ("ROCPROFSYS_ROCM_DOMAINS", "kernel_dispatch".into()),
        off("ROCPROFSYS_TRACE"),
        off("ROCPROFSYS_USE_PID"),
        off("ROCPROFSYS_TIME_OUTPUT"),
    ]
}

fn read(directory: &Path) -> Result<Vec<Sample>, String> {
    let of_clock = |name: &str| name.starts_with("wall_clock") || name.starts_with("wall-clock");
    let found = files(directory, ".json").into_iter();
    let mut found =
        found.filter(|file| file.file_name().is_some_and(|name| of_clock(&name.to_string_lossy())));
    let file = found.next().ok_or("there is no file wall_clock*.json")?;
    parse(&std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?)
}

fn parse(text: &str) -> Result<Vec<Sample>, String> {
    let all: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
    let ranks =
        all["timemory"]["wall_clock"]["ranks"].as_array().ok_or("it has no timemory.wall_clock.ranks")?;
    // A kernel comes once below each function of the host that launched it.
    let mut sums: IndexMap<String, (usize, f64)> = IndexMap::new();
    for entry in ranks.iter().flat_map(|rank| rank["graph"].as_array().into_iter().flatten()) {
        let prefix = entry["prefix"].as_str().ok_or("an entry has no prefix")?;
        let (laps, seconds) = (entry["entry"]["laps"].as_u64(), entry["entry"]["repr_data"].as_f64());
        let (Some(laps), Some(seconds)) = (laps, seconds) else {
            return Err(format!("the entry {prefix:?} has no laps or no repr_data"));
        };
        let name = prefix.split_once(">>>").map_or(prefix, |(_, name)| name);
        let sum = sums.entry(bare(name.trim().trim_start_matches("|_"))).or_default();
        *sum = (sum.0 + laps as usize, sum.1 + seconds);
    }
    // What runs another number of times is none of the model's kernels.
    let all: Vec<(String, usize, f64)> = sums.into_iter().map(|(name, (laps, s))| (name, laps, s)).collect();
    let kernels: Vec<(String, usize, f64)> =
        all.into_iter().filter(|(name, ..)| super::parts(name).1.is_some()).collect();
    spread(&kernels)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = r#"{"timemory": {"wall_clock": {"unit_value": 1000000000, "unit_repr": "sec", "type": "wall_clock", "ranks": [{"rank": 0, "graph_size": 4, "graph": [
        {"hash": 1, "prefix": "|0>>> fusion", "depth": 0, "entry": {"laps": 1, "value": 894743517, "accum": 894743517, "repr_data": 0.894743517, "repr_display": 0.89},
         "stats": {"sum": 0.894743517, "count": 1, "min": 0.894743517, "max": 0.894743517, "mean": 0.894743517, "stddev": 0.0}, "rolling_hash": 1},
        {"hash": 2, "prefix": "|0>>> |_fused_dense_relu_1", "depth": 1, "entry": {"laps": 4, "value": 8000, "accum": 8000, "repr_data": 0.000008, "repr_display": 0.0}},
        {"hash": 3, "prefix": "|0>>> |_fused_dense_relu_0", "depth": 1, "entry": {"laps": 4, "value": 48000, "accum": 48000, "repr_data": 0.000048, "repr_display": 0.0}},
        {"hash": 4, "prefix": "|0>>>   |_fused_softmax_0", "depth": 2, "entry": {"laps": 8, "value": 20000, "accum": 20000, "repr_data": 0.00002, "repr_display": 0.0}}
    ]}]}}}"#;

    #[test]
    fn each_launch_has_the_mean() {
        let samples = parse(SAMPLE).unwrap();
        let run: Vec<(&str, i64)> =
            samples[..4].iter().map(|s| (s.function.as_str(), (s.seconds * 1e9).round() as i64)).collect();
        let softmax = ("fused_softmax_0", 2500);
        assert_eq!(run, [("fused_dense_relu_0", 12000), ("fused_dense_relu_1", 2000), softmax, softmax]);
        assert_eq!(samples.len(), 16);
    }

    #[test]
    fn what_is_not_its_tree_is_told() {
        assert_eq!(parse("{}").unwrap_err(), "it has no timemory.wall_clock.ranks");
        assert!(parse("x").unwrap_err().starts_with("it is not JSON: "));
        let said = parse(&SAMPLE.replace("\"laps\": 8", "\"lap\": 8")).unwrap_err();
        assert_eq!(said, "the entry \"|0>>>   |_fused_softmax_0\" has no laps or no repr_data");
    }
}
