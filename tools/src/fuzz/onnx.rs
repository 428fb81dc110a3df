//! Graphs as models of ONNX, with inputs and what they must give: as a backend test, which anyone can run.

use crate::failure::Failure;
use fusion_importers::onnx::export::{Exporter, NoForm, tensor_file};
use fusion_interpreter::random_graphs::{Graph, Step};
use fusion_operators::{Call, Tensor, TensorType};
use std::path::Path;

/// The model of a graph of known extents: inputs `x0`, `x1` and so on, outputs `y0` and so on.
pub fn model(graph: &Graph) -> Result<Vec<u8>, NoForm> {
    let mut exporter = Exporter::new();
    let mut names: Vec<String> = Vec::new();
    for (step, ty) in graph.steps.iter().zip(&graph.types) {
        names.push(match step {
            Step::Input(number) => {
                let name = format!("x{number}");
                exporter.input(&name, ty);
                name
            }
            Step::Constant(tensor) => exporter.constant(tensor),
            Step::Call { op, attrs, operands } => {
                let types: Vec<TensorType> =
                    operands.iter().map(|&place| graph.types[place].clone()).collect();
                let operands: Vec<String> = operands.iter().map(|&place| names[place].clone()).collect();
                exporter.call(&Call { op, operands: &types, attrs }, &operands, ty)?
            }
        });
    }
    for (number, &place) in graph.results.iter().enumerate() {
        exporter.output(&format!("y{number}"), &names[place], &graph.types[place]);
    }
    Ok(exporter.bytes())
}

/// Writes a graph with inputs and outputs as a folder of a backend test.
pub fn write(folder: &Path, model: &[u8], inputs: &[Tensor], outputs: &[Tensor]) -> Result<(), Failure> {
    let data = folder.join("test_data_set_0");
    std::fs::create_dir_all(&data).map_err(Failure::file("make", &data))?;
    let write = |path: &Path, bytes: &[u8]| std::fs::write(path, bytes).map_err(Failure::file("write", path));
    write(&folder.join("model.onnx"), model)?;
    for (kind, short, tensors) in [("input", "x", inputs), ("output", "y", outputs)] {
        for (number, tensor) in tensors.iter().enumerate() {
            let bytes = tensor_file(&format!("{short}{number}"), tensor);
            write(&data.join(format!("{kind}_{number}.pb")), &bytes)?;
        }
    }
    Ok(())
}
