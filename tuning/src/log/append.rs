//! Adding to a log that is there: what is whole stays, and a line that broke off goes, as the next one would be glued to it.

use super::{LogError, read};
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// The log at `path`, open behind its last measurement. It is made where there is none; what is no log is refused and stays as it is.
pub fn append(path: &Path) -> Result<File, LogError> {
    let unwritable = |why| LogError::Unwritable { path: path.to_owned(), why };
    // A pipe or a device has no lines to keep.
    if !path.is_file() {
        return File::options().create(true).append(true).open(path).map_err(unwritable);
    }
    read(path)?;
    let text = std::fs::read(path).map_err(unwritable)?;
    let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let rest = String::from_utf8_lossy(&text[whole..]);
    // Each write goes to the end, so that two who tune into one log keep each other's lines.
    let mut file = File::options().append(true).open(path).map_err(unwritable)?;
    if !rest.trim().is_empty() && serde_json::from_str::<super::Record>(&rest).is_ok() {
        file.write_all(b"\n").map_err(unwritable)?;
    } else if whole < text.len() {
        file.set_len(whole as u64).map_err(unwritable)?;
    }
    Ok(file)
}
