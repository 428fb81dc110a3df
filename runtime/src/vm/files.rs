//! Programs in files, with the sentences that name the file.

use crate::output;
use fusion_bytecode::{FileError, Program, ProgramFile, TextError};
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
    /// A text is not that of a program.
    #[error("{}:{error}", path.display())]
    Text {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and where.
        error: TextError,
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

/// The extension of programs as text.
pub const TEXT: &str = "fbct";

/// Reads a program and checks all of it; of a file that ends in `.fbct`, as text. A text has no code of kernels.
pub fn read_program(path: &Path) -> Result<ProgramFile, ProgramFileError> {
    let bytes = std::fs::read(path).map_err(|error| ProgramFileError::Io {
        action: "read",
        path: path.to_owned(),
        error,
    })?;
    if path.extension().is_some_and(|extension| extension == TEXT) {
        let program = Program::parse(&String::from_utf8_lossy(&bytes))
            .map_err(|error| ProgramFileError::Text { path: path.to_owned(), error })?;
        let file = ProgramFile { program, library: Vec::new() };
        return match file.check() {
            Ok(()) => Ok(file),
            Err(error) => Err(ProgramFileError::Content { path: path.to_owned(), error }),
        };
    }
    ProgramFile::from_bytes(&bytes)
        .map_err(|error| ProgramFileError::Content { path: path.to_owned(), error })
}
