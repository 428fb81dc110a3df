//! What the compiler says beside its result, on the standard error stream.

use std::fmt::Display;
use std::io::{self, Write};

/// Prints a line. That nobody reads it is no failure.
pub(crate) fn tell(text: impl Display) {
    let _ = writeln!(io::stderr(), "{text}");
}
