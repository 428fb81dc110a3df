//! Programs in files, with the sentences that name the file.

use crate::output;
use fusion_bytecode::{FileError, ProgramFile};
use std::io;
use std::path::{Path, PathBuf};

/// Why a file is not written or read.
#[derive(Debug, thiserror::Error)]
pub enum ProgramFileError {
    /// The system refuses.
    #[error("cannot {action} {}: {error}", path.display())]
    Io {
        /// Whether it is read or written.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The content is not that of a program.
    #[error("{}: {error}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: FileError,
    },
}

/// Writes a program; the file appears complete or not at all.
pub fn write_program(path: &Path, file: &ProgramFile) -> Result<(), ProgramFileError> {
    let bytes =
        file.to_bytes().map_err(|error| ProgramFileError::Content { path: path.to_owned(), error })?;
    output::write(path, &bytes).map_err(|error| ProgramFileError::Io {
        action: "write",
        path: path.to_owned(),
        error,
    })
}

/// Reads a program and checks all of it.
pub fn read_program(path: &Path) -> Result<ProgramFile, ProgramFileError> {
    let bytes = std::fs::read(path).map_err(|error| ProgramFileError::Io {
        action: "read",
        path: path.to_owned(),
        error,
    })?;
    ProgramFile::from_bytes(&bytes)
        .map_err(|error| ProgramFileError::Content { path: path.to_owned(), error })
}
