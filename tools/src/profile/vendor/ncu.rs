//! Nsight Compute of NVIDIA: `ncu --csv --metrics ...` writes a line for each metric of each launch, which it numbers.
//!
//! ```text
//!   "ID","Process ID",...,"Kernel Name",...,"Block Size","Grid Size",...,"Metric Name","Metric Unit","Metric Value"
//!   "0","1234",...,"fused_dense_0",...,"(256, 1, 1)","(64, 1, 1)",...,"gpu__time_duration.sum","ns","12,032"
//! ```
//!
//! Kernels run one by one and several times, with clocks that are held: times are those of a cold machine.

use super::csv::{Line, Table, number};
use super::{Tool, bare, read_one};
use crate::profile::Sample;
use fusion_runtime::Device;
use indexmap::IndexMap;
use std::ffi::OsString;
use std::path::Path;

/// The profiler.
pub static TOOL: Tool = Tool {
    name: "ncu",
    program: "ncu",
    package: "Nsight Compute, which is in NVIDIA's CUDA toolkit",
    device: Device::Cuda,
    options,
    variables: |_| Vec::new(),
    read: |directory| parse(&read_one(directory, ".csv")?),
};

/// Metrics that are asked for, and what they are called here.
const METRICS: [(&str, &str); 5] = [
    (TIME, ""),
    ("launch__registers_per_thread", "registers"),
    ("sm__warps_active.avg.pct_of_peak_sustained_active", "occupancy"),
    ("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", "tensor cores busy"),
    ("dram__bytes.sum", "DRAM"),
];
const TIME: &str = "gpu__time_duration.sum";

fn options(directory: &Path, counters: &[String]) -> Vec<OsString> {
    let metrics = METRICS.iter().map(|(metric, _)| *metric).chain(counters.iter().map(String::as_str));
    let metrics = metrics.collect::<Vec<_>>().join(",");
    let mut options: Vec<OsString> =
        ["--csv", "--print-units", "base", "--target-processes", "all", "--metrics"]
            .map(OsString::from)
            .to_vec();
    options.extend([metrics.into(), "--log-file".into(), directory.join("ncu.csv").into()]);
    options
}

/// Launches in their order.
fn parse(text: &str) -> Result<Vec<Sample>, String> {
    let table = Table::parse(text, "Metric Name")?;
    let mut launches: IndexMap<String, Sample> = IndexMap::new();
    for line in table.lines() {
        let launch = launches.entry(line.needed("ID")?.to_owned()).or_default();
        launch.function = bare(line.needed("Kernel Name")?);
        launch.grid = triple(line.get("Grid Size"));
        launch.block = triple(line.get("Block Size"));
        let (name, value) = (line.needed("Metric Name")?, value(&line)?);
        match METRICS.iter().find(|(metric, _)| *metric == name) {
            Some((_, "")) => launch.seconds = value,
            Some((_, name)) => drop(launch.counters.insert((*name).to_owned(), value)),
            None => drop(launch.counters.insert(name.to_owned(), value)),
        }
    }
    match launches.values().find(|launch| launch.seconds <= 0.0) {
        Some(launch) => Err(format!("a launch of {} has no {TIME}", launch.function)),
        None => Ok(launches.into_values().collect()),
    }
}

/// In seconds, bytes, or a part of one.
fn value(line: &Line) -> Result<f64, String> {
    let value = line.needed_number("Metric Value")?;
    let scale = match line.get("Metric Unit").unwrap_or_default() {
        "ns" | "nsecond" => 1e-9,
        "us" | "usecond" => 1e-6,
        "ms" | "msecond" => 1e-3,
        "Kbyte" => 1e3,
        "Mbyte" => 1e6,
        "Gbyte" => 1e9,
        "%" => 1e-2,
        _ => 1.0,
    };
    Ok(value * scale)
}

/// `(64, 1, 1)`.
fn triple(text: Option<&str>) -> Option<[u64; 3]> {
    let inside = text?.trim_matches(['(', ')']);
    let numbers: Option<Vec<u64>> = inside.split(',').map(|n| Some(number(n.trim())? as u64)).collect();
    numbers?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = r#"==PROF== Connected to process 4242 (/usr/bin/fusion)
==PROF== Profiling "fused_dense_relu_0" - 0: 0%....50%....100% - 8 passes
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"
"0","4242","fusion","127.0.0.1","fused_dense_relu_0","1","13","(256, 1, 1)","(8, 4, 1)","0","9.0","Command line profiler metrics","dram__bytes.sum","byte","1,310,720"
"0","4242","fusion","127.0.0.1","fused_dense_relu_0","1","13","(256, 1, 1)","(8, 4, 1)","0","9.0","Command line profiler metrics","gpu__time_duration.sum","ns","12,032"
"0","4242","fusion","127.0.0.1","fused_dense_relu_0","1","13","(256, 1, 1)","(8, 4, 1)","0","9.0","Command line profiler metrics","launch__registers_per_thread","register/thread","96"
"0","4242","fusion","127.0.0.1","fused_dense_relu_0","1","13","(256, 1, 1)","(8, 4, 1)","0","9.0","Command line profiler metrics","sm__warps_active.avg.pct_of_peak_sustained_active","%","23.45"
"1","4242","fusion","127.0.0.1","fused_softmax_0","1","13","(128, 1, 1)","(64, 1, 1)","0","9.0","Command line profiler metrics","gpu__time_duration.sum","usecond","2.50"
"1","4242","fusion","127.0.0.1","fused_softmax_0","1","13","(128, 1, 1)","(64, 1, 1)","0","9.0","Command line profiler metrics","l1tex__data_bank_conflicts_pipe_lsu.sum","","17"
"#;

    #[test]
    fn metrics_of_a_launch_are_one_sample() {
        let launches = parse(SAMPLE).unwrap();
        assert_eq!(launches.len(), 2);
        let first = &launches[0];
        assert_eq!(
            (first.function.as_str(), first.grid, first.block),
            ("fused_dense_relu_0", Some([8, 4, 1]), Some([256, 1, 1]))
        );
        assert!((first.seconds - 12.032e-6).abs() < 1e-15);
        let counters: Vec<(&str, f64)> =
            first.counters.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        assert_eq!(counters, [("DRAM", 1_310_720.0), ("registers", 96.0), ("occupancy", 0.2345)]);
        assert!((launches[1].seconds - 2.5e-6).abs() < 1e-15);
        assert_eq!(launches[1].counters["l1tex__data_bank_conflicts_pipe_lsu.sum"], 17.0);
    }

    #[test]
    fn what_has_no_times_is_told() {
        assert_eq!(parse("==ERROR== no permission").unwrap_err(), "no line names a column \"Metric Name\"");
        let untimed: String =
            SAMPLE.lines().filter(|line| !line.contains(TIME)).map(|line| format!("{line}\n")).collect();
        assert_eq!(parse(&untimed).unwrap_err(), format!("a launch of fused_dense_relu_0 has no {TIME}"));
    }

    #[test]
    fn counters_that_are_asked_for_are_metrics() {
        let options = options(Path::new("/x"), &["l1tex__data_bank_conflicts_pipe_lsu.sum".to_owned()]);
        let at = options.iter().position(|option| option == "--metrics").unwrap();
        assert!(
            options[at + 1]
                .to_str()
                .unwrap()
                .ends_with("dram__bytes.sum,l1tex__data_bank_conflicts_pipe_lsu.sum")
        );
    }
}
