//! A report as one page for the browser, which needs nothing else: no network, no other file.

use super::Report;

/// The page.
pub fn page(_report: &Report) -> String {
    String::new()
}
