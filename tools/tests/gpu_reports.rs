//! What is told of kernels for GPUs: what they take, and that times of the emulator are no times of a GPU.

use crate::common::succeed;
use std::path::{Path, PathBuf};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name)
}

#[test]
fn what_kernels_take_is_told_side_by_side() {
    let directory = tempfile::tempdir().unwrap();
    let model = example("offline/mlp.mlir");
    let model = model.to_str().unwrap();
    let json =
        succeed(directory.path(), &["explain", model, "--targets", "nvidia:sm_80,amd:gfx942", "--json"]);
    let reports: serde_json::Value = serde_json::from_str(&json).unwrap();
    for (report, warp) in reports.as_array().unwrap().iter().zip([32, 64]) {
        let launches: Vec<&serde_json::Value> = report["kernels"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|kernel| kernel["launches"].as_array().unwrap())
            .collect();
        assert!(!launches.is_empty(), "{report}");
        for launch in launches {
            assert!(launch["grid"][0].as_u64().unwrap() >= 1 && launch["block"][0].as_u64().unwrap() >= 1);
            // Registers of AMD's are in a note; NVIDIA's are known where ptxas is.
            if warp == 64 {
                assert!(launch["registers"].as_u64().unwrap() > 0, "{launch}");
                assert_eq!(launch["spilled_bytes"], 0, "{launch}");
                assert!(launch["occupancy"].as_f64().unwrap() > 0.0, "{launch}");
            }
        }
    }
    let text = succeed(directory.path(), &["explain", model, "--targets", "amd:gfx90a,amd:gfx1100"]);
    assert!(text.contains("amd:gfx90a") && text.contains("amd:gfx1100: "), "{text}");
}

#[test]
fn times_of_the_emulator_are_called_that() {
    let directory = tempfile::tempdir().unwrap();
    let model = example("offline/mlp.mlir");
    let args = ["bench", model.to_str().unwrap(), "--target", "nvidia:sm_80", "--emulate", "--runs", "1"];
    let text = succeed(directory.path(), &args);
    assert!(text.contains("the times are those of the emulator"), "{text}");
    let json = succeed(directory.path(), &[&args[..], &["--json"]].concat());
    assert!(json.contains("\"emulated\": true"), "{json}");
}
