//! Reading logs.

use super::{Record, VERSION};
use std::path::{Path, PathBuf};

/// The most bytes of a log.
const MOST_BYTES: u64 = 1 << 30;

/// Why a log cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The system does not give it.
    #[error("cannot read the tuning log {}: {why}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        why: std::io::Error,
    },
    /// It cannot be written.
    #[error("cannot write the tuning log {}: {why}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        why: std::io::Error,
    },
    /// It is larger than any log.
    #[error("the tuning log {} has {bytes} bytes, more than {MOST_BYTES}; give a log that `fusion tune` wrote", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
    },
    /// A line is none of a log.
    #[error("line {line} of the tuning log {} is no measurement: {why}; give a log that `fusion tune` wrote", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The number of the line.
        line: usize,
        /// What is wrong.
        why: serde_json::Error,
    },
    /// It is of another version of the format.
    #[error("line {line} of the tuning log {} is of version {found}, and this compiler reads version {VERSION}; tune again", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// The number of the line.
        line: usize,
        /// Its version.
        found: u32,
    },
    /// There is nothing in it.
    #[error("{} no measurements; write some with `fusion tune MODEL -o LOG.jsonl`", none_in(paths))]
    Empty {
        /// The files.
        paths: Vec<PathBuf>,
    },
}

fn none_in(paths: &[PathBuf]) -> String {
    let names = paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
    match paths {
        [_] => format!("the tuning log {names} has"),
        _ => format!("the tuning logs {names} have"),
    }
}

/// The measurements of several logs, which are not all empty.
pub fn read_all(paths: &[PathBuf]) -> Result<Vec<Record>, LogError> {
    let all: Result<Vec<Vec<Record>>, LogError> = paths.iter().map(|path| read(path)).collect();
    let all = all?.concat();
    if all.is_empty() { Err(LogError::Empty { paths: paths.to_owned() }) } else { Ok(all) }
}

/// The measurements of a log. What follows the last line break is left out where it is no whole line.
pub fn read(path: &Path) -> Result<Vec<Record>, LogError> {
    let unreadable = |why| LogError::Unreadable { path: path.to_owned(), why };
    let bytes = std::fs::metadata(path).map_err(unreadable)?.len();
    if bytes > MOST_BYTES {
        return Err(LogError::TooLarge { path: path.to_owned(), bytes });
    }
    let text = std::fs::read(path).map_err(unreadable)?;
    let text = String::from_utf8_lossy(&text);
    let mut all = Vec::new();
    let lines: Vec<&str> = text.split('\n').collect();
    for (number, line) in lines.iter().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let (last, line_number) = (number + 1 == lines.len(), number + 1);
        let record: Record = match serde_json::from_str(line) {
            Ok(record) => record,
            Err(_) if last => break,
            Err(why) => return Err(LogError::Line { path: path.to_owned(), line: line_number, why }),
        };
        if record.version != VERSION {
            let found = record.version;
            return Err(LogError::Version { path: path.to_owned(), line: line_number, found });
        }
        all.push(record);
    }
    Ok(all)
}
