//! `rocprof-compute profile` of AMD's ROCm: it runs the program once for each set of counters and writes a line for each launch, with a
//! column for each counter, `pmc_perf.csv`.
//!
//! ```text
//!   Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,...,Arch_VGPR,SGPR,Kernel_Name,Start_Timestamp,End_Timestamp,SQ_WAVES,...
//! ```
//!
//! Releases that keep their results in a database alone have no such file, which is told.

use super::csv::Table;
use super::rocprofv3::{TAKEN, timed};
use super::{Tool, read_one};
use crate::profile::Sample;
use fusion_runtime::Device;
use std::ffi::OsString;
use std::path::Path;

/// The profiler.
pub static TOOL: Tool = Tool {
    name: "rocprof-compute",
    program: "rocprof-compute",
    package: "AMD's rocprofiler-compute",
    device: Device::Hip,
    options,
    variables: |_| Vec::new(),
    read: |directory| parse(&read_one(directory, "pmc_perf.csv")?),
};

/// Columns that are no counters.
const ABOUT: [&str; 14] = [
    "Dispatch_ID",
    "GPU_ID",
    "Queue_ID",
    "Queue_Index",
    "PID",
    "TID",
    "Grid_Size",
    "Workgroup_Size",
    "Wave_Size",
    "Kernel_Name",
    "Start_Timestamp",
    "End_Timestamp",
    "Correlation_ID",
    "Kernel_ID",
];

fn options(directory: &Path, _: &[String]) -> Vec<OsString> {
    let words = ["profile", "-n", "fusion", "--no-roof", "--format-rocprof-output", "csv", "--path"];
    let mut options: Vec<OsString> = words.map(OsString::from).to_vec();
    options.extend([directory.join("workload").into(), "--".into()]);
    options
}

/// Launches in the order in which they began.
fn parse(text: &str) -> Result<Vec<Sample>, String> {
    let table = Table::parse(text, "Kernel_Name")?;
    let is = |name: &str, column: &str| name.eq_ignore_ascii_case(column);
    let known = |column: &str| {
        ABOUT.iter().any(|name| is(name, column))
            || TAKEN.iter().any(|(names, _)| names.iter().any(|name| is(name, column)))
    };
    let counters: Vec<&String> = table.columns().iter().filter(|column| !known(column)).collect();
    let mut launches = Vec::new();
    for line in table.lines() {
        let mut launch = timed(&line)?;
        let threads = line.number("Workgroup_Size");
        launch.block = threads.map(|n| [n as u64, 1, 1]);
        let blocks = line.number("Grid_Size").zip(threads).map(|(all, block)| (all / block.max(1.0)).ceil());
        launch.grid = blocks.map(|n| [n as u64, 1, 1]);
        for counter in &counters {
            if let Some(value) = line.number(counter) {
                launch.counters.insert((*counter).clone(), value);
            }
        }
        launches.push(launch);
    }
    launches.sort_by(|a, b| a.begin_s.unwrap_or(0.0).total_cmp(&b.begin_s.unwrap_or(0.0)));
    Ok(launches)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = "\
Dispatch_ID,GPU_ID,Queue_ID,PID,TID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,Wave_Size,Kernel_Name,Start_Timestamp,End_Timestamp,Correlation_ID,SQ_WAVES,TCC_HIT_sum
0,2,1,7001,7001,8192,256,16384,0,96,64,48,64,fused_dense_relu_0,5000001000,5000013000,0,128,4096.5
1,2,1,7001,7001,8192,128,1024,0,24,0,32,64,fused_softmax_0,5000020000,5000022500,0,64,
";

    #[test]
    fn columns_that_are_not_about_the_launch_are_counters() {
        let launches = parse(SAMPLE).unwrap();
        let first = &launches[0];
        assert_eq!(
            (first.function.as_str(), first.grid, first.block),
            ("fused_dense_relu_0", Some([32, 1, 1]), Some([256, 1, 1]))
        );
        assert!((first.seconds - 12e-6).abs() < 1e-12);
        assert_eq!(first.counters["registers"], 96.0);
        assert_eq!((first.counters["SQ_WAVES"], first.counters["TCC_HIT_sum"]), (128.0, 4096.5));
        assert_eq!(first.counters.len(), 7);
        // What was not counted is not told.
        assert!(!launches[1].counters.contains_key("TCC_HIT_sum"));
    }

    #[test]
    fn a_result_in_another_form_is_told() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("workload")).unwrap();
        std::fs::write(directory.path().join("workload/results.db"), "").unwrap();
        assert_eq!((TOOL.read)(directory.path()).unwrap_err(), "there is no file *pmc_perf.csv");
    }
}
