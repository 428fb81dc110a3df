//! What a model is calibrated on: inputs of many runs, from a file or a folder.
//!
//! ```text
//!   calib.npz        arrays by input, whose first axis counts samples; a run takes as many as the model does at a time
//!   folder/*.npz     one run a file, in the order of the names; .npy for models of one input
//! ```

use crate::error::Error;
use fusion_operators::{Tensor, TensorType};
use fusion_runtime::npz;
use indexmap::IndexMap;
use std::path::{Path, PathBuf};

/// Samples that a run takes at most where the model takes any number.
const MOST_AT_A_TIME: u64 = 32;

/// An input of the model as it says.
pub struct Port {
    /// Its name.
    pub name: String,
    /// Its type, with extents that may not be known.
    pub ty: TensorType,
}

/// The inputs of some runs, in the model's order.
pub type Samples = Vec<Vec<Tensor>>;

fn refused(path: &Path, why: impl std::fmt::Display) -> Error {
    Error::Quantize(format!("{}: {why}", path.display()))
}

/// Reads samples for a model that takes these inputs.
pub fn read(path: &Path, ports: &[Port]) -> Result<Samples, Error> {
    let runs = if path.is_dir() { folder(path, ports)? } else { file(path, ports)? };
    let Some((_, first)) = runs.first() else {
        return Err(refused(path, "there is nothing to calibrate on; give at least one sample"));
    };
    let shapes = |run: &[Tensor]| run.iter().map(|t| t.shape().to_vec()).collect::<Vec<_>>();
    for (at, run) in &runs {
        check(at, run, ports)?;
        if let Some(i) = (0..run.len()).find(|&i| run[i].shape() != first[i].shape()) {
            return Err(refused(
                at,
                format!(
                    "input {:?} has the shape {:?}, and {:?} in the first sample; all samples must have the same shapes",
                    ports[i].name,
                    run[i].shape(),
                    shapes(first)[i]
                ),
            ));
        }
    }
    Ok(runs.into_iter().map(|(_, run)| run).collect())
}

fn tensors(path: &Path) -> Result<IndexMap<String, Tensor>, Error> {
    npz::read(path).map_err(|error| Error::Quantize(error.to_string()))
}

/// Puts named tensors into the order of the inputs; names that numpy makes up stand for positions.
fn ordered(path: &Path, mut tensors: IndexMap<String, Tensor>, ports: &[Port]) -> Result<Vec<Tensor>, Error> {
    let made_up = tensors.keys().enumerate().all(|(i, name)| *name == format!("arr_{i}"));
    if made_up && tensors.len() == ports.len() {
        return Ok(tensors.into_values().collect());
    }
    let all = || ports.iter().map(|port| format!("{:?}", port.name)).collect::<Vec<_>>().join(", ");
    if let Some(name) = tensors.keys().find(|name| ports.iter().all(|port| port.name != **name)) {
        return Err(refused(path, format!("the model has no input {name:?}; its inputs are {}", all())));
    }
    let given = |port: &Port| {
        tensors.shift_remove(&port.name).ok_or_else(|| {
            refused(path, format!("input {:?} is missing; the model's inputs are {}", port.name, all()))
        })
    };
    ports.iter().map(given).collect()
}

fn folder(path: &Path, ports: &[Port]) -> Result<Vec<(PathBuf, Vec<Tensor>)>, Error> {
    let entries = std::fs::read_dir(path).map_err(Error::file("read", path))?;
    let mut files = Vec::new();
    for entry in entries {
        let file = entry.map_err(Error::file("read", path))?.path();
        if file.extension().is_some_and(|e| e == "npz" || e == "npy") {
            files.push(file);
        }
    }
    files.sort();
    files
        .into_iter()
        .map(|file| {
            let run = ordered(&file, tensors(&file)?, ports)?;
            Ok((file, run))
        })
        .collect()
}

/// One file, whose arrays count samples along their first axis.
fn file(path: &Path, ports: &[Port]) -> Result<Vec<(PathBuf, Vec<Tensor>)>, Error> {
    let arrays = ordered(path, tensors(path)?, ports)?;
    let mut runs: Option<usize> = None;
    let mut at_a_time = Vec::new();
    for (array, port) in arrays.iter().zip(ports) {
        let (Some(&count), Some(batch)) = (array.shape().first(), port.ty.dims.first()) else {
            // A scalar is the same in all runs.
            at_a_time.push(None);
            continue;
        };
        if count == 0 {
            return Err(refused(path, format!("input {:?} has no samples; give at least one", port.name)));
        }
        let batch = match batch.known() {
            Some(batch) => batch as usize,
            None => (1..=count.min(MOST_AT_A_TIME as usize)).rev().find(|b| count % b == 0).unwrap_or(1),
        };
        if batch == 0 || count % batch != 0 {
            return Err(refused(
                path,
                format!(
                    "input {:?} has {count} samples, and the model takes {batch} at a time; give a multiple of {batch}",
                    port.name
                ),
            ));
        }
        let own = count / batch;
        if *runs.get_or_insert(own) != own {
            return Err(refused(
                path,
                format!(
                    "input {:?} has samples for {own} runs, and another input for {}; give a folder with one file for each run",
                    port.name,
                    runs.unwrap_or(0)
                ),
            ));
        }
        at_a_time.push(Some(batch));
    }
    let part = |run: usize, array: &Tensor, batch: Option<usize>| -> Result<Tensor, Error> {
        let Some(batch) = batch else { return Ok(array.clone()) };
        let mut shape = array.shape().to_vec();
        let bytes = array.bytes().len() / shape[0] * batch;
        shape[0] = batch;
        Ok(Tensor::from_bytes(array.dtype(), &shape, &array.bytes()[run * bytes..][..bytes])?)
    };
    (0..runs.unwrap_or(1))
        .map(|run| {
            let inputs = arrays.iter().zip(&at_a_time).map(|(array, batch)| part(run, array, *batch));
            Ok((path.to_owned(), inputs.collect::<Result<Vec<_>, Error>>()?))
        })
        .collect()
}

/// Checks the inputs of a run against the model.
fn check(path: &Path, run: &[Tensor], ports: &[Port]) -> Result<(), Error> {
    for (tensor, port) in run.iter().zip(ports) {
        let found = tensor.tensor_type();
        if !port.ty.compatible(&found) {
            return Err(refused(
                path,
                format!("input {:?} is a {found} in each run, and the model takes a {}", port.name, port.ty),
            ));
        }
        if tensor.dtype().is_float() && !tensor.to_f64s().iter().all(|x| x.is_finite()) {
            return Err(refused(
                path,
                format!(
                    "input {:?} has elements that are NaN or infinite, from which no range follows",
                    port.name
                ),
            ));
        }
    }
    Ok(())
}
