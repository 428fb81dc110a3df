//! `fusion explain`: the kernels of a model and what each is made of.

use super::options::Options;
use crate::failure::Failure;
use crate::{driver, load, print};
use clap::Args;
use fusion_runtime::{KernelDescription, ModelDescription, Module};
use std::path::PathBuf;

/// Show the kernels of a model and what was fused into each.
///
/// Shows also the bytes each reads and writes, and its floating-point operations.
#[derive(Debug, Args)]
pub struct Explain {
    /// The model, compiled (.so) or not (.onnx, .relay, .mlir).
    #[arg(value_name = "MODEL_OR_SO")]
    model: PathBuf,

    /// Print one JSON object, with sizes in bytes.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    options: Options,
}

impl Explain {
    /// Carries out the command.
    pub fn run(&self) -> Result<(), Failure> {
        let description = match load::is_compiled(&self.model)? {
            true => Module::load(&self.model)?.description().clone(),
            false => driver::compile(&self.model, &self.options.resolve()?)?.description,
        };
        match self.json {
            true => print::line(serde_json::to_string_pretty(&description)?),
            false => print::line(table(&description)),
        }
    }
}

/// What goes in and out, and the kernels as a table.
fn table(description: &ModelDescription) -> String {
    let mut rows = vec![["kernel", "bytes", "FLOPs", "fused"].map(str::to_owned)];
    for kernel in &description.kernels {
        rows.push(row(kernel));
    }
    let total = KernelDescription {
        name: "total".to_owned(),
        flops: description.flops(),
        bytes: description.bytes_moved(),
        operators: vec![],
    };
    rows.push(row(&total));
    let width = |column: usize| rows.iter().map(|r| r[column].chars().count()).max().unwrap_or(0);
    let widths = [0, 1, 2].map(width);
    let mut text = format!(
        "{} for {}: {} kernels, {} of workspace\n",
        description.name,
        description.target,
        description.kernels.len(),
        print::amount(description.workspace_bytes, "B"),
    );
    for (group, arguments) in [("input", &description.inputs), ("output", &description.outputs)] {
        for argument in arguments {
            text += &format!("{group} {}: {}\n", argument.name, argument.tensor_type());
        }
    }
    for [name, bytes, flops, fused] in &rows {
        let line = format!(
            "\n{name:<w0$}  {bytes:>w1$}  {flops:>w2$}  {fused}",
            w0 = widths[0],
            w1 = widths[1],
            w2 = widths[2]
        );
        text += line.trim_end_matches(' ');
    }
    text
}

fn row(kernel: &KernelDescription) -> [String; 4] {
    let known = |n: Option<u64>, unit: &str| n.map_or("?".to_owned(), |n| print::amount(n, unit));
    [kernel.name.clone(), known(kernel.bytes, "B"), known(kernel.flops, "FLOP"), kernel.operators.join(" + ")]
}
