//! The program that runs: what it calls to have a part of its work done by a process of its own.
//!
//!     fusion tune ..       fusion tune worker          one kernel crashes, the search goes on
//!
//! In Python the executable is the interpreter, and the program a script of it.

use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;

static CALLED_BY: OnceLock<Vec<PathBuf>> = OnceLock::new();

/// Says what calls this program: another program, and its first arguments.
pub fn is_called_by(command: Vec<PathBuf>) {
    CALLED_BY.get_or_init(|| command);
}

/// What calls this program: the file to execute, and its first arguments.
pub fn command() -> io::Result<Vec<PathBuf>> {
    match CALLED_BY.get() {
        Some(command) => Ok(command.clone()),
        None => Ok(vec![std::env::current_exe()?]),
    }
}
