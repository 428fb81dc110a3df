//! Files that commands write.

use crate::failure::Failure;
use std::path::Path;

/// Fails at once where no file of that name can be made.
pub fn can_be_written(path: &Path) -> Result<(), Failure> {
    if path.is_dir() || path.file_name().is_none() {
        return Err(Failure::OutputIsDirectory(path.to_owned()));
    }
    match path.parent().filter(|directory| !directory.as_os_str().is_empty() && !directory.is_dir()) {
        Some(directory) => {
            Err(Failure::NoOutputDirectory { path: path.to_owned(), directory: directory.to_owned() })
        }
        None => Ok(()),
    }
}
