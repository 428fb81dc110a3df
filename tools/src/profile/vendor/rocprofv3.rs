//! `rocprofv3` of AMD's ROCm: `--kernel-trace` writes a line for each launch, `--pmc` one for each counter of each launch, which both
//! name by the number of its dispatch.
//!
//! ```text
//!   *_kernel_trace.csv         "Kind",...,"Dispatch_Id",...,"Kernel_Name",...,"Start_Timestamp","End_Timestamp","LDS_Block_Size",...
//!   *_counter_collection.csv   ...,"Dispatch_Id",...,"Kernel_Name",...,"Counter_Name","Counter_Value",...
//! ```
//!
//! Times are in nanoseconds. A grid is told in threads, and becomes blocks here.

use super::csv::{Line, Table};
use super::{Tool, bare, files, read_one};
use crate::profile::Sample;
use fusion_runtime::Device;
use indexmap::IndexMap;
use std::ffi::OsString;
use std::path::Path;

/// The profiler.
pub static TOOL: Tool = Tool {
    name: "rocprofv3",
    program: "rocprofv3",
    package: "AMD's rocprofiler-sdk",
    device: Device::Hip,
    options,
    variables: |_| Vec::new(),
    read,
};

/// Columns of what a launch takes, by their names in several versions, and what they are called here.
pub(super) const TAKEN: [(&[&str], &str); 5] = [
    (&["VGPR_Count", "Arch_VGPR"], "registers"),
    (&["Accum_VGPR_Count", "Accum_VGPR"], "AGPRs"),
    (&["SGPR_Count", "SGPR"], "SGPRs"),
    (&["LDS_Block_Size", "Group_Segment_Size", "LDS_Per_Workgroup"], "shared"),
    (&["Scratch_Size", "Private_Segment_Size", "Scratch_Per_Workitem"], "scratch"),
];

fn options(directory: &Path, counters: &[String]) -> Vec<OsString> {
    let mut options: Vec<OsString> =
        ["--kernel-trace", "--output-format", "csv", "-o", "fusion", "-d"].map(OsString::from).to_vec();
    options.push(directory.into());
    if !counters.is_empty() {
        options.push("--pmc".into());
        options.extend(counters.iter().map(OsString::from));
    }
    options.push("--".into());
    options
}

fn read(directory: &Path) -> Result<Vec<Sample>, String> {
    let trace = read_one(directory, "kernel_trace.csv")?;
    let counters = match files(directory, "counter_collection.csv").is_empty() {
        true => None,
        false => Some(read_one(directory, "counter_collection.csv")?),
    };
    parse(&trace, counters.as_deref())
}

/// Launches in the order in which they began.
fn parse(trace: &str, counters: Option<&str>) -> Result<Vec<Sample>, String> {
    let table = Table::parse(trace, "Kernel_Name")?;
    let mut launches: IndexMap<String, Sample> = IndexMap::new();
    for (number, line) in table.lines().enumerate() {
        let block = line.triple("Workgroup_Size_");
        let grid = line.triple("Grid_Size_").zip(block);
        let mut launch = timed(&line)?;
        launch.block = block;
        launch.grid = grid.map(|(threads, block)| [0, 1, 2].map(|i| threads[i].div_ceil(block[i].max(1))));
        let dispatch = line.get("Dispatch_Id").map_or_else(|| number.to_string(), str::to_owned);
        launches.insert(dispatch, launch);
    }
    if let Some(counters) = counters {
        for line in Table::parse(counters, "Counter_Name")?.lines() {
            let value = line.needed_number("Counter_Value")?;
            if let Some(launch) = launches.get_mut(line.needed("Dispatch_Id")?) {
                launch.counters.insert(line.needed("Counter_Name")?.to_owned(), value);
            }
        }
    }
    let mut launches: Vec<Sample> = launches.into_values().collect();
    launches.sort_by(|a, b| a.begin_s.unwrap_or(0.0).total_cmp(&b.begin_s.unwrap_or(0.0)));
    Ok(launches)
}

/// A launch with its name, times, and what it takes.
pub(super) fn timed(line: &Line) -> Result<Sample, String> {
    let (begin, end) = (line.needed_number("Start_Timestamp")?, line.needed_number("End_Timestamp")?);
    let mut launch = Sample {
        function: bare(line.needed("Kernel_Name")?),
        begin_s: Some(begin / 1e9),
        seconds: (end - begin) / 1e9,
        ..Sample::default()
    };
    for (columns, name) in TAKEN {
        if let Some(value) = columns.iter().find_map(|column| line.number(column)) {
            launch.counters.insert(name.to_owned(), value);
        }
    }
    Ok(launch)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = r#""Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"
"KERNEL_DISPATCH","Agent 4",1,1,7001,2,12,"fused_softmax_0",5,5000020000,5000022500,1024,0,24,0,32,128,1,1,8192,1,1
"KERNEL_DISPATCH","Agent 4",1,1,7001,1,11,"fused_dense_relu_0",3,5000001000,5000013000,16384,0,96,64,48,256,1,1,2048,4,1
"#;
    const COUNTERS: &str = r#""Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id","Kernel_Name","Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Counter_Name","Counter_Value","Start_Timestamp","End_Timestamp"
3,1,"Agent 4",1,7001,7001,8192,11,"fused_dense_relu_0",256,16384,0,96,64,48,"SQ_WAVES",128.000000,5000001000,5000013000
"#;
    /// Older releases name the columns of memory otherwise and have none of registers.
    const OLDER: &str = r#""Kind","Agent_Id","Queue_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp","Private_Segment_Size","Group_Segment_Size","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"
"KERNEL_DISPATCH",1,139690710949888,15,"fused_softmax_0.kd",0,671599758568,671599825328,0,512,4,4,1,1024,1024,1
"#;

    #[test]
    fn launches_come_in_their_order_with_what_they_take() {
        let launches = parse(TRACE, Some(COUNTERS)).unwrap();
        let first = &launches[0];
        assert_eq!((first.function.as_str(), first.grid), ("fused_dense_relu_0", Some([8, 4, 1])));
        assert!((first.seconds - 12e-6).abs() < 1e-12);
        let counters: Vec<(&str, f64)> =
            first.counters.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let taken =
            [("registers", 96.0), ("AGPRs", 64.0), ("SGPRs", 48.0), ("shared", 16384.0), ("scratch", 0.0)];
        assert_eq!(counters, [&taken[..], &[("SQ_WAVES", 128.0)]].concat());
        assert_eq!(launches[1].function, "fused_softmax_0");
    }

    #[test]
    fn older_releases_are_read() {
        let launches = parse(OLDER, None).unwrap();
        let names: Vec<&str> = launches[0].counters.keys().map(String::as_str).collect();
        assert_eq!((launches[0].function.as_str(), names), ("fused_softmax_0", vec!["shared", "scratch"]));
    }

    #[test]
    fn a_trace_without_times_is_told() {
        let said = parse(&TRACE.replace("End_Timestamp", "End"), None).unwrap_err();
        assert_eq!(said, "a line has nothing in a column \"End_Timestamp\"");
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(read(directory.path()).unwrap_err(), "there is no file *kernel_trace.csv");
    }
}
