//! What programs give on the processor. Tests compare a program on one GPU after another: it is run here once.

use super::command;
use fusion_runtime::npz;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// The elements of each result, by name.
pub type Results = BTreeMap<String, Vec<f64>>;

/// Runs `m.mlir` on `x.npz` in a directory; what it says where it fails.
pub fn results(directory: &Path, options: &[&str]) -> Result<Results, String> {
    results_of(directory, options, None)
}

/// The same with schedules that are drawn by chance, where a number for them is given.
pub fn results_of(directory: &Path, options: &[&str], schedules: Option<u64>) -> Result<Results, String> {
    let args = ["run", "m.mlir", "--inputs", "x.npz", "--outputs", "y.npz"];
    let mut run = command(directory, &[&args, options].concat());
    run.envs(schedules.map(|seed| ("FUSION_SCHEDULE_SEED", seed.to_string())));
    let output = run.output().unwrap();
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let results = npz::read(&directory.join("y.npz")).unwrap();
    Ok(results.iter().map(|(name, tensor)| (name.clone(), tensor.to_f64s())).collect())
}

/// The same without a GPU; what was run before with this program, these inputs and options is known.
pub fn on_processor(directory: &Path, options: &[&str]) -> Result<Arc<Results>, String> {
    type Key = (Vec<u8>, Vec<u8>, Vec<String>);
    static KNOWN: Mutex<Option<HashMap<Key, Arc<Results>>>> = Mutex::new(None);
    let read = |name: &str| fs::read(directory.join(name)).unwrap();
    let key = (read("m.mlir"), read("x.npz"), options.iter().map(|&option| option.to_owned()).collect());
    if let Some(known) = KNOWN.lock().unwrap().get_or_insert_default().get(&key) {
        return Ok(known.clone());
    }
    let given = Arc::new(results(directory, options)?);
    KNOWN.lock().unwrap().get_or_insert_default().insert(key, given.clone());
    Ok(given)
}
