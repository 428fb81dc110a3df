//! The program that runs: what it calls to have a part of its work done by a process of its own.
//!
//!     fusion tune ..       fusion tune worker          one kernel crashes, the search goes on
//!
//! In Python the executable is the interpreter, and the program a script that calls it.

use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;

static SCRIPT: OnceLock<PathBuf> = OnceLock::new();

/// Says that this program is called by a script.
pub fn is_called_by(script: PathBuf) {
    SCRIPT.get_or_init(|| script);
}

/// The file to execute for this program.
pub fn path() -> io::Result<PathBuf> {
    SCRIPT.get().cloned().map_or_else(std::env::current_exe, Ok)
}
