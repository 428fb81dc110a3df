//! Printing that does not mind when nobody reads on, and numbers for people.

use crate::failure::Failure;
use std::fmt::Display;
use std::io::{self, Write};

/// Prints a line. A reader that went away, such as `head`, is no failure.
pub fn line(text: impl Display) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Print(e)),
        _ => Ok(()),
    }
}

/// Prints why the program gives up.
pub fn error(why: impl Display) {
    let _ = writeln!(io::stderr(), "error: {why}");
}

/// Prints something beside the output. That nobody reads it is no failure.
pub fn aside(text: impl Display) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Seconds with the unit that suits them.
pub fn seconds(s: f64) -> String {
    match s {
        s if s >= 1.0 => format!("{s:.3} s"),
        s if s >= 1e-3 => format!("{:.3} ms", s * 1e3),
        s => format!("{:.3} us", s * 1e6),
    }
}

/// A number with the decimal prefix that suits it: `12.3 k`, then a unit.
pub fn amount(n: u64, unit: &str) -> String {
    let steps = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    let wide = n as f64;
    match steps.into_iter().find(|&(scale, _)| wide >= scale) {
        Some((scale, prefix)) => format!("{:.2} {prefix}{unit}", wide / scale),
        None => format!("{n} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_have_the_unit_that_suits_them() {
        assert_eq!(super::seconds(0.0012345), "1.234 ms");
        assert_eq!(super::seconds(2e-6), "2.000 us");
        assert_eq!(super::amount(999, "B"), "999 B");
        assert_eq!(super::amount(12_345_678, "B"), "12.35 MB");
    }
}
