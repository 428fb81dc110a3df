//! Writing whole logs: the file appears complete, or what was there stays.

use super::{LogError, Record};
use fusion_runtime::output;
use std::path::Path;

/// A measurement as a line of a log.
pub fn line(record: &Record) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string(record)? + "\n")
}

/// Writes a log of these measurements in place of what is at `path`.
pub fn write(path: &Path, records: &[Record]) -> Result<(), LogError> {
    let unwritable = |why| LogError::Unwritable { path: path.to_owned(), why };
    let lines: Result<String, serde_json::Error> = records.iter().map(line).collect();
    let lines = lines.map_err(|why| unwritable(why.into()))?;
    output::write(path, lines.as_bytes()).map_err(unwritable)
}
