//! Directories of ONNX backend tests: `model.onnx` and `test_data_set_N/{input,output}_K.pb`.

use crate::failure::Failure;
use crate::ports::{Port, read_onnx_tensors};
use fusion::DriverError;
use fusion_operators::Tensor;
use std::fs;
use std::path::{Path, PathBuf};

/// How deep below a given directory cases are looked for.
const DEPTH: usize = 4;

/// A test case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Case {
    /// The name of its directory.
    pub name: String,
    /// Its directory.
    pub directory: PathBuf,
}

/// The files of one data set, in the order of the model's inputs and outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataSet {
    /// Files of inputs.
    pub inputs: Vec<PathBuf>,
    /// Files of outputs.
    pub outputs: Vec<PathBuf>,
}

/// The cases in a directory: itself, or those below it, sorted by name.
pub fn find(directory: &Path) -> Result<Vec<Case>, Failure> {
    let mut cases = vec![];
    search(directory, DEPTH, &mut cases)?;
    cases.sort();
    Ok(cases)
}

fn search(directory: &Path, depth: usize, cases: &mut Vec<Case>) -> Result<(), Failure> {
    if directory.join("model.onnx").is_file() {
        let full = directory.canonicalize().map_err(Failure::file("read", directory))?;
        let name = full.file_name().unwrap_or_default().to_string_lossy().into_owned();
        cases.push(Case { name, directory: directory.to_owned() });
        return Ok(());
    }
    if depth == 0 {
        return Ok(());
    }
    for entry in fs::read_dir(directory).map_err(Failure::file("read", directory))? {
        let path = entry.map_err(Failure::file("read", directory))?.path();
        if path.is_dir() {
            search(&path, depth - 1, cases)?;
        }
    }
    Ok(())
}

impl Case {
    /// The model.
    pub fn model(&self) -> PathBuf {
        self.directory.join("model.onnx")
    }

    /// The data sets, by number.
    pub fn data_sets(&self) -> Result<Vec<DataSet>, Failure> {
        let sets = numbered(&self.directory, "test_data_set_", "")?;
        let files = |set: &Path| {
            Ok(DataSet { inputs: numbered(set, "input_", ".pb")?, outputs: numbered(set, "output_", ".pb")? })
        };
        sets.iter().map(|set| files(set)).collect()
    }
}

/// Entries named `{prefix}N{suffix}`, by N.
fn numbered(directory: &Path, prefix: &str, suffix: &str) -> Result<Vec<PathBuf>, Failure> {
    let mut found = vec![];
    for entry in fs::read_dir(directory).map_err(Failure::file("read", directory))? {
        let path = entry.map_err(Failure::file("read", directory))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let number = name.strip_prefix(prefix).and_then(|n| n.strip_suffix(suffix));
        if let Some(number) = number.and_then(|n| n.parse::<u32>().ok()) {
            found.push((number, path));
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

/// Reads the values of some files, each with the name of the port of its place; a sequence gives several tensors.
pub fn read(files: &[PathBuf], ports: &[Port]) -> Result<Vec<(String, Tensor)>, DriverError> {
    let mut found = vec![];
    for (i, file) in files.iter().enumerate() {
        let (name, is_tensor) = ports.get(i).map_or((String::new(), true), |p| (p.name.clone(), p.is_tensor));
        let tensors = read_onnx_tensors(file, is_tensor)?;
        found.extend(tensors.into_iter().map(|tensor| (name.clone(), tensor)));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_found_and_sorted_by_number() {
        let root = tempfile::tempdir().unwrap();
        for name in ["node/test_b", "node/test_a", "simple/test_c"] {
            let directory = root.path().join(name);
            for set in ["test_data_set_0", "test_data_set_10", "test_data_set_9"] {
                fs::create_dir_all(directory.join(set)).unwrap();
            }
            fs::write(directory.join("model.onnx"), "").unwrap();
            for file in ["input_0.pb", "input_10.pb", "input_2.pb", "output_0.pb", "notes.txt"] {
                fs::write(directory.join("test_data_set_9").join(file), "").unwrap();
            }
        }
        let cases = find(root.path()).unwrap();
        assert_eq!(cases.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["test_a", "test_b", "test_c"]);
        assert_eq!(find(&root.path().join("node/test_a")).unwrap()[0].name, "test_a");
        let sets = cases[0].data_sets().unwrap();
        let set = cases[0].directory.join("test_data_set_9");
        assert_eq!(sets.len(), 3);
        assert_eq!(sets[1].inputs, ["input_0.pb", "input_2.pb", "input_10.pb"].map(|f| set.join(f)));
        assert_eq!(sets[1].outputs, [set.join("output_0.pb")]);
        assert!(find(&root.path().join("absent")).is_err());
    }
}
