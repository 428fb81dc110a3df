//! What is told of a compiled model: its kernels, what they cost, and why they are what they are.
//!
//! ```text
//!   description of the compiled model --+
//!   remarks of relay-optimize -----------+--> Report --> text, JSON, one page of HTML
//!   seconds measured -------------------+
//! ```

pub mod ablation;
pub mod accuracy;
pub mod aliases;
pub mod gpu;
pub mod html;
pub mod kernels;
pub mod kinds;
pub mod launch;
pub mod machine;
pub mod measure;
pub mod names;
pub mod parity;
pub mod proofs;
pub mod quantization;
pub mod remarks;
pub mod row;
pub mod saturation;
pub mod source_names;
pub mod table;
pub mod totals;
pub mod versions;

use crate::print;
use fusion::driver::{CompileOptions, Compiled, Predicted};
use fusion_egraph::remarks::{BlockRemarks, Remarks};
use fusion_runtime::{ArgumentDescription, ModelDescription};
use fusion_schedule::auto_schedule::ScheduleRemarks;
use indexmap::IndexMap;
use kernels::rows;
use machine::Machine;
use row::Row;
use saturation::Saturation;
use serde::Serialize;
use totals::Totals;

/// What is told of a model. As JSON, sizes are in bytes and times in seconds.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Its name.
    pub name: String,
    /// What it was compiled for.
    pub target: String,
    /// Inputs.
    pub inputs: Vec<ArgumentDescription>,
    /// Outputs.
    pub outputs: Vec<ArgumentDescription>,
    /// Bytes of workspace.
    pub workspace_bytes: u64,
    /// How its kernels were chosen; not known of libraries.
    pub strategy: Option<&'static str>,
    /// What it was compiled for, in numbers; not known of libraries.
    pub machine: Option<Machine>,
    /// The kernels in the order they run.
    pub kernels: Vec<Row>,
    /// What was decided of the tiles of kernels of dynamic extents.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tiles: Vec<versions::Tiles>,
    /// Sums.
    pub totals: Totals,
    /// What saturation did, of all blocks together.
    pub saturation: Option<Saturation>,
    /// All remarks.
    pub remarks: Option<Remarks>,
    /// The kinds of schedules that match each kernel.
    #[serde(skip)]
    pub kinds: ScheduleRemarks,
    /// What the source calls its values, where these go by places: the name, and the place.
    #[serde(skip)]
    pub source_names: IndexMap<String, String>,
}

impl Report {
    /// Of a library, which tells its kernels alone.
    pub fn of_library(description: &ModelDescription) -> Report {
        Report::new(description, &[], None)
    }

    /// Of a model that was just compiled.
    pub fn of(compiled: &mut Compiled, options: &CompileOptions) -> Report {
        let remarks = compiled.remarks.take();
        let mut report = Report::new(&compiled.description, &compiled.predicted, remarks);
        for (row, launches) in report.kernels.iter_mut().zip(&compiled.launches) {
            row.launches = launches.iter().map(launch::Launch::of).collect();
        }
        report.tiles = versions::tiles(&compiled.tiles);
        report.kinds = std::mem::take(&mut compiled.kinds);
        let machine = Some(Machine::of(options.target.description()));
        Report { strategy: Some(options.strategy.name()), machine, ..report }
    }

    fn new(description: &ModelDescription, predicted: &[Predicted], remarks: Option<Remarks>) -> Report {
        let blocks = remarks.as_ref().map_or(&[][..], |l| &l.blocks);
        let kernels = rows(&description.kernels, predicted, blocks);
        Report {
            name: description.name.clone(),
            target: description.target.clone(),
            inputs: description.inputs.clone(),
            outputs: description.outputs.clone(),
            workspace_bytes: description.workspace_bytes,
            strategy: None,
            machine: None,
            tiles: Vec::new(),
            totals: Totals::of(&kernels, blocks),
            saturation: Saturation::of(blocks),
            kernels,
            remarks,
            kinds: ScheduleRemarks::default(),
            source_names: IndexMap::new(),
        }
    }

    /// The blocks of the remarks; none where there are none.
    pub fn blocks(&self) -> &[BlockRemarks] {
        self.remarks.as_ref().map_or(&[], |l| &l.blocks)
    }

    /// As text for people.
    pub fn text(&self) -> String {
        let mut text = format!(
            "{} for {}: {} kernels, {} of workspace\n",
            self.name,
            self.target,
            self.kernels.len(),
            print::amount(self.workspace_bytes, "B"),
        );
        for (group, arguments) in [("input", &self.inputs), ("output", &self.outputs)] {
            for argument in arguments {
                text += &format!("{group} {}: {}\n", argument.name, argument.tensor_type());
            }
        }
        text += &format!("\n{}", kernels::text(&self.kernels, &self.totals));
        if let Some(tiles) = versions::text(&self.tiles) {
            text += &format!("\n\n{tiles}");
        }
        if let Some(launches) = gpu::text(&[self]) {
            text += &format!("\n\n{launches}");
        }
        let totals = self.totals.lines();
        if !totals.is_empty() {
            text += &format!("\n\n{}", totals.join("\n"));
        }
        if let Some(saturation) = &self.saturation {
            text += &format!("\n\n{}", saturation.text());
        }
        text
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use fusion_runtime::KernelDescription;

    /// A convolution with its activation, then a pool.
    pub fn report() -> Report {
        let tensor = |value: &str, place: Option<usize>| serde_json::json!({"value": value, "kernel": null, "place": place, "type": "tensor<4xf32>", "constant": false});
        let operator = |name: &str, operator: &str| serde_json::json!({"value": name, "operator": operator, "rule": null, "sources": [name]});
        let remark = |accepted: bool, values: &[&str], places: &[usize], before: f64, reason: &str| {
            let names = ["fused_conv2d_relu_0", "fused_max_pool_0"];
            let kernels: Vec<&str> = places.iter().map(|&place| names[place]).collect();
            serde_json::json!({
                "subject": "fusion", "accepted": accepted, "rule": "compute where it is used", "values": values,
                "kernels": kernels, "places": places, "before": before, "after": 4e-6, "reason": reason,
            })
        };
        let remarks = serde_json::json!({"blocks": [{
            "function": "main",
            "saturation": {"stop": "saturated", "rounds": 2, "nodes": 9, "classes": 7, "rules": [
                {"rule": "a <b>", "family": "algebra", "matches": 3, "applied": 1, "exceeded": 0, "seconds": 1e-5},
            ]},
            "search": {"greedy": 5e-6, "cost": 4e-6, "tried": 3, "kept": 1, "is_complete": true},
            "bound": 3e-6,
            "before": {"kernels": 3, "bytes": 400.0, "flops": 1000.0},
            "after": {"kernels": 2, "bytes": 300.0, "flops": 1000.0},
            "kernels": [
                {"name": "fused_conv2d_relu_0", "operators": [operator("conv", "relay.conv2d"), operator("relu", "relay.relu")],
                 "reads": [tensor("v0", None)], "writes": [tensor("relu", Some(0))], "bytes": 200.0, "flops": 900.0, "seconds": 3e-6},
                {"name": "fused_max_pool_0", "operators": [operator("pool", "relay.max_pool")],
                 "reads": [tensor("relu", Some(0))], "writes": [tensor("pool", Some(1))], "bytes": 100.0, "flops": 100.0, "seconds": 1e-6},
            ],
            "remarks": [
                remark(false, &["relu", "pool"], &[0, 1], 3e-6, "it would <take> longer"),
                remark(true, &["conv", "relu"], &[0], 5e-6, "its only kernel needs no memory for it"),
            ],
        }]});
        let kernel = |name: &str, operators: &[&str], bytes: u64, flops: u64| KernelDescription {
            name: name.to_owned(),
            function: None,
            operators: operators.iter().map(|&o| o.to_owned()).collect(),
            flops: Some(flops),
            bytes: Some(bytes),
        };
        let description = ModelDescription {
            name: "model".to_owned(),
            target: "cpu".to_owned(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            kernels: vec![
                kernel("fused_conv2d_relu_0", &["relay.conv2d", "relay.relu"], 200, 900),
                kernel("fused_max_pool_0", &["relay.max_pool"], 100, 100),
            ],
            program: None,
            device: None,
            workspace_bytes: 64,
        };
        let remarks: Remarks = serde_json::from_value(remarks).unwrap();
        let machine = Some(Machine::of(&fusion_machine::Target::default()));
        Report { strategy: Some("egraph"), machine, ..Report::new(&description, &[], Some(remarks)) }
    }

    #[test]
    fn the_text_has_kernels_sums_and_rules() {
        let text = report().text();
        for wanted in [
            "#0  fused_conv2d_relu_0  200 B    900 FLOP   3.000 us  relay.conv2d + relay.relu  conv, relu\n",
            "\n    total                300 B",
            "\nkernels    3 operators -> 2 kernels (33.3 % fewer)\nbytes      400 B -> 300 B, 100 B saved (25.0 %)\n",
            "\npredicted  4.000 us, lower bound 3.000 us, gap 33.3 %\n",
            "\nsaturation saturated; 2 rounds, 9 e-nodes, 7 e-classes\nrule   family   matches  applied       time\n",
        ] {
            assert!(text.contains(wanted), "{wanted}\n{text}");
        }
    }
}
