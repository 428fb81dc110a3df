//! Rules that are compared on samples before they are used.

use super::super::rule::{Ready, Rule, RuleError};
use super::{Verdict, verdict};

impl Rule {
    /// Checks the rule and makes it ready to search. Its sides are compared on samples ([`verdict`]), which takes some milliseconds.
    pub fn build(self) -> Result<Ready, RuleError> {
        let ready = self.read()?;
        match verdict(&ready) {
            Verdict::Differ(message) => Err(RuleError { rule: ready.rule.name, message }),
            _ => Ok(ready),
        }
    }
}
